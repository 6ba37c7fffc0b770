import GraphQLLanguage
import GraphQLSchema

/// One pass over a document, in which every rule checks each node in turn.
///
/// Rules are extensions of this walk, one file each in `Rules`. Findings come in the order of the
/// nodes, and of the rules at one node, each rule before the node's children or after them. A rule
/// that needs later parts of the document reserves a place when its node passes, and reports at
/// that place when the walk is over.
struct ValidationWalk {
  let document: Document
  let schema: Schema
  /// The rules still active: none once there are more findings than can be reported.
  private(set) var rules: RuleSet
  /// All requested rules, also at the end of the walk.
  let requestedRules: RuleSet
  var suggestions: Suggestions
  let suggests: Bool
  let maximumErrors: Int
  var limits: ValidationLimits

  private(set) var errors: [PendingError] = []
  private var nextTurn = 0

  // The state of single rules during the walk.
  var operationNames: [String: Name] = [:]
  var operationCount = 0
  var fragmentNames: [String: Name] = [:]
  var fragmentsSearchedForCycles: Set<String> = []
  let graph: FragmentGraph
  var usages: [VariableUsage] = []
  var usagesOfFragments: [[VariableUsage]] = []
  var distinctUsagesOfFragments: [Int: [VariableUsage]] = [:]
  var hasUsagesInFragments = false
  var finishedOperations: [FinishedOperation] = []
  var selectionSets: [SelectionSetRecord] = []
  var currentFragment: Int?
  var typeDirectives: [String: [String: Directive]] = [:]
  var schemaDirectives: [String: Directive] = [:]
  var deferLabels: [String: Position] = [:]
  /// The types that the document itself defines, in addition to the schema's; only if it is not
  /// executable.
  var definedTypes: Set<String> = []
  var definedDirectives: [String: DirectiveDefinitionSyntax] = [:]
  private var possibleTypeBits: [Int32: [UInt64]] = [:]

  init(
    document: Document, schema: Schema, rules: RuleSet, suggestions: Bool, limits: ValidationLimits
  ) {
    self.document = document
    self.schema = schema
    self.rules = rules
    requestedRules = rules
    self.suggestions = Suggestions(enabled: suggestions)
    suggests = suggestions
    self.limits = limits
    maximumErrors = limits.errors ?? 100
    graph = FragmentGraph(document)
    for definition in document.definitions {
      switch definition {
      case .operation:
        operationCount += 1
      case .fragment:
        break
      case .type(let type):
        if !type.isExtension { definedTypes.insert(type.name.text) }
      case .directive(let directive):
        if !directive.isExtension { definedDirectives[directive.name.text] = directive }
      case .schema:
        break
      }
    }
    usagesOfFragments = Array(repeating: [], count: fragments.count)
  }

  mutating func walk() {
    checkExecutableDefinitions()
    for definition in document.definitions {
      switch definition {
      case .operation(let operation): walk(operation)
      case .fragment(let fragment): walk(fragment)
      case .schema(let schema): walk(schema)
      case .type(let type): walk(type)
      case .directive(let directive): walk(directive)
      }
    }
    checkUnusedFragments()
    checkVariables()
    if requestedRules.contains(.overlappingFieldsCanBeMerged) { checkOverlappingFields() }
  }

  // MARK: - Reporting

  mutating func takeTurn() -> Int {
    nextTurn += 1
    return nextTurn
  }

  mutating func report(_ rule: ValidationRule, at positions: [Position], _ message: String) {
    report(rule, at: positions, turn: takeTurn(), message)
  }

  /// Records a finding, and drops findings that exceed the limit by more than the one that says so.
  mutating func report(
    _ rule: ValidationRule, at positions: [Position], turn: Int, _ message: String
  ) {
    errors.append(PendingError(turn: turn, message: message, positions: positions, rule: rule))
    if turn == nextTurn, errors.count > maximumErrors { rules = RuleSet.none }
  }

  mutating func reportUndecidedMerge() {
    errors.append(
      PendingError(
        turn: takeTurn(), message: "The document has too many fields to merge.", positions: [],
        rule: .overlappingFieldsCanBeMerged, code: .mergeLimitExceeded))
  }

  mutating func didYouMean(
    _ name: String, among options: @autoclosure () -> [String], _ subject: String? = nil
  ) -> String {
    suggests ? suggestions.didYouMean(name, among: options(), subject: subject) : ""
  }

  // MARK: - Fragments

  var fragments: [FragmentDefinition] { graph.fragments }
  var fragmentIndices: [String: Int] { graph.indices }

  // MARK: - Types

  func fieldDefinition(named name: String, on parent: TypeDefinition) -> FieldDefinition? {
    if let definition = parent.field(named: name) { return definition }
    guard name.utf8.first == UInt8(ascii: "_") else { return nil }
    return schema.metaField(named: name, on: parent)
  }

  func resolve(_ syntax: TypeSyntax) -> TypeReference? {
    switch syntax {
    case .named(let name): schema.typesByName[name.text].map { .named($0) }
    case .list(let inner, _): resolve(inner).map { .list($0) }
    case .nonNull(let inner): resolve(inner).map { .nonNull($0) }
    }
  }

  func text(_ type: TypeReference) -> String {
    switch type {
    case .named(let id): schema[id].name
    case .list(let inner): "[\(text(inner))]"
    case .nonNull(let inner): "\(text(inner))!"
    }
  }

  func text(_ type: TypeSyntax) -> String {
    switch type {
    case .named(let name): name.text
    case .list(let inner, _): "[\(text(inner))]"
    case .nonNull(let inner): "\(text(inner))!"
    }
  }

  /// Returns whether an object type can be both types.
  mutating func overlap(_ first: TypeDefinition, _ second: TypeDefinition) -> Bool {
    if first.id == second.id { return true }
    if !first.isAbstract { return second.isAbstract && isPossible(first.id, of: second) }
    if !second.isAbstract { return isPossible(second.id, of: first) }
    let (left, right) = (possibleTypes(of: first), possibleTypes(of: second))
    return zip(left, right).contains { $0 & $1 != 0 }
  }

  private mutating func isPossible(_ id: TypeID, of abstract: TypeDefinition) -> Bool {
    possibleTypes(of: abstract)[Int(id.index >> 6)] & (1 << UInt64(id.index & 63)) != 0
  }

  private mutating func possibleTypes(of type: TypeDefinition) -> [UInt64] {
    if let known = possibleTypeBits[type.id.index] { return known }
    var bits = [UInt64](repeating: 0, count: (schema.types.count + 63) / 64)
    for id in schema.possibleTypes[Int(type.id.index)] {
      bits[Int(id.index >> 6)] |= 1 << UInt64(id.index & 63)
    }
    possibleTypeBits[type.id.index] = bits
    return bits
  }
}

/// The fields that every schema has without declaring them.
///
/// GraphQL September 2025, 4.1 Type Name Introspection and 4.2 Schema Introspection.
extension Schema {
  package func metaField(named name: String, on parent: TypeDefinition) -> FieldDefinition? {
    switch name {
    case "__typename":
      guard parent.isComposite, let string = typesByName["String"] else { return nil }
      return FieldDefinition(
        name: name, description: "The name of the current Object type at runtime.",
        arguments: [], type: .nonNull(.named(string)), deprecationReason: nil)
    case "__schema":
      guard parent.id == queryType, let type = typesByName["__Schema"] else { return nil }
      return FieldDefinition(
        name: name, description: "Access the current type schema of this server.", arguments: [],
        type: .nonNull(.named(type)), deprecationReason: nil)
    case "__type":
      guard parent.id == queryType, let type = typesByName["__Type"],
        let string = typesByName["String"]
      else { return nil }
      let argument = InputValueDefinition(
        name: "name", description: nil, type: .nonNull(.named(string)), defaultValue: nil,
        coercedDefault: nil, deprecationReason: nil)
      return FieldDefinition(
        name: name, description: "Request the type information of a single type.",
        arguments: [argument], type: .named(type), deprecationReason: nil)
    default:
      return nil
    }
  }
}
