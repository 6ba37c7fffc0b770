import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random variables, coerced here and by graphql-js: values and messages must be equal.
@Suite(.blocks) struct VariableDifferentialTests {
  private static let count: UInt64 = 3_000

  @Test(
    .enabled(
      if: Oracle.graphQLJS != nil,
      "SKIPPED: Node.js with graphql-js 16 is missing; apt-get install node-graphql."))
  func `graphql-js coerces variables alike`() throws {
    let oracle = try #require(Oracle.graphQLJS)
    let schema = try schema(RandomVariables.schema)
    let cases = (0..<Self.count).map { seed in
      var random = RandomVariables(seed: seed)
      return random.request()
    }
    let answers = try oracle.answers(
      to: cases.map { document, variables in
        .object([
          .init(name: "op", value: .string("coerce")),
          .init(name: "schema", value: .string(RandomVariables.schema)),
          .init(name: "document", value: .string(document)),
          .init(name: "variables", value: variables),
        ])
      })
    try #require(answers.count == cases.count)
    var accepted = 0
    for ((document, variables), answer) in zip(cases, answers) {
      let ours = try Self.answer(schema, document, variables)
      if ours["values"] != nil { accepted += 1 }
      #expect(
        String(decoding: ours.bytes, as: UTF8.self)
          == String(decoding: answer.bytes, as: UTF8.self),
        "\(document) with \(String(decoding: variables.bytes, as: UTF8.self))")
    }
    #expect(accepted > Int(Self.count) / 10)
    #expect(cases.count - accepted > Int(Self.count) / 10)
  }

  private static func answer(
    _ schema: Schema, _ text: String, _ variables: JSONValue
  ) throws -> JSONValue {
    let document = try parsed(text)
    let operation = try #require(document.operations.first)
    do throws(RequestErrors) {
      let values = try VariableCoercion(schema, operation, source: document.source)
        .coerce(variables)
      return .object([
        .init(
          name: "values",
          value: .object(
            operation.variables.compactMap { variable in
              values[variable.name.text].map {
                .init(name: variable.name.text, value: json($0))
              }
            }))
      ])
    } catch {
      return .object([
        .init(name: "errors", value: .array(error.errors.map { .string($0.message) }))
      ])
    }
  }

  private static func json(_ value: InputValue) -> JSONValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .int(let number): .number("\(number)")
    case .bigInt(let number): .number(LiteralText.number(Double(number)))
    case .float(let number): .number(LiteralText.number(number))
    case .number(let text): .number(LiteralText.number(Double(text) ?? .nan))
    case .string(let text), .enum(let text): .string(text)
    case .list(let items): .array(items.map(json))
    case .object(let members):
      .object(members.map { .init(name: $0.name, value: json($0.value)) })
    }
  }
}

/// Variable definitions over one small schema, and values that fit more often than not.
private struct RandomVariables {
  static let schema = """
    type Query { f(in: In, deep: Deep, e: E, any: Any, f: Float, i: Int, b: Boolean, id: ID): Int }
    enum E { RED GREEN BLUE redd }
    input In { id: ID! name: String = "n" deep: Deep n: Int! = 3 es: [E!] }
    input Deep { a: [Float!]! b: In c: Boolean = true }
    scalar Any
    """

  private static let types = [
    "Int", "Int!", "String", "String!", "[Int]", "[Int!]!", "E", "E!", "[E!]", "In", "In!",
    "[In!]", "Deep", "ID", "[[ID]!]", "Float", "Float!", "Boolean", "Any", "[Any!]", "[Query]",
  ]

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(0...items.count - 1)] }
  private mutating func sometimes(_ percent: Int) -> Bool { number(1...100) <= percent }

  mutating func request() -> (document: String, variables: JSONValue) {
    var definitions = "$v: Int"
    var members: [JSONValue.Member] = []
    for index in 0..<number(1...4) {
      let type = pick(Self.types)
      definitions += " $v\(index): \(type)"
      if sometimes(10), ["Int", "[Int]"].contains(type) { definitions += " = 7" }
      if sometimes(85) { members.append(.init(name: "v\(index)", value: value(of: type))) }
    }
    return ("query (\(definitions)) { f }", .object(members))
  }

  private mutating func value(of type: String, _ depth: Int = 0) -> JSONValue {
    if sometimes(6) { return anything(depth) }
    if type.hasSuffix("!") { return value(ofNullable: String(type.dropLast()), depth) }
    return sometimes(10) ? .null : value(ofNullable: type, depth)
  }

  private mutating func value(ofNullable type: String, _ depth: Int) -> JSONValue {
    if type.hasPrefix("[") {
      let item = String(type.dropFirst().dropLast())
      if sometimes(20) { return value(of: item, depth + 1) }
      return .array((0..<number(0...3)).map { _ in value(of: item, depth + 1) })
    }
    switch type {
    case "Int": return .number(pick(["1", "2", "-3", "4.0", "1e2"]))
    case "Float": return .number(pick(["1", "1.5", "2.25", "1e-7"]))
    case "String": return .string("s")
    case "Boolean": return .boolean(true)
    case "ID": return pick([.number("1"), .string("a")])
    case "E": return .string(pick(["RED", "BLUE"]))
    case "In":
      return object(
        [("id", "ID!")],
        [("name", "String"), ("deep", "Deep"), ("n", "Int!"), ("es", "[E!]")], depth)
    case "Deep": return object([("a", "[Float!]!")], [("b", "In"), ("c", "Boolean")], depth)
    default: return anything(depth)
    }
  }

  private mutating func object(
    _ required: [(String, String)], _ optional: [(String, String)], _ depth: Int
  ) -> JSONValue {
    var members: [JSONValue.Member] = []
    for (name, type) in required where !sometimes(3) {
      members.append(.init(name: name, value: value(of: type, depth + 1)))
    }
    for (name, type) in optional where depth < 3 && sometimes(30) {
      members.append(.init(name: name, value: value(of: type, depth + 1)))
    }
    if sometimes(3) { members.append(.init(name: pick(["nam", "esx", "x"]), value: .null)) }
    return .object(members)
  }

  private mutating func anything(_ depth: Int) -> JSONValue {
    switch number(0...(depth > 3 ? 7 : 9)) {
    case 0: return .null
    case 1...3:
      return .number(
        pick(["1", "0", "-5", "2147483647", "2147483648", "1.5", "1.0", "1e21", "0.1", "1e-7"]))
    case 4...6:
      return .string(pick(["RED", "red", "REDD", "x", "", "q\"\n\u{7}é\\", "12", "BLEU"]))
    case 7: return .boolean(sometimes(50))
    default:
      // No lists: version 16.6 takes one for an input object.
      let names = ["id", "name", "deep", "n", "es", "a", "b", "nmae"].shuffled(using: &random)
      return .object(
        names.prefix(number(0...5)).map { .init(name: $0, value: anything(depth + 1)) })
    }
  }
}
