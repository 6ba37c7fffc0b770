// The values of tokens: names, numbers, and strings without escapes.

extension Lexer {
  /// The text of the current token, a name or number.
  var tokenText: String { bytes.asciiText(token.start, token.end) }

  /// The value of the current string token.
  var stringText: String {
    let quotes = token.kind == .blockString ? 3 : 1
    let start = token.start + quotes
    let end = token.end - quotes
    if token.kind == .blockString { return blockText(start, end) }
    if !token.hasEscapes { return bytes.text(start, end) }
    var result: [UInt8] = []
    result.reserveCapacity(end - start)
    var index = start
    while index < end {
      let byte = bytes[index]
      // Escapes were checked when the token was read.
      if byte == UInt8(ascii: "\\"), let escape = try? readEscape(index) {
        result.append(
          contentsOf: Unicode.UTF8.encode(escape.scalar) ?? Unicode.UTF8.encodedReplacementCharacter
        )
        index += escape.length
      } else {
        result.append(byte)
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The current token as messages quote it: `Name "foo"`, `"{"`.
  var tokenDescription: String {
    switch token.kind {
    case .name, .int, .float: "\(token.kind.description) \"\(tokenText)\""
    case .string, .blockString: "\(token.kind.description) \"\(stringText)\""
    default: token.kind.description
    }
  }

  // MARK: - Escapes

  /// Returns the scalar that the escape at an index stands for, and the length of the escape in
  /// bytes.
  func readEscape(_ index: Int) throws(SyntaxFailure) -> (scalar: Unicode.Scalar, length: Int) {
    switch bytes[index + 1] {
    case UInt8(ascii: "u"):
      bytes[index + 2] == UInt8(ascii: "{")
        ? try readVariableWidthEscape(index) : try readFixedWidthEscape(index)
    case UInt8(ascii: "\""): ("\"", 2)
    case UInt8(ascii: "\\"): ("\\", 2)
    case UInt8(ascii: "/"): ("/", 2)
    case UInt8(ascii: "b"): ("\u{8}", 2)
    case UInt8(ascii: "f"): ("\u{C}", 2)
    case UInt8(ascii: "n"): ("\n", 2)
    case UInt8(ascii: "r"): ("\r", 2)
    case UInt8(ascii: "t"): ("\t", 2)
    default:
      throw error("Invalid character escape sequence: \"\(excerpt(index, 2))\".", index)
    }
  }

  /// Reads an escape such as `\u{1F600}`, of at most eight digits.
  private func readVariableWidthEscape(
    _ index: Int
  ) throws(SyntaxFailure) -> (scalar: Unicode.Scalar, length: Int) {
    var value: Int32 = 0
    var length = 3
    while length < 12 {
      let byte = bytes[index + length]
      length += 1
      if byte == UInt8(ascii: "}") {
        guard length >= 5, let scalar = Unicode.Scalar(UInt32(bitPattern: value)) else { break }
        return (scalar, length)
      }
      value = value << 4 | byte.hexadecimalValue
      if value < 0 { break }
    }
    throw error("Invalid Unicode escape sequence: \"\(excerpt(index, length))\".", index)
  }

  /// Reads an escape such as `\u00E9`, or two in a row that form a surrogate pair.
  private func readFixedWidthEscape(
    _ index: Int
  ) throws(SyntaxFailure) -> (scalar: Unicode.Scalar, length: Int) {
    let value = readFourDigits(index + 2)
    if value >= 0, let scalar = Unicode.Scalar(UInt32(bitPattern: value)) { return (scalar, 6) }
    if value & ~0x3FF == 0xD800, bytes[index + 6] == UInt8(ascii: "\\"),
      bytes[index + 7] == UInt8(ascii: "u")
    {
      let trailing = readFourDigits(index + 8)
      if trailing & ~0x3FF == 0xDC00,
        let scalar = Unicode.Scalar(
          UInt32(bitPattern: 0x10000 + (value & 0x3FF) << 10 + (trailing & 0x3FF)))
      {
        return (scalar, 12)
      }
    }
    throw error("Invalid Unicode escape sequence: \"\(excerpt(index, 6))\".", index)
  }

  /// Returns the value of four hexadecimal digits; negative if one of them is not hexadecimal.
  private func readFourDigits(_ index: Int) -> Int32 {
    bytes[index].hexadecimalValue << 12 | bytes[index + 1].hexadecimalValue << 8
      | bytes[index + 2].hexadecimalValue << 4 | bytes[index + 3].hexadecimalValue
  }

  /// Returns this number of UTF-16 units of the source, as graphql-js quotes it, or fewer at its
  /// end.
  private func excerpt(_ start: Int, _ units: Int) -> String {
    var end = start
    var unitsLeft = units
    while unitsLeft > 0, let (codePoint, length) = bytes.codePoint(at: end) {
      // Half a character is shown as what becomes of it in UTF-8.
      if codePoint > 0xFFFF, unitsLeft == 1 { return bytes.text(start, end) + "\u{FFFD}" }
      unitsLeft -= codePoint > 0xFFFF ? 2 : 1
      end += length
    }
    return bytes.text(start, min(end, bytes.count))
  }

  // MARK: - Block strings

  /// Returns the text of a block string without the common indent and the blank lines around it.
  ///
  /// GraphQL September 2025, 2.9.4 String Value, Block Strings.
  private func blockText(_ start: Int, _ end: Int) -> String {
    var commonIndent = Int.max
    var firstLine: Int?
    var lastLine = -1
    forEachLine(start, end) { line, lineStart, lineEnd in
      let indent = indent(lineStart, lineEnd)
      guard indent < lineEnd - lineStart else { return }
      if firstLine == nil { firstLine = line }
      lastLine = line
      if line > 0 { commonIndent = min(commonIndent, indent) }
    }
    guard let firstLine else { return "" }
    if !token.hasEscapes { return bytes.text(start, end) }

    var result: [UInt8] = []
    result.reserveCapacity(end - start)
    forEachLine(start, end) { line, lineStart, lineEnd in
      guard line >= firstLine, line <= lastLine else { return }
      if line > firstLine { result.append(UInt8(ascii: "\n")) }
      var index = line == 0 ? lineStart : lineStart + min(commonIndent, lineEnd - lineStart)
      while index < lineEnd {
        // `\"""` is an escaped `"""`.
        if bytes[index] == UInt8(ascii: "\\"), hasQuotes(3, at: index + 1), index + 4 <= lineEnd {
          index += 1
          result.append(contentsOf: repeatElement(UInt8(ascii: "\""), count: 3))
          index += 3
        } else {
          result.append(bytes[index])
          index += 1
        }
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func forEachLine(_ start: Int, _ end: Int, _ body: (Int, Int, Int) -> Void) {
    var line = 0
    var lineStart = start
    var index = start
    while index < end {
      let byte = bytes[index]
      guard byte == 0x0A || byte == 0x0D else {
        index += 1
        continue
      }
      body(line, lineStart, index)
      index += byte == 0x0D && bytes[index + 1] == 0x0A ? 2 : 1
      line += 1
      lineStart = index
    }
    body(line, lineStart, end)
  }

  private func indent(_ start: Int, _ end: Int) -> Int {
    var index = start
    while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    return index - start
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit; -1 for any other byte.
  fileprivate var hexadecimalValue: Int32 {
    if isDigit { return Int32(self &- 0x30) }
    let letter = (self | 0x20) &- 0x61
    return letter < 6 ? Int32(letter) + 10 : -1
  }
}
