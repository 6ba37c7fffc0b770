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

/// Called with the outcome of an execution, and with what it took.
package typealias StatementCompletion = (borrowing PostgresOutcome, StatementTimes) -> Void

/// Where the time of an execution went, in nanoseconds.
package struct StatementTimes: Sendable, Equatable {
  /// Before it was sent: until a connection would take it, and until others were there to be
  /// combined with.
  package var waited: UInt64 = 0
  /// From then to its answer, behind others on the same connection perhaps.
  package var served: UInt64 = 0

  package init(waited: UInt64 = 0, served: UInt64 = 0) {
    self.waited = waited
    self.served = served
  }
}
