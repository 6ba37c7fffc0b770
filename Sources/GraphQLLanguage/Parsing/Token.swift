/// The lexical tokens, without white space, commas and comments.
///
/// GraphQL September 2025, 2.1.6 Lexical Tokens.
enum TokenKind: UInt8 {
  case endOfFile
  case bang, dollar, ampersand, parenthesisLeft, parenthesisRight, spread, colon, equals, at
  case bracketLeft, bracketRight, braceLeft, pipe, braceRight
  case name, int, float, string, blockString

  /// The kind as messages quote it: `Name`, `"{"`, `<EOF>`.
  var description: String {
    switch self {
    case .endOfFile: "<EOF>"
    case .bang: #""!""#
    case .dollar: #""$""#
    case .ampersand: #""&""#
    case .parenthesisLeft: #""(""#
    case .parenthesisRight: #"")""#
    case .spread: #""...""#
    case .colon: #"":""#
    case .equals: #""=""#
    case .at: #""@""#
    case .bracketLeft: #""[""#
    case .bracketRight: #""]""#
    case .braceLeft: #""{""#
    case .pipe: #""|""#
    case .braceRight: #""}""#
    case .name: "Name"
    case .int: "Int"
    case .float: "Float"
    case .string: "String"
    case .blockString: "BlockString"
    }
  }
}

/// A token as a range of the source; its text is created only when needed.
struct Token {
  var kind: TokenKind
  /// Whether the value of a string differs from the text between its quotes.
  var hasEscapes = false
  var start: Int
  /// The index after the last byte.
  var end: Int

  var position: Position { Position(offset: Int32(truncatingIfNeeded: start)) }
}
