import Glibc
import HTTP
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

/// Frames as groups 1 to 7, 9 and 10 of the Autobahn test suite look at them, made by hand on a socket.
@Suite(.blocks) struct WebSocketTests {
  typealias Frame = WebSocketClient.Frame

  /// A server that echoes every text, and reports any other message as binary.
  static let echo = Result {
    try HTTPServerFixture { configuration in
      configuration.limits.maximumSocketsPerAddress = 1000
    } handler: { request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else {
        return exchange.respond(.badRequest)
      }
      guard let socket = exchange.upgrade(handshake, to: handshake.protocols.first) else { return }
      socket.onMessage = { [unowned socket] message in
        switch message {
        case .text(let text): _ = socket.send(text)
        case .binary: _ = socket.send(Array("binary".utf8))
        }
      }
    }
  }

  private func client() throws -> WebSocketClient {
    try WebSocketClient(port: Self.echo.get().port)
  }

  // MARK: The opening handshake

  @Test func `the answer shows that the key was read, and chooses a protocol`() throws {
    let client = try WebSocketClient(port: Self.echo.get().port, protocols: "one, two")
    #expect(client.answer.status == 101)
    // The example of RFC 6455, 1.3.
    #expect(client.answer.header("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(client.answer.header("Sec-WebSocket-Protocol") == "one")
    #expect(client.answer.header("Upgrade") == "websocket")
    #expect(client.answer.header("Connection") == "Upgrade")
  }

  @Test(arguments: [
    WebSocketClient.handshake(key: "c2hvcnQ="),
    WebSocketClient.handshake(key: "not base64 at all!!!!=="),
    WebSocketClient.handshake(version: "8"),
    WebSocketClient.handshake(version: "13, 8"),
  ])
  func `a handshake that is none is refused`(_ text: String) throws {
    let client = try RawClient(port: Self.echo.get().port)
    client.send(text)
    #expect(client.answer().status == 400)
  }

  @Test func `frames may come with the handshake`() throws {
    let raw = try RawClient(port: Self.echo.get().port)
    raw.send(Array(WebSocketClient.handshake().utf8) + Frame.text("at once").bytes())
    #expect(raw.answer(isHead: true).status == 101)
    #expect(raw.bytes(9) == [0x81, 7] + Array("at once".utf8))
  }

  // MARK: 1, 9: messages of all sizes

  @Test(arguments: [0, 1, 125, 126, 127, 128, 4096, 65_535, 65_536])
  func `a text comes back`(_ size: Int) throws {
    let client = try client()
    let text = String(repeating: "*", count: size)
    client.send(text)
    #expect(client.message() == .text(text))
  }

  @Test(arguments: [1, 13, 997])
  func `a frame may come in pieces of any size`(_ size: Int) throws {
    let client = try client()
    let text = String(repeating: "äöü", count: size == 1 ? 30 : 5000)
    var rest = Frame.text(text).bytes()[...]
    while !rest.isEmpty {
      client.raw.send(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    #expect(client.message() == .text(text))
  }

  @Test func `many frames may come at once`() throws {
    let client = try client()
    client.raw.send((0..<500).flatMap { Frame.text("\($0)").bytes() })
    for number in 0..<500 { #expect(client.message() == .text("\(number)")) }
  }

  @Test func `binary messages are told apart`() throws {
    let client = try client()
    client.send(Frame(2, [0, 255, 0xC0]))
    #expect(client.message() == .text("binary"))
  }

  @Test func `a message that is too large ends the socket by 1009, in one frame or in many`() throws
  {
    let whole = try client()
    whole.send(String(repeating: "*", count: 65_537))
    #expect(whole.closeCode() == 1009)
    let announced = try client()
    announced.raw.send([0x81, 0xFF] + [0x7F] + [UInt8](repeating: 0xFF, count: 7) + [1, 2, 3, 4])
    // A length beyond 2^63 is none at all; one that only is too much is too large.
    #expect([1002, 1009].contains(announced.closeCode()))
    let parts = try client()
    parts.send(.text(String(repeating: "*", count: 40_000), isFinal: false))
    parts.send(Frame(0, [UInt8](repeating: 42, count: 40_000)))
    #expect(parts.closeCode() == 1009)
  }

  @Test func `a frame that is not masked ends the socket`() throws {
    let client = try client()
    client.raw.send(Frame.text("bare").bytes(isMasked: false))
    #expect(client.closeCode() == 1002)
  }

  @Test func `what is to be sent with what follows is sent without it when nothing does`() throws {
    let fixture = try HTTPServerFixture.answering { request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else { return }
      guard let socket = exchange.upgrade(handshake, to: nil) else { return }
      socket.onMessage = { [unowned socket] message in
        if case .text(let text) = message { _ = socket.send(text, isFollowed: text.count < 3) }
      }
    }
    let client = try WebSocketClient(port: fixture.port)
    for text in ["1", "22", "333", "4"] { client.send(text) }
    for text in ["1", "22", "333", "4"] { #expect(client.message() == .text(text)) }
  }

  // MARK: 2: pings and pongs

  @Test(arguments: [0, 13, 125])
  func `a ping is answered with what it said`(_ size: Int) throws {
    let client = try client()
    let payload = (0..<size).map { UInt8(255 - $0) }
    client.send(Frame(Frame.ping, payload))
    #expect(client.next() == Frame(Frame.pong, payload))
  }

  @Test func `a ping of more than 125 bytes ends the socket`() throws {
    let client = try client()
    client.send(Frame(Frame.ping, [UInt8](repeating: 1, count: 126)))
    #expect(client.closeCode() == 1002)
  }

  @Test func `pongs that nobody asked for are passed over`() throws {
    let client = try client()
    client.send(Frame(Frame.pong))
    client.send(Frame(Frame.pong, [1, 2, 3]))
    client.send(Frame(Frame.ping, [9]))
    #expect(client.next() == Frame(Frame.pong, [9]))
  }

  @Test func `ten pings are answered in order`() throws {
    let client = try client()
    for number in UInt8(0)..<10 { client.send(Frame(Frame.ping, [number])) }
    for number in UInt8(0)..<10 { #expect(client.next() == Frame(Frame.pong, [number])) }
  }

  @Test func `a client that says nothing is asked whether it is there, and let go if it is not`()
    throws
  {
    let fixture = try HTTPServerFixture {
      $0.limits.ping = .milliseconds(50)
      $0.limits.pong = .milliseconds(50)
    } handler: { request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else { return }
      _ = exchange.upgrade(handshake, to: nil)
    }
    let client = try WebSocketClient(port: fixture.port)
    #expect(client.next()?.opcode == Frame.ping)
    #expect(client.raw.isClosedByServer())
    #expect(fixture.sees { if case .connectionClosed(.timeout) = $0 { true } else { false } })
  }

  // MARK: 3, 4: reserved bits and opcodes

  @Test(arguments: UInt8(1)...7)
  func `reserved bits end the socket`(_ bits: UInt8) throws {
    for opcode: UInt8 in [1, 8, 9] {
      let client = try client()
      client.send("first")
      client.send(Frame(opcode, opcode == 8 ? [3, 232] : [65], reserved: bits))
      #expect(client.message() == .text("first"))
      #expect(client.closeCode() == 1002)
    }
  }

  @Test(arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
  func `opcodes that mean nothing end the socket`(_ opcode: UInt8) throws {
    for payload: [UInt8] in [[], [65]] {
      let client = try client()
      client.send(Frame(opcode, payload))
      #expect(client.closeCode() == 1002)
    }
  }

  // MARK: 5, 10: fragments

  @Test func `fragments make one message, with pings amongst them`() throws {
    let client = try client()
    client.send(.text("one ", isFinal: false))
    client.send(Frame(Frame.ping, [7]))
    client.send(Frame(0, Array("two ".utf8), isFinal: false))
    client.send(Frame(0, [], isFinal: false))
    client.send(Frame(0, Array("three".utf8)))
    #expect(client.next() == Frame(Frame.pong, [7]))
    #expect(client.message() == .text("one two three"))
  }

  @Test(arguments: [64, 1300])
  func `a message may come in many fragments`(_ size: Int) throws {
    let client = try client()
    let text = String(repeating: "*BAz-", count: 13_000)
    var rest = Array(text.utf8)[...]
    var opcode: UInt8 = 1
    while !rest.isEmpty {
      client.send(Frame(opcode, Array(rest.prefix(size)), isFinal: rest.count <= size))
      rest = rest.dropFirst(size)
      opcode = 0
    }
    #expect(client.message() == .text(text))
  }

  @Test(arguments: [
    [Frame(Frame.ping, [1], isFinal: false)], [Frame(Frame.pong, [1], isFinal: false)],
    [Frame(8, [3, 232], isFinal: false)], [Frame(0, [65])], [Frame(0, [65], isFinal: false)],
    [Frame(1, [65], isFinal: false), Frame(1, [66])],
    [Frame(1, [65], isFinal: false), Frame(2, [66])],
    [Frame(1, [65], isFinal: false), Frame(0, [66]), Frame(0, [67])],
  ])
  func `fragments out of turn end the socket`(_ frames: [Frame]) throws {
    let client = try client()
    for frame in frames { client.send(frame) }
    #expect(client.closeCode() == 1002)
  }

  // MARK: 6: UTF-8

  @Test(arguments: [
    "κόσμε", "Hello-µ@ßöäüàá-UTF-8!!", "\u{7F}\u{7FF}\u{FFFF}\u{10FFFF}", "\u{0}",
    "\u{D7FF}\u{E000}\u{FFFD}",
  ])
  func `text of any characters comes back, cut anywhere`(_ text: String) throws {
    let client = try client()
    let bytes = Array(text.utf8)
    for (place, byte) in bytes.enumerated() {
      client.send(Frame(place == 0 ? 1 : 0, [byte], isFinal: place == bytes.count - 1))
    }
    #expect(client.message() == .text(text))
  }

  @Test(
    arguments: [
      [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xED, 0xA0, 0x80, 0x65],
      [0xC0, 0xAF], [0x80], [0xF4, 0x90, 0x80, 0x80], [0xFE], [0xFF], [0xE2, 0x82],
      [0xF8, 0x88, 0x80, 0x80, 0x80],
      [0xED, 0xAD, 0xBF], [0xE0, 0x80, 0x80],
    ] as [[UInt8]])
  func `text that is not UTF-8 ends the socket by 1007`(_ bytes: [UInt8]) throws {
    let whole = try client()
    whole.send(Frame(1, bytes))
    #expect(whole.closeCode() == 1007)
    let parts = try client()
    for (place, byte) in bytes.enumerated() {
      parts.send(Frame(place == 0 ? 1 : 0, [byte], isFinal: place == bytes.count - 1))
    }
    #expect(parts.closeCode() == 1007)
  }

  // MARK: 7: closing

  @Test func `a close is answered by its code, and what follows it is not heard`() throws {
    let client = try client()
    client.send(.close(1000, Array("Bye.".utf8)))
    client.send("too late")
    client.send(.close(1000))
    client.send(Frame(Frame.ping))
    #expect(client.next()?.closeCode == 1000)
    #expect(client.next() == nil)
  }

  @Test func `a close without a code is answered`() throws {
    let client = try client()
    client.send(Frame(8))
    #expect(client.next()?.opcode == 8)
    #expect(client.next() == nil)
  }

  @Test func `a close may come within a message`() throws {
    let client = try client()
    client.send(.text("never ", isFinal: false))
    client.send(.close(1001))
    client.send(Frame(0, Array("ends".utf8)))
    #expect(client.next()?.closeCode == 1001)
    #expect(client.next() == nil)
  }

  @Test(
    arguments: [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ] as [UInt16])
  func `codes that a close may have are answered with themselves`(_ code: UInt16) throws {
    let client = try client()
    client.send(.close(code))
    #expect(client.closeCode() == Int(code))
  }

  @Test(
    arguments: [
      0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] as [UInt16])
  func `codes that it may not have are an error`(_ code: UInt16) throws {
    let client = try client()
    client.send(.close(code))
    #expect(client.closeCode() == 1002)
  }

  @Test func `a close of one byte, or that is too long, or not UTF-8, is an error`() throws {
    let short = try client()
    short.send(Frame(8, [3]))
    #expect(short.closeCode() == 1002)
    let long = try client()
    long.send(.close(1000, [UInt8](repeating: 42, count: 124)))
    #expect(long.closeCode() == 1002)
    let bytes = try client()
    bytes.send(.close(1000, [0xCE, 0xBA, 0xED, 0xA0, 0x80]))
    #expect(bytes.closeCode() == 1007)
  }

  // MARK: The server's end of it

  @Test func `a client that does not read is closed by 1013, and nothing more is kept for it`()
    throws
  {
    let fixture = try HTTPServerFixture { configuration in
      configuration.limits.maximumUnsentBytes = 256 * 1024
    } handler: { request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else { return }
      guard let socket = exchange.upgrade(handshake, to: nil) else { return }
      socket.onMessage = { [unowned socket] _ in
        // Far more than the buffers of two sockets take.
        for _ in 0..<100_000 where !socket.isClosing {
          if !socket.send([UInt8](repeating: 42, count: 10_000)) { socket.close(1013, "Slow.") }
        }
      }
    }
    let client = try WebSocketClient(port: fixture.port, receiveBuffer: 4096)
    client.send("go on")
    #expect(client.closeCode() == 1013)
  }

  /// A server that records that a socket can be sent nothing more; a message makes it close by
  /// 4000.
  private func witness(
    _ configure: (inout HTTPServer.Configuration) -> Void = { _ in }
  ) throws -> (fixture: HTTPServerFixture, ends: EndCount) {
    let ends = EndCount()
    let fixture = try HTTPServerFixture(configure) { request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else {
        return exchange.respond(.badRequest)
      }
      guard let socket = exchange.upgrade(handshake, to: nil) else { return }
      socket.onMessage = { [unowned socket] _ in socket.close(4000, "Enough.") }
      socket.onClose = { ends.add() }
    }
    return (fixture, ends)
  }

  final class EndCount: Sendable {
    private let count = Mutex(0)
    func add() { count.withLock { $0 += 1 } }
    /// Waits for one.
    var isOne: Bool {
      for _ in 0..<12_000 where count.withLock({ $0 }) == 0 { usleep(10_000) }
      return count.withLock { $0 } == 1
    }
  }

  @Test(arguments: [true, false])
  func `its work ends when either side says that nothing follows, and once`(_ isServer: Bool)
    throws
  {
    let (fixture, ends) = try witness { $0.limits.linger = .seconds(3600) }
    var client: WebSocketClient? = try WebSocketClient(port: fixture.port)
    if isServer { client?.send("go on") } else { client?.send(.close(1000)) }
    // The client has not closed, and the server waits for it.
    #expect(ends.isOne)
    #expect(client?.closeCode() == (isServer ? 4000 : 1000))
    client = nil
    #expect(fixture.sees { if case .connectionClosed = $0 { true } else { false } })
    #expect(ends.isOne)
  }

  @Test func `who has said all is told by its code why it is closed`() throws {
    let (fixture, ends) = try witness()
    let client = try WebSocketClient(port: fixture.port)
    client.raw.send(Frame.text("go on").bytes())
    client.raw.finishSending()
    #expect(client.closeCode() == 4000)
    #expect(ends.isOne)
  }

  @Test func `who opens one while the server ends is told by 1001, too`() throws {
    let (fixture, _) = try witness { $0.limits.farewell = .milliseconds(10) }
    let idle = try WebSocketClient(port: fixture.port)
    let late = try RawClient(port: fixture.port)
    let text = WebSocketClient.handshake()
    // With the answer to what stands before it, its beginning has been read.
    late.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + text.dropLast(2))
    #expect(late.answer().status == 400)
    fixture.server.drain {}
    #expect(idle.closeCode() == 1001)
    late.send(String(text.suffix(2)))
    #expect(late.answer(isHead: true).status == 101)
    #expect(late.bytes(4)?.dropFirst(2) == [3, 233])
  }

  @Test func `the server's end is told by 1001`() throws {
    let fixture = try HTTPServerFixture {
      $0.limits.farewell = .milliseconds(10)
    } handler: {
      request, exchange in
      guard let handshake = try? WebSocketHandshake(request) else { return }
      _ = exchange.upgrade(handshake, to: nil)
    }
    let client = try WebSocketClient(port: fixture.port)
    fixture.server.drain {}
    #expect(client.closeCode() == 1001)
    client.send(.close(1001))
    #expect(client.raw.isClosedByServer())
  }
}
