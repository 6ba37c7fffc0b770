import OracleSupport

/// Random type systems: mostly plausible, with as many mistakes as `noise` says.
struct RandomTypeSystem {
  private var random: SeededGenerator
  /// How often something is wrong, in percent.
  private let noise: Int
  private var kinds: [(name: String, kind: String)] = []
  private var interfaceFields: [String: [Promise]] = [:]
  private var directives: [(name: String, locations: [String], arguments: [Declared])] = []

  /// A field of an interface, as those who implement it must repeat it.
  private struct Promise {
    let name: String
    let arguments: String
    let type: String
  }

  private struct Declared {
    let name: String
    let type: String
    let isRequired: Bool
  }

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    noise = [0, 0, 5, 30, 100][Int(seed % 5)]
  }

  // MARK: - Words

  private static let scalars = ["Int", "Float", "String", "Boolean", "ID"]
  private static let types = [
    "A", "B", "C", "D", "E", "F", "Aa", "Sc", "En", "In", "Un", "If", "If2", "In2",
  ]
  private static let names = ["a", "b", "c", "id", "name", "nmae", "aa", "__z"]
  private static let values = ["X", "Y", "Z", "XX"]
  private static let locations = [
    "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INTERFACE", "UNION",
    "ENUM", "ENUM_VALUE", "INPUT_OBJECT", "INPUT_FIELD_DEFINITION", "FIELD", "QUERY",
    "VARIABLE_DEFINITION",
  ]
  private static let descriptions = [
    #""d""#, #""""block""""#, "\"\"\"\n  two\n  lines\n\"\"\"", #""q\"x""#, #""""#,
    #""""  lead""""#, #""a\nb""#, #""x\u0007""#, #""" trail\"""q """"#, #"" lead\n  more""#,
    #""ends\\""#, "\"\(String(repeating: "long ", count: 16))\"", #""é☃ \u{e9}""#,
  ].filter { !$0.hasPrefix("\"\" ") }

  // MARK: - Choices

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(0...items.count - 1)] }

  private mutating func sometimes(_ percent: Int) -> Bool { number(1...1_000) <= percent * 10 }

  /// Sometimes, in a noisy type system.
  private mutating func wrongly(_ percent: Int) -> Bool {
    number(1...10_000) <= percent * noise
  }

  private mutating func description(_ percent: Int = 15) -> String {
    sometimes(percent) ? pick(Self.descriptions) + pick([" ", "\n", "\n  "]) : ""
  }

  private mutating func some(_ words: [String], _ maximum: Int) -> [String] {
    let count = number(1...maximum)
    if wrongly(30) { return (0..<count).map { _ in pick(words) } }
    let keepsReserved = wrongly(50)
    return Array(
      words.filter { keepsReserved || !$0.hasPrefix("__") }.shuffled(using: &random)
        .prefix(count))
  }

  private mutating func type(of wanted: [String]) -> String {
    if wrongly(50) {
      return pick(Self.types + Self.scalars + ["Query", "Unkown", "Strin", "__Type"])
    }
    var candidates = kinds.filter { wanted.contains($0.kind) }.map(\.name)
    if wanted.contains("scalar") { candidates += Self.scalars + Self.scalars }
    return candidates.isEmpty ? "String" : pick(candidates)
  }

  private mutating func wrapped(_ type: String, _ depth: Int = 0) -> String {
    switch number(0...9) {
    case 0...4: return type
    case 5, 6: return type + "!"
    default:
      guard depth < 3 else { return type }
      return "[\(wrapped(type, depth + 1))]" + pick(["", "!"])
    }
  }

  private mutating func inputType() -> String { wrapped(type(of: ["scalar", "enum", "input"])) }

  private mutating func outputType() -> String {
    wrapped(type(of: ["scalar", "enum", "object", "interface", "union"]))
  }

  // MARK: - Values

  private mutating func value(_ depth: Int = 0) -> String {
    switch number(0...11) {
    case 0, 1: return pick(["1", "0", "-5", "2147483648"])
    case 2, 3: return pick(["1.5", "1e10", "1e21", "0.00001", "1.0"])
    case 4, 5: return pick([#""s""#, #""q\"s""#, #""4""#, #""""b""""#, #""""#])
    case 6: return pick(["true", "false"])
    case 7: return "null"
    case 8, 9: return pick(Self.values)
    case 10 where depth < 3:
      return "[\((0..<number(0...3)).map { _ in value(depth + 1) }.joined(separator: ", "))]"
    case 11 where depth < 3:
      let fields = (0..<number(0...3)).map { _ in "\(pick(Self.names)): \(value(depth + 1))" }
      return "{\(fields.joined(separator: ", "))}"
    default: return "1"
    }
  }

  /// Returns a value of a written type. Other tests cover defaults that do not fit.
  private mutating func value(of type: String, _ depth: Int = 0) -> String? {
    if type.hasSuffix("!") { return value(of: String(type.dropLast()), depth) }
    if sometimes(10), depth == 0 { return nil }
    if type.hasPrefix("[") {
      let item = String(type.dropFirst().dropLast())
      if sometimes(30) { return value(of: item, depth + 1) }
      let items = (0..<number(0...3)).map { _ in value(of: item, depth + 1) ?? "" }
      return items.contains("") ? "[]" : "[\(items.joined(separator: ", "))]"
    }
    switch type {
    case "Int": return pick(["1", "0", "-5", "2147483647"])
    // Each implementation has its own way with exponents; a test of the printer has ours.
    case "Float": return pick(["1.5", "1.0", "3", "-0.25", "123456.125"])
    case "String": return pick([#""s""#, #""q\"s""#, #""""b""""#, #""""#, #""\u0007 \n""#])
    case "Boolean": return pick(["true", "false"])
    case "ID": return pick([#""a""#, "4", #""4""#, #""04""#, "-7"])
    default:
      switch kinds.first(where: { $0.name == type })?.kind {
      case "scalar": return pick(["1", #""s""#, "true", "1.5"])
      case "enum": return "X"
      default: return nil
      }
    }
  }

  // MARK: - Parts

  private mutating func applied(_ location: String, _ percent: Int = 20) -> String {
    guard sometimes(percent) else { return "" }
    return (0..<pick([1, 1, 1, 2])).map { _ in applied(at: location) }.joined()
  }

  private mutating func applied(at location: String) -> String {
    var candidates = directives.filter { $0.locations.contains(location) }.map(\.name)
    if ["FIELD_DEFINITION", "ENUM_VALUE"].contains(location) { candidates.append("deprecated") }
    if location == "SCALAR" { candidates.append("specifiedBy") }
    if wrongly(100) {
      candidates = [
        "d1", "d2", "rep", "deprecated", "specifiedBy", "skip", "include", "unknown", "d1x",
      ]
    }
    guard !candidates.isEmpty else { return "" }
    let name = pick(candidates)
    if name == "deprecated" {
      return " @deprecated"
        + pick(["", #"(reason: "old")"#, #"(reason: "No longer supported")"#, #"(reason: "")"#])
    }
    if name == "specifiedBy" { return #" @specifiedBy(url: "http://x")"# }
    var arguments: [String] = []
    for argument in directives.first(where: { $0.name == name })?.arguments ?? []
    where argument.isRequired ? !wrongly(30) : sometimes(40) {
      arguments.append("\(argument.name): \(value(of: argument.type) ?? "1")")
    }
    if wrongly(30) { arguments.append("\(pick(Self.names)): \(value())") }
    if wrongly(20), let first = arguments.first { arguments.append(first) }
    return " @\(name)" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
  }

  private mutating func arguments(_ percent: Int) -> (text: String, declared: [Declared]) {
    guard sometimes(percent) else { return ("", []) }
    var declared: [Declared] = []
    let texts = some(Self.names, 3).map { name in
      let type = wrongly(15) ? outputType() : inputType()
      let defaultValue = sometimes(35) ? value(of: type) : nil
      declared.append(
        Declared(name: name, type: type, isRequired: type.hasSuffix("!") && defaultValue == nil))
      return description() + "\(name): \(type)" + (defaultValue.map { " = \($0)" } ?? "")
        + applied("ARGUMENT_DEFINITION", 12)
    }
    return ("(\(texts.joined(separator: pick([", ", " ", "\n  "]))))", declared)
  }

  private mutating func fields(_ promises: [Promise]) -> String {
    var lines: [String] = []
    for name in some(Self.names, 4) where !promises.contains(where: { $0.name == name }) {
      let type = wrongly(15) ? inputType() : outputType()
      lines.append(
        "  " + description() + name + arguments(30).text + ": " + type
          + applied("FIELD_DEFINITION", 15))
    }
    for promise in promises where !wrongly(30) {
      var type = promise.type
      if sometimes(20), !type.hasSuffix("!") { type += "!" }
      if wrongly(30) { type = outputType() }
      let arguments = wrongly(30) ? arguments(60).text : promise.arguments
      lines.append("  \(promise.name)\(arguments): \(type)")
    }
    return lines.isEmpty || wrongly(5) ? "" : " {\n\(lines.joined(separator: "\n"))\n}"
  }

  // MARK: - Definitions

  private mutating func type(_ name: String, _ kind: String, isExtension: Bool = false) -> String {
    let lead = isExtension ? "extend " : description()
    switch kind {
    case "scalar":
      // The others overlook @specifiedBy on extensions.
      return "\(lead)scalar \(name)\(isExtension ? " @d1" : applied("SCALAR", 30))"
    case "object", "interface":
      var promises: [Promise] = []
      var interfaces: [String] = []
      let others = interfaceFields.keys.sorted().filter { $0 != name || wrongly(20) }
      if !others.isEmpty, sometimes(kind == "object" ? 40 : 15) {
        interfaces = Array(others.shuffled(using: &random).prefix(pick([1, 1, 2])))
        promises = interfaces.flatMap { interfaceFields[$0] ?? [] }
        if wrongly(20) { interfaces.append(pick(Self.types)) }
        if wrongly(10) { interfaces.append(interfaces[0]) }
      }
      if !isExtension { promises += interfaceFields[name] ?? [] }
      var seen: Set<String> = []
      promises = promises.filter { seen.insert($0.name).inserted }
      let keyword = kind == "object" ? "type" : "interface"
      let head = interfaces.isEmpty ? "" : " implements " + interfaces.joined(separator: " & ")
      let directives = applied(kind.uppercased())
      let fields = fields(promises)
      let isEmpty = head.isEmpty && directives.isEmpty && fields.isEmpty
      return "\(lead)\(keyword) \(name)\(head)\(directives)"
        + (isExtension && isEmpty ? " { a: Int }" : fields)
    case "union":
      let objects = kinds.filter { $0.kind == "object" }.map(\.name) + ["Query"]
      var members = Array(Set(objects)).sorted().shuffled(using: &random).prefix(number(1...3))
      if wrongly(20) { members.append(pick(Self.types)) }
      if wrongly(10) { members.append(members[0]) }
      return "\(lead)union \(name)\(applied("UNION")) = \(members.joined(separator: " | "))"
    case "enum":
      let values =
        isExtension
        ? [pick(["V", "X"])]
        : sometimes(80) ? ["X", "Y"] : ["X"] + some(["W", "Y", "Z", "__V"], 3)
      let lines = values.map { "  " + description() + $0 + applied("ENUM_VALUE") }
      return "\(lead)enum \(name)\(applied("ENUM")) {\n\(lines.joined(separator: "\n"))\n}"
    default:
      if !isExtension, wrongly(10) { return "\(lead)input \(name)" }
      let lines = some(Self.names, 4).map { name in
        let type = wrongly(15) ? outputType() : inputType()
        let defaultValue = sometimes(25) ? value(of: type) : nil
        return "  " + description() + "\(name): \(type)"
          + (defaultValue.map { " = \($0)" } ?? "")
          + (isExtension ? "" : applied("INPUT_FIELD_DEFINITION", 12))
      }
      return "\(lead)input \(name)\(applied("INPUT_OBJECT", 15)) {\n"
        + "\(lines.joined(separator: "\n"))\n}"
    }
  }

  private mutating func directive(_ name: String) -> String {
    let locations = Array(Self.locations.shuffled(using: &random).prefix(number(1...6)))
    // Nothing is applied to its arguments: a directive must not reach itself.
    let known = directives
    directives = []
    let arguments = arguments(50)
    directives = known + [(name, locations, arguments.declared)]
    return description() + "directive @\(name)\(arguments.text)"
      + (name == "rep" ? " repeatable" : "") + " on \(locations.joined(separator: " | "))"
  }

  private mutating func schemaDefinition() -> String {
    var operations = ["query: " + (sometimes(70) ? "Query" : type(of: ["object"]))]
    if sometimes(30) { operations.append("mutation: \(type(of: ["object"]))") }
    if sometimes(20) { operations.append("subscription: \(type(of: ["object"]))") }
    if wrongly(20) { operations.append(operations[0]) }
    return description(30) + "schema\(applied("SCHEMA")) {\n  "
      + operations.joined(separator: "\n  ") + "\n}"
  }

  mutating func text() -> String {
    let all = ["scalar", "object", "interface", "union", "enum", "input"]
    kinds = Self.types.shuffled(using: &random).prefix(number(2...9)).map { ($0, pick(all)) }
    if !wrongly(10) { kinds.append(("Query", "object")) }
    if sometimes(20) { kinds.append(("Mutation", "object")) }
    if wrongly(10) { kinds.append(("__X", pick(all))) }
    var definitions: [String] = []
    for name in ["d1", "d2", "rep"] where sometimes(50) { definitions.append(directive(name)) }
    if wrongly(10) { definitions.append("directive @d1 on FIELD") }
    if wrongly(10) { definitions.append("directive @__d(__a: Int! @deprecated) on FIELD") }
    for (name, kind) in kinds where kind == "interface" {
      interfaceFields[name] = some(Array(Self.names.prefix(4)), 2).map {
        Promise(name: $0, arguments: arguments(20).text, type: outputType())
      }
    }
    for (name, kind) in kinds {
      definitions.append(type(name, kind))
      if sometimes(20) {
        definitions.append(type(name, wrongly(20) ? pick(all) : kind, isExtension: true))
      }
    }
    if wrongly(10) {
      definitions.append(type(pick(Self.types + ["Quer"]), pick(all), isExtension: true))
    }
    if wrongly(15) { definitions.append(type(pick(Self.types), pick(all))) }
    if sometimes(20) { definitions.append(schemaDefinition()) }
    if wrongly(20) {
      definitions.append("extend schema " + pick(["@d1", "{ mutation: Query }", "@unknown"]))
    }
    if wrongly(10) {
      definitions.append(
        pick([
          "query Q($a: Int = {a: 1, a: 2} @d1, $b: A) @d1 { a(x: 1, x: 2) @skip ...F @d2 }",
          "fragment F on String @deprecated { a @unknown(a: 1) ... on Unknwn { b } }",
        ]))
    }
    return definitions.shuffled(using: &random).joined(separator: pick(["\n", "\n\n", "\r\n"]))
  }
}
