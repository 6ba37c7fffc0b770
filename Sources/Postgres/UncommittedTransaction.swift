import EventLoops

/// A transaction that runs the statements of operations and is always rolled back.
///
/// The statements of a query, and those of each field of a mutation, follow a savepoint. If one
/// fails, what they did is taken back, as a transaction of a server would take it back. Deferred
/// constraints are checked behind them, as a commit checks them. Belongs to one event loop.
package final class UncommittedTransaction: StatementRunner, TransactionRunner {
  private static let begin = PostgresStatement("BEGIN", parameterCount: 0)
  private static let rollback = PostgresStatement("ROLLBACK", parameterCount: 0)
  private static let savepoint = PostgresStatement(
    "SAVEPOINT sociograph_operation", parameterCount: 0)
  private static let takeBack = PostgresStatement(
    "ROLLBACK TO SAVEPOINT sociograph_operation", parameterCount: 0)
  private static let forget = PostgresStatement(
    "RELEASE SAVEPOINT sociograph_operation", parameterCount: 0)
  private static let check = PostgresStatement(
    "SET CONSTRAINTS ALL IMMEDIATE", parameterCount: 0)
  private static let postpone = PostgresStatement(
    "SET CONSTRAINTS ALL DEFERRED", parameterCount: 0)

  package let loop: EventLoop
  package let isCrowded = false
  private let lease: PostgresLease
  private let patience: Int64
  /// The role and the claims that the next statements run under; nil for those of the connection.
  package var role: ClientRole?

  /// Begins the transaction.
  ///
  /// - Parameter patience: the maximum duration of an operation.
  package init(_ lease: PostgresLease, on loop: EventLoop, patience: Duration) {
    self.lease = lease
    self.loop = loop
    self.patience = patience.nanoseconds
    send(Self.begin)
  }

  /// Rolls back, and gives the connection back to its pool.
  package func end(_ completion: @escaping () -> Void) {
    lease.execute(Self.rollback, PostgresParameters()) { [lease] _ in
      lease.release()
      completion()
    }
  }

  package func deadline(from now: Moment) -> Moment { now.advanced(byNanoseconds: patience) }

  package func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    run([BoundStatement(statement.alone, parameters)], nil, completion)
    return nil
  }

  package func run(
    _ transaction: [BoundStatement], for client: PoolClient?, commitsAsynchronously: Bool,
    deadline: Moment, part: StatementPart?, completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    run(transaction, part, completion)
    return nil
  }

  /// What came of the statements so far.
  private final class Progress {
    var error: PostgresError?
    var result: PostgresResult?

    /// Takes an outcome; nothing after the first error counts.
    func take(_ outcome: borrowing PostgresOutcome) {
      guard error == nil else { return }
      switch outcome {
      case .success(let result): self.result = result.copy()
      case .failure(let error): self.error = error
      }
    }
  }

  private func run(
    _ statements: [BoundStatement], _ part: StatementPart?,
    _ completion: @escaping StatementCompletion
  ) {
    let progress = Progress()
    send(Self.savepoint)
    if let role { send(role.setting) }
    for (index, bound) in statements.enumerated() {
      lease.execute(bound.statement, bound.parameters) { outcome in
        progress.take(outcome)
        guard let part, index < statements.count - 1, progress.error == nil else { return }
        switch outcome {
        case .success(let result): part(result, StatementTimes())
        case .failure: break
        }
      }
    }
    lease.execute(Self.check, PostgresParameters()) { [self] outcome in
      switch outcome {
      case .success: break
      case .failure(let error): progress.error = progress.error ?? error
      }
      guard progress.error == nil, let result = progress.result.take() else {
        send(Self.takeBack)
        send(Self.postpone)
        let error =
          progress.error ?? PostgresError(.other, message: "The statements gave no result.")
        return completion(.failure(error), StatementTimes())
      }
      send(Self.postpone)
      // A role that the savepoint does not take back.
      if role != nil { send(ClientRole.none.setting) }
      send(Self.forget)
      completion(.success(result), StatementTimes())
    }
  }

  private func send(_ statement: PostgresStatement) {
    lease.execute(statement, PostgresParameters()) { _ in }
  }

  private func send(_ bound: BoundStatement) {
    lease.execute(bound.statement, bound.parameters) { _ in }
  }
}
