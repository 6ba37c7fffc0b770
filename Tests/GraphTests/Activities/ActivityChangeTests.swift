import JSON
import TestSupport
import Testing

/// Tracks that get another title, and test results that are taken back.
@Suite(.usesCluster) struct ActivityChangeTests {
  private var server: GraphServer { get throws { try .shared } }

  @Test func `a track gets another title, or that of its time again`() throws {
    let server = try server
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    let track = try data.insert(
      "activity_track",
      [
        "user_id": runner.key, "title": "Run", "started_at": "2045-04-01 06:00Z",
        "ended_at": "2045-04-01 07:00Z", "distance": 1.0, "path": "[]",
      ])
    let update = "updateActivityTrack(activityTrackId: $id, input: $input)"
    func change(_ input: JSONValue) throws -> JSONValue? {
      try server.mutate(
        update, "activityTrack { title }",
        ["id: ID!": track.json, "input: UpdateActivityTrackInput!": input], as: runner
      ).at("activityTrack.title")
    }
    #expect(try change(["title": " Morning run "]) == "Morning run")
    #expect(try change([:]) == "Morning run")
    #expect(try change(["title": nil])?.string?.contains("06:00") == true)
    func refusals(_ input: JSONValue, as person: Person?) throws -> [Refusal] {
      try server.refusals(
        update, ["id: ID!": track.json, "input: UpdateActivityTrackInput!": input], as: person)
    }
    #expect(
      try refusals(["title": .string(String(repeating: "a", count: 201))], as: runner)
        == [Refusal("TOO_LONG", "input", "title")])
    #expect(try refusals([:], as: other) == [Refusal("NOT_FOUND", "activityTrackId")])
  }

  @Test func `a result is deleted, and the one before is current again`() throws {
    let server = try server
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    func record(_ test: JSONValue, _ value: JSONValue) throws {
      try server.mutate(
        "recordTestResult(test: $test, value: $value)",
        ["test: FitnessTest!": test, "value: Float!": value], as: runner)
    }
    try record("MILE_TIME", 400)
    try record("LEG_PRESS", 120)
    try record("PUSH_UPS_PER_MINUTE", 30)
    try record("MILE_TIME", 40)
    func history(_ arguments: String, as person: Person) throws -> [JSONValue] {
      try server.data(
        "{ viewer { testResultHistory\(arguments) { nodes { id test value unit } } } }", as: person
      ).at("viewer.testResultHistory.nodes")?.array ?? []
    }
    let all = try history("", as: runner)
    #expect(all.map { $0["value"] } == [40, 30, 120, 400])
    #expect(all.map { $0["unit"] } == ["SECONDS", "COUNT", "KILOGRAMS", "SECONDS"])
    #expect(try history("(test: MILE_TIME)", as: runner).map { $0["value"] } == [40, 400])
    #expect(try history("", as: other) == [])
    let wrong = try #require(all.first?["id"])
    let node = "query($id: ID!) { node(id: $id) { ... on TestResult { value } } }"
    #expect(try server.data(node, ["id": wrong], as: runner) == ["node": ["value": 40]])
    #expect(try server.data(node, ["id": wrong], as: other) == ["node": nil])
    let delete = "deleteTestResult(testResultId: $id)"
    #expect(
      try server.refusals(delete, ["id: ID!": wrong], as: other)
        == [Refusal("NOT_FOUND", "testResultId")])
    let left = try server.mutate(
      delete, "testResults { test value }", ["id: ID!": wrong], as: runner)
    #expect(left["testResults"]?.array?.contains(["test": "MILE_TIME", "value": 400]) == true)
    #expect(left["testResults"]?.array?.count == 3)
    #expect(
      try server.refusals(delete, ["id: ID!": wrong], as: runner)
        == [Refusal("NOT_FOUND", "testResultId")])
  }
}
