import GraphQLPlanning
import JSON

/// The pool of existing objects that arguments are drawn from.
struct ArgumentPool {
  /// By the type's tag.
  var ids: [Int: [Int64]] = [:]
  /// By viewer, then by tag: what they have something to do with.
  var own: [String: [Int: [Int64]]] = [:]
  var usernames: [String] = []
  var words: [String] = []
  var gmapsIDs: [String] = []
  var apps: [String] = []
  var retailers: [String] = []
  var coordinates: [(Double, Double)] = []
  /// Moments around which something is scheduled.
  var moments: [String] = []
  var names: [String] = []
  /// The tokens of the log of changes, by viewer: from before the transactions 0, 1, 2 and 3.
  var tokens: [String: [String]] = [:]

  private static func tokens(_ database: NaiveDatabase, _ viewer: Int64) throws -> [String] {
    try (0..<4).map {
      try database.list("SELECT change_token(\(viewer), '\($0)', 0)").first?.first ?? ""
    }
  }

  /// - Parameter around: people whose things are drawn more often.
  init(_ database: NaiveDatabase, around viewers: [Int64]) throws {
    let tables: [(Int, String)] = [
      (1, "app_user"), (2, "photo"), (3, "location"), (4, "product"), (5, "circle"),
      (32, "comment"), (33, "invitation"), (34, "info_request"), (35, "follow_up"),
      (40, "program"), (41, "class_session"), (42, "booking"), (43, "activity_track"),
      (44, "test_result"),
      (48, "conversation"), (49, "message"), (50, "notification"), (51, "external_contact"),
    ]
    for (tag, table) in tables {
      ids[tag] = try database.ids(
        "SELECT id FROM \(table) ORDER BY hashint8extended(id, 7) LIMIT 25")
    }
    for tag in 16...24 {
      ids[tag] =
        try database.ids(
          "SELECT id FROM post WHERE kind = \(tag) ORDER BY hashint8extended(id, 7) LIMIT 12")
        + database.ids(
          """
          SELECT id FROM post WHERE kind = \(tag) AND visibility <> 'PUBLIC'
          ORDER BY hashint8extended(id, 7) LIMIT 8
          """)
    }
    for viewer in viewers {
      let name = try database.row("app_user", viewer)?.text("username") ?? ""
      own[name] = try Self.own(database, viewer)
      tokens[name] = try Self.tokens(database, viewer)
    }
    tokens[""] = try Self.tokens(database, 0)
    ids[1, default: []] += viewers
    ids[3, default: []] += try database.ids(
      "SELECT id FROM location WHERE level <> 'PLACE' ORDER BY id LIMIT 15")
    ids[3, default: []] += try database.ids(
      "SELECT id FROM location ORDER BY popularity DESC LIMIT 10")
    ids[2, default: []] += try database.ids(
      "SELECT id FROM photo WHERE moderation <> 'APPROVED' LIMIT 10")
    usernames = try database.list(
      "SELECT username FROM app_user ORDER BY hashint8extended(id, 9) LIMIT 20"
    ).map { $0.first ?? "" }
    gmapsIDs = try database.list("SELECT gmaps_id FROM location WHERE gmaps_id IS NOT NULL LIMIT 5")
      .map { $0.first ?? "" }
    apps = try database.list("SELECT app FROM app_config").map { $0.first ?? "" } + ["none"]
    retailers = try database.list("SELECT DISTINCT retailer FROM product LIMIT 4")
      .map { $0.first ?? "" }
    coordinates = try database.list(
      "SELECT latitude, longitude FROM location WHERE latitude IS NOT NULL LIMIT 30"
    ).map { ($0.double("latitude") ?? 0, $0.double("longitude") ?? 0) }
    moments = try database.list(
      "SELECT date_trunc('hour', starts_at) FROM event ORDER BY hashint8extended(post_id, 3) LIMIT 20"
    ).map { ($0.first ?? "").replacing(" ", with: "T").replacing("+00", with: "Z") }
    let texts = try database.list(
      """
      (SELECT body FROM post ORDER BY hashint8extended(id, 1) LIMIT 15)
      UNION ALL (SELECT name || ' ' || brand FROM product ORDER BY id LIMIT 10)
      UNION ALL (SELECT title FROM event ORDER BY post_id LIMIT 10)
      UNION ALL (SELECT name FROM location ORDER BY hashint8extended(id, 1) LIMIT 15)
      UNION ALL (SELECT name FROM circle ORDER BY id LIMIT 15)
      """)
    words = Array(Set(texts.flatMap { NaiveGraph.words($0.first ?? "") })).sorted()
    names = try database.list(
      "SELECT display_name FROM app_user ORDER BY hashint8extended(id, 4) LIMIT 20"
    ).flatMap { ($0.first ?? "").split(separator: " ").map(String.init) }
  }
}

extension ArgumentPool {
  /// Returns some objects that a viewer wrote, received, answered or takes part in, by tag.
  private static func own(_ database: NaiveDatabase, _ viewer: Int64) throws -> [Int: [Int64]] {
    let columns = [
      ("post", "id", "author_id"), ("photo", "id", "owner_id"), ("photo", "id", "owner_id"),
      ("circle_member", "circle_id", "user_id"), ("reaction", "subject_id", "user_id"),
      ("vote", "post_id", "user_id"), ("flag", "subject_id", "user_id"),
      ("invitation", "id", "invitee_id"), ("invitation", "id", "inviter_id"),
      ("invitation", "event_id", "invitee_id"), ("attendance", "event_id", "user_id"),
      ("info_request", "id", "owner_id"), ("info_request", "id", "requester_id"),
      ("info_request", "post_id", "requester_id"), ("follow_up", "id", "sender_id"),
      ("follow_up", "id", "recipient_id"), ("follow_up", "post_id", "sender_id"),
      ("follow_up", "post_id", "recipient_id"), ("booking", "id", "user_id"),
      ("booking", "session_id", "user_id"), ("class_session", "id", "trainer_id"),
      ("program_trainer", "program_id", "trainer_id"), ("activity_track", "id", "user_id"),
      ("conversation_member", "conversation_id", "user_id"), ("message", "id", "author_id"),
      ("notification", "id", "recipient_id"), ("external_contact", "id", "owner_id"),
      ("comment", "id", "author_id"), ("follow", "followee_id", "follower_id"),
      ("block", "blocked_id", "blocker_id"), ("block", "blocker_id", "blocked_id"),
      ("shopping_list_item", "product_id", "user_id"),
    ]
    var own: [Int: [Int64]] = [1: [viewer]]
    func add(_ statement: String) throws {
      for id in try database.ids(statement) where id != 0 {
        own[Int(id & 255), default: []].append(id)
      }
    }
    for (table, id, person) in columns {
      try add(
        """
        SELECT \(id) FROM \(table) WHERE \(person) = \(viewer) AND \(id) IS NOT NULL
        ORDER BY hashint8extended(\(id), 3) LIMIT 8
        """)
    }
    try add(
      """
      SELECT p.id FROM post p JOIN circle_member m ON m.circle_id = p.circle_id
      WHERE m.user_id = \(viewer) AND p.visibility = 'CIRCLE' LIMIT 8
      """)
    return own
  }
}
