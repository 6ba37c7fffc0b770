// Arguments, directives, values and type references.
//
// GraphQL September 2025, 2.6 and 2.9 to 2.12.

extension DocumentParser {
  mutating func parseArguments(isConstant: Bool) throws(GraphQLError) -> [Argument] {
    try many(.parenthesisLeft, .parenthesisRight) { (parser) throws(GraphQLError) in
      let name = try parser.parseName()
      try parser.expect(.colon)
      return Argument(name: name, value: try parser.parseValue(isConstant: isConstant))
    }
  }

  mutating func parseDirectives(isConstant: Bool) throws(GraphQLError) -> [Directive] {
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

  mutating func parseValue(isConstant: Bool) throws(GraphQLError) -> Value {
    let position = self.position
    switch kind {
    case .name:
      let content: Value.Content =
        isAt("true")
        ? .boolean(true)
        : isAt("false") ? .boolean(false) : isAt("null") ? .null : .enum(lexer.tokenText)
      try lexer.advance()
      return Value(content, position: position)
    case .int:
      let content = Value.Content.int(lexer.tokenText)
      try lexer.advance()
      return Value(content, position: position)
    case .float:
      let content = Value.Content.float(lexer.tokenText)
      try lexer.advance()
      return Value(content, position: position)
    case .string, .blockString:
      return Value(.string(try parseString()), position: position)
    case .dollar:
      return try parseVariable(isConstant: isConstant)
    case .bracketLeft:
      return try parseList(isConstant: isConstant)
    case .braceLeft:
      return try parseObject(isConstant: isConstant)
    default:
      throw unexpected()
    }
  }

  mutating func parseString() throws(GraphQLError) -> StringLiteral {
    let literal = StringLiteral(
      text: lexer.stringText, isBlock: kind == .blockString, position: position)
    try lexer.advance()
    return literal
  }

  private mutating func parseVariable(isConstant: Bool) throws(GraphQLError) -> Value {
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

  private mutating func parseList(isConstant: Bool) throws(GraphQLError) -> Value {
    let position = self.position
    try descend()
    try lexer.advance()
    var items: [Value] = []
    while try !skip(.bracketRight) { items.append(try parseValue(isConstant: isConstant)) }
    ascend()
    return Value(.list(items), position: position)
  }

  private mutating func parseObject(isConstant: Bool) throws(GraphQLError) -> Value {
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

  mutating func parseType() throws(GraphQLError) -> TypeSyntax {
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
