import TestSupport
import Testing

/// Errors that do not depend on the database.
@Suite(.usesCluster) struct SchemaRulesTests {
  private static let tables = """
    CREATE TABLE cat (id bigint PRIMARY KEY); CREATE TABLE dog (id bigint PRIMARY KEY);
    CREATE TABLE pet (id bigint PRIMARY KEY);
    """

  @Test func `a reference that is never null to rows that a rule may hide is a warning`() throws {
    let graph = try CheckedGraph(
      """
      type Query { toys: [Toy!]! @list(orderBy: "this.id") }
      type Toy @table(name: "toy") {
        cat: Cat! @reference(column: "cat_id")
        again: Cat @reference(column: "cat_id")
        any: Cat! @reference(column: "cat_id", rows: "cat")
        dog: Dog! @reference(column: "dog_id")
        pet: Pet! @reference(column: "pet_id")
      }
      type Cat @table(name: "cat", where: "this.id = (:claim.sub)::int") { id: ID! }
      type Dog @table(name: "dog", where: "this.id < 9", masked: "dog") { id: ID! }
      type Pet @table(name: "pet") { id: ID! }
      """,
      Self.tables
        + "CREATE TABLE toy (id int PRIMARY KEY, cat_id bigint, dog_id bigint, pet_id bigint)")
    #expect(
      try graph.findings().filter { $0.contains("rule") } == [
        "warning: Toy.cat: it is never null, but the rule \"this.id = (:claim.sub)::int\" hides some objects of "
          + "Cat from some clients, and whatever list contains a reference to one is then null; write Cat "
          + "without \"!\", or say in @table(masked:) of Cat what such a reference reads instead."
      ])
  }

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

  @Test(arguments: [
    (
      #"pets: [Pet!]! @list(orderBy: "this.id")"#, "@id",
      "error: Query.pets: the objects of Cat have IDs by @id, and the type of this field's objects is "
        + "not known from an ID; write @reference(id:) with an argument, or name one type."
    ),
    (
      #"node(id: ID!): Pet @reference(id: ":id")"#, "",
      "error: Dog: its objects have no ID by @id, unlike those of Cat, and Query.node finds both; "
        + "write @id on its ID."
    ),
    (#"node(id: ID!): Pet @reference(id: ":id")"#, "@id", nil),
  ])
  func `objects with IDs by keys are found by them alone`(
    field: String, directive: String, finding: String?
  ) throws {
    let graph = try CheckedGraph(
      """
      type Query { \(field) }
      union Pet = Cat | Dog
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! @id }
      type Dog @tag(id: 8) @table(name: "dog") { id: ID! \(directive) }
      """, Self.tables)
    let findings = try graph.findings()
    if let finding {
      #expect(findings.contains(finding), "\(findings)")
    } else {
      #expect(findings == [])
    }
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
          + "ID is a bigint with the type's tag in its low byte: give it such a column, write @id for "
          + #"an ID made of the key, or make the field a String with @sql(expression: "this.id::text")."#
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

  @Test(arguments: [
    (
      #"count(size: Int @where(condition: "this.size = :value")): Int @sql(expression: "1")"#,
      "Query.count(size:): its @where has no effect, because the field reads no rows of its own; use "
        + ":size in its directive's SQL, or make it a @reference, @connection or @list."
    ),
    (
      "make(fits: Other): Int @sql(expression: \"1\")",
      "Other.size: its @where has no effect, because no argument of a list, a connection or a reference "
        + "leads to it; leave the @where out, or give such a field an argument of the type Other."
    ),
    (
      #"others(by: [Order!]): [Cat!]! @list(orderBy: "this.id")"#,
      "Query.others(by:): a list of orders has no effect; write Order for its type, with one enum value "
        + "for each order."
    ),
    (
      #"others(page: Page): [Cat!]! @list(where: ":page.by IS NULL", orderBy: "this.id")"#,
      "Page.by: an order has no effect inside an input; make it an argument of the list or connection "
        + "itself."
    ),
  ])
  func `a condition or an order that no statement can contain is an error`(
    field: String, problem: String
  ) throws {
    let inputs =
      field.contains("Other")
      ? #"input Other { size: Int @where(condition: "this.size = :value") }"#
      : field.contains("Page")
        ? "input Page { by: Order }" : ""
    let graph = try CheckedGraph(
      """
      enum Order { ID @orderBy(by: "this.id") SIZE @orderBy(by: "this.size, this.id") }
      \(inputs)
      type Query {
        \(field)
        cats(order: Order! = ID, size: [Int!] @where(condition: "this.size = ANY (:value)")): [Cat!]! @list
      }
      type Cat @table(name: "cat") { size: Int }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, size int)")
    #expect(try graph.findings() == ["error: " + problem])
  }

  @Test func `a condition beside a directive that only the interface has is an error`() throws {
    let graph = try CheckedGraph(
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.id") }
      interface Pet @table(name: "cat") {
        others(size: Int): [Cat!]! @list(orderBy: "this.id")
      }
      type Cat implements Pet {
        others(size: Int @where(condition: "this.size = :value")): [Cat!]!
      }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, size int)")
    #expect(
      try graph.findings() == [
        "error: Cat.others(size:): its @where has no effect, because the interface says where the field "
          + "is, and its argument has no such @where; write it there, or repeat the field's @reference, "
          + "@connection or @list here."
      ])
  }

  // MARK: What nothing reads

  /// The findings about what nothing reads, of a schema with a type `Cat`.
  private func unread(_ sdl: String) throws -> [String] {
    let graph = try CheckedGraph(
      sdl + "type Cat @table(name: \"cat\") { size: Int }",
      "CREATE TABLE cat (id bigint PRIMARY KEY, size int, name text)")
    return try graph.findings().filter { $0.contains("nothing") }
  }

  @Test func `an argument that nothing reads is an error, and limit is named where it was meant`()
    throws
  {
    #expect(
      try unread(
        """
        type Query {
          cats(offset: Int, first: Int, size: Int, name: String): [Cat!]!
            @list(where: "this.size > :size", orderBy: "this.id")
          some(limit: Int = 20): [Cat!]! @list(orderBy: "this.id")
          pages(count: Int, first: Int, after: String): CatConnection!
            @connection(orderBy: "this.id")
          cat(size: Int!, language: String): Cat @reference(where: "this.size = :size")
        }
        type CatConnection { nodes: [Cat!]! edges: [CatEdge!]! }
        type CatEdge { node: Cat! cursor: String! }
        """) == [
          "error: Query.cats(offset:): nothing reads this argument; give it a @where, use :offset in "
            + "SQL, or leave it out.",
          "error: Query.cats(first:): nothing reads this argument; the one that cuts a @list is named "
            + "limit.",
          "error: Query.cats(name:): nothing reads this argument; give it a @where, use :name in SQL, "
            + "or leave it out.",
          "error: Query.pages(count:): nothing reads this argument; those that cut the page of a "
            + "@connection are named first and last.",
          "error: Query.cat(language:): nothing reads this argument; give it a @where, use :language "
            + "in SQL, or leave it out.",
        ])
  }

  @Test func `an input field that nothing reads is an error, at any depth`() throws {
    #expect(
      try unread(
        """
        type Query {
          cats(filter: Filter, area: Area): [Cat!]!
            @list(where: "this.size > :area.low.x", orderBy: "this.id")
        }
        input Filter { name: String @where(condition: "this.name = :value") city: String }
        input Area { low: Point! high: Point! }
        input Point { x: Float! y: Float! }
        """) == [
          "error: Filter.city: nothing reads this input field; give it a @where, read it in SQL, or "
            + "leave it out. The same: Area.high, Point.y."
        ])
  }

  @Test func `an enum value that orders nothing is an error`() throws {
    func cats(_ order: String) -> String {
      """
      type Query { cats(by: Order! = NAME): [Cat!]! @list\(order) }
      enum Order { NAME @orderBy(by: "this.name, this.id") NEWEST }
      """
    }
    #expect(
      try unread(cats("")) == [
        "error: Order.NEWEST: it orders nothing in Query.cats; write @orderBy on it, or orderBy in the "
          + "field's directive."
      ])
    #expect(try unread(cats(#"(orderBy: "this.id DESC")"#)) == [])
  }

  @Test func `what a function is given, and what is read around the field, counts as read`() throws
  {
    #expect(
      try unread(
        """
        type Query {
          cats(near: Point): CatConnection! @connection(orderBy: "this.id")
          cat(at: Point!): Cat @reference(where: "this.size = :at.x AND this.size = :at.y")
        }
        type CatConnection { nodes: [Cat!]! edges: [CatEdge!]! }
        type CatEdge {
          node: Cat! cursor: String!
          distance: Float @sql(expression: "power(:near.x, :near.y)")
        }
        input Point { x: Float! y: Float! }
        type Mutation {
          add(input: Added!, city: String): AddPayload @call(function: "add(:viewer, :arguments)")
          move(input: Moved!): AddPayload @call(function: "move(:viewer, :input)")
        }
        input Added { name: String! at: Point! }
        input Moved { id: ID! at: Point! }
        type AddPayload { userErrors: [UserError!]! @userErrors }
        type UserError { code: String! message: String! }

        """) == [])
  }
}
