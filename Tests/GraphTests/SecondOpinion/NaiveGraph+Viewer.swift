import GraphQLPlanning
import JSON

extension NaiveGraph {
  /// `Query.viewer`: what only the signed-in user may see.
  func own() throws -> NaiveObject? {
    guard let row = try database.row("app_user", viewer) else { return nil }
    return NaiveObject(type: "Viewer") { [unowned self] field, arguments in
      switch field {
      case "user": return .object(try user(viewer))
      case "email", "address": return .optional(row[field])
      case "isEmailVerified": return .bool(row.bool("email_verified"))
      case "linkedProviders":
        return .texts(
          try database.list(
            "SELECT provider FROM identity WHERE user_id = \(viewer) ORDER BY provider"
          ).map { $0.first ?? "" })
      case "missingProfileFields": return .texts(missingFields(row))
      case "sessions": return .objects(try sessions())
      case "locale": return .text(try setting("locale") ?? "en")
      case "timeZone": return .text(try setting("time_zone") ?? "UTC")
      case "devices":
        let devices = try database.list(
          "SELECT * FROM device WHERE user_id = \(viewer) ORDER BY last_seen_at DESC, id DESC")
        return .objects(devices.map(device))
      case "notificationSettings": return .object(notificationSettings())
      case "moderation": return isStaff ? .object(moderation()) : .null
      case "dataExport": return .leaf(.anyText)
      default: break
      }
      return try feeds(field, arguments) ?? lists(field, arguments) ?? inbox(field, arguments)
    }
  }

  private func missingFields(_ row: NaiveRow) -> [String] {
    var missing: [String] = []
    if row["display_name"] == row["username"] { missing.append("DISPLAY_NAME") }
    if row["avatar_id"] == nil { missing.append("AVATAR") }
    if row["bio"] == "" { missing.append("BIO") }
    if row["website"] == nil { missing.append("WEBSITE") }
    if row["home_id"] == nil { missing.append("HOME") }
    if row["address"] == nil { missing.append("ADDRESS") }
    if row["email"] == nil { missing.append("EMAIL") }
    return missing
  }

  private func sessions() throws -> [NaiveObject] {
    try database.list(
      "SELECT * FROM session WHERE user_id = \(viewer) ORDER BY created_at DESC, id DESC"
    ).filter { $0.text("expires_at") > NaiveTime.now() }.map(session)
  }

  func session(ofViewer id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("session", id), row.id("user_id") == viewer else { return nil }
    return session(row)
  }

  private func session(_ row: NaiveRow) -> NaiveObject {
    NaiveObject(type: "Session") { [unowned self] field, _ in
      switch field {
      case "id": .id(row.id())
      case "app", "device": .optional(row[field])
      case "isCurrent": .bool(try isCurrent(row))
      case "createdAt": .time(row["created_at"])
      case "lastUsedAt": .time(row["last_used_at"])
      case "expiresAt": .time(row["expires_at"])
      default: nil
      }
    }
  }

  /// Everybody who asks has the token `demo-` and their name.
  private func isCurrent(_ session: NaiveRow) throws -> Bool {
    let hash = try database.list(
      "SELECT sha256(convert_to('demo-' || username, 'UTF8')) FROM app_user WHERE id = \(viewer)")
    return hash.first?.first == session["token_hash"]
  }

  // MARK: - Settings

  private func setting(_ column: String) throws -> String? {
    try database.row("user_setting", viewer, key: "user_id")?[column]
  }

  func device(_ row: NaiveRow) -> NaiveObject {
    NaiveObject(type: "Device") { [unowned self] field, _ in
      switch field {
      case "id": return .id(row.id())
      case "app", "platform", "locale": return .text(row.text(field))
      case "deviceName": return .optional(row["device_name"])
      case "createdAt": return .time(row["created_at"])
      case "lastSeenAt": return .time(row["last_seen_at"])
      case "isCurrent":
        guard let session = try database.row("session", row.id("session_id")) else {
          return .bool(false)
        }
        return .bool(try isCurrent(session))
      default: return nil
      }
    }
  }

  private static let reasons = [
    "FOLLOWED", "REACTED", "VOTED", "COMMENTED", "PRODUCT_SUGGESTED", "TAGGED", "ANNOUNCED",
    "EVENT_INVITED", "EVENT_CHANGED", "EVENT_CANCELLED", "CIRCLE_ADDED", "INFO_REQUESTED",
    "INFO_ANSWERED", "OFFER_ANSWERED", "FOLLOW_UP_UNABLE", "BOOKING_CHANGED", "MESSAGED",
    "CIRCLE_TRANSFERRED",
  ]

  private func notificationSettings() -> NaiveObject {
    NaiveObject(type: "NotificationSettings") { [unowned self] field, _ in
      switch field {
      case "isNamingPeople": return .bool(try setting("is_naming_people") != "f")
      case "quietHours":
        guard let from = try setting("quiet_from"), let to = try setting("quiet_to") else {
          return .null
        }
        return .object(
          NaiveObject(type: "QuietHours") { field, _ in
            switch field {
            case "from": return .text(String(from.prefix(5)))
            case "to": return .text(String(to.prefix(5)))
            default: return nil
            }
          })
      case "rules":
        return .objects(
          Self.reasons.map { reason in
            NaiveObject(type: "NotificationRule") { [unowned self] field, _ in
              switch field {
              case "reason": return .text(reason)
              case "channels": return .texts(try channels(of: reason))
              default: return nil
              }
            }
          })
      default: return nil
      }
    }
  }

  private func channels(of reason: String) throws -> [String] {
    let rule = "FROM notification_rule WHERE user_id = \(viewer) AND reason = '\(reason)'"
    if try !database.list("SELECT reason \(rule)").isEmpty {
      return try database.list("SELECT unnest(channels) \(rule)").map { $0.first ?? "" }
    }
    switch reason {
    case "REACTED", "VOTED": return []
    case "INFO_REQUESTED", "OFFER_ANSWERED", "FOLLOW_UP_UNABLE", "BOOKING_CHANGED",
      "EVENT_CANCELLED":
      return ["PUSH", "EMAIL"]
    default: return ["PUSH"]
    }
  }

  // MARK: - Feeds

  private func feeds(_ field: String, _ arguments: NaiveArguments) throws -> NaiveValue? {
    switch field {
    case "feed":
      let source = arguments.string("source") ?? "ALL"
      var ids: Set<Int64> = []
      if source != "CIRCLES" {
        for author in following.union([viewer]) {
          ids.formUnion(try database.ids("SELECT id FROM post WHERE author_id = \(author)"))
        }
      }
      if source != "PEOPLE" {
        for circle in circles {
          ids.formUnion(try database.ids("SELECT id FROM post WHERE circle_id = \(circle)"))
        }
      }
      return try posts(Array(ids), arguments)
    case "reactedFeed":
      let kind = arguments.string("kind") ?? "TOP"
      var latest: [Int64: String] = [:]
      for person in following {
        for reaction in try database.list(
          "SELECT subject_id, created_at FROM reaction WHERE user_id = \(person) AND kind = '\(kind)'"
        ) {
          let subject = reaction.id("subject_id")
          guard try seesPost(subject) else { continue }
          let time = reaction.text("created_at")
          latest[subject] = max(latest[subject] ?? time, time)
        }
      }
      return try connection(
        "PostConnection",
        latest.map { id, time in
          Edge(node: { [unowned self] in try post(id) }, keys: [.textDown(time), .down(id)])
        }, arguments)
    case "agenda": return try agenda(arguments)
    case "suggestedUsers": return try suggestedUsers(arguments)
    case "quickAddUsers": return try quickAddUsers(of: arguments.string("app"))
    default: return nil
    }
  }

  private func suggestedUsers(_ arguments: NaiveArguments) throws -> NaiveValue {
    let first = arguments.int("limit") ?? 20
    let seed = arguments.int("seed") ?? 0
    if seed != 0 {
      // Which selection a number gives is the function's own choice.
      let chosen = try database.ids(
        "SELECT id FROM suggested_user(\(viewer), \(seed), \(first)) ORDER BY position")
      return .objects(try chosen.filter(seesUser).compactMap { try user($0) })
    }
    var common: [Int64: Int64] = [:]
    let latest = try database.ids(
      "SELECT followee_id FROM follow WHERE follower_id = \(viewer) ORDER BY followed_at DESC")
    for friend in latest.prefix(500) {
      for person in try database.ids("SELECT followee_id FROM follow WHERE follower_id = \(friend)")
      {
        common[person, default: 0] += 1
      }
    }
    let known = following.union(hidden).union([viewer])
    var chosen = common.filter { !known.contains($0.key) }
      .map { (id: $0.key, keys: [SortKey.down($0.value), .up($0.key)]) }
      .sorted { SortKey.compare($0.keys, $1.keys) < 0 }
      .prefix(first).map(\.id)
    if chosen.count < first {
      let others = try database.ids("SELECT id FROM app_user ORDER BY id DESC")
        .filter { !known.contains($0) && !chosen.contains($0) }.prefix(1000)
        .map { id in
          let followers = try database.ids(
            "SELECT follower_id FROM follow WHERE followee_id = \(id)")
          // Of whom the viewer may know.
          let shown = followers.count { !hidden.contains($0) }
          return (id: id, keys: [SortKey.down(Int64(shown)), .up(id)])
        }
      chosen += others.sorted { SortKey.compare($0.keys, $1.keys) < 0 }
        .prefix(first - chosen.count).map(\.id)
    }
    return .objects(try chosen.compactMap { try user($0) })
  }

  private func quickAddUsers(of wanted: String?) throws -> NaiveValue {
    var chosen: [Int64] = []
    for app in try database.list("SELECT app FROM app_config ORDER BY app") {
      guard wanted == nil || app.first == wanted else { continue }
      let name = NaiveDatabase.quoted(app.first ?? "")
      for id in try database.ids(
        "SELECT unnest(quick_add_user_ids) FROM app_config WHERE app = \(name)")
      where !chosen.contains(id) && id != viewer && !following.contains(id) {
        chosen.append(id)
      }
    }
    return .objects(try chosen.filter(seesUser).compactMap { try user($0) })
  }

  // MARK: - Lists of one's own

  private func lists(_ field: String, _ arguments: NaiveArguments) throws -> NaiveValue? {
    var edges: [Edge] = []
    switch field {
    case "externalContacts":
      let search = arguments.string("search") ?? ""
      for row in try database.list("SELECT * FROM external_contact WHERE owner_id = \(viewer)") {
        if let provider = arguments.string("provider"), row["provider"] != provider { continue }
        if !search.isEmpty, !Self.hasWord(row.text("name_key"), startingWith: search) {
          continue
        }
        if let from = arguments.string("from"), !from.isEmpty,
          Array(row.text("name_key").utf8).lexicographicallyPrecedes(Array(Self.folded(from).utf8))
        {
          continue
        }
        let id = row.id()
        edges.append(
          Edge(
            node: { [unowned self] in try contact(id) },
            keys: [.textUp(row.text("name_key")), .up(id)]))
      }
      return try connection("ExternalContactConnection", edges, arguments, size: 50)
    case "externalContactLetters":
      var counts: [String: Int] = [:]
      for row in try database.list("SELECT * FROM external_contact WHERE owner_id = \(viewer)") {
        counts[String(row.text("name_key").prefix(1)), default: 0] += 1
      }
      let letters = counts.keys.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
      return .list(
        letters.map { letter in
          let number = counts[letter] ?? 0
          return .object(
            NaiveObject(type: "ContactLetter") { field, _ in
              switch field {
              case "letter": .text(letter)
              case "contactCount": .int(number)
              default: nil
              }
            })
        })
    case "blockedUsers":
      for id in try database.ids("SELECT blocked_id FROM block WHERE blocker_id = \(viewer)") {
        edges.append(
          Edge(node: { [unowned self] in try maskedUser(id) }, keys: try nameKeys(id)))
      }
      return try connection("UserConnection", edges, arguments)
    case "circles": return try self.circles(Array(circles), arguments)
    case "invitations", "sentInvitations":
      let side = field == "invitations" ? "invitee_id" : "inviter_id"
      for row in try database.list("SELECT * FROM invitation WHERE \(side) = \(viewer)") {
        if let event = arguments.id("eventId"), row.optionalID("event_id") != event { continue }
        if let status = arguments.string("status"), row["status"] != status { continue }
        let id = row.id()
        guard try seesInvitation(id) else { continue }
        edges.append(Edge(node: { [unowned self] in try invitation(id) }, keys: [.down(id)]))
      }
      return try connection("InvitationConnection", edges, arguments)
    case "bookings":
      for row in try database.list("SELECT * FROM booking WHERE user_id = \(viewer)") {
        if row["cancelled_at"] != nil, arguments.bool("includeCancelled") != true { continue }
        let start = try database.row("class_session", row.id("session_id"))?.text("starts_at") ?? ""
        if let from = arguments.time("from"), start < from { continue }
        if let to = arguments.time("to"), start >= to { continue }
        let id = row.id()
        edges.append(
          Edge(node: { [unowned self] in try booking(id) }, keys: [.textUp(start), .up(id)]))
      }
      return try connection("BookingConnection", edges, arguments)
    case "shoppingList":
      for row in try database.list("SELECT * FROM shopping_list_item WHERE user_id = \(viewer)") {
        let id = row.id("product_id")
        edges.append(
          Edge(
            node: { [unowned self] in try product(id) },
            keys: [.textDown(row.text("added_at")), .down(id)]))
      }
      return try connection("ProductConnection", edges, arguments)
    case "activityTracks":
      for row in try database.list("SELECT * FROM activity_track WHERE user_id = \(viewer)") {
        let id = row.id()
        edges.append(
          Edge(
            node: { [unowned self] in try track(id) },
            keys: [.textDown(row.text("started_at")), .down(id)]))
      }
      return try connection("ActivityTrackConnection", edges, arguments)
    case "testResults":
      var results: [NaiveObject] = []
      for test in [
        "MILE_TIME", "PUSH_UPS_PER_MINUTE", "SIT_UPS_PER_MINUTE", "LEG_PRESS", "BENCH_PRESS",
        "LAT_PULL",
      ] {
        let own = try database.list("SELECT * FROM test_result WHERE user_id = \(viewer)")
          .filter { $0["test"] == test }
        guard let row = own.max(by: { $0.text("recorded_at") < $1.text("recorded_at") }) else {
          continue
        }
        if let result = try testResult(row.id()) { results.append(result) }
      }
      return .objects(results)
    case "testResultHistory":
      for row in try database.list("SELECT * FROM test_result WHERE user_id = \(viewer)") {
        if let test = arguments.string("test"), row["test"] != test { continue }
        let id = row.id()
        edges.append(
          Edge(
            node: { [unowned self] in try testResult(id) },
            keys: [.textDown(row.text("recorded_at")), .down(id)]))
      }
      return try connection("TestResultConnection", edges, arguments)
    case "photos":
      for id in try database.ids("SELECT id FROM photo WHERE owner_id = \(viewer)") {
        guard try seesPhoto(id) else { continue }
        edges.append(Edge(node: { [unowned self] in try photo(id) }, keys: [.down(id)]))
      }
      return try connection("PhotoConnection", edges, arguments)
    default: return nil
    }
  }

  func testResult(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("test_result", id) else { return nil }
    let test = row.text("test")
    return NaiveObject(type: "TestResult") { field, _ in
      switch field {
      case "id": .id(id)
      case "test": .text(test)
      case "value": .leaf(.value(.number(row.text("value"))))
      case "unit":
        .text(
          test == "MILE_TIME" ? "SECONDS" : test.hasSuffix("PER_MINUTE") ? "COUNT" : "KILOGRAMS")
      case "recordedAt": .time(row["recorded_at"])
      default: nil
      }
    }
  }

  func contact(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("external_contact", id) else { return nil }
    return NaiveObject(type: "ExternalContact") { [unowned self] field, _ in
      switch field {
      case "id": return .id(id)
      case "provider", "name": return .text(row.text(field))
      case "avatarUrl": return .optional(row["avatar_url"])
      case "account":
        let provider = NaiveDatabase.quoted(row.text("provider"))
        let other = NaiveDatabase.quoted(row.text("external_id"))
        let found = try database.ids(
          "SELECT user_id FROM identity WHERE provider = \(provider) AND external_id = \(other)")
        guard let account = found.first, try seesUser(account) else { return .null }
        return .object(try user(account))
      default: return nil
      }
    }
  }

  func track(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("activity_track", id) else { return nil }
    return NaiveObject(type: "ActivityTrack") { [unowned self] field, _ in
      switch field {
      case "id": return .id(id)
      case "title": return .text(row.text("title"))
      case "startedAt": return .time(row["started_at"])
      case "endedAt": return .time(row["ended_at"])
      case "durationSeconds":
        let seconds = try database.ids(
          "SELECT extract(epoch FROM ended_at - started_at)::int FROM activity_track WHERE id = \(id)"
        )
        return .int(Int(seconds.first ?? 0))
      case "distanceMeters": return .leaf(.value(.number(row.text("distance"))))
      case "path":
        let points = try JSONParser.parse(Array(row.text("path").utf8)).array ?? []
        return .objects(
          points.map { point in
            NaiveObject(type: "TrackPoint") { field, _ in
              switch field {
              case "at":
                .time(try self.timestamp(point["at"]?.string ?? ""))
              case "coordinates":
                .object(
                  Self.coordinates(
                    point["latitude"]?.double ?? 0, point["longitude"]?.double ?? 0))
              default: nil
              }
            }
          })
      default: return nil
      }
    }
  }

  private func timestamp(_ text: String) throws -> String? {
    try database.list("SELECT \(NaiveDatabase.quoted(text))::timestamptz").first?.first
  }

  // MARK: - Inbox

  private func inbox(_ field: String, _ arguments: NaiveArguments) throws -> NaiveValue? {
    var edges: [Edge] = []
    switch field {
    case "notifications", "unreadNotificationCount":
      let isRead = field == "unreadNotificationCount" ? false : arguments.bool("isRead")
      for row in try database.list("SELECT * FROM notification WHERE recipient_id = \(viewer)") {
        let id = row.id()
        if let isRead, isRead != (row["read_at"] != nil) { continue }
        if field == "notifications", let reasons = arguments.strings("reasons"),
          !reasons.contains(row.text("reason"))
        {
          continue
        }
        guard try seesNotification(id) else { continue }
        edges.append(Edge(node: { [unowned self] in try notification(id) }, keys: [.down(id)]))
      }
      return try field == "notifications"
        ? connection("NotificationConnection", edges, arguments) : .int(edges.count)
    case "conversations":
      for id in try database.ids(
        "SELECT conversation_id FROM conversation_member WHERE user_id = \(viewer)")
      {
        let updated = try updated(conversation: id)
        edges.append(
          Edge(
            node: { [unowned self] in try conversation(id) }, keys: [.textDown(updated), .down(id)]
          ))
      }
      return try connection("ConversationConnection", edges, arguments)
    case "followUps":
      let role = arguments.string("role")
      for row in try database.list("SELECT * FROM follow_up") {
        let isMine = [
          role != "RECIPIENT" ? row.id("sender_id") : 0,
          role != "SENDER" ? row.id("recipient_id") : 0,
        ].contains(viewer)
        guard isMine else { continue }
        if let state = arguments.string("state"), row["state"] != state { continue }
        let id = row.id()
        guard try seesFollowUp(id) else { continue }
        edges.append(Edge(node: { [unowned self] in try followUp(id) }, keys: [.down(id)]))
      }
      return try connection("FollowUpConnection", edges, arguments)
    case "infoRequests", "sentInfoRequests":
      let side = field == "infoRequests" ? "owner_id" : "requester_id"
      for row in try database.list("SELECT * FROM info_request WHERE \(side) = \(viewer)") {
        if let status = arguments.string("status"), row["status"] != status { continue }
        let id = row.id()
        guard try seesInfoRequest(id) else { continue }
        edges.append(Edge(node: { [unowned self] in try infoRequest(id) }, keys: [.down(id)]))
      }
      return try connection("InfoRequestConnection", edges, arguments)
    default: return nil
    }
  }

  private static let labels = [
    "OPEN_URL": "Open the store", "FOLLOW_BACK": "Follow back", "ATTEND": "Attend",
    "APPROVE_INFO_REQUEST": "Give address",
  ]

  func notification(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("notification", id) else { return nil }
    func value(_ expression: String) throws -> String {
      try database.list("SELECT \(expression) AS value FROM notification WHERE id = \(id)")
        .first?.text("value") ?? ""
    }
    return NaiveObject(type: "Notification") { [unowned self] field, _ in
      switch field {
      case "id": return .id(id)
      case "reason": return .text(row.text(field))
      case "text": return .text(try value("notification_text('en', phrase, args, number)"))
      case "destination":
        return .text(
          try value("replace(link_template(app_named('', \(viewer))), '{path}', destination)"))
      case "actor":
        guard let actor = row.optionalID("actor_id"), try seesUser(actor) else { return .null }
        return .object(try user(actor))
      case "about": return .object(try row.optionalID("about_id").flatMap(node))
      case "readAt": return .time(row["read_at"])
      case "createdAt": return .time(row["created_at"])
      case "action":
        guard let kind = row["action_kind"] else { return .null }
        return .object(
          NaiveObject(type: "NotificationAction") { field, _ in
            switch field {
            case "kind": .text(kind)
            case "label": .text(Self.labels[kind] ?? "")
            case "url": .optional(row["action_url"])
            case "performedAt": .time(row["action_performed_at"])
            default: nil
            }
          })
      default: return nil
      }
    }
  }

  func conversation(_ id: Int64) throws -> NaiveObject? {
    guard try database.row("conversation", id) != nil else { return nil }
    return NaiveObject(type: "Conversation") { [unowned self] field, arguments in
      let members = try database.list(
        "SELECT * FROM conversation_member WHERE conversation_id = \(id)")
      let messages = try shownMessages(of: id)
      switch field {
      case "id": return .id(id)
      case "participants":
        let people = try named(members.map { $0.id("user_id") })
        return .objects(try people.compactMap { try namedUser($0) })
      case "messages":
        let edges = messages.map { row in
          Edge(node: { try self.message(row.id()) }, keys: [.up(row.id())])
        }
        return try connection("MessageConnection", edges, arguments)
      case "unreadCount":
        let read = members.first { $0.id("user_id") == viewer }?.id("last_read_id") ?? 0
        return .int(messages.count { $0.id() > read && $0.id("author_id") != viewer })
      case "updatedAt": return .time(try updated(conversation: id))
      case "viewerHasMuted":
        return .bool(members.first { $0.id("user_id") == viewer }?.bool("is_muted") ?? false)
      default: return nil
      }
    }
  }

  /// Those that the viewer sees, oldest first.
  private func shownMessages(of conversation: Int64) throws -> [NaiveRow] {
    try database.list(
      "SELECT * FROM message WHERE conversation_id = \(conversation) ORDER BY id"
    ).filter(showsMessage)
  }

  /// Returns the time of the latest message; if a member is hidden, of the latest that the viewer
  /// sees.
  private func updated(conversation: Int64) throws -> String {
    let members = try database.ids(
      "SELECT user_id FROM conversation_member WHERE conversation_id = \(conversation)")
    guard members.contains(where: hidden.contains) else {
      return try database.row("conversation", conversation)?.text("updated_at") ?? ""
    }
    return try shownMessages(of: conversation).last?.text("created_at") ?? "1970-01-01 00:00:00+00"
  }

  func message(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("message", id) else { return nil }
    return NaiveObject(type: "Message") { [unowned self] field, _ in
      switch field {
      case "id": .id(id)
      case "conversation": .object(try conversation(row.id("conversation_id")))
      case "author": .object(try namedUser(row.id("author_id")))
      case "body": .text(row.text("body"))
      case "createdAt": .time(row["created_at"])
      default: nil
      }
    }
  }
}
