/// What runs the statements of a loop's operations: its pool, or what a benchmark puts before it.
package protocol StatementRunner: AnyObject {
  /// Runs a statement that only reads, as `PostgresPool.execute` does.
  func run(
    _ statement: PostgresStatement, _ parameters: PostgresParameters,
    completion: @escaping (borrowing PostgresOutcome) -> Void
  ) -> PostgresTicket?
}

extension PostgresPool: StatementRunner {
  package func run(
    _ statement: PostgresStatement, _ parameters: PostgresParameters,
    completion: @escaping (borrowing PostgresOutcome) -> Void
  ) -> PostgresTicket? {
    execute(statement, parameters, completion: completion)
  }
}
