import Cryptography

/// A client's opening handshake (RFC 6455, 4.2.1), and what it is answered.
package struct WebSocketHandshake {
  /// Why a request for a WebSocket is none that can be met.
  package enum Refusal: Error {
    case malformed
    /// Only version 13 is spoken.
    case version
  }

  /// In the client's order.
  package let protocols: [String]
  private let key: [UInt8]

  /// Whether the request asks for a WebSocket at all, well or not.
  package static func isWanted(by request: HTTPRequest) -> Bool {
    request.wantsUpgrade && request.method == .get
      && tokens(request.headerList("upgrade")).contains { $0.lowercased() == "websocket" }
  }

  package init(_ request: HTTPRequest) throws(Refusal) {
    guard Self.tokens(request.headerList("sec-websocket-version")) == ["13"] else { throw .version }
    guard let key = request.headerList("sec-websocket-key"), Self.isKey(key) else {
      throw .malformed
    }
    self.key = Array(key.utf8)
    protocols = Self.tokens(request.headerList("sec-websocket-protocol"))
  }

  /// 16 bytes in base64.
  private static func isKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 24 && bytes.suffix(2).elementsEqual("==".utf8)
      && bytes.dropLast(2).allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }

  private static func tokens(_ list: String?) -> [String] {
    (list ?? "").split(separator: ",").map { part in
      var part = part
      while let first = part.first, first == " " || first == "\t" { part.removeFirst() }
      while let last = part.last, last == " " || last == "\t" { part.removeLast() }
      return String(part)
    }.filter { !$0.isEmpty }
  }

  /// The headers of the answer; `name` is the protocol chosen, if any was.
  func headers(choosing name: String?) -> [HTTPField] {
    var fields = [
      HTTPField("Upgrade", "websocket"), HTTPField("Sec-WebSocket-Accept", accept),
    ]
    if let name { fields.append(HTTPField("Sec-WebSocket-Protocol", name)) }
    return fields
  }

  /// Shows that the server knows what it was asked for (RFC 6455, 4.2.2).
  private var accept: String {
    let text = key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    return Base64.encode(SHA1.hash(text))
  }
}
