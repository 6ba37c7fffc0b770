/// An error on its way out of the parser, as one word: a `SyntaxError` would enlarge the frame of
/// every throwing function by more than a hundred bytes.
final class SyntaxFailure: Error {
  let error: SyntaxError

  init(_ error: SyntaxError) { self.error = error }
}

/// Splits a source into tokens, one at a time, and reads each byte once.
///
/// Errors are those of graphql-js 16: the same words at the same places, and only when the parser
/// asks for the token. GraphQL September 2025, 2.1 Source Text.
struct Lexer {
  let bytes: SourceBytes
  let source: Source
  private(set) var token = Token(kind: .endOfFile, start: 0, end: 0)
  private var tokensLeft: Int
  private let maximumTokens: Int
  /// The index where the text stops being UTF-8; past the end if it never does. The bytes there are
  /// half a surrogate pair, which is an error for any token that contains them.
  private let firstSurrogate: Int

  init(bytes: SourceBytes, source: Source, firstSurrogate: Int?, limits: ParserLimits) {
    self.bytes = bytes
    self.source = source
    self.firstSurrogate = firstSurrogate ?? .max
    self.maximumTokens = limits.maximumTokens
    self.tokensLeft = limits.maximumTokens
  }

  /// Reads the next token into `token`.
  mutating func advance() throws(SyntaxFailure) {
    var index = token.end
    while true {
      let byte = bytes[index]
      switch byte {
      case 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: ","):
        index = bytes.skipSpaces(index &+ 1)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "_"):
        return try take(.name, index, bytes.endOfName(index &+ 1))
      case UInt8(ascii: "{"): return try take(.braceLeft, index, index &+ 1)
      case UInt8(ascii: "}"): return try take(.braceRight, index, index &+ 1)
      case UInt8(ascii: ":"): return try take(.colon, index, index &+ 1)
      case UInt8(ascii: "("): return try take(.parenthesisLeft, index, index &+ 1)
      case UInt8(ascii: ")"): return try take(.parenthesisRight, index, index &+ 1)
      case UInt8(ascii: "!"): return try take(.bang, index, index &+ 1)
      case UInt8(ascii: "$"): return try take(.dollar, index, index &+ 1)
      case UInt8(ascii: "&"): return try take(.ampersand, index, index &+ 1)
      case UInt8(ascii: "="): return try take(.equals, index, index &+ 1)
      case UInt8(ascii: "@"): return try take(.at, index, index &+ 1)
      case UInt8(ascii: "["): return try take(.bracketLeft, index, index &+ 1)
      case UInt8(ascii: "]"): return try take(.bracketRight, index, index &+ 1)
      case UInt8(ascii: "|"): return try take(.pipe, index, index &+ 1)
      case UInt8(ascii: "."):
        guard bytes[index + 1] == byte, bytes[index + 2] == byte else {
          throw unexpectedCharacter(at: index)
        }
        return try take(.spread, index, index + 3)
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        return try readNumber(index)
      case UInt8(ascii: "\""):
        if bytes[index + 1] == byte, bytes[index + 2] == byte {
          return try readBlockString(index)
        }
        return try readString(index)
      case UInt8(ascii: "#"):
        index = bytes.skipPlainText(index + 1)
        while index < bytes.count, bytes[index] != 0x0A, bytes[index] != 0x0D {
          index = bytes.skipPlainText(index + 1)
        }
        if firstSurrogate < index { throw unexpectedCharacter(at: firstSurrogate) }
      case 0xEF where bytes[index + 1] == 0xBB && bytes[index + 2] == 0xBF:
        index += 3  // A byte order mark.
      default:
        guard index >= bytes.count else { throw unexpectedCharacter(at: index) }
        token = Token(kind: .endOfFile, start: bytes.count, end: bytes.count)
        return
      }
    }
  }

  @inline(__always)
  private mutating func take(
    _ kind: TokenKind, _ start: Int, _ end: Int, hasEscapes: Bool = false
  ) throws(SyntaxFailure) {
    token = Token(kind: kind, hasEscapes: hasEscapes, start: start, end: end)
    tokensLeft -= 1
    if tokensLeft < 0 { throw tooManyTokens() }
  }

  // MARK: - Numbers

  /// Reads a number. GraphQL September 2025, 2.9.1 Int Value and 2.9.2 Float Value.
  @inline(never)
  private mutating func readNumber(_ start: Int) throws(SyntaxFailure) {
    var index = start
    var kind = TokenKind.int
    if bytes[index] == UInt8(ascii: "-") { index += 1 }
    if bytes[index] == UInt8(ascii: "0") {
      index += 1
      if bytes[index].isDigit {
        throw error(
          "Invalid number, unexpected digit after 0: \(characterDescription(at: index)).", index)
      }
    } else {
      index = try readDigits(index)
    }
    if bytes[index] == UInt8(ascii: ".") {
      kind = .float
      index = try readDigits(index + 1)
    }
    if bytes[index] | 0x20 == UInt8(ascii: "e") {
      kind = .float
      index += 1
      if bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      index = try readDigits(index)
    }
    if bytes[index] == UInt8(ascii: ".") || bytes[index].isNameStart { throw digitExpected(index) }
    try take(kind, start, index)
  }

  private func readDigits(_ start: Int) throws(SyntaxFailure) -> Int {
    guard bytes[start].isDigit else { throw digitExpected(start) }
    var index = start + 1
    while bytes[index].isDigit { index += 1 }
    return index
  }

  private func digitExpected(_ index: Int) -> SyntaxFailure {
    error("Invalid number, expected digit but got: \(characterDescription(at: index)).", index)
  }

  // MARK: - Strings

  /// Reads a string. GraphQL September 2025, 2.9.4 String Value.
  @inline(never)
  private mutating func readString(_ start: Int) throws(SyntaxFailure) {
    var index = start + 1
    var hasEscapes = false
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        try refuseSurrogate(before: index)
        return try take(.string, start, index + 1, hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        try refuseSurrogate(before: index)
        hasEscapes = true
        index += try readEscape(index).length
      case 0x0A, 0x0D:
        try refuseSurrogate(before: index)
        throw error("Unterminated string.", index)
      default:
        index = bytes.skipPlainText(index + 1)
      }
    }
    try refuseSurrogate(before: index)
    throw error("Unterminated string.", index)
  }

  @inline(never)
  private mutating func readBlockString(_ start: Int) throws(SyntaxFailure) {
    var index = start + 3
    var hasEscapes = false
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\"") where hasQuotes(3, at: index):
        try refuseSurrogate(before: index)
        return try take(.blockString, start, index + 3, hasEscapes: hasEscapes)
      case UInt8(ascii: "\\") where hasQuotes(3, at: index + 1):
        hasEscapes = true
        index += 4
      case 0x0A, 0x0D:
        hasEscapes = true
        index += 1
      default:
        index = bytes.skipPlainText(index + 1)
      }
    }
    try refuseSurrogate(before: index)
    throw error("Unterminated string.", index)
  }

  /// Throws if half a surrogate pair precedes the index in the current string.
  private func refuseSurrogate(before index: Int) throws(SyntaxFailure) {
    guard firstSurrogate < index else { return }
    let character = characterDescription(at: firstSurrogate)
    throw error("Invalid character within String: \(character).", firstSurrogate)
  }

  func hasQuotes(_ count: Int, at index: Int) -> Bool {
    for offset in 0..<count where bytes[index + offset] != UInt8(ascii: "\"") { return false }
    return true
  }

  // MARK: - Errors

  @inline(never)
  func error(_ message: String, _ index: Int) -> SyntaxFailure {
    SyntaxFailure(
      SyntaxError(
        "Syntax Error: \(message)",
        at: source.location(of: Position(offset: Int32(truncatingIfNeeded: index)))))
  }

  @inline(never)
  private func tooManyTokens() -> SyntaxFailure {
    SyntaxFailure(
      SyntaxError(
        "Document has more than \(maximumTokens) tokens.",
        at: source.location(of: token.position), cause: .tooManyTokens))
  }

  @inline(never)
  private func unexpectedCharacter(at index: Int) -> SyntaxFailure {
    bytes[index] == UInt8(ascii: "'")
      ? error(
        #"Unexpected single quote character ('), did you mean to use a double quote (")?"#, index)
      : error(
        "\(index == firstSurrogate ? "Invalid" : "Unexpected") character: "
          + "\(characterDescription(at: index)).", index)
  }

  /// Returns a character as messages quote it: `"a"`, `'"'`, `U+00E9`, `<EOF>`.
  private func characterDescription(at index: Int) -> String {
    guard let codePoint = bytes.codePoint(at: index)?.value else { return "<EOF>" }
    if codePoint == 0x22 { return #"'"'"# }
    if (0x20...0x7E).contains(codePoint), let scalar = Unicode.Scalar(codePoint) {
      return "\"\(scalar)\""
    }
    let digits = String(codePoint, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}

extension UInt8 {
  var isDigit: Bool { self &- 0x30 < 10 }
  @inline(__always)
  var isNameStart: Bool { (self | 0x20) &- 0x61 < 26 || self == 0x5F }

  @inline(__always)
  var isNameContinue: Bool { (self | 0x20) &- 0x61 < 26 || self &- 0x30 < 10 || self == 0x5F }
}
