import EventLoops
import Foundation
import GraphQLPlanning
import Postgres
import StorageChecking
import Subscriptions
import Synchronization

/// Reads what is committed from PostgreSQL's log, for a database whose tables report nothing
/// themselves: it is one temporary replication slot, on a dedicated thread.
///
/// The log can have a commit before it is visible. So a transaction's events are sent when a snapshot
/// contains it. What is lost with a connection is a gap, after which all live queries run again.
/// Without subscribers the slot is given up.
final class ChangeReader: EventReader, @unchecked Sendable {
  // @unchecked: `stream` and the properties after it are used on the thread only; `state` has a lock.

  /// The events of a transaction beyond which all live queries run again.
  static let maximumEvents = 10_000
  /// The messages after which events are sent, although more have arrived.
  private static let maximumMessages = 10_000
  /// The time without subscribers after which the slot is given up.
  private static let patience = Duration.seconds(30)

  private struct State {
    var isStopped = false
    var listeners: [Int: EventListener] = [:]
    var joining: [Int] = []
  }

  private struct Stream {
    let changes: ReplicationSession
    let session: PostgresSession
    let parser: ChangeParser
  }

  /// A transaction that has committed.
  private struct Commit {
    let transaction: UInt32
    let topics: Set<CommittedEvent.Topic>
    let isUnknown: Bool
  }

  private let log: PostgresConfiguration
  private let database: PostgresConfiguration
  private let report: @Sendable (String) -> Void
  private let state = Mutex(State())
  private let wake: WakeSignal
  private let hasEnded = DispatchSemaphore(value: 0)
  private var stream: Stream?
  private var topics: Set<CommittedEvent.Topic> = []
  private var isUnknown = false
  private var commits: [Commit] = []
  /// The place in the log up to which the commits reach.
  private var position: UInt64 = 0
  private var connections = 0
  private var idleSince: ContinuousClock.Instant?

  /// - Parameters:
  ///   - log: the connection that receives changes, of a role with REPLICATION.
  ///   - database: that which queries use.
  ///   - report: is told what keeps it from reading, a line each.
  init(
    log: PostgresConfiguration, database: PostgresConfiguration,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    self.log = log
    self.database = database
    self.report = report
    wake = try WakeSignal()
  }

  func start() {
    let thread = Thread { [self] in run() }
    thread.name = "sociograph.changes"
    thread.start()
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wake.raise()
    _ = hasEnded.wait(timeout: .now() + 5)
  }

  /// The log tells of this process's commits, too.
  func ring() {}

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
        try work()
        rest = .milliseconds(100)
      } catch {
        stream = nil
        report("the log cannot be read, and live queries wait: \(error.message)")
        sleep(rest)
        rest = min(rest * 2, .seconds(5))
      }
    }
    stream = nil
  }

  private func sleep(_ pause: Duration) {
    var entry = pollfd(fd: -1, events: 0, revents: 0)
    _ = unsafe poll(&entry, 1, Int32(pause.timeInterval * 1000))
  }

  private func work() throws(PostgresError) {
    wake.lower()
    let isNeeded = state.withLock { !$0.listeners.isEmpty }
    if isNeeded {
      idleSince = nil
    } else if stream != nil, ContinuousClock.now - (idleSince ?? .now) > Self.patience {
      stream = nil
    } else if idleSince == nil {
      idleSince = .now
    }
    guard isNeeded || stream != nil else {
      // Nobody listens, and nothing is to be received.
      var entry = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, -1)
      return
    }
    let stream = try connected()
    let (listeners, joining) = state.withLock { state in
      defer { state.joining.removeAll() }
      return (state.listeners, state.joining)
    }
    for loop in joining { listeners[loop]?.joined(nil) }
    let isEmpty = try receive(stream)
    try send(stream)
    guard isEmpty else { return }
    // A commit that is not visible yet will be at once.
    stream.changes.wait(
      orReadable: wake.descriptor, atMost: commits.isEmpty ? .seconds(1) : .milliseconds(1))
  }

  private func connected() throws(PostgresError) -> Stream {
    if let stream { return stream }
    let session = try PostgresSession(database)
    let (_, tables) = try LiveCatalog.readDecoded(from: session)
    let changes = try ReplicationSession(
      log, plugin: "test_decoding", options: [("include-xids", "on"), ("skip-empty-xacts", "on")])
    let stream = Stream(
      changes: changes, session: session, parser: ChangeParser(tables: tables.tables))
    self.stream = stream
    (topics, isUnknown, commits, position) = ([], false, [], 0)
    connections += 1
    // Those that listened before missed something.
    if connections > 1 {
      deliver(EventBatch(events: [], snapshot: try Self.snapshot(session), hasGap: true))
    }
    return stream
  }

  /// Takes what has arrived.
  ///
  /// - Returns: whether that was all.
  private func receive(_ stream: Stream) throws(PostgresError) -> Bool {
    for _ in 0..<Self.maximumMessages {
      guard let message = try stream.changes.next(isIdle: commits.isEmpty && topics.isEmpty) else {
        return true
      }
      switch stream.parser.parse(message.bytes) {
      case .nothing: break
      case .unknown: isUnknown = true
      case .touched(let found):
        if topics.count < Self.maximumEvents {
          topics.formUnion(found)
        } else {
          isUnknown = true
        }
      case .commit(let transaction):
        if isUnknown || !topics.isEmpty {
          commits.append(Commit(transaction: transaction, topics: topics, isUnknown: isUnknown))
        }
        position = max(position, message.position)
        (topics, isUnknown) = ([], false)
      }
    }
    return false
  }

  /// Sends the events of the transactions that are visible by now.
  private func send(_ stream: Stream) throws(PostgresError) {
    guard !commits.isEmpty else { return try stream.changes.take(position) }
    let snapshot = try Self.snapshot(stream.session)
    var events: [CommittedEvent] = []
    var hasGap = false
    let waiting = commits.filter { commit in
      let transaction = Self.whole(commit.transaction, before: snapshot.end)
      guard snapshot.contains(transaction) else { return true }
      hasGap = hasGap || commit.isUnknown
      events += commit.topics.map { CommittedEvent(topic: $0, node: 0, transaction: transaction) }
      return false
    }
    guard waiting.count < commits.count else { return }
    commits = waiting
    deliver(EventBatch(events: hasGap ? [] : events, snapshot: snapshot, hasGap: hasGap))
    if commits.isEmpty { try stream.changes.take(position) }
  }

  private static func snapshot(_ session: PostgresSession) throws(PostgresError) -> PostgresSnapshot
  {
    guard
      let snapshot = try session.execute("SELECT pg_current_snapshot()").first?.first?
        .flatMap({ PostgresSnapshot($0) })
    else { throw PostgresError(.other, message: "PostgreSQL gave no snapshot.") }
    return snapshot
  }

  /// Returns the ID of which the low half is given, near the end of a snapshot.
  private static func whole(_ transaction: UInt32, before end: UInt64) -> UInt64 {
    let found = end & ~UInt64(UInt32.max) | UInt64(transaction)
    if found > end + 1 << 31, found > 1 << 32 { return found - 1 << 32 }
    return found
  }

  private func deliver(_ batch: EventBatch) {
    var batch = batch
    batch.connection = connections
    let listeners = state.withLock { $0.listeners }
    for listener in listeners.values { listener.receive(batch) }
  }
}
