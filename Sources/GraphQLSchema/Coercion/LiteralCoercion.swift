import GraphQLLanguage

/// Coerces literals to their types, with variables replaced.
///
/// The result is nil if the type does not accept the value. Unknown fields of input objects are
/// ignored, because validation has reported them. The nesting of the source bounds the recursion.
///
/// GraphQL September 2025, 3.5 to 3.12 Input Coercion.
struct LiteralCoercion {
  let schema: Schema
  let variables: CoercedVariables
  /// The defaults, while a schema is built and definitions have no coerced defaults yet.
  let defaults: DefaultValues?

  init(_ schema: Schema, variables: CoercedVariables, defaults: DefaultValues? = nil) {
    self.schema = schema
    self.variables = variables
    self.defaults = defaults
  }

  func coerce(_ value: Value, to type: TypeReference) -> InputValue? {
    if case .variable(let name) = value.content {
      // The variable's own type was checked against this position by validation.
      guard let given = variables[name] else { return nil }
      return given == .null && type.isNonNull ? nil : given
    }
    switch type {
    case .nonNull(let inner):
      if case .null = value.content { return nil }
      return coerce(value, to: inner)
    case .list(let item):
      if case .null = value.content { return .null }
      return coerceList(value, of: item)
    case .named(let id):
      if case .null = value.content { return .null }
      let type = schema[id]
      switch type.kind {
      case .scalar: return coerceScalar(value, type)
      case .enum:
        guard case .enum(let name) = value.content, type.enumValue(named: name) != nil else {
          return nil
        }
        return .enum(name)
      case .inputObject(let fields, let isOneOf):
        return coerceObject(value, fields, isOneOf: isOneOf)
      case .object, .interface, .union: return nil
      }
    }
  }

  private func coerceList(_ value: Value, of item: TypeReference) -> InputValue? {
    guard case .list(let items) = value.content else {
      return coerce(value, to: item).map { .list([$0]) }
    }
    var result: [InputValue] = []
    result.reserveCapacity(items.count)
    for element in items {
      if isMissing(element) {
        if item.isNonNull { return nil }
        result.append(.null)
      } else if let coerced = coerce(element, to: item) {
        result.append(coerced)
      } else {
        return nil
      }
    }
    return .list(result)
  }

  private func coerceObject(
    _ value: Value, _ fields: [InputValueDefinition], isOneOf: Bool
  ) -> InputValue? {
    guard case .object(let given) = value.content else { return nil }
    var members: [InputValue.Member] = []
    members.reserveCapacity(fields.count)
    for field in fields {
      if let literal = given.last(where: { $0.name.text == field.name })?.value,
        !isMissing(literal)
      {
        guard let coerced = coerce(literal, to: field.type) else { return nil }
        members.append(InputValue.Member(name: field.name, value: coerced))
      } else if field.defaultValue != nil {
        let value = defaults.map { $0.value(leftOut: field) } ?? field.coercedDefault
        guard let value else { return nil }
        members.append(InputValue.Member(name: field.name, value: value))
      } else if field.type.isNonNull {
        return nil
      }
    }
    if isOneOf {
      // One field as written, and one that is there: a variable left out does not leave its field.
      guard given.count == 1, members.count == 1, members[0].value != .null else { return nil }
    }
    return .object(members)
  }

  private func isMissing(_ value: Value) -> Bool {
    if case .variable(let name) = value.content { return variables[name] == nil }
    return false
  }

  private func coerceScalar(_ value: Value, _ type: TypeDefinition) -> InputValue? {
    guard let scalar = type.builtInScalar else { return shape(of: value) }
    switch (scalar, value.content) {
    case (.int, .int(let text)): return Int32(text).map { .int($0) }
    case (.float, .int(let text)), (.float, .float(let text)):
      guard let number = Double(text), number.isFinite else { return nil }
      return .float(number)
    case (.string, .string(let literal)), (.id, .string(let literal)):
      return .string(literal.text)
    case (.id, .int(let text)): return .string(text)
    case (.boolean, .boolean(let value)): return .boolean(value)
    default: return nil
    }
  }

  /// Returns the value of a custom scalar, which may have any shape.
  private func shape(of value: Value) -> InputValue {
    switch value.content {
    case .variable(let name): return variables[name] ?? .null
    case .int(let text), .float(let text): return InputValue(number: text)
    case .string(let literal): return .string(literal.text)
    case .boolean(let value): return .boolean(value)
    case .null: return .null
    case .enum(let name): return .enum(name)
    case .list(let items): return .list(items.map(shape))
    case .object(let fields):
      var members: [InputValue.Member] = []
      for field in fields where !isMissing(field.value) {
        members.append(InputValue.Member(name: field.name.text, value: shape(of: field.value)))
      }
      return .object(members)
    }
  }
}

extension InputValue {
  /// Creates an integer, or a number with all its digits; for custom scalars.
  package init(number text: String) {
    if let int = Int32(text) {
      self = .int(int)
    } else if let int = Int64(text) {
      self = .bigInt(int)
    } else {
      self = .number(text)
    }
  }
}
