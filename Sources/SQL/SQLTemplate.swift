/// A piece of SQL from the schema, split at the places that a statement fills in.
///
/// It is plain PostgreSQL except for qualifiers (`this.`, `edge.`, `parent.` and names of joins)
/// and variables (`:viewer`, `:filter.near.radius`, `:kinds...`). Strings, quoted names and block
/// comments stay unchanged. Comments to the end of a line are removed, because they would hide the
/// text after them.
package struct SQLTemplate: Sendable, Hashable {
  package enum Piece: Sendable, Hashable {
    case text(String)
    /// A string of several lines.
    case verbatim(String)
    /// A name before a dot, or `this` / `edge` after `AS`: an alias if the scope contains it.
    case qualifier(String)
    /// A variable `:name.path`; `isSplice` if it ends in three dots.
    case variable([String], isSplice: Bool)
  }

  /// The text as it was written, without white space around it.
  package let source: String
  package let pieces: [Piece]
  /// Whether evaluating it may cost more than reading a column: it has brackets, as calls and
  /// sub-selects do.
  package let isExpensive: Bool
  /// Whether it has a sub-select.
  package let hasSelect: Bool
  /// Whether it is just `name.name`.
  package let isColumn: Bool
  /// Whether it names its row: `AS this(...)` or `AS edge(...)`.
  package let namesItsRow: Bool

  /// Creates an empty template.
  package init() { self.init([]) }

  /// Parses a template.
  ///
  /// - Throws: an error for text that cannot be part of any statement: an unterminated string,
  ///   comment or bracket, `$1`, or a semicolon.
  package init(_ source: String) throws(SQLSyntaxError) {
    self.init(try SQLToken.tokens(of: source)[...])
  }

  init(_ tokens: ArraySlice<SQLToken>) {
    var reader = TemplateReader()
    let tokens = tokens.trimmed()
    for (index, token) in zip(tokens.indices, tokens) {
      let previous = index > tokens.startIndex ? tokens[index - 1] : nil
      let next = index + 1 < tokens.endIndex ? tokens[index + 1] : nil
      reader.read(token, after: previous, before: next)
    }
    reader.flush()
    source = tokens.map(\.text).joined()
    pieces = reader.pieces
    isExpensive = tokens.contains { $0.isSymbol("(") }
    hasSelect = tokens.contains { $0.isWord("select") }
    isColumn =
      tokens.count == 3 && tokens.first?.kind == .name && tokens.last?.kind == .name
      && tokens.dropFirst().first?.isSymbol(".") == true
    namesItsRow = reader.namesItsRow
  }

  package var variables: [[String]] {
    pieces.compactMap { if case .variable(let path, _) = $0 { path } else { nil } }
  }

  package func mentions(variable name: String) -> Bool {
    variables.contains { $0.first == name }
  }

  /// Returns the text with other names for qualifiers: that of a template for another place.
  package func text(renaming names: [String: String]) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text), .verbatim(let text): text
      case .qualifier(let name): names[name] ?? name
      case .variable(let path, let isSplice):
        ":" + path.joined(separator: ".") + (isSplice ? "..." : "")
      }
    }.joined()
  }

  /// The variable, if the template is nothing else.
  package var soleVariable: [String]? {
    if pieces.count == 1, case .variable(let path, isSplice: false) = pieces[0] {
      path
    } else {
      nil
    }
  }
}

private struct TemplateReader {
  var pieces: [SQLTemplate.Piece] = []
  var namesItsRow = false
  private var text = ""
  /// Whether the last token other than space and comments is the key word AS.
  private var afterAs = false

  mutating func flush() {
    if !text.isEmpty { pieces.append(.text(text)) }
    text = ""
  }

  mutating func read(_ token: SQLToken, after previous: SQLToken?, before next: SQLToken?) {
    switch token.kind {
    case .space, .blockComment:
      text += token.text
      return
    case .lineComment: return
    case .string, .quotedName:
      if token.text.utf8.contains(UInt8(ascii: "\n")) {
        flush()
        pieces.append(.verbatim(token.text))
      } else {
        text += token.text
      }
    case .symbol: text += token.text
    case .variable(let path, let isSplice):
      flush()
      pieces.append(.variable(path, isSplice: isSplice))
    case .name:
      let isRowName = afterAs && (token.text == "this" || token.text == "edge")
      let isBeforeDot = next?.isSymbol(".") == true && previous?.isSymbol(".") != true
      if isRowName || isBeforeDot {
        flush()
        pieces.append(.qualifier(token.text))
      } else {
        text += token.text
      }
      namesItsRow = namesItsRow || isRowName && token.isOutermost
      afterAs = token.isWord("as")
      return
    }
    afterAs = false
  }
}

/// A token with its text.
struct SQLToken {
  let kind: SQLScanner.Token
  let text: String
  /// Whether the token is outside of all brackets.
  let isOutermost: Bool

  func isSymbol(_ symbol: Unicode.Scalar) -> Bool { kind == .symbol(UInt8(ascii: symbol)) }

  /// Returns whether the token is this key word or name, in any case.
  func isWord(_ word: String) -> Bool { kind == .name && text.lowercased() == word }

  var isBlank: Bool {
    switch kind {
    case .space, .lineComment, .blockComment: true
    case .name, .quotedName, .string, .variable, .symbol: false
    }
  }

  /// Returns all tokens. Every bracket has its counterpart.
  static func tokens(of source: String) throws(SQLSyntaxError) -> [SQLToken] {
    var scanner = try SQLScanner(source)
    var tokens: [SQLToken] = []
    var open: [UInt8] = []
    while let (kind, range) = try scanner.next() {
      let wasOutermost = open.isEmpty
      if case .symbol(let symbol) = kind, range.count == 1 {
        switch symbol {
        case UInt8(ascii: "("): open.append(UInt8(ascii: ")"))
        case UInt8(ascii: "["): open.append(UInt8(ascii: "]"))
        case UInt8(ascii: ")"), UInt8(ascii: "]"):
          if open.popLast() != symbol {
            throw SQLSyntaxError("A closing bracket has no opening one.")
          }
        case UInt8(ascii: ";"): throw SQLSyntaxError("A part of SQL cannot contain a semicolon.")
        default: break
        }
      }
      tokens.append(
        SQLToken(
          kind: kind, text: String(decoding: scanner.bytes[range], as: UTF8.self),
          isOutermost: wasOutermost))
    }
    guard open.isEmpty else { throw SQLSyntaxError("A bracket is not closed.") }
    return tokens
  }
}

extension ArraySlice<SQLToken> {
  /// Returns the tokens without spaces and comments at both ends.
  func trimmed() -> ArraySlice<SQLToken> {
    guard let first = firstIndex(where: { !$0.isBlank }),
      let last = lastIndex(where: { !$0.isBlank })
    else { return [] }
    return self[first...last]
  }
}
