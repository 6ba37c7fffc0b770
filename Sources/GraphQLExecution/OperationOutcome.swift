import GraphQLPlanning
import GraphQLResponse

/// The outcome of one execution of an operation, with its durations.
package struct OperationOutcome: Sendable {
  package let response: OperationResponse
  package let times: PhaseDurations
  /// The nodes that the response of a live query depends on, in addition to what its plan says.
  package let dependencies: Set<DependencyKey>
  /// The actual cost of a query's response, in rate-limit points.
  package let cost: Int

  package init(
    _ response: OperationResponse, _ times: PhaseDurations, dependencies: Set<DependencyKey> = [],
    cost: Int = 0
  ) {
    self.cost = cost
    self.response = response
    self.times = times
    self.dependencies = dependencies
  }
}
