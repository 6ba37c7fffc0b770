// The two forms of a string.

extension Printer {
  /// Returns a string in quotes, with control characters escaped.
  package static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x08: result += #"\b"#
      case 0x09: result += #"\t"#
      case 0x0A: result += #"\n"#
      case 0x0C: result += #"\f"#
      case 0x0D: result += #"\r"#
      case 0x22: result += #"\""#
      case 0x5C: result += #"\\"#
      case 0x00..<0x20, 0x7F..<0xA0:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += (digits.utf8.count == 1 ? #"\u000"# : #"\u00"#) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns a string in triple quotes, on lines of its own if it has several lines or is long.
  ///
  /// The text must satisfy `isPrintableAsBlockString`; otherwise it does not read back unchanged.
  package static func blockString(_ text: String) -> String {
    let utf8 = Array(text.utf8)
    let lines = utf8.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
    let isSingleLine = lines.count == 1
    // A line feed in front keeps the common indent of the lines behind the first.
    let forcesLeadingLine =
      !isSingleLine && lines.dropFirst().allSatisfy { $0.first.map(isWhiteSpace) ?? true }
    let quotesAtEnd = utf8.reversed().prefix { $0 == UInt8(ascii: "\"") }.count
    let endsWithTripleQuotes = quotesAtEnd > 0 && quotesAtEnd % 3 == 0
    let forcesTrailingLine =
      utf8.last == UInt8(ascii: "\\") || quotesAtEnd % 3 != 0
    let isMultiline =
      !isSingleLine || text.utf16.count > 70 || forcesTrailingLine || endsWithTripleQuotes
    let keepsFirstLine = isSingleLine && (utf8.first.map(isWhiteSpace) ?? false)

    var result = Array("\"\"\"".utf8)
    if (isMultiline && !keepsFirstLine) || forcesLeadingLine { result.append(0x0A) }
    var quotes = 0
    for byte in utf8 {
      quotes = byte == UInt8(ascii: "\"") ? quotes + 1 : 0
      result.append(byte)
      if quotes == 3 {
        result.insert(UInt8(ascii: "\\"), at: result.count - 3)
        quotes = 0
      }
    }
    if isMultiline { result.append(0x0A) }
    result.append(contentsOf: "\"\"\"".utf8)
    return String(decoding: result, as: UTF8.self)
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Whether a block string can represent this text: no control characters but tabs and line feeds,
  /// no blank line at either end, and no indentation that all its lines share.
  package static func isPrintableAsBlockString(_ text: String) -> Bool {
    guard !text.isEmpty else { return true }
    var isEmptyLine = true
    var hasIndent = false
    var hasCommonIndent = true
    var hasSeenLine = false
    for byte in text.utf8 {
      switch byte {
      case 0x0A:
        if isEmptyLine, !hasSeenLine { return false }
        hasSeenLine = true
        isEmptyLine = true
        hasIndent = false
      case 0x09, 0x20: hasIndent = hasIndent || isEmptyLine
      case 0x00..<0x10: return false
      default:
        hasCommonIndent = hasCommonIndent && hasIndent
        isEmptyLine = false
      }
    }
    return !isEmptyLine && !(hasCommonIndent && hasSeenLine)
  }
}
