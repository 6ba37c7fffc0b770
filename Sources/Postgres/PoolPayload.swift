import EventLoops

/// The work of a request and its completion. `PoolState` refers to it by number.
final class PoolPayload {
  let work: Work
  let client: PoolClient?
  /// The role that a statement that reads runs under, or nil for that of the connection.
  let role: ClientRole?
  let submittedAt: Moment
  /// Its time says nothing about the next: it was prepared on the way.
  var isFirst = false
  /// Whether it was aborted by another statement's failure, so that it no longer shares a Sync.
  var isAlone = false
  /// A token that makes its statement count as heavy while it exists.
  var slowness: StatementSlowness?
  /// The time it was sent last; nil while it waits.
  var sentAt: Moment?

  enum Work {
    /// One statement that reads.
    case statement(PostgresStatement, PostgresParameters, StatementCompletion)
    /// Statements that may write, as one transaction; with `part`, the results of all but the last
    /// are handed over as parts.
    case transaction(
      [BoundStatement], commitsAsynchronously: Bool, part: StatementPart?, StatementCompletion)
    /// Statements that read one snapshot; the results of all but the last are handed over as parts.
    case snapshot([BoundStatement], part: StatementPart, StatementCompletion)
    /// An exclusive connection.
    case lease((Result<PostgresLease, PostgresError>) -> Void)
  }

  init(
    _ work: Work, for client: PoolClient?, as role: ClientRole? = nil, at submittedAt: Moment
  ) {
    self.work = work
    self.role = role
    self.client = client
    self.submittedAt = submittedAt
    statement?.begins()
  }

  deinit { statement?.ends() }

  /// The statement whose time is measured and estimated.
  var statement: PostgresStatement? {
    switch work {
    case .statement(let statement, _, _): statement
    case .transaction, .snapshot, .lease: nil
    }
  }

  var writes: Bool {
    switch work {
    case .transaction: true
    case .statement, .snapshot, .lease: false
    }
  }

  var commitsAsynchronously: Bool {
    switch work {
    case .transaction(_, let commitsAsynchronously, _, _): commitsAsynchronously
    case .statement, .snapshot, .lease: false
    }
  }

  // MARK: The owner

  func deliver(_ outcome: borrowing PostgresOutcome, _ now: Moment) {
    switch work {
    case .statement(_, _, let completion), .transaction(_, _, _, let completion),
      .snapshot(_, _, let completion):
      completion(outcome, times(now))
    // A lease's statements have completions of their own.
    case .lease: break
    }
  }

  func deliver(part: borrowing PostgresResult, _ now: Moment) {
    switch work {
    case .snapshot(_, let tell, _): tell(part, times(now))
    case .transaction(_, _, let tell, _): tell?(part, times(now))
    case .statement, .lease: break
    }
  }

  func deliver(_ lease: PostgresLease) {
    switch work {
    case .lease(let completion): completion(.success(lease))
    case .statement, .transaction, .snapshot: break
    }
  }

  // Swift 6.3 crashes when it inlines the making of a value that cannot be copied.
  @inline(never)
  func fail(_ error: PostgresError, _ now: Moment) {
    switch work {
    case .lease(let completion): completion(.failure(error))
    case .statement, .transaction, .snapshot: deliver(.failure(error), now)
    }
  }

  private func times(_ now: Moment) -> StatementTimes {
    let sentAt = sentAt ?? now
    return StatementTimes(
      waited: UInt64(max(submittedAt.nanoseconds(to: sentAt), 0)),
      served: UInt64(max(sentAt.nanoseconds(to: now), 0)))
  }
}
