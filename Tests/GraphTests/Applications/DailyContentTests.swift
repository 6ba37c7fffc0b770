import JSON
import TestSupport
import Testing

/// Content that changes every day: workout videos and phrases.
@Suite(.usesCluster) struct DailyContentTests {
  @Test func `C7-HOME.2: staff keep the list of videos, of which each day shows the next`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let set = "setDailyContent(videoUrls: $videos, motivations: $words)"
    let query = """
      { a: dailyContent(date: "1970-01-01") { ...C } b: dailyContent(date: "1970-01-02") { ...C }
        c: dailyContent(date: "1970-01-03") { ...C } }
      fragment C on DailyContent { videoUrl motivation }
      """
    func shown(_ name: String) throws -> [JSONValue] {
      let found = try server.data(query)
      return ["a", "b", "c"].map { found.at("\($0).\(name)") ?? .null }
    }
    try server.mutate(
      set,
      [
        "videos: [URL!]": ["https://v.example/0", "https://v.example/1"],
        "words: [String!]": ["Go", "On", "Up"],
      ], as: staff)
    #expect(
      try shown("videoUrl")
        == ["https://v.example/0", "https://v.example/1", "https://v.example/0"])
    #expect(try shown("motivation") == ["Go", "On", "Up"])
    // What is left out stays.
    try server.mutate(
      "setDailyContent(videoUrls: $videos)", ["videos: [URL!]": ["https://v.example/2"]], as: staff)
    #expect(try shown("videoUrl") == Array(repeating: "https://v.example/2", count: 3))
    #expect(try shown("motivation") == ["Go", "On", "Up"])
    #expect(
      try server.refusals(
        set,
        [
          "videos: [URL!]": ["https://v.example/3", "javascript:alert(1)"],
          "words: [String!]": ["Go"],
        ], as: staff) == [Refusal("INVALID", "videoUrls", "1")])
    #expect(
      try server.refusals(
        set, ["videos: [URL!]": [], "words: [String!]": []], as: data.person())
        == [Refusal("FORBIDDEN")])
    #expect(try shown("motivation") == ["Go", "On", "Up"])
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
}
