import GraphQLLanguage
import GraphQLSchema

// The rules for literals.
//
// GraphQL September 2025, 5.6 Values.
extension ValidationWalk {
  /// Checks a literal of a scalar or enum, or one with the wrong shape.
  mutating func checkLeaf(_ value: Value, _ type: TypeReference?) {
    guard let type else { return }
    let named = schema[type.namedType]
    switch named.kind {
    case .scalar:
      if let message = schema.refusal(of: value, scalar: named.name) {
        report(.valuesOfCorrectType, at: [value.position], message)
      }
    case .enum(let values):
      checkEnum(value, named, values)
    case .inputObject, .object, .interface, .union:
      report(
        .valuesOfCorrectType, at: [value.position],
        "Expected value of type \"\(text(type))\", found \(Printer.print(value)).")
    }
  }

  private mutating func checkEnum(
    _ value: Value, _ type: TypeDefinition, _ values: [EnumValueDefinition]
  ) {
    let names = { values.map(\.name) }
    if case .enum(let name) = value.content {
      if type.enumValue(named: name) != nil { return }
      report(
        .valuesOfCorrectType, at: [value.position],
        "Value \"\(name)\" does not exist in \"\(type.name)\" enum."
          + didYouMean(name, among: names(), "the enum value"))
    } else {
      let written = Printer.print(value)
      report(
        .valuesOfCorrectType, at: [value.position],
        "Enum \"\(type.name)\" cannot represent non-enum value: \(written)."
          + didYouMean(written, among: names(), "the enum value"))
    }
  }

  /// Checks the fields of an input object (5.6.2 Input Object Field Names, 5.6.4 Input Object
  /// Required Fields, 3.10.1 OneOf Input Objects).
  mutating func checkObject(
    _ value: Value, _ fields: [ObjectField], _ type: TypeDefinition,
    _ inputs: [InputValueDefinition], isOneOf: Bool
  ) {
    for input in inputs where input.isRequired {
      if fields.contains(where: { $0.name.text == input.name }) { continue }
      report(
        .valuesOfCorrectType, at: [value.position],
        """
        Field "\(type.name).\(input.name)" of required type "\(text(input.type))" was not \
        provided.
        """)
    }
    guard isOneOf else { return }
    let first = fields.first?.name.text
    guard let first, fields.allSatisfy({ $0.name.text == first }), let last = fields.last else {
      report(
        .valuesOfCorrectType, at: [value.position],
        "OneOf Input Object \"\(type.name)\" must specify exactly one key.")
      return
    }
    if case .null = last.value.content {
      report(
        .valuesOfCorrectType, at: [value.position],
        "Field \"\(type.name).\(first)\" must be non-null.")
    }
  }

  mutating func reportUnknown(_ field: ObjectField, of type: TypeDefinition) {
    guard case .inputObject(let inputs, _) = type.kind else { return }
    let name = field.name.text
    report(
      .valuesOfCorrectType, at: [field.position],
      "Field \"\(name)\" is not defined by type \"\(type.name)\"."
        + didYouMean(name, among: inputs.map(\.name)))
  }

  /// Reports a repeated field (5.6.3 Input Object Field Uniqueness).
  mutating func checkUnique(_ field: ObjectField, _ names: inout [String: Name]) {
    if let first = names[field.name.text] {
      report(
        .uniqueInputFieldNames, at: [first.position, field.name.position],
        "There can be only one input field named \"\(field.name.text)\".")
    } else {
      names[field.name.text] = field.name
    }
  }
}

extension Schema {
  /// Returns the reason why a literal is not a value of a built-in scalar; custom scalars accept
  /// any literal.
  func refusal(of value: Value, scalar: String) -> String? {
    switch scalar {
    case "Int":
      guard case .int(let digits) = value.content else {
        return "Int cannot represent non-integer value: \(Printer.print(value))"
      }
      return Int32(digits) == nil
        ? "Int cannot represent non 32-bit signed integer value: \(digits)" : nil
    case "Float":
      switch value.content {
      case .int(let digits), .float(let digits):
        if let number = Double(digits), number.isFinite { return nil }
      case .variable, .string, .boolean, .null, .enum, .list, .object:
        break
      }
      return "Float cannot represent non numeric value: \(Printer.print(value))"
    case "String":
      if case .string = value.content { return nil }
      return "String cannot represent a non string value: \(Printer.print(value))"
    case "Boolean":
      if case .boolean = value.content { return nil }
      return "Boolean cannot represent a non boolean value: \(Printer.print(value))"
    case "ID":
      switch value.content {
      case .string, .int: return nil
      case .variable, .float, .boolean, .null, .enum, .list, .object: break
      }
      return "ID cannot represent a non-string and non-integer value: \(Printer.print(value))"
    default:
      return nil
    }
  }
}
