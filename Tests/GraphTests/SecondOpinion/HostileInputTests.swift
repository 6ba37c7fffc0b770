import Foundation
import GraphQLSchema
import JSON
import OracleSupport
import TestSupport
import Testing

/// Operations whose values were exchanged for ones that should not be: the server answers all of
/// them, and blames itself for none.
@Suite(.usesCluster(isFirst: true)) struct HostileInputTests {
  @Test func `no value of an argument is the server's fault`() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["SOCIOGRAPH_OPERATIONS"].flatMap { Int($0) } ?? 1500
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    let opinions = try SecondOpinion(seed: seed &+ 1000)
    var mutator = ValueMutator(random: SeededGenerator(seed: seed))
    var codes: [String: Int] = [:]
    var failures = 0
    for _ in 0..<count {
      let operation = mutator.mutated(opinions.next())
      let response = try opinions.server.send(
        operation.text, operation.variableValues, token: operation.viewer.map { "demo-" + $0 })
      let json = try JSONParser.parse(response.body)
      let errors = json["errors"]?.array ?? []
      #expect(json["data"] != nil || !errors.isEmpty)
      for code in errors.map({ $0.at("extensions.code")?.string ?? "none" }) {
        codes[code, default: 0] += 1
        guard Self.blame.contains(code) else { continue }
        failures += 1
        Issue.record(
          """
          \(code), seed \(seed), viewer \(operation.viewer ?? "anonymous")
          \(operation.text)variables \(operation.variableValues)
          \(response.text.prefix(600))
          """)
      }
      if failures >= 3 { break }
    }
    print("hostile input: \(codes)")
    #expect(codes["BAD_USER_INPUT", default: 0] > 20)
    #expect(try opinions.server.send("GET", "/ready").status == 200)
  }

  private static let blame: Set<String> = [
    "none", "INTERNAL_SERVER_ERROR", "TIMEOUT", "DATABASE_UNAVAILABLE",
  ]
}

/// Exchanges some values of an operation.
struct ValueMutator {
  var random: SeededGenerator

  mutating func mutated(_ operation: RandomOperation) -> RandomOperation {
    var operation = operation
    operation.selections = operation.selections.map { mutated($0) }
    for index in operation.fragments.indices {
      operation.fragments[index].selections = operation.fragments[index].selections.map {
        mutated($0)
      }
    }
    operation.variables = operation.variables.map { variable in
      guard let value = variable.value, chance(0.4) else { return variable }
      return RandomVariable(
        name: variable.name, type: variable.type, defaultValue: variable.defaultValue,
        value: .some(mutated(value)))
    }
    return operation
  }

  private mutating func chance(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &random) < probability
  }

  private mutating func mutated(_ selection: RandomSelection) -> RandomSelection {
    switch selection {
    case .field(var field):
      for index in field.arguments.indices where chance(0.15) {
        field.arguments[index].value = mutated(field.arguments[index].value)
      }
      field.selections = field.selections.map { mutated($0) }
      return .field(field)
    case .inline(let condition, let directives, let inner):
      return .inline(condition: condition, directives, inner.map { mutated($0) })
    case .spread: return selection
    }
  }

  private mutating func mutated(_ input: RandomInput) -> RandomInput {
    switch input {
    case .constant(let value): .constant(mutated(value))
    case .enumeration, .variable: input
    case .list(let elements):
      !elements.isEmpty && chance(0.3)
        ? .list(Array((0..<120).map { elements[$0 % elements.count] }))
        : .list(elements.map { mutated($0) })
    case .object(let fields):
      .object(fields.map { (name: $0.name, value: mutated($0.value)) })
    }
  }

  private mutating func mutated(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .boolean: value
    case .number: .number(Self.numbers.randomElement(using: &random) ?? "0")
    case .string: .string(Self.texts.randomElement(using: &random) ?? "")
    case .array(let elements): .array(elements.map { mutated($0) })
    case .object(let members):
      .object(members.map { JSONValue.Member(name: $0.name, value: mutated($0.value)) })
    }
  }

  private static let numbers = [
    "-1", "0", "100", "101", "2147483647", "2147483648", "-2147483649", "1e3", "1.5", "0.0",
    "91", "-181", "1e308", "-1e308", "1e-320", "123456789012345678901234567890",
  ]

  private static let texts = [
    "", " ", "\u{0}", "a\u{0}b", "'", "\"", "\\", "%", "_", "$1", ";", "--", "/*", "&", "|", "!",
    "( a & b", "a:*", "<->", "é", "\u{1F469}\u{200D}\u{1F680}", "\u{FEFF}", "\u{202E}",
    String(repeating: "a", count: 5000), String(repeating: "a ", count: 2000),
    String(repeating: "(", count: 3000), "0", "-1", "AAAA", "_____", "AQ", "EQ==", "////",
    "__________8B", "f_________8B", "AQID", "2026-02-30T00:00:00Z", "2026-01-01",
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
    "10000-01-01T00:00:00Z", "294277-01-01T00:00:00Z", "-4714-01-01T00:00:00Z",
    "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+25:00", "infinity", "now",
    "1:1", "999999999999999999:999999999999999999", "18446744073709551616:1", "0:-1", "1:",
    "NaN", "true", "null", "{}", "HEART",
  ]
}
