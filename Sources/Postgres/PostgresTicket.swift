/// A statement that was given to a pool.
package struct PostgresTicket {
  private enum Target {
    case request(PostgresPool, PoolRequestID)
    case execution(StatementExecution)
  }

  private let target: Target

  init(pool: PostgresPool, id: PoolRequestID) { target = .request(pool, id) }

  init(_ execution: StatementExecution) { target = .execution(execution) }

  /// Stops waiting for the outcome: the completion is not called, and a statement that runs for
  /// long is cancelled. Has no effect on a finished one. Call on the event loop.
  package func cancel() {
    switch target {
    case .request(let pool, let id): pool.cancel(id)
    case .execution(let execution): execution.cancel()
    }
  }
}
