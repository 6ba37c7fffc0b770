/// A change that was committed, as the graph's function `news_since` returns it.
package struct CommittedEvent: Sendable, Equatable {
  package struct Topic: Hashable, Sendable {
    package let name: String
    package let key: Int64

    package init(name: String, key: Int64) {
      self.name = name
      self.key = key
    }
  }

  package let topic: Topic
  package let node: Int64
  /// The transaction that committed it.
  package let transaction: UInt64

  package init(topic: Topic, node: Int64, transaction: UInt64) {
    self.topic = topic
    self.node = node
    self.transaction = transaction
  }
}

/// The events that one poll found.
package struct EventBatch: Sendable {
  package let events: [CommittedEvent]
  /// Every event that is visible in it was in this batch or an earlier one.
  package let snapshot: PostgresSnapshot
  /// Whether events before this batch are lost.
  package let hasGap: Bool
  /// The crash of PostgreSQL that the reader noticed since the last batch.
  package var crash: CrashRecovery?
  /// The number of writes that this process had acknowledged when the poll began.
  package var writes: UInt64 = 0
  /// The number of the reader's connections to PostgreSQL so far.
  package var connection = 0

  package init(
    events: [CommittedEvent], snapshot: PostgresSnapshot, hasGap: Bool = false,
    crash: CrashRecovery? = nil
  ) {
    self.events = events
    self.snapshot = snapshot
    self.hasGap = hasGap
    self.crash = crash
  }

  func before(_ transaction: UInt64) -> EventBatch {
    var batch = EventBatch(
      events: events, snapshot: snapshot.before(transaction), hasGap: hasGap, crash: crash)
    (batch.writes, batch.connection) = (writes, connection)
    return batch
  }
}

/// A recovery of PostgreSQL after a crash.
///
/// A transaction that was rolled back, or wrote nothing that lasts, need have left nothing in the WAL. PostgreSQL then
/// gives its ID to another transaction, which older snapshots would take for visible.
package struct CrashRecovery: Sendable {
  /// The time since when statistics count, which PostgreSQL resets only after a crash. It identifies the crash, also
  /// after later restarts.
  package let statisticsResetAt: String?
  /// The WAL position at which recovery ended, or nil if PostgreSQL has been restarted cleanly since.
  package let end: String?
  /// The first transaction ID that is used again.
  package let firstLost: UInt64

  package init(statisticsResetAt: String?, end: String? = nil, firstLost: UInt64) {
    self.statisticsResetAt = statisticsResetAt
    self.end = end
    self.firstLost = firstLost
  }
}
