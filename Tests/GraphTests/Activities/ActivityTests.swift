import JSON
import TestSupport
import Testing

/// C7Fit: a user's own page, the store and what changes every day.
@Suite(.usesCluster) struct C7FitProfileTests {
  @Test func `C7-CORE.10h: the name of the signed-in user is shown`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let query = "{ viewer { user { displayName } } }"
    #expect(
      try server.data(query, as: data.person(name: "Søren Ünal 🏋️"))
        == ["viewer": ["user": ["displayName": "Søren Ünal 🏋️"]]])
    #expect(try server.data(query) == ["viewer": nil])
  }

  /// A server with four videos and three phrases, and what it shows on some days.
  private func daily(_ days: [String]) throws -> (videos: [String], phrases: [String]) {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    func content(_ day: String) throws -> JSONValue {
      try server.data(
        "query($day: Date!) { dailyContent(date: $day) { date videoUrl motivation } }",
        ["day": .string(day)]
      )["dailyContent"] ?? .null
    }
    #expect(
      try content("2026-03-01") == ["date": "2026-03-01", "videoUrl": nil, "motivation": nil])
    // Positions may have gaps: what counts is the order.
    for number in 0..<4 {
      try data.add(
        "daily_item",
        ["list": "VIDEO", "position": 10 * number, "value": "https://videos.example/\(number)"])
    }
    for number in 0..<3 {
      try data.add(
        "daily_item", ["list": "MOTIVATION", "position": number, "value": "phrase \(number)"])
    }
    let found = try days.map(content)
    return (
      found.map { $0["videoUrl"]?.string ?? "" }, found.map { $0["motivation"]?.string ?? "" }
    )
  }

  // 1970-01-01 is day 0; 2026-03-01 is day 20513.
  private static let days = ["1970-01-01", "1970-01-05", "2026-03-01", "2026-03-02", "1969-12-31"]

  @Test func `C7-HOME.2, read: a workout video changes every day`() throws {
    #expect(
      try daily(Self.days).videos == [0, 0, 1, 2, 3].map { "https://videos.example/\($0)" })
  }

  @Test func `C7-HOME.3: a motivation phrase changes every day`() throws {
    #expect(try daily(Self.days).phrases == [0, 1, 2, 0, 2].map { "phrase \($0)" })
  }

  @Test func `C7-HOME.5: the store lists its products with picture and link`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (word, owner) = (GraphData.unique("store"), try data.person())
    let photo = try data.photo(of: owner, url: "https://photos.example/shirt.jpg")
    let shirt = try data.product(
      "Shirt", brand: "C7Fit", retailer: word, description: "A shirt.")
    try data.run(
      "UPDATE product SET photo_id = \(photo), buy_url = 'https://shop.example/shirt' WHERE id = \(shirt)"
    )
    _ = try data.product("c7fit bottle", retailer: word)
    _ = try data.product("Bag", retailer: word, description: "For everybody at C7Fit.")
    _ = try data.product("Mat", retailer: word)
    let found = try server.data(
      """
      query($retailer: String) { products(search: "C7Fit", retailer: $retailer, orderBy: NEWEST) {
        nodes { name description buyUrl photo { url } } } }
      """, ["retailer": .string(word)])
    #expect(found.strings("products.nodes", "name") == ["Bag", "c7fit bottle", "Shirt"])
    #expect(
      found.at("products.nodes.2") == [
        "name": "Shirt", "description": "A shirt.", "buyUrl": "https://shop.example/shirt",
        "photo": ["url": "https://photos.example/shirt.jpg"],
      ])
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
        "query($id: ID!) { node(id: $id) { ... on ActivityTrack { title duration distance } } }",
        ["id": run.json], as: person
      )["node"]
    }
    #expect(try shown(viewer) == ["title": "Run", "duration": 1865, "distance": 5012.5])
    for person in [nil, other] { #expect(try shown(person) == .null) }
  }

  @Test func `C7-ACT.3i: saved tracks can be drawn again, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let path = """
      [{"at": "2026-03-02T08:00:00Z", "latitude": 50.5, "longitude": -7.25},
       {"at": "2026-03-02T08:00:10.5Z", "latitude": 50.75, "longitude": -7.5}]
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
        ["at": "2026-03-02T08:00:00Z", "coordinates": ["latitude": 50.5, "longitude": -7.25]],
        [
          "at": "2026-03-02T08:00:10.500000Z",
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
    #expect(results.first?["recordedAt"] == "2026-03-03T12:00:00Z")
    #expect(try server.data(query, as: data.person()) == ["viewer": ["testResults": []]])
  }

  @Test func `C7-MORE.2: a profile shows picture, name and one's current information`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let home = try data.location("Springfield", level: "CITY")
    let viewer = try data.person(
      name: "Ann", ["bio": "Runs.", "address": "1 Main Street", "home_id": home])
    let email = "\(viewer.username)@example.com"
    let photo = try data.photo(of: viewer, url: "https://photos.example/ann.jpg")
    try data.run(
      "UPDATE app_user SET avatar_id = \(photo), email = $1 WHERE id = \(viewer.key)",
      [
        email
      ])
    let query = """
      { viewer { email emailVerified address missingProfileFields
        user { displayName bio avatar { url } home { name } roles } } }
      """
    #expect(
      try server.data(query, as: viewer) == [
        "viewer": [
          "email": .string(email), "emailVerified": false, "address": "1 Main Street",
          "missingProfileFields": ["WEBSITE"],
          "user": [
            "displayName": "Ann", "bio": "Runs.",
            "avatar": ["url": "https://photos.example/ann.jpg"], "home": ["name": "Springfield"],
            "roles": ["MEMBER"],
          ],
        ]
      ])
    #expect(try server.data(query) == ["viewer": nil])
    // What is private has no place in what others see.
    #expect(
      try server.errorCodes(
        "query($id: ID!) { user(by: {id: $id}) { email } }", ["id": viewer.json])
        == ["GRAPHQL_VALIDATION_FAILED"])
  }
}
