// All access to PostgreSQL, over libpq.
//
// It is the one stage of a request that waits: a `PostgresStatement` with its `PostgresParameters`
// goes in, and a `PostgresResult` in binary format or a `PostgresError` with its kind comes out. An
// event loop uses `PostgresPool`, whose connections belong to the loop and are in pipeline mode.
// `PoolState` makes its decisions and knows no sockets. `PostgresSession` is the blocking kind, for
// setup work on a dedicated thread.
//
// Callers know the contents of statements, the meaning of values, and the wording of errors for
// clients. No pointer of libpq leaves this module.

import CPostgreSQL
import Dispatch
import EventLoops

/// The connections of one event loop to one database.
///
/// `execute` sends a statement on the connection that is expected to be idle first, or puts it in a
/// bounded queue. It calls the completion once, on the event loop, after `execute` has returned,
/// unless the ticket is cancelled. A statement given to `execute` only reads, so it is retried once
/// if its connection is lost. Writes need a transaction or a lease.
///
/// Call on the event loop. `PoolState` decides; this class carries out its decisions.
package final class PostgresPool {
  package let loop: EventLoop
  package let configuration: PostgresConfiguration
  package let settings: PoolSettings

  private var state: PoolState
  private let shortStatement: UInt64
  let heavyNanoseconds: Int64
  private let overrunNanoseconds: Int64
  private let operationNanoseconds: Int64
  private var connections: [PostgresConnection?]
  private var payloads: [PoolPayload?] = []
  private var spareActions: [PoolAction] = []
  private var fastTimer: LoopTimer?
  private var slowTimer: LoopTimer?
  /// One for each connection: from afar it takes a while, and all connect at once.
  private let connecting: [DispatchQueue]
  private let onEvent: (PoolEvent) -> Void
  private let canceller: StatementCanceller
  private var whenStopped: (() -> Void)?
  private var whenAtRest: (() -> Void)?
  /// The newest one when connections were last held against it.
  private var timeline: UInt32 = 0
  /// Called when a connection has answered something.
  var whenAnswered: (() -> Void)?

  /// Made off the loop or on it; nothing happens before `start`.
  package init(
    loop: EventLoop, configuration: PostgresConfiguration, settings: PoolSettings = PoolSettings(),
    seed: UInt64? = nil, onEvent: @escaping (PoolEvent) -> Void = { _ in }
  ) {
    self.loop = loop
    self.configuration = configuration
    var settings = settings
    settings.statementTimeout = settings.statementTimeout ?? configuration.statementTimeout
    settings.longestStatement =
      configuration.statementTimeout > .zero
      ? configuration.statementTimeout + .seconds(1) : .seconds(365 * 24 * 3600)
    self.settings = settings
    self.onEvent = onEvent
    shortStatement = UInt64(max(settings.shortStatement.nanoseconds, 0))
    heavyNanoseconds = max(settings.heavyStatement.nanoseconds, 1)
    overrunNanoseconds = max(settings.overrun.nanoseconds, 0)
    operationNanoseconds = settings.operationDeadline.nanoseconds
    state = PoolState(
      settings: settings, seed: seed ?? UInt64.random(in: .min ... .max), now: .now)
    connections = Array(repeating: nil, count: max(settings.size, 1))
    connecting = connections.indices.map {
      DispatchQueue(label: "\(loop.label).connecting.\($0)")
    }
    canceller = StatementCanceller(loop: loop, configuration: configuration)
    canceller.whenConnected = { [weak self] in self?.reportRefusals() }
  }

  // MARK: Use

  /// Opens the connections.
  package func start() {
    loop.preconditionOnLoop()
    handle { state, now, actions in state.start(now: now, actions: &actions) }
    slowTimer = loop.schedule(after: .seconds(1), repeating: .seconds(1)) { [weak self] in
      self?.tick()
    }
  }

  /// Finishes what is in flight, refuses what waits, closes the connections.
  package func stop(whenStopped: @escaping () -> Void = {}) {
    loop.preconditionOnLoop()
    self.whenStopped = whenStopped
    handle { state, now, actions in state.stop(now: now, actions: &actions) }
    canceller.stop()
    slowTimer = nil
  }

  /// Finishes what is in flight and closes the connections, as for a restart of the server; what waits
  /// or comes is kept until `resume`, as long as its deadline allows.
  ///
  /// - Parameter whenAtRest: called on the loop when no connection is left, also when the pool stops.
  package func pause(whenAtRest: @escaping () -> Void) {
    loop.preconditionOnLoop()
    self.whenAtRest = whenAtRest
    canceller.disconnect()
    handle { state, now, actions in state.pause(now: now, actions: &actions) }
  }

  package func resume() {
    loop.preconditionOnLoop()
    handle { state, now, actions in state.resume(now: now, actions: &actions) }
  }

  /// Returns the deadline of an operation that begins now.
  package func deadline(from now: Moment) -> Moment {
    now.advanced(byNanoseconds: operationNanoseconds)
  }

  package var statistics: PoolStatistics { state.currentStatistics }

  /// The number of connections that broke or could not be made. While it stays the same, the server that has
  /// the connections did not crash.
  var interruptions: Int { state.statistics.broken + state.statistics.connectFailures }

  func report(_ event: PoolEvent) { onEvent(event) }

  /// Whether the network round trip takes longer than a short statement.
  var isFar: Bool { state.isFar }

  /// Whether a new request would wait for a connection, for another reason than network latency.
  package var isCrowded: Bool { state.isCrowded && !state.isFar }

  /// The number of requests that have no result yet.
  package var unfinishedCount: Int { state.unfinishedCount }

  /// Whether there is a connection whose server responded recently. The pool probes it every few
  /// seconds if it has no other work.
  package var isAvailable: Bool {
    state.isProven(within: settings.proof, now: .now)
  }

  func cancel(_ id: PoolRequestID) {
    loop.preconditionOnLoop()
    var wasWaiting = false
    handle { state, now, actions in
      wasWaiting = state.cancel(id, now: now, actions: &actions)
    }
    if wasWaiting { payloads[Int(id.index)] = nil }
  }

  static func mismatch(
    _ statement: PostgresStatement, _ parameters: borrowing PostgresParameters
  ) -> PostgresError? {
    if parameters.count != statement.parameterCount {
      return PostgresError(
        .other,
        message: "The statement takes \(statement.parameterCount) parameters, not "
          + "\(parameters.count).")
    }
    return parameters.isTooLarge
      ? PostgresError(.invalidValue, message: "A parameter is too large.") : nil
  }

  /// Empty, so that it appears in no statistics.
  private static let probe = PostgresStatement("", parameterCount: 0)

  // MARK: Performing what the state decides

  func submit(
    _ kind: PoolRequestKind, estimate: UInt64, now: Moment, deadline: Moment, _ payload: PoolPayload
  ) -> PostgresTicket {
    leaveOutdated()
    var actions = takeActions()
    let id = state.submit(
      kind: kind, estimate: estimate,
      isKnown: payload.client == nil || payload.client == .server
        || payload.statement?.isKnown ?? true,
      mayRetry: !payload.writes, awaitsEnd: payload.writes,
      commitsAsynchronously: payload.commitsAsynchronously,
      client: payload.client, deadline: deadline, now: now, actions: &actions)
    let index = Int(id.index)
    while payloads.count <= index { payloads.append(nil) }
    payloads[index] = payload
    perform(actions, now, canCallBack: false)
    giveBack(&actions)
    if fastTimer == nil { startFastTimer() }
    return PostgresTicket(pool: self, id: id)
  }

  private func handle(
    _ event: (inout PoolState, Moment, inout [PoolAction]) -> Void
  ) {
    var actions = takeActions()
    let now = Moment.now
    event(&state, now, &actions)
    perform(actions, now, canCallBack: true)
    giveBack(&actions)
    if fastTimer == nil, state.isBusy { startFastTimer() }
    finishStopping()
  }

  private func perform(
    _ actions: [PoolAction], _ now: Moment, canCallBack: Bool
  ) {
    // Completions are called last: they may cause further events, and the numbers of finished
    // requests are used again.
    var told: [(PoolPayload, PostgresError)] = []
    var leased: [(PoolPayload, PostgresLease)] = []
    for action in actions {
      switch action {
      case .connect(let slot): connect(slot)
      case .close(let slot):
        connections[slot]?.close()
        connections[slot] = nil
      case .send(let index, let slot): send(Int(index), on: slot, now)
      case .probe(let index, let slot):
        connections[slot]?.send(Self.probe, PostgresParameters(), tag: UInt64(index))
      case .lease(let index, let slot):
        guard let payload = payloads[Int(index)], let connection = connections[slot] else { break }
        payloads[Int(index)] = nil
        leased.append((payload, PostgresLease(pool: self, connection: connection, slot: slot)))
      case .cancel(let slot):
        if let connection = connections[slot] { canceller.cancel(connection) }
      case .outran(let index):
        guard let payload = payloads[Int(index)] else { break }
        payload.slowness = payload.statement.map { StatementSlowness($0) }
      case .fail(let index, let failure):
        guard let payload = payloads[Int(index)] else { break }
        payloads[Int(index)] = nil
        if failure == .deadlinePassed, let sentAt = payload.sentAt {
          payload.statement?.raise(
            toNanoseconds: UInt64(max(sentAt.nanoseconds(to: now), heavyNanoseconds)), at: now)
        }
        told.append((payload, error(for: failure, writes: payload.writes)))
      case .event(let event): onEvent(event)
      }
    }
    guard !told.isEmpty || !leased.isEmpty else { return }
    let tell = { [told, leased] in
      for (payload, error) in told {
        payload.fail(error, now)
      }
      for (payload, lease) in leased { payload.deliver(lease) }
    }
    if canCallBack { tell() } else { loop.afterThisBatch(tell) }
  }

  private func send(_ index: Int, on slot: Int, _ now: Moment) {
    guard let connection = connections[slot], let payload = payloads[index] else { return }
    payload.sentAt = now
    let statement: PostgresStatement
    let parameters: PostgresParameters
    switch payload.work {
    case .transaction(let transaction, _, let part, _):
      connection.send(transaction, tag: UInt64(index), hasParts: part != nil)
      return
    case .snapshot(let statements, _, _):
      return connection.send(inOneSnapshot: statements, tag: UInt64(index))
    case .lease: return
    case .statement(let found, let values, _): (statement, parameters) = (found, values)
    }
    if let role = payload.role {
      let isNew = connection.send(
        [role.setting, BoundStatement(statement, parameters)], tag: UInt64(index))
      return note(isNew, payload, statement, on: slot)
    }
    let cost = statement.costNanoseconds(at: now)
    let isShort = cost > 0 && cost < shortStatement && !payload.isAlone
    let isNew = connection.send(
      statement, parameters, tag: UInt64(index), sharesSync: isShort)
    note(isNew, payload, statement, on: slot)
  }

  private func note(
    _ isNew: Bool, _ payload: PoolPayload, _ statement: PostgresStatement, on slot: Int
  ) {
    guard isNew else { return }
    payload.isFirst = true
    onEvent(.prepared(connection: slot, statement: statement.name))
  }

  private func finished(_ slot: Int, _ index: Int, _ outcome: borrowing PostgresOutcome) {
    leaveOutdated()
    guard connections[slot] != nil else { return }
    let answer: PoolAnswer
    switch outcome {
    case .success: answer = .final
    case .failure(let error):
      answer =
        switch error.kind {
        case .staleStatement: .stale
        case .timeout: .cancelled
        case .aborted: .aborted
        case .retry: .conflict
        case .readOnly where !configuration.isReadOnly: .readOnly
        default: .final
        }
    }
    var actions = takeActions()
    let now = Moment.now
    let verdict = state.answered(slot: slot, answer, now: now, actions: &actions)
    var payload: PoolPayload?
    switch verdict {
    case .deliver(let time):
      payload = payloads[index]
      payloads[index] = nil
      note(time, answer, of: payload, now, &actions)
    case .drop: if index < payloads.count { payloads[index] = nil }
    case .retryAsHeavy(let time):
      payloads[index]?.statement?.raise(
        toNanoseconds: UInt64(max(time, heavyNanoseconds)), at: now)
    case .retry: payloads[index]?.isAlone = answer == .aborted
    }
    perform(actions, now, canCallBack: true)
    giveBack(&actions)
    payload?.deliver(outcome, now)
    whenAnswered?()
    if whenStopped != nil || whenAtRest != nil { finishStopping() }
  }

  /// Takes the time of an execution into what is expected of its statement.
  private func note(
    _ time: Int64, _ answer: PoolAnswer, of payload: PoolPayload?, _ now: Moment,
    _ actions: inout [PoolAction]
  ) {
    guard let payload, let statement = payload.statement else { return }
    let nanoseconds = UInt64(max(time, 0))
    let isOutrun =
      time >= overrunNanoseconds && nanoseconds / 8 >= statement.meanNanoseconds
    if answer == .cancelled {
      statement.raise(toNanoseconds: nanoseconds, at: now)
    } else if isOutrun, !payload.isFirst {
      statement.outran(by: nanoseconds, sentAt: payload.sentAt ?? now, at: now)
    }
    guard !payload.isFirst, answer == .final else { return }
    let wasKnown = statement.isKnown
    statement.record(nanoseconds: nanoseconds)
    guard !wasKnown, statement.isKnown else { return }
    // Other executions of it arrived while its duration was unknown, and wait for exclusive
    // connections.
    let others = payloads.indices.filter { payloads[$0]?.statement === statement }
    let estimate = statement.estimateNanoseconds(at: now)
    state.becameKnown(
      others.map { Int32($0) }, estimate: estimate, now: now, actions: &actions)
  }

  private func error(for failure: PoolFailure, writes: Bool) -> PostgresError {
    let soon = Duration.seconds(1)
    return switch failure {
    case .refused(.queueFull):
      PostgresError(.overloaded, message: "Too many statements wait.", retryAfter: soon)
    case .refused(.waitedTooLong):
      PostgresError(.overloaded, message: "No connection was free in time.", retryAfter: soon)
    case .refused(.noDatabase):
      PostgresError(
        .unavailable, message: "The database cannot be reached.",
        retryAfter: state.retryAfter(now: .now))
    case .refused(.stopping):
      PostgresError(.unavailable, message: "The pool is stopping.", retryAfter: soon)
    case .refused(.deadlinePassed), .deadlinePassed:
      PostgresError(.timeout, message: "The operation's deadline passed.")
    case .lost:
      PostgresError(
        writes ? .lost : .unavailable, message: "The connection was lost.", retryAfter: soon)
    }
  }

  private func takeActions() -> [PoolAction] {
    var actions: [PoolAction] = []
    swap(&actions, &spareActions)
    return actions
  }

  private func giveBack(_ actions: inout [PoolAction]) {
    actions.removeAll(keepingCapacity: true)
    swap(&actions, &spareActions)
  }

  private func finishStopping() {
    if let whenAtRest, state.isAtRest {
      self.whenAtRest = nil
      whenAtRest()
    }
    guard let done = whenStopped, state.isStopped else { return }
    whenStopped = nil
    fastTimer = nil
    done()
  }

  // MARK: Time

  private func startFastTimer() {
    fastTimer = loop.schedule(after: .milliseconds(25), repeating: .milliseconds(25)) {
      [weak self] in self?.tick()
    }
  }

  private func tick() {
    leaveOutdated()
    handle { state, now, actions in state.tick(now: now, actions: &actions) }
    if !state.isBusy { fastTimer = nil }
  }

  // MARK: Connections

  /// Gives up the connections to a server that is the primary no longer, as another connection of the process has
  /// found out. Before anything is sent on them, and before an answer of theirs is taken for done.
  private func leaveOutdated() {
    let newest = configuration.history.timeline
    guard newest != timeline else { return }
    timeline = newest
    let outdated = connections.indices.filter { slot in
      connections[slot]?.timeline.map { $0 < newest } ?? false
    }
    guard !outdated.isEmpty else { return }
    var actions = takeActions()
    let now = Moment.now
    state.leave(outdated, now: now, actions: &actions)
    perform(actions, now, canCallBack: false)
    giveBack(&actions)
  }

  private func reportRefusals() {
    for refusal in configuration.history.takeRefusals() {
      state.statistics.hostsRefused += 1
      onEvent(.hostRefused(refusal))
    }
  }

  private var servingConfiguration: PostgresConfiguration {
    var serving = configuration
    serving.keepsSearchPath = true
    return serving
  }

  /// libpq's own connecting waits for name servers, certificates and passwords, so it is done on a
  /// queue that may block.
  private func connect(_ slot: Int) {
    nonisolated(unsafe) weak let pool = self
    let configuration = servingConfiguration
    let loop = loop
    connecting[slot].async {
      let result = Result { () throws(PostgresError) in
        let library = try LibraryConnection(configuration)
        let first = try library.roundTrip()
        // Behind what was asked while connecting it meets a server that has found its files; else the
        // second one does.
        let hasAsked = configuration.pooler == .none
        return (library, hasAsked ? first : min(first, try library.roundTrip()))
      }
      loop.execute { unsafe pool?.connected(slot, result) }
    }
  }

  private func connected(
    _ slot: Int, _ result: Result<(LibraryConnection, Duration), PostgresError>
  ) {
    reportRefusals()
    do {
      let (library, roundTrip) = try result.get()
      if let timeline = library.timeline, timeline < configuration.history.timeline {
        throw PostgresError(
          .unavailable, message: "Another server became the primary meanwhile.")
      }
      let connection = try PostgresConnection(
        library, loop: loop, servingConfiguration)
      connection.onFinish = { [weak self] tag, outcome in
        self?.finished(slot, Int(tag), outcome)
      }
      connection.onPart = { [weak self] tag, result in
        guard let self, let payload = payloads[Int(tag)] else { return }
        state.notePartAnswered(slot: slot)
        payload.deliver(part: result, .now)
      }
      connection.onClose = { [weak self] error in
        guard let self else { return }
        connections[slot] = nil
        handle { state, now, actions in
          state.lost(slot: slot, error, now: now, actions: &actions)
        }
      }
      connections[slot] = connection
      handle { state, now, actions in
        state.connected(slot: slot, roundTrip: roundTrip, now: now, actions: &actions)
      }
    } catch {
      let reason =
        error as? PostgresError
        ?? PostgresError(.unavailable, message: "The connection cannot join its loop: \(error).")
      handle { state, now, actions in
        state.connectFailed(slot: slot, reason, now: now, actions: &actions)
      }
    }
  }

  func released(_ slot: Int, _ connection: PostgresConnection, isClean: Bool) {
    guard connections[slot] === connection else { return }
    handle { state, now, actions in
      state.released(slot: slot, isClean: isClean, now: now, actions: &actions)
    }
  }
}
