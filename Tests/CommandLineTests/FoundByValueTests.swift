import Foundation
import JSON
import TestSupport
import Testing

/// A row is found by each value that its fields show, whatever the type: values of a comparison have
/// the type of the column.
@Suite(.usesCluster) struct FoundByValueTests {
  private static let columns: [(type: String, value: String)] = [
    ("bool", "true"), ("int2", "-32768"), ("int4", "2147483647"), ("int8", "9223372036854775807"),
    ("float4", "0.1"), ("float4", "16777217"), ("float4", "3.4028235e38"),
    ("float4", "-1.1754944e-38"),
    ("float8", "0.1"), ("float8", "0.30000000000000004"), ("float8", "5e-324"),
    ("numeric", "0.10000000000000000555"), ("numeric(6,2)", "1234.5"), ("money", "$1,234.50"),
    ("text", "a\\b%_'"), ("varchar(5)", "ab   "), ("char(5)", "ab"), ("bpchar", "ab "),
    ("\"char\"", "x"),
    ("name", "ab"), ("date", "2026-05-01"), ("date", "infinity"),
    ("timestamp(0)", "2026-05-01 10:00:00.6"),
    ("timestamp", "2026-05-01 10:00:00.123456"), ("timestamptz(0)", "2026-05-01 10:00:00.6Z"),
    ("timestamptz(3)", "2026-05-01 10:00:00.1234Z"), ("timestamptz", "2026-05-01 10:00:00.123456Z"),
    ("time(0)", "10:00:00.6"), ("time", "10:00:00.123456"), ("timetz(2)", "10:00:00.126+02"),
    ("interval(0)", "1 mon 2 days 03:04:05.6"), ("interval", "-1 days +02:03:04.567"),
    ("bytea", "\\x00ff"),
    ("uuid", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ("inet", "10.0.0.1/8"),
    ("cidr", "10.0.0.0/8"),
    ("macaddr", "08-00-2b-01-02-03"), ("macaddr8", "08:00:2b:01:02:03:04:05"), ("bit(3)", "101"),
    ("bit(9)", "101010101"),
    ("varbit", "10"), ("int4range", "(1,5]"), ("numrange", "[1.5,2.50)"),
    ("tstzrange", "[2026-05-01 10:00:00Z,)"),
    ("daterange", "[2026-05-01,infinity)"), ("int4multirange", "{[1,3),[5,7)}"),
    ("oid", "4294967295"),
    ("pg_lsn", "16/B374D848"), ("mood", "GOOD"), ("small_real", "0.1"), ("short", "ab"),
    ("cents", "1.5"),
    ("float4[]", "{0.1,NULL}"), ("char(3)[]", "{a,bcd}"),
    ("timestamp(0)[]", "{2026-05-01 10:00:00.6}"),
    ("numeric(4,1)[]", "{0.15}"), ("int2[]", "{1,2}"), ("int8[]", "{1}"), ("mood[]", "{GOOD}"),
    ("bool[]", "{t,f}"),
    // The search path finds none of these.
    ("extensions.citext", "A@b.example"), ("extensions.cube", "(1,2)"),
    ("extensions.hstore", #""a"=>"1""#), ("extensions.ltree", "a.b"),
    ("extensions.citext[]", "{A,b}"), ("kinds.mood", "GOOD"),
    ("kinds.short", "ab"), ("kinds.span", "[1.5,2.5)"),
    // These have no binary form.
    ("isbn", "0-393-04002-X"), ("isbn13", "978-0-393-04002-9"), ("seg", "1.5 .. 2"),
  ]

  @Test func `each value that a field shows finds its row`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    let names = Self.columns.indices.map { "c\($0)" }
    let keys = Self.columns.indices.filter {
      !Self.columns[$0].type.hasSuffix("[]")
        && !["bool", "extensions.hstore"].contains(Self.columns[$0].type)
    }
    try session.execute(
      """
      CREATE SCHEMA extensions; CREATE EXTENSION citext SCHEMA extensions;
      CREATE EXTENSION cube SCHEMA extensions; CREATE EXTENSION ltree SCHEMA extensions;
      CREATE EXTENSION hstore SCHEMA extensions; CREATE EXTENSION isn; CREATE EXTENSION seg;
      CREATE SCHEMA kinds; CREATE TYPE kinds.mood AS ENUM ('GOOD', 'BAD');
      CREATE DOMAIN kinds.short AS text CHECK (length(VALUE) < 9);
      CREATE TYPE kinds.span AS RANGE (SUBTYPE = float8);
      CREATE TYPE mood AS ENUM ('GOOD', 'BAD');
      CREATE DOMAIN small_real AS float4; CREATE DOMAIN short AS char(5); CREATE DOMAIN cents AS numeric(8,2);
      CREATE TABLE v (id int PRIMARY KEY, \(zip(names, Self.columns).map { "\($0) \($1.type)" }.joined(separator: ", ")),
        \(keys.map { "UNIQUE (c\($0))" }.joined(separator: ", ")));
      INSERT INTO v VALUES (1, \(Self.columns.map { "'\($0.value.replacing("'", with: "''"))'" }.joined(separator: ", ")));
      """)
    let server = try DraftedServer(
      database, serving: ["--rate-limit", "off", "--rate-limit-address", "off"])
    func ask(_ document: String) throws -> JSONValue {
      let answer = try post("{\"query\": \(JSONValue.string(document))}", port: server.port)
      return try JSONParser.parse(Array(answer.body.utf8), maximumNesting: 200)
    }
    let shape = try ask(
      "{ order: __type(name: \"VOrder\") { inputFields { name } } "
        + "__type(name: \"VFilter\") { inputFields { name type { inputFields { name } } } } "
        + "query: __schema { queryType { fields { name } } } }")
    var operators: [String: Set<String>] = [:]
    for member in shape["data"]?["__type"]?["inputFields"]?.items ?? [] {
      operators[member["name"]?.text ?? ""] = Set(
        (member["type"]?["inputFields"]?.items ?? []).compactMap { $0["name"]?.text })
    }
    let lookups = Set(
      (shape["data"]?["query"]?["queryType"]?["fields"]?.items ?? []).compactMap {
        $0["name"]?.text
      })
    let row = try ask("{ v(id: 1) { \(names.joined(separator: " ")) } }")
    var missing: [String] = []
    for (index, column) in Self.columns.enumerated() {
      let name = "c\(index)"
      let shown = try #require(row["data"]?["v"]?[name], "\(row)")
      #expect(shown != .null)
      let literal =
        column.type.contains("mood") ? "\(shown)".replacing("\"", with: "") : "\(shown)"
      let known = operators[name] ?? []
      var filters: [String] = []
      if known.contains("eq") { filters.append("\(name): {eq: \(literal)}") }
      if known.contains("in") { filters.append("\(name): {in: [\(literal)]}") }
      if known.contains("lte") { filters.append("\(name): {lte: \(literal), gte: \(literal)}") }
      if known.contains("overlaps") {
        filters += ["contains", "overlaps"].map {
          "\(name): {\($0): \(literal.replacing(",null", with: ""))}"
        }
      }
      if filters.isEmpty { missing.append("\(column.type) has no operator") }
      for filter in filters {
        let found = try ask("{ vs(filter: {\(filter)}) { nodes { id } } }")
        if found["data"]?["vs"]?["nodes"]?.items?.count != 1 {
          missing.append("\(column.type) \(filter): \(found)")
        }
      }
      if known.contains("ne"), column.type != "bool" {
        let found = try ask("{ vs(filter: {\(name): {ne: \(literal)}}) { nodes { id } } }")
        if found["data"]?["vs"]?["nodes"]?.items?.count != 0 {
          missing.append("\(column.type) ne \(literal): \(found)")
        }
      }
      guard lookups.contains("vByC\(index)") else {
        if keys.contains(index) { missing.append("\(column.type) has no lookup") }
        continue
      }
      let found = try ask("{ vByC\(index)(\(name): \(literal)) { id } }")
      if found["data"]?["vByC\(index)"]?["id"] == nil {
        missing.append("\(column.type) by its key \(literal): \(found)")
      }
    }
    let sorted = (shape["data"]?["order"]?["inputFields"]?.items ?? []).compactMap {
      $0["name"]?.text
    }
    #expect(Set(sorted).isSuperset(of: keys.map { "c\($0)" }))
    for name in sorted {
      let order = "orderBy: [{\(name): ASC}]"
      let page = try ask("{ vs(\(order), first: 1) { pageInfo { endCursor } } }")
      let cursor = page["data"]?["vs"]?["pageInfo"]?["endCursor"]?.text ?? "\(page)"
      let beyond = try ask(
        """
        { after: vs(\(order), first: 1, after: "\(cursor)") { nodes { id } }
          before: vs(\(order), last: 1, before: "\(cursor)") { nodes { id } } }
        """)
      if beyond["data"]
        != (try JSONParser.parse(Array(#"{"after":{"nodes":[]},"before":{"nodes":[]}}"#.utf8)))
      {
        missing.append("a page behind \(name): \(page) \(beyond)")
      }
    }
    #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
  }
}

extension FoundByValueTests {
  @Test func `each operator that a filter offers is one that PostgreSQL has`() throws {
    let database = try TestCluster.newDatabase()
    let operators = [("<", "lt"), ("<=", "le"), ("=", "eq"), (">=", "ge"), (">", "gt")].map {
      name, word in
      """
      CREATE FUNCTION shape_\(word)(shape, shape) RETURNS bool AS 'bytea\(word)' LANGUAGE internal IMMUTABLE STRICT;
      CREATE OPERATOR \(name) (LEFTARG = shape, RIGHTARG = shape, FUNCTION = shape_\(word));
      """
    }
    // Like that of PostGIS, the type has an order and no "<>".
    try TestCluster.session(database).execute(
      """
      CREATE TYPE shape;
      CREATE FUNCTION shape_in(cstring) RETURNS shape AS 'byteain' LANGUAGE internal IMMUTABLE STRICT;
      CREATE FUNCTION shape_out(shape) RETURNS cstring AS 'byteaout' LANGUAGE internal IMMUTABLE STRICT;
      CREATE TYPE shape (INPUT = shape_in, OUTPUT = shape_out, LIKE = bytea);
      \(operators.joined(separator: "\n"))
      CREATE FUNCTION shape_cmp(shape, shape) RETURNS int AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT;
      CREATE OPERATOR CLASS shape_ops DEFAULT FOR TYPE shape USING btree AS OPERATOR 1 <, OPERATOR 2 <=,
        OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 shape_cmp(shape, shape);
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE place (id int PRIMARY KEY, outline shape, name text COLLATE loose, code varchar(9) COLLATE loose);
      INSERT INTO place VALUES (1, 'a', 'Anna', 'Anna'), (2, 'b', 'ben', 'ben');
      """)
    let server = try DraftedServer(
      database, ["--aggregates"], serving: ["--rate-limit", "off", "--rate-limit-address", "off"])
    func found(_ filter: String) throws -> String {
      try post(
        "{\"query\": \(JSONValue.string("{ places(filter: {\(filter)}) { nodes { id } } }"))}",
        port: server.port
      ).body.replacing(#"{"data":{"places":{"nodes":["#, with: "").replacing("]}}}", with: "")
    }
    let (anna, ben) = (#"{"id":1}"#, #"{"id":2}"#)
    let shape = #""\\x61""#
    for (filter, ids) in [
      ("outline: {eq: \(shape)}", anna), ("outline: {ne: \(shape)}", ben),
      ("outline: {notIn: [\(shape)]}", ben), ("outline: {in: [\(shape)]}", anna),
      ("outline: {gt: \(shape)}", ben), ("outline: {lte: \(shape)}", anna),
    ]
      + ["name", "code"].flatMap({ column in
        [
          ("\(column): {eq: \"ANNA\"}", anna), ("\(column): {ne: \"ANNA\"}", ben),
          ("\(column): {in: [\"BEN\"]}", ben), ("\(column): {notIn: [\"BEN\"]}", anna),
          ("\(column): {like: \"A%\"}", anna), ("\(column): {like: \"a%\"}", ""),
          ("\(column): {ilike: \"BE_\"}", ben), ("\(column): {startsWith: \"An\"}", anna),
          ("\(column): {contains: \"en\"}", ben),
        ]
      })
    {
      #expect(try found(filter) == ids, "\(filter)")
    }
    let groups = try post(
      #"{"query": "{ places { groups(by: {id: true}, having: {name: {min: {startsWith: \"b\"}}}) { key { id } } } }"}"#,
      port: server.port
    ).body
    #expect(groups == #"{"data":{"places":{"groups":[{"key":{"id":2}}]}}}"#)
  }
}

extension JSONValue {
  fileprivate var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
