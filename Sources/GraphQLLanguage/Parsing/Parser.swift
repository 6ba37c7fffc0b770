/// Turns source text into the syntax tree: the first stage of a request, and of a schema.
///
/// The whole Document grammar of GraphQL September 2025. The first error ends it; messages and
/// places are those of graphql-js 16. Time and memory are proportional to the source.
package enum Parser {
  package static func parse(
    _ source: Source, limits: ParserLimits = .default
  ) throws(GraphQLError) -> Document {
    try withParser(source, limits) { (parser) throws(GraphQLError) in
      Document(definitions: try parser.parseDefinitions(), source: source)
    }
  }

  package static func parse(
    _ text: String, limits: ParserLimits = .default
  ) throws(GraphQLError) -> Document {
    try parse(Source(text), limits: limits)
  }

  /// A value alone, variables allowed.
  package static func parseValue(
    _ source: Source, limits: ParserLimits = .default
  ) throws(GraphQLError) -> Value {
    try withParser(source, limits) { (parser) throws(GraphQLError) in
      let value = try parser.parseValue(isConstant: false)
      try parser.expect(.endOfFile)
      return value
    }
  }

  /// A value alone, without variables.
  package static func parseConstantValue(
    _ source: Source, limits: ParserLimits = .default
  ) throws(GraphQLError) -> Value {
    try withParser(source, limits) { (parser) throws(GraphQLError) in
      let value = try parser.parseValue(isConstant: true)
      try parser.expect(.endOfFile)
      return value
    }
  }

  /// A type reference alone: `[User!]!`.
  package static func parseType(
    _ source: Source, limits: ParserLimits = .default
  ) throws(GraphQLError) -> TypeSyntax {
    try withParser(source, limits) { (parser) throws(GraphQLError) in
      let type = try parser.parseType()
      try parser.expect(.endOfFile)
      return type
    }
  }

  private static func withParser<Result>(
    _ source: Source, _ limits: ParserLimits,
    _ body: (inout DocumentParser) throws(GraphQLError) -> Result
  ) throws(GraphQLError) -> Result {
    // Positions are 32-bit offsets.
    let maximumBytes = min(limits.maximumBytes, Int(Int32.max) - 1)
    guard source.bytes.count <= maximumBytes else {
      throw GraphQLError(
        "Document is larger than \(maximumBytes) bytes.",
        locations: [SourceLocation(line: 1, column: 1)], code: "DOCUMENT_TOO_LARGE")
    }
    try checkEncoding(source)
    return try SourceBytes.withBytes(of: source.bytes) { (bytes) throws(GraphQLError) in
      var parser = DocumentParser(bytes: bytes, source: source, limits: limits)
      try parser.lexer.advance()
      return try body(&parser)
    }
  }

  private static func checkEncoding(_ source: Source) throws(GraphQLError) {
    let bytes = source.bytes
    do {
      let text = try UTF8Span(validating: bytes.span)
      _ = text.isKnownASCII
    } catch {
      throw GraphQLError(
        "Syntax Error: Invalid UTF-8.",
        locations: [
          source.location(
            of: Position(offset: Int32(truncatingIfNeeded: error.byteOffsets.lowerBound)))
        ])
    }
  }
}

/// The state of one parse: the token at hand and how deep it stands.
struct DocumentParser {
  var lexer: Lexer
  private var nesting = 0
  private let maximumNesting: Int

  init(bytes: SourceBytes, source: Source, limits: ParserLimits) {
    lexer = Lexer(bytes: bytes, source: source, limits: limits)
    maximumNesting = limits.maximumNesting
  }

  var kind: TokenKind { lexer.token.kind }
  var position: Position { lexer.token.position }

  // MARK: - Tokens

  mutating func expect(_ kind: TokenKind) throws(GraphQLError) {
    guard self.kind == kind else { throw expected(kind.description) }
    try lexer.advance()
  }

  /// Steps over a token if it is there, and says whether it was.
  mutating func skip(_ kind: TokenKind) throws(GraphQLError) -> Bool {
    guard self.kind == kind else { return false }
    try lexer.advance()
    return true
  }

  func isAt(_ keyword: StaticString) -> Bool {
    kind == .name && lexer.bytes.matches(keyword, lexer.token.start, lexer.token.end)
  }

  mutating func expect(keyword: StaticString) throws(GraphQLError) {
    guard isAt(keyword) else { throw expected("\"\(keyword)\"") }
    try lexer.advance()
  }

  mutating func skip(keyword: StaticString) throws(GraphQLError) -> Bool {
    guard isAt(keyword) else { return false }
    try lexer.advance()
    return true
  }

  mutating func parseName() throws(GraphQLError) -> Name {
    guard kind == .name else { throw expected("Name") }
    let name = Name(text: lexer.tokenText, position: position)
    try lexer.advance()
    return name
  }

  /// The name of a place where some words are not allowed.
  ///
  /// As in graphql-js, a string that says such a word gets the same answer as the word.
  func tokenSays(_ word: StaticString) -> Bool {
    switch kind {
    case .name: isAt(word)
    case .string, .blockString: lexer.stringText == "\(word)"
    default: false
    }
  }

  // MARK: - Lists

  /// One or more items between two tokens.
  mutating func many<Item>(
    _ open: TokenKind, _ close: TokenKind,
    _ parseItem: (inout DocumentParser) throws(GraphQLError) -> Item
  ) throws(GraphQLError) -> [Item] {
    try expect(open)
    var items: [Item] = []
    repeat { items.append(try parseItem(&self)) } while try !skip(close)
    return items
  }

  /// Nothing at all, or one or more items between two tokens.
  mutating func optionalMany<Item>(
    _ open: TokenKind, _ close: TokenKind,
    _ parseItem: (inout DocumentParser) throws(GraphQLError) -> Item
  ) throws(GraphQLError) -> [Item] {
    kind == open ? try many(open, close, parseItem) : []
  }

  /// One or more items with a delimiter between them, and perhaps before the first.
  mutating func delimited<Item>(
    by delimiter: TokenKind, _ parseItem: (inout DocumentParser) throws(GraphQLError) -> Item
  ) throws(GraphQLError) -> [Item] {
    _ = try skip(delimiter)
    var items: [Item] = []
    repeat { items.append(try parseItem(&self)) } while try skip(delimiter)
    return items
  }

  // MARK: - Nesting

  mutating func descend() throws(GraphQLError) {
    nesting += 1
    guard nesting <= maximumNesting else {
      throw GraphQLError(
        "Document is nested deeper than \(maximumNesting) levels.",
        locations: [lexer.source.location(of: position)], code: "NESTING_LIMIT_EXCEEDED")
    }
  }

  mutating func ascend() { nesting -= 1 }

  // MARK: - Errors

  @inline(never)
  func expected(_ what: String) -> GraphQLError {
    lexer.error("Expected \(what), found \(lexer.tokenDescription).", lexer.token.start)
  }

  @inline(never)
  func unexpected() -> GraphQLError {
    lexer.error("Unexpected \(lexer.tokenDescription).", lexer.token.start)
  }
}
