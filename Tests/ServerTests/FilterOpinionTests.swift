import Foundation
import GraphQLPlanning
import JSON
import OracleSupport
import Testing

/// Random filters and orders, answered twice: by the server, and by looking at each row in turn.
///
/// `SOCIOGRAPH_FILTERS=10000` asks more, `SOCIOGRAPH_SEED=7` others.
@Suite struct FilterOpinionTests {
  @Test func `random filters and orders find what a look at each row finds`() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["SOCIOGRAPH_FILTERS"].flatMap { Int($0) } ?? 300
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    let graph = try OwnGraph(MusicGraph.sdl, MusicGraph.sql) {
      $0.execution.plannerLimits = .unlimited
      $0.execution.plannerLimits.maximumFilterConditions = .max
    }
    var opinion = try FilterOpinion(graph, seed: seed)
    var failures = 0
    var some = 0
    for number in 0..<count {
      let (query, expected) = opinion.next()
      let body = try graph.body(query)
      if !expected.contains("[]") { some += 1 }
      guard body != expected else { continue }
      Issue.record("operation \(number) of seed \(seed):\n\(query)\n\(expected)\n\(body)")
      failures += 1
      if failures > 2 { break }
    }
    // Most find something.
    #expect(some > count / 3)
  }
}

/// The rows of the music graph, and what a filter and an order make of them.
private struct FilterOpinion {
  typealias Row = [String: JSONValue]
  /// True, false, or null as SQL has it.
  typealias Test = (Row) -> Bool?

  private let tables: [String: [Row]]
  private var random: SeededGenerator

  /// The roots, with their tables and keys.
  private static let roots = [
    ("artists", "artist", "artistId", "artist_id"), ("albums", "album", "albumId", "album_id"),
    ("tracks", "track", "trackId", "track_id"),
    ("playlists", "playlist", "playlistId", "playlist_id"),
  ]

  init(_ graph: OwnGraph, seed: UInt64) throws {
    var tables: [String: [Row]] = [:]
    for name in ["artist", "album", "track", "playlist", "playlist_track"] {
      tables[name] = try graph.rows("SELECT to_jsonb(t) FROM \(name) t").map { row in
        guard case .object(let members) = try JSONParser.parse(Array((row[0] ?? "").utf8)) else {
          return [:]
        }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
      }
    }
    self.tables = tables
    random = SeededGenerator(seed: seed)
  }

  mutating func next() -> (query: String, answer: String) {
    let root = Self.roots.randomElement(using: &random) ?? Self.roots[0]
    let (filter, test) = filter(of: root.1, depth: 0)
    let (orders, isBefore) = order(of: root.1, key: root.3)
    let found = (tables[root.1] ?? []).filter { test($0) == true }.sorted(by: isBefore)
    let first = [3, 7, 100].randomElement(using: &random) ?? 100
    let nodes = found.prefix(first).map { "{\"\(root.2)\":\(Self.text($0[root.3]))}" }
    let order = orders.isEmpty ? "" : ", orderBy: [\(orders.joined(separator: ", "))]"
    return (
      "{ \(root.0)(filter: \(filter)\(order), first: \(first)) { totalCount nodes { \(root.2) } } }",
      "{\"data\":{\"\(root.0)\":{\"totalCount\":\(found.count),\"nodes\":[\(nodes.joined(separator: ","))]}}}"
    )
  }

  private static func text(_ value: JSONValue?) -> String { value.map { "\($0)" } ?? "null" }

  // MARK: - Filters

  private mutating func filter(of table: String, depth: Int) -> (String, Test) {
    var parts: [(String, Test)] = []
    for _ in 0..<Int.random(in: depth == 0 ? 1...2 : 0...2, using: &random) {
      let part = condition(of: table, depth: depth)
      let name = part.0.prefix { $0 != ":" }
      if !parts.contains(where: { $0.0.prefix { $0 != ":" } == name }) { parts.append(part) }
    }
    let tests = parts.map(\.1)
    return (
      "{\(parts.map(\.0).joined(separator: ", "))}", { row in Self.all(tests.map { $0(row) }) }
    )
  }

  private static func all(_ values: [Bool?]) -> Bool? {
    values.contains(false) ? false : values.contains(nil) ? nil : true
  }

  private static func any(_ values: [Bool?]) -> Bool? {
    values.contains(true) ? true : values.contains(nil) ? nil : false
  }

  private mutating func condition(of table: String, depth: Int) -> (String, Test) {
    switch Int.random(in: 0..<(depth < 3 ? 10 : 5), using: &random) {
    case 5:
      let (text, test) = filter(of: table, depth: depth + 1)
      return ("not: \(text)", { row in test(row).map { !$0 } })
    case 6, 7:
      let isOr = Bool.random(using: &random)
      let items = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        filter(of: table, depth: depth + 1)
      }
      let tests = items.map(\.1)
      return (
        "\(isOr ? "or" : "and"): [\(items.map(\.0).joined(separator: ", "))]",
        { row in
          let values = tests.map { $0(row) }
          return isOr ? Self.any(values) : Self.all(values)
        }
      )
    case 8, 9: return relation(of: table, depth: depth)
    default: return column(of: table)
    }
  }

  private mutating func relation(of table: String, depth: Int) -> (String, Test) {
    let tables = tables
    func rows(_ name: String, _ column: String, _ value: JSONValue?) -> [Row] {
      guard let value, value != .null else { return [] }
      return (tables[name] ?? []).filter { $0[column] == value }
    }
    func through(_ own: String, _ other: String, _ table: String, _ row: Row) -> [Row] {
      rows("playlist_track", own, row[own]).flatMap { rows(table, other, $0[other]) }
    }
    let one: [(String, String, (Row) -> [Row])]
    let many: [(String, String, (Row) -> [Row])]
    switch table {
    case "artist":
      one = [("mentor", "artist", { rows("artist", "artist_id", $0["mentor_id"]) })]
      many = [
        ("albums", "album", { rows("album", "artist_id", $0["artist_id"]) }),
        ("students", "artist", { rows("artist", "mentor_id", $0["artist_id"]) }),
      ]
    case "album":
      one = [("artist", "artist", { rows("artist", "artist_id", $0["artist_id"]) })]
      many = [("tracks", "track", { rows("track", "album_id", $0["album_id"]) })]
    case "track":
      one = [("album", "album", { rows("album", "album_id", $0["album_id"]) })]
      many = [("playlists", "playlist", { through("track_id", "playlist_id", "playlist", $0) })]
    default:
      one = [("owner", "artist", { rows("artist", "artist_id", $0["owner_id"]) })]
      many = [("tracks", "track", { through("playlist_id", "track_id", "track", $0) })]
    }
    if Bool.random(using: &random), let (name, target, related) = one.randomElement(using: &random)
    {
      let (text, test) = filter(of: target, depth: depth + 1)
      return ("\(name): \(text)", { row in related(row).contains { test($0) == true } })
    }
    guard let (name, target, related) = many.randomElement(using: &random) else {
      return column(of: table)
    }
    let (text, test) = filter(of: target, depth: depth + 1)
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      return ("\(name): {some: \(text)}", { row in related(row).contains { test($0) == true } })
    case 1:
      return ("\(name): {none: \(text)}", { row in !related(row).contains { test($0) == true } })
    default:
      return ("\(name): {every: \(text)}", { row in related(row).allSatisfy { test($0) == true } })
    }
  }

  // MARK: - Columns

  private enum Kind {
    case text, int, decimal, boolean, genre
  }

  private static let columns: [String: [(field: String, column: String, kind: Kind)]] = [
    "artist": [
      ("artistId", "artist_id", .int), ("name", "name", .text), ("country", "country", .text),
    ],
    "album": [
      ("albumId", "album_id", .int), ("title", "title", .text), ("released", "released", .int),
      ("price", "price", .decimal), ("isLive", "is_live", .boolean), ("genre", "genre", .genre),
    ],
    "track": [
      ("trackId", "track_id", .int), ("title", "title", .text), ("seconds", "seconds", .int),
    ],
    "playlist": [("playlistId", "playlist_id", .int), ("name", "name", .text)],
  ]

  private mutating func column(of table: String) -> (String, Test) {
    guard let (field, column, kind) = Self.columns[table]?.randomElement(using: &random) else {
      return ("and: []", { _ in true })
    }
    if Int.random(in: 0..<6, using: &random) == 0 {
      let isNull = Bool.random(using: &random)
      return ("\(field): {isNull: \(isNull)}", { ($0[column] == .null) == isNull })
    }
    let values = (0..<3).map { _ in value(of: column, in: table) }
    func literal(_ value: JSONValue) -> String {
      guard kind == .genre, case .string(let label) = value else {
        return kind == .decimal ? "\"\(value)\"" : "\(value)"
      }
      return label == "hip-hop" ? "HIP_HOP" : label
    }
    func compared(_ test: @escaping (Int) -> Bool) -> Test {
      { row in
        guard let value = row[column], value != .null else { return nil }
        return test(Self.compare(value, values[0]))
      }
    }
    let list = "[\(values.map(literal).joined(separator: ", "))]"
    let tests: [(String, Test)] = [
      ("eq: \(literal(values[0]))", compared { $0 == 0 }),
      ("ne: \(literal(values[0]))", compared { $0 != 0 }),
      (
        "in: \(list)",
        { row in
          row[column].flatMap { value in
            value == .null ? nil : values.contains { Self.compare(value, $0) == 0 }
          }
        }
      ),
      (
        "notIn: \(list)",
        { row in
          row[column].flatMap { value in
            value == .null ? nil : !values.contains { Self.compare(value, $0) == 0 }
          }
        }
      ),
      ("lt: \(literal(values[0]))", compared { $0 < 0 }),
      ("lte: \(literal(values[0]))", compared { $0 <= 0 }),
      ("gt: \(literal(values[0]))", compared { $0 > 0 }),
      ("gte: \(literal(values[0]))", compared { $0 >= 0 }),
    ]
    var most = 8
    if kind == .boolean { most = 2 }
    if kind == .genre { most = 4 }
    if kind == .text, Int.random(in: 0..<3, using: &random) == 0, case .string(let text) = values[0]
    {
      let part = String(
        text.dropFirst(Int.random(in: 0..<max(text.count, 1), using: &random)).prefix(2))
      let isStart = Bool.random(using: &random)
      let wanted = isStart ? String(text.prefix(2)) : part
      return (
        "\(field): {\(isStart ? "startsWith" : "contains"): \(JSONValue.string(wanted))}",
        { row in
          guard case .string(let value)? = row[column] else { return nil }
          return isStart ? value.hasPrefix(wanted) : wanted.isEmpty || value.contains(wanted)
        }
      )
    }
    let (text, test) = tests[Int.random(in: 0..<most, using: &random)]
    return ("\(field): {\(text)}", test)
  }

  /// A value that the column has somewhere.
  private mutating func value(of column: String, in table: String) -> JSONValue {
    let values = (tables[table] ?? []).compactMap { $0[column] }.filter { $0 != .null }
    return values.randomElement(using: &random) ?? .null
  }

  private static func compare(_ left: JSONValue, _ right: JSONValue) -> Int {
    switch (left, right) {
    case (.string(let left), .string(let right)):
      if left == right { return 0 }
      return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    case (.number(let left), .number(let right)):
      let (left, right) = (Double(left) ?? 0, Double(right) ?? 0)
      return left < right ? -1 : left > right ? 1 : 0
    case (.boolean(let left), .boolean(let right)): return left == right ? 0 : left ? 1 : -1
    default: return 0
    }
  }

  // MARK: - Orders

  private mutating func order(
    of table: String, key: String
  ) -> ([String], (Row, Row) -> Bool) {
    let tables = tables
    func related(_ name: String, _ column: String, _ value: JSONValue?) -> Row? {
      guard let value, value != .null else { return nil }
      return tables[name]?.first { $0[column] == value }
    }
    var keys: [(text: String, column: String, value: (Row) -> JSONValue)] = []
    for (field, column, kind) in Self.columns[table] ?? [] where kind != .genre {
      keys.append(("{\(field): *}", column, { $0[column] ?? .null }))
    }
    if table == "album" {
      keys.append(
        (
          "{artist: {name: *}}", "-",
          { related("artist", "artist_id", $0["artist_id"])?["name"] ?? .null }
        ))
      keys.append(
        (
          "{artist: {mentor: {country: *}}}", "--",
          { row in
            related(
              "artist", "artist_id", related("artist", "artist_id", row["artist_id"])?["mentor_id"])?[
                "country"] ?? .null
          }
        ))
    }
    if table == "track" {
      keys.append(
        (
          "{album: {released: *}}", "-",
          { related("album", "album_id", $0["album_id"])?["released"] ?? .null }
        ))
    }
    var chosen: [(isDescending: Bool, nullsFirst: Bool, value: (Row) -> JSONValue)] = []
    var texts: [String] = []
    var isDescending = false
    for found in keys.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
      let direction =
        ["ASC", "DESC", "ASC_NULLS_FIRST", "ASC_NULLS_LAST", "DESC_NULLS_FIRST", "DESC_NULLS_LAST"]
        .randomElement(using: &random) ?? "ASC"
      isDescending = direction.hasPrefix("DESC")
      texts.append(found.text.replacing("*", with: direction))
      let nullsFirst =
        direction.hasSuffix("FIRST") || isDescending && !direction.hasSuffix("LAST")
      chosen.append((isDescending, nullsFirst, found.value))
    }
    chosen.append((isDescending, false, { $0[key] ?? .null }))
    return (
      texts,
      { left, right in
        for (isDescending, nullsFirst, value) in chosen {
          let (left, right) = (value(left), value(right))
          if left == .null || right == .null {
            if left == right { continue }
            return (left == .null) == nullsFirst
          }
          let comparison = Self.compare(left, right)
          if comparison != 0 { return (comparison < 0) != isDescending }
        }
        return false
      }
    )
  }
}
