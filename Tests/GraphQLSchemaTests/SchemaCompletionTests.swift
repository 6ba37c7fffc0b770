import Foundation
import GraphQLLanguage
import GraphQLSchema
import Testing

/// The parts of SDL that a storage schema may omit, and their completion.
struct SchemaCompletionTests {
  /// The files of a schema, joined and completed, as clients get to see it.
  private func completed(_ files: String...) throws -> String {
    var text = ""
    var ends: [Position] = []
    for file in files {
      text += file + "\n"
      ends.append(Position(offset: Int32(text.utf8.count)))
    }
    let document = try SchemaCompletion.complete(parsed(text), fileEnds: ends)
    return SchemaPrinter(try SchemaBuilder.build(document), includesDirectives: false).print()
  }

  private func expectCompleted(
    _ text: String, _ printed: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(try completed(text) == printed, sourceLocation: sourceLocation)
  }

  /// The reasons why a text is neither completed nor, so completed, valid.
  private func expectErrors(
    _ text: String, _ expected: Expected...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    do {
      _ = try completed(text)
      Issue.record("Nothing was found.", sourceLocation: sourceLocation)
    } catch let errors as SchemaErrors {
      #expect(errors.errors.map(Expected.init) == expected, sourceLocation: sourceLocation)
    }
  }

  // MARK: - Filters and orders

  private static let directives = """
    directive @filter(of: String!) on INPUT_OBJECT
    directive @order(of: String!) on INPUT_OBJECT
    directive @reference(column: String) on FIELD_DEFINITION
    directive @connection(where: String) on FIELD_DEFINITION
    directive @sql(expression: String!) on FIELD_DEFINITION

    """

  @Test func `filters and orders have members for the columns and relations of their type`() throws
  {
    let printed = try completed(
      Self.directives + """
        type Query { cats(filter: CatFilter, orderBy: [CatOrder!]): [Cat!]! }
        type Cat {
          "The name."
          name: String
          age: Int!
          names: [String!]!
          computed: Int @sql(expression: "1")
          mother: Cat @reference(column: "mother_id")
          kittens: CatConnection! @connection(where: "this.mother_id = parent.id")
          others: CatConnection! @connection(where: "this.id = :other")
        }
        type PageInfo { hasNextPage: Boolean! }
        input CatFilter @filter(of: "Cat")
        input CatOrder @order(of: "Cat") { age: SortDirection }
        """)
    func type(_ name: String) -> String {
      let start = printed.range(of: "\ninput \(name) ")?.lowerBound ?? printed.endIndex
      let rest = printed[start...].dropFirst()
      return rest.prefix { $0 != "}" }.split(separator: "\n")
        .filter { !$0.contains("\"\"\"") || $0.contains("The name") }
        .map { $0.trimmingPrefix("  ") }.joined(separator: " ")
    }
    #expect(
      type("CatFilter")
        == #"input CatFilter { """The name.""" name: StringFilter age: IntFilter names: StringListFilter "#
        + "mother: CatFilter kittens: CatRelationFilter and: [CatFilter!] or: [CatFilter!] not: CatFilter"
    )
    #expect(
      type("CatRelationFilter")
        == "input CatRelationFilter { some: CatFilter none: CatFilter every: CatFilter count: IntFilter"
    )
    #expect(
      type("IntFilter")
        == "input IntFilter { eq: Int ne: Int in: [Int!] notIn: [Int!] lt: Int lte: Int gt: Int gte: Int isNull: Boolean"
    )
    #expect(
      type("CatOrder")
        == #"input CatOrder @oneOf { age: SortDirection """The name.""" name: SortDirection mother: CatOrder kittens: RelationOrder"#
    )
    #expect(type("RelationOrder") == "input RelationOrder @oneOf { count: SortDirection")
    #expect(printed.contains("enum SortDirection {"))
  }

  @Test
  func `aggregates have members for the columns of their type, and its connections have them`()
    throws
  {
    let printed = try completed(
      Self.directives + """
        directive @aggregates(of: String!) on OBJECT
        directive @scalar(type: String!) on SCALAR
        type Query { cats: CatConnection! @connection plain: DogConnection! @connection }
        type Cat { id: ID! name: String age: Int! born: Date isTame: Boolean names: [String] count: Int
          size: Int @sql(expression: "1") }
        type Dog { id: ID! }
        type PageInfo { hasNextPage: Boolean! }
        scalar Date @scalar(type: "date")
        type CatAggregates @aggregates(of: "Cat")
        """)
    func type(_ name: String) -> String {
      let start =
        printed.range(of: "\ntype \(name) ")?.lowerBound
        ?? printed.range(of: "\ninput \(name) ")?.lowerBound ?? printed.endIndex
      return printed[start...].dropFirst().prefix { $0 != "}" }
        .split(whereSeparator: \.isNewline).filter { !$0.contains("\"\"\"") }
        .map { $0.trimmingPrefix("  ") }.joined(separator: " ")
    }
    #expect(
      type("CatAggregates")
        == "type CatAggregates { count: Int! id: IDAggregates! name: StringAggregates! "
        + "age: IntAggregates! born: DateAggregates! isTame: BooleanAggregates!")
    #expect(
      type("CatGroupBy")
        == "input CatGroupBy { id: Boolean name: Boolean age: Boolean born: TimeGrouping isTame: Boolean"
    )
    #expect(
      type("CatGroupKey")
        == "type CatGroupKey { id: ID name: String age: Int born: Date isTame: Boolean")
    #expect(type("CatGroup") == "type CatGroup { key: CatGroupKey! aggregates: CatAggregates!")
    #expect(
      type("CatGroupFilter")
        == "input CatGroupFilter { count: IntFilter id: IDAggregatesFilter name: StringAggregatesFilter "
        + "age: IntAggregatesFilter born: DateAggregatesFilter isTame: BooleanAggregatesFilter "
        + "and: [CatGroupFilter!] or: [CatGroupFilter!] not: CatGroupFilter")
    #expect(type("CatGroupOrder").contains("@oneOf { count: SortDirection id: IDAggregatesOrder"))
    #expect(
      type("IntAggregates")
        == "type IntAggregates { count: Int! countDistinct: Int! sum: Float avg: Float min: Int max: Int"
    )
    #expect(
      type("DateAggregates")
        == "type DateAggregates { count: Int! countDistinct: Int! min: Date max: Date")
    #expect(type("BooleanAggregates") == "type BooleanAggregates { count: Int! countDistinct: Int!")
    #expect(
      type("IntAggregatesFilter").hasSuffix(
        "sum: FloatFilter avg: FloatFilter min: IntFilter max: IntFilter"))
    #expect(type("CatConnection").contains("aggregates: CatAggregates!"))
    #expect(type("CatConnection").contains("groups("))
    #expect(!type("DogConnection").contains("aggregates"))

    #expect(throws: SchemaErrors.self) {
      try completed(
        "directive @aggregates(of: String!) on OBJECT type Query { a: Int } type CatAggregates @aggregates(of: \"Nothing\")"
      )
    }
  }

  // MARK: - Interfaces

  @Test func `inherited fields come first, in their order, and own ones after them`() throws {
    try expectCompleted(
      """
      interface Post { "Stable." id: ID! "Who." author(full: Boolean! = true): String! at: Int }
      type Query implements Post { title: String }
      """,
      #"""
      interface Post {
        """Stable."""
        id: ID!

        """Who."""
        author(full: Boolean! = true): String!
        at: Int
      }

      type Query implements Post {
        """Stable."""
        id: ID!

        """Who."""
        author(full: Boolean! = true): String!
        at: Int
        title: String
      }
      """#)
  }

  @Test func `what follows a field in the interface follows it where it is written`() throws {
    let schema = try schema(
      completed(
        """
        interface Counted { id: ID! count: Int counted: Int }
        type Query implements Counted { title: String count: Int }
        type Other implements Counted { count: Int title: String }
        """))
    #expect(schema.type(named: "Query")?.fields.map(\.name) == ["id", "title", "count", "counted"])
    #expect(schema.type(named: "Other")?.fields.map(\.name) == ["id", "count", "counted", "title"])
  }

  @Test func `an interface that does not begin with an id comes last`() throws {
    let schema = try schema(
      completed(
        """
        interface Payload { errors: [String!]! codes: [Int!]! }
        type Query implements Payload { done: Boolean at: Int }
        type Empty implements Payload
        """))
    #expect(schema.type(named: "Query")?.fields.map(\.name) == ["done", "at", "errors", "codes"])
    #expect(schema.type(named: "Empty")?.fields.map(\.name) == ["errors", "codes"])
  }

  @Test func `interfaces inherit too, and the nearest one says in which order`() throws {
    let schema = try schema(
      completed(
        """
        type Query implements Node & Liked & Post { tags: String }
        interface Post implements Node & Liked { author: String }
        interface Liked implements Node { "Of a thing that is liked." id: ID! likes: Int }
        interface Node { "Of anything." id: ID! }
        """))
    let query = try #require(schema.type(named: "Query"))
    #expect(query.fields.map(\.name) == ["id", "likes", "author", "tags"])
    #expect(query.field(named: "id")?.description == "Of a thing that is liked.")
  }

  @Test func `a field that is written gets what it leaves out`() throws {
    let document = try SchemaCompletion.complete(
      parsed(
        """
        directive @sql(text: String) on FIELD_DEFINITION | ARGUMENT_DEFINITION
        interface Liked {
          "How many."
          likes("Which." kind: Int = 1 @sql(text: "kind") "Whose." by: ID): Int @sql(text: "likes")
          "Since when."
          since: Int @sql(text: "since") @deprecated
          "By whom."
          last: String @sql(text: "last")
        }
        type Query implements Liked {
          "Its own."
          likes(own: Int, kind: Int): Int
          since: Int
          last: String @sql(text: "own")
        }
        """))
    let schema = try SchemaBuilder.build(document)
    let query = try #require(schema.type(named: "Query"))
    #expect(query.fields.map(\.description) == ["Its own.", "Since when.", "By whom."])
    func sql(_ directives: [Directive]) -> [String] {
      directives.flatMap(\.arguments).map { Printer.print($0.value) }
    }
    #expect(
      query.fields.map { sql($0.appliedDirectives) }
        == [["\"likes\""], ["\"since\""], ["\"own\""]])
    // Deprecation is of the one, not of the other.
    #expect(query.field(named: "since")?.deprecationReason == nil)
    let arguments = try #require(query.field(named: "likes")).arguments
    #expect(arguments.map(\.name) == ["own", "kind", "by"])
    #expect(arguments.map(\.description) == [nil, "Which.", "Whose."])
    // A default belongs to what is written.
    #expect(arguments.map { $0.coercedDefault == nil } == [true, true, true])
    #expect(arguments.map { sql($0.appliedDirectives) } == [[], ["\"kind\""], []])
  }

  @Test func `extensions write fields and declare interfaces, too`() throws {
    let schema = try schema(
      completed(
        """
        interface Named { name: String first: Int }
        extend interface Named { last: Int }
        type Query { a: Int }
        extend type Query implements Named { "Its own." name: String }
        """))
    let query = try #require(schema.type(named: "Query"))
    #expect(query.fields.map(\.name) == ["a", "first", "last", "name"])
    #expect(query.field(named: "name")?.description == "Its own.")
  }

  @Test func `two interfaces that disagree are asked about`() throws {
    try expectErrors(
      """
      interface A { x: Int }
      interface B { x: [Int!] }
      type Query implements A & B { y: Int }
      """,
      Expected(
        .typeSystem,
        "Type \"Query\" inherits \"x\" as \"Int\" from \"A\" and as \"[Int!]\" from \"B\"."
          + " Write the field in \"Query\".", at: "3:1", "1:15", "2:15"))
  }

  @Test func `a field that does not fit its interface is the specification's to refuse`() throws {
    try expectErrors(
      """
      interface Named { name: String }
      type Query implements Named { name: Int }
      """,
      Expected(
        .typeSystem,
        "Interface field Named.name expects type String but Query.name is type Int.",
        at: "1:25", "2:37"))
  }

  @Test func `interfaces in a circle and unknown ones are the specification's to refuse`() throws {
    try expectErrors(
      "interface A implements A { x: Int } type Query implements A",
      Expected(
        .typeSystem, "Type A cannot implement itself because it would create a circular reference.",
        at: "1:24"))
    try expectErrors(
      "interface A { x: Int } type Query implements A & B",
      Expected(.knownTypeNames, "Unknown type \"B\". Did you mean \"A\"?", at: "1:50"))
    #expect(throws: SchemaErrors.self) {
      try completed("interface A implements B interface B implements A type Query implements A & B")
    }
  }

  // MARK: - Connections

  private let page = "type PageInfo { hasNextPage: Boolean! }"

  @Test func `a connection that a field is of is made`() throws {
    #expect(
      try completed(
        page, "type ActivityTrack { at: Int }",
        "type Query { tracks: ActivityTrackConnection! }")
          == #"""
          type PageInfo {
            hasNextPage: Boolean!
          }

          type ActivityTrack {
            at: Int
          }

          """A page of activity tracks."""
          type ActivityTrackConnection {
            """The elements of the page, each with its cursor."""
            edges: [ActivityTrackEdge!]!

            """The elements of the page, without cursors."""
            nodes: [ActivityTrack!]!

            """
            The position of the page, for requesting the next or the previous page.
            """
            pageInfo: PageInfo!

            """
            The number of elements on all pages together. Counted only if selected.
            """
            totalCount: Int!

            """
            Whether `totalCount` is the exact number. If false, counting stopped at a limit of the server.
            """
            isTotalCountExact: Boolean!
          }

          """An element of a page of activity tracks."""
          type ActivityTrackEdge {
            """The position of the element, for `after` and `before`."""
            cursor: String!

            """The element at this position."""
            node: ActivityTrack!
          }

          type Query {
            tracks(
              """
              Returns at most this many elements from the start, up to 100. If `first` and `last` are omitted, 20 elements are returned.
              """
              first: Int

              """Returns the elements after this cursor."""
              after: String

              """Returns at most this many elements from the end, up to 100."""
              last: Int

              """Returns the elements before this cursor."""
              before: String
            ): ActivityTrackConnection!
          }
          """#)
  }

  @Test func `an edge that is written says what its connection has`() throws {
    let schema = try schema(
      completed(
        page,
        """
        type User { members: MemberConnection! circles: CircleConnection }
        "A page of those who belong to it."
        type MemberConnection
        type MemberEdge { "Who." node: User role: String }
        union Circle = User
        extend type CircleConnection { title: String! }
        """, "type Query { user: User }"))
    let connection = try #require(schema.type(named: "MemberConnection"))
    let edge = try #require(schema.type(named: "MemberEdge"))
    #expect(connection.description == "A page of those who belong to it.")
    #expect(edge.description == "An element of a page of those who belong to it.")
    #expect(connection.field(named: "nodes").map { schema.text(of: $0.type) } == "[User]!")
    #expect(edge.fields.map(\.name) == ["cursor", "node", "role"])
    #expect(
      edge.fields.map(\.description)
        == ["The position of the element, for `after` and `before`.", "Who.", nil])
    let circles = try #require(schema.type(named: "CircleConnection"))
    #expect(
      circles.fields.map(\.name) == [
        "edges", "nodes", "pageInfo", "totalCount", "isTotalCountExact", "title",
      ])
    #expect(circles.field(named: "nodes").map { schema.text(of: $0.type) } == "[Circle!]!")
    #expect(
      schema.types.filter { !$0.isBuiltIn }.map(\.name) == [
        "PageInfo", "User", "MemberConnection", "MemberEdge", "Circle", "CircleConnection",
        "CircleEdge", "Query",
      ])
  }

  @Test func `made types stand by the one that is written, or end the file of their node`() throws {
    let schema = try schema(
      completed(
        page,
        """
        type B { c: CConnection }
        type CEdge { rank: Int }
        type A { b: BConnection }
        """,
        """
        type C { a: AConnection d: DConnection }
        extend type DEdge { node: C }
        type DConnection
        """, "type Query { c: C }"))
    #expect(
      schema.types.filter { !$0.isBuiltIn }.map(\.name) == [
        "PageInfo", "B", "CConnection", "CEdge", "A", "BConnection", "BEdge", "AConnection",
        "AEdge", "C", "DConnection", "DEdge", "Query",
      ])
  }

  @Test(arguments: [
    ("Post", "posts"), ("Category", "categories"), ("Day", "days"), ("Class", "classes"),
    ("CardBox", "card boxes"), ("Search", "searches"),
  ])
  func `pages are described by the name of their node`(name: String, nouns: String) throws {
    let schema = try schema(
      completed(page, "type \(name) { a: Int } type Query { all: \(name)Connection }"))
    #expect(schema.type(named: name + "Connection")?.description == "A page of \(nouns).")
    #expect(schema.type(named: name + "Edge")?.description == "An element of a page of \(nouns).")
  }

  @Test func `what is wholly written stays as it is`() throws {
    let text = SchemaPrinter(
      try schema(
        """
        type Query {
          a(first: Int, after: String, last: Int, before: String): PostConnection!
          b: InternetConnection c: HTTPConnection
        }
        type Post { title: String }
        "Posts."
        type PostConnection {
          edges: [PostEdge] nodes: [Post] pageInfo: PageInfo totalCount: Int isTotalCountExact: Boolean
        }
        type PostEdge { cursor: String node: Post }
        type PageInfo { more: Boolean }
        type InternetConnection { megabits: Int }
        scalar HTTPConnection
        """)
    ).print()
    let completed = try SchemaPrinter(
      SchemaBuilder.build(SchemaCompletion.complete(parsed(text)))
    ).print()
    let descriptions = [
      "The element", "Whether", "The number", "The position", "An element", "Returns",
    ]
    let lines = completed.split(separator: "\n").filter { line in
      !descriptions.contains { line.contains($0) } && line.contains { !" \"".contains($0) }
    }
    // Arguments that are described stand on lines of their own.
    #expect(lines.joined().filter { !" ,".contains($0) } == text.filter { !" ,\n".contains($0) })
  }

  @Test func `a connection of nothing is refused`() throws {
    try expectErrors(
      """
      type Post { a: Int }
      type Query { posts: PsotConnection }
      enum Kind { A }
      extend type Query { kinds: KindConnection }
      """,
      Expected(
        .knownTypeNames,
        "Unknown type \"PsotConnection\". It can be made for an object, interface or union type"
          + " \"Psot\", or for the node of a type \"PsotEdge\"; there is neither."
          + " Did you mean \"Post\"?", at: "2:21"),
      Expected(
        .knownTypeNames,
        "Unknown type \"KindConnection\". It can be made for an object, interface or union type"
          + " \"Kind\", or for the node of a type \"KindEdge\"; there is neither.", at: "4:28"))
  }

  @Test func `parts of a connection are what they are`() throws {
    try expectErrors(
      """
      type Query { posts: PostConnection }
      type Post { a: Int }
      type PostConnection { edges: [Post!]! totalCount: Float }
      extend type PostEdge { cursor: [Int] }
      """,
      Expected(
        .typeSystem,
        "Field \"PostConnection.edges\" must be of type \"[PostEdge!]!\", not \"[Post!]!\".",
        at: "3:30"),
      Expected(
        .typeSystem,
        "Field \"PostConnection.totalCount\" must be of type \"Int!\", not \"Float\".",
        at: "3:51"),
      Expected(
        .typeSystem, "Field \"PostEdge.cursor\" must be of type \"String!\", not \"[Int]\".",
        at: "4:32"))
  }

  @Test func `what a made type needs besides is asked for at the field that wants it`() throws {
    try expectErrors(
      "type Query { all: QueryConnection }",
      Expected(.knownTypeNames, "Unknown type \"PageInfo\".", at: "1:19"))
  }

  @Test func `pages have arguments, and say so if they are others`() throws {
    let schema = try schema(
      completed(
        page,
        """
        type Query implements Paged {
          all(by: Int): QueryConnection
          many("Many." first: Int = 50): QueryConnection
          both(first: Int, after: String, last: Int, before: String): QueryConnection
          few: QueryConnection @connection(size: 3)
          inherited: QueryConnection
        }
        interface Paged { inherited(first: Int = 3, last: Int): QueryConnection }
        directive @connection(size: Int) on FIELD_DEFINITION
        """))
    let query = try #require(schema.type(named: "Query"))
    func text(_ field: String) -> [String] {
      (query.field(named: field)?.arguments ?? []).map {
        let value = schema.defaultText(of: $0).map { " = " + $0 } ?? ""
        return "\($0.name): \(schema.text(of: $0.type))\(value)"
      }
    }
    let rest = ["after: String", "last: Int", "before: String"]
    #expect(text("all") == ["by: Int", "first: Int"] + rest)
    #expect(text("many") == ["first: Int = 50"] + rest)
    #expect(query.field(named: "many")?.arguments.first?.description == "Many.")
    #expect(text("both") == ["first: Int"] + rest)
    #expect(text("inherited") == ["first: Int = 3"] + rest)
    #expect(
      query.field(named: "few")?.arguments.first?.description?.hasSuffix(
        "If `first` and `last` are omitted, 3 elements are returned.") == true)
  }

  // MARK: - What the specification says

  @Test func `without completion all of this is refused as the specification has it`() throws {
    let builder = { (text: String) in
      SchemaBuilder.check(try parsed(text)).errors.map(\.message)
    }
    #expect(
      try builder("interface Named { name: String } type Query implements Named { a: Int }")
        == ["Interface field Named.name expected but Query does not provide it."])
    #expect(
      try builder("type Query { all: QueryConnection }")
        == ["Unknown type \"QueryConnection\"."])
    #expect(
      try builder("type Query { a: QueryConnection } type QueryConnection")
        == ["Type QueryConnection must define one or more fields."])
  }
}
