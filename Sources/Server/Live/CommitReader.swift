import EventLoops
import Foundation
import Postgres
import SQL
import Subscriptions
import Synchronization

/// Reads the committed events for all event loops of the process, on a dedicated thread and
/// connection.
///
/// It reads the difference of two snapshots, so it delivers each commit once, however long other
/// transactions stay open. It polls when a commit is reported, and once a second for writers that
/// report nothing. Without subscribers it does not poll.
///
/// The graph provides the function `news_since(pg_snapshot)`.
final class CommitReader: EventReader, @unchecked Sendable {
  // @unchecked: `session` and the properties after it are used on the thread only; `state` has a lock.

  /// The polling interval.
  static let period = Duration.seconds(1)
  /// The shortest time between two notifications of other servers.
  static let pause = Duration.milliseconds(10)
  private static let channel = "sociograph_news"

  private struct State {
    var isStopped = false
    var isRung = false
    var listeners: [Int: EventListener] = [:]
    var joining: [Int] = []
  }

  private let configuration: PostgresConfiguration
  private let state = Mutex(State())
  private let wake: WakeSignal
  private let hasEnded = DispatchSemaphore(value: 0)
  private var session: PostgresSession?
  private var last: PostgresSnapshot?
  /// The last crash, if it is known, and the one that was not reported to subscribers yet.
  private var crash: CrashRecovery?
  private var unreportedCrash: CrashRecovery?
  private var statisticsResetAt: String?
  private var connections = 0
  /// The number of writes that were acknowledged before the current poll.
  private let acknowledgedWrites: @Sendable () -> UInt64
  private var notifiedAt = ContinuousClock.now - .seconds(1)

  /// - Parameter acknowledgedWrites: returns the number of writes that this process has acknowledged.
  init(
    _ configuration: PostgresConfiguration,
    acknowledgedWrites: @escaping @Sendable () -> UInt64 = { 0 }
  ) throws {
    self.configuration = configuration
    self.acknowledgedWrites = acknowledgedWrites
    wake = try WakeSignal()
  }

  func start() {
    let thread = Thread { [self] in run() }
    thread.name = "sociograph.news"
    thread.start()
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wake.raise()
    _ = hasEnded.wait(timeout: .now() + 5)
  }

  func ring() {
    let isNew = state.withLock { state in
      defer { state.isRung = true }
      return !state.isRung
    }
    if isNew { wake.raise() }
  }

  func join(_ loop: Int, _ listener: EventListener) {
    state.withLock { state in
      state.listeners[loop] = listener
      state.joining.append(loop)
    }
    wake.raise()
  }

  func leave(_ loop: Int) {
    state.withLock { $0.listeners[loop] = nil }
  }

  // MARK: The thread

  private func run() {
    defer { hasEnded.signal() }
    var rest = Duration.milliseconds(100)
    while !state.withLock({ $0.isStopped }) {
      do throws(PostgresError) {
        try wait()
        try work()
        rest = .milliseconds(100)
      } catch {
        // The pools report a database that cannot be reached. Events that are committed meanwhile are read afterwards.
        session = nil
        sleep(rest)
        rest = min(rest * 2, .seconds(2))
      }
    }
    session = nil
  }

  private func sleep(_ pause: Duration) {
    var entry = pollfd(fd: -1, events: 0, revents: 0)
    _ = unsafe poll(&entry, 1, Int32(pause.timeInterval * 1000))
  }

  private func wait() throws(PostgresError) {
    let (isListening, isRung) = state.withLock { (!$0.listeners.isEmpty, $0.isRung) }
    if isRung || !state.withLock({ $0.joining.isEmpty }) {
      wake.lower()
      return
    }
    if isListening, let session {
      _ = try session.waitForNotification(orReadable: wake.descriptor, atMost: Self.period)
    } else if !isListening {
      var entry = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, -1)
    }
    wake.lower()
  }

  private func work() throws(PostgresError) {
    let (listeners, joining, isRung, isStopped) = state.withLock { state in
      defer { state.isRung = false }
      return (state.listeners, state.joining, state.isRung, state.isStopped)
    }
    guard !isStopped, isRung || !listeners.isEmpty else { return }
    let session = try connected()
    if listeners.isEmpty {
      (last, unreportedCrash) = (nil, nil)
    } else {
      try readCommits(session, listeners)
    }
    for loop in joining { listeners[loop]?.joined(statisticsResetAt) }
    state.withLock { state in state.joining.removeFirst(joining.count) }
    if isRung { try notifyOthers(session) }
  }

  private func connected() throws(PostgresError) -> PostgresSession {
    if let session, !session.isOutdated { return session }
    let session = try PostgresSession(configuration)
    // A standby allows no LISTEN: it is polled each second.
    _ = try? session.execute("LISTEN \(Self.channel)")
    readCrash(session)
    connections += 1
    self.session = session
    return session
  }

  /// Recovery from a crash ends with a checkpoint, which contains the next transaction ID. If the role may not read it, no
  /// crash is known.
  private func readCrash(_ session: PostgresSession) {
    let rows = try? session.execute(
      """
      SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END,
        split_part(c.next_xid, ':', 1)::bigint << 32 | split_part(c.next_xid, ':', 2)::bigint
      FROM pg_control_checkpoint() c
      """)
    statisticsResetAt = (try? session.execute("SELECT \(Self.statisticsResetAt)"))?.first?[0]
    guard let row = rows?.first, let next = row[1].flatMap({ UInt64($0) }) else { return }
    let found = CrashRecovery(
      statisticsResetAt: statisticsResetAt, end: row[0],
      firstLost: min(next, unreportedCrash?.firstLost ?? next))
    if let last, let crash, found.end != nil, crash.end != found.end {
      self.last = last.before(found.firstLost)
      unreportedCrash = found
    }
    crash = found
  }

  private func readCommits(
    _ session: PostgresSession, _ listeners: [Int: EventListener]
  ) throws(PostgresError) {
    guard let last else {
      self.last = try session.execute("SELECT pg_current_snapshot()")[0][0]
        .flatMap { PostgresSnapshot($0) }
      return
    }
    // Before the snapshot is taken: it contains all of them.
    let writes = acknowledgedWrites()
    var batch: EventBatch
    do throws(PostgresError) {
      let rows = try session.execute(
        """
        SELECT pg_current_snapshot(), n.topic, n.key, n.node, n.xid
        FROM (SELECT 1) o LEFT JOIN \(GraphContract.newsSince)($1) n ON true
        """, [last.text])
      guard let snapshot = rows[0][0].flatMap({ PostgresSnapshot($0) }) else { return }
      batch = EventBatch(events: rows.compactMap(Self.event), snapshot: snapshot)
    } catch {
      guard case .userRaised = error.kind else { throw error }
      guard
        let snapshot = try session.execute("SELECT pg_current_snapshot()")[0][0]
          .flatMap({ PostgresSnapshot($0) })
      else { return }
      batch = EventBatch(events: [], snapshot: snapshot, hasGap: true)
    }
    self.last = batch.snapshot
    (batch.writes, batch.connection) = (writes, connections)
    batch.crash = unreportedCrash
    unreportedCrash = nil
    for listener in listeners.values { listener.receive(batch) }
  }

  private static func event(_ row: [String?]) -> CommittedEvent? {
    guard row.count == 5, let topic = row[1], let key = row[2].flatMap({ Int64($0) }),
      let node = row[3].flatMap({ Int64($0) }), let transaction = row[4].flatMap({ UInt64($0) })
    else { return nil }
    return CommittedEvent(topic: .init(name: topic, key: key), node: node, transaction: transaction)
  }

  /// Users' transactions send no NOTIFY, because its lock is global and lasts until their end.
  private func notifyOthers(_ session: PostgresSession) throws(PostgresError) {
    let pause = Self.pause - notifiedAt.duration(to: .now)
    if pause > .zero { sleep(pause) }
    _ = try? session.execute("NOTIFY \(Self.channel)")
    notifiedAt = .now
  }

  // MARK: Reconnecting clients

  /// An expression for `CrashRecovery.statisticsResetAt`.
  private static let statisticsResetAt =
    "(SELECT (extract(epoch FROM s.stats_reset) * 1000000)::bigint FROM pg_stat_archiver s)"

  /// Reads the events of the topic `$2` since the snapshot `$1`, in the order of their nodes.
  static let missed = PostgresStatement(
    """
    SELECT n.key, n.node, n.xid::text::bigint, \(statisticsResetAt)::text
    FROM (SELECT 1) o LEFT JOIN \(GraphContract.newsSince)($1::text::pg_snapshot) n ON n.topic = $2::text
    ORDER BY n.node, n.xid
    """, parameterCount: 2, label: StatementLabel(task: "news"))

  static func missed(in result: borrowing PostgresResult, _ topic: String) -> MissedEvents {
    var events: [CommittedEvent] = []
    for row in 0..<result.rowCount {
      guard let key = result.integer(row: row, column: 0),
        let node = result.integer(row: row, column: 1),
        let transaction = result.integer(row: row, column: 2)
      else { continue }
      events.append(
        CommittedEvent(
          topic: .init(name: topic, key: key), node: node,
          transaction: UInt64(max(transaction, 0))))
    }
    let statisticsResetAt = result.rowCount > 0 ? result.string(row: 0, column: 3) : nil
    return MissedEvents(events, statisticsResetAt: statisticsResetAt)
  }
}
