import GraphQLLanguage

extension Value {
  /// As graphql-js prints it on one line: `{a: [1, "x"], b: $c}`.
  var literalText: String {
    switch content {
    case .variable(let name): "$\(name)"
    case .int(let text), .float(let text), .enum(let text): text
    case .string(let literal):
      literal.isBlock ? LiteralText.block(literal.text) : LiteralText.quoted(literal.text)
    case .boolean(let value): value ? "true" : "false"
    case .null: "null"
    case .list(let items): "[\(items.map(\.literalText).joined(separator: ", "))]"
    case .object(let fields):
      "{\(fields.map { "\($0.name.text): \($0.value.literalText)" }.joined(separator: ", "))}"
    }
  }
}

extension TypeSyntax {
  var literalText: String {
    switch self {
    case .named(let name): name.text
    case .list(let inner, _): "[\(inner.literalText)]"
    case .nonNull(let inner): "\(inner.literalText)!"
    }
  }
}

/// Strings and numbers in the notation of the reference implementation.
package enum LiteralText {
  /// A string in double quotes, control characters and C1 controls escaped.
  static func quoted(_ text: String) -> String {
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
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A string in triple quotes, on several lines where that reads better.
  static func block(_ text: String) -> String {
    let escaped = replacing("\"\"\"", in: text, with: "\\\"\"\"")
    let lines = escaped.split(omittingEmptySubsequences: false) { $0.isLineEnd }
    let isSingleLine = lines.count == 1
    let forcesLeadingLine =
      lines.count > 1 && lines.dropFirst().allSatisfy { $0.first.map(isWhiteSpace) ?? true }
    let endsInTripleQuotes = escaped.hasSuffix("\\\"\"\"")
    let forcesTrailingLine =
      (text.hasSuffix("\"") && !endsInTripleQuotes) || text.hasSuffix("\\")
    let isOnLinesOfItsOwn =
      !isSingleLine || text.utf16.count > 70 || forcesTrailingLine || forcesLeadingLine
      || endsInTripleQuotes
    let startsWithSpace = isSingleLine && text.first.map(isWhiteSpace) ?? false
    var result = "\"\"\""
    if (isOnLinesOfItsOwn && !startsWithSpace) || forcesLeadingLine { result += "\n" }
    result += escaped
    if isOnLinesOfItsOwn || forcesTrailingLine { result += "\n" }
    return result + "\"\"\""
  }

  /// Whether a block string would give this text back.
  static func isPrintableAsBlock(_ text: String) -> Bool {
    var isEmptyLine = true
    var hasIndent = false
    var hasCommonIndent = true
    var seenNonEmptyLine = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0"..."\u{8}", "\u{B}", "\u{C}", "\r", "\u{E}", "\u{F}": return false
      case "\n":
        if isEmptyLine, !seenNonEmptyLine { return false }
        seenNonEmptyLine = true
        isEmptyLine = true
        hasIndent = false
      case "\t", " ": hasIndent = hasIndent || isEmptyLine
      default:
        hasCommonIndent = hasCommonIndent && hasIndent
        isEmptyLine = false
      }
    }
    if text.isEmpty { return true }
    if isEmptyLine { return false }
    return !(hasCommonIndent && seenNonEmptyLine)
  }

  /// A number as JavaScript writes it: `1`, `0.5`, `1e+21`.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity" }
    guard value != 0 else { return "0" }
    let sign = value < 0 ? "-" : ""
    // Swift gives the same shortest digits, in another layout: take digits and exponent apart.
    let parts = "\(value.magnitude)".split(separator: "e")
    guard let mantissa = parts.first else { return "0" }
    let pieces = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    let whole = pieces.first.map(String.init) ?? ""
    let fraction = pieces.count > 1 ? String(pieces[1]) : ""
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    var digits = whole + fraction
    var point = whole.utf8.count + exponent
    while digits.hasPrefix("0") {
      digits.removeFirst()
      point -= 1
    }
    while digits.hasSuffix("0") { digits.removeLast() }
    let count = digits.utf8.count
    func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }
    if point >= count, point <= 21 { return sign + digits + zeros(point - count) }
    if point > 0, point <= 21 { return "\(sign)\(digits.prefix(point)).\(digits.dropFirst(point))" }
    if point <= 0, point > -6 { return "\(sign)0.\(zeros(-point))\(digits)" }
    let rest = digits.dropFirst()
    let power = point - 1
    return
      "\(sign)\(digits.prefix(1))\(rest.isEmpty ? "" : ".\(rest)")e\(power < 0 ? "-" : "+")\(abs(power))"
  }

  private static func isWhiteSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  private static func replacing(
    _ pattern: String, in text: String, with replacement: String
  ) -> String {
    guard text.utf8.contains(UInt8(ascii: "\"")) else { return text }
    var result = ""
    var quotes = 0
    for scalar in text.unicodeScalars {
      if scalar == "\"" {
        quotes += 1
        if quotes == 3 {
          result += replacement
          quotes = 0
        }
      } else {
        result += String(repeating: "\"", count: quotes)
        quotes = 0
        result.unicodeScalars.append(scalar)
      }
    }
    return result + String(repeating: "\"", count: quotes)
  }
}

extension Character {
  fileprivate var isLineEnd: Bool { self == "\n" || self == "\r" || self == "\r\n" }
}
