import Foundation
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random operations on a drafted schema: whatever is asked, the server is never at fault.
///
/// `SOCIOGRAPH_OPERATIONS=10000 SOCIOGRAPH_SEED=2` asks more, and others.
@Suite(.usesCluster) struct RandomOperationTests {
  @Test func `no operation on a drafted schema is an error of the server`() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["SOCIOGRAPH_OPERATIONS"].flatMap { Int($0) } ?? 500
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    let database = try TestCluster.newDatabase()
    let sql = try String(
      contentsOfFile: TestCluster.packageFolder + "/Tests/Fixtures/drafting/awkward.sql",
      encoding: .utf8)
    try TestCluster.session(database).execute(sql)
    let server = try DraftedServer(database, ["--mutations", "--aggregates"])
    var operations = try RandomOperations(port: server.port, seed: seed)
    var outcomes: [String: Int] = [:]
    for number in 0..<count {
      let document = operations.next()
      let answer = try RandomOperations.send(document, port: server.port)
      let code =
        answer.codes.contains("INTERNAL_SERVER_ERROR")
        ? "INTERNAL_SERVER_ERROR" : answer.codes.first ?? "ok"
      outcomes[code, default: 0] += 1
      // A busy machine may take too long; that is no fault of the operation.
      let isLate = ["TIMEOUT", "SERVICE_OVERLOADED", "DATABASE_UNAVAILABLE"].contains(code)
      guard answer.status >= 500 && !isLate || code == "INTERNAL_SERVER_ERROR" || code.isEmpty
      else { continue }
      Issue.record(
        "operation \(number) of seed \(seed), \(answer.status):\n\(document)\n\(answer.body)")
      return
    }
    // Most are valid, so that PostgreSQL is asked.
    #expect(outcomes["ok", default: 0] > count / 3, "\(outcomes)")
    #expect(outcomes["BAD_USER_INPUT", default: 0] > 0, "\(outcomes)")
  }
}

/// Makes operations that a schema allows, with values that are often not what they should be.
private struct RandomOperations {
  private struct Argument {
    let name: String
    let type: JSONValue
    let isRequired: Bool
  }

  private struct Field {
    let name: String
    let type: String
    let isLeaf: Bool
    let arguments: [Argument]
  }

  private struct Input {
    let members: [Argument]
    let isOneOf: Bool
  }

  private var fields: [String: [Field]] = [:]
  private var inputs: [String: Input] = [:]
  private var enums: [String: [String]] = [:]
  private var random: SeededGenerator

  init(port: UInt16, seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    let type =
      "kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }"
    let answer = try Self.send(
      """
      { __schema { types { kind name isOneOf fields { name type { \(type) }
        args { name defaultValue type { \(type) } } }
        inputFields { name defaultValue type { \(type) } } enumValues { name } } } }
      """, port: port)
    let types = Self.list(answer.json["data"]?["__schema"]?["types"])
    let leaves = Set(
      types.filter { ["SCALAR", "ENUM"].contains(Self.text($0["kind"])) }.map {
        Self.text($0["name"])
      })
    for type in types {
      let name = Self.text(type["name"])
      fields[name] = Self.list(type["fields"]).map { field in
        let target = Self.named(field["type"] ?? .null)
        return Field(
          name: Self.text(field["name"]), type: target, isLeaf: leaves.contains(target),
          arguments: Self.arguments(field["args"]))
      }
      let members = Self.arguments(type["inputFields"])
      if !members.isEmpty {
        inputs[name] = Input(members: members, isOneOf: type["isOneOf"] == .boolean(true))
      }
      let values = Self.list(type["enumValues"]).map { Self.text($0["name"]) }
      if !values.isEmpty { enums[name] = values }
    }
  }

  mutating func next() -> String {
    let isMutation = !(fields["Mutation"] ?? []).isEmpty && chance(25)
    guard
      let field = (fields[isMutation ? "Mutation" : "Query"] ?? []).randomElement(using: &random)
    else { return "{ __typename }" }
    return (isMutation ? "mutation " : "") + "{ \(call(field, depth: 0)) }"
  }

  // MARK: - Selections

  private mutating func call(_ field: Field, depth: Int) -> String {
    field.name + arguments(of: field)
      + (field.isLeaf ? "" : " " + selection(of: field.type, depth + 1))
  }

  private mutating func selection(of type: String, _ depth: Int) -> String {
    let all = fields[type] ?? []
    let leaves = all.filter(\.isLeaf).shuffled(using: &random).prefix(
      Int.random(in: 1...6, using: &random))
    let objects = all.filter { !$0.isLeaf }.shuffled(using: &random)
      .prefix(depth < 6 ? Int.random(in: 1...2, using: &random) : 0)
    var parts: [String] = []
    for field in Array(leaves) + Array(objects) {
      parts.append("a\(parts.count): " + call(field, depth: depth))
    }
    return "{ \(parts.isEmpty ? "__typename" : parts.joined(separator: " ")) }"
  }

  private mutating func arguments(of field: Field) -> String {
    var given: [String] = []
    for argument in field.arguments where argument.isRequired || chance(35) {
      switch argument.name {
      case "last" where given.contains { $0.hasPrefix("first") }: continue
      case "first", "last", "limit":
        given.append("\(argument.name): \(Int.random(in: 0...4, using: &random))")
      case "after", "before":
        if chance(10) { given.append("\(argument.name): \"x\"") }
      default: given.append("\(argument.name): \(value(argument.type, depth: 0))")
      }
    }
    return given.isEmpty ? "" : "(\(given.joined(separator: ", ")))"
  }

  // MARK: - Values

  private mutating func value(_ type: JSONValue, depth: Int) -> String {
    let inner = type["ofType"] ?? .null
    switch Self.text(type["kind"]) {
    case "NON_NULL":
      let given = value(inner, depth: depth)
      return given == "null" ? value(inner, depth: depth) : given
    case _ where chance(6): return "null"
    case "LIST":
      let items = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(inner, depth: depth)
      }
      return "[\(items.joined(separator: ", "))]"
    default: return value(named: Self.text(type["name"]), depth: depth)
    }
  }

  private mutating func value(named name: String, depth: Int) -> String {
    if let values = enums[name] { return values.randomElement(using: &random) ?? "null" }
    guard let input = inputs[name] else { return leaf(name) }
    if input.isOneOf, let member = input.members.randomElement(using: &random) {
      return "{\(member.name): \(value(member.type, depth: depth + 1))}"
    }
    let others = input.members.filter { !$0.isRequired }.shuffled(using: &random)
      .prefix(depth < 4 ? Int.random(in: 0...3, using: &random) : 0)
    let members = (input.members.filter(\.isRequired) + others).map { member in
      "\(member.name): \(value(member.type, depth: depth + 1))"
    }
    return "{\(members.joined(separator: ", "))}"
  }

  private mutating func leaf(_ scalar: String) -> String {
    func one(of values: [String]) -> String { values.randomElement(using: &random) ?? "null" }
    switch scalar {
    case "Int": return one(of: ["0", "1", "2", "-1", "2147483647", "-2147483648"])
    case "Float": return one(of: ["0", "1.5", "-1e10", "1e308", "-0.0"])
    case "Boolean": return one(of: ["true", "false"])
    case "String", "ID": return "\(JSONValue.string(one(of: Self.texts)))"
    default:
      return chance(15)
        ? one(of: ["1", "{a: 1}", "[1]", "true", "1.5"])
        : "\(JSONValue.string(one(of: Self.texts)))"
    }
  }

  private static let texts = [
    "", "a", "'", "\"", "\\", "%", "_", String(repeating: "x", count: 50), "1", "0", "-1",
    "2026-05-01", "2026-05-01T00:00:00.000Z", "{1,2}", "[1,2)",
    "00000000-0000-0000-0000-000000000000",
    "1 day", "12.5", "NaN", "infinity", "127.0.0.1", "(1,2)", "é\u{1}", "😀", "9223372036854775807",
    "99999999999999999999", "null", "true", "B101", "<a/>", "a.b", "\"k\"=>\"v\"",
    "08:00:2b:01:02:03",
  ]

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  // MARK: - Answers

  struct Answer {
    let status: Int
    let body: String
    let json: JSONValue
    /// The codes of its errors.
    let codes: [String]
  }

  static func send(_ document: String, port: UInt16) throws -> Answer {
    let answer = try post("{\"query\": \(JSONValue.string(document))}", port: port)
    let json = try JSONParser.parse(Array(answer.body.utf8), maximumNesting: 100)
    let codes = list(json["errors"]).map { text($0["extensions"]?["code"]) }
    return Answer(status: answer.status, body: answer.body, json: json, codes: codes)
  }

  private static func list(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { items } else { [] }
  }

  private static func text(_ value: JSONValue?) -> String {
    if case .string(let text)? = value { text } else { "" }
  }

  private static func named(_ type: JSONValue) -> String {
    let inner = type["ofType"] ?? .null
    return inner == .null ? text(type["name"]) : named(inner)
  }

  private static func arguments(_ value: JSONValue?) -> [Argument] {
    list(value).map { argument in
      let type = argument["type"] ?? .null
      return Argument(
        name: text(argument["name"]), type: type,
        isRequired: text(type["kind"]) == "NON_NULL" && (argument["defaultValue"] ?? .null) == .null
      )
    }
  }
}
