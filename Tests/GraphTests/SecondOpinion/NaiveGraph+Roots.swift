import GraphQLPlanning
import JSON

extension NaiveGraph {
  var query: NaiveObject {
    NaiveObject(type: "Query") { [unowned self] field, arguments in
      switch field {
      case "node": return .object(try arguments.id("id").flatMap(node))
      case "nodes":
        return .list(try (arguments.ids("ids") ?? []).map { .object(try node($0)) })
      case "viewer": return viewer == 0 ? .null : .object(try own())
      case "user": return .object(try user(by: arguments))
      case "post", "circle", "product":
        let id = arguments.id("id") ?? 0
        let fits =
          switch field {
          case "post": id & 240 == 16
          case "circle": id & 255 == 5
          default: id & 255 == 4
          }
        return .object(try fits ? node(id) : nil)
      case "location":
        let by = arguments.object("by") ?? NaiveArguments()
        if let id = by.id("id") { return .object(try id & 255 == 3 ? location(id) : nil) }
        let name = NaiveDatabase.quoted(by.string("gmapsId") ?? "")
        let found = try database.ids("SELECT id FROM location WHERE gmaps_id = \(name)").first
        return .object(try found.flatMap(location))
      case "users": return try users(arguments)
      case "posts": return try posts(matching: arguments)
      case "locations": return try locations(arguments)
      case "circles":
        return try circles(database.ids("SELECT id FROM circle").filter(seesCircle), arguments)
      case "products": return try products(arguments)
      case "programs":
        let training = arguments.string("training")
        let edges = try database.ids("SELECT id FROM program").compactMap { id -> Edge? in
          guard let row = try database.row("program", id),
            training == nil || row["training"] == training, !row.bool("is_archived")
          else { return nil }
          return Edge(
            node: { [unowned self] in try program(id) },
            keys: [.textUp(row.text("title")), .up(id)])
        }
        return try connection("ProgramConnection", edges, arguments)
      case "schedule": return try schedule(arguments)
      case "explore": return try explore(arguments)
      case "search": return try search(arguments)
      case "shareDraft": return .object(try shareDraft(arguments))
      case "appConfig": return .object(try appConfig(arguments.string("app") ?? ""))
      case "appConfigs":
        return .list(
          try database.list("SELECT app FROM app_config").compactMap(\.first).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
          }.compactMap { try appConfig($0).map { .object($0) } })
      case "dailyContent": return .object(try dailyContent(arguments.string("date") ?? ""))
      case "dailyContentLists": return .object(dailyContentLists())
      case "locales":
        return .texts(
          try database.list("SELECT name FROM locale ORDER BY name").map { $0.first ?? "" })
      case "changes": return .object(try changes(arguments))
      default: return nil
      }
    }
  }

  private func user(by arguments: NaiveArguments) throws -> NaiveObject? {
    let by = arguments.object("by") ?? NaiveArguments()
    var found = by.id("id").flatMap { $0 & 255 == 1 ? $0 : nil }
    if let name = by.string("username") {
      let text = NaiveDatabase.quoted(name.lowercased())
      found = try database.ids("SELECT id FROM app_user WHERE lower(username) = \(text)").first
    }
    guard let found, try seesUser(found) else { return nil }
    return try user(found)
  }

  private func users(_ arguments: NaiveArguments) throws -> NaiveValue {
    let search = arguments.string("search") ?? ""
    var fitting: [Int64] = []
    for id in try database.ids("SELECT id FROM app_user") {
      guard let row = try database.row("app_user", id) else { continue }
      let words = "\(row.text("name_key")) \(row.text("username"))"
      if !search.isEmpty, !matchesBeginnings(words, search) { continue }
      if let role = arguments.string("role"),
        try !database.list("SELECT unnest(roles) FROM app_user WHERE id = \(id)")
          .contains(where: { $0.first == role })
      {
        continue
      }
      fitting.append(id)
    }
    return try people(fitting, arguments)
  }

  func circles(_ ids: [Int64], _ arguments: NaiveArguments) throws -> NaiveValue {
    var edges: [Edge] = []
    let search = arguments.string("search") ?? ""
    for id in ids {
      guard let row = try database.row("circle", id) else { continue }
      if let kind = arguments.string("kind"), row["kind"] != kind { continue }
      if let isDefault = arguments.bool("isDefault"), row.bool("is_default") != isDefault {
        continue
      }
      if !search.isEmpty, !matchesBeginnings(Self.folded(row.text("name")), search) {
        continue
      }
      edges.append(Edge(node: { [unowned self] in try circle(id) }, keys: try circleKeys(id)))
    }
    return try connection("CircleConnection", edges, arguments)
  }

  // MARK: - Calendars

  private func schedule(_ arguments: NaiveArguments) throws -> NaiveValue {
    let filter = arguments.object("filter") ?? NaiveArguments()
    let from = filter.time("from") ?? ""
    let to = filter.time("to") ?? ""
    let kinds = filter.strings("kinds")
    let onlyOpen = filter.bool("isBookable") == true
    let defaultChannels = filter.bool("isInDefaultChannel") == true
    var items: [(id: Int64, start: String)] = []
    if kinds?.contains("EVENT") ?? true, filter.id("programId") == nil,
      filter.id("trainerId") == nil, !onlyOpen
    {
      for id in try database.ids("SELECT post_id FROM event") {
        guard let event = try database.row("event", id, key: "post_id"),
          let post = try database.row("post", id)
        else { continue }
        let start = event.text("starts_at")
        guard start >= from, start < to, event["cancelled_at"] == nil,
          post["visibility"] == "PUBLIC", try seesPost(id)
        else { continue }
        let circle = post.optionalID("circle_id")
        if let wanted = filter.ids("circleIds") {
          guard let circle, wanted.contains(circle), try seesCircle(circle) else { continue }
        }
        if defaultChannels {
          guard let circle, try database.row("circle", circle)?.bool("is_default") == true else {
            continue
          }
        }
        if let category = filter.string("category"), event["category"] != category { continue }
        items.append((id, start))
      }
    }
    if kinds?.contains("CLASS") ?? true, filter.ids("circleIds") == nil, !defaultChannels,
      filter.string("category") == nil
    {
      for id in try database.ids("SELECT id FROM class_session") {
        guard let row = try database.row("class_session", id) else { continue }
        let start = row.text("starts_at")
        guard start >= from, start < to else { continue }
        if let program = filter.id("programId"), row.id("program_id") != program { continue }
        if let trainer = filter.id("trainerId"), row.id("trainer_id") != trainer { continue }
        if try onlyOpen && !isFree(row) { continue }
        items.append((id, start))
      }
    }
    return try scheduled(items, arguments)
  }

  func agenda(_ arguments: NaiveArguments) throws -> NaiveValue {
    let from = arguments.time("from") ?? ""
    let to = arguments.time("to") ?? ""
    var events: Set<Int64> = []
    var declined: Set<Int64> = []
    var answered: Set<Int64> = []
    for row in try database.list("SELECT * FROM attendance WHERE user_id = \(viewer)") {
      let event = row.id("event_id")
      answered.insert(event)
      if row["status"] == "NOT_GOING" { declined.insert(event) } else { events.insert(event) }
    }
    for row in try database.list("SELECT * FROM invitation WHERE invitee_id = \(viewer)") {
      guard let event = row.optionalID("event_id"), row["status"] != "WITHDRAWN" else { continue }
      if row["status"] == "DECLINED" {
        if !answered.contains(event) { declined.insert(event) }
      } else {
        events.insert(event)
      }
    }
    events.formUnion(
      try database.ids("SELECT id FROM post WHERE author_id = \(viewer) AND kind = 23"))
    for circle in circles {
      events.formUnion(
        try database.ids("SELECT id FROM post WHERE circle_id = \(circle) AND kind = 23"))
    }
    var items: [(id: Int64, start: String)] = []
    let kinds = arguments.strings("kinds")
    for id in events.subtracting(declined)
    where try kinds?.contains("EVENT") ?? true && seesPost(id) {
      guard let event = try database.row("event", id, key: "post_id") else { continue }
      let start = event.text("starts_at")
      if start >= from, start < to, event["cancelled_at"] == nil { items.append((id, start)) }
    }
    for row in try database.list("SELECT * FROM booking WHERE user_id = \(viewer)")
    where row["cancelled_at"] == nil && kinds?.contains("CLASS") ?? true {
      guard let session = try database.row("class_session", row.id("session_id")) else { continue }
      let start = session.text("starts_at")
      if start >= from, start < to { items.append((session.id(), start)) }
    }
    return try scheduled(items, arguments)
  }

  private func explore(_ arguments: NaiveArguments) throws -> NaiveValue {
    var fitting: [Int64] = []
    for id in try database.ids("SELECT id FROM post WHERE visibility = 'PUBLIC'")
    where id & 255 == 22 || id & 255 == 23 {
      guard let post = try database.row("post", id), post.id("author_id") != viewer else {
        continue
      }
      if let circle = post.optionalID("circle_id"), circles.contains(circle) { continue }
      if let from = arguments.time("from"), post.text("created_at") < from { continue }
      if let to = arguments.time("to"), post.text("created_at") >= to { continue }
      if id & 255 == 23 {
        let answers = try database.ids("SELECT user_id FROM attendance WHERE event_id = \(id)")
        let invited = try database.ids(
          "SELECT invitee_id FROM invitation WHERE event_id = \(id) AND status <> 'WITHDRAWN'")
        if answers.contains(viewer) || invited.contains(viewer) { continue }
        guard let event = try database.row("event", id, key: "post_id"),
          event["cancelled_at"] == nil,
          (event["ends_at"] ?? event.text("starts_at")) > NaiveTime.now()
        else { continue }
      }
      fitting.append(id)
    }
    return try posts(fitting, arguments)
  }

  // MARK: - Search

  private func search(_ arguments: NaiveArguments) throws -> NaiveValue {
    let words = arguments.string("query") ?? ""
    let types = arguments.strings("types")
    func wants(_ type: String) -> Bool { types?.contains(type) ?? true }
    var found: [Int64] = []
    if wants("USER") {
      for id in try database.ids("SELECT id FROM app_user") where try seesUser(id) {
        guard let row = try database.row("app_user", id) else { continue }
        if matchesBeginnings("\(row.text("name_key")) \(row.text("username"))", words) {
          found.append(id)
        }
      }
    }
    if wants("POST") {
      for id in try database.ids("SELECT id FROM post") where try seesPost(id) {
        let body = try database.row("post", id)?.text("body") ?? ""
        let title = try id & 255 == 23 ? database.row("event", id, key: "post_id")?["title"] : nil
        if matches(body, words) || title.map({ matches($0, words) }) ?? false {
          found.append(id)
        }
      }
    }
    if wants("LOCATION") {
      for id in try database.ids("SELECT id FROM location") {
        let name = try database.row("location", id)?.text("name_key") ?? ""
        if matchesBeginnings(name, words) { found.append(id) }
      }
    }
    if wants("PRODUCT") {
      for id in try database.ids("SELECT id FROM product") {
        guard let row = try database.row("product", id), row.bool("is_available") else { continue }
        let text = "\(row.text("name")) \(row.text("brand")) \(row.text("description"))"
        if matches(text, words) { found.append(id) }
      }
    }
    if wants("CIRCLE") {
      for id in try database.ids("SELECT id FROM circle") where try seesCircle(id) {
        let name = try database.row("circle", id)?.text("name") ?? ""
        if matchesBeginnings(Self.folded(name), words) { found.append(id) }
      }
    }
    return try connection(
      "SearchConnection",
      found.map { id in Edge(node: { [unowned self] in try node(id) }, keys: [.down(id)]) },
      arguments)
  }

  // MARK: - Texts, settings, changes

  private func shareDraft(_ arguments: NaiveArguments) throws -> NaiveObject? {
    let channel = NaiveDatabase.quoted(arguments.string("channel") ?? "")
    let about = arguments.id("subjectId").map(String.init) ?? "NULL"
    let to = arguments.string("to").map(NaiveDatabase.quoted) ?? "NULL"
    let application = arguments.string("applicationName").map(NaiveDatabase.quoted) ?? "NULL"
    // Its clients name neither a language nor an application.
    let call =
      "share_draft(\(viewer), \(channel), \(about), \(to), spoken('', \(viewer)), "
      + "app_named('', \(viewer)), \(application))"
    guard let row = try database.list("SELECT * FROM \(call)").first else { return nil }
    let recipients = try database.list("SELECT unnest(recipients) FROM \(call)")
    return NaiveObject(type: "ShareDraft") { field, _ in
      switch field {
      case "channel", "body": .text(row.text(field))
      case "to": .texts(recipients.map { $0.first ?? "" })
      case "subject", "url": .optional(row[field])
      default: nil
      }
    }
  }

  private func appConfig(_ app: String) throws -> NaiveObject? {
    let name = NaiveDatabase.quoted(app.lowercased())
    guard let row = try database.list("SELECT * FROM app_config WHERE app = \(name)").first else {
      return nil
    }
    let images = try database.list(
      "SELECT unnest(intro_images) FROM app_config WHERE app = \(name)")
    let reasons = try database.list(
      "SELECT unnest(notification_reasons) FROM app_config WHERE app = \(name)")
    return NaiveObject(type: "AppConfig") { field, _ in
      switch field {
      case "app": return .text(row.text("app"))
      case "introImages": return .texts(images.map { $0.first ?? "" })
      case "isVotingEnabledByDefault": return .bool(row.bool("voting_enabled_by_default"))
      case "supportEmail": return .optional(row["support_email"])
      case "linkTemplate", "webTemplate":
        // Otherwise that of the server, which it knows itself.
        let own = row[field == "linkTemplate" ? "link_template" : "web_template"]
        return own.map { NaiveValue.text($0) } ?? .leaf(.anyText)
      case "notificationReasons": return .texts(reasons.map { $0.first ?? "" })
      case "apnsTopic": return .optional(row["apns_topic"])
      default: return nil
      }
    }
  }

  private func dailyContent(_ date: String) throws -> NaiveObject? {
    let days = try database.ids("SELECT date \(NaiveDatabase.quoted(date)) - date '1970-01-01'")
    func item(_ list: String) throws -> NaiveValue {
      let items = try database.list(
        "SELECT value FROM daily_item WHERE list = '\(list)' ORDER BY position")
      guard let day = days.first, !items.isEmpty else { return .null }
      let count = items.count
      return .optional(items[(Int(day) % count + count) % count].first)
    }
    return NaiveObject(type: "DailyContent") { field, _ in
      switch field {
      case "date": .text(date)
      case "videoUrl": try item("VIDEO")
      case "motivation": try item("MOTIVATION")
      default: nil
      }
    }
  }

  private func dailyContentLists() -> NaiveObject {
    NaiveObject(type: "DailyContentLists") { [unowned self] field, _ in
      let list = field == "videoUrls" ? "VIDEO" : "MOTIVATION"
      return .texts(
        try database.list("SELECT value FROM daily_item WHERE list = '\(list)' ORDER BY position")
          .map { $0.first ?? "" })
    }
  }

  private func changes(_ arguments: NaiveArguments) throws -> NaiveObject? {
    let limit = arguments.int("limit") ?? 100
    var rows: [NaiveRow] = []
    if let since = arguments.string("since") {
      // Of what the generator takes the transaction is the twelfth letter, from A for 0.
      let letter = since.utf8.dropFirst(11).first ?? UInt8(ascii: "A")
      let parts = [Int64(letter) - Int64(UInt8(ascii: "A")), 0]
      var scopes = circles
      if viewer == 0 {
        scopes = Set(try database.ids("SELECT id FROM circle WHERE is_default"))
      } else {
        scopes.insert(viewer)
      }
      rows = try database.list(
        """
        SELECT c.*, array_to_string(c.people, ' ') AS who, EXISTS (SELECT FROM circle_member m
          WHERE m.circle_id = c.scope_id AND m.user_id = \(viewer) AND m.joined_at > c.logged_at) AS is_early
        FROM change c ORDER BY c.xid, c.seq
        """
      ).filter { row in
        let place = (row.id("xid"), row.id("seq"))
        guard scopes.contains(row.id("scope_id")), place > (parts[0], parts[1]) else {
          return false
        }
        // Nothing of people one does not see, and nothing new that is hidden or gone.
        let people = row.text("who").split(separator: " ").compactMap { Int64($0) }
        guard hidden.isDisjoint(with: people) else { return false }
        // What was gone before one came is nobody's business.
        if row.bool("deleted"), row.bool("is_early") { return false }
        let id = row.id("node_id")
        let isOwnEvent = id & 255 == 23 && row.id("scope_id") == viewer
        let hasRule = id & 240 == 16 || [32, 33, 50].contains(id & 255)
        return try row.bool("deleted") || isOwnEvent || !hasRule || node(id) != nil
      }
    }
    let page = rows.prefix(limit)
    // Each thing once, as it was last.
    var last: [Int64: Int] = [:]
    for (position, row) in page.enumerated() { last[row.id("node_id")] = position }
    let kept = page.enumerated().filter { last[$0.element.id("node_id")] == $0.offset }
    let hasMore = rows.count > limit
    return NaiveObject(type: "ChangeSet") { field, _ in
      switch field {
      case "token": .leaf(.anyText)
      case "hasMore": .bool(hasMore)
      case "changes":
        .objects(
          kept.map { _, row in
            NaiveObject(type: "Change") { [unowned self] field, _ in
              switch field {
              case "nodeId": .id(row.id("node_id"))
              case "operation": .text(row.bool("deleted") ? "DELETE" : "UPSERT")
              case "node": .object(try node(row.id("node_id")))
              default: nil
              }
            }
          })
      default: nil
      }
    }
  }
}
