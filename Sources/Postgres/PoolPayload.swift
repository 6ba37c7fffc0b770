import EventLoops

/// What a request of the state carries, until its owner is told.
final class PoolPayload {
  let client: PoolClient?
  let statement: PostgresStatement?
  let parameters: PostgresParameters
  let transaction: [BoundStatement]
  /// Of statements in one snapshot.
  let part: ((borrowing PostgresResult) -> Void)?
  let completion: ((borrowing PostgresOutcome) -> Void)?
  let lease: ((Result<PostgresLease, PostgresError>) -> Void)?
  /// Its time says nothing about the next: it was prepared on the way.
  var isFirst = false
  /// It has been the victim of another's failure, and shares no Sync again.
  var isAlone = false
  /// While it is kept, its statement counts as a heavy one.
  var slowness: StatementSlowness?
  let submittedAt: Moment
  let commitsAsynchronously: Bool
  /// Nil while it waits; the last time, when it was sent again.
  var sentAt: Moment?

  var writes: Bool { !transaction.isEmpty && part == nil }

  init(
    client: PoolClient? = nil, statement: PostgresStatement? = nil,
    parameters: PostgresParameters = PostgresParameters(), transaction: [BoundStatement] = [],
    submittedAt: Moment, commitsAsynchronously: Bool = false,
    part: ((borrowing PostgresResult) -> Void)? = nil,
    completion: ((borrowing PostgresOutcome) -> Void)? = nil,
    lease: ((Result<PostgresLease, PostgresError>) -> Void)? = nil
  ) {
    self.client = client
    self.statement = statement
    self.parameters = parameters
    self.transaction = transaction
    self.submittedAt = submittedAt
    self.commitsAsynchronously = commitsAsynchronously
    self.part = part
    self.completion = completion
    self.lease = lease
    statement?.begins()
  }

  deinit { statement?.ends() }

  func times(_ now: Moment) -> StatementTimes {
    let sentAt = sentAt ?? now
    return StatementTimes(
      waited: UInt64(max(submittedAt.nanoseconds(to: sentAt), 0)),
      served: UInt64(max(sentAt.nanoseconds(to: now), 0)))
  }
}
