import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres
import Subscriptions

// Plans and responses as the registry knows them.

extension EventPlan {
  func source(_ operation: PreparedOperation, group: Int) -> SubscriptionSource {
    SubscriptionSource(
      topic: topic, keysMayChange: hasSet, isSettled: isSettled, endsWithNull: endsWithNull,
      readsNode: readsNode, readsReceived: operation.plan.plan.parameters.contains(.told),
      nullBody: nullBody, group: group)
  }
}

extension LiveDependencies {
  /// The dependencies that do not come from a result.
  func dependencies(of viewer: Int64) -> Set<Dependency> {
    var dependencies: Set<Dependency> = []
    for pattern in patterns {
      if let tags = pattern.tags {
        for tag in tags { dependencies.insert(.tag(topic: pattern.topic, tag)) }
      } else {
        dependencies.insert(.all(topic: pattern.topic))
      }
    }
    for topic in viewerTopics {
      if let dependency = Self.dependency(topic, viewer, viewer) {
        dependencies.insert(dependency)
      }
    }
    return dependencies
  }

  func dependencies(on found: Set<DependencyKey>, of viewer: Int64) -> Set<Dependency> {
    var dependencies: Set<Dependency> = []
    for key in found where topics.indices.contains(key.topic) {
      if let dependency = Self.dependency(topics[key.topic], key.id, viewer) {
        dependencies.insert(dependency)
      }
    }
    return dependencies
  }

  /// Returns nil if the topic counts only for another viewer.
  private static func dependency(_ topic: Topic, _ id: Int64, _ viewer: Int64) -> Dependency? {
    if topic.isOwn, id != viewer { return nil }
    return topic.isNode ? .node(topic: topic.name, id) : .key(topic: topic.name, id)
  }
}

extension StatementOutcome {
  init(_ response: OperationResponse) {
    switch response {
    case .executed(let body, let errors, _): self = .response(body, errors: errors)
    case .refused(let errors, _): self = .failed(errors)
    }
  }
}

extension OperationResponse {
  init(_ outcome: StatementOutcome) {
    switch outcome {
    case .response(let body, let errors): self = .executed(body: body, errors: errors)
    case .failed(let errors): self = .refused(errors)
    }
  }

  /// The errors that a client receives if PostgreSQL fails so.
  static func errors(_ error: PostgresError) -> [GraphQLError] {
    switch failure(error) {
    case .executed(_, let errors, _), .refused(let errors, _): errors
    }
  }
}

extension SubscriptionKeys {
  static func result(
    _ result: Result<SubscriptionRunner.Start, RequestErrors>
  ) -> Result<SubscriptionKeys, StatementFailure> {
    switch result {
    case .success(let start):
      guard let snapshot = PostgresSnapshot(start.snapshot) else {
        return .failure(StatementFailure([.fault("PostgreSQL gave no snapshot.")]))
      }
      return .success(SubscriptionKeys(start.keys, snapshot))
    case .failure(let refusal): return .failure(StatementFailure(refusal.errors))
    }
  }
}
