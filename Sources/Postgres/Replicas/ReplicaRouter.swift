import EventLoops
import Synchronization

/// What the event loops of a process know of its replicas together.
package final class SharedReplicaStates: Sendable {
  let states: Mutex<ReplicaStates>

  package init(replicas: Int, loops: Int, maximumLag: Duration) {
    states = Mutex(ReplicaStates(count: replicas, loops: loops, maximumLag: maximumLag))
  }
}

/// Runs the reads of one event loop on replicas, where these have what the client wrote and saw
/// before, and on the primary otherwise.
///
/// A client stays with one replica. Its position (`ReadPositions`) is compared with what the replica
/// is known to have replayed. If that is behind, the replica is asked, for up to `patience`; then
/// the primary answers. An answer of the primary raises the client's position, so that no later
/// read of a replica is older. A read that fails on a replica runs on the primary. Call on the event
/// loop.
package final class ReplicaRouter: StatementRunner {
  package struct Settings: Sendable {
    /// The maximum lag of a replica that takes reads.
    package var maximumLag = Duration.seconds(5)
    /// The maximum time that a read waits for its replica.
    package var patience = Duration.milliseconds(3)
    /// The time between two questions to a replica that is behind.
    package var pause = Duration.microseconds(500)
    package var probeInterval = Duration.seconds(1)

    package init() {}
  }

  /// Where reads went, and why.
  package enum Place: String, CaseIterable, Sendable {
    case replica
    /// To the primary: the replica did not have the client's position in time.
    case behind
    /// To the primary: no replica takes reads.
    case lagging
    /// To the primary: the statement needs it, or a replica failed.
    case primary
  }

  package struct Statistics: Sendable {
    /// By the number of `Place`.
    package var reads = [Int](repeating: 0, count: Place.allCases.count)
    package var replicas: [(host: String, isIn: Bool, lag: Duration?, reads: Int)] = []
  }

  private final class Replica {
    let pool: PostgresPool
    let runner: any StatementRunner
    /// `PostgresPool.interruptions` when it was asked last. A server that crashed meanwhile may have
    /// less than it said.
    var interruptions = -1
    var reads = 0
    var isAsking = false
    /// Whether the last probe has not been answered yet.
    var isProbing = false
    var waiting: [() -> Void] = []

    init(_ pool: PostgresPool, _ runner: any StatementRunner) {
      self.pool = pool
      self.runner = runner
    }
  }

  /// A read that waits for its replica.
  private final class Waiting {
    var isOver = false
    var patience: LoopTimer?
    var pause: LoopTimer?

    func end() {
      isOver = true
      (patience, pause) = (nil, nil)
    }
  }

  private static let replicaQuestion = PostgresStatement(
    """
    SELECT pg_catalog.pg_is_in_recovery()::text, pg_catalog.pg_last_wal_replay_lsn()::text,
      coalesce((SELECT w.received_tli FROM pg_catalog.pg_stat_wal_receiver w),
        (pg_catalog.pg_control_checkpoint()).timeline_id)::text
    """, parameterCount: 0, label: StatementLabel(task: "replica"))

  private static let primaryQuestion = PostgresStatement(
    """
    SELECT ('x' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::int8::text,
      pg_catalog.pg_current_wal_flush_lsn()::text, pg_catalog.pg_current_wal_insert_lsn()::text
    """, parameterCount: 0, label: StatementLabel(task: "replica"))

  private let loop: EventLoop
  private let primary: any StatementRunner
  private let primaryPool: PostgresPool
  private let replicas: [Replica]
  private let positions: ReadPositions
  private let settings: Settings
  /// The functions that only the primary can run.
  private let primaryFunctions: Set<String>
  private let report: (_ host: String, ReplicaStates.Change) -> Void
  private let shared: SharedReplicaStates
  /// The number of the event loop among those of the process.
  private let number: Int
  private var reads = [Int](repeating: 0, count: Place.allCases.count)
  private var timer: LoopTimer?
  /// The completions that wait for a question to the primary that begins after they came.
  private var askers: [(PrimaryPositions?) -> Void] = []
  private var isAskingPrimary = false

  /// The positions of the primary's log.
  private struct PrimaryPositions {
    /// Everything that was acknowledged is before it.
    let flushed: LogPosition
    /// Everything that was visible is before it.
    let inserted: LogPosition

    init?(_ result: borrowing PostgresResult) {
      guard result.rowCount == 1, result.columnCount == 3 else { return nil }
      let timeline = result.string(row: 0, column: 0)
      guard
        let flushed = LogPosition(timeline: timeline, offset: result.string(row: 0, column: 1)),
        let inserted = LogPosition(timeline: timeline, offset: result.string(row: 0, column: 2))
      else { return nil }
      (self.flushed, self.inserted) = (flushed, inserted)
    }
  }

  /// - Parameters:
  ///   - primary: what runs the statements on the primary.
  ///   - replicas: the pools, one for each host, and what runs statements on them.
  ///   - states: what the loops of the process share, and the number of this one among them.
  ///   - primaryFunctions: the names of functions that read what only a primary has.
  package init(
    primary: any StatementRunner, pool: PostgresPool,
    replicas: [(pool: PostgresPool, runner: any StatementRunner)], positions: ReadPositions,
    states: (shared: SharedReplicaStates, loop: Int), primaryFunctions: Set<String>,
    settings: Settings = Settings(),
    report: @escaping (_ host: String, ReplicaStates.Change) -> Void = { _, _ in }
  ) {
    loop = pool.loop
    self.primary = primary
    primaryPool = pool
    self.replicas = replicas.map { Replica($0.pool, $0.runner) }
    self.positions = positions
    self.primaryFunctions = primaryFunctions
    self.settings = settings
    self.report = report
    (shared, number) = states
  }

  /// Opens the connections, and begins to look at the replicas.
  package func start() {
    for replica in replicas { replica.pool.start() }
    probe()
    timer = loop.schedule(after: settings.probeInterval, repeating: settings.probeInterval) {
      [weak self] in self?.probe()
    }
  }

  package func stop(whenStopped: @escaping () -> Void) {
    timer = nil
    var remaining = replicas.count
    guard remaining > 0 else { return whenStopped() }
    for replica in replicas {
      replica.pool.stop {
        remaining -= 1
        if remaining == 0 { whenStopped() }
      }
    }
  }

  package var statistics: Statistics {
    let now = Moment.now
    let known = shared.states.withLock { states in
      replicas.indices.map { (isIn: states.isIn($0), lag: states.lag($0, at: now)) }
    }
    return Statistics(
      reads: reads,
      replicas: zip(replicas, known).map {
        ($0.pool.configuration.hostName, $1.isIn, $1.lag, $0.reads)
      })
  }

  // MARK: - Reads

  package func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    if statement.needsPrimary(primaryFunctions) {
      return onPrimary(.primary, statement, parameters, client, isBound: true, completion)
    }
    let (decision, changes) = decide(client)
    switch decision {
    case .replica(let index):
      return onReplica(index, changes, statement, parameters, client, completion)
    case .ask(let index):
      wait(for: index, statement, parameters, client, completion)
      return nil
    case .lagging: return onPrimary(.lagging, statement, parameters, client, completion)
    case .unknown: return onPrimary(.behind, statement, parameters, client, completion)
    }
  }

  /// - Returns: the decision, and the number of changes that it was made after.
  private func decide(
    _ client: PoolClient?, hasPrimary: Bool = true
  ) -> (ReplicaStates.Decision, changes: Int) {
    let need = positions.need(of: client)
    return shared.states.withLock { states in
      let decision = states.decision(
        for: Self.number(of: client), need, by: number, hasPrimary: hasPrimary
      ) { replicas[$0].pool.interruptions == replicas[$0].interruptions }
      return (decision, states.changes)
    }
  }

  private static func number(of client: PoolClient?) -> UInt64 {
    switch client {
    case .viewer(let viewer): UInt64(bitPattern: viewer)
    case .address(let high, let low): high ^ low
    case .server, nil: 0
    }
  }

  /// Asks the client's replica until it has what the client must see, or too long.
  private func wait(
    for index: Int, _ statement: BatchableStatement, _ parameters: PostgresParameters,
    _ client: PoolClient?, _ completion: @escaping StatementCompletion
  ) {
    let waiting = Waiting()
    func give(up place: Place) {
      waiting.end()
      _ = onPrimary(place, statement, parameters, client, completion)
    }
    func look() {
      guard !waiting.isOver else { return }
      let (decision, changes) = decide(client)
      switch decision {
      case .replica(let index):
        waiting.end()
        _ = onReplica(index, changes, statement, parameters, client, completion)
      case .ask(let index):
        waiting.pause = loop.schedule(after: settings.pause) { [self] in ask(index, then: look) }
      case .lagging: give(up: .lagging)
      case .unknown: give(up: .behind)
      }
    }
    waiting.patience = loop.schedule(after: settings.patience) { give(up: .behind) }
    ask(index, then: look)
  }

  private func onReplica(
    _ index: Int, _ changes: Int, _ statement: BatchableStatement, _ parameters: PostgresParameters,
    _ client: PoolClient?, _ completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    let replica = replicas[index]
    let interruptions = replica.interruptions
    return replica.runner.run(statement.copy(for: index), parameters, for: client) {
      [self] outcome, times in
      let isDone =
        switch outcome {
        // If clients have moved, the answer may be newer than what the client reads next.
        case .success: replica.pool.interruptions == interruptions && self.changes == changes
        case .failure(let error): error.kind.isOfTheStatement
        }
      guard isDone else {
        _ = onPrimary(.primary, statement, parameters, client, completion)
        return
      }
      reads[Place.replica.index] += 1
      replica.reads += 1
      completion(outcome, times)
    }
  }

  /// - Parameter isBound: whether no replica may run it, even if the primary does not answer.
  private func onPrimary(
    _ place: Place, _ statement: BatchableStatement, _ parameters: PostgresParameters,
    _ client: PoolClient?, isBound: Bool = false, _ completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    primary.run(statement, parameters, for: client) { [self] outcome, times in
      switch outcome {
      case .success: saw(client)
      case .failure(let error):
        if error.kind == .unavailable, !isBound {
          withoutPrimary(place, statement, parameters, client, (error, times), completion)
          return
        }
      }
      reads[place.index] += 1
      completion(outcome, times)
    }
  }

  /// Runs a read on a replica because the primary does not answer.
  ///
  /// - Parameter failure: the primary's failure, if no replica has what the client must see.
  ///
  /// Never inlined: Swift 6.3's optimizer crashes when it inlines this into a closure that borrows the
  /// outcome.
  @inline(never)
  private func withoutPrimary(
    _ place: Place, _ statement: BatchableStatement, _ parameters: PostgresParameters,
    _ client: PoolClient?, _ failure: (PostgresError, StatementTimes),
    mayAsk: Bool = true, _ completion: @escaping StatementCompletion
  ) {
    switch decide(client, hasPrimary: false).0 {
    case .replica(let index):
      let replica = replicas[index]
      replica.reads += 1
      reads[Place.replica.index] += 1
      _ = replica.runner.run(
        statement.copy(for: index), parameters, for: client, completion: completion)
    case .ask(let index) where mayAsk:
      // Its connections broke, or this loop has not asked it since a replica left.
      ask(index) { [self] in
        withoutPrimary(
          place, statement, parameters, client, failure, mayAsk: false, completion)
      }
    case .ask, .lagging, .unknown:
      reads[place.index] += 1
      completion(.failure(failure.0), failure.1)
    }
  }

  /// Runs reads on the primary: those of live queries and subscriptions, which follow its events.
  package var onPrimary: any StatementRunner { PrimaryReads(self) }

  private final class PrimaryReads: StatementRunner {
    private let router: ReplicaRouter

    init(_ router: ReplicaRouter) { self.router = router }

    func run(
      _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
      completion: @escaping StatementCompletion
    ) -> PostgresTicket? {
      router.onPrimary(.primary, statement, parameters, client, isBound: true, completion)
    }
  }

  // MARK: - Positions

  /// Notes that a client is about to learn what the primary has now. Its reads go to the primary
  /// until the position of that is known.
  package func saw(_ client: PoolClient?) {
    guard let client else { return }
    positions.hold([client])
    askPrimary { [positions] in positions.release([client], at: $0?.inserted) }
  }

  /// Notes a write, before it is acknowledged.
  ///
  /// - Parameters:
  ///   - clients: those that must see it; nil for all.
  ///   - completion: called with the position of the write; nil if the primary does not report it. The
  ///     clients need the primary then, until it reports a later one.
  package func wrote(_ clients: [PoolClient]?, _ completion: @escaping (LogPosition?) -> Void) {
    positions.hold(clients)
    askPrimary { [positions] in
      if let position = $0?.flushed {
        positions.release(clients, at: position)
      } else {
        positions.miss(clients)
      }
      completion($0?.flushed)
    }
  }

  /// Notes a position that a client has from a response, of this server or another.
  package func note(_ position: LogPosition, of client: PoolClient) {
    positions.note(position, of: client)
  }

  /// Asks the primary where it is, once for all who come while it is asked.
  private func askPrimary(_ completion: @escaping (PrimaryPositions?) -> Void) {
    askers.append(completion)
    guard !isAskingPrimary else { return }
    isAskingPrimary = true
    // Others of this event batch join.
    loop.afterThisBatch { [self] in
      let waiting = askers
      askers = []
      primaryPool.execute(Self.primaryQuestion, PostgresParameters(), for: .server) {
        [self] outcome, _ in
        isAskingPrimary = false
        let found: PrimaryPositions? =
          switch outcome {
          case .success(let result): PrimaryPositions(result)
          case .failure: nil
          }
        for completion in waiting { completion(found) }
        if !askers.isEmpty { askPrimaryAgain() }
      }
    }
  }

  private func askPrimaryAgain() {
    let waiting = askers
    askers = []
    askPrimary { positions in for completion in waiting { completion(positions) } }
  }

  // MARK: - Probes

  private func probe() {
    lookAtPrimary()
    for (index, replica) in replicas.enumerated() {
      // A read may have asked a moment ago. Only a probe that got no answer in its interval counts.
      if replica.isProbing {
        note(index, nil)
      } else {
        replica.isProbing = true
        ask(index) { replica.isProbing = false }
      }
    }
  }

  private func ask(_ index: Int, then completion: @escaping () -> Void) {
    let replica = replicas[index]
    replica.waiting.append(completion)
    guard !replica.isAsking else { return }
    replica.isAsking = true
    let interruptions = replica.pool.interruptions
    replica.pool.execute(
      Self.replicaQuestion, PostgresParameters(), for: .server,
      deadline: replica.pool.deadline(from: .now)
    ) { [self] outcome, _ in
      replica.isAsking = false
      let answer: ReplicaStates.Report? =
        switch outcome {
        case .success(let result): ReplicaStates.Report(result)
        case .failure: nil
        }
      let isInterrupted = replica.interruptions != interruptions
      replica.interruptions = interruptions
      note(index, answer, isInterrupted: isInterrupted)
      let waiting = replica.waiting
      replica.waiting = []
      for completion in waiting { completion() }
    }
  }

  private func note(
    _ index: Int, _ answer: ReplicaStates.Report?, isInterrupted: Bool = false
  ) {
    let (change, isMoving) = shared.states.withLock { states in
      let before = states.changes
      let change = states.answered(
        index, answer, by: number, isInterrupted: isInterrupted, at: .now)
      return (change, states.changes != before)
    }
    if let change { report(replicas[index].pool.configuration.hostName, change) }
    if isMoving { lookAtPrimary() }
  }

  private var changes: Int { shared.states.withLock { $0.changes } }

  private func lookAtPrimary() {
    let (changes, missed) = (changes, positions.missed)
    askPrimary { [self] found in
      // Whatever was visible when it was asked is before it, so every write too.
      if let position = found?.inserted { positions.reported(position, after: missed) }
      shared.states.withLock {
        $0.primaryAnswered(found?.flushed, seen: found?.inserted, after: changes, at: .now)
      }
    }
  }
}

extension ReplicaStates.Report {
  fileprivate init?(_ result: borrowing PostgresResult) {
    guard result.rowCount == 1, result.columnCount == 3 else { return nil }
    self.init(
      isStandby: result.string(row: 0, column: 0) == "true",
      replayed: LogPosition(
        timeline: result.string(row: 0, column: 2), offset: result.string(row: 0, column: 1)))
  }
}

extension PostgresError.Kind {
  /// Whether a statement fails so wherever it runs, or ran as long as it may.
  fileprivate var isOfTheStatement: Bool {
    switch self {
    case .timeout, .overloaded, .userRaised, .invalidEncoding, .invalidValue: true
    case .unavailable, .lost, .retry, .lock, .readOnly, .staleStatement, .aborted, .constraint,
      .forbidden, .other:
      false
    }
  }
}

extension ReplicaRouter.Place {
  fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
