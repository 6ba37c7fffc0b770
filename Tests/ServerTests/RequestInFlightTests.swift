import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import Subscriptions
import Testing

@testable import Server

/// A request from when it is read to its one end, without a socket and without PostgreSQL.
struct RequestInFlightTests {
  /// What was reported and sent.
  private final class Seen {
    var reports: [RequestRecord] = []
    var bodies: [String] = []
    var cancelled = 0
  }

  private final class Sink: ResponseSink {
    var calls: [String] = []

    func begin() { calls.append("begin") }
    func next(_ response: [UInt8], to token: ResumeToken?, isFollowed: Bool) -> Bool {
      calls.append(String(decoding: response, as: UTF8.self))
      return true
    }
    func complete() { calls.append("complete") }
    func fail(_ errors: [GraphQLError], requestID: String) {
      calls.append("fail \(errors.first?.code.rawValue ?? "")")
    }
    func interrupt(_ reason: String) { calls.append("interrupt") }
  }

  private let seen = Seen()
  private let caller = Caller(
    .none, client: .server, chargedAddress: nil, address: .local, isAddressShared: true,
    device: "test", preferences: RequestPreferences())

  private func batch(of count: Int) -> BatchReply {
    BatchReply(
      of: count, as: ResponseFormat(mediaType: .json), mayHold: { _ in true },
      send: { [seen] body, _ in seen.bodies.append(String(decoding: body, as: UTF8.self)) })
  }

  private func flight(
    _ batch: BatchReply, _ place: Int = 0, secondsAgo: UInt64 = 0
  ) -> RequestInFlight {
    RequestInFlight(
      from: caller, .batch(batch, place: place),
      RequestRecord(
        .random(), peer: .local, began: monotonicNanoseconds() &- secondsAgo * 1_000_000_000)
    ) { [seen] in seen.reports.append($0) }
  }

  private func stream(_ flight: RequestInFlight) {
    flight.goOn(with: .stream { [seen] in seen.cancelled += 1 })
  }

  private let response = OperationResponse.executed(body: Array(#"{"data":{}}"#.utf8), errors: [])

  @Test func `the first end counts, and is reported once`() {
    let batch = batch(of: 1)
    let flight = flight(batch)
    stream(flight)
    flight.finish(response)
    flight.finish(.refused([GraphQLError("Late.", code: .timeout)]))
    batch.leave()
    #expect(flight.isOver)
    #expect(seen.bodies == [#"[{"data":{}}]"#])
    #expect(seen.reports.count == 1 && seen.cancelled == 0)
    #expect(seen.reports.first?.status == .ok && seen.reports.first?.responseBytes == 11)
    #expect(seen.reports.first?.clientLeft == false)
  }

  @Test func `a client that leaves ends the work, and is sent nothing`() {
    let batch = batch(of: 1)
    let flight = flight(batch)
    stream(flight)
    batch.leave()
    #expect(seen.cancelled == 1 && seen.reports.map(\.clientLeft) == [true])
    flight.finish(response)
    #expect(seen.bodies.isEmpty && seen.reports.count == 1)
  }

  @Test func `work that begins after the end is ended at once`() {
    let batch = batch(of: 1)
    let flight = flight(batch)
    batch.leave()
    stream(flight)
    #expect(seen.cancelled == 1)
  }

  @Test func `an outcome is noted with its times`() {
    let flight = flight(batch(of: 1))
    var times = PhaseDurations()
    times.querying = 12
    flight.finish(
      OperationOutcome(.refused([GraphQLError("No.", code: .unauthenticated)]), times))
    #expect(seen.reports.first?.times.querying == 12)
    #expect(seen.reports.first?.code == .unauthenticated)
    #expect(seen.reports.first?.status == .unauthorized)
  }

  @Test(arguments: [ErrorCode.serviceOverloaded, .databaseUnavailable, .timeout, .badUserInput])
  func `points are given back for want of room, and else are by the time it took`(code: ErrorCode) {
    let flight = flight(batch(of: 1), secondsAgo: 7)
    var actual: [Int] = []
    flight.charge = charge(of: 1_000_000) { actual.append($0) }
    flight.finish(.refused([GraphQLError("No.", code: code)]))
    #expect(actual.count == 1)
    if code.status == .serviceUnavailable {
      #expect(actual == [0])
    } else {
      #expect(actual.allSatisfy { $0 >= 7_000 })
    }
  }

  @Test func `a client that leaves pays for the time, up to the maximum`() {
    let batch = batch(of: 1)
    let flight = flight(batch, secondsAgo: 7)
    var actual: [Int] = []
    flight.charge = charge(of: 9) { actual.append($0) }
    batch.leave()
    flight.finish(.refused([GraphQLError("No.", code: .timeout)]))
    #expect(actual == [9])
  }

  private func charge(of most: Int, _ settle: @escaping (Int) -> Void) -> OperationCharge {
    OperationCharge(requested: most) { cost in
      settle(cost)
      return OperationCharge.Throttle(maximum: 10, available: 1, restoreRate: 1)
    }
  }

  @Test func `what follows a stream goes to its sink`() {
    let batch = batch(of: 2)
    let (first, second) = (flight(batch, 0), flight(batch, 1))
    let sink = Sink()
    stream(first)
    first.finish(response, behind: sink)
    second.finish(.refused([GraphQLError("No.", code: .timeout)]), behind: sink)
    #expect(sink.calls == ["complete", "fail \(ErrorCode.timeout.rawValue)"])
    #expect(seen.bodies.isEmpty && seen.reports.count == 2 && seen.cancelled == 0)
  }

  @Test func `responses of a list are sent together, in its order`() {
    let batch = batch(of: 3)
    let flights = (0..<3).map { flight(batch, $0) }
    for place in [2, 0, 1] {
      #expect(seen.bodies.isEmpty)
      flights[place].finish(.executed(body: Array("\(place)".utf8), errors: []))
    }
    #expect(seen.bodies == ["[0,1,2]"] && seen.reports.count == 3)
  }

  @Test func `a client that leaves ends all requests of its list that are under way`() {
    let batch = batch(of: 3)
    let flights = (0..<3).map { flight(batch, $0) }
    flights[1].finish(response)
    batch.leave()
    #expect(seen.reports.map(\.clientLeft) == [false, true, true])
    #expect(seen.bodies.isEmpty)
  }

  @Test func `a caller shows another credential, and is the same client`() {
    let other = caller.showing(Credential(authorization: "Basic x"))
    #expect(other.credential == .malformed && other.client == caller.client)
    #expect(other.identity.device == "test" && other.identity.isAddressShared)
    #expect(other.identity.sessionHash == nil)
  }
}
