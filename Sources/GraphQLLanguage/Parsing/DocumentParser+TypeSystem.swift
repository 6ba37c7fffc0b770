// Type system definitions and extensions.
//
// GraphQL September 2025, 3 Type System; directives on directives are of the working draft since 2026
// (proposal 1206). A definition and its extension share one function: an
// extension has no description, and must add something.

extension DocumentParser {
  /// Parses the definition whose keyword is the current token; returns nil if the token is no
  /// keyword of the type system.
  mutating func parseTypeSystemDefinition(
    _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> Definition? {
    if isAt("directive") { return .directive(try parseDirectiveDefinition(description, position)) }
    return try parseSchemaOrType(isExtension: false, description, position)
  }

  /// Parses the extension after `extend`.
  mutating func parseExtension(_ position: Position) throws(SyntaxFailure) -> Definition {
    if isAt("directive") { return .directive(try parseDirectiveExtension(position)) }
    guard let definition = try parseSchemaOrType(isExtension: true, nil, position) else {
      throw unexpected()
    }
    return definition
  }

  private mutating func parseSchemaOrType(
    isExtension: Bool, _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> Definition? {
    if isAt("schema") { return .schema(try parseSchema(isExtension, description, position)) }
    guard let keyword = TypeKeyword(self) else { return nil }
    try lexer.advance()
    let name = try parseName()
    var interfaces: [Name] = []
    if keyword == .type || keyword == .interface {
      interfaces = try parseInterfaces()
    }
    let directives = try parseDirectives(isConstant: true)
    let (content, count) = try parseContent(keyword, interfaces)
    if isExtension, directives.isEmpty, interfaces.isEmpty, count == 0 { throw unexpected() }
    return .type(
      TypeSystemTypeDefinition(
        isExtension: isExtension, description: description, name: name, directives: directives,
        content: content, position: position))
  }

  private enum TypeKeyword {
    case scalar, type, interface, union, `enum`, input

    init?(_ parser: borrowing DocumentParser) {
      if parser.isAt("type") {
        self = .type
      } else if parser.isAt("input") {
        self = .input
      } else if parser.isAt("enum") {
        self = .enum
      } else if parser.isAt("interface") {
        self = .interface
      } else if parser.isAt("union") {
        self = .union
      } else if parser.isAt("scalar") {
        self = .scalar
      } else {
        return nil
      }
    }
  }

  /// Parses the parts of a type, and returns them with their number.
  private mutating func parseContent(
    _ keyword: TypeKeyword, _ interfaces: [Name]
  ) throws(SyntaxFailure) -> (TypeSystemTypeDefinition.Content, Int) {
    switch keyword {
    case .scalar:
      return (.scalar, 0)
    case .type:
      let fields = try parseFieldDefinitions()
      return (.object(interfaces: interfaces, fields: fields), fields.count)
    case .interface:
      let fields = try parseFieldDefinitions()
      return (.interface(interfaces: interfaces, fields: fields), fields.count)
    case .union:
      let members =
        try skip(.equals)
        ? try delimited(by: .pipe) { (parser) throws(SyntaxFailure) in try parser.parseName() } : []
      return (.union(members: members), members.count)
    case .enum:
      let values = try optionalMany(.braceLeft, .braceRight) { (parser) throws(SyntaxFailure) in
        try parser.parseEnumValueDefinition()
      }
      return (.enum(values: values), values.count)
    case .input:
      let fields = try optionalMany(.braceLeft, .braceRight) { (parser) throws(SyntaxFailure) in
        try parser.parseInputValueDefinition()
      }
      return (.inputObject(fields: fields), fields.count)
    }
  }

  // MARK: - Parts

  private mutating func parseSchema(
    _ isExtension: Bool, _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> SchemaDefinition {
    try lexer.advance()
    let directives = try parseDirectives(isConstant: true)
    var operationTypes: [OperationTypeDefinition] = []
    if !isExtension || kind == .braceLeft {
      operationTypes = try many(.braceLeft, .braceRight) { (parser) throws(SyntaxFailure) in
        try parser.parseOperationTypeDefinition()
      }
    }
    if isExtension, directives.isEmpty, operationTypes.isEmpty { throw unexpected() }
    return SchemaDefinition(
      isExtension: isExtension, description: description, directives: directives,
      operationTypes: operationTypes, position: position)
  }

  private mutating func parseOperationTypeDefinition()
    throws(SyntaxFailure) -> OperationTypeDefinition
  {
    let position = self.position
    guard kind == .name else { throw expected("Name") }
    guard let operation = operationKind else { throw try unexpectedAfterAdvance() }
    try lexer.advance()
    try expect(.colon)
    return OperationTypeDefinition(kind: operation, type: try parseName(), position: position)
  }

  private mutating func parseInterfaces() throws(SyntaxFailure) -> [Name] {
    guard try skip(keyword: "implements") else { return [] }
    return try delimited(by: .ampersand) { (parser) throws(SyntaxFailure) in
      try parser.parseName()
    }
  }

  private mutating func parseFieldDefinitions() throws(SyntaxFailure) -> [FieldDefinitionSyntax] {
    try optionalMany(.braceLeft, .braceRight) { (parser) throws(SyntaxFailure) in
      let position = parser.position
      let description = try parser.parseDescription()
      let name = try parser.parseName()
      let arguments = try parser.parseArgumentDefinitions()
      try parser.expect(.colon)
      let type = try parser.parseType()
      return FieldDefinitionSyntax(
        description: description, name: name, arguments: arguments, type: type,
        directives: try parser.parseDirectives(isConstant: true), position: position)
    }
  }

  private mutating func parseArgumentDefinitions()
    throws(SyntaxFailure) -> [InputValueDefinitionSyntax]
  {
    try optionalMany(.parenthesisLeft, .parenthesisRight) { (parser) throws(SyntaxFailure) in
      try parser.parseInputValueDefinition()
    }
  }

  private mutating func parseInputValueDefinition()
    throws(SyntaxFailure) -> InputValueDefinitionSyntax
  {
    let position = self.position
    let description = try parseDescription()
    let name = try parseName()
    try expect(.colon)
    let type = try parseType()
    let defaultValue = try skip(.equals) ? try parseValue(isConstant: true) : nil
    return InputValueDefinitionSyntax(
      description: description, name: name, type: type, defaultValue: defaultValue,
      directives: try parseDirectives(isConstant: true), position: position)
  }

  private mutating func parseEnumValueDefinition()
    throws(SyntaxFailure) -> EnumValueDefinitionSyntax
  {
    let position = self.position
    let description = try parseDescription()
    if tokenSays("true") || tokenSays("false") || tokenSays("null") {
      throw error(
        "\(lexer.tokenDescription) is reserved and cannot be used for an enum value.",
        self.position)
    }
    let name = try parseName()
    return EnumValueDefinitionSyntax(
      description: description, name: name, directives: try parseDirectives(isConstant: true),
      position: position)
  }

  private mutating func parseDirectiveDefinition(
    _ description: StringLiteral?, _ position: Position
  ) throws(SyntaxFailure) -> DirectiveDefinitionSyntax {
    try lexer.advance()
    try expect(.at)
    let name = try parseName()
    let arguments = try parseArgumentDefinitions()
    let directives = try parseDirectives(isConstant: true)
    let isRepeatable = try skip(keyword: "repeatable")
    try expect(keyword: "on")
    let locations = try delimited(by: .pipe) { (parser) throws(SyntaxFailure) -> Name in
      guard parser.kind == .name else { throw parser.expected("Name") }
      guard Self.isDirectiveLocation(parser.lexer.tokenText) else {
        throw try parser.unexpectedAfterAdvance()
      }
      return try parser.parseName()
    }
    return DirectiveDefinitionSyntax(
      description: description, name: name, arguments: arguments, directives: directives,
      isRepeatable: isRepeatable, locations: locations, position: position)
  }

  private mutating func parseDirectiveExtension(
    _ position: Position
  ) throws(SyntaxFailure) -> DirectiveDefinitionSyntax {
    try lexer.advance()
    try expect(.at)
    let name = try parseName()
    let directives = try parseDirectives(isConstant: true)
    if directives.isEmpty { throw unexpected() }
    return DirectiveDefinitionSyntax(
      isExtension: true, description: nil, name: name, arguments: [], directives: directives,
      isRepeatable: false, locations: [], position: position)
  }

  /// Returns the error for an unexpected current token.
  ///
  /// An error in the token after it takes precedence, because graphql-js has already read that
  /// token.
  private mutating func unexpectedAfterAdvance() throws(SyntaxFailure) -> SyntaxFailure {
    let error = unexpected()
    try lexer.advance()
    return error
  }

  private static func isDirectiveLocation(_ word: String) -> Bool {
    switch word {
    case "QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD",
      "INLINE_FRAGMENT", "VARIABLE_DEFINITION", "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION",
      "ARGUMENT_DEFINITION", "INTERFACE", "UNION", "ENUM", "ENUM_VALUE", "INPUT_OBJECT",
      "INPUT_FIELD_DEFINITION", "DIRECTIVE_DEFINITION":
      true
    default: false
    }
  }
}
