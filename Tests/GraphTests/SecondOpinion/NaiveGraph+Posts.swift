import GraphQLPlanning
import JSON

extension NaiveGraph {
  static let postTypes = [
    "OutfitPost", "ProductPost", "PhotoPost", "CardOffer", "CardRequest", "ThankYou",
    "Announcement", "Event", "TextPost",
  ]

  func post(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("post", id) else { return nil }
    let type = Self.postTypes[Int(id & 255) - 16]
    return NaiveObject(type: type) { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "author": return .object(try namedUser(row.id("author_id")))
      case "body": return .text(row.text("body"))
      case "photos":
        let photos = try database.ids(
          "SELECT photo_id FROM post_photo WHERE post_id = \(id) ORDER BY position")
        return .objects(try photos.filter(showsPhoto).compactMap { try photo($0) })
      case "location": return .object(try row.optionalID("location_id").flatMap(location))
      case "circle":
        guard let circle = row.optionalID("circle_id"), try seesCircle(circle) else { return .null }
        return .object(try self.circle(circle))
      case "visibility": return .text(row.text("visibility"))
      case "createdAt": return .time(row["created_at"])
      case "updatedAt": return .time(row["updated_at"])
      case "viewerActions": return .texts(try actions(row))
      default: break
      }
      if let value = try ownField(field, row, arguments) { return value }
      return try comments(field, of: id, arguments) ?? reactions(field, of: id, arguments)
    }
  }

  /// Returns a field that only this kind of post has.
  private func ownField(
    _ field: String, _ row: NaiveRow, _ arguments: NaiveArguments
  ) throws -> NaiveValue? {
    let id = row.id()
    switch id & 255 {
    case 16, 17: return try votable(field, row)
    case 19, 20: return try card(field, row, arguments)
    case 21 where field == "taggedUsers":
      return try peopleByName(
        database.ids("SELECT user_id FROM post_tag WHERE post_id = \(id)"))
    case 23: return try event(field, row, arguments)
    default: return nil
    }
  }

  private func votable(_ field: String, _ row: NaiveRow) throws -> NaiveValue? {
    let id = row.id()
    guard let votable = try database.row("votable_post", id, key: "post_id") else { return nil }
    let votes = try database.list("SELECT * FROM vote WHERE post_id = \(id)")
    let own = votes.first { $0.id("user_id") == viewer }?["choice"]
    switch field {
    case "brands":
      return .texts(
        try database.list("SELECT unnest(brands) FROM votable_post WHERE post_id = \(id)")
          .map { $0.first ?? "" })
    case "product": return .object(try votable.optionalID("product_id").flatMap(product))
    case "isVotingEnabled": return .bool(votable.bool("voting_enabled"))
    case "viewerVote": return .optional(own)
    case "verdict":
      guard votable.bool("voting_enabled"), row.id("author_id") == viewer || own != nil else {
        return .null
      }
      let wearIt = votes.count { $0["choice"] == "WEAR_IT" }
      let changeIt = votes.count - wearIt
      let text = try database.list("SELECT verdict_text('en', \(wearIt), \(changeIt))").first?.first
      return .object(
        NaiveObject(type: "Verdict") { field, _ in
          switch field {
          case "wearItCount": .int(wearIt)
          case "changeItCount": .int(changeIt)
          case "leading":
            wearIt == changeIt ? .null : .text(wearIt > changeIt ? "WEAR_IT" : "CHANGE_IT")
          case "text": .optional(text)
          default: nil
          }
        })
    default: return nil
    }
  }

  /// Exactly what an action menu should show, in the order of the enum.
  private func actions(_ row: NaiveRow) throws -> [String] {
    if viewer == 0 { return [] }
    let id = row.id()
    let tag = id & 255
    let isOwn = row.id("author_id") == viewer
    let isPublic = row["visibility"] == "PUBLIC"
    var actions: [String] = []
    func add(_ action: String, _ condition: Bool) { if condition { actions.append(action) } }
    add("TWEET", isPublic)
    add("SHARE_FACEBOOK", isOwn && isPublic)
    add("EDIT", isOwn)
    add("DELETE", isOwn || isStaff)
    add("FLAG", try !isOwn && !hasFlagged(id))
    add("SUGGEST_PRODUCT", !isOwn && (tag == 16 || tag == 17))
    add("REACT", true)
    add("COMMENT", true)
    if tag == 16 || tag == 17, !isOwn {
      let isEnabled = try database.row("votable_post", id, key: "post_id")?.bool("voting_enabled")
      let voters = try database.list("SELECT * FROM vote WHERE post_id = \(id)")
      add("VOTE", isEnabled == true && !voters.contains { $0.id("user_id") == viewer })
    }
    if tag == 19 || tag == 20 {
      let isOpen = try database.row("card_post", id, key: "post_id")?.bool("is_open") == true
      if tag == 19 {
        let answered = try database.ids("SELECT recipient_id FROM follow_up WHERE post_id = \(id)")
        let isReached = try sends(id, to: database.row("app_user", viewer)?.optionalID("home_id"))
        add("RESPOND", !isOwn && isOpen && !answered.contains(viewer) && isReached)
      } else {
        let asked = try database.list("SELECT * FROM info_request WHERE post_id = \(id)")
          .filter { $0["status"] != "WITHDRAWN" }.map { $0.id("requester_id") }
        add("REQUEST_ADDRESS", !isOwn && isOpen && !asked.contains(viewer))
      }
      add("CLOSE", isOwn && isOpen)
      let card = try database.row("card_post", id, key: "post_id")
      let most = card?.optionalID("response_limit") ?? .max
      add("REOPEN", isOwn && !isOpen && (card?.id("response_count") ?? 0) < most)
      let own = try database.list(
        tag == 19
          ? "SELECT recipient_id AS id, state FROM follow_up WHERE post_id = \(id)"
          : "SELECT requester_id AS id, status AS state FROM info_request WHERE post_id = \(id)")
      let isOpenAnswer = own.contains {
        $0.id() == viewer && $0["state"] == (tag == 19 ? "OPEN" : "PENDING")
      }
      add("WITHDRAW", !isOwn && isOpenAnswer)
    }
    if tag == 23, let event = try database.row("event", id, key: "post_id") {
      let isToCome =
        event["cancelled_at"] == nil
        && (event["ends_at"] ?? event.text("starts_at")) > NaiveTime.now()
      let isGoing = try database.list("SELECT * FROM attendance WHERE event_id = \(id)")
        .contains { $0.id("user_id") == viewer && $0["status"] == "GOING" }
      add("CANCEL", isOwn && event["cancelled_at"] == nil)
      let isOver =
        try database.list(
          "SELECT post_id AS id FROM event WHERE post_id = \(id)"
            + " AND coalesce(ends_at, starts_at + interval '1 day') <= now()"
        ).isEmpty == false
      add("RESTORE", isOwn && event["cancelled_at"] != nil && !isOver)
      add("ATTEND", isToCome)
      add("INVITE", isToCome && (isOwn || row["visibility"] != "INVITED" && isGoing))
    }
    return actions
  }

  private func hasFlagged(_ subject: Int64) throws -> Bool {
    try database.ids("SELECT user_id FROM flag WHERE subject_id = \(subject)").contains(viewer)
  }

  // MARK: - Reactions

  /// All reactions to a post.
  func score(_ id: Int64) throws -> Int64 {
    if let known = database.scores[id] { return known }
    let score = Int64(try database.list("SELECT * FROM reaction WHERE subject_id = \(id)").count)
    database.scores[id] = score
    return score
  }

  func reactions(
    _ field: String, of subject: Int64, _ arguments: NaiveArguments
  ) throws -> NaiveValue? {
    guard ["reactionCount", "reactions", "viewerReactions"].contains(field) else { return nil }
    let kind = arguments.string("kind")
    let all = try database.list("SELECT * FROM reaction WHERE subject_id = \(subject)")
    let fitting = all.filter { kind == nil || $0["kind"] == kind }
    switch field {
    case "reactionCount": return .int(fitting.count)
    case "viewerReactions":
      let own = Set(all.filter { $0.id("user_id") == viewer }.map { $0.text("kind") })
      return .texts(["HEART", "LIKE", "TOP", "AGREE"].filter(own.contains))
    default:
      let part = arguments.string("by") ?? "EVERYONE"
      let network = try part == "EVERYONE" ? nil : self.network(part)
      var edges: [Edge] = []
      for reaction in fitting {
        let person = reaction.id("user_id")
        guard try seesUser(person), network?.contains(person) ?? true else { continue }
        let order = ["HEART", "LIKE", "TOP", "AGREE"].firstIndex(of: reaction.text("kind")) ?? 0
        edges.append(
          Edge(
            node: { [unowned self] in try user(person) },
            keys: [.textDown(reaction.text("created_at")), .down(person), .down(Int64(order))],
            fields: [
              "kind": .text(reaction.text("kind")), "createdAt": .time(reaction["created_at"]),
            ]))
      }
      // Blocked people are left out, yet counted.
      return try connection(
        "ReactionConnection", edges, arguments, total: network == nil ? fitting.count : nil)
    }
  }

  // MARK: - Comments

  func comments(
    _ field: String, of subject: Int64, _ arguments: NaiveArguments
  ) throws -> NaiveValue? {
    guard field == "commentCount" || field == "comments" else { return nil }
    let order = arguments.string("orderBy") ?? "OLDEST"
    var edges: [Edge] = []
    for row in try database.list("SELECT id, author_id FROM comment WHERE subject_id = \(subject)")
    where !hidden.contains(row.id("author_id")) {
      let id = row.id()
      let agreed = try database.ids("SELECT user_id FROM reaction WHERE subject_id = \(id)").count
      edges.append(
        Edge(
          node: { [unowned self] in try comment(id) },
          keys: order == "OLDEST" ? [.up(id)] : [.down(Int64(agreed)), .down(id)]))
    }
    return try field == "commentCount"
      ? .int(edges.count) : connection("CommentConnection", edges, arguments, order: order)
  }

  func comment(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("comment", id) else { return nil }
    let subject = row.id("subject_id")
    return NaiveObject(type: "Comment") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "subject": return .object(try node(subject))
      case "author": return .object(try namedUser(row.id("author_id")))
      case "body": return .text(row.text("body"))
      case "createdAt": return .time(row["created_at"])
      case "updatedAt": return .time(row["updated_at"])
      case "viewerCanUpdate": return .bool(viewer != 0 && row.id("author_id") == viewer)
      case "viewerCanDelete":
        let author = try database.row("post", subject)?.id("author_id")
        let owner = try database.row("circle", subject)?.id("owner_id")
        return .bool(
          viewer != 0
            && (isStaff || row.id("author_id") == viewer || author == viewer || owner == viewer))
      case "viewerHasFlagged": return .bool(try hasFlagged(id))
      default: return try reactions(field, of: id, arguments)
      }
    }
  }

  // MARK: - Cards

  private func card(
    _ field: String, _ row: NaiveRow, _ arguments: NaiveArguments
  ) throws -> NaiveValue? {
    let id = row.id()
    let author = row.id("author_id")
    guard let card = try database.row("card_post", id, key: "post_id") else { return nil }
    switch field {
    case "isOpen": return .bool(card.bool("is_open"))
    case "responseLimit": return .optionalInt(card["response_limit"])
    case "responseCount": return .int(card.int("response_count"))
    case "regions":
      return try locationsByName(
        database.ids("SELECT location_id FROM card_offer_region WHERE post_id = \(id)"))
    case "respondents":
      var edges: [Edge] = []
      if author == viewer {
        for answer in try database.list("SELECT * FROM follow_up WHERE post_id = \(id)") {
          let person = answer.id("recipient_id")
          guard try seesUser(person) else { continue }
          edges.append(
            Edge(node: { [unowned self] in try user(person) }, keys: [.up(answer.id())]))
        }
      }
      return try connection("UserConnection", edges, arguments)
    case "viewerFollowUp":
      let (sender, recipient) = id & 255 == 19 ? (author, viewer) : (viewer, author)
      let found = try database.list("SELECT * FROM follow_up WHERE post_id = \(id)")
        .first { $0.id("sender_id") == sender && $0.id("recipient_id") == recipient }
      guard let found, try seesFollowUp(found.id()) else { return .null }
      return .object(try followUp(found.id()))
    case "viewerInfoRequest":
      let found = try database.list("SELECT * FROM info_request WHERE post_id = \(id)")
        .first { $0.id("requester_id") == viewer }
      guard let found, try seesInfoRequest(found.id()) else { return .null }
      return .object(try infoRequest(found.id()))
    default: return nil
    }
  }

  /// Returns whether cards of an offer are sent to a home: one of its regions is it or around it, or
  /// there are none. Without a home, one is asked for.
  private func sends(_ offer: Int64, to home: Int64?) throws -> Bool {
    let regions = try database.ids(
      "SELECT location_id FROM card_offer_region WHERE post_id = \(offer)")
    guard !regions.isEmpty, var place = home else { return true }
    while !regions.contains(place) {
      guard let parent = try database.row("location", place)?.optionalID("parent_id") else {
        return false
      }
      place = parent
    }
    return true
  }

  func infoRequest(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("info_request", id) else { return nil }
    return NaiveObject(type: "InfoRequest") { [unowned self] field, _ in
      switch field {
      case "id": .id(id)
      case "post": .object(try post(row.id("post_id")))
      case "requester": .object(try namedUser(row.id("requester_id")))
      case "status": .text(row.text("status"))
      case "createdAt": .time(row["created_at"])
      default: nil
      }
    }
  }

  func followUp(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("follow_up", id) else { return nil }
    let sender = row.id("sender_id")
    let recipient = row.id("recipient_id")
    return NaiveObject(type: "FollowUp") { [unowned self] field, _ in
      switch field {
      case "id": return .id(id)
      case "post": return .object(try post(row.id("post_id")))
      case "sender": return .object(try namedUser(sender))
      case "recipient": return .object(try namedUser(recipient))
      case "recipientAddress":
        guard sender == viewer, row["state"] == "OPEN" else { return .null }
        return .optional(try database.row("app_user", recipient)?["address"])
      case "state": return .text(row.text("state"))
      case "createdAt": return .time(row["created_at"])
      case "resolvedAt": return .time(row["resolved_at"])
      case "place":
        let other = sender == viewer ? recipient : sender
        var place = try database.row("app_user", other)?.optionalID("home_id")
        while let id = place, let found = try database.row("location", id) {
          if found["level"] != "PLACE" { return .object(try location(id)) }
          place = found.optionalID("parent_id")
        }
        return .null
      default: return nil
      }
    }
  }

  // MARK: - Events

  private func event(
    _ field: String, _ row: NaiveRow, _ arguments: NaiveArguments
  ) throws -> NaiveValue? {
    let id = row.id()
    guard let event = try database.row("event", id, key: "post_id") else { return nil }
    switch field {
    case "title", "category": return .text(event.text(field))
    case "startsAt": return .time(event["starts_at"])
    case "endsAt": return .time(event["ends_at"])
    case "sourceUrl": return .optional(event["source_url"])
    case "cancelledAt": return .time(event["cancelled_at"])
    case "cancellationNote": return .optional(event["cancellation_note"])
    case "venues":
      let venues = try database.list("SELECT * FROM event_venue WHERE event_id = \(id)")
      let keyed = venues.map { venue in
        (
          venue,
          [venue["opens_at"].map { .textUp($0) } ?? .nullLast, SortKey.up(venue.id("location_id"))]
        )
      }
      return .objects(
        keyed.sorted { SortKey.compare($0.1, $1.1) < 0 }.map { venue, _ in
          NaiveObject(type: "EventVenue") { [unowned self] field, _ in
            switch field {
            case "location": .object(try location(venue.id("location_id")))
            case "opensAt": .time(venue["opens_at"])
            case "closesAt": .time(venue["closes_at"])
            case "note": .optional(venue["note"])
            default: nil
            }
          }
        })
    case "attendees":
      let part = arguments.string("by") ?? "EVERYONE"
      let network = try part == "EVERYONE" ? nil : self.network(part)
      var edges: [Edge] = []
      for answer in try database.list("SELECT * FROM attendance WHERE event_id = \(id)") {
        let person = answer.id("user_id")
        if let status = arguments.string("status"), answer["status"] != status { continue }
        guard try seesUser(person), network?.contains(person) ?? true else { continue }
        edges.append(
          Edge(
            node: { [unowned self] in try user(person) },
            keys: [.textDown(answer.text("updated_at")), .down(person)],
            fields: [
              "status": .text(answer.text("status")), "updatedAt": .time(answer["updated_at"]),
            ]))
      }
      return try connection("AttendeeConnection", edges, arguments)
    case "viewerAttendance":
      return .optional(
        try database.list("SELECT * FROM attendance WHERE event_id = \(id)")
          .first { $0.id("user_id") == viewer }?["status"])
    case "viewerInvitation":
      let found = try database.list("SELECT * FROM invitation WHERE event_id = \(id)")
        .first { $0.id("invitee_id") == viewer }
      guard let found, try seesInvitation(found.id()) else { return .null }
      return .object(try invitation(found.id()))
    default: return nil
    }
  }

  func invitation(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("invitation", id) else { return nil }
    return NaiveObject(type: "Invitation") { [unowned self] field, _ in
      switch field {
      case "id": return .id(id)
      case "event":
        guard let event = row.optionalID("event_id"), try seesPost(event) else { return .null }
        return .object(try post(event))
      case "inviter": return .object(try namedUser(row.id("inviter_id")))
      case "invitee":
        guard let invitee = row.optionalID("invitee_id"), try seesUser(invitee) else {
          return .null
        }
        return .object(try user(invitee))
      case "contact": return row.id("inviter_id") == viewer ? .optional(row["contact"]) : .null
      case "channel": return .optional(row["channel"])
      case "status": return .text(row.text("status"))
      case "createdAt": return .time(row["created_at"])
      default: return nil
      }
    }
  }
}
