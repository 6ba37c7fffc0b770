import Accounts
import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres
import SQL
import Subscriptions

/// Does what the `SubscriptionRegistry` of an event loop says: executes statements, sends responses, joins the commit
/// reader, and keeps the time. Call on the event loop.
///
/// Streams and sockets use it through `subscribe`, `query`, `resolve`, `monitor`, and `cancel`.
final class SubscriptionDriver: @unchecked Sendable {
  // @unchecked: used on the event loop only.

  /// A subscription or live query with its client.
  struct Client {
    let operation: PreparedOperation
    let response: PreparedResponse
    let kind: Kind
    let viewer: Int64
    let sink: any ResponseSink
    /// Called once if the stream ends on the server's side.
    let ended: (OperationResponse) -> Void

    enum Kind {
      case subscription(PreparedEvent, SharingGroups.Key)
      case live(LiveDependencies)
    }
  }

  /// A session that is looked up for a stream or socket that is to begin.
  private final class Resolution {
    let token: SessionToken
    let completion: (SessionResolver.Resolution) -> Void
    /// The error of the last attempt.
    var error: PostgresError?

    init(_ token: SessionToken, _ completion: @escaping (SessionResolver.Resolution) -> Void) {
      self.token = token
      self.completion = completion
    }
  }

  /// A session whose end is that of a stream or socket.
  private struct Session {
    let token: SessionToken
    let viewer: Int64
    let ended: (SessionEnd) -> Void
  }

  /// The longest time between two checks of a signed token: it ends as soon as for requests.
  private static let checkInterval = Duration.seconds(5)
  /// The interval at which the keys of issuers are checked for changes.
  private static let keyInterval = Duration.milliseconds(400)

  private let loop: EventLoop
  private let number: Int
  /// The reader of events, or nil if the graph has none.
  private let reader: (any EventReader)?
  private let sessions: SessionResolver
  private let queries: QueryRunner
  private let starter: SubscriptionRunner
  private let pool: PostgresPool
  private var registry: SubscriptionRegistry
  private var clients: [StreamID: Client] = [:]
  private var resolutions: [StreamID: Resolution] = [:]
  private var monitored: [StreamID: Session] = [:]
  /// Looks for changed keys while signed tokens are monitored.
  private var keyTimer: LoopTimer?
  private var groups = SharingGroups()
  private var tickets: [StatementID: PostgresTicket] = [:]
  private var lastStream: UInt64 = 0
  /// The number of times that it has joined or left the reader.
  private var joins = 0
  private var timer: (LoopTimer, at: Moment)?
  private var actions: [RegistryAction] = []
  private var isPerforming = false
  /// Called when a response with errors is sent for an event.
  var onErrors: (RequestIdentity, [GraphQLError]) -> Void = { _, _ in }

  init(
    loop: EventLoop, number: Int, reader: (any EventReader)?, sessions: SessionResolver,
    queries: QueryRunner, pool: PostgresPool, settings: LiveSettings
  ) {
    self.loop = loop
    self.number = number
    self.reader = reader
    self.sessions = sessions
    self.queries = queries
    self.pool = pool
    starter = SubscriptionRunner(on: pool)
    registry = SubscriptionRegistry(settings.registry(connections: pool.settings.size))
  }

  var counts: SubscriptionRegistry.Counts { registry.counts }

  // MARK: Streams

  /// Returns nil if there are no events.
  func subscribe(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    viewer: Int64, from token: ResumeToken?, to sink: any ResponseSink,
    ended: @escaping (OperationResponse) -> Void
  ) -> StreamID? {
    guard reader != nil else { return nil }
    let id = nextStream()
    let key = SharingGroups.Key(operation, viewer: viewer)
    clients[id] = Client(
      operation: operation, response: response, kind: .subscription(event, key), viewer: viewer,
      sink: sink, ended: ended)
    handle(.subscribe(id, event.plan.source(operation, group: groups.join(key)), from: token))
    return id
  }

  /// Returns nil for a query without `@live`.
  func query(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LiveDependencies,
    viewer: Int64,
    to sink: any ResponseSink, ended: @escaping (OperationResponse) -> Void
  ) -> StreamID? {
    guard let live = operation.live else { return nil }
    let id = nextStream()
    clients[id] = Client(
      operation: operation, response: response, kind: .live(plan), viewer: viewer, sink: sink,
      ended: ended)
    let source = LiveQuerySource(
      dependencies: plan.dependencies(of: viewer), interval: live.interval,
      asPatches: live.asPatches)
    handle(.query(id, source))
    return id
  }

  /// Finds out whose a session is, and waits if the server is overloaded.
  func resolve(
    _ token: SessionToken, since: Moment,
    completion: @escaping (SessionResolver.Resolution) -> Void
  ) -> StreamID {
    let id = nextStream()
    resolutions[id] = Resolution(token, completion)
    handle(.resolve(id, since: since))
    return id
  }

  /// Calls `ended` once the session is over, unless it is cancelled.
  func monitor(
    _ token: SessionToken, of viewer: Int64, ended: @escaping (SessionEnd) -> Void
  ) -> StreamID {
    let id = nextStream()
    monitored[id] = Session(token: token, viewer: viewer, ended: ended)
    if token.isSigned { watchKeys() }
    handle(.monitor(id, viewer: viewer))
    return id
  }

  func cancel(_ id: StreamID) {
    if forget(id) { handle(.cancel(id)) }
  }

  /// Whether it has not ended.
  func isRunning(_ id: StreamID) -> Bool {
    clients[id] != nil || resolutions[id] != nil || monitored[id] != nil
  }

  private func nextStream() -> StreamID {
    lastStream += 1
    return StreamID(lastStream)
  }

  /// Returns whether it was there.
  @discardableResult private func forget(_ id: StreamID) -> Bool {
    if let client = clients.removeValue(forKey: id) {
      if case .subscription(_, let key) = client.kind { groups.leave(key) }
      return true
    }
    return resolutions.removeValue(forKey: id) != nil || monitored.removeValue(forKey: id) != nil
  }

  // MARK: Events and actions

  private func handle(_ event: RegistryEvent) {
    registry.handle(event, at: .now, &actions)
    guard !isPerforming else { return }
    // Actions that an action causes are appended.
    isPerforming = true
    var next = 0
    while next < actions.count {
      let action = actions[next]
      next += 1
      perform(action)
    }
    actions.removeAll(keepingCapacity: next < 4_096)
    isPerforming = false
    keepTime()
  }

  private func keepTime() {
    guard let deadline = registry.nextDeadline else {
      timer = nil
      return
    }
    if let timer, timer.at <= deadline { return }
    let pause = max(Moment.now.duration(to: deadline), .zero)
    timer = (
      loop.schedule(after: pause) { [weak self] in
        self?.timer = nil
        self?.handle(.timePassed)
      }, deadline
    )
  }

  private func perform(_ action: RegistryAction) {
    switch action {
    case .joinReader: join()
    case .leaveReader:
      joins += 1
      reader?.leave(number)
    case .readKeys(let statement, let id): readKeys(statement, id)
    case .readMissed(let statement, _, let topic, let since): readMissed(statement, topic, since)
    case .execute(let statement, let id, let event):
      let moment = EventMoment(
        node: event.node, told: Int64(clamping: event.received),
        ended: Int64(clamping: event.ended))
      execute(statement, id, moment) { .executed(statement, StatementOutcome($0.response)) }
    case .query(let statement, let id): query(statement, id)
    case .cancel(let statement): tickets.removeValue(forKey: statement)?.cancel()
    case .send(let id, let body, let token, let isFollowed):
      guard let client = clients[id] else { return }
      if !client.sink.next(body, to: token, isFollowed: isFollowed) { handle(.unread(id)) }
    case .report(let id, let errors):
      if let client = clients[id] { onErrors(client.operation.identity, errors) }
    case .finish(let id, let outcome):
      guard let client = clients[id] else { return }
      forget(id)
      client.ended(OperationResponse(outcome))
    case .interrupt(let id, let reason):
      guard let client = clients[id] else { return }
      forget(id)
      client.sink.interrupt(reason)
    case .resolve(let id): resolve(id)
    case .failResolving(let id, _):
      guard let resolution = resolutions.removeValue(forKey: id) else { return }
      resolution.completion(
        .failed(resolution.error ?? PostgresError(.overloaded, message: "Too much waits.")))
    case .readExpiry(let id):
      guard let session = monitored[id] else { return }
      sessions.remaining(of: session.token) { [weak self] in
        let rest = session.token.isSigned ? $0.map { min($0, Self.checkInterval) } : $0
        self?.handle(.expiryRead(id, rest))
      }
    case .check(let id): check(id)
    case .endSession(let id, let end): monitored.removeValue(forKey: id)?.ended(end)
    case .takeTurns: loop.afterThisBatch { [weak self] in self?.handle(.turn) }
    }
  }

  private func join() {
    joins += 1
    let (loop, join) = (loop, joins)
    guard let reader else {
      // Nothing is heard of changes: live queries look again at their intervals.
      return loop.afterThisBatch { [weak self] in
        if self?.joins == join { self?.handle(.joined(statisticsResetAt: nil)) }
      }
    }
    // A report for an earlier subscription to the reader is too late.
    let report: @Sendable (RegistryEvent) -> Void = { [self] event in
      loop.execute { [self] in if joins == join { handle(event) } }
    }
    reader.join(
      number,
      EventListener(
        joined: { report(.joined(statisticsResetAt: $0)) }, receive: { report(.received($0)) }))
  }

  // MARK: Statements

  /// Keeps what cancels a statement until its result is there.
  private func begin(
    _ statement: StatementID,
    _ start: (_ done: @escaping (RegistryEvent) -> Void) -> PostgresTicket?
  ) {
    var isDone = false
    let ticket = start { [self] event in
      isDone = true
      tickets[statement] = nil
      handle(event)
    }
    if !isDone { tickets[statement] = ticket }
  }

  private func readKeys(_ statement: StatementID, _ id: StreamID) {
    guard let client = clients[id], case .subscription(let event, _) = client.kind else { return }
    begin(statement) { done in
      starter.start(client.operation, event, viewer: client.viewer) { result in
        done(.keysRead(statement, SubscriptionKeys.result(result)))
      }
    }
  }

  private func readMissed(_ statement: StatementID, _ topic: String, _ since: PostgresSnapshot) {
    var parameters = PostgresParameters()
    parameters.append(since.text)
    parameters.append(topic)
    begin(statement) { done in
      pool.execute(CommitReader.missed, parameters) { outcome, _ in
        switch outcome {
        case .success(let result):
          done(.missedRead(statement, .success(CommitReader.missed(in: result, topic))))
        case .failure(let error):
          done(.missedRead(statement, .failure(StatementFailure(OperationResponse.errors(error)))))
        }
      }
    }
  }

  private func execute(
    _ statement: StatementID, _ id: StreamID, _ moment: EventMoment,
    _ event: @escaping (OperationOutcome) -> RegistryEvent
  ) {
    guard let client = clients[id] else {
      // It has left since, but others may share the statement: they try again.
      let errors = OperationResponse.errors(PostgresError(.overloaded, message: "The client left."))
      return handle(event(OperationOutcome(.refused(errors), PhaseDurations())))
    }
    begin(statement) { done in
      queries.run(client.operation, client.response, viewer: client.viewer, event: moment) {
        done(event($0))
      }
    }
  }

  private func query(_ statement: StatementID, _ id: StreamID) {
    guard let client = clients[id], case .live(let plan) = client.kind else { return }
    execute(statement, id, EventMoment()) { outcome in
      let result = LiveResult(
        plan.dependencies(on: outcome.dependencies, of: client.viewer),
        objectCount: outcome.dependencies.count,
        cost: .nanoseconds(Int64(clamping: outcome.times.querying)))
      return .queried(statement, StatementOutcome(outcome.response), result)
    }
  }

  // MARK: Sessions

  private func resolve(_ id: StreamID) {
    guard let resolution = resolutions[id] else { return }
    sessions.resolve(resolution.token) { [self] result in
      guard resolutions[id] === resolution else { return }
      switch result {
      case .viewer, .unknown:
        resolutions[id] = nil
        handle(.resolved(id, nil))
        resolution.completion(result)
      case .failed(let error):
        resolution.error = error
        handle(.resolved(id, StatementFailure(OperationResponse.errors(error))))
      }
    }
  }

  /// A key that an issuer withdraws ends the tokens that it signed.
  private func watchKeys() {
    guard keyTimer == nil else { return }
    keyTimer = loop.schedule(after: Self.keyInterval, repeating: Self.keyInterval) { [weak self] in
      guard let self else { return }
      guard monitored.values.contains(where: \.token.isSigned) else {
        keyTimer = nil
        return
      }
      sessions.lookForChangedKeys { [weak self] isChanged in
        if isChanged { self?.handle(.sessionsMayHaveEnded) }
      }
    }
  }

  private func check(_ id: StreamID) {
    guard let session = monitored[id] else { return }
    sessions.forget(session.token)
    sessions.resolve(session.token) { [weak self] resolution in
      switch resolution {
      case .viewer(let viewer) where viewer.id == session.viewer:
        self?.handle(.checked(id, .valid))
      case .viewer, .unknown: self?.handle(.checked(id, .over))
      case .failed: self?.handle(.checked(id, .unknown))
      }
    }
  }
}
