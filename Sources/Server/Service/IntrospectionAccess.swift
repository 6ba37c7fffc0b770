import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLTransport

/// Who may learn the schema: through `__schema` and `__type`, its text, and from suggestions in
/// messages, which come to everybody or to nobody (R12).
package enum IntrospectionAccess: String, CaseIterable, Sendable {
  case all
  /// Whoever sends a token; one that is not valid is refused anyway.
  case signedIn = "signed-in"
  case off

  static let refusal = GraphQLError(
    "Introspection is not available; the schema is published otherwise.",
    code: .introspectionDisabled)

  func refuses(_ operation: PreparedOperation, hasToken: Bool) -> Bool {
    switch self {
    case .all: false
    case .signedIn: !hasToken && Self.asksForSchema(operation)
    case .off: Self.asksForSchema(operation)
    }
  }

  private static func asksForSchema(_ operation: PreparedOperation) -> Bool {
    operation.plan.plan.shape.fields.contains {
      if case .introspection = $0.value { true } else { false }
    }
  }
}
