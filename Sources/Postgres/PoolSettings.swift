/// The pool's sizes, limits and times.
package struct PoolSettings: Sendable {
  package var size = 4
  /// Statements in flight on one connection: short ones, and others.
  package var pipelineDepth = 16
  package var longPipelineDepth = 2
  /// The maximum number of additional statements on a connection with high latency.
  package var deepestPipeline = 256
  /// Below this mean a statement is short.
  package var shortStatement = Duration.microseconds(100)
  /// Short statements are added to a busy connection while it is expected to be done within this.
  package var sharingLimit = Duration.microseconds(300)
  /// Nothing is put behind statements expected to take longer than this.
  package var longestQueueing = Duration.milliseconds(2)
  /// The mean duration from which a statement is heavy.
  package var heavyStatement = Duration.milliseconds(20)
  /// Transactions at PostgreSQL at once that commit asynchronously: none of them sleeps at its commit, and on the cores
  /// that there are more backends only take turns.
  package var asynchronousAtOnce = Int.max
  /// One that takes this long is taken to wait for a lock, and does not count.
  package var asynchronousStall = Duration.milliseconds(25)
  /// Connections that neither leases nor heavy statements may take.
  package var reservedForQuick = 1
  package var unknownEstimate = Duration.microseconds(300)
  /// A statement that takes this long, and eight times what was expected, counts as heavy for a while.
  package var overrun = Duration.milliseconds(100)
  /// The maximum duration of a read statement, or nil for that of the connections' configuration.
  /// PostgreSQL has the same limit. If it exceeds the limit, the pool sends a cancel.
  package var statementTimeout: Duration?
  package var timeoutGrace = Duration.milliseconds(100)
  /// Requests waiting for a connection, and for how long.
  package var queueLimit = 64
  package var queueWait = Duration.seconds(1)
  /// The number of requests that may wait while the queue is expected to be empty within
  /// `quickQueueWait`.
  package var quickQueueLimit = 1024
  package var quickQueueWait = Duration.milliseconds(50)
  /// The maximum wait of a request while there is no database and an attempt to connect is in
  /// progress.
  package var openBreakerWait = Duration.milliseconds(20)
  package var operationDeadline = Duration.seconds(10)
  package var firstBackOff = Duration.milliseconds(50)
  package var lastBackOff = Duration.seconds(1)
  package var breakerThreshold = 3
  package var probeInterval = Duration.milliseconds(250)
  /// A connection that was silent this long is asked something, and has so long to answer.
  package var probeAfter = Duration.seconds(2)
  package var probeTimeout = Duration.seconds(1)
  /// The time for which a result proves that the database is available.
  package var proof = Duration.seconds(5)
  /// The time after which the pool closes a connection that is still on one statement, because
  /// PostgreSQL's own timeout did not end it. A pool sets the statement timeout of its
  /// configuration plus one second.
  package var longestStatement = Duration.seconds(6)
  /// So much beyond what is expected of it, a statement is taken to wait for something: it holds a
  /// connection as heavy ones do. Once as many do as may, the next is given the shorter time.
  package var overdue = Duration.milliseconds(100)
  package var overdueBesideOthers = Duration.milliseconds(25)
  /// The round-trip time below which the network latency counts as zero.
  package var shortestRoundTrip = Duration.microseconds(100)
  package var lifetime = Duration.seconds(30 * 60)
  package var idleLimit = Duration.seconds(10 * 60)
  package var minimumIdle = 1
  /// The time after a cancel in which a statement must end before its connection is closed.
  package var cancelGrace = Duration.seconds(1)
  /// The time after a cancelled statement's end in which its cancel can still arrive.
  package var strayCancelWindow = Duration.milliseconds(100)

  package init(size: Int = 4) {
    self.size = size
    queueLimit = 16 * max(size, 1)
  }
}
