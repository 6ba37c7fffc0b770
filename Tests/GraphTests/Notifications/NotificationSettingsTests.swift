import JSON
import TestSupport
import Testing

/// By which ways, and when, people are told outside of the application.
@Suite(.usesCluster) struct NotificationSettingsTests {
  private static let settings = """
    { viewer { notificationSettings { rules { reason channels } quietHours { from to }
      isNamingPeople } } }
    """

  private let server: GraphServer
  private let data: GraphData

  init() throws {
    server = try GraphServer.shared
    data = try server.data()
  }

  private func settings(_ person: Person) throws -> JSONValue {
    try server.data(Self.settings, as: person).at("viewer.notificationSettings") ?? .null
  }

  private func channels(_ person: Person) throws -> [String: [String]] {
    var channels: [String: [String]] = [:]
    for rule in try settings(person)["rules"]?.array ?? [] {
      channels[rule["reason"]?.string ?? ""] =
        (rule["channels"]?.array ?? []).map { $0.string ?? "" }
    }
    return channels
  }

  private func update(_ input: String, _ person: Person) throws -> [Refusal] {
    try server.refusals("updateNotificationSettings(input: {\(input)})", as: person)
  }

  @Test func `each reason has its ways, in the order of the schema`() throws {
    let ben = try data.person()
    guard
      case .enum(let values)? = try GraphServer.mapping.get().schema
        .type(named: "NotificationReason")?.kind
    else { throw GraphTestFailure("there are no reasons") }
    #expect(
      try settings(ben).list("rules", "reason") == values.map { .string($0.name) })
    let usual = try channels(ben)
    for reason in values.map(\.name) {
      let expected =
        switch reason {
        case "REACTED", "VOTED": [] as [String]
        case "INFO_REQUESTED", "OFFER_ANSWERED", "FOLLOW_UP_UNABLE", "BOOKING_CHANGED",
          "EVENT_CANCELLED":
          ["PUSH", "EMAIL"]
        default: ["PUSH"]
        }
      #expect(usual[reason] == expected, "\(reason)")
      for ways in ["", "PUSH", "EMAIL", "EMAIL, PUSH"] {
        #expect(try update("rules: [{reason: \(reason), channels: [\(ways)]}]", ben) == [])
        let own = try channels(ben)
        #expect(own[reason].map(Set.init) == Set(ways.split(separator: ", ").map(String.init)))
        #expect(own.filter { $0.key != reason } == usual.filter { $0.key != reason })
      }
      try data.run("DELETE FROM notification_rule WHERE user_id = $1", [ben.key])
    }
    // Whose they are sees them, and nobody else.
    let eve = try data.person()
    #expect(try channels(eve) == usual)
    #expect(try server.data(Self.settings) == ["viewer": nil])
  }

  @Test func `quiet hours and names are set, kept and taken away`() throws {
    let ben = try data.person()
    #expect(try settings(ben)["quietHours"] == .null)
    #expect(try settings(ben)["isNamingPeople"] == true)
    #expect(
      try update("quietHours: {from: \"22:30\", to: \"07:00:00\"}, isNamingPeople: false", ben)
        == [])
    #expect(try settings(ben)["quietHours"] == ["from": "22:30", "to": "07:00"])
    #expect(try settings(ben)["isNamingPeople"] == false)
    #expect(try update("rules: []", ben) == [])
    #expect(try settings(ben)["quietHours"] != .null)
    #expect(try update("quietHours: null, isNamingPeople: null", ben) == [])
    #expect(try settings(ben)["quietHours"] == .null)
    #expect(try settings(ben)["isNamingPeople"] == false)
    for (input, path) in [
      ("quietHours: {from: \"25:00\", to: \"07:00\"}", ["input", "quietHours", "from"]),
      ("quietHours: {from: \"22:00\", to: \"7\"}", ["input", "quietHours", "to"]),
      ("quietHours: {from: \"22:00\", to: \"22:00\"}", ["input", "quietHours", "to"]),
      (
        "rules: [{reason: VOTED, channels: []}, {reason: VOTED, channels: [PUSH]}]",
        ["input", "rules", "1", "reason"]
      ),
    ] {
      let refused = try server.payload(
        "updateNotificationSettings(input: {\(input)})",
        "viewer { notificationSettings { isNamingPeople } }",
        as: ben)
      #expect(refused.at("userErrors.0.code") == "INVALID", "\(input)")
      #expect(refused.at("userErrors.0.field")?.array?.map { $0.string ?? "" } == path, "\(input)")
    }
    #expect(
      try server.mutationErrorCodes("updateNotificationSettings(input: {})", as: nil)
        == ["UNAUTHENTICATED"])
  }

  /// In 2026 the clocks of Madrid change on 29 March at 01:00 and on 25 October at 01:00 (UTC).
  @Test(arguments: [
    ("2026-01-10 21:29:59Z", false), ("2026-01-10 21:30Z", true), ("2026-01-11 05:59:59Z", true),
    ("2026-01-11 06:00Z", false), ("2026-03-28 21:30Z", true), ("2026-03-29 01:00Z", true),
    ("2026-03-29 04:59:59Z", true), ("2026-03-29 05:00Z", false), ("2026-03-29 20:29:59Z", false),
    ("2026-03-29 20:30Z", true), ("2026-10-24 20:30Z", true), ("2026-10-25 01:00Z", true),
    ("2026-10-25 05:59:59Z", true), ("2026-10-25 06:00Z", false), ("2026-10-25 21:29Z", false),
  ])
  func `the night is quiet over both changes of clocks`(moment: String, isQuiet: Bool) throws {
    let ben = try data.person()
    try server.mutate("updateProfile(input: {timeZone: \"Europe/Madrid\"})", as: ben)
    #expect(try update("quietHours: {from: \"22:30\", to: \"07:00\"}", ben) == [])
    #expect(
      try data.run("SELECT is_quiet($1::bigint, $2::timestamptz)", [ben.key, moment])
        == [[isQuiet ? "t" : "f"]])
  }

  @Test func `a part of the day is quiet, and without hours nothing is`() throws {
    let ben = try data.person()
    func quiet(_ time: String) throws -> String? {
      try data.run(
        "SELECT is_quiet($1::bigint, $2::timestamptz)", [ben.key, "2026-05-01 \(time)Z"])[0][0]
    }
    #expect(try quiet("13:00") == "f")
    #expect(try update("quietHours: {from: \"12:00\", to: \"14:00\"}", ben) == [])
    #expect(
      try ["11:59", "12:00", "13:59", "14:00"].map(quiet) == ["f", "t", "t", "f"])
  }
}
