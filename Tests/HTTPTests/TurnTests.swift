import HTTP
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

/// A client that has sent much at once leaves the loop to others between its turns.
@Suite(.blocks) struct TurnTests {
  /// The served requests and messages, in order. As the greedy client's first request or message is served,
  /// another client sends a request.
  private final class Order: Sendable {
    private let served = Mutex<[String]>([])
    private let isSent = Mutex(false)
    private let other = Mutex<RawClient?>(nil)

    /// Connects the other client, whose first request is answered.
    func connect(to port: UInt16) throws {
      try other.withLock { other in
        let client = try RawClient(port: port)
        client.send("GET /warm HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().status == 200)
        other = client
      }
      served.withLock { $0 = [] }
    }

    func note(_ name: String) {
      let isFirst = served.withLock { served in
        served.append(name)
        return served.count == 1
      }
      guard isFirst else { return }
      other.withLock { $0?.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n") }
      isSent.withLock { $0 = true }
    }

    /// The number of the greedy client's that were served before the other's request.
    func countBefore() -> Int? {
      // Whoever reads the answer has the client to itself, which the loop needs to send.
      guard eventually({ isSent.withLock { $0 } }) else { return nil }
      #expect(other.withLock { $0?.answer().status } == 200)
      return served.withLock { $0.firstIndex(of: "/other") }
    }

    func count() -> Int { served.withLock(\.count) }
  }

  private func serve(_ order: Order) throws -> HTTPServerFixture {
    let fixture = try HTTPServerFixture.answering { request, exchange in
      if let handshake = try? WebSocketHandshake(request) {
        let socket = exchange.upgrade(handshake, to: nil)
        socket?.onMessage = { _ in order.note("message") }
        return
      }
      if request.path != "/warm" { order.note(request.path) }
      HTTPServerFixture.echo(request, exchange)
    }
    try order.connect(to: fixture.port)
    return fixture
  }

  @Test func `hundreds of pipelined requests do not keep another waiting`() throws {
    let order = Order()
    let fixture = try serve(order)
    let greedy = try RawClient(port: fixture.port)
    greedy.send(String(repeating: "GET /greedy HTTP/1.1\r\nHost: a\r\n\r\n", count: 900))
    let count = try #require(order.countBefore())
    #expect(count <= 100)
    for _ in 0..<900 { #expect(greedy.answer().body == "get /greedy  ") }
  }

  @Test func `the requests of many streams do not keep another waiting`() throws {
    let order = Order()
    let fixture = try serve(order)
    let greedy = try HTTP2Client(port: fixture.port)
    greedy.acknowledge()
    greedy.raw.send(
      (0..<99).flatMap { number in
        HTTP2Client.frame(
          HTTP2Client.headers, flags: 5, stream: 1 + 2 * number,
          payload: HTTP2Client.request("/greedy"))
      })
    let count = try #require(order.countBefore())
    #expect(count <= 70)
    #expect(greedy.body(of: 197) == "get /greedy  ")
  }

  @Test func `hundreds of messages do not keep another waiting`() throws {
    let order = Order()
    let fixture = try serve(order)
    let greedy = try WebSocketClient(port: fixture.port)
    let frame = WebSocketClient.Frame.text("x").bytes()
    greedy.raw.send((0..<900).flatMap { _ in frame })
    let count = try #require(order.countBefore())
    #expect(count <= 100)
    #expect(eventually { order.count() == 901 })
  }

  @Test func `pings without end close a WebSocket`() throws {
    let fixture = try serve(Order())
    let client = try RawClient(port: fixture.port)
    client.send(WebSocketClient.handshake())
    #expect(client.answer(isHead: true).status == 101)
    // A ping without a payload, masked by zeros.
    client.send((0..<20_000).flatMap { _ in [0x89, 0x80, 0, 0, 0, 0] as [UInt8] })
    var pongs = 0
    while let head = client.bytes(2), head == [0x8A, 0] { pongs += 1 }
    // The head of the close was read; its code is 1008.
    #expect(client.bytes(2) == [0x03, 0xF0])
    #expect(pongs >= 1_000)
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `a large body over TLS arrives in several turns`(_ version: String) throws {
    let certificate = try TLSTests.Certificate()
    let context = try TLSContext(
      certificateFile: certificate.certificate, keyFile: certificate.key, speaksHTTP2: true)
    let fixture = try HTTPServerFixture { $0.tls = context }
    let folder = try TemporaryFolder()
    let text = String(repeating: "0123456789abcdef", count: 60_000)
    let file = try folder.write("body", text)
    let answer = try TLSTests.run(
      "curl", "--silent", version, "--insecure", "--data-binary", "@\(file)",
      "https://127.0.0.1:\(fixture.port)/"
    ).output
    #expect(answer == "post /  " + text)
  }

  @Test func `two credentials are refused`() {
    let head =
      "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n"
    #expect(throws: HTTPRefusal.malformed(.authorization)) {
      _ = try HTTPRequest.parse(Array(head.utf8))
    }
  }
}
