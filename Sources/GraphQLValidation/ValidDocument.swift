import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// A document that satisfies every rule of the specification for one schema.
///
/// Only validation creates one, so the type is the proof. Every selected field exists, every
/// fragment spread is defined and not circular, and every literal has the type of its location.
package struct ValidDocument: Sendable {
  package let document: Document
  package let schema: Schema
  package let operations: [OperationDefinition]
  package let operationsByName: [String: OperationDefinition]
  package let fragments: [String: FragmentDefinition]

  init(document: Document, schema: Schema) {
    self.document = document
    self.schema = schema
    operations = document.operations
    operationsByName = Dictionary(
      operations.compactMap { operation in operation.name.map { ($0.text, operation) } },
      uniquingKeysWith: { first, _ in first })
    fragments = Dictionary(
      document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the operation that a request selects.
  ///
  /// GraphQL September 2025, 6.1 GetOperation.
  package func operation(named name: String?) throws(GraphQLError) -> OperationDefinition {
    if let name {
      guard let operation = operationsByName[name],
        operation.name?.text.utf8.count == name.utf8.count
      else {
        throw GraphQLError(
          "Unknown operation named \"\(name)\".", code: .operationResolutionFailure)
      }
      return operation
    }
    guard let operation = operations.first else {
      throw GraphQLError("Must provide an operation.", code: .operationResolutionFailure)
    }
    guard operations.count == 1 else {
      throw GraphQLError(
        "Must provide operation name if query contains multiple operations.",
        code: .operationResolutionFailure)
    }
    return operation
  }
}
