import GraphQLLanguage

/// Applies the rules for type system documents in one walk.
///
/// It visits nodes in the order of the reference implementation's visitor, and applies the rules to
/// each node in the order of its list, so findings come in the same order. It also walks executable
/// definitions: names, directives and arguments in them follow the same rules. Every step is a
/// look-up: O(size of the document).
///
/// GraphQL September 2025, 3 Type System and 5 Validation.
struct SDLValidator {
  let document: Document
  let rules: Set<SDLRule>
  var findings: Findings
  var suggestions: Suggestions

  /// The directives known in this text: those of the specification and those that it defines.
  let directives: [String: KnownDirective]
  let definedTypes: [String: TypeSystemTypeDefinition]
  let definedTypeNames: [String]
  let knownTypeNames: [String]

  // The definitions found so far.
  var schemaDefinitions = 0
  var operationTypes: [OperationKind: Position] = [:]
  var typeNames: [String: Position] = [:]
  var enumValueNames: [String: [String: Position]] = [:]
  var fieldNames: [String: [String: Position]] = [:]
  var directiveNames: [String: Position] = [:]
  var uniqueDirectives: [DirectiveScope: [String: Position]] = [:]

  init(_ document: Document, rules: Set<SDLRule>, suggestions: Bool) {
    self.document = document
    self.rules = rules
    findings = Findings(enabled: rules)
    self.suggestions = Suggestions(enabled: suggestions)
    var directives: [String: KnownDirective] = [:]
    for directive in BuiltIns.directives {
      directives[directive.name.text] = KnownDirective(directive)
    }
    var types: [String: TypeSystemTypeDefinition] = [:]
    for definition in document.definitions {
      switch definition {
      case .directive(let directive):
        if !directive.isExtension {
          directives[directive.name.text] = KnownDirective(directive)
        }
      case .type(let type):
        if !type.isExtension { types[type.name.text] = type }
      case .operation, .fragment, .schema: break
      }
    }
    self.directives = directives
    definedTypes = types
    definedTypeNames = Array(types.keys)
    knownTypeNames = definedTypeNames + BuiltIns.typeNames
  }

  mutating func validate() {
    for definition in document.definitions {
      guard !findings.isFull else { return }
      switch definition {
      case .schema(let schema): visit(schema)
      case .type(let type): visit(type)
      case .directive(let directive): visit(directive)
      case .operation(let operation): visit(operation)
      case .fragment(let fragment): visit(fragment)
      }
    }
  }

  // MARK: - Type system definitions

  private mutating func visit(_ schema: SchemaDefinition) {
    checkLoneSchemaDefinition(schema)
    checkUniqueOperationTypes(schema)
    checkUniqueDirectives(schema.directives, in: .schema)
    visit(schema.directives, at: .schema)
    for operation in schema.operationTypes { visit(typeName: operation.type, inSDL: true) }
  }

  private mutating func visit(_ type: TypeSystemTypeDefinition) {
    checkUniqueTypeNames(type)
    checkUniqueEnumValueNames(type)
    checkUniqueFieldDefinitionNames(type)
    checkUniqueArgumentDefinitionNames(type)
    checkUniqueDirectives(type.directives, in: .type(type.name.text))
    checkPossibleTypeExtensions(type)
    switch type.content {
    case .scalar: visit(type.directives, at: .scalar)
    case .object(let interfaces, let fields):
      for interface in interfaces { visit(typeName: interface, inSDL: true) }
      visit(type.directives, at: .object)
      for field in fields { visit(field) }
    case .interface(let interfaces, let fields):
      for interface in interfaces { visit(typeName: interface, inSDL: true) }
      visit(type.directives, at: .interface)
      for field in fields { visit(field) }
    case .union(let members):
      visit(type.directives, at: .union)
      for member in members { visit(typeName: member, inSDL: true) }
    case .enum(let values):
      visit(type.directives, at: .enum)
      for value in values {
        checkUniqueDirectives(value.directives)
        visit(value.directives, at: .enumValue)
      }
    case .inputObject(let fields):
      visit(type.directives, at: .inputObject)
      for field in fields { visit(field, at: .inputFieldDefinition) }
    }
  }

  private mutating func visit(_ field: FieldDefinitionSyntax) {
    checkUniqueDirectives(field.directives)
    for argument in field.arguments { visit(argument, at: .argumentDefinition) }
    visit(typeName: field.type.namedType, inSDL: true)
    visit(field.directives, at: .fieldDefinition)
  }

  private mutating func visit(
    _ input: InputValueDefinitionSyntax, at location: DirectiveLocation
  ) {
    checkUniqueDirectives(input.directives)
    visit(typeName: input.type.namedType, inSDL: true)
    if let value = input.defaultValue { visit(value) }
    visit(input.directives, at: location)
  }

  private mutating func visit(_ directive: DirectiveDefinitionSyntax) {
    checkUniqueArguments(directive.arguments, of: "@\(directive.name.text)")
    checkUniqueDirectiveNames(directive)
    checkUniqueDirectives(directive.directives, in: .directive(directive.name.text))
    checkPossibleExtension(directive)
    for argument in directive.arguments { visit(argument, at: .argumentDefinition) }
    visit(directive.directives, at: .directiveDefinition)
  }

  // MARK: - What definitions hold

  private mutating func visit(_ directives: [Directive], at location: DirectiveLocation) {
    for directive in directives {
      guard !findings.isFull else { return }
      checkKnownDirective(directive, at: location)
      checkKnownArguments(directive)
      checkUniqueArguments(directive.arguments)
      for argument in directive.arguments { visit(argument.value) }
      checkRequiredArguments(directive)
    }
  }

  private mutating func visit(_ value: Value) {
    switch value.content {
    case .list(let items): for item in items { visit(item) }
    case .object(let fields):
      var seen: [String: Position] = [:]
      for field in fields {
        checkUniqueInputField(field, &seen)
        visit(field.value)
      }
    case .variable, .int, .float, .string, .boolean, .null, .enum: break
    }
  }

  // MARK: - Executable definitions

  private mutating func visit(_ operation: OperationDefinition) {
    checkUniqueDirectives(operation.directives)
    for variable in operation.variables {
      checkUniqueDirectives(variable.directives)
      visit(typeName: variable.type.namedType, inSDL: false)
      if let value = variable.defaultValue { visit(value) }
      visit(variable.directives, at: .variableDefinition)
    }
    let location: DirectiveLocation =
      switch operation.kind {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
    visit(operation.directives, at: location)
    visit(operation.selectionSet)
  }

  private mutating func visit(_ fragment: FragmentDefinition) {
    checkUniqueDirectives(fragment.directives)
    visit(typeName: fragment.typeCondition, inSDL: false)
    visit(fragment.directives, at: .fragmentDefinition)
    visit(fragment.selectionSet)
  }

  private mutating func visit(_ selectionSet: SelectionSet) {
    for selection in selectionSet.selections {
      guard !findings.isFull else { return }
      switch selection {
      case .field(let field):
        checkUniqueDirectives(field.directives)
        checkUniqueArguments(field.arguments)
        for argument in field.arguments { visit(argument.value) }
        visit(field.directives, at: .field)
        if let selectionSet = field.selectionSet { visit(selectionSet) }
      case .fragmentSpread(let spread):
        checkUniqueDirectives(spread.directives)
        visit(spread.directives, at: .fragmentSpread)
      case .inlineFragment(let fragment):
        checkUniqueDirectives(fragment.directives)
        if let condition = fragment.typeCondition { visit(typeName: condition, inSDL: false) }
        visit(fragment.directives, at: .inlineFragment)
        visit(fragment.selectionSet)
      }
    }
  }
}
