import GraphQLLanguage
import GraphQLResponse
import JSON

/// Coerces one JSON value to an input type, and collects every reason why it does not fit.
///
/// The path is read only for errors; maintaining it costs a push and a pop.
///
/// GraphQL September 2025, 3.5 to 3.12 Input Coercion; messages as in graphql-js 16.
struct JSONCoercion {
  struct Problem {
    let path: [PathSegment]
    let value: JSONValue
    let message: String
  }

  private let schema: Schema
  private let limit: Int
  private var suggestions: Suggestions
  private var path: [PathSegment] = []
  private(set) var problems: [Problem] = []

  /// - Parameter limit: the number of problems after which it stops.
  init(_ schema: Schema, limit: Int, suggestions: Bool) {
    self.schema = schema
    self.limit = limit
    self.suggestions = Suggestions(enabled: suggestions)
  }

  /// Coerces a value. The result is meaningless if there are problems.
  mutating func coerce(_ value: JSONValue, to type: TypeReference) -> InputValue {
    switch type {
    case .nonNull(let inner):
      if case .null = value {
        return fail(
          value, "Expected non-nullable type \"\(schema.text(of: type))\" not to be null.")
      }
      return coerce(value, to: inner)
    case .list(let item):
      switch value {
      case .null: return .null
      case .array(let items): return coerce(items, to: item)
      case .boolean, .number, .string, .object: return .list([coerce(value, to: item)])
      }
    case .named(let id):
      if case .null = value { return .null }
      let type = schema[id]
      switch type.kind {
      case .scalar: return coerceScalar(value, type)
      case .enum(let values): return coerceEnum(value, type, values)
      case .inputObject(let fields, let isOneOf):
        return coerceObject(value, type, fields, isOneOf: isOneOf)
      case .object, .interface, .union:
        return fail(value, "Expected type \"\(type.name)\".")
      }
    }
  }

  private mutating func coerce(_ items: [JSONValue], to type: TypeReference) -> InputValue {
    var result: [InputValue] = []
    result.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      guard problems.count <= limit else { break }
      path.append(.index(index))
      result.append(coerce(item, to: type))
      path.removeLast()
    }
    return .list(result)
  }

  // MARK: - Input objects

  private mutating func coerceObject(
    _ value: JSONValue, _ type: TypeDefinition, _ fields: [InputValueDefinition], isOneOf: Bool
  ) -> InputValue {
    guard case .object(let given) = value else {
      return fail(value, "Expected type \"\(type.name)\" to be an object.")
    }
    // Looking is quicker than hashing for as many as people write, not for as many as they can send.
    let places =
      given.count > 16
      ? Dictionary(given.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last }) : nil
    var members: [InputValue.Member] = []
    members.reserveCapacity(fields.count)
    var known = 0
    let before = problems.count
    for field in fields {
      guard problems.count <= limit else { break }
      let found =
        if let places {
          places[field.name].flatMap { $0.isNamed(field.name) ? $0.value : nil }
        } else {
          given.last { $0.isNamed(field.name) }?.value
        }
      if let found {
        known += 1
        path.append(.name(field.name))
        members.append(InputValue.Member(name: field.name, value: coerce(found, to: field.type)))
        path.removeLast()
      } else if let value = field.coercedDefault {
        members.append(InputValue.Member(name: field.name, value: value))
      } else if field.type.isNonNull {
        _ = fail(
          value,
          "Field \"\(field.name)\" of required type \"\(schema.text(of: field.type))\" "
            + "was not provided.")
      }
    }
    let fits = problems.count == before
    if known < given.count { reportUnknown(given, in: value, type, fields) }
    if isOneOf {
      if members.count != 1 {
        _ = fail(value, "Exactly one key must be specified for OneOf type \"\(type.name)\".")
      } else if members[0].value == .null, fits {
        path.append(.name(members[0].name))
        _ = fail(.null, "Field \"\(members[0].name)\" must be non-null.")
        path.removeLast()
      }
    }
    return .object(members)
  }

  private mutating func reportUnknown(
    _ given: [JSONValue.Member], in value: JSONValue, _ type: TypeDefinition,
    _ fields: [InputValueDefinition]
  ) {
    for member in given where type.inputField(named: member.name) == nil {
      guard problems.count <= limit else { return }
      _ = fail(
        value,
        "Field \"\(member.name)\" is not defined by type \"\(type.name)\"."
          + suggestions.didYouMean(member.name, among: fields.lazy.map(\.name)))
    }
  }

  // MARK: - Leaves

  private mutating func coerceEnum(
    _ value: JSONValue, _ type: TypeDefinition, _ values: [EnumValueDefinition]
  ) -> InputValue {
    guard case .string(let name) = value else {
      let text = JSONInspection.text(of: value)
      return fail(
        value,
        "Enum \"\(type.name)\" cannot represent non-string value: \(text)."
          + suggestions.didYouMean(
            text, among: values.lazy.map(\.name), subject: "the enum value"))
    }
    if type.enumValue(named: name) != nil { return .enum(name) }
    return fail(
      value,
      "Value \"\(name)\" does not exist in \"\(type.name)\" enum."
        + suggestions.didYouMean(name, among: values.lazy.map(\.name), subject: "the enum value"))
  }

  private mutating func coerceScalar(_ value: JSONValue, _ type: TypeDefinition) -> InputValue {
    guard let scalar = type.builtInScalar else { return Self.shape(of: value) }
    switch scalar {
    case .string:
      if case .string(let text) = value { return .string(text) }
      return fail(value, "String cannot represent a non string value: ", showingValue: true)
    case .id:
      switch value {
      case .string(let text): return .string(text)
      case .number(let text):
        if let integer = Self.integerText(text) { return .string(integer) }
        fallthrough
      case .null, .boolean, .array, .object:
        return fail(value, "ID cannot represent value: ", showingValue: true)
      }
    case .int:
      guard case .number(let text) = value else {
        return fail(value, "Int cannot represent non-integer value: ", showingValue: true)
      }
      if let int = Int32(text) { return .int(int) }
      guard let number = Double(text), number.isFinite, number.rounded(.towardZero) == number
      else { return fail(value, "Int cannot represent non-integer value: ", showingValue: true) }
      if let int = Int32(exactly: number) { return .int(int) }
      return fail(
        value, "Int cannot represent non 32-bit signed integer value: ", showingValue: true)
    case .float:
      if case .number(let text) = value, let number = Double(text), number.isFinite {
        return .float(number)
      }
      return fail(value, "Float cannot represent non numeric value: ", showingValue: true)
    case .boolean:
      if case .boolean(let flag) = value { return .boolean(flag) }
      return fail(value, "Boolean cannot represent a non boolean value: ", showingValue: true)
    }
  }

  /// Returns the text of a whole number without exponent, unchanged if it has that form; nil if the
  /// number is not whole.
  private static func integerText(_ text: String) -> String? {
    if text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0 >= 0x30 && $0 <= 0x39 }) {
      return text == "-0" ? "0" : text
    }
    guard let number = Double(text), number.isFinite, number.rounded(.towardZero) == number else {
      return nil
    }
    return LiteralText.number(number)
  }

  /// Returns the value of a custom scalar, which may have any shape.
  static func shape(of value: JSONValue) -> InputValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .number(let text): InputValue(number: text)
    case .string(let text): .string(text)
    case .array(let items): .list(items.map(shape))
    case .object(let members):
      .object(members.map { InputValue.Member(name: $0.name, value: shape(of: $0.value)) })
    }
  }

  @inline(never)
  private mutating func fail(
    _ value: JSONValue, _ message: String, showingValue: Bool = false
  ) -> InputValue {
    let message = showingValue ? message + JSONInspection.text(of: value) : message
    problems.append(Problem(path: path, value: value, message: message))
    return .null
  }
}
