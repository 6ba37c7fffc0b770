import EventLoops
import HTTP
import HTTPTestSupport
import JSON
import Synchronization
import TestSupport
import Testing

@testable import Load

/// The driver against a real server on a socket. No verdict depends on how long something takes.
@Suite(.blocks) struct DriverTests {
  private func mix(_ kind: String = "query") throws -> Mix {
    try MixReader.read(
      folder: [MixReader.File(name: "Q.graphql", bytes: Array("\(kind) Q { a }".utf8))],
      manifest: []
    ) { _ in [] }
  }

  private func side(
    _ server: HTTPServerFixture, _ mix: Mix, interrupt: LoadInterrupt = LoadInterrupt(),
    _ change: (inout LoadPlan) -> Void = { _ in },
    onLedger: (@Sendable (LoadDriver.LedgerEntry) -> Void)? = nil
  ) throws -> LoadSide {
    let target = try #require(HTTPTarget("http://127.0.0.1:\(server.port)/graphql"))
    var plan = LoadPlan(target: target, mix: mix)
    change(&plan)
    return try LoadSide(plan, interrupt: interrupt, onLedger: onLedger)
  }

  private func even(_ rate: Double, milliseconds: Int64, warmUp: Int64 = 0) -> Schedule {
    Schedule(
      rate: rate, arrivals: .even, warmUp: warmUp * 1_000_000, duration: milliseconds * 1_000_000,
      seed: 1)
  }

  /// Answers with a head that no client can read, after which the connection cannot be used.
  private static func spoil(_ exchange: HTTPExchange) {
    exchange.respond(
      contentType: "application/json", headers: [HTTPField("Content-Length", "999")], body: data)
  }

  private static let data = Array(#"{"data":{"a":1}}"#.utf8)

  @Test func `every arrival is sent once and answered, and the warm-up is in no figure`() throws {
    let count = Atomic(0)
    let server = try HTTPServerFixture.answering { request, exchange in
      count.add(1, ordering: .relaxed)
      #expect(request.header("prefer") == "metrics=timings")
      exchange.respond(
        contentType: "application/json",
        headers: [HTTPField("Server-Timing", "total;dur=0.5, postgresql;dur=0.25")],
        body: Self.data)
    }
    let side = try side(server, mix())
    defer { side.close() }
    let result = side.run(even(500, milliseconds: 400, warmUp: 100))
    #expect(result.isComplete && result.samples.count == 200 && result.duration == 400_000_000)
    #expect(count.load(ordering: .relaxed) == 250)
    for sample in result.samples {
      #expect(sample.outcome == .ok && sample.intended <= sample.takenUp)
      #expect(sample.takenUp <= sample.sent && sample.sent <= sample.firstByte)
      #expect(sample.firstByte <= sample.done && sample.receivedBytes > 100)
    }
    let measured = LoadMeasurement(result, operations: side.plan.mix.sent)
    #expect(measured.totals.timed == 200)
    let parts = Dictionary(
      uniqueKeysWithValues: measured.totals.split.map { ($0.name, $0.milliseconds) })
    #expect(parts["postgresql"] == 0.25 && parts["other"] == 0.25)
    let sum = measured.totals.split.reduce(0) { $0 + $1.milliseconds }
    let mean = try #require(measured.totals.latency.mean) / 1e6
    #expect(abs(sum - mean) < 1e-6)
    // Another window on the same connections.
    #expect(side.run(even(100, milliseconds: 50)).samples.count == 5)
  }

  @Test func `outcomes are told by status and errors`() throws {
    let number = Atomic(0)
    let server = try HTTPServerFixture.answering { _, exchange in
      let json = "application/json"
      switch number.add(1, ordering: .relaxed).oldValue % 7 {
      case 0: exchange.respond(contentType: json, body: Self.data)
      case 1:
        exchange.respond(
          contentType: json,
          body: Array(#"{"errors":[{"message":"x","extensions":{"code":"BAD"}}]}"#.utf8))
      case 2:
        exchange.respond(contentType: json, body: Array(#"{"errors":[{"message":"x"}]}"#.utf8))
      case 3:
        exchange.respond(
          contentType: json, body: Array(#"{"data":{"x":"errors"},"errors":[]}"#.utf8))
      case 4: exchange.respond(.tooManyRequests, headers: [HTTPField("Retry-After", "3")])
      case 5: exchange.respond(.serviceUnavailable)
      default: exchange.respond(.serviceUnavailable, headers: [HTTPField("Retry-After", "7")])
      }
    }
    let side = try side(server, mix()) { $0.driver.maximumConnections = 1 }
    defer { side.close() }
    let measured = LoadMeasurement(
      side.run(even(700, milliseconds: 100)), operations: side.plan.mix.sent)
    let totals = measured.totals
    #expect(totals.offered == 70 && totals.ok == 20)
    #expect(totals.count(.graphql) == 20 && totals.count(.throttled) == 20)
    #expect(totals.count(.http) == 10 && totals.retryAfter == 3...7)
    #expect(
      Dictionary(uniqueKeysWithValues: totals.byCode.map { ($0.code, $0.count) }) == [
        "BAD": 10, "no code": 10, "HTTP 429": 10, "HTTP 503": 20,
      ])
  }

  /// Answers nothing until so many requests wait.
  private final class Gate: Sendable {
    private let waiting = Mutex([HTTPExchange]())
    let most = Atomic(0)

    func hold(_ exchange: HTTPExchange, until count: Int) {
      let ready = waiting.withLock { waiting -> [HTTPExchange] in
        waiting.append(exchange)
        if waiting.count > most.load(ordering: .relaxed) {
          most.store(waiting.count, ordering: .relaxed)
        }
        guard waiting.count == count else { return [] }
        defer { waiting = [] }
        return waiting
      }
      for exchange in ready {
        exchange.respond(contentType: "application/json", body: DriverTests.data)
      }
    }
  }

  @Test func `arrivals go on while nothing is answered, and wait beyond the connections`() throws {
    // Nothing is answered until all forty of an open model are there.
    let gate = Gate()
    let server = try HTTPServerFixture.answering { gate.hold($1, until: 40) }
    let wide = try side(server, mix())
    let open = wide.run(even(400, milliseconds: 100))
    wide.close()
    #expect(open.samples.count == 40 && open.samples.allSatisfy { $0.outcome == .ok })
    // With eight connections eight are there at a time, and the others wait in the generator.
    let narrow = Gate()
    let second = try HTTPServerFixture.answering { narrow.hold($1, until: 8) }
    let side = try side(second, mix()) { $0.driver.maximumConnections = 8 }
    defer { side.close() }
    let queued = side.run(even(400, milliseconds: 100))
    #expect(queued.samples.count == 40 && queued.samples.allSatisfy { $0.outcome == .ok })
    #expect(narrow.most.load(ordering: .relaxed) == 8)
    #expect(queued.samples.last.map { $0.sent > $0.takenUp } == true)
  }

  @Test func `what is not answered ends at its time limit, with that as its latency`() throws {
    let server = try HTTPServerFixture.answering { _, _ in }
    let side = try side(server, mix()) { plan in
      plan.driver.timeout = 150_000_000
      plan.driver.maximumConnections = 4
    }
    defer { side.close() }
    let result = side.run(even(100, milliseconds: 100))
    #expect(result.samples.count == 10 && result.isComplete)
    #expect(result.samples.allSatisfy { $0.outcome == .timeout && $0.latency == 150_000_000 })
  }

  @Test func `a connection that ends after its answer is no error, one whose answer is lost is`()
    throws
  {
    let number = Atomic(0)
    @Sendable func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
      if number.add(1, ordering: .relaxed).oldValue % 5 == 4 {
        Self.spoil(exchange)
      } else {
        exchange.respond(contentType: "application/json", body: Self.data)
      }
    }
    let server = try HTTPServerFixture(
      { $0.limits.maximumRequestsPerConnection = 3 }, handler: { answer($0, $1) })
    let side = try side(server, mix()) { $0.driver.maximumConnections = 1 }
    defer { side.close() }
    let result = side.run(even(500, milliseconds: 100))
    #expect(result.samples.count == 50)
    #expect(result.samples.count { $0.outcome == .ok } == 40)
    #expect(result.samples.count { $0.outcome == .transport } == 10)
  }

  @Test func `a mutation whose answer is lost is sent again with its key, and is in the ledger`()
    throws
  {
    let seen = Mutex([String: [[UInt8]]]())
    let server = try HTTPServerFixture.answering { request, exchange in
      let key = request.header("idempotency-key") ?? ""
      let times = seen.withLock { seen -> Int in
        seen[key, default: []].append(Array(request.body))
        return seen[key]?.count ?? 0
      }
      // Every third key is answered the third time only, and one never.
      let number = Int(key.split(separator: "-").last ?? "") ?? 0
      if number == 4 || number % 3 == 0 && times < 3 {
        Self.spoil(exchange)
      } else if number == 5 {
        exchange.respond(contentType: "application/json", body: Array(#"{"errors":[{}]}"#.utf8))
      } else {
        exchange.respond(contentType: "application/json", body: Self.data)
      }
    }
    let ledger = Mutex([LoadDriver.LedgerEntry]())
    let side = try side(
      server, mix("mutation"), onLedger: { entry in ledger.withLock { $0.append(entry) } })
    defer { side.close() }
    let result = side.run(even(100, milliseconds: 100))
    let entries = ledger.withLock { $0 }
    #expect(entries.count == 10 && Set(entries.map(\.key)).count == 10)
    #expect(entries.count { $0.fate == .acknowledged } == 8)
    #expect(entries.first { $0.key.hasSuffix("-4") }?.fate == .unknown)
    #expect(entries.first { $0.key.hasSuffix("-5") }?.fate == .refused)
    for entry in entries {
      let bodies = seen.withLock { $0[entry.key] } ?? []
      #expect(bodies.count == entry.attempts && Set(bodies).count == 1)
      let number = Int(entry.key.split(separator: "-").last ?? "") ?? -1
      #expect(entry.attempts == (number == 4 ? 4 : number % 3 == 0 ? 3 : 1))
    }
    #expect(result.samples.count { $0.outcome == .ok } == 8)
  }

  @Test func `an interrupt ends the arrivals and gives up what is not answered`() throws {
    let interrupt = LoadInterrupt()
    let server = try HTTPServerFixture.answering { _, _ in interrupt.raise() }
    let side = try side(server, mix(), interrupt: interrupt)
    defer { side.close() }
    let result = side.run(even(10, milliseconds: 3_600_000))
    #expect(!result.isComplete && result.samples.count < 36_000)
    #expect(result.samples.allSatisfy { $0.outcome == .transport })
    #expect(result.duration < 3_600_000_000_000)
  }

  @Test func `a pool is filled page by page before the first arrival`() throws {
    let pages = Mutex([String]())
    let server = try HTTPServerFixture.answering { request, exchange in
      let body = (try? JSONParser.parse(Array(request.body))) ?? .null
      let after = String(decoding: (body["variables"]?["after"] ?? .null).bytes, as: UTF8.self)
      pages.withLock { $0.append(after) }
      let page = after == "null" ? ("1,2", "true", "x") : ("3,4", "true", "y")
      exchange.respond(
        contentType: "application/json",
        body: Array(
          """
          {"data":{"posts":{"nodes":[\(page.0)],"pageInfo":{"hasNextPage":\(page.1),"endCursor":"\(page.2)"}}}}
          """.utf8))
    }
    var mix = try mix()
    mix.pools = [
      Mix.Pool(
        name: "p",
        source: .query(
          document: "{ posts }", path: ["posts", "nodes"], size: 3, isForAnybody: true))
    ]
    let side = try side(server, mix)
    defer { side.close() }
    #expect(side.pools == [["1", "2", "3"].map { Array($0.utf8) }])
    #expect(pages.withLock { $0 } == ["null", "\"x\""])
  }

  /// Sends the text of each mutation to its subscribers: some of them not to each one, some twice.
  private final class Publisher: @unchecked Sendable {
    // @unchecked: sockets are used on the loop of the server only.
    private var sockets: [WebSocket] = []
    private let greetings = Mutex([String]())

    var messages: [String] { greetings.withLock { $0 } }

    func serve(_ request: HTTPRequest, _ exchange: HTTPExchange) {
      if WebSocketHandshake.isWanted(by: request), let handshake = try? WebSocketHandshake(request)
      {
        guard let socket = exchange.upgrade(handshake, to: handshake.protocols.first) else {
          return
        }
        sockets.append(socket)
        socket.onMessage = { [weak self, weak socket] message in
          guard let self, let socket, case .text(let text) = message else { return }
          receive(text, socket)
        }
        return
      }
      let body = (try? JSONParser.parse(Array(request.body))) ?? .null
      if let text = body["variables"]?["text"]?.text { publish(text) }
      exchange.respond(contentType: "application/json", body: DriverTests.data)
    }

    private func receive(_ text: [UInt8], _ socket: WebSocket) {
      let message = (try? JSONParser.parse(text)) ?? .null
      greetings.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
      switch message["type"]?.text {
      case "connection_init": _ = socket.send(Array(#"{"type":"connection_ack"}"#.utf8))
      case "ping": _ = socket.send(Array(#"{"type":"pong"}"#.utf8))
      default: break
      }
    }

    private func publish(_ text: String) {
      let number = Int(text.split(separator: "-").last ?? "") ?? 0
      for (place, socket) in sockets.enumerated() {
        // The first subscriber misses every fifth, the second has every fourth twice.
        let times = place == 0 && number % 5 == 0 ? 0 : place == 1 && number % 4 == 0 ? 2 : 1
        for _ in 0..<times {
          _ = socket.send(
            Array(
              #"{"id":"1","type":"next","payload":{"data":{"added":{"text":"\#(text)"}}}}"#.utf8))
          _ = socket.send(
            Array(#"{"id":"1","type":"next","payload":{"data":{"added":{"text":"else"}}}}"#.utf8))
        }
      }
    }
  }

  private func subscribedMix() throws -> Mix {
    try MixReader.read(
      folder: [
        MixReader.File(name: "A.graphql", bytes: Array("mutation A($text: String) { a }".utf8)),
        MixReader.File(
          name: "S.graphql", bytes: Array("subscription S($n: Int) { added { text } }".utf8)),
        MixReader.File(
          name: "mix.json",
          bytes: Array(
            """
            {"operations": {"A": {"variables": {"text": {"$unique": "note "}}},
              "S": {"subscribers": 3, "trigger": "A", "match": "added.text",
                    "variables": {"n": {"$int": [7, 7]}}}}}
            """.utf8)),
      ], manifest: []
    ) { _ in [] }
  }

  @Test func `the events of a mutation are timed from its sending and its answer, and counted`()
    throws
  {
    let publisher = Publisher()
    let server = try HTTPServerFixture.answering { publisher.serve($0, $1) }
    let side = try side(server, subscribedMix()) { plan in
      plan.requests.tokens = ["secret"]
      // How long the events that never come are waited for.
      plan.driver.timeout = 2_000_000_000
    }
    defer { side.close() }
    let messages = publisher.messages
    #expect(
      messages.count {
        $0 == #"{"type":"connection_init","payload":{"authorization":"Bearer secret"}}"#
      }
        == 3)
    #expect(messages.count { $0.contains(#""operationName":"S","variables":{"n":7}"#) } == 3)
    // 20 of the warm-up, in no figure, and 40 of the window, from number 20 to 59.
    let result = side.run(even(400, milliseconds: 100, warmUp: 50))
    #expect(result.samples.count == 40 && result.samples.allSatisfy { $0.outcome == .ok })
    let figures = try #require(result.deliveries.first)
    #expect(figures.name == "S" && figures.subscribers == 3 && figures.ended == 0)
    #expect(figures.events == 3 * 40 - 8 && figures.missed == 8 && figures.twice == 10)
    #expect(figures.fromSend.count == 112 && figures.fromAnswer.count == 112)
    #expect(figures.fromSend.sorted.allSatisfy { $0 > 0 })
    // Another window has only its own events.
    let second = side.run(even(100, milliseconds: 100))
    #expect(second.deliveries.first.map { $0.events + $0.missed } == 30)
  }

  @Test func `subscriptions that a server refuses are a failure before anything is sent`() throws {
    let server = try HTTPServerFixture.answering { _, exchange in exchange.respond(.notFound) }
    #expect {
      try side(server, subscribedMix())
    } throws: { error in
      "\(error)" == "subscriptions: the server answered 404 rather than open a WebSocket"
    }
  }

  @Test func `a server that is not there is a failure before anything is sent`() throws {
    let server = try HTTPServerFixture.answering { _, exchange in exchange.respond(.ok) }
    let target = try #require(HTTPTarget("http://127.0.0.1:1/graphql"))
    #expect(throws: LoadFailure.self) {
      try LoadSide(LoadPlan(target: target, mix: mix()), interrupt: LoadInterrupt())
    }
    withExtendedLifetime(server) {}
  }

  @Test func `a search for the knee takes its steps until it has it`() throws {
    // Throttles by the number of requests of a step, so that no clock is asked.
    let server = try HTTPServerFixture.answering { _, exchange in
      exchange.respond(contentType: "application/json", body: Self.data)
    }
    let side = try side(server, mix()) { plan in
      plan.arrivals = .even
      plan.warmUp = 0
    }
    defer { side.close() }
    var settings = KneeRun.Settings()
    settings.rates = 50...100
    settings.step = 100_000_000
    let run = KneeRun(side, settings, objective: try Objective("errors<50%"))
    var lines: [String] = []
    let (search, steps) = run.run(
      interrupt: LoadInterrupt(), window: { $1() }, onProgress: { _ in },
      onStep: { lines.append($0.text) })
    #expect(search.met == 100 && search.missed == nil && lines.count == steps.count)
    #expect(Set(steps.map(\.rate)) == [50, 100])
    let never = KneeRun(side, settings, objective: try Objective("p50<1us"))
    let (missed, _) = never.run(
      interrupt: LoadInterrupt(), window: { $1() }, onProgress: { _ in }, onStep: { _ in })
    #expect(missed.met == nil && missed.missed == 50)
  }

  @Test func `blocks of two servers alternate, with the same requests for both of a pair`() throws {
    let order = Mutex([String]())
    let bodies = Mutex([[Set<String>]]())
    func server(_ name: String) throws -> HTTPServerFixture {
      try HTTPServerFixture.answering { request, exchange in
        let body = String(decoding: request.body, as: UTF8.self)
        order.withLock { if $0.last != name { $0.append(name) } }
        bodies.withLock { bodies in
          if bodies.isEmpty { bodies = [[], []] }
          bodies[name == "A" ? 0 : 1].append([body])
        }
        exchange.respond(contentType: "application/json", body: Self.data)
      }
    }
    let mix = try MixReader.read(
      folder: [
        MixReader.File(name: "Q.graphql", bytes: Array("query Q($a: Int) { a(a: $a) }".utf8)),
        MixReader.File(
          name: "mix.json",
          bytes: Array(
            #"{"operations": {"Q": {"variables": {"a": {"$int": [1, 1000000]}}}}}"#.utf8)),
      ], manifest: []
    ) { _ in [] }
    let (first, second) = (try server("A"), try server("B"))
    func plan(_ plan: inout LoadPlan) {
      plan.warmUp = 0
      plan.duration = 200_000_000
      plan.driver.maximumConnections = 1
    }
    let a = try side(first, mix, plan)
    let b = try side(second, mix, plan)
    defer {
      a.close()
      b.close()
    }
    let (comparison, sides) = PairedRun(a, b, rate: 500, blocks: 4).run(
      interrupt: LoadInterrupt(), onBlock: { _, _ in })
    #expect(order.withLock { $0 } == ["A", "B", "A", "B", "A"])
    let seen = bodies.withLock { $0 }
    #expect(seen[0].count > 20 && seen[0].count == seen[1].count)
    #expect(Set(seen[0]) == Set(seen[1]))
    #expect(sides[0].totals.ok == seen[0].count)
    #expect(comparison?.verdict == .unsure)
  }
}
