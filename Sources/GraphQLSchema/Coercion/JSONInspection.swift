import JSON

/// Values as messages show them, in the notation of the reference implementation: two levels deep,
/// ten items long.
package enum JSONInspection {
  private static let maximumDepth = 2
  private static let maximumItems = 10

  package static func text(of value: JSONValue, depth: Int = 0) -> String {
    switch value {
    case .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .number(let text): return LiteralText.number(Double(text) ?? .nan)
    case .string(let text): return quoted(text)
    case .array(let items):
      if items.isEmpty { return "[]" }
      if depth >= maximumDepth { return "[Array]" }
      var shown = items.prefix(maximumItems).map { text(of: $0, depth: depth + 1) }
      switch items.count - shown.count {
      case 0: break
      case 1: shown.append("... 1 more item")
      case let rest: shown.append("... \(rest) more items")
      }
      return "[\(shown.joined(separator: ", "))]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      if depth >= maximumDepth { return "[Object]" }
      let shown = members.map { "\($0.name): \(text(of: $0.value, depth: depth + 1))" }
      return "{ \(shown.joined(separator: ", ")) }"
    }
  }

  /// As `JSON.stringify` does.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      case "\u{C}": result += "\\f"
      case "\r": result += "\\r"
      case "\0"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
