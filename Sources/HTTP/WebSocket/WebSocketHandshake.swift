import Cryptography

/// A client's opening handshake (RFC 6455, 4.2.1), and the response to it.
package struct WebSocketHandshake {
  /// The reason why a request for a WebSocket is refused.
  package enum Refusal: Error {
    case malformed
    /// The version is not 13, the only one supported.
    case version
  }

  /// The protocols in the client's order.
  package let protocols: [String]
  private let key: [UInt8]

  /// Returns whether the request asks for a WebSocket, correctly or not.
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

  /// Returns whether the text is 16 bytes in base64.
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

  /// Returns the headers of the response; `name` is the chosen protocol, if any.
  func headers(choosing name: String?) -> [HTTPField] {
    var fields = [
      HTTPField("Upgrade", "websocket"),
      HTTPField("Sec-WebSocket-Accept", Self.accept(key)),
    ]
    if let name { fields.append(HTTPField("Sec-WebSocket-Protocol", name)) }
    return fields
  }

  /// Returns the proof that the server understood the handshake with a key (RFC 6455, 4.2.2).
  static func accept(_ key: [UInt8]) -> String {
    let text = key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    return Base64.encode(SHA1.hash(text))
  }
}
