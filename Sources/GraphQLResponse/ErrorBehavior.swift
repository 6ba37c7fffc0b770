/// What an error does to the response positions around its own: the request's `onError`.
///
/// Proposals 1163 and 1236 to the GraphQL specification, open in November 2026. A request that does
/// not say has the behavior of every edition so far.
package enum ErrorBehavior: String, Sendable, Hashable, CaseIterable {
  /// A null where the schema allows none moves up to the nearest nullable position.
  case propagate = "PROPAGATE"
  /// The position is null, whatever the schema says about it, and its surroundings stay.
  case null = "NULL"
  /// The first error ends the execution, and `data` is null.
  case halt = "HALT"
}
