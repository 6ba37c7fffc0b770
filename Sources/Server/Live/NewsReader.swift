import EventLoops
import Foundation
import Postgres
import SQL
import Subscriptions
import Synchronization

/// Something that was committed.
struct News: Sendable {
  struct Topic: Hashable, Sendable {
    let name: String
    let key: Int64
  }

  let topic: Topic
  let node: Int64
  let transaction: UInt64
}

/// What was committed between two looks.
struct NewsBatch: Sendable {
  let news: [News]
  /// All that is in it was told by now.
  let snapshot: PostgresSnapshot
  /// Some of it is not known any more.
  var hasGap = false
  /// PostgreSQL ended by a crash since the look before.
  var crash: Crash?
}

/// An end of PostgreSQL that was none in order.
///
/// A transaction that was rolled back, or wrote nothing that lasts, need have left nothing then, and its number is given
/// to another one. Snapshots of before would take that for seen.
struct Crash: Sendable {
  /// Since when statistics count, which begin anew with a crash and with nothing else: by this the ids of events of
  /// before one are known, also when PostgreSQL has been restarted in order since.
  let beginning: String?
  static let beginning =
    "(SELECT (extract(epoch FROM s.stats_reset) * 1000000)::bigint FROM pg_stat_archiver s)"
  /// Where recovery ended; nil since PostgreSQL was started in order.
  let end: String?
  /// The first number that is given anew.
  let firstLost: UInt64
}

/// Reads what was committed, for all loops of the process, on a thread and a connection of its own: the difference of
/// two snapshots, so each commit once, however long others are open. It looks when somebody rings, and each second for
/// writers that do not; nothing is asked while nobody watches.
///
/// The graph's part is the function `news_since(pg_snapshot)`.
final class NewsReader: @unchecked Sendable {
  // @unchecked: `session` and what is noted beside it are touched on the thread only; `state` has a lock.

  /// How often it looks by itself.
  static let period = Duration.seconds(1)
  /// Others are told of commits at most so often.
  static let pause = Duration.milliseconds(10)
  private static let channel = "sociograph_news"

  private struct State {
    var isStopped = false
    var isRung = false
    var listeners: [Int: Listener] = [:]
    var joining: [Int] = []
    /// How many loops may ring for others although nobody listens here.
    var hasRung = false
  }

  /// Called on the thread.
  struct Listener: Sendable {
    /// Given what is known of the last crash, `Crash.beginning`.
    let joined: @Sendable (_ crash: String?) -> Void
    let receive: @Sendable (NewsBatch) -> Void
  }

  private let configuration: PostgresConfiguration
  private let state = Mutex(State())
  private let wake: WakeSignal
  private let hasEnded = DispatchSemaphore(value: 0)
  private var session: PostgresSession?
  private var last: PostgresSnapshot?
  /// The last crash, once it is known, and what of it listeners are still to be told.
  private var crash: Crash?
  private var untoldCrash: Crash?
  private var beginning: String?
  private var notifiedAt = ContinuousClock.now - .seconds(1)

  init(_ configuration: PostgresConfiguration) throws {
    self.configuration = configuration
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

  /// Something was committed here. From any thread.
  func ring() {
    let isNew = state.withLock { state in
      defer { state.isRung = true }
      return !state.isRung
    }
    if isNew { wake.raise() }
  }

  /// Has a loop told of what is committed from now on, once `joined` was called. From any thread.
  func join(_ loop: Int, _ listener: Listener) {
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
        // The pools tell of a database that cannot be reached; what is committed meanwhile is read afterwards.
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
      (last, untoldCrash) = (nil, nil)
    } else {
      try look(session, listeners)
    }
    for loop in joining { listeners[loop]?.joined(beginning) }
    state.withLock { state in state.joining.removeFirst(joining.count) }
    if isRung { try tellOthers(session) }
  }

  private func connected() throws(PostgresError) -> PostgresSession {
    if let session, !session.isOutdated { return session }
    let session = try PostgresSession(configuration)
    // A standby takes no listeners: it is looked at each second.
    _ = try? session.execute("LISTEN \(Self.channel)")
    lookForCrash(session)
    self.session = session
    return session
  }

  /// Whoever recovers from a crash begins with a checkpoint, which says what number is the next one. Where it may not be
  /// asked for, no crash is known.
  private func lookForCrash(_ session: PostgresSession) {
    let rows = try? session.execute(
      """
      SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END,
        split_part(c.next_xid, ':', 1)::bigint << 32 | split_part(c.next_xid, ':', 2)::bigint
      FROM pg_control_checkpoint() c
      """)
    beginning = (try? session.execute("SELECT \(Crash.beginning)"))?.first?[0]
    guard let row = rows?.first, let next = row[1].flatMap({ UInt64($0) }) else { return }
    let found = Crash(
      beginning: beginning, end: row[0], firstLost: min(next, untoldCrash?.firstLost ?? next))
    if let last, let crash, found.end != nil, crash.end != found.end {
      self.last = last.before(found.firstLost)
      untoldCrash = found
    }
    crash = found
  }

  private func look(
    _ session: PostgresSession, _ listeners: [Int: Listener]
  ) throws(PostgresError) {
    guard let last else {
      self.last = try session.execute("SELECT pg_current_snapshot()")[0][0]
        .flatMap { PostgresSnapshot($0) }
      return
    }
    var batch: NewsBatch
    do throws(PostgresError) {
      let rows = try session.execute(
        """
        SELECT pg_current_snapshot(), n.topic, n.key, n.node, n.xid
        FROM (SELECT 1) o LEFT JOIN \(GraphContract.newsSince)($1) n ON true
        """, [last.text])
      guard let snapshot = rows[0][0].flatMap({ PostgresSnapshot($0) }) else { return }
      batch = NewsBatch(news: rows.compactMap(Self.news), snapshot: snapshot)
    } catch {
      guard case .userRaised = error.kind else { throw error }
      guard
        let snapshot = try session.execute("SELECT pg_current_snapshot()")[0][0]
          .flatMap({ PostgresSnapshot($0) })
      else { return }
      batch = NewsBatch(news: [], snapshot: snapshot, hasGap: true)
    }
    self.last = batch.snapshot
    batch.crash = untoldCrash
    untoldCrash = nil
    for listener in listeners.values { listener.receive(batch) }
  }

  private static func news(_ row: [String?]) -> News? {
    guard row.count == 5, let topic = row[1], let key = row[2].flatMap({ Int64($0) }),
      let node = row[3].flatMap({ Int64($0) }), let transaction = row[4].flatMap({ UInt64($0) })
    else { return nil }
    return News(topic: News.Topic(name: topic, key: key), node: node, transaction: transaction)
  }

  /// From a connection of its own, since a notification takes a lock of all databases until its transaction ends.
  private func tellOthers(_ session: PostgresSession) throws(PostgresError) {
    let pause = Self.pause - notifiedAt.duration(to: .now)
    if pause > .zero { sleep(pause) }
    _ = try? session.execute("NOTIFY \(Self.channel)")
    notifiedAt = .now
  }
}
