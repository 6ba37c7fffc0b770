import GraphQLLanguage
import GraphQLSchema

// The rules that look at operations as a whole.
extension ValidationWalk {
  /// Reports definitions that are not executable (GraphQL September 2025, 5.1.1 Executable
  /// Definitions).
  mutating func checkExecutableDefinitions() {
    guard rules.contains(.executableDefinitions) else { return }
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment:
        break
      case .schema(let schema):
        report(
          .executableDefinitions, at: [schema.position],
          "The schema definition is not executable.")
      case .type(let type):
        report(
          .executableDefinitions, at: [type.position],
          "The \"\(type.name.text)\" definition is not executable.")
      case .directive(let directive):
        report(
          .executableDefinitions, at: [directive.position],
          "The \"\(directive.name.text)\" definition is not executable.")
      }
    }
  }

  /// Reports a kind of operation that the schema does not have (GraphQL September 2025, 5.2.1
  /// Operation Type Existence).
  mutating func checkOperationType(_ operation: OperationDefinition, at place: Position) {
    guard schema.rootType(for: operation.kind) == nil else { return }
    report(
      .knownOperationTypes, at: [place],
      "The \(operation.kind.rawValue) operation is not supported by the schema.")
  }

  /// Reports repeated operation names (GraphQL September 2025, 5.2.2.1 Operation Name Uniqueness).
  mutating func checkUniqueName(of operation: OperationDefinition) {
    guard operationCount > 1, let name = operation.name else { return }
    if let first = operationNames[name.text] {
      report(
        .uniqueOperationNames, at: [first.position, name.position],
        "There can be only one operation named \"\(name.text)\".")
    } else {
      operationNames[name.text] = name
    }
  }

  /// Reports an anonymous operation among others (GraphQL September 2025, 5.2.3.1 Lone Anonymous
  /// Operation).
  mutating func checkLone(_ operation: OperationDefinition, at place: Position) {
    guard operationCount > 1, operation.name == nil else { return }
    report(
      .loneAnonymousOperation, at: [place],
      "This anonymous operation must be the only defined operation.")
  }
}
