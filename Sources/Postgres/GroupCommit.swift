import EventLoops

/// Flushes the write-ahead log once for many transactions.
///
/// A synchronous commit keeps its connection and its row locks, and blocks its backend, until the
/// log is flushed. A commit with `synchronous_commit` off returns immediately. It is durable after
/// the next synchronous commit that begins later. This type sends that commit on a dedicated
/// connection when half of the transactions in progress wait for one, or when the first has waited
/// for `longestWait`. Meanwhile, the connections of the waiting transactions run other work. Call
/// on the event loop.
///
/// PostgreSQL 15, 30.4 Asynchronous Commit.
package final class GroupCommit {
  package struct Settings: Sendable {
    /// The divisor of the transactions in progress: a flush starts when one in `share` waits for
    /// it.
    package var share = 2
    /// The maximum time that the first transaction waits for others.
    package var longestWait = Duration.milliseconds(10)

    package init() {}
  }

  /// Something has to be written for a commit to wait for the disk.
  private static let statement = PostgresStatement(
    "SELECT pg_logical_emit_message(true, 'sociograph', '')", parameterCount: 0)

  private let pool: PostgresPool
  private let others: () -> Int
  private let settings: Settings
  private var waiting: [(PostgresError?) -> Void] = []
  /// The timeline at the first waiting transaction, or 0 if it was unknown.
  private var timeline: UInt32 = 0
  /// `PostgresPool.interruptions` at the first waiting transaction.
  private var interruptions = 0
  private var isUnderWay = false
  /// The first of those that wait has waited long enough.
  private var isDue = false
  private var isLooking = false
  private var timer: LoopTimer?

  /// - Parameters:
  ///   - pool: one connection is enough; it may write.
  ///   - others: how many are under way that may come to wait, too.
  package init(_ pool: PostgresPool, settings: Settings = Settings(), others: @escaping () -> Int) {
    self.pool = pool
    self.others = others
    self.settings = settings
  }

  /// Calls `completion` when everything lasts that was committed by now; with an error where that is not known.
  package func flush(_ completion: @escaping (PostgresError?) -> Void) {
    pool.loop.preconditionOnLoop()
    if waiting.isEmpty {
      timeline = pool.configuration.history.timeline
      interruptions = pool.interruptions
    }
    waiting.append(completion)
    if timer == nil, !isDue {
      timer = pool.loop.schedule(after: settings.longestWait) { [weak self] in
        self?.timer = nil
        self?.isDue = true
        self?.look()
      }
    }
    guard !isLooking else { return }
    isLooking = true
    // Other transactions of this event batch join.
    pool.loop.afterThisBatch { [self] in
      isLooking = false
      look()
    }
  }

  private func look() {
    guard !isUnderWay, !waiting.isEmpty else { return }
    guard isDue || waiting.count * (settings.share - 1) >= others() else { return }
    var completions: [(PostgresError?) -> Void] = []
    swap(&completions, &waiting)
    timer = nil
    isDue = false
    isUnderWay = true
    let (history, since, before) = (pool.configuration.history, timeline, interruptions)
    pool.execute(transaction: [BoundStatement(Self.statement, PostgresParameters())]) {
      [self] outcome, _ in
      isUnderWay = false
      var loss: PostgresError?
      switch outcome {
      // The log of another server than the one that has the writes says nothing of them.
      case .success where since != 0 && history.timeline != since:
        loss = PostgresError(.lost, message: "Another server became the primary meanwhile.")
      // A server that crashed has lost what was not flushed, and answers as ever when it is back.
      case .success where pool.interruptions != before:
        loss = PostgresError(.lost, message: "The connection was lost before the writes lasted.")
      case .success: break
      case .failure(let error):
        loss = PostgresError(
          .lost, sqlState: error.sqlState, message: error.message, detail: error.detail)
      }
      for completion in completions { completion(loss) }
      look()
    }
  }
}
