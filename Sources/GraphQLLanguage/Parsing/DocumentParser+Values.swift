// Arguments, directives, values and type references.
//
// What is not inlined keeps the frames small that recursion repeats.
//
// GraphQL September 2025, 2.6 and 2.9 to 2.12.

extension DocumentParser {
  @inline(never)
  mutating func parseArguments(isConstant: Bool) throws(SyntaxFailure) -> [Argument] {
    try expect(.parenthesisLeft)
    let start = arguments.count
    repeat {
      let name = try parseName()
      try expect(.colon)
      arguments.append(Argument(name: name, value: try parseValue(isConstant: isConstant)))
    } while try !skip(.parenthesisRight)
    return arguments.take(from: start)
  }

  @inline(never)
  mutating func parseDirectives(isConstant: Bool) throws(SyntaxFailure) -> [Directive] {
    guard kind == .at else { return [] }
    var directives: [Directive] = []
    while kind == .at {
      let position = self.position
      try lexer.advance()
      let name = try parseName()
      let arguments =
        kind == .parenthesisLeft ? try parseArguments(isConstant: isConstant) : []
      directives.append(Directive(name: name, arguments: arguments, position: position))
    }
    return directives
  }

  // MARK: - Values

  mutating func parseValue(isConstant: Bool) throws(SyntaxFailure) -> Value {
    switch kind {
    case .bracketLeft: try parseList(isConstant: isConstant)
    case .braceLeft: try parseObject(isConstant: isConstant)
    default: try parseLeaf(isConstant: isConstant)
    }
  }

  @inline(never)
  private mutating func parseLeaf(isConstant: Bool) throws(SyntaxFailure) -> Value {
    let position = self.position
    let content: Value.Content
    switch kind {
    case .name:
      content =
        isAt("true")
        ? .boolean(true)
        : isAt("false") ? .boolean(false) : isAt("null") ? .null : .enum(lexer.tokenText)
    case .int: content = .int(lexer.tokenText)
    case .float: content = .float(lexer.tokenText)
    case .string, .blockString: return Value(.string(try parseString()), position: position)
    case .dollar: return try parseVariable(isConstant: isConstant)
    default: throw unexpected()
    }
    try lexer.advance()
    return Value(content, position: position)
  }

  @inline(never)
  mutating func parseString() throws(SyntaxFailure) -> StringLiteral {
    let literal = StringLiteral(
      text: lexer.stringText, isBlock: kind == .blockString, position: position)
    try lexer.advance()
    return literal
  }

  @inline(never)
  private mutating func parseVariable(isConstant: Bool) throws(SyntaxFailure) -> Value {
    let position = self.position
    try lexer.advance()
    if isConstant {
      throw error(
        kind == .name
          ? "Unexpected variable \"$\(lexer.tokenText)\" in constant value." : "Unexpected \"$\".",
        position)
    }
    return Value(.variable(try parseName().text), position: position)
  }

  @inline(never)
  private mutating func parseList(isConstant: Bool) throws(SyntaxFailure) -> Value {
    let position = self.position
    try descend()
    try lexer.advance()
    var items: [Value] = []
    while try !skip(.bracketRight) { items.append(try parseValue(isConstant: isConstant)) }
    ascend()
    return Value(.list(items), position: position)
  }

  @inline(never)
  private mutating func parseObject(isConstant: Bool) throws(SyntaxFailure) -> Value {
    let position = self.position
    try descend()
    try lexer.advance()
    var fields: [ObjectField] = []
    while try !skip(.braceRight) {
      let name = try parseName()
      try expect(.colon)
      fields.append(ObjectField(name: name, value: try parseValue(isConstant: isConstant)))
    }
    ascend()
    return Value(.object(fields), position: position)
  }

  // MARK: - Types

  mutating func parseType() throws(SyntaxFailure) -> TypeSyntax {
    let type: TypeSyntax
    if kind == .bracketLeft {
      let position = self.position
      try descend()
      try lexer.advance()
      let inner = try parseType()
      try expect(.bracketRight)
      ascend()
      type = .list(inner, position: position)
    } else {
      type = .named(try parseName())
    }
    return try skip(.bang) ? .nonNull(type) : type
  }
}
