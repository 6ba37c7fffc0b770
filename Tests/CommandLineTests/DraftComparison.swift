import Foundation
import GraphQLLanguage
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

/// A drafted folder that is served, and compared with its database: the fields of columns of every
/// type, row by row.
struct DraftComparison {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// A type that is a table.
  private struct Table {
    let type: String
    let table: String
    /// The columns of its key as an order; nil if it has none.
    let order: String?
    let fields: [Column]
    /// Whether its rows have IDs by their key.
    let hasID: Bool
  }

  private struct Column {
    let field: String
    /// The value in SQL.
    let source: String
    /// The value in SQL, as JSON.
    let expression: String
    /// The names of enum values by their labels; nil for a field of another type.
    let names: [String: String]?
  }

  /// A field of the query type.
  private struct Root {
    let field: String
    let isConnection: Bool
  }

  private var tables: [Table] = []
  private var roots: [String: Root] = [:]
  private var enums: [String: [String: String]] = [:]
  private var scalars: Set<String> = []

  /// Reads the files of a draft.
  init(folder: String) throws {
    var types: [TypeSystemTypeDefinition] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    where name.hasSuffix(".graphql") {
      let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      for case .type(let type) in try Parser.parse(Source(text), limits: .unlimited).definitions {
        types.append(type)
      }
    }
    for type in types {
      switch type.content {
      case .scalar: scalars.insert(type.name.text)
      case .enum(let values):
        let labels = values.map { value in
          let label = Self.argument("sql", of: "value", in: value.directives)?.dropFirst()
            .dropLast()
          return (
            label.map { String($0).replacing("''", with: "'") } ?? value.name.text,
            value.name.text
          )
        }
        enums[type.name.text] = Dictionary(labels) { first, _ in first }
      case .object, .interface, .union, .inputObject: break
      }
    }
    for type in types {
      guard case .object(_, let fields) = type.content else { continue }
      if type.name.text == "Query" {
        for field in fields { addRoot(field) }
      } else if let table = Self.argument("name", of: "table", in: type.directives) {
        tables.append(
          Table(
            type: type.name.text, table: table,
            order: Self.argument("key", of: "table", in: type.directives).map { key in
              key.split(separator: ", ").map { "this.\($0)" }.joined(separator: ", ")
            },
            fields: fields.compactMap { column($0) },
            hasID: fields.contains { $0.directives.contains { $0.name.text == "id" } }))
      }
    }
  }

  private static func argument(
    _ name: String, of directive: String, in directives: [Directive]
  ) -> String? {
    guard let directive = directives.first(where: { $0.name.text == directive }),
      let argument = directive.arguments.first(where: { $0.name.text == name }),
      case .string(let text) = argument.value.content
    else { return nil }
    return text.text
  }

  private static func name(of type: TypeSyntax) -> String {
    Printer.print(type).filter { !"[]!".contains($0) }
  }

  private mutating func addRoot(_ field: FieldDefinitionSyntax) {
    let names = field.directives.map(\.name.text)
    let type = Self.name(of: field.type)
    guard names.contains("connection") || names.contains("list") else { return }
    let isConnection = names.contains("connection")
    roots[isConnection ? String(type.dropLast("Connection".count)) : type] = Root(
      field: field.name.text, isConnection: isConnection)
  }

  /// Returns the value that a field has; nil for a field of other objects.
  private func column(_ field: FieldDefinitionSyntax) -> Column? {
    let names = field.directives.map(\.name.text)
    guard !names.contains(where: { ["reference", "connection", "list", "id"].contains($0) }) else {
      return nil
    }
    let type = Self.name(of: field.type)
    let isList = Printer.print(field.type).hasPrefix("[")
    let snake = field.name.text.reduce(into: "") { text, character in
      text += (character.isUppercase && !text.isEmpty ? "_" : "") + character.lowercased()
    }
    let source =
      Self.argument("expression", of: "sql", in: field.directives)
      ?? "this." + (Self.argument("name", of: "column", in: field.directives) ?? snake)
    let value: String
    switch type {
    case "DateTime":
      func text(_ instant: String) -> String {
        let text = #"to_char((\#(instant)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#
        return "regexp_replace(\(text), '000Z$', 'Z')"
      }
      value =
        isList
        ? "to_json(CASE WHEN \(source) IS NOT NULL THEN "
          + "ARRAY(SELECT \(text("instant")) FROM unnest(\(source)) AS instant) END)"
        : "to_json(\(text(source)))"
    case "JSON", "JSONText": value = "to_json(\(source))"
    case _ where scalars.contains(type) && type != "DateScalar" && type != "Date":
      value = "to_json((\(source))::text\(isList ? "[]" : ""))"
    default: value = "to_json(\(source))"
    }
    return Column(
      field: field.name.text, source: source, expression: value, names: enums[type])
  }

  // MARK: - Comparing

  /// Compares every table with the server on a port.
  ///
  /// - Parameter pages: the number of pages to read of each table.
  /// - Returns: the number of rows that were compared.
  func compare(port: UInt16, _ session: PostgresSession, pages: Int = 10) throws -> Int {
    var rows = 0
    for table in tables {
      guard let root = roots[table.type] else {
        Issue.record("no field has the rows of \(table.type)")
        continue
      }
      rows += try compare(table, root, port, session, pages)
    }
    return rows
  }

  private func compare(
    _ table: Table, _ root: Root, _ port: UInt16, _ session: PostgresSession, _ pages: Int
  ) throws -> Int {
    let selection = table.fields.map(\.field).joined(separator: " ")
    var served: [JSONValue] = []
    var cursor = "null"
    for _ in 0..<(root.isConnection ? pages : 1) {
      let document =
        root.isConnection
        ? "{ rows: \(root.field)(first: 100, after: \(cursor)) { nodes { \(selection) } "
          + "pageInfo { hasNextPage endCursor } } }"
        : "{ rows: \(root.field)(limit: 100) { \(selection) } }"
      let answer = try Self.send(document, port)
      guard answer["errors"] == nil, let data = answer["data"]?["rows"] else {
        throw Failure(description: "\(table.type): \(answer)")
      }
      guard case .array(let nodes)? = root.isConnection ? data["nodes"] : data else { break }
      served += nodes
      guard data["pageInfo"]?["hasNextPage"] == .boolean(true),
        case .string(let end)? = data["pageInfo"]?["endCursor"]
      else { break }
      cursor = "\"\(end)\""
    }
    let values = table.fields.map { "(\($0.expression))::text" }.joined(separator: ", ")
    let limit = root.isConnection ? pages * 100 : 100
    let query =
      "SELECT \(values) FROM \(table.table) AS this"
      + (table.order.map { " ORDER BY \($0)" } ?? "") + " LIMIT \(limit)"
    let stored = try session.execute(query)
    #expect(served.count == stored.count, "\(table.type)")
    var shown = served.map { node in
      table.fields.map { Self.text(node[$0.field] ?? .null, Self.nothing) }
    }
    var expected = try stored.map { row in
      try zip(table.fields, row).map { column, text in
        Self.text(try text.map { try JSONParser.parse(Array($0.utf8)) } ?? .null, column.names)
      }
    }
    if !root.isConnection {
      // A list is in no order.
      shown.sort { $0.lexicographicallyPrecedes($1) }
      expected.sort { $0.lexicographicallyPrecedes($1) }
    }
    for (row, other) in zip(shown, expected) where row != other {
      let place = zip(row, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
      Issue.record(
        "\(table.type).\(table.fields[place].field) is \(row[place]), and in SQL \(other[place])")
      break
    }
    return shown.count
  }

  // MARK: - Filters and orders

  /// Compares the number of rows that have a value of the first row, and the first rows in the order of each
  /// column, with SQL.
  ///
  /// - Returns: the number of comparisons.
  func compareFilters(port: UInt16, _ session: PostgresSession) throws -> Int {
    var count = 0
    for table in tables {
      guard let root = roots[table.type], root.isConnection, let key = table.order else { continue }
      let filters = try Self.members(of: table.type + "Filter", port)
      let orders = try Self.members(of: table.type + "Order", port)
      for column in table.fields {
        if let type = filters[column.field],
          // Text has fewer digits than such values.
          !["DateTimeFilter", "FloatFilter"].contains(type),
          try Self.members(of: type, port)["eq"] != nil
        {
          count += try compareCount(column, table, root, key, port, session) ? 1 : 0
        }
        if orders[column.field] != nil {
          try compareOrder(column, table, root, key, port, session)
          count += 1
        }
      }
    }
    return count
  }

  private func compareCount(
    _ column: Column, _ table: Table, _ root: Root, _ key: String, _ port: UInt16,
    _ session: PostgresSession
  ) throws -> Bool {
    let first = try Self.send(
      "{ rows: \(root.field)(first: 1) { nodes { \(column.field) } } }", port)
    guard case .array(let nodes)? = first["data"]?["rows"]?["nodes"],
      let value = nodes.first?[column.field], value != .null
    else { return false }
    var literal = "\(value)"
    if column.names != nil, case .string(let name) = value { literal = name }
    let answer = try Self.send(
      "{ rows: \(root.field)(filter: {\(column.field): {eq: \(literal)}}) { totalCount } }", port)
    let stored = try session.execute(
      """
      SELECT count(*) FROM \(table.table) AS this
      WHERE \(column.source) = (SELECT \(column.source) FROM \(table.table) AS this ORDER BY \(key) LIMIT 1)
      """)
    #expect(
      answer["data"]?["rows"]?["totalCount"] == .number(stored[0][0] ?? ""),
      "\(table.type).\(column.field) = \(literal): \(answer)")
    return true
  }

  private func compareOrder(
    _ column: Column, _ table: Table, _ root: Root, _ key: String, _ port: UInt16,
    _ session: PostgresSession
  ) throws {
    let answer = try Self.send(
      "{ rows: \(root.field)(first: 20, orderBy: [{\(column.field): DESC_NULLS_LAST}]) "
        + "{ nodes { \(column.field) } } }", port)
    guard case .array(let nodes)? = answer["data"]?["rows"]?["nodes"] else {
      throw Failure(description: "\(table.type) by \(column.field): \(answer)")
    }
    let stored = try session.execute(
      """
      SELECT (\(column.expression))::text FROM \(table.table) AS this
      ORDER BY \(column.source) DESC NULLS LAST, \(key) LIMIT 20
      """)
    let expected = try stored.map { row in
      Self.text(try row[0].map { try JSONParser.parse(Array($0.utf8)) } ?? .null, column.names)
    }
    #expect(
      nodes.map { Self.text($0[column.field] ?? .null, Self.nothing) } == expected,
      "\(table.type) by \(column.field)")
  }

  /// Returns the names of the types of an input's members; empty if there is no such input.
  private static func members(of input: String, _ port: UInt16) throws -> [String: String] {
    let answer = try send(
      "{ type: __type(name: \"\(input)\") { inputFields { name type { name } } } }", port)
    guard case .array(let fields)? = answer["data"]?["type"]?["inputFields"] else { return [:] }
    var members: [String: String] = [:]
    for field in fields {
      guard case .string(let name)? = field["name"] else { continue }
      guard case .string(let type)? = field["type"]?["name"] else {
        members[name] = ""
        continue
      }
      members[name] = type
    }
    return members
  }

  private static let nothing: [String: String]? = nil

  /// Returns a form in which equal values are equal texts.
  private static func text(_ value: JSONValue, _ names: [String: String]?) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .number(let digits): Double(digits).map { "\($0)" } ?? digits
    case .string(let text): "\"\(names?[text] ?? text)\""
    case .array(let items): "[" + items.map { self.text($0, names) }.joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.map { "\($0.name):\(self.text($0.value, names))" }.sorted()
        .joined(separator: ",") + "}"
    }
  }

  // MARK: - IDs

  /// Compares the first rows of each table with an ID with those that `node(id:)` finds.
  ///
  /// - Returns: the number of rows that were compared.
  func compareNodes(port: UInt16) throws -> Int {
    var count = 0
    for table in tables where table.hasID {
      guard let root = roots[table.type] else { continue }
      let selection = "id " + table.fields.map(\.field).joined(separator: " ")
      let answer = try Self.send(
        "{ rows: \(root.field)(first: 20) { nodes { \(selection) } } }", port)
      guard case .array(let rows)? = answer["data"]?["rows"]?["nodes"] else {
        throw Failure(description: "\(table.type): \(answer)")
      }
      for row in rows {
        let found = try Self.send(
          "{ node(id: \(row["id"] ?? .null)) { ... on \(table.type) { \(selection) } } }", port)
        #expect(
          found == .object([.init(name: "data", value: .object([.init(name: "node", value: row)]))])
        )
        count += 1
      }
    }
    return count
  }

  static func send(_ document: String, _ port: UInt16) throws -> JSONValue {
    let body = JSONValue.object([JSONValue.Member(name: "query", value: .string(document))])
    return try JSONParser.parse(Array(try post("\(body)", port: port).body.utf8))
  }
}
