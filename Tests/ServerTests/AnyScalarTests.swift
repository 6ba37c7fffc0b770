import JSON
import Postgres
import TestSupport
import Testing

/// Columns of every type that PostgreSQL has, read and given by `@scalar(type:)`.
@Suite struct AnyScalarTests {
  /// A type that a scalar names, its name in GraphQL, and a value as SQL writes it.
  private struct Column {
    let scalar: String
    let type: String
    let value: String
    /// The type of the column, if it is not the scalar's.
    var column: String?

    var sql: String { column ?? type }
  }

  /// The types that no scalar of GraphQL is for.
  private static let columns: [Column] = [
    Column(scalar: "UUID", type: "uuid", value: "'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11'"),
    Column(scalar: "BigInt", type: "int8", value: "-9223372036854775808"),
    Column(scalar: "Bytes", type: "bytea", value: #"'\x00ff10'"#),
    Column(scalar: "Time", type: "time", value: "'23:59:59.5'"),
    Column(scalar: "TimeWithZone", type: "timetz", value: "'10:00:00+02'"),
    Column(scalar: "LocalTime", type: "timestamp", value: "'infinity'"),
    Column(scalar: "Moment", type: "timestamp(3)", value: "'2026-05-01 18:30:00.125'"),
    Column(scalar: "Interval", type: "interval", value: "'1 year 2 days 03:04:05'"),
    Column(scalar: "Inet", type: "inet", value: "'192.168.0.1/24'"),
    Column(scalar: "Cidr", type: "cidr", value: "'10.0.0.0/8'"),
    Column(scalar: "Mac", type: "macaddr", value: "'08:00:2b:01:02:03'"),
    Column(scalar: "Mac8", type: "macaddr8", value: "'08:00:2b:01:02:03:04:05'"),
    Column(scalar: "Bits", type: "bit(3)", value: "B'101'"),
    Column(scalar: "MoreBits", type: "varbit", value: "B'10101'"),
    Column(scalar: "Money", type: "money", value: "'12.34'"),
    Column(scalar: "Point", type: "point", value: "'(1,2.5)'"),
    Column(scalar: "Line", type: "line", value: "'{1,2,3}'"),
    Column(scalar: "Segment", type: "lseg", value: "'[(0,0),(1,1)]'"),
    Column(scalar: "Box", type: "box", value: "'(1,1),(0,0)'"),
    Column(scalar: "Path", type: "path", value: "'((0,0),(1,1))'"),
    Column(scalar: "Polygon", type: "polygon", value: "'((0,0),(1,1),(1,0))'"),
    Column(scalar: "Circle", type: "circle", value: "'<(0,0),2>'"),
    Column(scalar: "IntRange", type: "int4range", value: "'[1,5)'"),
    Column(scalar: "BigRange", type: "int8range", value: "'[1,5)'"),
    Column(scalar: "NumberRange", type: "numrange", value: "'(,1.5]'"),
    Column(scalar: "TimeRange", type: "tsrange", value: "'[2026-01-01,2026-02-01)'"),
    Column(scalar: "DayRange", type: "daterange", value: "'[2026-01-01,2026-02-01)'"),
    Column(scalar: "Ranges", type: "int4multirange", value: "'{[1,3),[5,7)}'"),
    Column(scalar: "Text", type: "tsvector", value: "'fat:2A cat:1'"),
    Column(scalar: "Search", type: "tsquery", value: "'fat & rat'"),
    Column(scalar: "Oid", type: "oid", value: "4294967295"),
    Column(scalar: "Class", type: "regclass", value: "'pg_class'"),
    Column(scalar: "Lsn", type: "pg_lsn", value: "'16/B374D848'"),
    Column(scalar: "Snapshot", type: "pg_snapshot", value: "'10:20:10,14,15'"),
    Column(scalar: "Xid", type: "xid8", value: "'18446744073709551615'"),
    Column(scalar: "Tid", type: "tid", value: "'(1,2)'"),
    Column(scalar: "JSONPath", type: "jsonpath", value: "'$.a[*]'"),
    Column(scalar: "Character", type: "\"char\"", value: "'x'"),
    Column(scalar: "Padded", type: "char(4)", value: "'ab'"),
    Column(scalar: "Double", type: "float8", value: "'NaN'"),
    Column(scalar: "Single", type: "float4", value: "'-Infinity'"),
    Column(scalar: "Matrix", type: "int4[]", value: "'{{1,2},{3,4}}'"),
    Column(scalar: "Markup", type: "xml", value: "'<a b=\"1\">&lt;</a>'"),
    Column(scalar: "Pair", type: "pair", value: "ROW(1, 'a\"b')"),
    Column(scalar: "Zip", type: "zip", value: "'1234'"),
    Column(scalar: "ByBase", type: "uuid", value: "gen_random_uuid()", column: "key"),
  ]

  private static let types = """
    CREATE TYPE pair AS (a int, b text); CREATE DOMAIN zip AS bytea; CREATE DOMAIN key AS uuid;
    """

  @Test func `a column of each type is read as its text, and found by it`() throws {
    let columns = Array(Self.columns.enumerated())
    let scalars = columns.map { _, column in
      let type = column.type.replacing("\"", with: "\\\"")
      return "scalar \(column.scalar) @scalar(type: \"\(type)\")"
    }
    let fields = columns.map { "c\($0): \($1.scalar)" }
    let noEquality: Set = ["point", "xml", "polygon", "jsonpath", "pg_snapshot"]
    let finds = columns.map { index, column in
      let condition =
        noEquality.contains(column.type)
        ? "this.c\(index)::text = :value::text" : "this.c\(index) = :value"
      return "v\(index): \(column.scalar) @where(condition: \"\(condition)\")"
    }
    let graph = try OwnGraph(
      scalars.joined(separator: "\n") + """

        type Query {
          thing: Thing @reference(where: "this.id = 1")
          things(\(finds.joined(separator: " "))): [Thing!]! @list(orderBy: "this.id")
        }
        type Thing @table(name: "thing") { \(fields.joined(separator: " ")) }
        """,
      """
      \(Self.types)
      CREATE TABLE thing (id bigint PRIMARY KEY, \(columns.map { "c\($0) \($1.sql)" }.joined(separator: ", ")));
      INSERT INTO thing VALUES (1, \(columns.map(\.element.value).joined(separator: ", ")));
      INSERT INTO thing VALUES (2);
      """)
    #expect(graph.findings == [])
    let names = columns.map { "c\($0.offset)" }.joined(separator: " ")
    let answer = try JSONParser.parse(Array(graph.body("{ thing { \(names) } }").utf8))
    #expect(answer["errors"] == nil)
    for (index, column) in columns {
      let text = try graph.value("SELECT c\(index)::text FROM thing WHERE id = 1")
      #expect(answer["data"]?["thing"]?["c\(index)"] == text.map { .string($0) }, "\(column)")
      guard let text, column.scalar != "Double" else { continue }
      let found = try graph.body(
        "query ($value: \(column.scalar)) { things(v\(index): $value) { c\(index) } }",
        .object([JSONValue.Member(name: "value", value: .string(text))]))
      let one = try JSONParser.parse(Array(found.utf8))["data"]?["things"]
      #expect(
        one == .array([.object([JSONValue.Member(name: "c\(index)", value: .string(text))])]),
        "\(found)")
    }
  }

  @Test func `json is written as it is, and given in any form`() throws {
    let graph = try OwnGraph(
      """
      scalar JSON @scalar(type: "jsonb")
      scalar PlainJSON @scalar(type: "json")
      type Query {
        things(has: JSON @where(condition: "this.b @> :value")): [Thing!]! @list(orderBy: "this.id")
      }
      type Thing @table(name: "thing") { a: PlainJSON b: JSON c: [JSON] d: JSON }
      """,
      """
      CREATE DOMAIN document AS jsonb;
      CREATE TABLE thing (id bigint PRIMARY KEY, a json, b jsonb, c jsonb[], d document);
      INSERT INTO thing VALUES
        (1, E'{"x" :\\n 1.10,\\t"x": [null]}', '{"k": {"n": 1, "ü": true}, "s": "a\\nb"}',
          ARRAY['1', NULL, '"x"', 'null']::jsonb[], '[1, 2]'),
        (2, NULL, '[]', NULL, NULL), (3, 'null', '"text"', '{}', '{}');
      """)
    #expect(graph.findings == [])
    #expect(
      try graph.body("{ things { a b c d } }")
        == #"{"data":{"things":[{"a":{"x" :  1.10, "x": [null]},"b":{"k": {"n": 1, "ü": true}, "s": "a\nb"},"#
        + #""c":[1,null,"x",null],"d":[1, 2]},{"a":null,"b":[],"c":null,"d":null},"#
        + #"{"a":null,"b":"text","c":[],"d":{}}]}}"#)
    #expect(
      try graph.body("{ things(has: {k: {n: 1}}) { d } }") == #"{"data":{"things":[{"d":[1, 2]}]}}"#
    )
    #expect(
      try graph.body(
        "query ($n: Int) { things(has: {k: {n: $n}}) { d } }",
        JSONParser.parse(Array(#"{"n": 1}"#.utf8))) == #"{"data":{"things":[{"d":[1, 2]}]}}"#)
    for (variables, found) in [
      (#"{"v": {"k": {"ü": true}}}"#, "[1, 2]"), (#"{"v": {"s": "a\nb"}}"#, "[1, 2]"),
      (#"{"v": []}"#, "null"), (#"{"v": "text"}"#, "{}"),
    ] {
      #expect(
        try graph.body(
          "query ($v: JSON) { things(has: $v) { d } }", JSONParser.parse(Array(variables.utf8)))
          == "{\"data\":{\"things\":[{\"d\":\(found)}]}}", "\(variables)")
    }
    let bad = try graph.body(
      "query ($v: JSON) { things(has: $v) { d } }",
      JSONParser.parse(Array(#"{"v": {"a": ["b", "c\u0000"]}}"#.utf8)))
    #expect(bad.contains(#"got an invalid value at \"v.a[1]\""#), "\(bad)")
  }

  @Test func `a value that is none of its type is an error of the input`() throws {
    let graph = try OwnGraph(
      """
      scalar UUID @scalar(type: "uuid")
      scalar BigInt @scalar(type: "int8")
      type Query {
        things(id: UUID @where(condition: "this.u = :value"),
          ids: [UUID!] @where(condition: "this.u = ANY (:value)"),
          big: BigInt @where(condition: "this.b = :value")): [Thing!]! @list(orderBy: "this.id")
      }
      type Thing @table(name: "thing") { u: UUID us: [UUID] b: BigInt }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY, u uuid, us uuid[], b bigint);
      INSERT INTO thing VALUES (1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,NULL}', 9007199254740993);
      """)
    #expect(graph.findings == [])
    let bad = try graph.server.execute(#"{ things(id: "x") { b } }"#)
    #expect(bad.body.contains(#""code":"BAD_USER_INPUT""#), "\(bad.body)")
    #expect(
      try graph.body(
        #"{ things(ids: ["A0EEBC999C0B4EF8BB6D6BB9BD380A11"], big: 9007199254740993) { u us b } }"#)
        == #"{"data":{"things":[{"u":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","#
        + #""us":["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",null],"b":"9007199254740993"}]}}"#)
  }

  @Test func `a type is only a type`() throws {
    for type in ["uuid; DROP TABLE x", "int4) OR (true", "", "'a'", ":viewer"] {
      #expect(throws: (any Error).self, "\(type)") {
        try OwnGraph.mapping(
          """
          scalar Bad @scalar(type: "\(type)")
          type Query { a: Bad @sql(expression: "1") }
          """)
      }
    }
  }
}
