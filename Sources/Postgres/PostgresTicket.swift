/// A statement that was given to a pool.
package struct PostgresTicket {
  private enum Target {
    case request(PostgresPool, PoolRequestID)
    case execution(StatementExecution)
  }

  private let target: Target

  init(pool: PostgresPool, id: PoolRequestID) { target = .request(pool, id) }

  init(_ execution: StatementExecution) { target = .execution(execution) }

  /// Nobody waits for the outcome any more: the completion is let go uncalled, and a statement that
  /// is running and takes its time is cancelled. Harmless when it is over. Call on the loop.
  package func cancel() {
    switch target {
    case .request(let pool, let id): pool.cancel(id)
    case .execution(let execution): execution.cancel()
    }
  }
}
