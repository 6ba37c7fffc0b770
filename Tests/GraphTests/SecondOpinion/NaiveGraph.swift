import Foundation
import GraphQLPlanning
import JSON

/// The graph as the domain describes it, written a second time as plainly as possible: one row at a
/// time, rules and orders in Swift. Nothing here knows the storage directives or calls the
/// functions that filter rows; only texts the server writes come from the functions in `sql`.
///
/// One for each viewer; they share their rows.
final class NaiveGraph {
  let database: NaiveDatabase
  let book: CursorBook
  /// 0 for an anonymous client.
  let viewer: Int64
  /// Blocked by the viewer, or blocking them.
  let hidden: Set<Int64>
  let following: Set<Int64>
  let circles: Set<Int64>
  let isStaff: Bool
  private var visiblePosts: [Int64: Bool] = [:]
  private var networks: [String: Set<Int64>] = [:]

  init(_ database: NaiveDatabase, _ book: CursorBook, viewer: Int64) throws {
    self.database = database
    self.book = book
    self.viewer = viewer
    hidden = Set(
      try database.ids("SELECT blocked_id FROM block WHERE blocker_id = \(viewer)")
        + database.ids("SELECT blocker_id FROM block WHERE blocked_id = \(viewer)"))
    following = Set(
      try database.ids("SELECT followee_id FROM follow WHERE follower_id = \(viewer)"))
    circles = Set(
      try database.ids("SELECT circle_id FROM circle_member WHERE user_id = \(viewer)"))
    isStaff =
      try viewer != 0
      && database.ids("SELECT id FROM app_user WHERE id = \(viewer) AND 'STAFF' = ANY (roles)")
        == [viewer]
  }

  // MARK: - Who sees what (domain/README.md, 3.4)

  func seesUser(_ id: Int64) throws -> Bool {
    try !hidden.contains(id) && database.row("app_user", id) != nil
  }

  func seesCircle(_ id: Int64) throws -> Bool {
    guard let circle = try database.row("circle", id) else { return false }
    return circle["kind"] == "CHANNEL" || circles.contains(id)
  }

  func seesPost(_ id: Int64) throws -> Bool {
    if let known = visiblePosts[id] { return known }
    let sees = try decidePost(id)
    visiblePosts[id] = sees
    return sees
  }

  private func decidePost(_ id: Int64) throws -> Bool {
    guard id & 240 == 16, let post = try database.row("post", id) else { return false }
    let author = post.id("author_id")
    if author == viewer { return true }
    if hidden.contains(author) { return false }
    switch post["visibility"] {
    case "PUBLIC": return true
    case "CIRCLE": return circles.contains(post.id("circle_id"))
    case "INVITED":
      return try database.ids(
        "SELECT invitee_id FROM invitation WHERE event_id = \(id) AND status <> 'WITHDRAWN'"
      ).contains(viewer)
    default: throw GraphTestFailure("a visibility nobody knows")
    }
  }

  func seesComment(_ id: Int64) throws -> Bool {
    guard let comment = try database.row("comment", id) else { return false }
    return try !hidden.contains(comment.id("author_id")) && seesSubject(comment.id("subject_id"))
  }

  private func seesSubject(_ id: Int64) throws -> Bool {
    switch id & 255 {
    case 3: true
    case 5: try seesCircle(id)
    default: try seesPost(id)
    }
  }

  /// A photo by itself: with something visible that shows it.
  func seesPhoto(_ id: Int64) throws -> Bool {
    guard let photo = try database.row("photo", id) else { return false }
    let owner = photo.id("owner_id")
    if isStaff { return true }
    if owner == viewer { return photo["moderation"] != "REJECTED" }
    guard photo["moderation"] == "APPROVED" else { return false }
    if try database.row("app_user", owner)?.optionalID("avatar_id") == id { return true }
    if try !database.ids("SELECT id FROM product WHERE photo_id = \(id)").isEmpty { return true }
    for post in try database.ids("SELECT post_id FROM post_photo WHERE photo_id = \(id)") {
      if !hidden.contains(owner), try seesPost(post) { return true }
    }
    return false
  }

  /// A photo where something visible shows it.
  func showsPhoto(_ id: Int64) throws -> Bool {
    guard let photo = try database.row("photo", id) else { return false }
    return switch photo["moderation"] {
    case "APPROVED": true
    case "PENDING": isStaff || photo.id("owner_id") == viewer
    default: isStaff
    }
  }

  func seesInvitation(_ id: Int64) throws -> Bool {
    guard let row = try database.row("invitation", id) else { return false }
    let inviter = row.id("inviter_id")
    let invitee = row.optionalID("invitee_id")
    guard viewer != 0, inviter == viewer || invitee == viewer, !hidden.contains(inviter) else {
      return false
    }
    if let invitee, hidden.contains(invitee) { return false }
    if let event = row.optionalID("event_id") { return try seesPost(event) }
    return true
  }

  func seesInfoRequest(_ id: Int64) throws -> Bool {
    guard let row = try database.row("info_request", id) else { return false }
    let people = [row.id("owner_id"), row.id("requester_id")]
    return try viewer != 0 && people.contains(viewer) && !people.contains(where: hidden.contains)
      && seesPost(row.id("post_id"))
  }

  func seesFollowUp(_ id: Int64) throws -> Bool {
    guard let row = try database.row("follow_up", id) else { return false }
    let people = [row.id("sender_id"), row.id("recipient_id")]
    return try viewer != 0 && people.contains(viewer) && !people.contains(where: hidden.contains)
      && seesPost(row.id("post_id"))
  }

  func seesBooking(_ id: Int64) throws -> Bool {
    guard let row = try database.row("booking", id) else { return false }
    if isStaff || row.id("user_id") == viewer { return true }
    return try database.row("class_session", row.id("session_id"))?.id("trainer_id") == viewer
  }

  func takesPart(in conversation: Int64) throws -> Bool {
    try database.ids(
      "SELECT user_id FROM conversation_member WHERE conversation_id = \(conversation)"
    ).contains(viewer)
  }

  /// Whether the author was not hidden from the viewer yet, or is not any more.
  func showsMessage(_ message: NaiveRow) throws -> Bool {
    let author = message.id("author_id")
    guard hidden.contains(author) else { return true }
    let blocks = try database.list(
      """
      SELECT created_at FROM block WHERE (blocker_id, blocked_id) IN ((\(viewer), \(author)), (\(author), \(viewer)))
      """
    ).map { $0.text("created_at") }
    return blocks.allSatisfy { message.text("created_at") < $0 }
  }

  func seesNotification(_ id: Int64) throws -> Bool {
    guard let row = try database.row("notification", id) else { return false }
    if let actor = row.optionalID("actor_id"), hidden.contains(actor) { return false }
    return row.id("recipient_id") == viewer
  }

  // MARK: - Networks

  func network(_ part: String) throws -> Set<Int64> {
    if let known = networks[part] { return known }
    var people: Set<Int64> = []
    switch part {
    case "EVERYONE": people = Set(try database.ids("SELECT id FROM app_user"))
    case "FOLLOWING": people = following
    default:
      for friend in following {
        people.formUnion(
          try database.ids("SELECT followee_id FROM follow WHERE follower_id = \(friend)"))
      }
      people.subtract(following)
      people.subtract(hidden)
      people.remove(viewer)
    }
    networks[part] = people
    return people
  }

  // MARK: - Nodes

  /// Any node the viewer may see, by its id.
  func node(_ id: Int64) throws -> NaiveObject? {
    switch id & 255 {
    case 1: return try seesUser(id) ? user(id) : nil
    case 2: return try seesPhoto(id) ? photo(id) : nil
    case 3: return try location(id)
    case 4: return try product(id)
    case 5: return try seesCircle(id) ? circle(id) : nil
    case 16...24: return try seesPost(id) ? post(id) : nil
    case 32: return try seesComment(id) ? comment(id) : nil
    case 33: return try seesInvitation(id) ? invitation(id) : nil
    case 34: return try seesInfoRequest(id) ? infoRequest(id) : nil
    case 35: return try seesFollowUp(id) ? followUp(id) : nil
    case 40: return try program(id)
    case 41: return try session(id)
    case 42: return try seesBooking(id) ? booking(id) : nil
    case 43:
      return try database.row("activity_track", id)?.id("user_id") == viewer ? track(id) : nil
    case 44:
      return try database.row("test_result", id)?.id("user_id") == viewer ? testResult(id) : nil
    case 48: return try takesPart(in: id) ? conversation(id) : nil
    case 49:
      guard let row = try database.row("message", id) else { return nil }
      return try takesPart(in: row.id("conversation_id")) && showsMessage(row) ? message(id) : nil
    case 50: return try seesNotification(id) ? notification(id) : nil
    case 51:
      return try database.row("external_contact", id)?.id("owner_id") == viewer
        ? contact(id) : nil
    case 52:
      let row = try database.row("device", id)
      return row?.id("user_id") == viewer ? row.map(device) : nil
    case 60: return try session(ofViewer: id)
    default: return nil
    }
  }

  // MARK: - Words

  /// A text without case and accents.
  static func folded(_ text: String) -> String {
    let plain = text.decomposedStringWithCompatibilityMapping.unicodeScalars
      .filter { !(0x300...0x36F).contains($0.value) }
    var folded = ""
    for scalar in String(String.UnicodeScalarView(plain)).lowercased().unicodeScalars {
      switch scalar {
      case "ı": folded += "i"
      case "ø": folded += "o"
      case "ł": folded += "l"
      case "đ", "ð": folded += "d"
      case "ß": folded += "ss"
      case "æ": folded += "ae"
      default: folded.unicodeScalars.append(scalar)
      }
    }
    return folded
  }

  /// Whether a word of a name starts with a text, which may be several words.
  static func hasWord(_ name: String, startingWith text: String) -> Bool {
    func spaced(_ text: String) -> String {
      String(text.map { "-.,'’_/()".contains($0) ? " " : $0 })
    }
    let wanted = spaced(folded(text)).trimmingCharacters(in: .whitespaces)
    return (" " + spaced(name)).contains(" " + wanted)
  }

  static func words(_ text: String) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// The words of a text of the database, found once.
  private func knownWords(_ text: String) -> Set<String> {
    if let known = database.words[text] { return known }
    let words = Set(Self.words(text))
    database.words[text] = words
    return words
  }

  /// Whether each word of a search occurs in a text, and the last one at least begins a word of it. Nothing fits a
  /// search without words.
  func matches(_ text: String, _ search: String) -> Bool {
    let wanted = Self.words(search)
    let found = knownWords(text)
    guard let last = wanted.last else { return false }
    return wanted.dropLast().allSatisfy(found.contains)
      && found.contains { $0.utf8.starts(with: last.utf8) }
  }

  /// Whether each word of a search begins a word of a text.
  func matchesBeginnings(_ text: String, _ search: String) -> Bool {
    let wanted = Self.words(Self.folded(search))
    let found = knownWords(text)
    return !wanted.isEmpty
      && wanted.allSatisfy { word in found.contains { $0.utf8.starts(with: word.utf8) } }
  }

  // MARK: - Pages

  /// One row of a connection: its node, where it stands, and further fields of its edge.
  struct Edge {
    let node: () throws -> NaiveObject?
    let keys: [SortKey]
    var fields: [String: NaiveValue] = [:]
  }

  /// A connection over rows in any order.
  ///
  /// - Parameters:
  ///   - order: which order the keys are of; cursors of different orders are different.
  ///   - total: where it is not the number of rows.
  func connection(
    _ type: String, _ edges: [Edge], _ arguments: NaiveArguments, order: String = "",
    size defaultSize: Int = 20, total: Int? = nil, extra: [String: NaiveValue] = [:]
  ) throws -> NaiveValue {
    let name = arguments.field + " " + order
    let all = edges.sorted { SortKey.compare($0.keys, $1.keys) < 0 }
    func place(_ argument: String) throws -> [SortKey]? {
      guard let cursor = arguments.string(argument) else { return nil }
      guard let place = book.places[cursor] else {
        throw GraphTestFailure("a cursor that was never seen: \(cursor)")
      }
      return place.keys
    }
    var rows = all
    let after = try place("after")
    let before = try place("before")
    if let after { rows = rows.filter { SortKey.compare($0.keys, after) > 0 } }
    if let before { rows = rows.filter { SortKey.compare($0.keys, before) < 0 } }
    let page: [Edge]
    let hasNext: Bool
    let hasPrevious: Bool
    if let last = arguments.int("last") {
      page = Array(rows.suffix(last))
      hasPrevious = rows.count > last
      hasNext = before != nil
    } else {
      let first = arguments.int("first") ?? defaultSize
      page = Array(rows.prefix(first))
      hasNext = rows.count > first
      hasPrevious = after != nil
    }
    func cursor(_ edge: Edge?) -> NaiveValue {
      guard let edge else { return .null }
      return .leaf(.cursor(CursorPlace(connection: name, keys: edge.keys)))
    }
    func node(_ edge: Edge) throws -> NaiveValue {
      guard let object = try edge.node() else {
        throw GraphTestFailure("\(name) has a row without a node")
      }
      return .object(object)
    }
    let edgeType = type.replacing("Connection", with: "Edge")
    let count = total ?? all.count
    let limit = 10_000  // as of PlannerLimits.maximumCount
    return .object(
      NaiveObject(type: type) { field, _ in
        switch field {
        case "totalCount":
          count > limit
            ? .leaf(.either(.number(String(count)), .number(String(limit)))) : .int(count)
        case "isTotalCountExact":
          count > limit ? .leaf(.either(.boolean(true), .boolean(false))) : .bool(true)
        case "nodes": .list(try page.map(node))
        case "edges":
          .list(
            page.map { edge in
              .object(
                NaiveObject(type: edgeType) { field, _ in
                  switch field {
                  case "cursor": cursor(edge)
                  case "node": try node(edge)
                  default: edge.fields[field]
                  }
                })
            })
        case "pageInfo":
          .object(
            NaiveObject(type: "PageInfo") { field, _ in
              switch field {
              case "hasNextPage": .bool(hasNext)
              case "hasPreviousPage": .bool(hasPrevious)
              case "startCursor": cursor(page.first)
              case "endCursor": cursor(page.last)
              default: nil
              }
            })
        default: extra[field]
        }
      })
  }

  /// Posts the viewer may see, of these.
  func posts(
    _ ids: [Int64], _ arguments: NaiveArguments, order: String? = nil
  ) throws -> NaiveValue {
    var edges: [Edge] = []
    let kinds = arguments.strings("kinds").map(Self.tags)
    let order = order ?? arguments.string("orderBy") ?? "NEWEST"
    for id in ids where try seesPost(id) {
      if let kinds, !kinds.contains(Int(id & 255)) { continue }
      guard let row = try database.row("post", id) else { continue }
      let keys: [SortKey] =
        switch order {
        case "TOP": [.down(try score(id)), .down(id)]
        case "ID": [.down(id)]
        default: [.textDown(row.text("created_at")), .down(id)]
        }
      edges.append(Edge(node: { [unowned self] in try post(id) }, keys: keys))
    }
    return try connection("PostConnection", edges, arguments, order: order)
  }

  static func tags(_ kinds: [String]) -> Set<Int> {
    let all = [
      "OUTFIT", "PRODUCT", "PHOTO", "CARD_OFFER", "CARD_REQUEST", "THANK_YOU", "ANNOUNCEMENT",
      "EVENT", "TEXT",
    ]
    return Set(kinds.compactMap { all.firstIndex(of: $0).map { $0 + 16 } })
  }

  /// People, each once, alphabetically.
  func people(_ ids: some Sequence<Int64>, _ arguments: NaiveArguments) throws -> NaiveValue {
    var edges: [Edge] = []
    for id in Set(ids) where try seesUser(id) {
      edges.append(Edge(node: { [unowned self] in try user(id) }, keys: try nameKeys(id)))
    }
    return try connection("UserConnection", edges, arguments)
  }

  func nameKeys(_ user: Int64) throws -> [SortKey] {
    [.textUp(try database.row("app_user", user)?.text("name_key") ?? ""), .up(user)]
  }

  /// Those of a list of people whom the viewer may see, by name.
  func peopleByName(_ ids: [Int64]) throws -> NaiveValue {
    .objects(try named(ids.filter(seesUser)).map { try user($0) }.compactMap { $0 })
  }

  func named(_ ids: [Int64]) throws -> [Int64] {
    let keyed = try ids.map { ($0, try nameKeys($0)) }
    return keyed.sorted { SortKey.compare($0.1, $1.1) < 0 }.map(\.0)
  }

  func locationsByName(_ ids: [Int64]) throws -> NaiveValue {
    let keyed = try ids.map {
      ($0, [SortKey.textUp(try database.row("location", $0)?.text("name_key") ?? ""), .up($0)])
    }
    return .objects(
      try keyed.sorted { SortKey.compare($0.1, $1.1) < 0 }.compactMap { try location($0.0) })
  }
}
