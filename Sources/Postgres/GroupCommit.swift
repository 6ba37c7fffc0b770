import EventLoops

/// Waits for the disk once for many transactions.
///
/// A commit that waits for the disk by itself holds its connection, and the rows that others want, for as long, and puts
/// its backend to sleep. One with `synchronous_commit` off is done at once, and lasts from when the write-ahead log was
/// flushed behind it: by any commit that waits and began after it. Such a commit is sent here, on a connection of its own,
/// when half of what is under way waits for one, or when the first has waited for a while; meanwhile the connections
/// of those that wait do the next. All calls are made on the loop.
///
/// PostgreSQL 15, 30.4 Asynchronous Commit.
package final class GroupCommit {
  package struct Settings: Sendable {
    /// Sent for one in so many of what is under way.
    package var share = 2
    /// How long the first waits for others.
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
  /// The timeline when the first of them came; 0 if no connection had told it.
  private var timeline: UInt32 = 0
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
    if waiting.isEmpty { timeline = pool.configuration.history.timeline }
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
    // What else was answered in this batch comes along.
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
    let (history, since) = (pool.configuration.history, timeline)
    pool.execute(transaction: [BoundStatement(Self.statement, PostgresParameters())]) {
      [self] outcome, _ in
      isUnderWay = false
      var loss: PostgresError?
      switch outcome {
      // The log of another server than the one that has the writes says nothing of them.
      case .success where since != 0 && history.timeline != since:
        loss = PostgresError(.lost, message: "Another server became the primary meanwhile.")
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
