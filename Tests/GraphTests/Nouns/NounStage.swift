import JSON
import Postgres
import Testing

/// The people and things that a row of the table of nouns is about, and the steps taken with them.
final class NounStage {
  let server: GraphServer
  private let data: GraphData
  private let people: [Noun.Role: Person]
  /// The IDs of what the fields name, as they are on the wire.
  private var names: [String: String] = [:]
  private var token = JSONValue.null

  init(_ server: GraphServer) throws {
    self.server = server
    data = try server.data()
    let home = try data.location("Rosario", level: "CITY")
    let (me, other) = (
      try data.person("me", ["address": "Road 1", "home_id": home]),
      try data.person("other", ["address": "Road 2", "home_id": home])
    )
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF", "SERVICE"])
    people = [.me: me, .other: other, .staff: staff]
    let third = try data.person("third")
    let digits = (0..<64).map { _ in String(Int.random(in: 0...15), radix: 16) }
    let upload = "/photos/\(digits.joined()).png"
    try data.add(
      "upload",
      ["owner_id": me.key, "path": upload, "width": 9, "height": 9, "moderation": "APPROVED"])
    names = [
      "me": me.wire, "other": other.wire, "staff": staff.wire, "third": third.wire,
      "home": home.wire, "city": try data.location("Perth", level: "CITY").wire,
      "place": try data.location("Pier", latitude: 1, longitude: 1).wire,
      "photo": try data.photo(of: me).wire, "picture": try data.photo(of: me).wire,
      "product": try data.product("Coat").wire, "trainer": try data.trainer().wire,
      "upload": upload,
      "group": try data.circle("Group", owner: me, members: [other]).wire,
      "channel": try data.circle("Channel", kind: "CHANNEL", owner: staff, members: [me]).wire,
    ]
  }

  /// Puts IDs in the place of their names; the longest name first, as one may begin another.
  private func filled(_ text: String, quote: String = "\"") -> String {
    names.keys.sorted { $0.count > $1.count }.reduce(text) { text, name in
      text.replacing("$" + name, with: quote + (names[name] ?? "") + quote)
    }
  }

  private func filled(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(filled(text, quote: ""))
    case .array(let elements): .array(elements.map(filled))
    case .object(let members):
      .object(members.map { .init(name: $0.name, value: filled($0.value)) })
    default: value
    }
  }

  private func person(_ role: Noun.Role) throws -> Person { try #require(people[role]) }

  /// Does what must not be refused, and keeps the ID that its path leads to.
  func perform(_ act: Noun.Act) throws {
    let steps = (act.path ?? "__typename").split(separator: ".")
    let selection = steps.dropFirst().reversed().reduce("") { " { \($1)\($0) }" }
    let payload = try server.mutate(
      filled(act.field), "\(steps[0])\(selection)", [:], as: person(act.person))
    guard let path = act.path, let name = act.name else { return }
    names[name] = try #require(payload.at(path)?.string, "\(act.field)")
  }

  /// Returns the codes that an act is refused with.
  func refusals(_ act: Noun.Act) throws -> [String] {
    try server.refusals(filled(act.field), [:], as: person(act.person)).map(\.code)
  }

  /// Returns what is selected of the node; null if it is not there.
  func read(_ noun: Noun, _ selection: String) throws -> JSONValue? {
    try server.data(
      filled("{ node(id: $id) { ... on \(noun.type) { \(selection) } } }"), as: person(.me)
    ).at("node")
  }

  func expect(_ noun: Noun, _ selection: String, _ result: JSONValue, _ remark: String) throws {
    let found = try read(noun, selection)
    #expect(found == filled(result), "\(noun.name): \(remark)")
  }

  func isListed(_ noun: Noun) throws -> Bool? {
    guard let list = noun.list else { return nil }
    return try server.data(filled(list.query), as: person(.me)).strings(list.path, "id")
      .contains(names["id"] ?? "")
  }

  /// Looks at what the log of changes says of the node since the last time.
  func expectTold(_ noun: Noun, _ operation: JSONValue?, _ remark: String) throws {
    guard noun.isLogged else { return }
    try data.session.waitForChanges()
    let found = try server.data(
      "query($since: String) { changes(since: $since) { token changes { nodeId operation } } }",
      ["since": token], as: person(.me))
    token = found.at("changes.token") ?? .null
    let told = found.at("changes.changes")?.array?.first {
      $0["nodeId"] == .string(names["id"] ?? "")
    }
    #expect(told?["operation"] == operation, "\(noun.name): \(remark)")
  }

  /// Begins to look at the log of changes.
  func listen(_ noun: Noun) throws { try expectTold(noun, nil, "before") }
}
