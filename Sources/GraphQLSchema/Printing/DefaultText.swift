import GraphQLLanguage

extension Schema {
  /// Returns the default value of an argument or input field as `printSchema` and introspection
  /// show it: coerced, so with nested defaults filled in and a lone item as a list.
  package func defaultText(of input: InputValueDefinition) -> String? {
    input.coercedDefault.map { text(of: $0, as: input.type) }
  }

  /// Returns an input value as a literal of its type.
  func text(of value: InputValue, as type: TypeReference) -> String {
    switch (type, value) {
    case (_, .null): return "null"
    case (.nonNull(let inner), _): return text(of: value, as: inner)
    case (.list(let item), .list(let items)):
      return "[\(items.map { text(of: $0, as: item) }.joined(separator: ", "))]"
    case (.list(let item), _): return text(of: value, as: item)
    case (.named(let id), _):
      let type = self[id]
      if case .inputObject = type.kind, case .object(let members) = value {
        let fields = members.map { member in
          let field = type.inputField(named: member.name)
          return "\(member.name): "
            + (field.map { text(of: member.value, as: $0.type) } ?? value.shapeText)
        }
        return "{\(fields.joined(separator: ", "))}"
      }
      if type.builtInScalar == .id, case .string(let text) = value, text.isIntegerLiteral {
        return text
      }
      if case .scalar = type.kind, case .enum(let name) = value {
        // The reference implementation takes a bare word given to a custom scalar for a string.
        return Printer.string(name)
      }
      return value.shapeText
    }
  }
}

extension InputValue {
  /// The value as a literal, by its shape alone.
  fileprivate var shapeText: String {
    switch self {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .int(let value): "\(value)"
    case .bigInt(let value): "\(value)"
    case .float(let value): LiteralText.number(value)
    case .number(let text): Double(text).map { $0.isFinite ? LiteralText.number($0) : text } ?? text
    case .string(let text): Printer.string(text)
    case .enum(let name): name
    case .list(let items): "[\(items.map(\.shapeText).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.map { "\($0.name): \($0.value.shapeText)" }.joined(separator: ", "))}"
    }
  }
}

extension String {
  /// Whether the text matches `-?(0|[1-9][0-9]*)`.
  fileprivate var isIntegerLiteral: Bool {
    var digits = utf8[...]
    if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
    guard let first = digits.first, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return false
    }
    return first != UInt8(ascii: "0") || digits.count == 1
  }
}
