import EventLoops

/// The requests of a pool's owner: statements, transactions, snapshots, and connections of their own.
extension PostgresPool {
  /// Runs a statement that only reads.
  ///
  /// - Parameters:
  ///   - client: the client whose share of the connections it uses, or nil for none.
  ///   - role: the role that it runs under, or nil for that of the connection.
  ///   - deadline: the deadline of the operation; by default that of the settings from now.
  @discardableResult
  package func execute(
    _ statement: PostgresStatement, _ parameters: PostgresParameters, for client: PoolClient? = nil,
    as role: ClientRole? = nil, deadline: Moment? = nil,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket {
    loop.preconditionOnLoop()
    let now = Moment.now
    if let error = Self.mismatch(statement, parameters) { return refuse(error, completion) }
    return submit(
      .quick, estimate: statement.estimateNanoseconds(at: now), now: now,
      deadline: deadline ?? self.deadline(from: now),
      PoolPayload(.statement(statement, parameters, completion), for: client, as: role, at: now))
  }

  /// Runs statements that may write as one transaction. Each sees the effects of those before it.
  ///
  /// The outcome is that of the commit: the last statement's result, or the error that rolled back
  /// the transaction. Nothing is retried. `.lost` means that the outcome is unknown. Past its
  /// deadline a transaction is cancelled; if it commits first, the outcome is its result. Each
  /// statement returns rows.
  ///
  /// - Parameters:
  ///   - client: the client whose share of the connections it uses, or nil for none.
  ///   - isHeavy: whether it is placed as one that takes long.
  ///   - commitsAsynchronously: whether it sets `synchronous_commit` off.
  ///   - part: called with the result of each statement but the last, before the outcome.
  /// - Returns: a ticket that removes it from the queue. Once it runs, it is finished.
  @discardableResult
  package func execute(
    transaction: [BoundStatement], for client: PoolClient? = nil, isHeavy: Bool = false,
    commitsAsynchronously: Bool = false, deadline: Moment? = nil, part: StatementPart? = nil,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket {
    loop.preconditionOnLoop()
    let now = Moment.now
    for bound in transaction {
      if let error = Self.mismatch(bound.statement, bound.parameters) {
        return refuse(error, completion)
      }
    }
    return submit(
      .quick, estimate: isHeavy ? UInt64(heavyNanoseconds) : 0, now: now,
      deadline: deadline ?? self.deadline(from: now),
      PoolPayload(
        .transaction(
          transaction, commitsAsynchronously: commitsAsynchronously, part: part, completion),
        for: client, at: now))
  }

  /// Runs read statements in order and in one snapshot, on an exclusive connection.
  ///
  /// They are sent together, and each result is delivered when it arrives. Until the first result,
  /// they are retried like any statement.
  ///
  /// - Parameters:
  ///   - client: the client whose share of the connections it uses, or nil for none.
  ///   - part: called with the result of each statement but the last, in order.
  ///   - completion: called with the last result, or with the first error, which ends all.
  @discardableResult
  package func execute(
    inOneSnapshot statements: [BoundStatement], for client: PoolClient? = nil,
    part: @escaping (borrowing PostgresResult, StatementTimes) -> Void,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket {
    loop.preconditionOnLoop()
    let now = Moment.now
    var estimate: UInt64 = 0
    for bound in statements {
      estimate = min(
        estimate &+ min(bound.statement.estimateNanoseconds(at: now), 1 << 40), 1 << 50)
      if let error = Self.mismatch(bound.statement, bound.parameters) {
        return refuse(error, completion)
      }
    }
    return submit(
      .heavy, estimate: estimate, now: now, deadline: deadline(from: now),
      PoolPayload(.snapshot(statements, part: part, completion), for: client, at: now))
  }

  private func refuse(
    _ error: PostgresError, _ completion: @escaping StatementCompletion
  ) -> PostgresTicket {
    loop.afterThisBatch { completion(.failure(error), StatementTimes()) }
    return PostgresTicket(pool: self, id: PoolRequestID(index: -1, generation: 0))
  }

  /// Waits for an exclusive connection, for a transaction.
  @discardableResult
  package func lease(
    deadline: Moment? = nil,
    completion: @escaping (Result<PostgresLease, PostgresError>) -> Void
  ) -> PostgresTicket {
    loop.preconditionOnLoop()
    let now = Moment.now
    return submit(
      .lease, estimate: 0, now: now, deadline: deadline ?? self.deadline(from: now),
      PoolPayload(.lease(completion), for: nil, at: now))
  }
}
