/// A type that runs the statements of an event loop's operations: `StatementBatcher`, or its
/// replacement in a benchmark.
package protocol StatementRunner: AnyObject {
  /// Runs a statement that only reads, as `PostgresPool.execute` does. The outcome's result has one
  /// row, whose first column is the statement's.
  ///
  /// - Parameter client: whose share of the connections it takes.
  func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket?
}

/// Called with the outcome of an execution and its durations.
package typealias StatementCompletion = (borrowing PostgresOutcome, StatementTimes) -> Void

/// Where the time of an execution went, in nanoseconds.
package struct StatementTimes: Sendable, Equatable {
  /// The time until it was sent: the wait for a connection, and for other executions in its batch.
  package var waited: UInt64 = 0
  /// The time from then to its result, including that of statements in front of it on the
  /// connection.
  package var served: UInt64 = 0

  package init(waited: UInt64 = 0, served: UInt64 = 0) {
    self.waited = waited
    self.served = served
  }
}
