/// The rules of a document, by the names that all engines share, in the order in which they check a
/// node.
///
/// GraphQL September 2025, 5 Validation.
package enum ValidationRule: String, Sendable, CaseIterable {
  case executableDefinitions = "ExecutableDefinitionsRule"
  case knownOperationTypes = "KnownOperationTypesRule"
  case uniqueOperationNames = "UniqueOperationNamesRule"
  case loneAnonymousOperation = "LoneAnonymousOperationRule"
  case singleFieldSubscriptions = "SingleFieldSubscriptionsRule"
  case knownTypeNames = "KnownTypeNamesRule"
  case fragmentsOnCompositeTypes = "FragmentsOnCompositeTypesRule"
  case variablesAreInputTypes = "VariablesAreInputTypesRule"
  case scalarLeafs = "ScalarLeafsRule"
  case fieldsOnCorrectType = "FieldsOnCorrectTypeRule"
  case uniqueFragmentNames = "UniqueFragmentNamesRule"
  case knownFragmentNames = "KnownFragmentNamesRule"
  case noUnusedFragments = "NoUnusedFragmentsRule"
  case possibleFragmentSpreads = "PossibleFragmentSpreadsRule"
  case noFragmentCycles = "NoFragmentCyclesRule"
  case uniqueVariableNames = "UniqueVariableNamesRule"
  case noUndefinedVariables = "NoUndefinedVariablesRule"
  case noUnusedVariables = "NoUnusedVariablesRule"
  case knownDirectives = "KnownDirectivesRule"
  case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocationRule"
  case deferOnRoot = "DeferStreamDirectiveOnRootFieldRule"
  case deferInSubscriptions = "DeferStreamDirectiveOnValidOperationsRule"
  case deferLabels = "DeferStreamDirectiveLabelRule"
  case streamOnLists = "StreamDirectiveOnListFieldRule"
  case knownArgumentNames = "KnownArgumentNamesRule"
  case uniqueArgumentNames = "UniqueArgumentNamesRule"
  case valuesOfCorrectType = "ValuesOfCorrectTypeRule"
  case providedRequiredArguments = "ProvidedRequiredArgumentsRule"
  case variablesInAllowedPosition = "VariablesInAllowedPositionRule"
  case overlappingFieldsCanBeMerged = "OverlappingFieldsCanBeMergedRule"
  case uniqueInputFieldNames = "UniqueInputFieldNamesRule"
}

/// A set of rules in one word, because the walk tests it several times at every node.
struct RuleSet {
  private var bits: UInt32

  static let none = RuleSet(bits: 0)
  static let all = RuleSet(ValidationRule.allCases)

  private init(bits: UInt32) { self.bits = bits }

  init(_ rules: some Sequence<ValidationRule>) {
    bits = 0
    for rule in rules { bits |= rule.bit }
  }

  func contains(_ rule: ValidationRule) -> Bool { bits & rule.bit != 0 }
}

extension ValidationRule {
  fileprivate var bit: UInt32 {
    switch self {
    case .executableDefinitions: 1 << 0
    case .knownOperationTypes: 1 << 1
    case .uniqueOperationNames: 1 << 2
    case .loneAnonymousOperation: 1 << 3
    case .singleFieldSubscriptions: 1 << 4
    case .knownTypeNames: 1 << 5
    case .fragmentsOnCompositeTypes: 1 << 6
    case .variablesAreInputTypes: 1 << 7
    case .scalarLeafs: 1 << 8
    case .fieldsOnCorrectType: 1 << 9
    case .uniqueFragmentNames: 1 << 10
    case .knownFragmentNames: 1 << 11
    case .noUnusedFragments: 1 << 12
    case .possibleFragmentSpreads: 1 << 13
    case .noFragmentCycles: 1 << 14
    case .uniqueVariableNames: 1 << 15
    case .noUndefinedVariables: 1 << 16
    case .noUnusedVariables: 1 << 17
    case .knownDirectives: 1 << 18
    case .uniqueDirectivesPerLocation: 1 << 19
    case .knownArgumentNames: 1 << 20
    case .uniqueArgumentNames: 1 << 21
    case .valuesOfCorrectType: 1 << 22
    case .providedRequiredArguments: 1 << 23
    case .variablesInAllowedPosition: 1 << 24
    case .overlappingFieldsCanBeMerged: 1 << 25
    case .uniqueInputFieldNames: 1 << 26
    case .deferOnRoot: 1 << 27
    case .deferInSubscriptions: 1 << 28
    case .deferLabels: 1 << 29
    case .streamOnLists: 1 << 30
    }
  }
}
