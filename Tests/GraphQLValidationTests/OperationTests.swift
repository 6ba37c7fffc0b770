import GraphQLLanguage
import GraphQLResponse
import GraphQLValidation
import Testing

struct OperationTests {
  @Test func `an ordinary document keeps every rule`() throws {
    try expectValid(
      """
      query One($id: ID, $first: Int = 2) @onQuery {
        human(id: $id) { ...Person pets(first: $first) { name ... on Dog { barks } } }
      }
      query Two { __typename __schema { queryType { name } } __type(name: "Dog") { kind } }
      fragment Person on Human { name relatives { name } }
      """)
  }

  @Test func `type system definitions are not executable`() throws {
    try expectErrors(
      "{ dog { name } }\ntype Cow { name: String }\nextend type Dog { color: Int }\nschema { query: Cow }",
      [
        "2:1 ExecutableDefinitions: The \"Cow\" definition is not executable.",
        "3:1 ExecutableDefinitions: The \"Dog\" definition is not executable.",
        "4:1 ExecutableDefinitions: The schema definition is not executable.",
      ])
  }

  @Test func `an operation needs its root type`() throws {
    try expectErrors(
      "mutation { a }\nsubscription { a }",
      [
        "1:1 KnownOperationTypes: The mutation operation is not supported by the schema.",
        "1:1 LoneAnonymousOperation: This anonymous operation must be the only defined operation.",
        "2:1 KnownOperationTypes: The subscription operation is not supported by the schema.",
        "2:1 LoneAnonymousOperation: This anonymous operation must be the only defined operation.",
      ], "type Query { a: Int }")
  }

  @Test func `operation names are unique`() throws {
    try expectErrors(
      "query A { dog { name } }\nmutation A { rename(name: \"x\") { name } }",
      ["1:7 2:10 UniqueOperationNames: There can be only one operation named \"A\"."])
  }

  @Test func `a subscription has one root field`() throws {
    try expectValid("subscription { ...F } fragment F on Subscription { born { name } }")
    try expectErrors(
      "subscription S { born { name } ...F }\nfragment F on Subscription { died { name } }",
      ["2:30 SingleFieldSubscriptions: Subscription \"S\" must select only one top level field."])
    try expectErrors(
      "subscription { __typename }",
      [
        "1:16 SingleFieldSubscriptions: Anonymous Subscription must not select an introspection top level field."
      ])
  }

  @Test func `a subscription's root may not be skipped or included`() throws {
    try expectErrors(
      "subscription S($a: Boolean!) { born @include(if: $a) { name } ... @skip(if: true) { died { name } } }",
      [
        "1:37 1:67 SingleFieldSubscriptions: Subscription \"S\" must not use `@skip` or `@include` directives in the top level selection."
      ])
    try expectValid("subscription S($a: Boolean!) { born { name @include(if: $a) } }")
  }

  @Test func `only the rules asked for are applied`() throws {
    let document = "{ nme @nope ...Gone }"
    #expect(try findings(document).count == 3)
    #expect(
      try findings(document, rules: [.knownDirectives]) == [
        "1:7 KnownDirectivesRule: Unknown directive \"@nope\"."
      ])
    #expect(try findings(document, rules: []) == [])
  }

  @Test func `findings end with the hundredth, and say so`() throws {
    let many = "{" + (1...150).map { " nope\($0)" }.joined() + " }"
    let found = try findings(many)
    #expect(found.count == 101)
    #expect(
      found.last?.hasSuffix("Too many validation errors, error limit reached. Validation aborted.")
        == true)
    #expect(found.first?.hasPrefix("1:3 FieldsOnCorrectTypeRule") == true)
  }

  @Test func `columns count code points and lines end in every way`() throws {
    try expectErrors(
      "# é😀\r\n{ echo(string: \"é😀\") nope }\r{ x }",
      [
        "2:1 LoneAnonymousOperation: This anonymous operation must be the only defined operation.",
        "2:22 FieldsOnCorrectType: Cannot query field \"nope\" on type \"Query\".",
        "3:1 LoneAnonymousOperation: This anonymous operation must be the only defined operation.",
        "3:3 FieldsOnCorrectType: Cannot query field \"x\" on type \"Query\".",
      ])
  }

  @Test func `the proof knows operations by name`() throws {
    let document = try Parser.parse("query A { dog { name } } query B { cat { name } }")
    let valid = try Validator.validate(document, against: try schema(zoo))
    #expect(try valid.operation(named: "B").name?.text == "B")
    #expect(throws: GraphQLError.self) { try valid.operation(named: nil) }
    #expect(throws: GraphQLError.self) { try valid.operation(named: "C") }
    #expect(throws: RequestErrors.self) {
      try Validator.validate(try Parser.parse("{ nope }"), against: try schema(zoo))
    }
  }
}
