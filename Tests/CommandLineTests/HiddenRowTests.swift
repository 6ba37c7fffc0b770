import Foundation
import JSON
import TestSupport
import Testing

/// Rows that a rule hides tell nothing: whatever is asked, the answer is that of a database without
/// them, and so is every error.
@Suite(.usesCluster) struct HiddenRowTests {
  private struct Column {
    let type: String
    /// The values of the row that is visible and of the one that is hidden, as PostgreSQL's text.
    let shown: String
    let hidden: String
    var name: String {
      "c_"
        + type.replacing("[]", with: "_list").replacing(/[^a-z0-9]+/, with: "_")
        .trimmingCharacters(in: ["_"])
    }
  }

  private static let columns = [
    Column(type: "text", shown: "anna", hidden: "hidden%_"),
    Column(type: "varchar(20)", shown: "anna", hidden: "hidden"),
    Column(type: "char(12)", shown: "anna", hidden: "hidden"),
    Column(type: "name", shown: "anna", hidden: "hidden"),
    Column(type: "bool", shown: "true", hidden: "false"),
    Column(type: "int2", shown: "1", hidden: "0"), Column(type: "int4", shown: "1", hidden: "0"),
    Column(type: "int8", shown: "1", hidden: "0"),
    Column(type: "float4", shown: "0.1", hidden: "0"),
    Column(type: "float8", shown: "1.5", hidden: "0"),
    Column(type: "numeric", shown: "1.50", hidden: "0"),
    Column(type: "money", shown: "$1.50", hidden: "$0.00"),
    Column(type: "date", shown: "2026-05-01", hidden: "2026-05-02"),
    Column(type: "timestamp", shown: "2026-05-01 10:00:00", hidden: "2026-05-02 10:00:00"),
    Column(
      type: "timestamptz", shown: "2026-05-01T10:00:00.000Z", hidden: "2026-05-02T10:00:00.000Z"),
    Column(type: "time", shown: "10:00:00", hidden: "11:00:00"),
    Column(type: "timetz", shown: "10:00:00+00", hidden: "11:00:00+00"),
    Column(type: "interval", shown: "1 day", hidden: "2 days"),
    Column(
      type: "uuid", shown: "00000000-0000-0000-0000-000000000001",
      hidden: "00000000-0000-0000-0000-000000000002"),
    Column(type: "bytea", shown: #"\x01"#, hidden: #"\x02"#),
    Column(type: "jsonb", shown: #"{"a": 1}"#, hidden: #"{"hidden": 2}"#),
    Column(type: "json", shown: #"{"a": 1}"#, hidden: #"{"hidden": 2}"#),
    Column(type: "tsvector", shown: "'anna'", hidden: "'hidden'"),
    Column(type: "inet", shown: "10.0.0.1", hidden: "10.0.0.2"),
    Column(type: "cidr", shown: "10.0.0.0/24", hidden: "10.0.1.0/24"),
    Column(type: "macaddr", shown: "08:00:2b:01:02:03", hidden: "08:00:2b:01:02:04"),
    Column(type: "varbit", shown: "101", hidden: "110"),
    Column(type: "int4range", shown: "[1,2)", hidden: "[5,9)"),
    Column(type: "tstzrange", shown: "empty", hidden: "(,)"),
    Column(type: "oid", shown: "1", hidden: "0"),
    Column(type: "pg_lsn", shown: "0/1", hidden: "0/2"),
    Column(type: "mood", shown: "GOOD", hidden: "BAD"),
    Column(type: "text[]", shown: "{anna}", hidden: "{hidden}"),
    Column(type: "int4[]", shown: "{1}", hidden: "{0}"),
    Column(type: "mood[]", shown: "{GOOD}", hidden: "{BAD}"),
  ]

  private static func sql(hasHidden: Bool) -> String {
    func row(_ id: Int, _ owner: String, _ value: (Column) -> String) -> String {
      let values = columns.map { "'\(value($0).replacing("'", with: "''"))'" }
      return "(\(id), 1, '\(owner)', '\(id == 1 ? "shown" : "secret")', \(id == 1 ? 1 : 0), "
        + values.joined(separator: ", ") + ")"
    }
    let rows = [row(1, "ann", \.shown)] + (hasHidden ? [row(2, "ben", \.hidden)] : [])
    return """
      CREATE TYPE mood AS ENUM ('GOOD', 'BAD');
      CREATE TABLE box (id int PRIMARY KEY, label text);
      CREATE TABLE thing (id int PRIMARY KEY, box_id int REFERENCES box, owner text, mark text, divisor int,
        \(columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")));
      CREATE TABLE part (id int PRIMARY KEY, thing_id int REFERENCES thing, label text);
      INSERT INTO box VALUES (1, 'box');
      INSERT INTO thing VALUES \(rows.joined(separator: ", "));
      INSERT INTO part VALUES (1, 1, 'one'), (2, \(hasHidden ? "2" : "NULL"), 'two');
      -- A rule that costs more than any other condition, so that PostgreSQL evaluates it last.
      CREATE FUNCTION may_see(owner text, who text) RETURNS bool LANGUAGE plpgsql STABLE COST 10000
        AS 'BEGIN RETURN owner = who; END';
      """
  }

  private static func server(hasHidden: Bool) throws -> (DraftedServer, String) {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(sql(hasHidden: hasHidden))
    let server = try DraftedServer(
      database, ["--mutations", "--aggregates"],
      serving: ["--rate-limit", "off", "--rate-limit-address", "off"]
    ) { folder in
      func edit(_ file: String, _ pairs: [(String, String)]) throws {
        let path = "\(folder)/\(file)"
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (old, new) in pairs {
          try #require(text.contains(old), "\(old) in \(text)")
          text = text.replacing(old, with: new, maxReplacements: 1)
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
      }
      try edit(
        "thing.graphql",
        [
          (
            #"@table(name: "thing""#,
            #"@table(name: "thing", where: "may_see(this.owner, coalesce(:claim.sub, 'ann'))""#
          ),
          (
            "  divisor: Int\n",
            "  divisor: Int\n  ratio: Int @sql(expression: \"100 / this.divisor\")\n"
          ),
          (
            #"input ThingFilter @filter(of: "Thing")"#,
            #"""
            input ThingFilter @filter(of: "Thing") {
              ratio: IntFilter
              above: Int @where(condition: "100 / this.divisor > :value")
            }
            """#
          ),
          (
            #"input ThingOrder @order(of: "Thing")"#,
            #"input ThingOrder @order(of: "Thing") { ratio: SortDirection }"#
          ),
        ])
    }
    return (server, database)
  }

  @Test func `no operator of a filter tells of a row that the rule hides`() throws {
    let (with, _) = try Self.server(hasHidden: true)
    let (without, _) = try Self.server(hasHidden: false)
    let conditions = try Self.conditions(port: with.port)
    #expect(conditions.count > 700)
    var errors = 0
    var asked = 0
    for (index, condition) in conditions.enumerated() {
      let secret = #"mark: {eq: "secret"}"#
      // Each condition in one of the eight places, the next one in another.
      for (place, query) in [
        "things(filter: {\(secret), \(condition)}) { nodes { id } totalCount }",
        "things(filter: {or: [{\(condition)}, {\(secret)}]}) { nodes { id } }",
        "things(filter: {not: {\(condition)}, \(secret)}) { aggregates { count } }",
        "parts(filter: {label: {eq: \"two\"}, thing: {\(condition)}}) { nodes { id } }",
        "boxes(filter: {things: {some: {\(secret), \(condition)}}}) { nodes { id } }",
        "boxes(filter: {things: {none: {\(condition)}}}) { nodes { id } }",
        "boxes(filter: {things: {every: {\(condition)}}}) { nodes { id } }",
        "boxes { nodes { things(filter: {\(secret), \(condition)}) { nodes { id } } } }",
      ].enumerated() where (place + index) % 8 == 0 {
        asked += 1
        let document = "{\"query\": \(JSONValue.string("{ \(query) }"))}"
        let one = try post(document, port: with.port)
        let other = try post(document, port: without.port)
        let (left, right) = (Self.comparable(one.body), Self.comparable(other.body))
        if left.contains("errors") { errors += 1 }
        if left != right || one.status != other.status {
          Issue.record("\(query)\nwith hidden rows: \(one.body)\nwithout: \(other.body)")
          return
        }
        if one.body.contains("INTERNAL_SERVER_ERROR") {
          Issue.record("\(query)\n\(one.body)")
          return
        }
      }
    }
    #expect(errors > 50 && errors < asked / 2, "\(errors) of \(asked)")
  }

  @Test func `pages in an order and writes evaluate nothing for a row that the rule hides`() throws
  {
    let (with, database) = try Self.server(hasHidden: true)
    func ask(_ document: String) throws -> String {
      try post("{\"query\": \(JSONValue.string(document))}", port: with.port).body
    }
    let first = try ask(
      "{ things(orderBy: [{ratio: ASC}], first: 1) { nodes { id ratio } pageInfo { endCursor } } }")
    let cursor = try #require(first.firstMatch(of: /"endCursor":"([^"]+)"/)?.1, "\(first)")
    let next = try ask(
      "{ things(orderBy: [{ratio: ASC}], first: 1, after: \"\(cursor)\") { nodes { id } } }")
    #expect(next == #"{"data":{"things":{"nodes":[]}}}"#)
    #expect(
      try ask(
        #"mutation { updateThings(filter: {mark: {eq: "secret"}, ratio: {gt: 1}}, set: {mark: "x"}) { count } }"#
      )
        == #"{"data":{"updateThings":{"count":0}}}"#)
    #expect(
      try ask(
        #"mutation { deleteThings(filter: {mark: {eq: "secret"}, above: 1}, atMost: 9) { count } }"#
      )
        == #"{"data":{"deleteThings":{"count":0}}}"#)
    let session = try TestCluster.session(database)
    #expect(try session.execute("SELECT count(*) FROM thing WHERE mark = 'secret'")[0][0] == "1")
  }

  @Test func `a pattern that cannot be one is refused whatever the rows are`() throws {
    let (server, _) = try Self.server(hasHidden: false)
    for name in ["like", "ilike"] {
      for pattern in [#"none\"#, #"%\\\"#] {
        let answer = try post(
          "{\"query\": \"query($p: String) { things(filter: {cText: {\(name): $p}}) { nodes { id } } }\", "
            + "\"variables\": {\"p\": \(JSONValue.string(pattern))}}", port: server.port)
        #expect(answer.status == 200 || answer.status == 422)
        #expect(answer.body.contains("BAD_USER_INPUT"), "\(answer.body)")
        #expect(answer.body.contains("ends with a backslash"), "\(answer.body)")
      }
    }
    #expect(
      try post(
        #"{"query": "{ things(filter: {cText: {like: \"anna\\\\\\\\\"}}) { nodes { id } } }"}"#,
        port: server.port
      )
      .body == #"{"data":{"things":{"nodes":[]}}}"#)
  }

  // MARK: - Filters

  /// Returns each operator of each column, with values of the visible and the hidden row, and with
  /// some that are invalid.
  private static func conditions(port: UInt16) throws -> [String] {
    let answer = try post(
      """
      {"query": "{ __type(name: \\"ThingFilter\\") { inputFields { name type { kind name inputFields { name \
      type { kind name ofType { kind name ofType { kind name } } } } } } } }"}
      """, port: port)
    let json = try JSONParser.parse(Array(answer.body.utf8), maximumNesting: 100)
    var values: [String: Column] = [:]
    for column in columns {
      values[column.name.replacing(/_([a-z0-9])/) { $0.1.uppercased() }] = column
    }
    var conditions = [
      "ratio: {gt: 1}", "ratio: {lt: 1000000}", "ratio: {in: [100]}", "above: 1", "above: -1",
    ]
    for member in list(json["data"]?["__type"]?["inputFields"]) {
      let name = text(member["name"])
      guard let column = values[name] else { continue }
      values[name] = nil
      for operation in list(member["type"]?["inputFields"]) {
        let isList = text(operation["type"]?["kind"]) == "LIST"
        var type = operation["type"] ?? .null
        while let inner = type["ofType"], inner != .null { type = inner }
        for value in literals(column, text(type["name"])) {
          let given = isList ? "[\(value)]" : value
          conditions.append("\(name): {\(text(operation["name"])): \(given)}")
        }
      }
    }
    #expect(values.isEmpty, "no filter: \(values.keys)")
    return conditions
  }

  private static func literals(_ column: Column, _ type: String) -> [String] {
    let texts = [column.hidden, column.shown].map {
      $0.hasPrefix("{") && column.type.hasSuffix("[]") ? String($0.dropFirst().dropLast()) : $0
    }
    switch type {
    case "Boolean": return ["true", "false"]
    case "Int", "Float": return texts + ["7", "2147483647"]
    case "Mood": return texts
    default:
      return (texts + ["garbage", #"hid\"#, "hid", "%", "", "0"]).map { "\(JSONValue.string($0))" }
    }
  }

  /// Returns an answer without what differs from request to request.
  private static func comparable(_ body: String) -> String {
    body.replacing(/"(requestId|traceId|id)":"[^"]*"/, with: "")
  }

  private static func list(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { items } else { [] }
  }

  private static func text(_ value: JSONValue?) -> String {
    if case .string(let text)? = value { text } else { "" }
  }
}
