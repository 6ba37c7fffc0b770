import GraphQLLanguage
import GraphQLSchema
import Testing

struct SchemaBuilderTests {
  @Test func `the graph's schema is valid and complete`() throws {
    let schema = try schema(publishedText)
    #expect(schema.queryType.map { schema[$0].name } == "Query")
    #expect(schema.mutationType.map { schema[$0].name } == "Mutation")
    #expect(schema.subscriptionType.map { schema[$0].name } == "Subscription")
    #expect(
      schema.directives.map(\.name)
        == ["defer", "live", "stream", "include", "skip", "deprecated", "specifiedBy", "oneOf"])
    for (index, type) in schema.types.enumerated() {
      #expect(Int(type.id.index) == index)
      #expect(schema.typesByName[type.name] == type.id)
    }
  }

  @Test func `printing what was built from printed text changes nothing`() throws {
    let printed = SchemaPrinter(try schema(publishedText)).print()
    #expect(SchemaPrinter(try schema(printed)).print() == printed)
  }

  @Test func `extensions in the same text are merged`() throws {
    let schema = try schema(
      """
      extend type Query implements Named @tag(name: "b") { name: String! }
      directive @tag(name: String!) repeatable on OBJECT | SCHEMA | SCALAR
      type Query @tag(name: "a") { a: E }
      interface Named { name: String! }
      enum E { A }
      extend enum E { B }
      union U = Query
      type Other { u(i: I): U }
      extend union U = Other
      input I { a: Int }
      extend input I { b: Int = 2 }
      extend schema @tag(name: "c") { mutation: Other }
      scalar Day
      extend scalar Day @specifiedBy(url: "https://days.example")
      """)
    let query = try #require(schema.type(named: "Query"))
    #expect(query.fields.map(\.name) == ["a", "name"])
    #expect(query.interfaces.map { schema[$0].name } == ["Named"])
    #expect(query.appliedDirectives.count == 2)
    #expect(schema.appliedDirectives.map(\.name.text) == ["tag"])
    #expect(schema.type(named: "E")?.enumValue(named: "B") != nil)
    #expect(schema.type(named: "I")?.inputField(named: "b")?.coercedDefault == .int(2))
    #expect(schema.mutationType.map { schema[$0].name } == "Other")
    let union = try #require(schema.typesByName["U"])
    #expect(schema.possibleTypes[Int(union.index)].map { schema[$0].name } == ["Query", "Other"])
    let named = try #require(schema.typesByName["Named"])
    #expect(schema.possibleTypes[Int(named.index)].map { schema[$0].name } == ["Query"])
    guard case .scalar(let url) = schema.type(named: "Day")?.kind else {
      Issue.record("Day is no scalar")
      return
    }
    #expect(url == "https://days.example")
  }

  @Test func `only built-in scalars that something mentions are there`() throws {
    let schema = try schema("type Query { a: Int }")
    #expect(
      schema.types.map(\.name) == [
        "Query", "Int", "Boolean", "String", "__Schema", "__Type", "__TypeKind", "__Field",
        "__InputValue", "__EnumValue", "__Directive", "__DirectiveLocation",
      ])
    #expect(schema.types.filter(\.isBuiltIn).count == 11)
    #expect(schema.type(named: "Int")?.builtInScalar == .int)
  }

  @Test func `introspection has the arguments, fields and locations of the 2025 edition`() throws {
    let schema = try schema("type Query { a: Int }")
    let type = try #require(schema.type(named: "__Type"))
    #expect(type.fields.map(\.name).suffix(2) == ["ofType", "isOneOf"])
    for (name, field) in [
      ("__Type", "fields"), ("__Type", "enumValues"), ("__Type", "inputFields"),
      ("__Field", "args"), ("__Directive", "args"),
    ] {
      let argument = schema.type(named: name)?.field(named: field)?.argument(
        named: "includeDeprecated")
      #expect(argument.map { schema.text(of: $0.type) } == "Boolean!")
      #expect(argument?.coercedDefault == .boolean(false))
    }
    guard case .enum(let locations) = schema.type(named: "__DirectiveLocation")?.kind else {
      Issue.record("No locations")
      return
    }
    #expect(locations.map(\.name) == DirectiveLocation.allCases.map(\.rawValue))
  }

  @Test func `the deprecating directive takes a reason that is never null`() throws {
    let schema = try schema("type Query { a: Int @deprecated b: Int @deprecated(reason: \"c\") }")
    let deprecated = try #require(schema.directivesByName["deprecated"])
    #expect(
      deprecated.locations == [
        .fieldDefinition, .argumentDefinition, .inputFieldDefinition, .enumValue,
        .directiveDefinition,
      ])
    #expect(deprecated.argument(named: "reason").map { schema.text(of: $0.type) } == "String!")
    let query = try #require(schema.type(named: "Query"))
    #expect(query.fields.map(\.deprecationReason) == ["No longer supported", "c"])
    try expectErrors(
      "type Query { a: Int @deprecated(reason: null) b: Int @deprecated(reason: 5) }",
      Expected(
        .typeSystem, "Argument \"reason\" of non-null type \"String!\" must not be null.",
        at: "1:41"),
      Expected(.typeSystem, "Argument \"reason\" has invalid value 5.", at: "1:74"))
  }

  @Test func `defaults are coerced, with the defaults inside them filled in`() throws {
    let schema = try schema(
      """
      type Query { f(a: [In!] = {}, b: Float = 1, c: ID = 4, d: Any = {x: [1, E]}): Int }
      input In { e: E! = A, n: Inner = {deep: null}, absent: Int }
      input Inner { deep: Int = 3, more: [[Int]] = 7 }
      enum E { A B }
      scalar Any
      """)
    let field = try #require(schema.type(named: "Query")?.field(named: "f"))
    func member(_ name: String, _ value: InputValue) -> InputValue.Member {
      InputValue.Member(name: name, value: value)
    }
    #expect(
      field.argument(named: "a")?.coercedDefault
        == .list([
          .object([
            member("e", .enum("A")),
            member(
              "n",
              .object([member("deep", .null), member("more", .list([.list([.int(7)])]))])),
          ])
        ]))
    #expect(field.argument(named: "b")?.coercedDefault == .float(1))
    #expect(field.argument(named: "c")?.coercedDefault == .string("4"))
    #expect(
      field.argument(named: "d")?.coercedDefault
        == .object([member("x", .list([.int(1), .enum("E")]))]))
    #expect(schema.defaultText(of: field.arguments[0]) == "[{e: A, n: {deep: null, more: [[7]]}}]")
  }

  @Test func `only the named rules are applied`() throws {
    let text = "type A { a: Unknown a: Int }"
    try expectErrors(
      text,
      Expected(
        .uniqueFieldDefinitionNames, "Field \"A.a\" can only be defined once.", at: "1:10", "1:21"),
      rules: [.uniqueFieldDefinitionNames])
    try expectErrors(
      text, Expected(.knownTypeNames, "Unknown type \"Unknown\".", at: "1:13"),
      rules: [.knownTypeNames])
    try expectValid(text, rules: [.uniqueTypeNames])
    try expectErrors(
      "type A { a: Unknown }",
      Expected(.typeSystem, "Unknown type: \"Unknown\".", at: "1:13"), rules: [.typeSystem])
  }
}
