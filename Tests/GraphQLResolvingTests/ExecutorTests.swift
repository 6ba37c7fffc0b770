import GraphQLLanguage
import GraphQLResolving
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import JSON
import Testing

/// Operations over plain values: GraphQL September 2025, 6 Execution, section by section.
@Suite struct ExecutorTests {
  private static let sdl = """
    type Query {
      pet: Pet
      pets: [Pet!]
      names: [String]
      owner: Owner!
      thing: Thing
      int: Int
      float: Float
      text: String
      yes: Boolean
      id: ID
      kind: Kind
      any: Anything
      echo(text: String = "none", list: [Int!]): String
      deep: Query
    }
    type Mutation { first: Int second: Int! third: Int }
    interface Pet { name: String! owner: Owner }
    type Dog implements Pet { name: String! owner: Owner barks: Boolean }
    type Cat implements Pet { name: String! owner: Owner lives: Int! }
    type Owner { name: String! pets: [Pet] boss: Owner! }
    union Thing = Dog | Owner
    enum Kind { FURRY SCALY @deprecated(reason: "Slippery.") }
    scalar Anything
    """

  private func prepared(
    _ text: String, _ variables: String = "{}", sdl: String = sdl
  ) throws -> (document: ValidDocument, operation: OperationDefinition, values: CoercedVariables) {
    let schema = try SchemaBuilder.build(Parser.parse(sdl, limits: .unlimited))
    let document = try Validator.validate(
      Parser.parse(text, limits: .unlimited), against: schema)
    let operation = try document.operation(named: nil)
    let values = try VariableCoercion(schema, operation, source: document.document.source)
      .coerce(JSONParser.parse(Array(variables.utf8)))
    return (document, operation, values)
  }

  private func expect(
    _ text: String, on root: String, variables: String = "{}",
    limits: ExecutionLimits = ExecutionLimits(), _ data: String, _ errors: String...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let (document, operation, values) = try prepared(text, variables)
    let result = try Executor(document, operation, variables: values, limits: limits)
      .execute(root: JSONParser.parse(Array(root.utf8)))
    #expect(String(decoding: result.data, as: UTF8.self) == data, sourceLocation: sourceLocation)
    let found = result.errors.map { error in
      let places = error.locations.map { "\($0.line):\($0.column) " }.joined()
      return "\(places)\(error.path?.accessText ?? "") \(error.message)"
    }
    #expect(found == errors, sourceLocation: sourceLocation)
  }

  // MARK: - Selections

  @Test func `fields are properties, in the order of the selections, under their response names`()
    throws
  {
    try expect(
      "{ b: text int a: text __typename missing: yes }",
      on: #"{"text": "x", "int": 1, "other": 2}"#,
      #"{"b":"x","int":1,"a":"x","__typename":"Query","missing":null}"#)
  }

  @Test func `selections of one response name are merged where the first one stands`() throws {
    try expect(
      "{ owner { name } int ...More } fragment More on Query { owner { boss { name } name } }",
      on: #"{"owner": {"name": "A", "boss": {"name": "B"}}, "int": 1}"#,
      #"{"owner":{"name":"A","boss":{"name":"B"}},"int":1}"#)
  }

  @Test func `fragments apply by the type of the object`() throws {
    let text = """
      { pets { name ... on Dog { barks } ...Cats ... on Pet { owner { name } } } thing { ... on Dog { name } __typename } }
      fragment Cats on Cat { lives ...Again }
      fragment Again on Pet { __typename }
      """
    try expect(
      text,
      on: """
        {"pets": [{"__typename": "Dog", "name": "Rex", "barks": true},
          {"__typename": "Cat", "name": "Tom", "lives": 9, "owner": {"name": "Ann"}}],
         "thing": {"__typename": "Owner"}}
        """,
      #"{"pets":[{"name":"Rex","barks":true,"owner":null},"#
        + #"{"name":"Tom","lives":9,"__typename":"Cat","owner":{"name":"Ann"}}],"#
        + #""thing":{"__typename":"Owner"}}"#)
  }

  @Test(arguments: [
    (false, false, #"{"a":null}"#), (false, true, #"{"a":null,"b":null,"c":null}"#),
    (true, false, "{}"), (true, true, #"{"b":null}"#),
  ])
  func `what is skipped or not included has no entry`(skip: Bool, include: Bool, data: String)
    throws
  {
    try expect(
      """
      query ($s: Boolean!, $i: Boolean!) {
        a: int @skip(if: $s) b: int @include(if: $i)
        ... @include(if: $i) { c: int @skip(if: $s) }
      }
      """, on: "{}", variables: "{\"s\": \(skip), \"i\": \(include)}", data)
  }

  // MARK: - Nulls and errors

  @Test func `a null where none may be goes up to the nearest place that may be null`() throws {
    try expect(
      "{ pet { name owner { name boss { name } } } int }",
      on:
        #"{"pet": {"__typename": "Dog", "name": "Rex", "owner": {"name": "A", "boss": {}}}, "int": 1}"#,
      #"{"pet":{"name":"Rex","owner":null},"int":1}"#,
      "1:34 .pet.owner.boss.name Cannot return null for non-nullable field Owner.name.")
    try expect(
      "{ int owner { name } }", on: #"{"int": 1}"#, "null",
      "1:7 .owner Cannot return null for non-nullable field Query.owner.")
  }

  @Test func `lists say which item an error is of`() throws {
    try expect("{ names }", on: #"{"names": ["a", null, "b"]}"#, #"{"names":["a",null,"b"]}"#)
    try expect(
      "{ names }", on: #"{"names": ["a", {}, []]}"#, #"{"names":["a",null,null]}"#,
      "1:3 .names[1] String cannot represent value: {}",
      "1:3 .names[2] String cannot represent value: []")
    try expect(
      "{ pets { name } }",
      on: #"{"pets": [{"__typename": "Dog", "name": "a"}, {"__typename": "Dog"}]}"#,
      #"{"pets":null}"#,
      "1:10 .pets[1].name Cannot return null for non-nullable field Dog.name.")
    try expect(
      "{ pets { name } }", on: #"{"pets": [null]}"#, #"{"pets":null}"#,
      "1:3 .pets[0] Cannot return null for non-nullable field Query.pets.")
    try expect(
      "{ names }", on: #"{"names": "a"}"#, #"{"names":null}"#,
      "1:3 .names Expected Iterable, but did not find one for field \"Query.names\".")
  }

  @Test(arguments: [
    (#"{}"#, "must resolve to an Object type at runtime"),
    (#"{"__typename": 1}"#, "must resolve to an Object type at runtime"),
    (#"{"__typename": "Wolf"}"#, "was resolved to a type \"Wolf\" that does not exist"),
    (#"{"__typename": "Kind"}"#, "was resolved to a non-object type \"Kind\"."),
    (
      #"{"__typename": "Owner"}"#,
      "Runtime Object type \"Owner\" is not a possible type for \"Pet\"."
    ),
    (#""Dog""#, "must resolve to an Object type at runtime"),
  ])
  func `what an abstract type is must be said, and possible`(value: String, message: String) throws
  {
    let (document, operation, values) = try prepared("{ pet { name } }")
    let result = try Executor(document, operation, variables: values)
      .execute(root: JSONParser.parse(Array("{\"pet\": \(value)}".utf8)))
    #expect(String(decoding: result.data, as: UTF8.self) == #"{"pet":null}"#)
    #expect(result.errors.count == 1)
    #expect(result.errors.first?.message.contains(message) == true)
  }

  @Test func `an operation whose root is null where it must not be has no data`() throws {
    try expect(
      "mutation { first second third }", on: #"{"first": 1, "third": 3}"#, "null",
      "1:18 .second Cannot return null for non-nullable field Mutation.second.")
    try expect(
      "mutation { third first }", on: #"{"first": 1, "third": 3}"#, #"{"third":3,"first":1}"#)
  }

  // MARK: - Leaves

  @Test(arguments: [
    ("int", "7", "7"), ("int", "-2147483648", "-2147483648"), ("int", "7.0", "7"),
    ("int", "true", "1"), ("int", #""12""#, "12"), ("int", #"" 0x1F ""#, "31"),
    ("float", "0.1", "0.1"), ("float", "1e3", "1000"), ("float", "false", "0"),
    ("float", #""1.5""#, "1.5"), ("text", "1.50", #""1.5""#), ("text", "true", #""true""#),
    ("text", #""a\nb""#, #""a\nb""#), ("yes", "0", "false"), ("yes", "2", "true"),
    ("yes", "true", "true"), ("id", "12", #""12""#), ("id", #""a""#, #""a""#),
    ("id", "1e2", #""100""#), ("kind", #""FURRY""#, #""FURRY""#),
    ("any", #"{"a": [1, null]}"#, #"{"a":[1,null]}"#),
  ])
  func `a leaf is written as its type has it`(field: String, value: String, data: String) throws {
    try expect("{ \(field) }", on: "{\"\(field)\": \(value)}", "{\"\(field)\":\(data)}")
  }

  @Test(arguments: [
    ("int", "1.5", "Int cannot represent non-integer value: 1.5"),
    ("int", "2147483648", "Int cannot represent non 32-bit signed integer value: 2147483648"),
    ("int", #""x""#, "Int cannot represent non-integer value: \"x\""),
    ("float", "{}", "Float cannot represent non numeric value: {}"),
    ("float", #""NaN""#, "Float cannot represent non numeric value: \"NaN\""),
    ("text", "[]", "String cannot represent value: []"),
    ("yes", #""true""#, "Boolean cannot represent a non boolean value: \"true\""),
    ("id", "1.5", "ID cannot represent value: 1.5"),
    ("kind", #""WOOLLY""#, "Enum \"Kind\" cannot represent value: \"WOOLLY\""),
    ("kind", "1", "Enum \"Kind\" cannot represent value: 1"),
  ])
  func `what is no value of its type is an error and null`(
    field: String, value: String, message: String
  ) throws {
    try expect(
      "{ \(field) }", on: "{\"\(field)\": \(value)}", "{\"\(field)\":null}",
      "1:3 .\(field) \(message)")
  }

  // MARK: - Limits

  @Test func `a result has a size and a depth`() throws {
    let (text, root) = ("{ deep { deep { int } } }", #"{"deep": {"deep": {"int": 1}}}"#)
    try expect(
      text, on: root, limits: ExecutionLimits(maximumDepth: 3), #"{"deep":{"deep":{"int":1}}}"#)
    try expect(
      text, on: root, limits: ExecutionLimits(maximumDepth: 2), "null",
      "1:10 .deep.deep The result is nested too deeply.")
    let items = (0..<100).map { "\"name \($0)\"" }.joined(separator: ",")
    try expect(
      "{ names }", on: "{\"names\": [\(items)]}", limits: ExecutionLimits(maximumBytes: 100),
      "null", "1:3 .names[11] The result is too large.")
  }

  // MARK: - Introspection

  @Test func `introspection is answered beside what is asked of the data`() throws {
    try expect(
      """
      { int a: __type(name: "Kind") { name kind enumValues { name } fields { name } }
        b: __type(name: "Kind") { enumValues(includeDeprecated: true) { name deprecationReason } }
        c: __type(name: "Nothing") { name } __schema { queryType { name } subscriptionType { name } } }
      """, on: #"{"int": 1}"#,
      #"{"int":1,"a":{"name":"Kind","kind":"ENUM","enumValues":[{"name":"FURRY"}],"fields":null},"#
        + #""b":{"enumValues":[{"name":"FURRY","deprecationReason":null},"#
        + #"{"name":"SCALY","deprecationReason":"Slippery."}]},"#
        + #""c":null,"__schema":{"queryType":{"name":"Query"},"subscriptionType":null}}"#)
  }

  @Test func `only introspection is answered where there is no data to ask for`() throws {
    let (document, operation, values) = try prepared(
      "query ($n: String!) { int s: __schema { queryType { name } } t: __type(name: $n) { kind } pet { name } }",
      #"{"n": "Pet"}"#)
    let result = Executor(document, operation, variables: values).executeIntrospection()
    #expect(result.members.map(\.responseName) == ["s", "t"])
    #expect(
      result.members.map { String(decoding: $0.json, as: UTF8.self) }
        == [#"{"queryType":{"name":"Query"}}"#, #"{"kind":"INTERFACE"}"#])
    #expect(result.members.map(\.isFailed) == [false, false])
    #expect(result.errors == [])
  }

  @Test func `a mutation asks for no introspection`() throws {
    let (document, operation, values) = try prepared("mutation { __typename first }")
    let result = Executor(document, operation, variables: values).executeIntrospection()
    #expect(result.members.isEmpty)
    #expect(result.errors == [])
  }
}
