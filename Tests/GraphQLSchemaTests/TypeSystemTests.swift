import GraphQLSchema
import Testing

/// Types that pass the rules for their text but are not a valid type system.
struct TypeSystemTests {
  private func expectErrors(
    _ text: String, _ expected: (String, [String])...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let errors = SchemaBuilder.check(try parsed(text)).errors
    #expect(
      errors.map { "\($0.message) \($0.locations.map { "\($0.line):\($0.column)" })" }
        == expected.map { "\($0) \($1)" }, sourceLocation: sourceLocation)
    #expect(errors.allSatisfy { $0.rule == "TypeSystemRule" }, sourceLocation: sourceLocation)
  }

  // MARK: - Root operation types

  @Test func `there is a query root`() throws {
    try expectErrors("type A { a: Int }", ("Query root type must be provided.", []))
    try expectErrors(
      "type Query { a: Int } schema { mutation: Query }",
      ("Query root type must be provided.", ["1:23"]))
  }

  @Test func `roots are object types`() throws {
    try expectErrors(
      """
      interface Query { a: Int }
      "d" input Subscription { a: Int }
      scalar Mutation
      """,
      ("Query root type must be Object type, it cannot be Query.", ["1:1"]),
      (
        "Mutation root type must be Object type if provided, it cannot be Mutation.", ["3:1"]
      ),
      (
        "Subscription root type must be Object type if provided, it cannot be Subscription.",
        ["2:1"]
      ))
    try expectErrors(
      "type Q { a: Int } input In { a: Int } schema { query: Q } extend schema { mutation: In }",
      ("Mutation root type must be Object type if provided, it cannot be In.", ["1:85"]))
  }

  @Test func `a scalar nothing else mentions is known where an object type should be`() throws {
    try expectErrors(
      "type Query implements Float { a: Int } union U = ID schema { query: Query mutation: Boolean }",
      (
        "Mutation root type must be Object type if provided, it cannot be Boolean.", ["1:85"]
      ),
      (
        "Type Query must only implement Interface types, it cannot implement Float.", ["1:23"]
      ),
      ("Union type U can only include Object types, it cannot include ID.", ["1:50"]))
  }

  @Test func `roots are different types`() throws {
    try expectErrors(
      "type Q { a: Int } schema { query: Q mutation: Q subscription: Q }",
      (
        "All root types must be different, \"Q\" type is used as query, mutation, and subscription "
          + "root types.", ["1:35", "1:47", "1:63"]
      ))
    try expectErrors(
      "type Q { a: Int } type M { a: Int } schema { query: Q mutation: M subscription: M }",
      (
        "All root types must be different, \"M\" type is used as mutation and subscription root "
          + "types.", ["1:65", "1:81"]
      ))
  }

  @Test func `types under the usual names are roots unless a schema definition says otherwise`()
    throws
  {
    let named = try schema("type Query { a: Int } type Mutation { a: Int } schema { query: Query }")
    #expect(named.mutationType == nil)
    let extended = try schema(
      "type Query { a: Int } type M { a: Int } extend schema { mutation: M }")
    #expect(extended.mutationType.map { extended[$0].name } == "M")
  }

  // MARK: - Names and members

  @Test func `names with two underscores are the introspection's`() throws {
    try expectErrors(
      """
      directive @__d(__a: Int) on FIELD
      type Query { __f(__b: Int): Int }
      enum __E { __A }
      input In { "d" __g: Int }
      """,
      (reserved("__d"), ["1:1"]), (reserved("__a"), ["1:16"]), (reserved("__f"), ["2:14"]),
      (reserved("__b"), ["2:18"]), (reserved("__E"), ["3:1"]), (reserved("__A"), ["3:12"]),
      (reserved("__g"), ["4:12"]))
  }

  private func reserved(_ name: String) -> String {
    "Name \"\(name)\" must not begin with \"__\", which is reserved by GraphQL introspection."
  }

  @Test func `types are not empty`() throws {
    try expectErrors(
      """
      type Query
      extend type Query @d
      directive @d on OBJECT
      interface I
      union U
      enum E
      input In
      """,
      ("Type Query must define one or more fields.", ["1:1", "2:1"]),
      ("Type I must define one or more fields.", ["4:1"]),
      ("Union type U must define one or more member types.", ["5:1"]),
      ("Enum type E must define one or more values.", ["6:1"]),
      ("Input Object type In must define one or more fields.", ["7:1"]))
  }

  @Test func `input types go in, output types come out`() throws {
    try expectErrors(
      """
      directive @d(a: Query) on FIELD
      type Query { a(b: [U!]): In! }
      input In { a: I }
      interface I { a: Int }
      union U = Query
      """,
      ("The type of @d(a:) must be Input Type but got: Query.", ["1:14"]),
      ("The type of Query.a must be Output Type but got: In!.", ["2:26"]),
      ("The type of Query.a(b:) must be Input Type but got: [U!].", ["2:19"]),
      ("The type of In.a must be Input Type but got: I.", ["3:15"]))
  }

  @Test func `members of unions are object types, each once`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      union U = Query | String
      extend union U = Query | Missing | U
      scalar Missing
      """,
      ("Union type U can only include Object types, it cannot include String.", ["2:19"]),
      ("Union type U can only include type Query once.", ["2:11", "3:18"]),
      ("Union type U can only include Object types, it cannot include Missing.", ["3:26"]),
      ("Union type U can only include Object types, it cannot include U.", ["3:36"]))
  }

  @Test func `what is required cannot be deprecated`() throws {
    try expectErrors(
      """
      directive @d(a: Int! @deprecated, b: Int! = 1 @deprecated) on FIELD
      type Query { a(b: Int! @deprecated, c: Int @deprecated): Int }
      input In { a: Int! @deprecated(reason: "r") b: Int! = 1 @deprecated }
      """,
      ("Required argument @d(a:) cannot be deprecated.", ["1:22", "1:17"]),
      ("Required argument Query.a(b:) cannot be deprecated.", ["2:24", "2:19"]),
      ("Required input field In.a cannot be deprecated.", ["3:20", "3:15"]))
  }

  // MARK: - Interfaces

  @Test func `only interfaces are implemented, each once, by others`() throws {
    try expectErrors(
      """
      type Query implements S & I & I { a: Int }
      scalar S
      interface I implements I { a: Int }
      """,
      ("Type Query must only implement Interface types, it cannot implement S.", ["1:23"]),
      ("Type Query can only implement I once.", ["1:27", "1:31"]),
      ("Type I cannot implement itself because it would create a circular reference.", ["3:24"])
    )
  }

  @Test func `interfaces of interfaces are implemented, too`() throws {
    try expectErrors(
      """
      type Query implements A { a: Int }
      interface A implements B { a: Int }
      interface B implements A { a: Int }
      """,
      ("Type Query must implement B because it is implemented by A.", ["2:24", "1:23"]),
      (
        "Type A cannot implement B because it would create a circular reference.",
        ["3:24", "2:24"]
      ),
      (
        "Type B cannot implement A because it would create a circular reference.",
        ["2:24", "3:24"]
      ))
  }

  @Test func `fields of interfaces are there, with a type at least as narrow`() throws {
    try expectErrors(
      """
      interface I { a: [I] b: Int! c: U "d" e: Int }
      type Query implements I { a: [Query!]! b: Int c: Query }
      extend type Query @d
      directive @d on OBJECT
      union U = Query
      """,
      ("Interface field I.b expects type Int! but Query.b is type Int.", ["1:25", "2:43"]),
      (
        "Interface field I.e expected but Query does not provide it.", ["1:35", "2:1", "3:1"]
      ))
  }

  @Test func `arguments of interfaces are there, equal, and others are optional`() throws {
    try expectErrors(
      """
      interface I { f(a: Int, b: Int!, c: Int): Int }
      type Query implements I { f(a: Int!, b: Int!, d: Int!, e: Int! = 1, g: Int): Int }
      """,
      (
        "Interface field argument I.f(a:) expects type Int but Query.f(a:) is type Int!.",
        ["1:20", "2:32"]
      ),
      (
        "Interface field argument I.f(c:) expected but Query.f does not provide it.",
        ["1:34", "2:27"]
      ),
      (
        "Object field Query.f includes required argument d that is missing from the Interface "
          + "field I.f.", ["2:47", "1:15"]
      ))
  }

  @Test func `a field is deprecated only with that of the interface`() throws {
    try expectErrors(
      """
      interface I { a: Int b: Int @deprecated }
      type Query implements I { a: Int @deprecated b: Int @deprecated }
      """,
      (
        "Interface field I.a is not deprecated, so implementation field Query.a must not be "
          + "deprecated.", ["2:34", "2:30"]
      ))
  }

  // MARK: - Input objects

  @Test func `input objects that need themselves cannot be given`() throws {
    try expectErrors(
      """
      type Query { a(b: A): Int }
      input A { self: A! b: B! nullable: A list: [A!]! }
      input B { c: C! }
      input C { a: A! }
      """,
      (
        "Cannot reference Input Object \"A\" within itself through a series of non-null fields: "
          + "\"self\".", ["2:11"]
      ),
      (
        "Cannot reference Input Object \"A\" within itself through a series of non-null fields: "
          + "\"b.c.a\".", ["2:20", "3:11", "4:11"]
      ))
  }

  @Test func `defaults that need themselves have no value`() throws {
    try expectErrors(
      """
      type Query { a(b: A = {}): Int }
      input A { x: A = {} fine: A = {x: null, fine: null} }
      input B { c: [C] = [{}] }
      input C { b: B = {} }
      """,
      (
        "Invalid circular reference. The default value of Input Object field A.x references "
          + "itself.", ["2:18"]
      ),
      (
        "Invalid circular reference. The default value of Input Object field B.c references "
          + "itself via the default values of: C.b.", ["3:20", "4:18"]
      ))
  }

  @Test func `fields of OneOf input objects are nullable and have no default`() throws {
    try expectErrors(
      """
      type Query { a(b: A): Int }
      input A @oneOf { a: Int! b: Int = 1 c: Int }
      extend input A { d: [Int]! }
      input B { a: Int }
      extend input B @oneOf
      """,
      ("OneOf input field A.a must be nullable.", ["2:21"]),
      ("OneOf input field A.b cannot have a default value.", ["2:26"]),
      ("OneOf input field A.d must be nullable.", ["3:21"]),
      ("Directive @oneOf must not be provided by an extension of Input Object B.", ["5:16"]))
  }

  // MARK: - Defaults and directives

  @Test func `defaults fit their type`() throws {
    try expectErrors(
      """
      type Query {
        a(i: Int = "1" f: Float = true s: String = 1 b: Boolean = 1 id: ID = 1.5 e: E = "A"
          g: E = B l: [Int!] = [1, null, "x"] n: Int! = null big: Int = 2147483648 o: One = {}): Int
        fine(f: Float = 1, id: ID = 1, l: [[Int]] = 1, any: Any = {a: [B]}, o: One = {a: 1}): Int
      }
      enum E { A AA }
      input In { req: Int! opt: Int = 2 deep: In }
      input One @oneOf { a: Int b: Int }
      scalar Any
      directive @d(x: In = {rek: 1, deep: {req: null}}) on FIELD
      """,
      (
        "@d(x:) has invalid default value: Expected value of type \"In\" to include required field "
          + "\"req\", found: {rek: 1, deep: {req: null}}.", ["10:22"]
      ),
      (
        "@d(x:) has invalid default value at .deep.req: Expected value of non-null type \"Int!\" "
          + "not to be null.", ["10:43"]
      ),
      (
        "@d(x:) has invalid default value: Expected value of type \"In\" not to include unknown "
          + "field \"rek\". Did you mean \"req\"? Found: {rek: 1, deep: {req: null}}.", ["10:23"]
      ),
      (
        "Query.a(i:) has invalid default value: Int cannot represent non-integer value: \"1\"",
        ["2:14"]
      ),
      (
        "Query.a(f:) has invalid default value: Float cannot represent non numeric value: true",
        ["2:29"]
      ),
      (
        "Query.a(s:) has invalid default value: String cannot represent a non string value: 1",
        ["2:46"]
      ),
      (
        "Query.a(b:) has invalid default value: Boolean cannot represent a non boolean value: 1",
        ["2:61"]
      ),
      (
        "Query.a(id:) has invalid default value: ID cannot represent a non-string and non-integer "
          + "value: 1.5", ["2:72"]
      ),
      (
        "Query.a(e:) has invalid default value: Enum \"E\" cannot represent non-enum value: "
          + "\"A\". Did you mean the enum value \"A\" or \"AA\"?", ["2:83"]
      ),
      (
        "Query.a(g:) has invalid default value: Value \"B\" does not exist in \"E\" enum. "
          + "Did you mean the enum value \"A\"?", ["3:12"]
      ),
      (
        "Query.a(l:) has invalid default value at [1]: Expected value of non-null type \"Int!\" "
          + "not to be null.", ["3:30"]
      ),
      (
        "Query.a(l:) has invalid default value at [2]: Int cannot represent non-integer value: "
          + "\"x\"", ["3:36"]
      ),
      (
        "Query.a(n:) has invalid default value: Expected value of non-null type \"Int!\" not to be "
          + "null.", ["3:51"]
      ),
      (
        "Query.a(big:) has invalid default value: Int cannot represent non 32-bit signed integer "
          + "value: 2147483648", ["3:67"]
      ),
      (
        "Query.a(o:) has invalid default value: OneOf Input Object \"One\" must specify exactly one "
          + "key.", ["3:87"]
      ))
  }

  @Test func `directives do not reach themselves`() throws {
    try expectErrors(
      """
      type Query { a: Int }
      directive @self(a: Int @self) on ARGUMENT_DEFINITION
      directive @a(x: In) on ARGUMENT_DEFINITION
      input In { e: E }
      enum E { A @b }
      directive @b(x: Int @c) on ENUM_VALUE
      directive @c(y: In) on ARGUMENT_DEFINITION
      directive @fine(y: In @a) on ARGUMENT_DEFINITION
      """,
      ("Directive @self must not reference itself directly or indirectly.", ["2:1"]),
      ("Directive @b must not reference itself directly or indirectly.", ["6:1"]),
      ("Directive @c must not reference itself directly or indirectly.", ["7:1"]))
  }

  @Test func `defaults cannot be made to explode`() throws {
    let width = (0..<60).map { "input A\($0) { a: A\($0 + 1) = {} b: A\($0 + 1) = {} }" }
    let text =
      "type Query { a(b: A0 = {}): Int }\n" + width.joined(separator: "\n")
      + "\ninput A60 { a: Int }"
    let errors = SchemaBuilder.check(try parsed(text)).errors
    #expect(
      errors.first?.message
        == "Query.a(b:) has a default value of too many values, or too deep.")
    let chain = (0..<3_000).map { "input A\($0) { a: A\($0 + 1)! = {} }" }
    let long =
      "type Query { a(b: A0): Int }\n" + chain.joined(separator: "\n")
      + "\ninput A3000 { a: Int }"
    #expect(!SchemaBuilder.check(try parsed(long)).errors.isEmpty)
  }
}
