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

  @Test func `a track without a title has the time at which it began in its owner's time zone`()
    throws
  {
    let server = try server
    let runner = try server.data().person()
    try server.mutate("updateProfile(input: {timeZone: \"America/New_York\"})", as: runner)
    let made = try server.mutate(
      """
      createActivityTrack(input: {startedAt: "2041-05-01T02:00:00Z", endedAt: "2041-05-01T03:00:00Z",
        path: []})
      """, "activityTrack { title }", as: runner)
    #expect(made.at("activityTrack.title") == "2041-04-30 22:00")
  }

  @Test func `a long path comes in parts, and a part that is sent again adds nothing`() throws {
    let server = try server
    let runner = try server.data().person()
    func points(_ minutes: Range<Int>) -> JSONValue {
      .array(
        minutes.map { minute in
          [
            "at": .string("2041-05-01T02:\(minute)0:00Z"),
            "coordinates": ["latitude": 0, "longitude": .number("0.0\(minute)")],
          ]
        })
    }
    let track = try server.make(
      "createActivityTrack(input: $input)", "activityTrack",
      [
        "input: CreateActivityTrackInput!": [
          "startedAt": "2041-05-01T02:00:00Z", "endedAt": "2041-05-01T02:20:00Z",
          "path": points(0..<2),
        ]
      ], as: runner)
    let update = "updateActivityTrack(activityTrackId: $id, input: $input)"
    for _ in 0..<2 {
      let changed = try server.mutate(
        update, "activityTrack { distanceMeters endedAt path { at } }",
        [
          "id: ID!": track.json,
          "input: UpdateActivityTrackInput!": [
            "morePath": points(2..<5), "endedAt": "2041-05-01T02:50:00Z",
          ],
        ], as: runner)
      #expect(changed.list("activityTrack.path", "at").count == 5)
      #expect(changed.at("activityTrack.endedAt") == "2041-05-01T02:50:00.000Z")
      let length = changed.at("activityTrack.distanceMeters")?.double ?? 0
      #expect(abs(length - 4_447.8) < 1, "\(length)")
    }
    #expect(
      try server.refusals(
        update,
        [
          "id: ID!": track.json,
          "input: UpdateActivityTrackInput!": ["endedAt": "2041-05-01T01:00:00Z"],
        ], as: runner) == [Refusal("INVALID", "input", "endedAt")])
  }

  @Test func `several results are recorded together, or none of them`() throws {
    let server = try server
    let runner = try server.data().person()
    let record = "recordTestResults(results: $results)"
    func refusals(_ results: JSONValue) throws -> [Refusal] {
      try server.refusals(record, ["results: [TestResultInput!]!": results], as: runner)
    }
    #expect(
      try refusals([
        ["test": "LEG_PRESS", "value": 90], ["test": "MILE_TIME", "value": -1],
        ["test": "LEG_PRESS", "value": 91], ["test": "SIT_UPS_PER_MINUTE", "value": 1.5],
      ]) == [
        Refusal("INVALID", "results", "1", "value"), Refusal("INVALID", "results", "2", "test"),
        Refusal("INVALID", "results", "3", "value"),
      ])
    #expect(try refusals([]) == [Refusal("REQUIRED", "results")])
    let one: JSONValue = ["test": "LEG_PRESS", "value": 90]
    #expect(
      try refusals(.array(Array(repeating: one, count: 21))) == [Refusal("TOO_MANY", "results")])
    let done = try server.mutate(
      record, "testResults { test value }",
      ["results: [TestResultInput!]!": [one, ["test": "MILE_TIME", "value": 400]]], as: runner)
    #expect(
      done["testResults"] == [
        ["test": "LEG_PRESS", "value": 90], ["test": "MILE_TIME", "value": 400],
      ])
  }
}
