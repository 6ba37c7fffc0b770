import Dispatch
import EventLoops
import Glibc
import HTTP
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

/// Waits, clients that leave, slow readers, too many sockets, the end of the server.
@Suite(.blocks) struct ConnectionTests {
  @Test func `a header that does not come to its end in time gets 408`() throws {
    let fixture = try HTTPServerFixture { $0.limits.header = .milliseconds(100) }
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost:")
    let answer = client.answer()
    #expect(answer.status == 408)
    #expect(answer.head.contains("\r\nConnection: close\r\n"))
    client.finishSending()
    #expect(client.isClosedByServer())
  }

  @Test func `a header that comes drop by drop gets 408 all the same`() throws {
    let fixture = try HTTPServerFixture { $0.limits.header = .milliseconds(200) }
    let client = try RawClient(port: fixture.port)
    for byte in "GET / HTTP/1.1\r\nHost: a\r\n".utf8 {
      client.send([byte])
      usleep(15_000)
    }
    #expect(client.answer().status == 408)
  }

  @Test func `a body that does not come to its end in time gets 408`() throws {
    let fixture = try HTTPServerFixture { $0.limits.body = .milliseconds(100) }
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    #expect(client.answer().status == 408)
  }

  @Test func `a body slower than the least rate gets 408 before its time is over`() throws {
    let fixture = try HTTPServerFixture {
      $0.limits.bodyGrace = .milliseconds(100)
      $0.limits.minimumBodyBytesPerSecond = 100_000
      $0.limits.body = .seconds(600)
    }
    let client = try RawClient(port: fixture.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")
    #expect(client.answer().status == 408)
  }

  @Test func `an idle connection is closed without a word`() throws {
    let fixture = try HTTPServerFixture { $0.limits.idle = .milliseconds(100) }
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().status == 200)
    #expect(client.rest() == "")
    #expect(client.isClosed)
    #expect(fixture.sees { if case .connectionClosed(.idle) = $0 { true } else { false } })
  }

  @Test func `a request its handler forgets gets 500`() throws {
    let fixture = try HTTPServerFixture {
      $0.limits.answer = .milliseconds(100)
    } handler: { _, _ in
    }
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().status == 500)
  }

  @Test func `a client that closes its sending half gets its answer, however late`() throws {
    let exchanges = Mutex<[HTTPExchange]>([])
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchanges.withLock { $0.append(exchange) }
    }
    for isSeparate in [true, false] {
      let client = try RawClient(port: fixture.port)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      if isSeparate { while exchanges.withLock({ $0.isEmpty }) { usleep(1000) } }
      client.finishSending()
      while exchanges.withLock({ $0.isEmpty }) { usleep(1000) }
      // Whatever the loop does after it has seen the end comes before this.
      let turns = DispatchSemaphore(value: 0)
      for _ in 0..<3 {
        fixture.loop.execute { turns.signal() }
        turns.wait()
      }
      let waiting = exchanges.withLock { $0 }
      exchanges.withLock { $0.removeAll() }
      fixture.loop.execute {
        for exchange in waiting { exchange.respond(contentType: "text/plain", body: [0x61]) }
      }
      let answer = client.answer()
      #expect(answer.body == "a")
      #expect(answer.header("Connection") == "close")
      #expect(client.isClosedByServer())
    }
  }

  @Test func `requests sent ahead of the end are all answered`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    client.finishSending()
    #expect(client.answer().body == "get /1  ")
    #expect(client.answer().body == "get /2  ")
    #expect(client.isClosedByServer())
  }

  @Test func `answers that nobody reads count until their client goes`() throws {
    let budget = HTTPBufferBudget(maximumBytes: 10_000_000)
    let fixture = try HTTPServerFixture {
      $0.budget = budget
    } handler: { request, exchange in
      guard request.path == "/large" else { return HTTPServerFixture.echo(request, exchange) }
      exchange.respond(
        contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 16_000_000))
    }
    var client: RawClient? = try RawClient(port: fixture.port, receiveBuffer: 4096)
    client?.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    while budget.heldBytes == 0 { usleep(1000) }
    // The whole of it is kept, though the system has taken a part.
    #expect((16_000_000..<16_100_000).contains(budget.heldBytes))
    #expect(!budget.admits(Int.max))
    let quick = try RawClient(port: fixture.port)
    quick.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(quick.answer().status == 200)
    client?.reset()
    client = nil
    for _ in 0..<12_000 where budget.heldBytes > 0 { usleep(5000) }
    #expect(budget.heldBytes == 0 && budget.admits(10_000_000) && !budget.admits(10_000_001))
  }

  @Test func `a client that leaves while its request is worked on is noticed at once`() throws {
    let left = Mutex(false)
    let isOpenAfter = Mutex<Bool?>(nil)
    let fixture = try HTTPServerFixture.answering { request, exchange in
      exchange.onClose {
        left.withLock { $0 = true }
        isOpenAfter.withLock { $0 = exchange.isOpen }
        exchange.respond(contentType: "text/plain", body: [])
      }
    }
    var client: RawClient? = try RawClient(port: fixture.port)
    client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    usleep(50_000)
    #expect(!left.withLock { $0 })
    client?.reset()
    client = nil
    #expect(fixture.sees { if case .clientGone = $0 { true } else { false } })
    for _ in 0..<12_000 where !left.withLock({ $0 }) { usleep(5000) }
    #expect(left.withLock { $0 })
    #expect(isOpenAfter.withLock { $0 } == false)
  }

  @Test func `a client that only closes its sending half still gets a quick answer`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    client.finishSending()
    #expect(client.answer().body == "get /1  ")
    #expect(client.answer().body == "get /2  ")
    #expect(client.rest() == "")
  }

  @Test func `a reader that stops is reset, and no further request of it is begun`() throws {
    let served = Mutex(0)
    let fixture = try HTTPServerFixture {
      $0.limits.writeStall = .milliseconds(200)
    } handler: { _, exchange in
      served.withLock { $0 += 1 }
      exchange.respond(
        contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 1_000_000))
    }
    let client = try RawClient(port: fixture.port, receiveBuffer: 4096)
    client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 100))
    #expect(
      fixture.sees { if case .connectionClosed(.writeStalled) = $0 { true } else { false } })
    #expect(served.withLock { $0 } < 20)
  }

  @Test func `a reader below the least rate is reset, however little it takes at a time`() throws {
    let fixture = try HTTPServerFixture {
      // Bytes are taken, and it never stalls.
      $0.limits.writeStall = .seconds(3600)
      $0.limits.readGrace = .milliseconds(100)
      $0.limits.minimumReadBytesPerSecond = 1 << 40
    } handler: { _, exchange in
      exchange.respond(
        contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 16_000_000))
    }
    let client = try RawClient(port: fixture.port, receiveBuffer: 4096)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(
      fixture.sees { if case .connectionClosed(.writeStalled) = $0 { true } else { false } })
  }

  @Test func `a slow reader gets everything`() throws {
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchange.respond(
        contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 3_000_000))
    }
    let client = try RawClient(port: fixture.port, receiveBuffer: 4096)
    client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
    for _ in 0..<3 { #expect(client.answer().body.utf8.count == 3_000_000) }
  }

  @Test func `bodies of all sizes come whole and in order behind each other`() throws {
    @Sendable func body(_ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(0x61 + ($0 + count) % 26) }
    }
    let fixture = try HTTPServerFixture.answering { request, exchange in
      exchange.respond(contentType: "text/plain", body: body(Int(request.path.dropFirst()) ?? 0))
    }
    let client = try RawClient(port: fixture.port, receiveBuffer: 4096)
    let counts = [0, 10, 2_047, 2_048, 5, 40_000, 2_049, 300_000, 1, 3_000, 3_000, 0]
    let methods = ["GET", "HEAD", "GET"]
    client.send(
      counts.enumerated().map { number, count in
        "\(methods[number % 3]) /\(count) HTTP/1.1\r\nHost: a\r\n\r\n"
      }.joined())
    for (number, count) in counts.enumerated() {
      let isHead = methods[number % 3] == "HEAD"
      let answer = client.answer(isHead: isHead)
      #expect(answer.header("Content-Length") == "\(count)")
      #expect(answer.body.utf8.elementsEqual(isHead ? [] : body(count)))
    }
  }

  @Test func `a client sending far ahead is not read without bound`() throws {
    let exchanges = Mutex<[HTTPExchange]>([])
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchanges.withLock { $0.append(exchange) }
    }
    let client = try RawClient(port: fixture.port)
    let request = "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 1000))\r\n\r\n"
    client.send(String(repeating: request, count: 300))
    usleep(50_000)
    for _ in 0..<300 {
      for _ in 0..<12_000 where exchanges.withLock({ $0.isEmpty }) { usleep(5000) }
      let waiting = exchanges.withLock { taken in
        defer { taken = [] }
        return taken
      }
      #expect(waiting.count == 1)
      fixture.loop.execute {
        for exchange in waiting { exchange.respond(contentType: "text/plain", body: []) }
      }
      #expect(client.answer().status == 200)
    }
  }

  @Test func `a client past its share of sockets gets 503, and a place when one is free`() throws {
    let fixture = try HTTPServerFixture { $0.limits.maximumSocketsPerAddress = 2 }
    var clients = [try RawClient(port: fixture.port), try RawClient(port: fixture.port)]
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.answer().status == 200)
    }
    let refused = try RawClient(port: fixture.port)
    let answer = refused.answer()
    #expect(answer.status == 503)
    #expect(answer.head.contains("\r\nRetry-After: 1\r\n"))
    #expect(refused.isClosedByServer())
    clients.removeLast()
    #expect(fixture.sees { if case .connectionClosed = $0 { true } else { false } })
    let admitted = try RawClient(port: fixture.port)
    admitted.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(admitted.answer().status == 200)
  }

  @Test func `behind a proxy a client's share is of requests whose answers it has not taken`()
    throws
  {
    let held = Mutex<[HTTPExchange]>([])
    var limits = HTTPLimits()
    limits.maximumSocketsPerAddress = 2
    let quota = HTTPSocketQuota(
      limits: limits, proxies: try #require(TrustedProxies(["127.0.0.1"])))
    let fixture = try HTTPServerFixture {
      $0.limits = limits
      $0.quota = quota
    } handler: { request, exchange in
      if request.path == "/held" {
        held.withLock { $0.append(exchange) }
      } else {
        HTTPServerFixture.echo(request, exchange)
      }
    }
    func send(_ path: String, for client: String) throws -> RawClient {
      let socket = try RawClient(port: fixture.port)
      socket.send("GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\n\r\n")
      return socket
    }
    let waiting = [try send("/held", for: "192.0.2.1"), try send("/held", for: "192.0.2.1")]
    while held.withLock({ $0.count < 2 }) { usleep(1_000) }
    #expect(try send("/", for: "192.0.2.1").answer().status == 503)
    #expect(try send("/", for: "192.0.2.2").answer().status == 200)
    let exchanges = held.withLock { $0 }
    fixture.loop.execute {
      for exchange in exchanges { exchange.respond(contentType: "text/plain", body: []) }
    }
    for socket in waiting { #expect(socket.answer().status == 200) }
    // Both sockets are open yet, and nobody's.
    #expect(try send("/", for: "192.0.2.1").answer().status == 200)
    for socket in waiting {
      socket.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.3\r\n\r\n")
      #expect(socket.answer().status == 200)
    }
  }

  @Test func `servers share the limit of sockets of the process`() throws {
    var limits = HTTPLimits()
    limits.maximumSockets = 1
    let quota = HTTPSocketQuota(limits: limits)
    let first = try HTTPServerFixture { $0.quota = quota }
    let second = try HTTPServerFixture { $0.quota = quota }
    let client = try RawClient(port: first.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().status == 200)
    #expect(quota.openSockets == 1)
    #expect(try RawClient(port: second.port).answer().status == 503)
  }

  @Test func `draining finishes what is being worked on and closes the rest`() throws {
    let exchanges = Mutex<[HTTPExchange]>([])
    let fixture = try HTTPServerFixture {
      $0.limits.farewell = .zero
    } handler: { request, exchange in
      if request.path == "/slow" {
        exchanges.withLock { $0.append(exchange) }
      } else {
        HTTPServerFixture.echo(request, exchange)
      }
    }
    let idle = try RawClient(port: fixture.port)
    idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(idle.answer().status == 200)
    let busy = try RawClient(port: fixture.port)
    busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    while exchanges.withLock({ $0.isEmpty }) { usleep(1000) }
    let isDrained = Mutex(false)
    fixture.server.drain { isDrained.withLock { $0 = true } }
    #expect(idle.isClosedByServer())
    #expect(throws: (any Error).self) { try RawClient(port: fixture.port) }
    #expect(!isDrained.withLock { $0 })
    let waiting = exchanges.withLock { $0 }
    fixture.loop.execute {
      for exchange in waiting { exchange.respond(contentType: "text/plain", body: [0x61]) }
    }
    let answer = busy.answer()
    #expect(answer.body == "a")
    #expect(answer.head.contains("\r\nConnection: close\r\n"))
    #expect(busy.isClosedByServer())
    busy.finishSending()
    for _ in 0..<12_000 where !isDrained.withLock({ $0 }) { usleep(5000) }
    #expect(isDrained.withLock { $0 })
  }

  @Test func `a server that drains lets nobody in, whoever else holds its listener`() throws {
    let listener = try HTTPListener.open(.tcp(host: "127.0.0.1", port: 0))[0]
    guard case .tcp(_, let port) = listener.address else { return }
    let loop = try EventLoop(label: "test")
    let server = HTTPServer(loop: loop, listener: listener, handler: HTTPServerFixture.echo)
    server.start()
    let slow = try RawClient(port: port)
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
    let drained = DispatchSemaphore(value: 0)
    server.drain { drained.signal() }
    let isAnnounced = DispatchSemaphore(value: 0)
    loop.execute { isAnnounced.signal() }
    isAnnounced.wait()
    #expect(throws: (any Error).self) { try RawClient(port: port) }
    // Another server may have the port at once.
    #expect(throws: Never.self) { try HTTPListener.open(listener.address) }
    slow.send("a")
    #expect(slow.answer().body.hasSuffix("aa"))
    slow.finishSending()
    drained.wait()
    loop.stop()
    withExtendedLifetime(listener) {}
  }

  @Test func `all who connected before the end are answered`() throws {
    let fixture = try HTTPServerFixture { $0.limits.farewell = .seconds(3600) }
    // The loop is busy while they come, and then has the end before it.
    let mayGoOn = DispatchSemaphore(value: 0)
    fixture.loop.execute { mayGoOn.wait() }
    fixture.server.drain {}
    let clients = try (0..<150).map { _ in try RawClient(port: fixture.port) }
    for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
    mayGoOn.signal()
    for client in clients { #expect(client.answer().status == 200) }
  }

  @Test func `once the end is announced every answer is the last of its connection`() throws {
    let fixture = try HTTPServerFixture()
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.answer().header("Connection") == nil)
    fixture.server.announceEnd()
    let isAnnounced = DispatchSemaphore(value: 0)
    fixture.loop.execute { isAnnounced.signal() }
    isAnnounced.wait()
    // Who has a connection learns of it, and may come again on a new one.
    for client in [client, try RawClient(port: fixture.port)] {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = client.answer()
      #expect(answer.status == 200 && answer.header("Connection") == "close")
      #expect(client.isClosedByServer())
    }
  }

  @Test func `a kept connection is told of the end before it is closed`() throws {
    let fixture = try HTTPServerFixture { $0.limits.farewell = .seconds(3600) }
    let clients = try (0..<8).map { _ in try RawClient(port: fixture.port) }
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.answer().status == 200)
    }
    let isDrained = Mutex(false)
    fixture.server.drain { isDrained.withLock { $0 = true } }
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = client.answer()
      #expect(answer.status == 200 && answer.header("Connection") == "close")
      #expect(client.isClosedByServer())
      client.finishSending()
    }
    for _ in 0..<12_000 where !isDrained.withLock({ $0 }) { usleep(5000) }
    #expect(isDrained.withLock { $0 })
  }

  @Test func `closing everything cancels what is being worked on`() throws {
    let isCancelled = Mutex(false)
    let isBusy = Mutex(false)
    let fixture = try HTTPServerFixture.answering { _, exchange in
      exchange.onClose { isCancelled.withLock { $0 = true } }
      isBusy.withLock { $0 = true }
    }
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    while !isBusy.withLock({ $0 }) { usleep(1000) }
    fixture.server.closeAll()
    #expect(client.isClosedByServer())
    for _ in 0..<12_000 where !isCancelled.withLock({ $0 }) { usleep(5000) }
    #expect(isCancelled.withLock { $0 })
  }
}
