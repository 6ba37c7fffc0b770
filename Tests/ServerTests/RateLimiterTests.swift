import HTTP
import HTTPTestSupport
import JSON
import TestSupport
import Testing

@testable import Server

/// Buckets by a clock of the test's own, then over HTTP.
@Suite(.usesCluster) struct RateLimiterTests {
  private static let second: UInt64 = 1_000_000_000
  private static let ada = RateLimiter.Client.viewer(257)

  private func rate(_ maximum: Int, _ perSecond: Int) throws -> RateLimiter.Rate {
    try #require(RateLimiter.Rate(maximum: maximum, perSecond: perSecond))
  }

  @Test func `what was spent comes back by the second, up to the maximum`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(100, 10)))
    #expect(limiter.take(60, from: Self.ada, now: 0) == .taken)
    #expect(limiter.take(60, from: Self.ada, now: 0) == .refused(retryAfter: .milliseconds(2001)))
    // Nothing was taken by the refusal.
    #expect(limiter.take(40, from: Self.ada, now: 0) == .taken)
    #expect(
      limiter.take(10, from: Self.ada, now: Self.second / 2)
        == .refused(retryAfter: .milliseconds(501)))
    #expect(limiter.take(10, from: Self.ada, now: Self.second) == .taken)
    #expect(limiter.settle(0, actual: 0, of: Self.ada, now: 1_000 * Self.second) == 100)
  }

  @Test func `what was not needed is given back, and no more`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(100, 1)))
    #expect(limiter.take(80, from: Self.ada, now: 0) == .taken)
    #expect(limiter.settle(80, actual: 10, of: Self.ada, now: 0) == 90)
    #expect(limiter.settle(80, actual: 10, of: Self.ada, now: 0) == 100)
  }

  @Test func `what cost more than expected is taken, and leaves a debt`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(100, 10)))
    #expect(limiter.take(22, from: Self.ada, now: 0) == .taken)
    #expect(limiter.settle(22, actual: 60, of: Self.ada, now: 0) == 40)
    #expect(limiter.take(22, from: Self.ada, now: 0) == .taken)
    #expect(limiter.settle(22, actual: 160, of: Self.ada, now: 0) == 0)
    #expect(limiter.take(1, from: Self.ada, now: 0) == .refused(retryAfter: .milliseconds(12_101)))
  }

  @Test func `what is dearer than the bucket needs it full, and leaves a debt`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(100, 10)))
    #expect(limiter.take(1, from: Self.ada, now: 0) == .taken)
    #expect(
      limiter.take(300, from: Self.ada, now: 0) == .refused(retryAfter: .milliseconds(101)))
    #expect(limiter.take(300, from: Self.ada, now: Self.second) == .taken)
    #expect(
      limiter.take(1, from: Self.ada, now: Self.second)
        == .refused(retryAfter: .milliseconds(20_101)))
    #expect(limiter.take(1, from: Self.ada, now: 22 * Self.second) == .taken)
  }

  @Test func `what was paid for an operation before counts as there`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(10, 1)))
    #expect(limiter.take(3, from: Self.ada, now: 0) == .taken)
    #expect(limiter.take(50, from: Self.ada, now: 0) == .refused(retryAfter: .milliseconds(3001)))
    #expect(limiter.take(50, prepaid: 3, from: Self.ada, now: 0) == .taken)
    // 7 were there, of which 50 were taken.
    #expect(
      limiter.take(1, from: Self.ada, now: 0) == .refused(retryAfter: .milliseconds(44_001)))
  }

  @Test func `everybody has a bucket of their own, and some have none`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(10, 1)))
    #expect(limiter.take(10, from: .viewer(1), now: 0) == .taken)
    #expect(limiter.take(10, from: .viewer(2), now: 0) == .taken)
    #expect(limiter.take(1, from: .viewer(1), now: 0) != .taken)
    let address = RateLimiter.Client.address(.ipv4(1))
    #expect(limiter.rate(of: address) == nil)
    for _ in 0..<100 { #expect(limiter.take(1_000, from: address, now: 0) == .taken) }
  }

  @Test func `clocks that stand or go back give nothing away, and no amount overflows`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(10, 1)))
    #expect(limiter.take(10, from: Self.ada, now: 5 * Self.second) == .taken)
    #expect(limiter.take(1, from: Self.ada, now: 0) != .taken)
    #expect(limiter.take(.max, from: Self.ada, now: 60 * Self.second) == .taken)
    #expect(limiter.take(.max, from: Self.ada, now: .max) != .taken)
    #expect(
      limiter.settle(.max, actual: 0, of: Self.ada, now: 60 * Self.second) <= 10
        && limiter.settle(0, actual: .max, of: .viewer(4), now: 0) == 0)
    #expect(limiter.take(-5, from: .viewer(3), now: 0) == .taken)
  }

  @Test func `the table is bounded, and those in debt are the last to be forgotten`() throws {
    let limiter = RateLimiter(.init(viewer: try rate(10, 1)), maximumBuckets: 4)
    #expect(limiter.take(1_000, from: Self.ada, now: 0) == .taken)
    for viewer in 1_000..<3_000 as Range<Int64> {
      _ = limiter.take(1, from: .viewer(viewer), now: 0)
      #expect(limiter.count <= 64 * 4)
    }
    #expect(limiter.take(1, from: Self.ada, now: 0) != .taken)
  }

  // MARK: Over HTTP

  private static func server() throws -> TestServer {
    try TestServer {
      $0.rateLimits = RateLimiter.Settings(
        viewer: RateLimiter.Rate(maximum: 40, perSecond: 1),
        address: RateLimiter.Rate(maximum: 30, perSecond: 1))
      $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? TrustedProxies()
    }
  }

  private func from(_ number: Int) -> String { "X-Forwarded-For: 192.0.2.\(number)\r\n" }

  private func cost(_ answer: RawClient.Answer) throws -> JSONValue? {
    try JSONParser.parse(Array(answer.body.utf8))["extensions"]?["cost"]
  }

  @Test func `a client that spends no points learns the cost of its operation if it asks`() throws {
    let server = try TestServer()
    let query = "{ users(first: 20) { nodes { id } } }"
    #expect(try cost(server.execute(query)) == nil)
    let told = try cost(server.execute(query, headers: "Prefer: metrics=timings, metrics=cost\r\n"))
    #expect(told?.names == ["requested", "actual"])
    #expect(told?["requested"] == .number("22") && told?["actual"] == .number("2"))
  }

  @Test func `an address spends its points, learns what is left, and then has to wait`() throws {
    let server = try Self.server()
    // 2 for the page, 1 for each of 20; there are no users, so only the page was needed.
    let query = "{ users(first: 20) { nodes { id } } }"
    let first = try server.execute(query, headers: from(1))
    let told = try cost(first)
    #expect(first.status == 200)
    #expect(told?["requested"] == .number("22") && told?["actual"] == .number("2"))
    #expect(told?["throttle"]?["maximum"] == .number("30"))
    #expect(told?["throttle"]?["restoreRate"] == .number("1"))
    guard case .number(let left)? = told?["throttle"]?["available"] else {
      Issue.record("\(first.body)")
      return
    }
    // The document was new, which costs 1 here.
    #expect((27...30).contains(Int(left) ?? 0))
    // Dearer than all that may be spent: it leaves a debt of 69 seconds, but for what is given back.
    let dear = "{ " + (0..<4).map { "a\($0): users(first: 20) { nodes { id } } " }.joined() + "}"
    var refused: RawClient.Answer?
    for _ in 0..<40 where refused == nil {
      let answer = try server.execute(dear, headers: from(1))
      if answer.status == 429 { refused = answer }
    }
    let answer = try #require(refused)
    #expect(answer.code == "RATE_LIMITED")
    #expect((Int(answer.header("Retry-After") ?? "") ?? 0) >= 1)
    // Somebody else has points of their own; who is of this machine is not counted.
    #expect(try server.execute(query, headers: from(2)).status == 200)
  }

  @Test func `new documents take points, be they run or not, and known ones take none`() throws {
    let server = try Self.server()
    let comment = "# " + String(repeating: "x", count: 2_600) + "\n"
    let known = "{ __typename }"
    #expect(try server.execute(known, headers: from(3)).status == 200)
    // 11 points each, of 30; a new name each time makes new ones, and what is wrong costs no less.
    var answers: [RawClient.Answer] = []
    for number in 0..<30 where answers.last?.status != 429 {
      answers.append(
        try server.execute(comment + "{ a\(number): nobodyKnows }", headers: from(3)))
    }
    #expect(answers.count > 2)
    #expect(answers.dropLast().allSatisfy { $0.code == "GRAPHQL_VALIDATION_FAILED" })
    #expect(answers.last?.code == "RATE_LIMITED")
    #expect((Int(answers.last?.header("Retry-After") ?? "") ?? 0) >= 1)
    for _ in 0..<40 {
      #expect(try server.execute(known, headers: from(3)).status == 200)
    }
  }

  @Test func `requests of this machine are not counted unless by a proxy`() throws {
    let server = try TestServer {
      $0.rateLimits = RateLimiter.Settings(
        viewer: RateLimiter.Rate(maximum: 1, perSecond: 1),
        address: RateLimiter.Rate(maximum: 1, perSecond: 1))
    }
    for _ in 0..<5 {
      let answer = try server.execute("{ users(first: 20) { nodes { id } } }")
      #expect(answer.status == 200)
      #expect(try cost(answer) == nil)
    }
  }

  @Test func `who is signed in has points wherever they come from`() throws {
    let server = try Self.server()
    let signUp = try server.execute(
      """
      mutation {
        signUp(input: {username: "spender", password: "correct horse battery"}) {
          token
        }
      }
      """, headers: "X-Forwarded-For: 192.0.2.9\r\n")
    let answer = try JSONParser.parse(Array(signUp.body.utf8))
    guard case .string(let token)? = answer["data"]?["signUp"]?["token"] else {
      Issue.record("\(signUp.body)")
      return
    }
    #expect(answer["extensions"]?["cost"]?["requested"] != nil)
    var statuses: [Int] = []
    for address in 0..<60 where statuses.last != 429 {
      statuses.append(
        try server.execute(
          "{ " + (0..<4).map { "a\($0): users(first: 20) { nodes { id } } " }.joined() + "}",
          headers: "X-Forwarded-For: 198.51.100.\(address)\r\nAuthorization: Bearer \(token)\r\n"
        ).status)
    }
    #expect(statuses.first == 200 && statuses.last == 429, "\(statuses)")
  }
}
