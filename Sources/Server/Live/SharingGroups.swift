import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Postgres

/// Numbers for subscriptions whose statements give the same response to the same event: of one plan with the same values,
/// for the same viewer and preferences or, if the plan does not read these, for any. Policies may read every claim, so
/// that operations with roles share with those of the same claims only.
struct SharingGroups {
  struct Key: Hashable {
    private let plan: ObjectIdentifier
    private let variables: [InputValue?]
    private let viewer: Int64?
    private let locale: String?
    private let app: String?
    private let sessionHash: [UInt8]?
    private let onError: ErrorBehavior
    private let role: ClientRole?

    init(_ operation: PreparedOperation, viewer: Int64) {
      plan = ObjectIdentifier(operation.plan)
      variables = operation.variables
      onError = operation.onError
      role = operation.role
      let parameters = operation.plan.plan.parameters
      let dependsOnViewer = parameters.contains {
        switch $0 {
        // Viewers without accounts are numbered by their claims.
        case .viewer, .claim: true
        default: false
        }
      }
      self.viewer = dependsOnViewer ? viewer : nil
      locale = parameters.contains(.locale) ? operation.preferences.locale : nil
      app = parameters.contains(.app) ? operation.preferences.app : nil
      sessionHash = parameters.contains(.sessionHash) ? operation.sessionHash : nil
    }
  }

  private var groups: [Key: (number: Int, count: Int)] = [:]
  private var last = 0

  /// Returns the number of the group. A plan must exist until its last subscription leaves.
  mutating func join(_ key: Key) -> Int {
    if let group = groups[key] {
      groups[key] = (group.number, group.count + 1)
      return group.number
    }
    last += 1
    groups[key] = (last, 1)
    return last
  }

  mutating func leave(_ key: Key) {
    guard let group = groups[key] else { return }
    groups[key] = group.count > 1 ? (group.number, group.count - 1) : nil
  }
}
