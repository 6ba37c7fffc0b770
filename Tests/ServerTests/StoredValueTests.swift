import JSON
import Testing

/// Values that PostgreSQL has and clients are sent, or told that they cannot be.
@Suite struct StoredValueTests {
  private static let scalars = """
    scalar DateTime @scalar(type: "timestamptz")
    scalar Date @scalar(type: "date")
    scalar Decimal @scalar(type: "numeric")

    """

  /// One row of one table.
  private static func graph(
    _ fields: String, _ columns: String, values: String, more: String = "", domains: String = ""
  ) throws -> OwnGraph {
    try OwnGraph(
      scalars + """
        type Query { thing: Thing @reference(where: "this.id = 1") }
        type Thing @table(name: "thing") { \(fields) same: Int @sql(expression: "7") }

        """ + more,
      domains
        + "CREATE TABLE thing (id bigint PRIMARY KEY, \(columns)); INSERT INTO thing VALUES (1, \(values))"
    )
  }

  @Test(arguments: [
    ("Float", "float8", "'NaN'", "Float cannot represent non numeric value: NaN"),
    ("Float", "float4", "'-Infinity'", "Float cannot represent non numeric value: -Infinity"),
    ("Decimal", "numeric", "'NaN'", "A decimal cannot represent NaN or infinity."),
    ("Decimal", "numeric", "'-Infinity'", "A decimal cannot represent NaN or infinity."),
    (
      "DateTime", "timestamptz", "'infinity'",
      "A date and time cannot represent infinity, nor what is outside the years 0 to 9999."
    ),
    (
      "Int", "bigint", "3000000000",
      "Int cannot represent non 32-bit signed integer value: 3000000000"
    ),
    (
      "[Int]", "int[]", "'{{1,2},{3,4}}'", "A list cannot represent an array of several dimensions."
    ),
    ("[Float!]", "float8[]", "'{1,NaN}'", "Float cannot represent non numeric value: NaN"),
  ])
  func `what no value of its type is, is an error of the field alone`(
    type: String, column: String, value: String, message: String
  ) throws {
    let graph = try Self.graph("bad: \(type)", "bad \(column)", values: value)
    #expect(graph.findings == [])
    let body = try graph.body("{ thing { same bad } }")
    let answer = try JSONParser.parse(Array(body.utf8))
    #expect("\(answer["data"] ?? .null)" == #"{"thing":{"same":7,"bad":null}}"#, "\(body)")
    guard case .array(let errors)? = answer["errors"], let error = errors.first else {
      Issue.record("no error in \(body)")
      return
    }
    #expect(errors.count == 1)
    #expect(error["message"] == .string(message))
    #expect(error["extensions"]?["code"] == .string("VALUE_NOT_REPRESENTABLE"))
    let path = type == "[Float!]" ? #"["thing","bad",1]"# : #"["thing","bad"]"#
    #expect("\(error["path"] ?? .null)" == path)
  }

  @Test func `a null for such a value moves up from where none may be`() throws {
    let graph = try Self.graph("bad: Float!", "bad float8 NOT NULL", values: "'NaN'")
    let body = try graph.body("{ thing { same bad } }")
    #expect(
      body.hasPrefix(#"{"data":{"thing":null},"errors":[{"message":"Float cannot represent"#),
      "\(body)")
  }

  @Test func `what domains are over is read as such`() throws {
    let graph = try Self.graph(
      """
      year: Int big: Int small: Int count: Float at: DateTime day: Date flag: Boolean name: String
      price: Decimal years: [Int!] days: [Date!] key: ID cardinal: Int
      """,
      """
      year year, big big, small small, count ratio, at instant, day day, flag flag, name label,
        price price, years year[], days day[], key big, cardinal information_schema.cardinal_number
      """,
      values: """
        2006, 12, 3, 1.5, '2026-05-01T18:30:00Z', '2026-05-02', true, 'a', 1.50, '{1,2}', '{2026-01-01}', 257, 9
        """,
      domains: """
        CREATE DOMAIN year AS integer CHECK (VALUE > 1900 OR VALUE < 10);
        CREATE DOMAIN big AS bigint; CREATE DOMAIN small AS smallint; CREATE DOMAIN ratio AS float8;
        CREATE DOMAIN instant AS timestamptz; CREATE DOMAIN day AS date; CREATE DOMAIN flag AS boolean;
        CREATE DOMAIN word AS text; CREATE DOMAIN label AS word; CREATE DOMAIN price AS numeric(8, 2);
        """)
    #expect(graph.findings == [])
    #expect(
      try graph.body(
        "{ thing { year big small count at day flag name price years days key cardinal } }")
        == #"{"data":{"thing":{"year":2006,"big":12,"small":3,"count":1.5,"at":"2026-05-01T18:30:00.000Z","#
        + #""day":"2026-05-02","flag":true,"name":"a","price":"1.50","years":[1,2],"days":["2026-01-01"],"#
        + #""key":"AQE","cardinal":9}}}"#)
  }

  @Test func `an enum's values go out as they come in`() throws {
    let graph = try OwnGraph(
      """
      type Query {
        films(rating: Rating @where(condition: "this.rating = :value"),
          ratings: [Rating!] @where(condition: "this.rating IN (:value...)"),
          size: Size @where(condition: "this.size = :value")): [Film!]! @list(orderBy: "this.id")
      }
      type Film @table(name: "film") {
        rating: Rating ratings: [Rating] size: Size! sizes: [Size!] other: Rating @sql(expression: "'R'")
      }
      enum Rating { G PG_13 @value(sql: "'PG-13'") NC_17 @value(sql: "'NC-17'") R }
      enum Size { SMALL @value(sql: "1") LARGE @value(sql: "2") }
      """,
      """
      CREATE TYPE rating AS ENUM ('G', 'PG-13', 'R', 'NC-17');
      CREATE TABLE film (id bigint PRIMARY KEY, rating rating, ratings rating[], size int NOT NULL, sizes smallint[]);
      INSERT INTO film VALUES (1, 'PG-13', '{NC-17,G,NULL}', 2, '{1,2}'), (2, 'G', '{}', 1, NULL), (3, NULL, NULL, 1, '{}');
      """)
    #expect(graph.findings == [])
    #expect(
      try graph.body("{ films { rating size sizes other } }")
        == #"{"data":{"films":[{"rating":"PG_13","size":"LARGE","sizes":["SMALL","LARGE"],"other":"R"},"#
        + #"{"rating":"G","size":"SMALL","sizes":null,"other":"R"},"#
        + #"{"rating":null,"size":"SMALL","sizes":[],"other":"R"}]}}"#)
    #expect(
      try graph.body("{ films { ratings } }")
        == #"{"data":{"films":[{"ratings":["NC_17","G",null]},{"ratings":[]},{"ratings":null}]}}"#)
    #expect(
      try graph.body("{ films(rating: PG_13, ratings: [PG_13, NC_17], size: LARGE) { rating } }")
        == #"{"data":{"films":[{"rating":"PG_13"}]}}"#)
  }

  @Test func `an enum that lacks a label of PostgreSQL's is still an error`() throws {
    let graph = try Self.graph(
      "mood: Mood", "mood mood", values: "'so-so'",
      more: #"enum Mood { GOOD VERY_BAD @value(sql: "'very bad'") }"#,
      domains: "CREATE TYPE mood AS ENUM ('GOOD', 'so-so', 'very bad');")
    #expect(
      graph.findings == [
        #"error: Thing.mood: PostgreSQL's enum mood has "so-so", and Mood has not; add to Mood what is "#
          + "missing, or map it with @sql(expression:)."
      ])
  }

  @Test func `keys and columns may have names in quotes`() throws {
    let graph = try OwnGraph(
      #"""
      type Query {
        accessory(id: Int!): Accessory @reference(where: "this.\"Id\" = :id")
        all(first: Int = 20, after: String): AccessoryConnection! @connection(orderBy: "this.\"Id\"")
        page(order: ByName! = NAME): [Accessory!]! @list
      }
      enum ByName { NAME @orderBy(by: "this.\"Name\", this.\"Id\"") }
      type Accessory @table(name: "\"Accessory\"", key: "Id") {
        id: Int! @column(name: "Id")
        name: String! @column(name: "\"Name\"")
        mood: Mood @column(name: "Mood")
        other: Accessory @reference(column: "Other")
        parts: [Accessory!]! @list(where: "this.\"Other\" = parent.\"Id\"", orderBy: "this.\"Id\"")
      }
      enum Mood { GOOD BAD }
      type AccessoryConnection { nodes: [Accessory!]! edges: [AccessoryEdge!]! pageInfo: PageInfo! }
      type AccessoryEdge { node: Accessory! cursor: String! }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
      """#,
      """
      CREATE TABLE "Accessory" ("Id" bigint PRIMARY KEY, "Name" text NOT NULL, "Mood" text, "Other" bigint);
      INSERT INTO "Accessory" VALUES (1, 'Hat', 'GOOD', 2), (2, 'Bag', NULL, NULL);
      """)
    #expect(graph.findings == [])
    #expect(
      try graph.body("{ accessory(id: 1) { id name mood other { name parts { id } } } }")
        == #"{"data":{"accessory":{"id":1,"name":"Hat","mood":"GOOD","other":{"name":"Bag","parts":[{"id":1}]}}}}"#
    )
    let first = try graph.body("{ all(first: 1) { nodes { name } pageInfo { endCursor } } }")
    let cursor = try #require(first.firstMatch(of: /"endCursor":"([^"]+)"/)?.1)
    #expect(
      try graph.body("{ all(first: 1, after: \"\(cursor)\") { nodes { name } } page { name } }")
        == #"{"data":{"all":{"nodes":[{"name":"Bag"}]},"page":[{"name":"Bag"},{"name":"Hat"}]}}"#)
  }

  @Test func `what is wrong with a column in quotes is said as it can be written`() throws {
    let graph = try OwnGraph(
      #"""
      type Query { things: [Thing!]! @list(orderBy: "this.\"Name\"") }
      type Thing @table(name: "thing") { name: Int @column(name: "Name") }
      """#, #"CREATE TABLE thing ("Id" bigint PRIMARY KEY, "Name" text)"#)
    #expect(
      graph.findings == [
        #"error: Thing.name: the column Name is of PostgreSQL's type text, from which Int cannot be read; "#
          + #"write @sql(expression: "this.\"Name\"::int")."#,
        #"warning: Query.things: the order "this."Name"" is not total: no unique key of thing is in it; end "#
          + #"it with this."Id"."#,
      ])
  }
}
