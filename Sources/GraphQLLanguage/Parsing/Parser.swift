/// Turns source text into the syntax tree: the first stage of a request, and of a schema.
///
/// The parser implements the whole Document grammar of GraphQL September 2025. It stops at the
/// first error; messages and locations are those of graphql-js 16. Time and memory are proportional
/// to the source.
package enum Parser {
  package static func parse(
    _ source: Source, limits: ParserLimits = .default
  ) throws(SyntaxError) -> Document {
    try withParser(source, limits) { (parser) throws(SyntaxFailure) in
      Document(definitions: try parser.parseDefinitions(), source: source)
    }
  }

  package static func parse(
    _ text: String, limits: ParserLimits = .default
  ) throws(SyntaxError) -> Document {
    try parse(Source(text), limits: limits)
  }

  /// Parses a single value, which may contain variables.
  package static func parseValue(
    _ source: Source, limits: ParserLimits = .default
  ) throws(SyntaxError) -> Value {
    try withParser(source, limits) { (parser) throws(SyntaxFailure) in
      let value = try parser.parseValue(isConstant: false)
      try parser.expect(.endOfFile)
      return value
    }
  }

  /// Parses a single value without variables.
  package static func parseConstantValue(
    _ source: Source, limits: ParserLimits = .default
  ) throws(SyntaxError) -> Value {
    try withParser(source, limits) { (parser) throws(SyntaxFailure) in
      let value = try parser.parseValue(isConstant: true)
      try parser.expect(.endOfFile)
      return value
    }
  }

  /// Parses a single type reference: `[User!]!`.
  package static func parseType(
    _ source: Source, limits: ParserLimits = .default
  ) throws(SyntaxError) -> TypeSyntax {
    try withParser(source, limits) { (parser) throws(SyntaxFailure) in
      let type = try parser.parseType()
      try parser.expect(.endOfFile)
      return type
    }
  }

  private static func withParser<Result>(
    _ source: Source, _ limits: ParserLimits,
    _ body: (inout DocumentParser) throws(SyntaxFailure) -> Result
  ) throws(SyntaxError) -> Result {
    // Positions are 32-bit offsets.
    let maximumBytes = min(limits.maximumBytes, Int(Int32.max) - 1)
    guard source.bytes.count <= maximumBytes else {
      throw SyntaxError(
        "Document is larger than \(maximumBytes) bytes.", at: SourceLocation(line: 1, column: 1),
        cause: .tooManyBytes)
    }
    return try SourceBytes.withBytes(of: source.bytes) { (bytes) throws(SyntaxError) in
      let firstInvalidIndex = bytes.firstInvalidIndex
      if let index = firstInvalidIndex, !bytes.isSurrogate(at: index) {
        let position = Position(offset: Int32(truncatingIfNeeded: index))
        throw SyntaxError("Syntax Error: Invalid UTF-8.", at: source.location(of: position))
      }
      let lexer = Lexer(
        bytes: bytes, source: source, firstSurrogate: firstInvalidIndex, limits: limits)
      return try unsafe withUnsafeTemporaryAllocation(of: Selection.self, capacity: 64) {
        (selections) throws(SyntaxError) in
        try unsafe withUnsafeTemporaryAllocation(of: Argument.self, capacity: 8) {
          (arguments) throws(SyntaxError) in
          var parser = unsafe DocumentParser(
            lexer: lexer, maximumNesting: limits.maximumNesting,
            selections: Collector(startingIn: selections),
            arguments: Collector(startingIn: arguments))
          do throws(SyntaxFailure) {
            try parser.lexer.advance()
            return try body(&parser)
          } catch {
            throw error.error
          }
        }
      }
    }
  }
}

/// The state of one parse: the current token and its nesting.
struct DocumentParser: ~Copyable {
  var lexer: Lexer
  var selections: Collector<Selection>
  var arguments: Collector<Argument>
  private var nesting = 0
  private let maximumNesting: Int

  init(
    lexer: Lexer, maximumNesting: Int, selections: consuming Collector<Selection>,
    arguments: consuming Collector<Argument>
  ) {
    self.lexer = lexer
    self.maximumNesting = maximumNesting
    self.selections = selections
    self.arguments = arguments
  }

  var kind: TokenKind { lexer.token.kind }
  var position: Position { lexer.token.position }

  // MARK: - Tokens

  mutating func expect(_ kind: TokenKind) throws(SyntaxFailure) {
    guard self.kind == kind else { throw expected(kind.description) }
    try lexer.advance()
  }

  /// Skips a token if it is the current one, and returns whether it was.
  mutating func skip(_ kind: TokenKind) throws(SyntaxFailure) -> Bool {
    guard self.kind == kind else { return false }
    try lexer.advance()
    return true
  }

  @inline(__always)
  func isAt(_ keyword: StaticString) -> Bool {
    kind == .name && lexer.token.end &- lexer.token.start == keyword.utf8CodeUnitCount
      && lexer.bytes.matches(keyword, lexer.token.start, lexer.token.end)
  }

  mutating func expect(keyword: StaticString) throws(SyntaxFailure) {
    guard isAt(keyword) else { throw expected("\"\(keyword)\"") }
    try lexer.advance()
  }

  mutating func skip(keyword: StaticString) throws(SyntaxFailure) -> Bool {
    guard isAt(keyword) else { return false }
    try lexer.advance()
    return true
  }

  mutating func parseName() throws(SyntaxFailure) -> Name {
    guard kind == .name else { throw expected("Name") }
    let name = Name(text: lexer.tokenText, position: position)
    try lexer.advance()
    return name
  }

  /// Returns whether the current token is this word, for places where some words are not allowed as
  /// names.
  ///
  /// As in graphql-js, a string with the same text causes the same error as the word.
  func tokenSays(_ word: StaticString) -> Bool {
    switch kind {
    case .name: isAt(word)
    case .string, .blockString: lexer.stringText == "\(word)"
    default: false
    }
  }

  // MARK: - Lists

  /// Parses one or more items between two tokens.
  mutating func many<Item>(
    _ open: TokenKind, _ close: TokenKind,
    _ parseItem: (inout DocumentParser) throws(SyntaxFailure) -> Item
  ) throws(SyntaxFailure) -> [Item] {
    try expect(open)
    var items: [Item] = []
    repeat { items.append(try parseItem(&self)) } while try !skip(close)
    return items
  }

  /// Parses one or more items between two tokens, or returns no items if the first token is absent.
  mutating func optionalMany<Item>(
    _ open: TokenKind, _ close: TokenKind,
    _ parseItem: (inout DocumentParser) throws(SyntaxFailure) -> Item
  ) throws(SyntaxFailure) -> [Item] {
    kind == open ? try many(open, close, parseItem) : []
  }

  /// Parses one or more items with a delimiter between them, and optionally before the first.
  mutating func delimited<Item>(
    by delimiter: TokenKind, _ parseItem: (inout DocumentParser) throws(SyntaxFailure) -> Item
  ) throws(SyntaxFailure) -> [Item] {
    _ = try skip(delimiter)
    var items: [Item] = []
    repeat { items.append(try parseItem(&self)) } while try skip(delimiter)
    return items
  }

  // MARK: - Nesting

  mutating func descend() throws(SyntaxFailure) {
    nesting += 1
    guard nesting <= maximumNesting else {
      throw SyntaxFailure(
        SyntaxError(
          "Document is nested deeper than \(maximumNesting) levels.",
          at: lexer.source.location(of: position), cause: .nestedTooDeep))
    }
  }

  mutating func ascend() { nesting -= 1 }

  // MARK: - Errors

  @inline(never)
  func expected(_ what: String) -> SyntaxFailure {
    lexer.error("Expected \(what), found \(lexer.tokenDescription).", lexer.token.start)
  }

  @inline(never)
  func unexpected() -> SyntaxFailure {
    lexer.error("Unexpected \(lexer.tokenDescription).", lexer.token.start)
  }
}
