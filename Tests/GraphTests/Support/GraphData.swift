import Foundation
import GraphQLPlanning
import JSON
import Postgres
import TestSupport

/// The id of a node: a number in the database, a text on the wire.
struct NodeKey: Hashable, Sendable, CustomStringConvertible {
  let number: Int64
  init(_ number: Int64) { self.number = number }

  /// From the wire.
  init(wire: String) throws {
    guard let number = NodeID.decode(wire) else { throw GraphTestFailure("no id: \(wire)") }
    self.number = number
  }

  var wire: String { NodeID.encode(number) }
  var json: JSONValue { .string(wire) }
  var description: String { String(number) }
}

/// An account with a session that is signed in.
struct Person: Sendable, CustomStringConvertible {
  let key: NodeKey
  let username: String
  let token: String

  var wire: String { key.wire }
  var json: JSONValue { key.json }
  /// Its number, as statements name it.
  var description: String { key.description }
}

/// The kinds of post, by their tags.
enum PostTag: Int, CaseIterable, Sendable {
  case outfit = 16
  case product, photo, cardOffer, cardRequest, thankYou, announcement, event, text
}

/// Puts rows into a test's database in plain SQL. Each test makes its own; it belongs to one thread.
///
/// Names are made unique, so tests that run at the same time do not find each other's people.
final class GraphData {
  let session: PostgresSession

  init(_ database: String) throws { session = try TestCluster.session(database) }

  @discardableResult
  func run(_ text: String, _ values: [(any SQLText)?] = []) throws -> [[String?]] {
    values.isEmpty
      ? try session.execute(text) : try session.execute(text, values.map { $0?.sqlText })
  }

  /// Inserts a row and gives the column `id` of it, where the table has one.
  @discardableResult
  func insert(
    _ table: String, _ columns: KeyValuePairs<String, (any SQLText)?>, returning: String = "id"
  ) throws -> NodeKey {
    let names = columns.map { $0.key }.joined(separator: ", ")
    let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let rows = try run(
      "INSERT INTO \(table) (\(names)) VALUES (\(places)) RETURNING \(returning)",
      columns.map { $0.value })
    return NodeKey(Int64(rows.first?.first.flatMap { $0 } ?? "") ?? 0)
  }

  /// Inserts a row of a table that has no id.
  func add(_ table: String, _ columns: KeyValuePairs<String, (any SQLText)?>) throws {
    try insert(table, columns, returning: "NULL")
  }

  func newNode(_ tag: Int) throws -> NodeKey {
    NodeKey(Int64(try run("SELECT new_node(\(tag))")[0][0] ?? "") ?? 0)
  }

  /// Returns a unique name.
  static func unique(_ stem: String) -> String {
    stem + String(UInt64.random(in: 0 ... .max), radix: 36)
  }

  // MARK: People

  /// An account that is signed in. `columns` are further columns of `app_user`.
  func person(
    _ stem: String = "p", name: String? = nil, roles: [String] = ["MEMBER"],
    _ columns: KeyValuePairs<String, (any SQLText)?> = [:]
  ) throws -> Person {
    let username = Self.unique(stem)
    let shown = name ?? username
    let key = try insert(
      "app_user",
      ["username": username, "display_name": shown, "name_key": shown.lowercased(), "roles": roles])
    for (column, value) in columns {
      try run("UPDATE app_user SET \(column) = $1 WHERE id = \(key)", [value])
    }
    let token = "token-\(username)"
    try run(
      """
      INSERT INTO session (token_hash, user_id, expires_at)
      VALUES (sha256(convert_to($1, 'UTF8')), \(key), now() + interval '1 day')
      """, [token])
    return Person(key: key, username: username, token: token)
  }

  func follow(_ follower: Person, _ followee: Person, at time: String? = nil) throws {
    try add(
      "follow",
      ["follower_id": follower.key, "followee_id": followee.key, "followed_at": time ?? "now"])
  }

  /// Inserts a viewer who follows people of these names.
  func viewer(
    name: String? = nil, following names: [String]
  ) throws -> (Person, [Person]) {
    let (viewer, people) = (try person(name: name), try names.map { try person(name: $0) })
    for person in people { try follow(viewer, person) }
    return (viewer, people)
  }

  func block(_ blocker: Person, _ blocked: Person) throws {
    try add("block", ["blocker_id": blocker.key, "blocked_id": blocked.key])
  }

  func photo(of owner: Person, moderation: String = "APPROVED", url: String? = nil) throws
    -> NodeKey
  {
    try insert(
      "photo",
      [
        "owner_id": owner.key, "url": url ?? "https://photos.example/\(Self.unique("f")).jpg",
        "moderation": moderation,
      ])
  }

  // MARK: Places, products, circles

  func location(
    _ name: String, level: String = "PLACE", parent: NodeKey? = nil, latitude: Double? = nil,
    longitude: Double? = nil, _ type: String? = nil
  ) throws -> NodeKey {
    try insert(
      "location",
      [
        "name": name, "name_key": name.lowercased(), "level": level, "parent_id": parent,
        "latitude": latitude, "longitude": longitude, "place_type": type,
      ])
  }

  func product(
    _ name: String, brand: String = "Brand", retailer: String = "retailer", price: String? = nil,
    description: String = ""
  ) throws -> NodeKey {
    try insert(
      "product",
      [
        "name": name, "brand": brand, "retailer": retailer, "external_id": Self.unique("x"),
        "description": description, "price": price, "currency": price == nil ? nil : "EUR",
        "buy_url": "https://shop.example/\(Self.unique("b"))",
      ])
  }

  /// A circle with its owner as the first member.
  func circle(
    _ name: String, kind: String = "GROUP", owner: Person, members: [Person] = [],
    isDefault: Bool = false, description: String = ""
  ) throws -> NodeKey {
    let key = try insert(
      "circle",
      [
        "name": name, "kind": kind, "owner_id": owner.key, "is_default": isDefault,
        "description": description,
      ])
    try add("circle_member", ["circle_id": key, "user_id": owner.key, "role": "OWNER"])
    for member in members { try join(key, member) }
    return key
  }

  func join(_ circle: NodeKey, _ person: Person, at time: String? = nil) throws {
    try add(
      "circle_member", ["circle_id": circle, "user_id": person.key, "joined_at": time ?? "now"])
  }

  // MARK: Posts and what is said about them

  /// A post with the row its kind needs besides: an event starts in a day unless told, a product
  /// post needs a product.
  func post(
    _ tag: PostTag, by author: Person, _ body: String = "", location: NodeKey? = nil,
    circle: NodeKey? = nil, visibility: String = "PUBLIC", at time: String? = nil,
    product: NodeKey? = nil, voting: Bool = true, title: String = "An event",
    startsAt: String? = nil, endsAt: String? = nil
  ) throws -> NodeKey {
    let key = try newNode(tag.rawValue)
    try add(
      "post",
      [
        "id": key, "author_id": author.key, "body": body, "location_id": location,
        "circle_id": circle, "visibility": visibility, "created_at": time ?? "now",
        "updated_at": time ?? "now",
      ])
    switch tag {
    case .outfit, .product:
      try add(
        "votable_post", ["post_id": key, "product_id": product, "voting_enabled": voting])
    case .cardOffer, .cardRequest: try add("card_post", ["post_id": key])
    case .event:
      try add(
        "event",
        [
          "post_id": key, "title": title, "circle_id": circle,
          "starts_at": startsAt ?? "tomorrow", "ends_at": endsAt,
        ])
    case .photo, .thankYou, .announcement, .text: break
    }
    return key
  }

  func comment(_ subject: NodeKey, by author: Person, _ body: String, at time: String? = nil)
    throws -> NodeKey
  {
    let key = try insert(
      "comment",
      ["subject_id": subject, "author_id": author.key, "body": body, "created_at": time ?? "now"])
    if subject.number & 255 == 3 { try rank() }
    return key
  }

  func react(_ person: Person, _ kind: String, to subject: NodeKey, at time: String? = nil) throws {
    try add(
      "reaction",
      ["subject_id": subject, "user_id": person.key, "kind": kind, "created_at": time ?? "now"])
    try rank()
  }

  /// Brings the orders by counts up to date, as servers do now and then. A pass that is under way may
  /// have begun too early and is waited for.
  func rank() throws {
    try run("SELECT pg_advisory_lock(hashtext('fold_counts'))")
    try run("SELECT fold_counts(1000000)")
    try run("SELECT pg_advisory_unlock(hashtext('fold_counts'))")
  }

  func invite(_ inviter: Person, _ invitee: Person, to event: NodeKey) throws -> NodeKey {
    try insert(
      "invitation", ["inviter_id": inviter.key, "invitee_id": invitee.key, "event_id": event])
  }
}

/// A value that can be sent as a parameter in PostgreSQL's text format.
protocol SQLText { var sqlText: String? { get } }
extension String: SQLText { var sqlText: String? { self } }
extension Int: SQLText { var sqlText: String? { String(self) } }
extension Int64: SQLText { var sqlText: String? { String(self) } }
extension Double: SQLText { var sqlText: String? { String(self) } }
extension Bool: SQLText { var sqlText: String? { self ? "true" : "false" } }
extension NodeKey: SQLText { var sqlText: String? { String(number) } }
extension Person: SQLText { var sqlText: String? { key.sqlText } }
extension Array: SQLText where Element: SQLText {
  var sqlText: String? {
    "{"
      + map { element in
        guard let text = element.sqlText else { return "NULL" }
        return "\""
          + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
      }.joined(separator: ",") + "}"
  }
}
