import GraphQLSchema
import JSON

/// Writes the value of a leaf in the form of its type.
///
/// Built-in scalars accept values that convert to them without loss; custom scalars pass unchanged.
///
/// GraphQL September 2025, 3.5 Scalars and 3.9 Enums, Result Coercion.
enum LeafResult {
  /// Writes a value; returns the reason if it is not a result of this type.
  static func write(
    _ value: JSONValue, as type: TypeDefinition, to writer: inout JSONWriter
  ) -> String? {
    if case .enum = type.kind {
      if case .string(let name) = value, type.enumValue(named: name) != nil {
        writer.write(name)
        return nil
      }
      return "Enum \"\(type.name)\" cannot represent value: \(inspected(value))"
    }
    switch type.name {
    case "Int": return writeInt(value, to: &writer)
    case "Float": return writeFloat(value, to: &writer)
    case "String": return writeString(value, to: &writer)
    case "Boolean": return writeBoolean(value, to: &writer)
    case "ID": return writeID(value, to: &writer)
    default:
      writer.write(value)
      return nil
    }
  }

  private static func writeInt(_ value: JSONValue, to writer: inout JSONWriter) -> String? {
    guard let number = number(value), number == number.rounded(.towardZero), number.isFinite else {
      return "Int cannot represent non-integer value: \(inspected(value))"
    }
    guard let integer = Int32(exactly: number) else {
      return "Int cannot represent non 32-bit signed integer value: \(inspected(value))"
    }
    writer.write(integer)
    return nil
  }

  private static func writeFloat(_ value: JSONValue, to writer: inout JSONWriter) -> String? {
    guard let number = number(value), number.isFinite else {
      return "Float cannot represent non numeric value: \(inspected(value))"
    }
    writer.write(number)
    return nil
  }

  private static func writeString(_ value: JSONValue, to writer: inout JSONWriter) -> String? {
    switch value {
    case .string(let text):
      writer.write(text)
    case .boolean(let value):
      writer.write(value ? "true" : "false" as String)
    case .number(let text):
      guard let number = Double(text), number.isFinite else {
        return "String cannot represent value: \(inspected(value))"
      }
      writer.write(LiteralText.number(number))
    case .null, .array, .object:
      return "String cannot represent value: \(inspected(value))"
    }
    return nil
  }

  private static func writeBoolean(_ value: JSONValue, to writer: inout JSONWriter) -> String? {
    switch value {
    case .boolean(let value):
      writer.write(value)
      return nil
    case .number(let text):
      if let number = Double(text), number.isFinite {
        writer.write(number != 0)
        return nil
      }
    case .null, .string, .array, .object:
      break
    }
    return "Boolean cannot represent a non boolean value: \(inspected(value))"
  }

  private static func writeID(_ value: JSONValue, to writer: inout JSONWriter) -> String? {
    switch value {
    case .string(let text):
      writer.write(text)
      return nil
    case .number(let text):
      if let number = Double(text), number.isFinite, number == number.rounded(.towardZero) {
        writer.write(isPlainInteger(text) ? text : LiteralText.number(number))
        return nil
      }
    case .null, .boolean, .array, .object:
      break
    }
    return "ID cannot represent value: \(inspected(value))"
  }

  private static func isPlainInteger(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  /// Returns the number for a number, a boolean (1 or 0), or a text that contains a number.
  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .number(let text): Double(text)
    case .boolean(let value): value ? 1 : 0
    case .string(let text): text.isEmpty ? nil : numberSaid(by: text)
    case .null, .array, .object: nil
    }
  }

  private static func numberSaid(by text: String) -> Double? {
    var digits = text.utf8[...]
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }
    while let first = digits.first, isSpace(first) { digits.removeFirst() }
    while let last = digits.last, isSpace(last) { digits.removeLast() }
    if digits.isEmpty { return 0 }
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
      if digits.starts(with: prefix.utf8) {
        return UInt64(String(Substring(digits.dropFirst(2))), radix: radix).map { Double($0) }
      }
    }
    let isDecimal = digits.allSatisfy {
      ($0 >= 0x30 && $0 <= 0x39)
        || [
          UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
          UInt8(ascii: "E"),
        ].contains($0)
    }
    return isDecimal ? Double(String(Substring(digits))) : nil
  }

  private static func inspected(_ value: JSONValue) -> String { JSONInspection.text(of: value) }
}
