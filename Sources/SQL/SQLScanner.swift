/// Splits hand-written SQL into tokens where PostgreSQL's own scanner does, as far as needed to
/// distinguish names and variables from text that only looks like them.
///
/// It is the only place that knows strings (`'...'`, `E'...'`, `$tag$...$tag$`), quoted names,
/// comments (`--`, and nested `/* */`) and casts (`::`). PostgreSQL 15, 4.1 Lexical Structure.
struct SQLScanner {
  enum Token: Equatable {
    case space, lineComment, blockComment
    /// A name or key word, not in quotes.
    case name
    case quotedName, string
    /// A variable `:name.path`; `isSplice` if three dots follow.
    case variable([String], isSplice: Bool)
    /// A byte of any other text, or `::`.
    case symbol(UInt8)
  }

  let bytes: [UInt8]
  private var index = 0

  init(_ text: String) throws(SQLSyntaxError) {
    bytes = Array(text.utf8)
    if bytes.contains(0) { throw SQLSyntaxError("SQL cannot contain the character U+0000.") }
  }

  /// Returns the next token and its range, or nil at the end.
  mutating func next() throws(SQLSyntaxError) -> (token: Token, range: Range<Int>)? {
    guard index < bytes.count else { return nil }
    let start = index
    let token = try scan()
    return (token, start..<index)
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    index + offset < bytes.count ? bytes[index + offset] : 0
  }

  private mutating func scan() throws(SQLSyntaxError) -> Token {
    switch byte() {
    case let space where Self.isSpace(space):
      while Self.isSpace(byte()) { index += 1 }
      return .space
    case UInt8(ascii: "-") where byte(1) == UInt8(ascii: "-"):
      skipLine()
      return .lineComment
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
      try skipBlockComment()
      return .blockComment
    case UInt8(ascii: "'"):
      try skipString(hasEscapes: false)
      return .string
    case UInt8(ascii: "\""):
      try skipQuoted(UInt8(ascii: "\""), hasEscapes: false, "quoted name")
      return .quotedName
    case UInt8(ascii: "$"):
      try skipDollarQuoted()
      return .string
    case UInt8(ascii: ":") where byte(1) == UInt8(ascii: ":"):
      index += 2
      return .symbol(UInt8(ascii: ":"))
    case UInt8(ascii: ":") where Self.isVariable(byte(1)) && !Self.isDigit(byte(1)):
      return try scanVariable()
    case let first where Self.isName(first):
      let start = index
      while Self.isName(byte()) || Self.isDigit(byte()) || byte() == UInt8(ascii: "$") {
        index += 1
      }
      guard first | 0x20 == UInt8(ascii: "e"), index == start + 1, byte() == UInt8(ascii: "'")
      else { return .name }
      try skipString(hasEscapes: true)
      return .string
    case let other:
      index += 1
      return .symbol(other)
    }
  }

  // MARK: - Strings

  private mutating func skipQuoted(
    _ quote: UInt8, hasEscapes: Bool, _ what: String
  ) throws(SQLSyntaxError) {
    index += 1
    while index < bytes.count {
      switch byte() {
      case UInt8(ascii: "\\") where hasEscapes: index += 2
      case quote where byte(1) == quote: index += 2
      case quote:
        index += 1
        return
      default: index += 1
      }
    }
    throw SQLSyntaxError("A \(what) is not terminated.")
  }

  /// Skips a string, with the strings on the following lines that continue it.
  private mutating func skipString(hasEscapes: Bool) throws(SQLSyntaxError) {
    while true {
      try skipQuoted(UInt8(ascii: "'"), hasEscapes: hasEscapes, "string")
      let end = index
      var hasLine = false
      while Self.isSpace(byte()) || byte() == UInt8(ascii: "-") && byte(1) == UInt8(ascii: "-") {
        if byte() == UInt8(ascii: "-") {
          skipLine()
        } else {
          hasLine = hasLine || byte() == UInt8(ascii: "\n") || byte() == UInt8(ascii: "\r")
          index += 1
        }
      }
      guard hasEscapes, hasLine, byte() == UInt8(ascii: "'") else {
        index = end
        return
      }
    }
  }

  private mutating func skipDollarQuoted() throws(SQLSyntaxError) {
    let start = index
    index += 1
    if Self.isDigit(byte()) {
      throw SQLSyntaxError("A parameter is written :name, not $\(Character(.init(byte()))).")
    }
    while Self.isName(byte()) || index > start + 1 && Self.isDigit(byte()) { index += 1 }
    guard byte() == UInt8(ascii: "$") else { throw SQLSyntaxError("A lone $ has no meaning.") }
    index += 1
    let delimiter = bytes[start..<index]
    while index < bytes.count {
      if byte() == UInt8(ascii: "$"), bytes[index...].starts(with: delimiter) {
        index += delimiter.count
        return
      }
      index += 1
    }
    throw SQLSyntaxError("A string in dollar quotes is not terminated.")
  }

  // MARK: - Comments

  private mutating func skipLine() {
    while index < bytes.count, byte() != UInt8(ascii: "\n"), byte() != UInt8(ascii: "\r") {
      index += 1
    }
  }

  private mutating func skipBlockComment() throws(SQLSyntaxError) {
    var depth = 0
    while index < bytes.count {
      if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
        depth += 1
        index += 2
      } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        depth -= 1
        index += 2
        if depth == 0 { return }
      } else {
        index += 1
      }
    }
    throw SQLSyntaxError("A comment is not terminated.")
  }

  // MARK: - Variables

  private mutating func scanVariable() throws(SQLSyntaxError) -> Token {
    let before = index > 0 ? bytes[index - 1] : UInt8(ascii: " ")
    index += 1
    var path = [takeVariableName()]
    while byte() == UInt8(ascii: "."), Self.isVariable(byte(1)), !Self.isDigit(byte(1)) {
      index += 1
      path.append(takeVariableName())
    }
    var isSplice = false
    if (0..<3).allSatisfy({ byte($0) == UInt8(ascii: ".") }) {
      isSplice = true
      index += 3
    }
    // `a:b` would be the name `a$1`, `:b[1]` a cast to an array.
    guard !Self.isGlue(before), !Self.isGlue(byte()), byte() != UInt8(ascii: "[") else {
      let name = ":" + path.joined(separator: ".")
      throw SQLSyntaxError("\"\(name)\" must be separate: put spaces or brackets around it.")
    }
    return .variable(path, isSplice: isSplice)
  }

  private mutating func takeVariableName() -> String {
    let start = index
    while Self.isVariable(byte()) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private static func isGlue(_ byte: UInt8) -> Bool {
    isName(byte) || isDigit(byte) || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "'")
      || byte == UInt8(ascii: "\"")
  }

  // MARK: - Characters

  /// Returns whether the byte may be part of a variable, which has a name of GraphQL.
  private static func isVariable(_ byte: UInt8) -> Bool {
    isName(byte) && byte < 0x80 || isDigit(byte)
  }

  private static func isName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_")
      || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
      || byte >= 0x80
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
  }
}

/// An error in hand-written SQL, described by a sentence.
package struct SQLSyntaxError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
