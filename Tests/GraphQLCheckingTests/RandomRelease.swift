import GraphQLSchema
import OracleSupport

/// Two versions of a random schema, both valid, and operations for the first.
struct RandomRelease {
  private struct Input {
    var name: String
    var type: String
    /// Whether it has a default value, and which of two.
    var value: Int?
  }

  private struct Output {
    var name: String
    var type: String
    var arguments: [Input]
  }

  private enum Kind: CaseIterable { case scalar, `enum`, input, interface, object, union }

  private struct Definition {
    var kind: Kind
    var values: [String] = []
    var inputs: [Input] = []
    var fields: [Output] = []
    /// Interfaces of an object, or members of a union.
    var others: [String] = []
  }

  private struct DirectiveParts {
    var arguments: [Input]
    var isRepeatable: Bool
    var locations: [String]
  }

  private static let typeNames = ["A", "B", "C", "D", "E", "F", "G", "H", "I2", "I10"]
  private static let memberNames = ["a", "b", "c", "d", "e2", "e10"]
  private static let valueNames = ["X", "Y", "Z", "W"]
  private static let locations = [
    "QUERY", "FIELD", "FIELD_DEFINITION", "OBJECT", "VARIABLE_DEFINITION",
  ]
  private static let scalars = ["Int", "Float", "String", "Boolean", "ID"]

  private var random: SeededGenerator
  private var types: [String: Definition] = [:]
  private var directives: [String: DirectiveParts] = [:]

  private var responseNames = 0

  private(set) var old = ""
  private(set) var new = ""

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    for name in Self.typeNames.shuffled(using: &random).prefix(number(3...8)) {
      types[name] = definition()
    }
    types["Query"] = Definition(kind: .object, fields: outputs())
    for name in ["d1", "d2"] where sometimes(60) { directives[name] = directive() }
    old = text()
    for _ in 0..<number(1...8) { change() }
    new = text()
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func sometimes(_ percent: Int) -> Bool { number(1...100) <= percent }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[number(0...elements.count - 1)]
  }

  // MARK: - Parts

  private mutating func definition() -> Definition {
    var definition = Definition(kind: pick(Kind.allCases))
    definition.values = Array(
      Self.valueNames.shuffled(using: &random).prefix(number(1...4)))
    definition.inputs = inputs(1)
    definition.fields = outputs()
    definition.others = Array(Self.typeNames.shuffled(using: &random).prefix(number(0...6)))
    return definition
  }

  private mutating func type() -> String {
    let name = sometimes(70) ? pick(Self.typeNames) : pick(Self.scalars)
    return pick(["\(name)", "\(name)", "\(name)!", "[\(name)]", "[\(name)!]", "[\(name)!]!"])
  }

  private mutating func inputs(_ minimum: Int) -> [Input] {
    Self.memberNames.shuffled(using: &random).prefix(number(minimum...3)).map {
      Input(name: $0, type: type(), value: sometimes(40) ? number(0...1) : nil)
    }
  }

  private mutating func outputs() -> [Output] {
    Self.memberNames.shuffled(using: &random).prefix(number(1...4)).map {
      Output(name: $0, type: type(), arguments: sometimes(40) ? inputs(0) : [])
    }
  }

  private mutating func directive() -> DirectiveParts {
    DirectiveParts(
      arguments: inputs(0), isRepeatable: sometimes(40),
      locations: Array(Self.locations.shuffled(using: &random).prefix(number(1...4))))
  }

  // MARK: - Changes

  private mutating func change() {
    let name = pick(types.keys.sorted())
    switch number(0...9) {
    case 0 where name != "Query": types[name] = nil
    case 1: types[pick(Self.typeNames)] = definition()
    case 2: directives[pick(["d1", "d2"])] = sometimes(30) ? nil : directive()
    case 3...5:
      guard var changed = types[name] else { return }
      let other = definition()
      switch number(0...2) {
      case 0: changed.others = other.others
      case 1: changed.values = other.values
      default: changed.inputs = other.inputs
      }
      types[name] = changed
    default: changeMember(of: name)
    }
  }

  private mutating func changeMember(of name: String) {
    guard var definition = types[name] else { return }
    let field = number(0...definition.fields.count - 1)
    switch number(0...4) {
    case 0: definition.fields[field].type = type()
    case 1: definition.fields[field].arguments = inputs(0)
    case 2:
      definition.fields = outputs()
    case 3:
      for index in definition.fields[field].arguments.indices {
        if sometimes(50) {
          definition.fields[field].arguments[index].value = sometimes(70) ? number(0...1) : nil
        } else {
          definition.fields[field].arguments[index].type = type()
        }
      }
    default:
      // The same type, with one more or one less exclamation mark.
      let type = definition.fields[field].type
      definition.fields[field].type = type.hasSuffix("!") ? String(type.dropLast()) : type + "!"
    }
    types[name] = definition
  }

  // MARK: - Text

  /// Returns the type, or a scalar in its place if it does not exist or has the wrong direction.
  private func usable(_ type: String, isInput: Bool) -> String {
    let name = type.filter { !"[]!".contains($0) }
    if Self.scalars.contains(name) { return type }
    let fits =
      switch types[name]?.kind {
      case .scalar, .enum: true
      case .input: isInput
      case .interface, .object, .union: !isInput
      case nil: false
      }
    return fits ? type : type.replacing(name, with: "String")
  }

  private func text(_ inputs: [Input], isField: Bool = false) -> [String] {
    inputs.map { input in
      var type = usable(input.type, isInput: true)
      let name = type.filter { !"[]!".contains($0) }
      // Input objects must not need one another.
      if isField, types[name]?.kind == .input, type.hasSuffix("!") { type.removeLast() }
      guard let number = input.value, types[name]?.kind != .input else {
        return "\(input.name): \(type)"
      }
      return "\(input.name): \(type) = \(value(of: type, number))"
    }
  }

  private func value(of type: String, _ number: Int) -> String {
    if type.hasSuffix("!") { return value(of: String(type.dropLast()), number) }
    if type.hasPrefix("[") {
      return "[\(value(of: String(type.dropFirst().dropLast()), number))]"
    }
    switch type {
    case "Int": return "\(number)"
    case "Float": return "\(number).5"
    case "Boolean": return number == 0 ? "true" : "false"
    case "String", "ID": return "\"x\(number)\""
    default:
      guard let definition = types[type] else { return "null" }
      if definition.kind == .enum { return definition.values[number % definition.values.count] }
      return definition.kind == .scalar ? "\"x\(number)\"" : "null"
    }
  }

  private func text(_ field: Output) -> String {
    let arguments = text(field.arguments)
    return "  \(field.name)" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
      + ": \(usable(field.type, isInput: false))"
  }

  private func text(_ name: String, _ definition: Definition) -> String {
    switch definition.kind {
    case .scalar: return "scalar \(name)"
    case .enum: return "enum \(name) { \(definition.values.joined(separator: " ")) }"
    case .input:
      return "input \(name) { \(text(definition.inputs, isField: true).joined(separator: ", ")) }"
    case .interface:
      return "interface \(name) {\n\(definition.fields.map(text).joined(separator: "\n"))\n}"
    case .union:
      let members = definition.others.filter { types[$0]?.kind == .object }
      return "union \(name) = \((members.isEmpty ? ["Query"] : members).joined(separator: " | "))"
    case .object:
      var fields = definition.fields
      var interfaces: [String] = []
      for other in definition.others where types[other]?.kind == .interface {
        let promised = types[other]?.fields ?? []
        // Another interface may promise a field of the same name in another way.
        let taken = interfaces.flatMap { types[$0]?.fields ?? [] }.map(\.name)
        guard !promised.contains(where: { taken.contains($0.name) }) else { continue }
        interfaces.append(other)
        fields.removeAll { field in promised.contains { $0.name == field.name } }
        fields += promised
      }
      let head = interfaces.isEmpty ? "" : " implements \(interfaces.joined(separator: " & "))"
      return "type \(name)\(head) {\n\(fields.map(text).joined(separator: "\n"))\n}"
    }
  }

  private func text() -> String {
    let definitions = types.sorted { $0.key < $1.key }.map { text($0.key, $0.value) }
    let others = directives.sorted { $0.key < $1.key }.map { name, parts in
      let arguments = text(parts.arguments)
      return "directive @\(name)"
        + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
        + (parts.isRepeatable ? " repeatable" : "")
        + " on \(parts.locations.joined(separator: " | "))"
    }
    return (definitions + others).joined(separator: "\n")
  }

  // MARK: - Operations

  /// Returns an operation for the old schema, usually valid.
  mutating func operation(_ schema: Schema, named name: String) -> String {
    guard let root = schema.queryType else { return "{ __typename }" }
    var variables: [String] = []
    let body = selection(of: schema[root], schema, 0, &variables)
    let head = variables.isEmpty ? "" : "(\(variables.joined(separator: ", ")))"
    return "query \(name)\(head)\(body)"
  }

  private mutating func selection(
    of type: TypeDefinition, _ schema: Schema, _ depth: Int, _ variables: inout [String]
  ) -> String {
    if type.isLeaf { return "" }
    var parts: [String] = []
    for field in type.fields where sometimes(60) {
      let inner = schema[field.type.namedType]
      if depth > 3, !inner.isLeaf { continue }
      let arguments = field.arguments.filter { $0.isRequired || sometimes(50) }.map {
        "\($0.name): \(literal($0.type, schema, depth, &variables))"
      }
      // No two fields share a response name, so that none has to be merged.
      responseNames += 1
      let alias = "r\(responseNames): "
      parts.append(
        alias + field.name + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
          + applied(schema) + selection(of: inner, schema, depth + 1, &variables))
    }
    if type.isAbstract, depth < 4 {
      for other in schema.types where other.isComposite && !other.isBuiltIn && sometimes(40) {
        parts.append(
          "... on \(other.name)\(selection(of: other, schema, depth + 2, &variables))")
      }
    }
    return " { \(parts.isEmpty ? "__typename" : parts.joined(separator: " ")) }"
  }

  private mutating func applied(_ schema: Schema) -> String {
    guard
      let directive = schema.directives.first(where: {
        $0.name.hasPrefix("d") && $0.locations.contains(.field)
      }), sometimes(30), directive.arguments.allSatisfy({ !$0.isRequired })
    else { return "" }
    return " @\(directive.name)"
  }

  private mutating func literal(
    _ type: TypeReference, _ schema: Schema, _ depth: Int, _ variables: inout [String]
  ) -> String {
    if sometimes(30) {
      variables.append("$v\(variables.count): \(schema.text(of: type))")
      return "$v\(variables.count - 1)"
    }
    switch type.nullable {
    case .nonNull: return "null"
    case .list(let inner): return "[\(literal(inner, schema, depth + 1, &variables))]"
    case .named(let id):
      let definition = schema[id]
      switch definition.kind {
      case .scalar:
        return switch definition.builtInScalar {
        case .int: "1"
        case .float: "1.5"
        case .boolean: "true"
        case .string, .id, nil: "\"x\""
        }
      case .enum(let values): return pick(values).name
      case .inputObject(let inputs, _):
        let fields = inputs.filter { $0.isRequired || sometimes(40) && depth < 4 }.map {
          "\($0.name): \(literal($0.type, schema, depth + 1, &variables))"
        }
        return "{\(fields.joined(separator: ", "))}"
      case .object, .interface, .union: return "null"
      }
    }
  }
}
