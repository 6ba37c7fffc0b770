import GraphQLResponse
import Postgres

/// Begins subscriptions, on one loop. For each event, a `QueryRunner` makes what is sent.
package struct SubscriptionRunner {
  private let pool: PostgresPool

  package init(on pool: PostgresPool) { self.pool = pool }

  /// The start of a subscription.
  package struct Start {
    /// The keys of the events.
    package let keys: [Int64]
    /// A snapshot as PostgreSQL's text: the events in it are not sent.
    package let snapshot: String
  }

  /// Asks under which keys a subscription receives events, and from which snapshot on.
  ///
  /// - Returns: what cancels the statement; nil if none was sent.
  @discardableResult
  package func start(
    _ operation: PreparedOperation, _ event: PreparedEvent, viewer: Int64,
    completion: @escaping (Result<Start, RequestErrors>) -> Void
  ) -> PostgresTicket? {
    let parameters: PostgresParameters
    do {
      parameters = try operation.binder(viewer).bind(event.plan.parameters, of: event.plan.places)
    } catch {
      completion(.failure(RequestErrors(error)))
      return nil
    }
    return pool.execute(event.start, parameters, as: operation.role) { outcome, _ in
      switch outcome {
      case .success(let result):
        var keys: [Int64] = []
        for row in 0..<result.rowCount {
          if let key = result.integer(row: row, column: 0) { keys.append(key) }
        }
        guard !keys.isEmpty, let snapshot = result.string(row: 0, column: 1) else {
          return completion(.failure(RequestErrors(Self.nothingToHear(viewer))))
        }
        completion(.success(Start(keys: keys, snapshot: snapshot)))
      case .failure(let error):
        if let refusal = operation.refusal(error) {
          return completion(.failure(RequestErrors(refusal)))
        }
        guard
          case .refused(let errors, _) = OperationResponse.failure(
            error, over: event.plan.parameters, event.plan.places, operation.inputs)
        else { return }
        completion(.failure(RequestErrors(errors)))
      }
    }
  }

  private static func nothingToHear(_ viewer: Int64) -> GraphQLError {
    viewer == 0
      ? GraphQLError("Sign in to be told of this.", code: .unauthenticated)
      : GraphQLError("There is nothing that could be told.", code: .notFound)
  }
}
