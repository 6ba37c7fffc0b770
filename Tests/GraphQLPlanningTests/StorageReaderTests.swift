import GraphQLLanguage
import GraphQLSchema
import Testing

@testable import GraphQLPlanning

@Suite struct StorageReaderTests {
  @Test(arguments: [
    ("type Thing @tag(id: 0) { id: ID! }", "Thing: a tag is between 1 and 255, not 0."),
    ("type Thing @tag(id: 256) { id: ID! }", "Thing: a tag is between 1 and 255, not 256."),
    (
      "type Thing @tag(id: 65536) @table(name: \"thing\") { id: ID! @id }",
      "Thing: a tag is between 1 and 65535, not 65536."
    ),
    (
      "type Thing @tag(id: 1) { id: ID! @id }",
      "Thing.id: @id is of an ID, in a type with @table(name:, key:) and @tag(id:)."
    ),
    (
      "type Thing @table(name: \"thing\") { id: ID! @id }",
      "Thing.id: @id is of an ID, in a type with @table(name:, key:) and @tag(id:)."
    ),
    (
      "type Thing @tag(id: 1) @table(name: \"thing\") { id: String! @id }",
      "Thing.id: @id is of an ID, in a type with @table(name:, key:) and @tag(id:)."
    ),
    (
      #"type Thing @table(name: "thing") { id: ID! size: Int @column(of: "box") }"#,
      #"Thing.size: @column(of:) names a @join, and "box" is not one."#
    ),
    (
      #"type Thing { id(a: Int @where(in: "this.a")): ID! }"#,
      "Thing.id(a:): @where needs a condition, or in and set, or both."
    ),
    (
      #"type Thing { id(a: Int @where(unless: "1")): ID! }"#,
      "Thing.id(a:): @where needs a condition, or in and set, or both."
    ),
    (
      #"type Thing { id(a: In): ID! } input In { b: Int @where(set: "SELECT 1", condition: "true") }"#,
      "In.b: @where needs a condition, or in and set, or both."
    ),
    (
      #"type Thing { a: Kind } enum Kind { ONE @value(type: "Thing") }"#,
      "Kind.ONE: @value needs either sql, a number or a text in single quotes, or type, the name of "
        + "a type with a tag."
    ),
    (
      #"type Thing { a: Kind } enum Kind { ONE @value(sql: "7) OR (true") }"#,
      "Kind.ONE: @value needs either sql, a number or a text in single quotes, or type, the name of "
        + "a type with a tag."
    ),
    (
      #"type Thing { a: Int @sql(expression: ":tag.Thing") }"#,
      #"Thing.a: ":tag.Thing" in @sql names no argument."#
    ),
  ])
  func `a directive that does not fit names its place`(type: String, problem: String) throws {
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping("type Query { thing: Thing @reference(id: \"1\") }\n" + type)
    }
    #expect(error?.problems == [problem])
  }

  @Test(arguments: [
    #"{ b: B @insert(into: "Thing") }"#,
    #"{ b: B @insert(set: "this.a = parent.a", into: "Other") }"#,
    #"{ b: Int @insert(into: "Thing", set: "this.a = parent.a") }"#,
    #"{ b: B @insert(into: "Thing", set: "this.a = this.b") }"#,
    #"{ b: B @insert(into: "Thing", set: "this.a = parent.a AND parent.b = this.b") }"#,
    #"{ b: B @insert(into: "Thing", set: "this.a = 1") }"#,
    #"{ b: [B!] @insert(into: "Thing", set: "parent.a = this.a") }"#,
  ])
  func `rows inside of another need a table and columns with its values`(input: String) throws {
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping(
        "type Query { thing(in: In): Thing @reference(id: \"1\") }\n"
          + "type Thing @table(name: \"thing\") { id: ID! } input B { a: Int } input In \(input)")
    }
    #expect(error?.problems.count == 1)
    #expect(
      error?.problems.first?.hasPrefix("In.b: @insert on an input field needs an input object, ")
        == true)
  }

  @Test func `a reference needs something that says which row`() throws {
    let things = "type Thing @tag(id: 1) @table(name: \"thing\") { id: ID! }\n"
    let by = "input By @oneOf { id: ID @where(condition: \"this.id = :value\"), other: Int }\n"
    _ = try PlanningFixture.mapping(
      "type Query { thing(by: By!): Thing @reference }\n" + by + things)
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping("type Query { thing(first: Int): Thing @reference }\n" + things)
    }
    #expect(error?.problems.count == 1)
  }

  @Test(arguments: [
    (#"name: String @sql(expression: "/* the viewer's row")"#, "Thing.name: @sql(expression:)"),
    (#"name: String @sql(expression: "this.x = $1")"#, "Thing.name: @sql(expression:)"),
    (#"name: String @column(name: "a, b")"#, "Thing.name: @column(name:)"),
    (#"name: String @values(when: "true) OR (true")"#, "Thing.name: @values(when:)"),
    (#"name(of: Int @where(condition: "(")): String"#, "Thing.name(of:): @where(condition:)"),
  ])
  func `text that is no part of a statement is refused`(field: String, place: String) throws {
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping(
        "type Query { thing: Thing @reference(id: \"1\") }\n"
          + "type Thing @tag(id: 1) @table(name: \"thing\") { \(field) }")
    }
    #expect(error?.problems.count == 1)
    #expect(error?.problems.first?.hasPrefix(place + " does not hold: ") == true)
  }

  @Test func `comments and strings hide nothing that follows them`() throws {
    let mapping = try PlanningFixture.mapping(
      #"""
      type Query { me: User @reference(id: ":viewer") }
      type User @tag(id: 1) @table(name: "app_user") {
        isFollowed: Boolean! @sql(expression: """
          /* the viewer's own row */ EXISTS (SELECT FROM follow f -- it's one's own
            WHERE f.a = 'o''clock' /* it's /* nested */ */ AND f.b = E'it\'s' AND f.c = :viewer)
          """)
      }
      """#)
    let plan = try PlanningFixture.plan("{ me { isFollowed } }", in: mapping)
    #expect(plan.parameters == [.viewer])
    #expect(plan.statement?.text.contains("AND f.c = $1::bigint)") == true)
  }

  @Test func `what is wrong in an inherited field is told once, where it was written`() throws {
    let sdl =
      StorageDirectives.sdl
        + """

        type Query { thing: Thing @reference(id: "1") }
        interface Dated implements Named
        interface Named {
          id: ID!
          name(of: Int @where(condition: "this.x = :valeu")): String @sql(expression: ":viewr")
        }
        type Thing implements Named & Dated @tag(id: 1) @table(name: "thing")
        type Other implements Named @tag(id: 2) @table(name: "other")
        """
    let document = try Parser.parse(Source(sdl), limits: .default)
    let schema = try SchemaBuilder.build(SchemaCompletion.complete(document))
    let error = #expect(throws: StorageErrors.self) { try StorageMapping(schema) }
    #expect(
      error?.problems == [
        "Named.name: \":viewr\" in @sql names no argument.",
        "Named.name(of:): \":valeu\" in @where names no argument.",
      ])
  }
}
