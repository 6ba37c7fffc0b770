/// A client of HTTP/2 (RFC 9113) that sends exactly the frames it is given, and cannot read heads.
package final class HTTP2Client {
  package struct Frame {
    package var type: UInt8
    package var flags: UInt8
    package var stream: Int
    package var payload: [UInt8]

    /// The code of a RST_STREAM.
    package var resetCode: Int? { type == 3 ? HTTP2Client.number(payload.prefix(4)) : nil }
    /// The bytes by which a WINDOW_UPDATE opens a window.
    package var increment: Int? {
      type == 8 ? HTTP2Client.number(payload.prefix(4)) & 0x7FFF_FFFF : nil
    }
    /// The code of a GOAWAY.
    package var goAwayCode: Int? {
      type == 7 ? HTTP2Client.number(payload.dropFirst(4).prefix(4)) : nil
    }
    package var endsStream: Bool { type <= 1 && flags & 1 != 0 }
  }

  package static let data: UInt8 = 0
  package static let headers: UInt8 = 1
  package static let reset: UInt8 = 3
  package static let settings: UInt8 = 4
  package static let ping: UInt8 = 6
  package static let windowUpdate: UInt8 = 8
  package static let continuation: UInt8 = 9

  package let raw: RawClient

  /// - Parameter settings: numbers and values of settings.
  package init(port: UInt16, settings: [(UInt8, UInt32)] = []) throws {
    raw = try RawClient(port: port)
    raw.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    send(Self.settings, payload: settings.flatMap { [0, $0.0] + Self.bytes($0.1) })
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  package static func frame(
    _ type: UInt8, flags: UInt8 = 0, stream: Int = 0, payload: [UInt8] = []
  ) -> [UInt8] {
    bytes(UInt32(payload.count)).dropFirst() + [type, flags] + bytes(UInt32(stream)) + payload
  }

  package func send(
    _ type: UInt8, flags: UInt8 = 0, stream: Int = 0, payload: [UInt8] = []
  ) {
    raw.send(Self.frame(type, flags: flags, stream: stream, payload: payload))
  }

  /// Fields as HPACK's literals without index and Huffman's code (RFC 7541, 6.2.2).
  package static func block(_ fields: [(String, String)]) -> [UInt8] {
    func text(_ text: String) -> [UInt8] {
      var rest = text.utf8.count
      guard rest >= 127 else { return [UInt8(rest)] + text.utf8 }
      rest -= 127
      var bytes: [UInt8] = [127]
      while rest >= 128 {
        bytes.append(UInt8(rest & 127) | 128)
        rest >>= 7
      }
      return bytes + [UInt8(rest)] + text.utf8
    }
    return fields.flatMap { [0] + text($0.0) + text($0.1) }
  }

  package static func request(
    _ path: String, method: String = "GET", more: [(String, String)] = []
  ) -> [UInt8] {
    block(
      [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a")] + more)
  }

  /// Reads the server's settings, which hold from now on, and says so.
  package func acknowledge() {
    _ = next { $0.type == Self.settings && $0.flags & 1 == 0 }
    send(Self.settings, flags: 1)
  }

  /// Sends a request without a body.
  package func get(_ path: String, stream: Int, more: [(String, String)] = []) {
    send(Self.headers, flags: 5, stream: stream, payload: Self.request(path, more: more))
  }

  /// Opens the window of a stream, or of the connection.
  package func open(_ bytes: UInt32, stream: Int = 0) {
    send(Self.windowUpdate, stream: stream, payload: Self.bytes(bytes))
  }

  /// The next frame; nil when the connection ended.
  package func next() -> Frame? {
    guard let head = raw.bytes(9),
      let payload = raw.bytes(Self.number(head[..<3]))
    else { return nil }
    return Frame(
      type: head[3], flags: head[4], stream: Self.number(head[5...]) & 0x7FFF_FFFF,
      payload: payload)
  }

  /// The next frame for which this holds; nil when the connection ended before.
  package func next(where isIt: (Frame) -> Bool) -> Frame? {
    while let frame = next() { if isIt(frame) { return frame } }
    return nil
  }

  /// The body of a stream up to its end; nil when it was reset, or the connection ended.
  package func body(of stream: Int) -> String? {
    var body: [UInt8] = []
    while let frame = next() {
      guard frame.stream == stream else { continue }
      if frame.type == Self.reset { return nil }
      if frame.type == Self.data { body += frame.payload }
      if frame.endsStream { return String(decoding: body, as: UTF8.self) }
    }
    return nil
  }
}
