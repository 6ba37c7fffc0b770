import GraphQLLanguage
import GraphQLResponse

// Default values fit their type. Beyond version 16, which drops a default that does not fit: 3.6.1,
// "it must be compatible with argumentType as per the coercion rules for that type". Worded as
// version 17 does, with the sentences of version 16 about leaf values.
extension TypeSystemValidator {
  mutating func checkDefault(_ input: InputValueDefinition, coordinate: String) {
    guard let value = input.defaultValue, schema[input.type.namedType].isInputType else { return }
    checkLiteral(value, input.type, LiteralPlace(coordinate: coordinate, path: []))
  }

  /// Reports defaults that fit their types but could not be coerced, because they are too large. If
  /// a cycle was reported, that is the reason, and nothing more is reported.
  mutating func checkDefaultsAreKnown() {
    guard findings.isEmpty else { return }
    func check(_ input: InputValueDefinition, _ coordinate: @autoclosure () -> String) {
      guard let value = input.defaultValue, input.coercedDefault == nil else { return }
      report(
        "\(coordinate()) has a default value of too many values, or too deep.", at: value.position)
    }
    for directive in schema.directives {
      for argument in directive.arguments {
        check(argument, "@\(directive.name)(\(argument.name):)")
      }
    }
    for type in schema.types {
      for field in type.fields {
        for argument in field.arguments {
          check(argument, "\(type.name).\(field.name)(\(argument.name):)")
        }
      }
      if case .inputObject(let fields, _) = type.kind {
        for field in fields { check(field, "\(type.name).\(field.name)") }
      }
    }
  }

  private struct LiteralPlace {
    let coordinate: String
    var path: [PathSegment]

    func at(_ segment: PathSegment) -> LiteralPlace {
      LiteralPlace(coordinate: coordinate, path: path + [segment])
    }
  }

  private mutating func reportDefault(
    _ message: String, _ place: LiteralPlace, at position: Position
  ) {
    let path = place.path.isEmpty ? "" : " at \(place.path.accessText)"
    report("\(place.coordinate) has invalid default value\(path): \(message)", at: position)
  }

  private mutating func checkLiteral(
    _ value: Value, _ type: TypeReference, _ place: LiteralPlace
  ) {
    guard !findings.isFull else { return }
    switch (type, value.content) {
    case (.nonNull, .null):
      reportDefault(
        "Expected value of non-null type \"\(schema.text(of: type))\" not to be null.", place,
        at: value.position)
    case (.nonNull(let inner), _): checkLiteral(value, inner, place)
    case (_, .null): break
    case (.list(let item), .list(let items)):
      for (index, element) in items.enumerated() {
        checkLiteral(element, item, place.at(.index(index)))
      }
    case (.list(let item), _): checkLiteral(value, item, place)
    case (.named(let id), _):
      let type = schema[id]
      switch type.kind {
      case .inputObject(let fields, let isOneOf):
        checkObject(value, type, fields, isOneOf: isOneOf, place)
      case .enum, .scalar:
        if let message = leafProblem(value, type) {
          reportDefault(message, place, at: value.position)
        }
      case .object, .interface, .union: break
      }
    }
  }

  private mutating func checkObject(
    _ value: Value, _ type: TypeDefinition, _ fields: [InputValueDefinition], isOneOf: Bool,
    _ place: LiteralPlace
  ) {
    guard case .object(let given) = value.content else {
      reportDefault(
        "Expected value of type \"\(type.name)\" to be an object, found: \(Printer.print(value)).",
        place, at: value.position)
      return
    }
    // In the order of the definition, without looking at each field that is left out and may be.
    var values: [Int: Value] = [:]
    for field in given {
      if let index = type.inputFieldIndex(named: field.name.text) { values[index] = field.value }
    }
    let missing = required(fields, of: type.id).filter { values[$0] == nil }
    for index in (missing + values.keys).sorted() {
      guard !findings.isFull else { return }
      let field = fields[index]
      if let fieldValue = values[index] {
        checkLiteral(fieldValue, field.type, place.at(.name(field.name)))
      } else {
        reportDefault(
          "Expected value of type \"\(type.name)\" to include required field \"\(field.name)\", "
            + "found: \(Printer.print(value)).", place, at: value.position)
      }
    }
    for field in given where type.inputFieldIndex(named: field.name.text) == nil {
      guard !findings.isFull else { return }
      let near = suggestions.didYouMean(field.name.text, among: fields.lazy.map(\.name))
      reportDefault(
        "Expected value of type \"\(type.name)\" not to include unknown field "
          + "\"\(field.name.text)\"\(near.isEmpty ? ", found" : ".\(near) Found"): "
          + "\(Printer.print(value)).", place, at: field.position)
    }
    guard isOneOf else { return }
    guard let only = given.first, given.count == 1 else {
      reportDefault(
        "OneOf Input Object \"\(type.name)\" must specify exactly one key.", place,
        at: value.position)
      return
    }
    if case .null = only.value.content {
      reportDefault(
        "Field \"\(type.name).\(only.name.text)\" must be non-null.",
        place.at(.name(only.name.text)), at: value.position)
    }
  }

  private mutating func required(_ fields: [InputValueDefinition], of type: TypeID) -> [Int] {
    if let known = requiredFields[type] { return known }
    let required = fields.indices.filter { fields[$0].isRequired }
    requiredFields[type] = required
    return required
  }

  private mutating func leafProblem(_ value: Value, _ type: TypeDefinition) -> String? {
    if case .enum(let values) = type.kind {
      let names = values.lazy.map(\.name)
      guard case .enum(let name) = value.content else {
        let text = Printer.print(value)
        return "Enum \"\(type.name)\" cannot represent non-enum value: \(text)."
          + suggestions.didYouMean(text, among: names, subject: "the enum value")
      }
      if type.enumValue(named: name) != nil { return nil }
      return "Value \"\(name)\" does not exist in \"\(type.name)\" enum."
        + suggestions.didYouMean(name, among: names, subject: "the enum value")
    }
    guard let scalar = type.builtInScalar else { return nil }
    switch (scalar, value.content) {
    case (.int, .int(let text)):
      return Int32(text) == nil
        ? "Int cannot represent non 32-bit signed integer value: \(text)" : nil
    case (.float, .int(let text)), (.float, .float(let text)):
      return Double(text)?.isFinite ?? false
        ? nil : "Float cannot represent non numeric value: \(text)"
    case (.string, .string), (.id, .string), (.id, .int), (.boolean, .boolean): return nil
    case (.int, _): return "Int cannot represent non-integer value: \(Printer.print(value))"
    case (.float, _): return "Float cannot represent non numeric value: \(Printer.print(value))"
    case (.string, _): return "String cannot represent a non string value: \(Printer.print(value))"
    case (.boolean, _):
      return "Boolean cannot represent a non boolean value: \(Printer.print(value))"
    case (.id, _):
      return "ID cannot represent a non-string and non-integer value: \(Printer.print(value))"
    }
  }
}
