// Definitions, operations, selections and fragments.
//
// GraphQL September 2025, 2.2 to 2.8.

extension DocumentParser {
  mutating func parseDefinitions() throws(SyntaxFailure) -> [Definition] {
    var definitions: [Definition] = []
    repeat { definitions.append(try parseDefinition()) } while kind != .endOfFile
    return definitions
  }

  private mutating func parseDefinition() throws(SyntaxFailure) -> Definition {
    let position = self.position
    if kind == .braceLeft {
      return .operation(
        OperationDefinition(
          kind: .query, description: nil, name: nil, variables: [], directives: [],
          selectionSet: try parseSelectionSet(), position: position))
    }
    let description = try parseDescription()
    if description != nil, kind == .braceLeft {
      throw error(
        "Unexpected description, descriptions are not supported on shorthand queries.", position)
    }
    guard kind == .name else { throw unexpected() }
    if let operation = operationKind {
      return .operation(try parseOperation(operation, description, position))
    }
    if isAt("fragment") { return .fragment(try parseFragmentDefinition(description, position)) }
    if let definition = try parseTypeSystemDefinition(description, position) { return definition }
    if description != nil {
      throw error(
        "Unexpected description, only GraphQL definitions support descriptions.", position)
    }
    guard isAt("extend") else { throw unexpected() }
    try lexer.advance()
    return try parseExtension(position)
  }

  func error(_ message: String, _ position: Position) -> SyntaxFailure {
    lexer.error(message, Int(position.offset))
  }

  mutating func parseDescription() throws(SyntaxFailure) -> StringLiteral? {
    kind == .string || kind == .blockString ? try parseString() : nil
  }

  /// The kind of operation that the current token names.
  var operationKind: OperationKind? {
    isAt("query")
      ? .query : isAt("mutation") ? .mutation : isAt("subscription") ? .subscription : nil
  }

  private mutating func parseOperation(
    _ kind: OperationKind, _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> OperationDefinition {
    try lexer.advance()
    let name = self.kind == .name ? try parseName() : nil
    let variables = try optionalMany(.parenthesisLeft, .parenthesisRight) {
      (parser) throws(SyntaxFailure) in try parser.parseVariableDefinition()
    }
    let directives = try parseDirectives(isConstant: false)
    return OperationDefinition(
      kind: kind, description: description, name: name, variables: variables,
      directives: directives, selectionSet: try parseSelectionSet(), position: position)
  }

  private mutating func parseVariableDefinition() throws(SyntaxFailure) -> VariableDefinition {
    let position = self.position
    let description = try parseDescription()
    try expect(.dollar)
    let name = try parseName()
    try expect(.colon)
    let type = try parseType()
    let defaultValue = try skip(.equals) ? try parseValue(isConstant: true) : nil
    return VariableDefinition(
      description: description, name: name, type: type, defaultValue: defaultValue,
      directives: try parseDirectives(isConstant: true), position: position)
  }

  // MARK: - Selections

  @inline(never)
  private mutating func parseSelectionSet() throws(SyntaxFailure) -> SelectionSet {
    let position = self.position
    try descend()
    try expect(.braceLeft)
    let start = selections.count
    while try !skip(.braceRight) {
      selections.append(kind == .spread ? try parseSpread() : .field(try parseField()))
    }
    ascend()
    return SelectionSet(selections: selections.take(from: start), position: position)
  }

  private mutating func parseField() throws(SyntaxFailure) -> Field {
    var name = try parseName()
    var alias: Name?
    if kind == .colon {
      try lexer.advance()
      alias = name
      name = try parseName()
    }
    let arguments = kind == .parenthesisLeft ? try parseArguments(isConstant: false) : []
    let directives = kind == .at ? try parseDirectives(isConstant: false) : []
    return Field(
      alias: alias, name: name, arguments: arguments, directives: directives,
      selectionSet: kind == .braceLeft ? try parseSelectionSet() : nil)
  }

  @inline(never)
  private mutating func parseSpread() throws(SyntaxFailure) -> Selection {
    let position = self.position
    try lexer.advance()
    let hasTypeCondition = try skip(keyword: "on")
    if !hasTypeCondition, kind == .name {
      let name = try parseName()
      return .fragmentSpread(
        FragmentSpread(
          name: name, directives: try parseDirectives(isConstant: false), position: position))
    }
    let typeCondition = hasTypeCondition ? try parseName() : nil
    let directives = try parseDirectives(isConstant: false)
    return .inlineFragment(
      InlineFragment(
        typeCondition: typeCondition, directives: directives,
        selectionSet: try parseSelectionSet(), position: position))
  }

  private mutating func parseFragmentDefinition(
    _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> FragmentDefinition {
    try lexer.advance()
    if tokenSays("on") { throw unexpected() }
    let name = try parseName()
    try expect(keyword: "on")
    let typeCondition = try parseName()
    let directives = try parseDirectives(isConstant: false)
    return FragmentDefinition(
      description: description, name: name, typeCondition: typeCondition, directives: directives,
      selectionSet: try parseSelectionSet(), position: position)
  }
}
