import HTTP
import HTTPTestSupport
import JSON
import Server
import TestSupport
import Testing

/// Several sets of variables in one request, over PostgreSQL.
@Suite(.usesCluster) struct VariableSetsTests {
  private static func graph(
    _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws -> OwnGraph {
    try OwnGraph(
      """
      type Query {
        things(by: Int! @where(condition: "this.id <= 12 / :value")): [Thing!]! @list(orderBy: "this.id")
      }
      type Thing @table(name: "thing") { id: ID! number: Int! @sql(expression: "this.id") }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY);
      INSERT INTO thing SELECT generate_series(1, 6)
      """
    ) {
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      change(&$0)
    }
  }

  private static let query = "query($by: Int!) { things(by: $by) { number } }"

  private func body(_ sets: String) -> [UInt8] {
    Array(#"{"query":"\#(Self.query)","variables":\#(sets)}"#.utf8)
  }

  /// Returns the members of each response by the index of its set.
  private func responses(_ answer: RawClient.Answer) throws -> [JSONValue] {
    let lines =
      answer.header("Content-Type")?.contains("jsonl") == true
      ? answer.body.split(separator: "\n").map { String($0) }
      : [answer.body]
    let values = try lines.map { try JSONParser.parse(Array($0.utf8)) }
    guard case .array(let list)? = values.first else { return values }
    return list
  }

  @Test func `each set has the response of a request of its own, and its index`() throws {
    let server = try Self.graph().server
    // First the document is new, and then it is known.
    for _ in 1...2 {
      for accept in ["application/json", "application/jsonl"] {
        let text = "[" + (1...6).map { "{\"by\":\($0)}" }.joined(separator: ",") + "]"
        let head =
          "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          + "Accept: \(accept)\r\nContent-Length: \(body(text).count)\r\n\r\n"
        let answer = try server.send(Array(head.utf8) + body(text))
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == accept + "; charset=utf-8")
        let responses = try responses(answer)
        #expect(responses.count == 6)
        for (index, response) in responses.enumerated() {
          #expect(response["variableIndex"] == .number("\(index)"))
          let single = try JSONParser.parse(
            Array(server.post(body("{\"by\":\(index + 1)}")).body.utf8))
          #expect(response["data"] != nil && response["data"] == single["data"])
        }
      }
    }
  }

  @Test func `what is wrong with one set is an error of that set`() throws {
    let server = try Self.graph().server
    let answer = try server.post(body(#"[{"by":12},{"by":0},{"by":"x"},{},{"by":6}]"#))
    #expect(answer.status == 200)
    let responses = try responses(answer)
    #expect(responses.map { $0["variableIndex"] } == (0..<5).map { .number("\($0)") })
    #expect("\(responses[0]["data"] ?? .null)" == #"{"things":[{"number":1}]}"#)
    #expect("\(responses[4]["data"] ?? .null)" == #"{"things":[{"number":1},{"number":2}]}"#)
    for index in 1...3 {
      let single = try JSONParser.parse(
        Array(
          server.post(body(["", #"{"by":0}"#, #"{"by":"x"}"#, "{}"][index])).body.utf8))
      func code(_ value: JSONValue) -> JSONValue? {
        guard case .array(let errors)? = value["errors"] else { return nil }
        return errors.first?["extensions"]?["code"]
      }
      #expect(code(responses[index]) != nil && code(responses[index]) == code(single))
      #expect(responses[index]["data"] == nil)
    }
  }

  @Test func `sets of one statement are one execution`() throws {
    let server = try Self.graph().server
    _ = try server.post(body(#"{"by":1}"#))
    let name = "sociograph_batched_executions_total"
    let before = try server.metric(name) ?? 0
    let sets = "[" + (0..<50).map { "{\"by\":\($0 % 12 + 1)}" }.joined(separator: ",") + "]"
    #expect(try responses(server.post(body(sets))).count == 50)
    #expect(try #require(try server.metric(name)) == before + 50)
  }

  @Test func `each set takes its own points`() throws {
    let server = try Self.graph {
      $0.rateLimits = RateLimiter.Settings(
        viewer: RateLimiter.Rate(maximum: 40, perSecond: 1),
        address: RateLimiter.Rate(maximum: 10_000, perSecond: 1))
      $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? TrustedProxies()
    }.server
    let from = "X-Forwarded-For: 192.0.2.7\r\n"
    let single = try JSONParser.parse(
      Array(server.post(body(#"{"by":2}"#), headers: from).body.utf8))
    let cost = try #require(single["extensions"]?["cost"]?["requested"])
    let responses = try responses(
      server.post(body(#"[{"by":2},{"by":2},{"by":2}]"#), headers: from))
    for response in responses {
      #expect(response["extensions"]?["cost"]?["requested"] == cost)
    }
    // As many as can be paid for are answered.
    let poor = try Self.graph {
      $0.rateLimits = RateLimiter.Settings(
        viewer: RateLimiter.Rate(maximum: 40, perSecond: 1),
        address: RateLimiter.Rate(maximum: 1, perSecond: 1))
      $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? TrustedProxies()
    }.server
    let sets = "[" + (0..<20).map { _ in #"{"by":1}"# }.joined(separator: ",") + "]"
    let codes = try self.responses(poor.post(body(sets), headers: from)).map { response in
      if case .array(let errors)? = response["errors"] {
        return errors.first?["extensions"]?["code"]
      }
      return JSONValue.null
    }
    #expect(codes.contains(.string("RATE_LIMITED")))
  }

  @Test func `a document that is wrong is wrong for all sets`() throws {
    let server = try Self.graph().server
    let answer = try server.post(
      Array(
        #"{"query":"query($by: Int!) { nothing(by: $by) }","variables":[{"by":1},{"by":2}]}"#.utf8))
    let responses = try responses(answer)
    #expect(responses.count == 2)
    for response in responses {
      guard case .array(let errors)? = response["errors"] else {
        Issue.record("\(answer.body)")
        return
      }
      #expect(errors.first?["extensions"]?["code"] == .string("GRAPHQL_VALIDATION_FAILED"))
    }
  }

  @Test func `sets that are too much together are refused, not those done before`() throws {
    let server = try Self.graph { $0.execution.maximumResponseBytes = 1_024 }.server
    let sets = "[" + (0..<60).map { _ in #"{"by":2}"# }.joined(separator: ",") + "]"
    let responses = try responses(server.post(body(sets)))
    #expect(responses.count == 60)
    // They are done in any order.
    #expect(responses.contains { $0["data"] != nil })
    #expect(responses.contains { $0["errors"] != nil })
  }
}
