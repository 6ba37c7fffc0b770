/// What runs the statements of a loop's operations: `StatementCombiner`, or what a benchmark puts
/// in its place.
package protocol StatementRunner: AnyObject {
  /// Runs a statement that only reads, as `PostgresPool.execute` does. The outcome's result has one
  /// row, whose first column is the statement's.
  func run(
    _ statement: CombinableStatement, _ parameters: PostgresParameters,
    completion: @escaping (borrowing PostgresOutcome) -> Void
  ) -> PostgresTicket?
}
