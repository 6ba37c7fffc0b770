import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import JSON
import Testing

struct CoercionTests {
  private static let text = """
    type Query {
      f(i: Int, s: String = "def", r: Int!, in: In, one: One, e: E, l: [Int!], any: Any): Int
      g(b: Boolean, f: Float): Int
    }
    enum E { RED GREEN }
    input In { id: ID! name: String = "n" deep: In list: [E!] }
    input One @oneOf { a: Int b: String }
    scalar Any
    """

  private func coerce(
    _ declared: String, _ json: String, suggestions: Bool = true
  ) throws -> Result<CoercedVariables, RequestErrors> {
    let document = try parsed("query (\(declared)) { f }")
    let operation = try #require(document.operations.first)
    let coercion = VariableCoercion(
      try schema(Self.text), operation, source: document.source, suggestions: suggestions)
    let values = try JSONParser.parse(Array(json.utf8))
    return Result { () throws(RequestErrors) in try coercion.coerce(values) }
  }

  private func expect(
    _ declared: String, _ json: String, _ name: String, _ value: InputValue?,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let result = try coerce(declared, json)
    #expect(throws: Never.self, sourceLocation: sourceLocation) { try result.get() }
    guard case .success(let variables) = result else { return }
    #expect(variables[name] == value, sourceLocation: sourceLocation)
  }

  private func expectErrors(
    _ declared: String, _ json: String, _ messages: String..., suggestions: Bool = true,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    guard case .failure(let failure) = try coerce(declared, json, suggestions: suggestions) else {
      Issue.record("\(json) was accepted", sourceLocation: sourceLocation)
      return
    }
    #expect(failure.errors.map(\.message) == messages, sourceLocation: sourceLocation)
    #expect(
      failure.errors.allSatisfy { $0.locations == [SourceLocation(line: 1, column: 8)] },
      sourceLocation: sourceLocation)
  }

  // MARK: - Variables

  @Test func `scalars take what the specification says`() throws {
    try expect("$v: Int", #"{"v": -2147483648}"#, "v", .int(-2_147_483_648))
    try expect("$v: Int", #"{"v": 1.0}"#, "v", .int(1))
    try expect("$v: Int", #"{"v": 1e3}"#, "v", .int(1000))
    try expect("$v: Float", #"{"v": 1}"#, "v", .float(1))
    try expect("$v: ID", #"{"v": 12345678901234567890}"#, "v", .string("12345678901234567890"))
    try expect("$v: ID", #"{"v": "a"}"#, "v", .string("a"))
    try expect("$v: ID", #"{"v": 1e3}"#, "v", .string("1000"))
    try expect("$v: Boolean", #"{"v": false}"#, "v", .boolean(false))
    try expect("$v: E", #"{"v": "RED"}"#, "v", .enum("RED"))
    try expect(
      "$v: Any", #"{"v": [1, 3000000000, 1.5, {"a": null}]}"#, "v",
      .list([
        .int(1), .bigInt(3_000_000_000), .number("1.5"),
        .object([InputValue.Member(name: "a", value: .null)]),
      ]))
  }

  @Test func `scalars refuse the rest, in the words of graphql-js`() throws {
    let prefix = "Variable \"$v\" got invalid value "
    try expectErrors(
      "$v: Int", #"{"v": 1.5}"#,
      prefix + "1.5; Int cannot represent non-integer value: 1.5")
    try expectErrors(
      "$v: Int", #"{"v": "1"}"#,
      prefix + "\"1\"; Int cannot represent non-integer value: \"1\"")
    try expectErrors(
      "$v: Int", #"{"v": 2147483648}"#,
      prefix
        + "2147483648; Int cannot represent non 32-bit signed integer value: 2147483648")
    try expectErrors(
      "$v: Float", #"{"v": "1"}"#,
      prefix + "\"1\"; Float cannot represent non numeric value: \"1\"")
    try expectErrors(
      "$v: String", #"{"v": {"a": [1, [2, []]]}}"#,
      prefix
        + "{ a: [1, [Array]] }; String cannot represent a non string value: { a: [1, [Array]] }")
    try expectErrors(
      "$v: Boolean", #"{"v": 1}"#,
      prefix + "1; Boolean cannot represent a non boolean value: 1")
    try expectErrors(
      "$v: ID", #"{"v": 1.5}"#, prefix + "1.5; ID cannot represent value: 1.5")
    try expectErrors(
      "$v: E", #"{"v": "REDD"}"#,
      prefix
        + "\"REDD\"; Value \"REDD\" does not exist in \"E\" enum. Did you mean the enum value "
        + "\"RED\"?")
    try expectErrors(
      "$v: E", #"{"v": 1}"#,
      prefix + "1; Enum \"E\" cannot represent non-string value: 1.")
  }

  @Test func `a lone value becomes a list of one, at every depth`() throws {
    try expect("$v: [Int]", #"{"v": 1}"#, "v", .list([.int(1)]))
    try expect("$v: [[Int]]", #"{"v": 1}"#, "v", .list([.list([.int(1)])]))
    try expect("$v: [[Int]]", #"{"v": [1, null]}"#, "v", .list([.list([.int(1)]), .null]))
    try expect("$v: [Int]", #"{"v": null}"#, "v", .null)
    try expectErrors(
      "$v: [Int!]", #"{"v": [1, null, "x"]}"#,
      "Variable \"$v\" got invalid value null at \"v[1]\"; Expected non-nullable type \"Int!\" not "
        + "to be null.",
      "Variable \"$v\" got invalid value \"x\" at \"v[2]\"; Int cannot represent non-integer value: "
        + "\"x\"")
  }

  @Test func `absent is not null`() throws {
    try expect("$v: Int", "{}", "v", nil)
    try expect("$v: Int", #"{"v": null}"#, "v", .null)
    try expect("$v: Int = 5", "{}", "v", .int(5))
    try expect("$v: Int = 5", #"{"v": null}"#, "v", .null)
    try expect("$v: Int! = 5", "{}", "v", .int(5))
    try expectErrors(
      "$v: Int! = 5", #"{"v": null}"#,
      "Variable \"$v\" of non-null type \"Int!\" must not be null.")
    try expectErrors(
      "$v: Int!", #"{"V": 1}"#, "Variable \"$v\" of required type \"Int!\" was not provided.")
  }

  @Test func `output types are no types of variables`() throws {
    guard case .failure(let failure) = try coerce("$v: [Query!]", "{}") else {
      Issue.record("A variable has an output type")
      return
    }
    #expect(
      failure.errors == [
        GraphQLError(
          "Variable \"$v\" expected value of type \"[Query!]\" which cannot be used as an input "
            + "type.", locations: [SourceLocation(line: 1, column: 12)], code: .badUserInput)
      ])
  }

  @Test func `input objects come in the order of their definition, defaults filled in`() throws {
    func member(_ name: String, _ value: InputValue) -> InputValue.Member {
      InputValue.Member(name: name, value: value)
    }
    try expect(
      "$v: In", #"{"v": {"list": "RED", "id": 4}}"#, "v",
      .object([
        member("id", .string("4")), member("name", .string("n")),
        member("list", .list([.enum("RED")])),
      ]))
    try expect(
      "$v: In", #"{"v": {"name": null, "id": "a"}}"#, "v",
      .object([member("id", .string("a")), member("name", .null)]))
  }

  @Test func `fields of input objects are complete and known`() throws {
    try expectErrors(
      "$v: In", #"{"v": {"nam": 1, "deep": {"id": null}}}"#,
      "Variable \"$v\" got invalid value { nam: 1, deep: { id: null } }; Field \"id\" of required "
        + "type \"ID!\" was not provided.",
      "Variable \"$v\" got invalid value null at \"v.deep.id\"; Expected non-nullable type \"ID!\" "
        + "not to be null.",
      "Variable \"$v\" got invalid value { nam: 1, deep: { id: null } }; Field \"nam\" is not defined "
        + "by type \"In\". Did you mean \"name\"?")
    try expectErrors(
      "$v: In", #"{"v": {"id": 1, "nam": 1}}"#,
      "Variable \"$v\" got invalid value { id: 1, nam: 1 }; Field \"nam\" is not defined by type "
        + "\"In\".", suggestions: false)
    try expectErrors(
      "$v: In", #"{"v": []}"#,
      "Variable \"$v\" got invalid value []; Expected type \"In\" to be an object.")
  }

  @Test func `OneOf input objects have exactly one field, and it is not null`() throws {
    try expect(
      "$v: One", #"{"v": {"a": 1}}"#, "v", .object([InputValue.Member(name: "a", value: .int(1))]))
    let prefix = "Variable \"$v\" got invalid value "
    let exactlyOne = "Exactly one key must be specified for OneOf type \"One\"."
    try expectErrors("$v: One", #"{"v": {}}"#, prefix + "{}; " + exactlyOne)
    try expectErrors(
      "$v: One", #"{"v": {"a": 1, "b": null}}"#, prefix + "{ a: 1, b: null }; " + exactlyOne)
    try expectErrors(
      "$v: One", #"{"v": {"b": null}}"#,
      prefix + "null at \"v.b\"; Field \"b\" must be non-null.")
  }

  @Test func `fifty errors are enough`() throws {
    let list = "[" + Array(repeating: "null", count: 1_000).joined(separator: ",") + "]"
    guard case .failure(let failure) = try coerce("$v: [Int!]", "{\"v\": \(list)}") else {
      Issue.record("A list of nulls was accepted")
      return
    }
    #expect(failure.errors.count == 51)
    #expect(
      failure.errors.last?.message
        == "Too many errors processing variables, error limit reached. Execution aborted.")
  }

  @Test func `messages do not repeat all of a large request fifty times`() throws {
    let members = (0..<20_000).map { "\"key\($0)\": null" }.joined(separator: ",")
    for json in [
      "{\"v\": {\(members)}}", "{\"v\": {\"\(String(repeating: "k", count: 400_000))\": 1}}",
    ] {
      guard case .failure(let failure) = try coerce("$v: In", json) else {
        Issue.record("Unknown fields were accepted")
        return
      }
      #expect(failure.errors.map(\.message.utf8.count).reduce(0, +) < 1_500_000)
    }
  }

  @Test func `values nested deeply do not exhaust a small stack`() throws {
    let depth = 100
    let json =
      "{\"v\": " + String(repeating: "{\"id\": 1, \"deep\": ", count: depth) + "null"
      + String(repeating: "}", count: depth + 1)
    let document = try parsed("query ($v: In) { f }")
    let operation = try #require(document.operations.first)
    let coercion = VariableCoercion(try schema(Self.text), operation, source: document.source)
    let values = try JSONParser.parse(Array(json.utf8), maximumNesting: 128)
    let variables = onSmallStack { try? coercion.coerce(values) }
    #expect(variables?["v"]?["deep"]?["id"] == .string("1"))
  }

  @Test func `many variables and many fields are found as well as few`() throws {
    let names = (0..<40).map { "v\($0)" }
    try expect(
      names.map { "$\($0): Int" }.joined(separator: " "),
      "{" + names.map { "\"\($0)\": \($0.dropFirst())" }.joined(separator: ",") + "}", "v39",
      .int(39))
  }

  // MARK: - Arguments

  private func arguments(
    _ written: String, _ variables: [(name: String, value: InputValue)] = []
  ) throws -> CoercedArguments {
    let document = try parsed("{ f(\(written)) }")
    guard case .field(let field) = document.operations.first?.selectionSet.selections.first else {
      throw GraphQLError.fault("no field")
    }
    let schema = try schema(Self.text)
    let definition = try #require(schema.type(named: "Query")?.field(named: "f"))
    return try ArgumentCoercion(
      schema, source: document.source, variables: CoercedVariables(variables)
    ).coerce(field.arguments, as: definition.arguments, at: field.position)
  }

  @Test func `arguments are given, defaulted or absent`() throws {
    let some = try arguments("r: 1, i: null, l: 3")
    #expect(some["r"] == .int(1))
    #expect(some["i"] == .some(.null))
    #expect(some["l"] == .list([.int(3)]))
    #expect(some["s"] == .string("def"))
    #expect(some["in"] == nil)
    let variables = try arguments(
      "r: $r, i: $gone, s: $gone, l: [1, $one], in: {id: $one, name: $gone}",
      [("r", .int(2)), ("one", .int(5))])
    #expect(variables["r"] == .int(2))
    #expect(variables["i"] == nil)
    #expect(variables["s"] == .string("def"))
    #expect(variables["l"] == .list([.int(1), .int(5)]))
    #expect(variables["in"]?["name"] == .string("n"))
  }

  @Test func `arguments that do not fit are refused where they are written`() throws {
    func expect(
      _ written: String, _ message: String, column: Int,
      _ variables: [(name: String, value: InputValue)] = [],
      sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
      #expect(sourceLocation: sourceLocation) {
        try arguments(written, variables)
      } throws: {
        $0 as? GraphQLError
          == GraphQLError(
            message, locations: [SourceLocation(line: 1, column: column)], code: .badUserInput)
      }
    }
    expect("i: 1", "Argument \"r\" of required type \"Int!\" was not provided.", column: 3)
    expect("r: null", "Argument \"r\" of non-null type \"Int!\" must not be null.", column: 8)
    expect(
      "r: $gone",
      "Argument \"r\" of required type \"Int!\" was provided the variable \"$gone\" which was not "
        + "provided a runtime value.", column: 8)
    expect(
      "r: $r", "Argument \"r\" of non-null type \"Int!\" must not be null.", column: 8,
      [("r", .null)])
    expect("r: 1, e: BLUE", "Argument \"e\" has invalid value BLUE.", column: 14)
    expect("r: 1, l: [1, null]", "Argument \"l\" has invalid value [1, null].", column: 14)
    expect(
      "r: 1, one: {a: 1, b: $b}", "Argument \"one\" has invalid value {a: 1, b: $b}.", column: 16)
    expect(
      "r: 1, one: {b: $b}", "Argument \"one\" has invalid value {b: $b}.", column: 16,
      [("b", .null)])
    expect("r: 1, one: {b: $b}", "Argument \"one\" has invalid value {b: $b}.", column: 16)
  }
}
