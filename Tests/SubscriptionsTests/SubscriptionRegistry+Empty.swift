@testable import Subscriptions

extension SubscriptionRegistry {
  /// Whether nothing is left of any stream.
  var isEmpty: Bool {
    var deadlines = deadlines
    deadlines.remove(.starts)
    deadlines.remove(.liveBudget)
    return subscriptions.isEmpty && index.isEmpty && queries.isEmpty && dependents.isEmpty
      && statements.isEmpty && executions.count == 0 && resolutions.isEmpty && sessions.count == 0
      && deadlines.isEmpty && backlog.isEmpty && policy.starting == 0 && lookupCount == 0
      && runningQueries == 0 && reader == .absent
      && (counts.starting, counts.active, counts.keys) == (0, 0, 0)
      && (counts.sessions, counts.queries, counts.dependencies) == (0, 0, 0)
  }
}
