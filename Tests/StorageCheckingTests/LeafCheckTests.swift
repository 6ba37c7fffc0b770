import TestSupport
import Testing

/// The types of leaves' columns, and those that a scalar or enum can be read from.
@Suite(.usesCluster) struct LeafCheckTests {
  @Test(arguments: [
    (
      "price integer NOT NULL", "price: String!",
      "the column price is of PostgreSQL's type integer, from which String cannot be read; "
        + #"write @sql(expression: "this.price::text")."#
    ),
    (
      "price text NOT NULL", "price: Int!",
      "the column price is of PostgreSQL's type text, from which Int cannot be read; "
        + #"write @sql(expression: "this.price::int")."#
    ),
    (
      "price numeric", "price: Float",
      "the column price is of PostgreSQL's type numeric, from which Float cannot be read; "
        + #"write @sql(expression: "this.price::float8")."#
    ),
    (
      "price positive", "price: Float",
      "the column price is of PostgreSQL's type positive, from which Float cannot be read; "
        + #"write @sql(expression: "this.price::float8")."#
    ),
    (
      "price bytea", "price: String",
      "the column price is of PostgreSQL's type bytea, from which String cannot be read; "
        + #"write @sql(expression: "this.price::text")."#
    ),
    (
      "price uuid", "price: String",
      "the column price is of PostgreSQL's type uuid, from which String cannot be read; "
        + #"write @sql(expression: "this.price::text")."#
    ),
    (
      "price jsonb", "price: String",
      "the column price is of PostgreSQL's type jsonb, from which String cannot be read; "
        + #"write @sql(expression: "this.price::text")."#
    ),
    (
      #"price "char""#, "price: Boolean",
      #"the column price is of PostgreSQL's type "char", from which Boolean cannot be read; "#
        + #"write @sql(expression: "this.price::boolean")."#
    ),
    (
      "price timestamp", "price: DateTime",
      "the column price is of PostgreSQL's type timestamp without time zone, from which DateTime "
        + #"cannot be read; write @sql(expression: "this.price AT TIME ZONE 'UTC'")."#
    ),
    (
      "price timestamptz", "price: Date",
      "the column price is of PostgreSQL's type timestamp with time zone, from which Date "
        + #"cannot be read; write @sql(expression: "this.price::date")."#
    ),
    (
      "price text[]", "price: [Int!]",
      "the column price is of PostgreSQL's type text[], from which Int cannot be read; "
        + #"write @sql(expression: "this.price::int[]")."#
    ),
    (
      "price text", "price: [String!]",
      "the column price is of PostgreSQL's type text, which is not an array, and the field is a list; "
        + #"write @sql(expression: "ARRAY[this.price]")."#
    ),
    (
      "price text[]", "price: String",
      "the column price is of PostgreSQL's type text[], an array, and the field is not a list; "
        + "write [String] for its type."
    ),
    (
      "cents int", #"price: String @sql(expression: "this.cents + 1")"#,
      "the expression is of PostgreSQL's type integer, from which String cannot be read; "
        + "write (...)::text around it."
    ),
    (
      "ref uuid", #"price: ID @column(name: "ref")"#,
      "the column ref is of PostgreSQL's type uuid, from which ID cannot be read; an ID is a bigint "
        + "with the type's tag in its low byte: give it such a column, write @id for an ID made of the key, "
        + #"or make the field a String with @sql(expression: "this.ref::text")."#
    ),
  ])
  func `a type that a scalar cannot be read from is named`(
    column: String, field: String, problem: String
  ) throws {
    let graph = try CheckedGraph(
      """
      scalar DateTime @scalar(type: "timestamptz")
      scalar Date @scalar(type: "date")
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { \(field) }
      """,
      """
      CREATE DOMAIN positive AS int CHECK (VALUE > 0);
      CREATE TABLE thing (id bigint PRIMARY KEY, \(column))
      """)
    #expect(try graph.findings() == ["error: Thing.price: " + problem])
  }

  @Test func `every type that can be read passes`() throws {
    let graph = try CheckedGraph(
      """
      scalar DateTime @scalar(type: "timestamptz")
      scalar Date @scalar(type: "date")
      scalar Decimal @scalar(type: "numeric")
      scalar Link
      enum Mood { SAD HAPPY }
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") {
        id: ID! a: Int b: Int c: Int d: Float e: Float f: Float g: Boolean h: String i: String
        j: String k: String l: String m: DateTime n: Date o: Decimal p: Link q: Mood r: [Mood!]
        s: [Int] t: [Decimal!] u: Boolean v: [String!]
        nothing: Int @sql(expression: "NULL")
        either: Int @sql(expression: "CASE WHEN this.g THEN this.a END")
      }
      """,
      """
      CREATE DOMAIN word AS varchar(10); CREATE DOMAIN flag AS boolean;
      CREATE DOMAIN words AS text[];
      CREATE TYPE mood AS ENUM ('SAD', 'HAPPY');
      CREATE TABLE thing (
        id bigint PRIMARY KEY, a int2, b int4, c int8, d float4, e float8, f int, g boolean, h text,
        i varchar(5), j char(3), k name, l word, m timestamptz, n date, o numeric, p json, q mood,
        r mood[], s int[], t numeric[], u flag, v words)
      """)
    #expect(try graph.findings() == [])
  }

  @Test func `the types of edges, counts and joined rows count, too`() throws {
    let graph = try CheckedGraph(
      """
      type Query { people: [Person!]! @list(orderBy: "this.id") }
      type Person @tag(id: 1) @table(name: "person") @join(name: "more", table: "person_more", on: "more.id = this.id") {
        id: ID!
        shoe: String @sql(expression: "more.shoe")
        friends(first: Int = 20, after: String): PersonConnection!
          @connection(from: "friendship", on: "this.id = edge.b", where: "edge.a = parent.id",
            orderBy: "this.id", count: "parent.friend_count")
      }
      type PersonConnection {
        nodes: [Person!]! edges: [PersonEdge!]! pageInfo: PageInfo! totalCount: Int!
        heading: String @sql(expression: "parent.friend_count")
      }
      type PersonEdge { node: Person! cursor: String! since: String @sql(expression: "edge.since") }
      """,
      """
      CREATE TABLE person (id bigint PRIMARY KEY, friend_count text NOT NULL);
      CREATE TABLE person_more (id bigint PRIMARY KEY, shoe int);
      CREATE TABLE friendship (a bigint, b bigint, since date, PRIMARY KEY (a, b))
      """)
    let cannot = "cannot be read; write @sql(expression: "
    #expect(
      try graph.findings() == [
        "error: Person.shoe: the column shoe is of PostgreSQL's type integer, from which String "
          + cannot + "\"more.shoe::text\").",
        "error: Person.friends: the column friend_count is of PostgreSQL's type text, from which Int "
          + cannot + "\"parent.friend_count::int\").",
        "error: PersonEdge.since: the column since is of PostgreSQL's type date, from which String "
          + cannot + "\"edge.since::text\").",
      ])
  }

  // MARK: - Nulls

  @Test func `a column that may be null under a type that may not is a warning`() throws {
    let graph = try CheckedGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @tag(id: 1) @table(name: "thing") {
        id: ID! name: String! size: Int! owner: Thing! @reference(column: "owner_id")
        part: Part @embed(when: "this.depth IS NOT NULL")
      }
      type Part { depth: Int! }
      """,
      """
      CREATE TABLE thing (
        id bigint PRIMARY KEY, name text, size int CHECK (size IS NOT NULL), owner_id bigint,
        depth int)
      """)
    let rest =
      " of thing may be null, and the field may not; make it NOT NULL, or write the field's "
      + "type without \"!\"."
    #expect(
      try graph.findings() == [
        "warning: Thing.name: the column name" + rest,
        "warning: Thing.owner: the column owner_id" + rest,
      ])
  }

  // MARK: - Enums

  @Test func `labels of PostgreSQL's enum that the schema's has not are an error`() throws {
    let graph = try CheckedGraph(
      """
      enum Mood { HAPPY }
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { mood: Mood moods: [Mood!] }
      """,
      """
      CREATE TYPE mood AS ENUM ('SAD', 'HAPPY', 'don''t know');
      CREATE TABLE thing (id bigint PRIMARY KEY, mood mood, moods mood[])
      """)
    #expect(
      try graph.findings() == [
        #"error: Thing.mood: PostgreSQL's enum mood has "SAD", "don't know", and Mood has not; add to "#
          + "Mood what is missing, or map it with @sql(expression:). The same: Thing.moods."
      ])
  }

  @Test(arguments: [
    "mood text CHECK (mood IN ('SAD', 'HAPPY'))",
    "mood varchar(9) CHECK (mood IN ('HAPPY', 'SAD'))",
  ])
  func `values that a constraint permits and the enum has not are an error`(column: String) throws {
    let graph = try CheckedGraph.thing("mood: Mood", column, more: "enum Mood { HAPPY }")
    #expect(
      try graph.findings() == [
        #"error: Thing.mood: the constraint thing_mood_check of thing permits "SAD", and Mood has "#
          + "not; add to Mood what is missing, or map it with @sql(expression:)."
      ])
  }

  @Test func `what a constraint permits is not looked for`() throws {
    let graph = try CheckedGraph.thing(
      "mood: Mood moods: [Mood!]",
      "mood text CHECK (mood IN ('HAPPY')), moods text[] CHECK (moods <@ '{HAPPY}'::text[])",
      more: "enum Mood { HAPPY }")
    #expect(try graph.findings { $0.enumSampleRows = 0 } == [])
  }

  @Test func `values in the rows that the enum has not are an error`() throws {
    let graph = try CheckedGraph.thing(
      "mood: Mood moods: [Mood!]", "mood text, moods text[]", more: "enum Mood { HAPPY }")
    #expect(try graph.findings() == [])
    try TestCluster.session(graph.database).execute(
      "INSERT INTO thing VALUES (1, 'HAPPY', '{}'), (2, 'SAD', '{HAPPY,SAD}'), (3, NULL, NULL)")
    let rest =
      #" of thing has "SAD", and Mood has not; add to Mood what is missing, or map it with "#
      + "@sql(expression:)."
    #expect(
      try graph.findings() == [
        "error: Thing.mood: the column mood" + rest, "error: Thing.moods: the column moods" + rest,
      ])
  }

  @Test func `more rows than are looked at are a warning`() throws {
    let graph = try CheckedGraph.thing("mood: Mood", "mood text", more: "enum Mood { HAPPY }")
    try TestCluster.session(graph.database).execute(
      "INSERT INTO thing SELECT n, 'HAPPY' FROM generate_series(1, 11) n")
    #expect(try graph.findings { $0.enumSampleRows = 11 } == [])
    #expect(
      try graph.findings { $0.enumSampleRows = 10 } == [
        "warning: Thing.mood: the column mood of thing has more than 10 rows, of which the first have "
          + "no value outside of Mood; permit only its values by a CHECK constraint, or make it of an "
          + "enum type."
      ])
  }
}
