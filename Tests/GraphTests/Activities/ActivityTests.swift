import JSON
import TestSupport
import Testing

/// Tracks and test results, which only their owner sees.
@Suite(.usesCluster) struct ActivityTests {
  @Test func `C7-ACT.3h: a track is saved, titled by its time, and deleted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    let save = "createActivityTrack(input: $input)"
    func point(_ time: JSONValue, _ latitude: JSONValue, _ longitude: JSONValue = 7) -> JSONValue {
      ["at": time, "coordinates": ["latitude": latitude, "longitude": longitude]]
    }
    let payload = try server.mutate(
      save,
      "activityTrack { id title durationSeconds distanceMeters path { at coordinates { latitude } } }",
      [
        "input: CreateActivityTrackInput!": [
          "startedAt": "2045-04-01T06:00:00.000Z", "endedAt": "2045-04-01T06:30:00.000Z",
          "path": [
            point("2045-04-01T06:00:00.000Z", 50), point("2045-04-01T06:10:00.000Z", 50.01),
            point("2045-04-01T06:30:00.000Z", 50),
          ],
        ]
      ], as: runner)
    let track = try #require(payload["activityTrack"])
    #expect(track["title"] == "2045-04-01 06:00")
    #expect(track["durationSeconds"] == 1_800)
    // A degree of latitude is 111,195 metres.
    #expect(abs((track["distanceMeters"]?.double ?? 0) - 2_223.9) < 0.5)
    #expect(
      track["path"]?.array?.map { $0["at"] } == [
        "2045-04-01T06:00:00.000Z", "2045-04-01T06:10:00.000Z", "2045-04-01T06:30:00.000Z",
      ])
    let id = try #require(track["id"])
    let own = "{ viewer { activityTracks { nodes { id title } } } }"
    #expect(
      try server.data(own, as: runner).at("viewer.activityTracks.nodes")
        == [["id": id, "title": "2045-04-01 06:00"]])
    #expect(try server.data(own, as: other).at("viewer.activityTracks.nodes") == [])
    #expect(
      try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": id], as: other)
        == ["node": nil])
    #expect(
      try server.refusals(
        save,
        [
          "input: CreateActivityTrackInput!": [
            "startedAt": "2045-04-01T06:00:00.000Z", "endedAt": "2045-04-01T05:00:00.000Z",
            "path": [],
          ]
        ], as: runner) == [Refusal("INVALID", "input", "endedAt")])
    #expect(
      try server.refusals(
        save,
        [
          "input: CreateActivityTrackInput!": [
            "startedAt": "2045-04-01T06:00:00.000Z", "endedAt": "2045-04-01T07:00:00.000Z",
            "path": [
              point("2045-04-01T06:20:00.000Z", 50), point("2045-04-01T06:10:00.000Z", 50),
              point("2045-04-01T06:30:00.000Z", 91),
            ],
          ]
        ], as: runner) == [
          Refusal("INVALID", "input", "path", "1"), Refusal("INVALID", "input", "path", "2"),
        ])
    let delete = "deleteActivityTrack(activityTrackId: $id)"
    #expect(
      try server.refusals(delete, ["id: ID!": id], as: other)
        == [Refusal("NOT_FOUND", "activityTrackId")])
    #expect(
      try server.mutate(delete, "deletedId", ["id: ID!": id], as: runner)["deletedId"] == id)
    #expect(try server.data(own, as: runner).at("viewer.activityTracks.nodes") == [])
  }

  @Test func `C7-ACT.4c: each test result is kept, the latest of each test shown`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    let record = "recordTestResult(test: $test, value: $value)"
    let entered: [(JSONValue, JSONValue)] = [
      ("MILE_TIME", 400.5), ("PUSH_UPS_PER_MINUTE", 30), ("SIT_UPS_PER_MINUTE", 0),
      ("LEG_PRESS", 120), ("BENCH_PRESS", 62.5), ("LAT_PULL", 50), ("MILE_TIME", 390),
    ]
    for (test, value) in entered {
      let payload = try server.mutate(
        record, "testResults { test value }",
        ["test: FitnessTest!": test, "value: Float!": value], as: runner)
      #expect(payload["testResults"]?.array?.contains(["test": test, "value": value]) == true)
    }
    let own = "{ viewer { testResults { test value } } }"
    #expect(
      try server.data(own, as: runner).at("viewer.testResults") == [
        ["test": "MILE_TIME", "value": 390], ["test": "PUSH_UPS_PER_MINUTE", "value": 30],
        ["test": "SIT_UPS_PER_MINUTE", "value": 0], ["test": "LEG_PRESS", "value": 120],
        ["test": "BENCH_PRESS", "value": 62.5], ["test": "LAT_PULL", "value": 50],
      ])
    #expect(try server.data(own, as: other).at("viewer.testResults") == [])
    #expect(
      try server.refusals(
        record, ["test: FitnessTest!": "LEG_PRESS", "value: Float!": -1], as: runner)
        == [Refusal("INVALID", "value")])
    for test in ["PUSH_UPS_PER_MINUTE", "SIT_UPS_PER_MINUTE"] as [JSONValue] {
      #expect(
        try server.refusals(
          record, ["test: FitnessTest!": test, "value: Float!": 30.5], as: runner)
          == [Refusal("INVALID", "value")])
    }
    #expect(
      try server.mutationErrorCodes(
        record, ["test: FitnessTest!": "LEG_PRESS", "value: Float!": 1], as: nil)
        == ["UNAUTHENTICATED"])
  }

  private func track(
    _ data: GraphData, of person: Person, _ title: String, from start: String, to end: String,
    distance: Double = 0, path: String = "[]"
  ) throws -> NodeKey {
    try data.insert(
      "activity_track",
      [
        "user_id": person.key, "title": title, "started_at": start, "ended_at": end,
        "distance": distance, "path": path,
      ])
  }

  @Test func `C7-ACT.3g: a track has its time and distance, for its owner only`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person(roles: ["STAFF"]))
    let run = try track(
      data, of: viewer, "Run", from: "2026-03-01 08:00Z", to: "2026-03-01 08:31:05Z",
      distance: 5012.5)
    func shown(_ person: Person?) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on ActivityTrack { title durationSeconds distanceMeters } } }",
        ["id": run.json], as: person
      )["node"]
    }
    #expect(
      try shown(viewer) == ["title": "Run", "durationSeconds": 1865, "distanceMeters": 5012.5])
    for person in [nil, other] { #expect(try shown(person) == .null) }
  }

  @Test func `C7-ACT.3i: saved tracks can be drawn again, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let path = """
      [{"at": "2026-03-02T08:00:00.000Z", "latitude": 50.5, "longitude": -7.25},
       {"at": "2026-03-02T08:00:10.500Z", "latitude": 50.75, "longitude": -7.5}]
      """
    for (title, day, owner) in [
      ("second", 2, viewer), ("third", 3, viewer), ("first", 1, viewer), ("other's", 4, other),
    ] {
      _ = try track(
        data, of: owner, title, from: "2026-03-0\(day) 08:00Z", to: "2026-03-0\(day) 09:00Z",
        path: title == "second" ? path : "[]")
    }
    let found = try server.data(
      """
      { viewer { activityTracks { totalCount
        nodes { title path { at coordinates { latitude longitude } } } } } }
      """, as: viewer)
    #expect(
      found.strings("viewer.activityTracks.nodes", "title") == ["third", "second", "first"])
    #expect(found.at("viewer.activityTracks.totalCount") == 3)
    #expect(
      found.at("viewer.activityTracks.nodes.1.path") == [
        ["at": "2026-03-02T08:00:00.000Z", "coordinates": ["latitude": 50.5, "longitude": -7.25]],
        [
          "at": "2026-03-02T08:00:10.500Z",
          "coordinates": ["latitude": 50.75, "longitude": -7.5],
        ],
      ])
    #expect(found.at("viewer.activityTracks.nodes.0.path") == [])
  }

  @Test func `C7-ACT.4a: the current test results are the latest of each test`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    for (person, test, day, value) in [
      (viewer, "BENCH_PRESS", 1, 60.5), (viewer, "MILE_TIME", 2, 400),
      (viewer, "MILE_TIME", 3, 390),
      (viewer, "MILE_TIME", 1, 380), (other, "MILE_TIME", 4, 300), (other, "LEG_PRESS", 4, 100),
    ] {
      try data.add(
        "test_result",
        [
          "user_id": person.key, "test": test, "value": value,
          "recorded_at": "2026-03-0\(day) 12:00Z",
        ])
    }
    let query = "{ viewer { testResults { test value recordedAt } } }"
    let results = try server.data(query, as: viewer).at("viewer.testResults")?.array ?? []
    #expect(results.map { $0["test"] } == ["MILE_TIME", "BENCH_PRESS"])
    #expect(results.map { $0["value"]?.double } == [390, 60.5])
    #expect(results.first?["recordedAt"] == "2026-03-03T12:00:00.000Z")
    #expect(try server.data(query, as: data.person()) == ["viewer": ["testResults": []]])
  }
}
