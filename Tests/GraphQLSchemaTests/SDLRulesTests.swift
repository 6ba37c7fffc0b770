import GraphQLSchema
import Testing

/// One finding of each rule with its words and places, and what the rule lets pass.
struct SDLRulesTests {
  @Test func `LoneSchemaDefinition: one schema definition, any number of extensions`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      schema { query: Query }
      "again" schema { mutation: Query }
      extend schema { subscription: Query }
      """,
      Expected(
        .loneSchemaDefinition, "Must provide only one schema definition.", at: "3:1"))
  }

  @Test func `UniqueOperationTypes: one type per operation, over all extensions`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      schema { query: Query mutation: Query mutation: Query }
      extend schema { query: Query }
      """,
      Expected(
        .uniqueOperationTypes, "There can be only one mutation type in schema.",
        at: "2:23", "2:39"),
      Expected(
        .uniqueOperationTypes, "There can be only one query type in schema.", at: "2:10", "3:17"))
  }

  @Test func `UniqueTypeNames: types share one space of names, directives have their own`() throws {
    try expectErrors(
      """
      type A { a: Int }
      directive @A on FIELD
      "one more" scalar A
      """,
      Expected(
        .uniqueTypeNames, "There can be only one type named \"A\".", at: "1:6", "3:19"))
  }

  @Test func `UniqueEnumValueNames: over a type and its extensions`() throws {
    try expectErrors(
      """
      enum E { A B A }
      extend enum E { B }
      enum F { A B }
      """,
      Expected(
        .uniqueEnumValueNames, "Enum value \"E.A\" can only be defined once.", at: "1:10", "1:14"),
      Expected(
        .uniqueEnumValueNames, "Enum value \"E.B\" can only be defined once.", at: "1:12", "2:17"))
  }

  @Test func `UniqueFieldDefinitionNames: over a type and its extensions`() throws {
    try expectErrors(
      """
      type T { a: Int "d" a: Int }
      extend interface I { b: Int }
      interface I { b: Int }
      input In { c: Int c: Int }
      """,
      Expected(
        .uniqueFieldDefinitionNames, "Field \"T.a\" can only be defined once.",
        at: "1:10", "1:21"),
      Expected(
        .uniqueFieldDefinitionNames, "Field \"I.b\" can only be defined once.",
        at: "2:22", "3:15"),
      Expected(
        .uniqueFieldDefinitionNames, "Field \"In.c\" can only be defined once.",
        at: "4:12", "4:19"))
  }

  @Test func `UniqueArgumentDefinitionNames: of a field and of a directive`() throws {
    try expectErrors(
      """
      type T { f(a: Int b: Int a: Int a: Int): Int }
      directive @d(x: Int x: Int) on FIELD
      """,
      Expected(
        .uniqueArgumentDefinitionNames, "Argument \"T.f(a:)\" can only be defined once.",
        at: "1:12", "1:26", "1:33"),
      Expected(
        .uniqueArgumentDefinitionNames, "Argument \"@d(x:)\" can only be defined once.",
        at: "2:14", "2:21"))
  }

  @Test func `UniqueDirectiveNames: a built-in directive may be defined, once`() throws {
    try expectErrors(
      """
      directive @deprecated(reason: String) on FIELD_DEFINITION
      directive @a on FIELD
      directive @a on FIELD
      """,
      Expected(
        .uniqueDirectiveNames, "There can be only one directive named \"@a\".",
        at: "2:12", "3:12"))
  }

  @Test func `KnownTypeNames: with suggestions, unless they are switched off`() throws {
    let text = """
      type Query implements Nod { a(b: Sting): [Querry!] }
      union U = Quer
      schema { query: Quert }
      """
    try expectErrors(
      text,
      Expected(.knownTypeNames, "Unknown type \"Nod\". Did you mean \"ID\"?", at: "1:23"),
      Expected(
        .knownTypeNames, "Unknown type \"Sting\". Did you mean \"String\" or \"Int\"?", at: "1:34"),
      Expected(
        .knownTypeNames, "Unknown type \"Querry\". Did you mean \"Query\"?", at: "1:43"),
      Expected(.knownTypeNames, "Unknown type \"Quer\". Did you mean \"Query\"?", at: "2:11"),
      Expected(.knownTypeNames, "Unknown type \"Quert\". Did you mean \"Query\"?", at: "3:17"))
    try expectErrors(
      "type Query { a: Sting }",
      Expected(.knownTypeNames, "Unknown type \"Sting\".", at: "1:17"), suggestions: false)
  }

  @Test func `KnownTypeNames: operations in such a text know no built-in types`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      query ($a: Int, $b: Query) { ... on Querry { a } }
      """,
      Expected(.knownTypeNames, "Unknown type \"Int\".", at: "2:12"),
      Expected(
        .knownTypeNames, "Unknown type \"Querry\". Did you mean \"Query\"?", at: "2:37"))
  }

  @Test func `KnownDirectives: defined, and applied where they belong`() throws {
    try expectErrors(
      """
      directive @everywhere on SCHEMA | SCALAR | OBJECT | FIELD_DEFINITION | ARGUMENT_DEFINITION
        | INTERFACE | UNION | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
      schema @everywhere { query: Query }
      type Query @everywhere { a(b: Int @everywhere): Int @everywhere }
      extend type Query @nowhere
      interface I @everywhere { a: Int @skip }
      union U @everywhere = Query
      enum E @everywhere { A @everywhere @specifiedBy(url: "") }
      input In @everywhere { a: Int @everywhere }
      extend input In { b: Int @everywhere @deprecated c: Int @include(if: true) }
      scalar S @everywhere @oneOf
      """,
      Expected(.knownDirectives, "Unknown directive \"@nowhere\".", at: "5:19"),
      Expected(
        .knownDirectives, "Directive \"@skip\" may not be used on FIELD_DEFINITION.", at: "6:34"),
      Expected(
        .providedRequiredArgumentsOnDirectives,
        "Directive \"@skip\" argument \"if\" of type \"Boolean!\" is required, but it was not "
          + "provided.", at: "6:34"),
      Expected(
        .knownDirectives, "Directive \"@specifiedBy\" may not be used on ENUM_VALUE.",
        at: "8:36"),
      Expected(
        .knownDirectives, "Directive \"@include\" may not be used on INPUT_FIELD_DEFINITION.",
        at: "10:57"),
      Expected(.knownDirectives, "Directive \"@oneOf\" may not be used on SCALAR.", at: "11:22"))
  }

  @Test func `UniqueDirectivesPerLocation: a type and its extensions are one location`() throws {
    try expectErrors(
      """
      directive @once on OBJECT | FIELD_DEFINITION | SCHEMA
      directive @often repeatable on OBJECT
      type Query @once @often @often { a: Int @once b: Int @once @once }
      extend type Query @once
      schema @once { query: Query }
      extend schema @once
      """,
      Expected(
        .uniqueDirectivesPerLocation,
        "The directive \"@once\" can only be used once at this location.", at: "3:54", "3:60"),
      Expected(
        .uniqueDirectivesPerLocation,
        "The directive \"@once\" can only be used once at this location.", at: "3:12", "4:19"),
      Expected(
        .uniqueDirectivesPerLocation,
        "The directive \"@once\" can only be used once at this location.", at: "5:8", "6:15"))
  }

  @Test func `PossibleTypeExtensions: of a type that is there, and of its kind`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      extend input Query { b: Int }
      extend type Querry { b: Int }
      extend scalar String @specifiedBy(url: "")
      """,
      Expected(
        .possibleTypeExtensions, "Cannot extend non-input object type \"Query\".",
        at: "1:1", "2:1"),
      Expected(
        .possibleTypeExtensions,
        "Cannot extend type \"Querry\" because it is not defined. Did you mean \"Query\"?",
        at: "3:13"),
      Expected(
        .possibleTypeExtensions, "Cannot extend type \"String\" because it is not defined.",
        at: "4:15"))
  }

  @Test func `arguments of directives: known, unique, complete, and so are fields in them`() throws
  {
    try expectErrors(
      """
      directive @d(name: String!, size: Int! = 1, more: In) on OBJECT
      input In { a: Int }
      type Query @d(nam: 1, size: 2, size: 3, more: {a: 1, b: {c: 1, c: 2}, a: 3}) { a: Int }
      """,
      Expected(
        .knownArgumentNamesOnDirectives,
        "Unknown argument \"nam\" on directive \"@d\". Did you mean \"name\"?", at: "3:15"),
      Expected(
        .uniqueArgumentNames, "There can be only one argument named \"size\".",
        at: "3:23", "3:32"),
      Expected(
        .uniqueInputFieldNames, "There can be only one input field named \"c\".",
        at: "3:58", "3:64"),
      Expected(
        .uniqueInputFieldNames, "There can be only one input field named \"a\".",
        at: "3:48", "3:71"),
      Expected(
        .providedRequiredArgumentsOnDirectives,
        "Directive \"@d\" argument \"name\" of type \"String!\" is required, but it was not "
          + "provided.", at: "3:12"))
  }

  @Test func `a thousand findings are enough`() throws {
    let text =
      "type Query { a: Int }\n"
      + (0..<5_000).map { "scalar S @x\($0)" }
      .joined(separator: "\n")
    let errors = SchemaBuilder.check(try parsed(text)).errors
    #expect(errors.count == 1_000)
  }
}
