/// A WebSocket whose frames are made and read by hand.
package final class WebSocketClient {
  package struct Frame: Equatable {
    package var isFinal = true
    package var reserved: UInt8 = 0
    package var opcode: UInt8
    package var payload: [UInt8] = []

    package init(
      _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0
    ) {
      self.opcode = opcode
      self.payload = payload
      self.isFinal = isFinal
      self.reserved = reserved
    }

    package static func text(_ text: String, isFinal: Bool = true) -> Frame {
      Frame(1, Array(text.utf8), isFinal: isFinal)
    }
    package static func close(_ code: UInt16, _ reason: [UInt8] = []) -> Frame {
      Frame(8, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }
    package static let continuation: UInt8 = 0
    package static let ping: UInt8 = 9
    package static let pong: UInt8 = 10

    package var text: String { String(decoding: payload, as: UTF8.self) }
    /// The code of a closing frame; nil for any other frame.
    package var closeCode: Int? {
      opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
    }

    /// As a client sends it.
    package func bytes(isMasked: Bool = true) -> [UInt8] {
      var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
      let mark: UInt8 = isMasked ? 0x80 : 0
      switch payload.count {
      case ...125: bytes.append(mark | UInt8(payload.count))
      case ...65535:
        bytes += [mark | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
      default:
        bytes.append(mark | 127)
        for place in (0..<8).reversed() { bytes.append(UInt8(payload.count >> (8 * place) & 255)) }
      }
      guard isMasked else { return bytes + payload }
      let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
      return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }
  }

  package let raw: RawClient
  package let answer: RawClient.Answer

  package init(
    port: UInt16, protocols: String? = nil, headers: String = "", path: String = "/graphql",
    receiveBuffer: Int32? = nil
  ) throws {
    raw = try RawClient(port: port, receiveBuffer: receiveBuffer)
    raw.send(Self.handshake(protocols: protocols, headers: headers, path: path))
    answer = raw.answer(isHead: true)
  }

  package static func handshake(
    protocols: String? = nil, headers: String = "", path: String = "/graphql",
    key: String = "dGhlIHNhbXBsZSBub25jZQ==", version: String = "13"
  ) -> String {
    "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\n"
      + "Upgrade: websocket\r\nSec-WebSocket-Version: \(version)\r\nSec-WebSocket-Key: \(key)\r\n"
      + (protocols.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? "") + headers + "\r\n"
  }

  package func send(_ frame: Frame) { raw.send(frame.bytes()) }
  package func send(_ text: String) { send(.text(text)) }

  /// The next frame of the server; nil when there is none any more.
  package func next() -> Frame? {
    guard let head = raw.bytes(2) else { return nil }
    var length = Int(head[1])
    if length == 126 || length == 127 {
      guard let digits = raw.bytes(length == 126 ? 2 : 8) else { return nil }
      length = digits.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let payload = raw.bytes(length) else { return nil }
    return Frame(
      head[0] & 15, payload, isFinal: head[0] & 0x80 != 0, reserved: head[0] >> 4 & 7)
  }

  /// The next that is no ping.
  package func message() -> Frame? {
    while let frame = next() {
      guard frame.opcode == Frame.ping else { return frame }
      send(Frame(Frame.pong, frame.payload))
    }
    return nil
  }

  /// The code the server closes with, whatever it says before; nil when it ends without one.
  package func closeCode() -> Int? {
    while let frame = next() { if frame.opcode == 8 { return frame.closeCode } }
    return nil
  }
}
