/// The events of a pool. `Server` turns them into logs and metrics.
package enum PoolEvent: Sendable {
  case opened(connection: Int, took: Duration)
  case closed(connection: Int, reason: PoolCloseReason)
  case connectFailed(connection: Int, error: PostgresError, nextAttempt: Duration)
  /// A host was met and not used.
  case hostRefused(HostRefusal)
  /// Too many failed connects in a row and no connection left: statements are refused at once.
  case breakerOpened
  case breakerClosed
  /// A statement was refused or left the queue unserved.
  case shed(PoolShedReason)
  case retried(PoolRetryReason)
  case cancelSent(connection: Int)
  /// A connection met a statement for the first time.
  case prepared(connection: Int, statement: String)
  /// A batch of executions was sent.
  case batched(executions: Int)
}

package enum PoolCloseReason: Sendable, Equatable {
  case lifetime, idle, shutDown
  /// The server is about to be restarted.
  case paused
  /// A cancelled statement went on running.
  case cancelIgnored
  /// A statement ran beyond its timeout, so the server may be gone.
  case unresponsive
  /// The server only reads, and this connection is for writes.
  case readOnly
  /// Another server is the primary now.
  case outdated
  /// A lease ended in the middle of a transaction or a result.
  case uncleanLease
  case lost(PostgresError)

  package static func == (left: PoolCloseReason, right: PoolCloseReason) -> Bool {
    switch (left, right) {
    case (.lifetime, .lifetime), (.idle, .idle), (.shutDown, .shutDown),
      (.paused, .paused),
      (.cancelIgnored, .cancelIgnored), (.uncleanLease, .uncleanLease), (.lost, .lost),
      (.unresponsive, .unresponsive), (.readOnly, .readOnly), (.outdated, .outdated):
      true
    default: false
    }
  }
}

package enum PoolShedReason: Sendable, Hashable {
  case queueFull, waitedTooLong, deadlinePassed, noDatabase, stopping
}

package enum PoolRetryReason: Sendable, Hashable {
  case connectionLost, staleStatement
  /// A cancel meant for the statement before it.
  case strayCancel
  /// Another statement before the same Sync failed, or what was to prepare this one did.
  case neighbourFailed
  /// It waited for a lock on a connection that other requests needed.
  case overdue
  /// It conflicted with another transaction.
  case conflict

  /// The statement may be at fault itself, so it is tried once more and not again.
  var isCounted: Bool {
    switch self {
    case .connectionLost, .staleStatement, .conflict: true
    case .strayCancel, .neighbourFailed, .overdue: false
    }
  }
}

/// A pool's counters since its start, and how it is now.
package struct PoolStatistics: Sendable {
  // Now.
  package var idle = 0
  package var inUse = 0
  package var leased = 0
  package var connecting = 0
  package var inFlight = 0
  package var waiting = 0
  package var isBreakerOpen = false
  // Since the start.
  package var executed = 0
  package var opened = 0
  package var closed = 0
  package var connectFailures = 0
  /// Connections that the server or the network ended.
  package var broken = 0
  package var hostsRefused = 0
  package var shed: [PoolShedReason: Int] = [:]
  package var retried: [PoolRetryReason: Int] = [:]
  package var cancelsSent = 0
  package var timedOut = 0
  /// Time in the queue, of those that had to wait.
  package var waited = 0
  package var totalWait = Duration.zero
}
