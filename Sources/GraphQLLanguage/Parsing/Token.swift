/// The lexical tokens, without those that mean nothing (white space, commas, comments).
///
/// GraphQL September 2025, 2.1.6 Lexical Tokens.
enum TokenKind: UInt8 {
  case endOfFile
  case bang, dollar, ampersand, parenthesisLeft, parenthesisRight, spread, colon, equals, at
  case bracketLeft, bracketRight, braceLeft, pipe, braceRight
  case name, int, float, string, blockString

  /// As messages name it: `Name`, `"{"`, `<EOF>`.
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

/// A token as a place in the source; its text is made only where it is kept.
struct Token {
  var kind: TokenKind
  /// Of a string: whether its text differs from what stands between the quotes.
  var hasEscapes = false
  var start: Int
  /// One past the last byte.
  var end: Int

  var position: Position { Position(offset: Int32(truncatingIfNeeded: start)) }
}
