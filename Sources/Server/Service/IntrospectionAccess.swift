import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLTransport

/// The clients that may read the schema: through `__schema`, `__type` and the schema's text.
/// Suggestions in messages are sent to all clients or to none.
package enum IntrospectionAccess: String, CaseIterable, Sendable {
  case all
  /// Requests with a token. An invalid token is refused in any case.
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
      switch $0.value {
      case .introspection: true
      // A gateway's question for the schema's text.
      case .embedded: $0.coordinate.hasSuffix("._service")
      default: false
      }
    }
  }
}
