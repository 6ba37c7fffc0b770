import Testing

/// What is wrong whatever the database has.
@Suite struct SchemaRulesTests {
  private static let tables = """
    CREATE TABLE cat (id bigint PRIMARY KEY); CREATE TABLE dog (id bigint PRIMARY KEY);
    CREATE TABLE pet (id bigint PRIMARY KEY);
    """

  @Test func `a tag used twice among what an interface can be is an error`() throws {
    let graph = try CheckedGraph(
      """
      type Query { node(id: ID!): Node @reference(id: ":id") }
      type Cat implements Node @tag(id: 7) @table(name: "cat") { id: ID! }
      type Dog implements Node @tag(id: 7) @table(name: "dog") { id: ID! }
      """, Self.tables)
    #expect(
      try graph.findings() == [
        "error: Dog: its tag 7 is that of Cat, too, and Query.node, of the interface Node can be "
          + "either; write @tag(id:) with a number that no other type has."
      ])
  }

  @Test(arguments: [
    (#"pets: [Pet!]! @list(orderBy: "this.id")"#, "Query.pets"),
    (#"node(id: ID!): Pet @reference(id: ":id")"#, "Query.node"),
  ])
  func `a tag missing on a member of a union is an error`(field: String, place: String) throws {
    let graph = try CheckedGraph(
      """
      type Query { \(field) }
      union Pet = Cat | Dog
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      type Dog @table(name: "dog") { id: ID! }
      """, Self.tables)
    #expect(
      try graph.findings().contains(
        "error: Dog: it has no tag, and \(place), of the union Pet can be it; write @tag(id:) with a "
          + "number from 1 to 255 that no other type has, and that is the low byte of its ids."))
  }

  @Test func `a type by itself needs no tag`() throws {
    let graph = try CheckedGraph(
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.id") dogs: [Dog!]! @list(orderBy: "this.id") }
      type Cat @table(name: "cat") { id: ID! }
      type Dog @table(name: "dog") { id: ID! }
      """, Self.tables)
    #expect(try graph.findings() == [])
  }

  @Test func `a key that cannot be an ID is an error, said once`() throws {
    let graph = try CheckedGraph(
      """
      type Query {
        node(id: ID!): Node @reference(id: ":id")
        toys: [Toy!]! @list(orderBy: "this.id")
      }
      type Cat implements Node @tag(id: 7) @table(name: "cat") { id: ID! }
      type Toy implements Node @tag(id: 8) @table(name: "toy") { id: ID! name: String }
      """,
      "CREATE TABLE cat (id bigint PRIMARY KEY); CREATE TABLE toy (id uuid PRIMARY KEY, name text)"
    )
    #expect(
      try graph.findings() == [
        "error: Toy.id: the column id is of PostgreSQL's type uuid, from which ID cannot be read; an "
          + "ID is a bigint with the type's tag in its low byte: give it such a column, or make the "
          + #"field a String with @sql(expression: "this.id::text")."#
      ])
  }

  @Test func `a type that is referred to and has no table is an error`() throws {
    let graph = try CheckedGraph(
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.id") }
      type Cat @tag(id: 7) @table(name: "cat") {
        id: ID! toy: Toy @reference(column: "id") toys: [Toy!]! @list(where: "true", orderBy: "1")
      }
      type Toy { id: ID! }
      """, Self.tables)
    #expect(
      try graph.findings().contains(
        "error: Toy: it has no table, and Cat.toy refers to it; write @table(name:) on it, or rows or "
          + "from on the field."))
  }

  @Test(arguments: [
    ("[Int!]", "this.id IN (:value)", "= ANY (:value)"),
    ("[Int!]", "this.id in ( :value... )", "= ANY (:value)"),
    ("[Kind!]", "this.kind IN (:value)", "IN (:value...)"),
  ])
  func `IN given a list as if it were one value is an error`(
    type: String, condition: String, instead: String
  ) throws {
    let graph = try CheckedGraph(
      """
      enum Kind { BIG SMALL }
      input Filter { those: \(type) @where(condition: "\(condition)") }
      type Query {
        cats(those: \(type) @where(condition: "\(condition)"), filter: Filter): [Cat!]!
          @list(orderBy: "this.id")
      }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, kind text)")
    let word = condition.contains("...") ? ":value..." : ":value"
    let expected = "IN (\(word)) is given a list as if it were one value; write \(instead)."
    #expect(
      try graph.findings() == ["error: Filter.those: \(expected) The same: Query.cats(those:)."])
  }

  @Test func `lists that are written as they should be pass`() throws {
    let graph = try CheckedGraph(
      """
      enum Kind { BIG SMALL }
      type Query {
        cats(ids: [ID!] @where(condition: "this.id = ANY (:value)"),
          kinds: [Kind!] @where(condition: "this.kind IN (:value...)"),
          kind: Kind @where(condition: "this.kind IN (:value)")): [Cat!]! @list(orderBy: "this.id")
      }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, kind text)")
    #expect(try graph.findings() == [])
  }
}
