import EventLoops

/// A type that runs the transactions of an event loop's mutations: `PostgresPool`, or
/// `UncommittedTransaction`.
package protocol TransactionRunner: AnyObject {
  var loop: EventLoop { get }

  /// Whether a new request would wait for a connection.
  var isCrowded: Bool { get }

  /// Returns the deadline of an operation that begins now.
  func deadline(from now: Moment) -> Moment

  /// Runs statements as one transaction, as `PostgresPool.execute` does.
  ///
  /// - Parameter part: called with the result of each statement but the last, before the outcome.
  /// - Returns: a ticket that removes it from the queue; nil if there is no queue.
  func run(
    _ transaction: [BoundStatement], for client: PoolClient?, commitsAsynchronously: Bool,
    deadline: Moment, part: StatementPart?, completion: @escaping StatementCompletion
  ) -> PostgresTicket?
}

/// Called with the result of one of several statements.
package typealias StatementPart = (borrowing PostgresResult, StatementTimes) -> Void

extension TransactionRunner {
  package func run(
    _ transaction: [BoundStatement], for client: PoolClient?, commitsAsynchronously: Bool,
    deadline: Moment, completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    run(
      transaction, for: client, commitsAsynchronously: commitsAsynchronously, deadline: deadline,
      part: nil, completion: completion)
  }
}

extension PostgresPool: TransactionRunner {
  package func run(
    _ transaction: [BoundStatement], for client: PoolClient?, commitsAsynchronously: Bool,
    deadline: Moment, part: StatementPart?, completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    execute(
      transaction: transaction, for: client, commitsAsynchronously: commitsAsynchronously,
      deadline: deadline, part: part, completion: completion)
  }
}
