import EventLoops
import GraphQLResponse

// Subscriptions and live queries as plain data. `Server` has the driver, which executes the statements, sends the
// responses, and reads the commits.

/// The subscriptions, live queries, and monitored sessions of one event loop: no socket, no database, no clock.
///
/// An event goes in with its time, and actions come out. The caller performs them in order, and reports their results as
/// events. Start reading at `handle`.
///
///     subscribe -> readKeys -> keysRead -> (received -> execute -> executed -> send)* -> cancel | finish | interrupt
///     query     -> query -> queried -> send -> (received -> query -> queried -> send)* -> cancel | finish | interrupt
///
/// An event is matched with the subscriptions under its topic and key, and with the live queries that depend on it. Each
/// subscription executes one event at a time, so responses are in order. Executions that give the same response are one
/// statement.
package struct SubscriptionRegistry {
  package struct Settings: Sendable {
    /// The events that may wait for one subscription.
    package var maximumQueue = 1_000
    /// The statements for subscriptions at once, the statements for live queries at once, and the streams that start at
    /// once.
    package var maximumStatements = 64
    /// The maximum time that a stream waits to start while the server is overloaded.
    package var patience: Duration = .seconds(30)
    /// The shortest time between two executions of a live query.
    package var livePause: Duration = .milliseconds(100)
    /// The part of the connections' time that live queries may take, in percent.
    package var livePercent = 25
    /// The part of that time that live queries may take in advance.
    package var liveBurst: Duration = .milliseconds(50)
    /// The most objects that the result of a live query may contain.
    package var maximumLiveDependencies = 1_000
    /// The connections of the event loop.
    package var connections = 1

    package init() {}
  }

  /// The counts that metrics report.
  package struct Counts: Sendable, Equatable {
    /// Subscriptions whose keys are looked up, and sessions that are looked up for streams and sockets.
    package var starting = 0
    package var active = 0
    /// The topics and keys of all subscriptions together.
    package var keys = 0
    package var sessions = 0
    /// Responses of subscriptions.
    package var sent: UInt64 = 0
    package var queries = 0
    package var dependencies = 0
    package var executions: UInt64 = 0
    package var queryResponses: UInt64 = 0

    package init() {}
  }

  enum Reader { case absent, joining, joined }

  /// The purpose of a deadline.
  enum Deadline: Hashable {
    case lookup(StreamID)
    case work(StreamID)
    case query(StreamID)
    case interval(StreamID)
    case session(StreamID)
    case starts
    case liveBudget
  }

  /// A stream that waits to start.
  enum Start {
    case subscription(StreamID)
    case query(StreamID)
    case session(StreamID)
  }

  /// The purpose of a statement.
  enum Purpose {
    case keys(StreamID)
    case comparison(StreamID)
    case missed(StreamID)
    case event
    case query(StreamID)
  }

  let settings: Settings
  var now = Moment(nanoseconds: 0)
  var actions: [RegistryAction] = []
  var reader = Reader.absent
  /// `CrashRecovery.statisticsResetAt` of the last crash.
  var statisticsResetAt: String?
  var statements: [StatementID: Purpose] = [:]
  var deadlines = Deadlines<Deadline>()
  var backlog = EventBacklog()
  var policy: OverloadPolicy
  var starts = Queue<Start>()
  var isTurnDue = false
  private var lastStatement: UInt64 = 0

  var subscriptions: [StreamID: Subscription] = [:]
  var index: [CommittedEvent.Topic: StreamList] = [:]
  var executions = SharedExecutions()
  /// Subscriptions with an event that waits for older transactions.
  var unsettled: [StreamID] = []
  var lookupCount = 0

  var queries: [StreamID: LiveQuery] = [:]
  var dependents: [Dependency: StreamList] = [:]
  /// Live queries that wait for their turn.
  var readyQueries = Queue<StreamID>()
  var runningQueries = 0
  /// The time at which live queries will have compensated for the time that they took.
  var liveBalance = Moment(nanoseconds: 0)

  var resolutions: [StreamID: Resolution] = [:]
  var sessions = MonitoredSessions()
  package var counts = Counts()

  package init(_ settings: Settings) {
    self.settings = settings
    policy = OverloadPolicy(maximum: settings.maximumStatements, patience: settings.patience)
  }

  /// The time at which `timePassed` is to be reported, unless something else happens before.
  package var nextDeadline: Moment? {
    mutating get { deadlines.next }
  }

  /// Appends to `actions` what follows from an event.
  package mutating func handle(
    _ event: RegistryEvent, at now: Moment, _ actions: inout [RegistryAction]
  ) {
    self.now = now
    switch event {
    case .joined(let statisticsResetAt): joined(statisticsResetAt)
    case .received(let batch): receive(batch)
    case .subscribe(let id, let source, let token): subscribe(id, source, from: token)
    case .query(let id, let source): add(id, source)
    case .resolve(let id, let since): resolve(id, since)
    case .monitor(let id, let viewer): monitor(id, viewer)
    case .cancel(let id): cancel(id)
    case .unread(let id): interrupt(id, "Too much waits for the client to read it.")
    case .keysRead(let statement, let result): keysRead(statement, result)
    case .missedRead(let statement, let result): missedRead(statement, result)
    case .executed(let statement, let outcome): executed(statement, outcome)
    case .queried(let statement, let outcome, let result): queried(statement, outcome, result)
    case .resolved(let id, let failure): resolved(id, failure)
    case .expiryRead(let id, let remaining): expiryRead(id, remaining)
    case .checked(let id, let state): checked(id, state)
    case .sessionsMayHaveEnded: checkAllSessions()
    case .timePassed: while let deadline = deadlines.popDue(now) { passed(deadline) }
    case .turn:
      isTurnDue = false
      takeTurns()
    }
    actions.append(contentsOf: self.actions)
    self.actions.removeAll(keepingCapacity: true)
  }

  private mutating func passed(_ deadline: Deadline) {
    switch deadline {
    case .lookup(let id): requeueLookup(id)
    case .work(let id): resume(id)
    case .query(let id): rested(id)
    case .interval(let id):
      touch(id)
      runReadyQueries()
    case .session(let id): check(id)
    case .starts, .liveBudget: takeTurns()
    }
  }

  mutating func newStatement(_ purpose: Purpose) -> StatementID {
    lastStatement += 1
    let id = StatementID(number: lastStatement)
    statements[id] = purpose
    return id
  }

  mutating func cancel(_ statement: StatementID) {
    guard statements.removeValue(forKey: statement) != nil else { return }
    actions.append(.cancel(statement))
  }

  // MARK: The commit reader

  /// Subscriptions, live queries, and monitored sessions need the reader.
  private var interest: Int { subscriptions.count + queries.count + sessions.count }

  mutating func needReader() {
    guard reader == .absent else { return }
    reader = .joining
    actions.append(.joinReader)
  }

  /// Leaves the reader if no stream needs it. Call after a stream has ended.
  mutating func releaseReader() {
    guard interest == 0, reader != .absent else { return }
    reader = .absent
    backlog.trim()
    actions.append(.leaveReader)
  }

  private mutating func joined(_ statisticsResetAt: String?) {
    guard reader == .joining else { return }
    self.statisticsResetAt = statisticsResetAt
    reader = .joined
    for id in sorted(subscriptions.keys) { beginLookup(id) }
    for id in sorted(queries.keys) { queue(id) }
    // Their ends in between were not reported.
    checkAllSessions()
    takeTurns()
  }

  private mutating func receive(_ batch: EventBatch) {
    guard reader == .joined else { return }
    if let crash = batch.crash { forget(crash) }
    if batch.hasGap {
      checkAllSessions()
      for id in sorted(subscriptions.keys) {
        interrupt(id, "Some of what happened is lost; subscribe again.")
      }
      // A live query needs no history: what it missed is in its next result.
      for id in sorted(queries.keys) { touch(id) }
    } else {
      if !batch.events.isEmpty { backlog.append(batch) }
      let position = backlog.end - 1
      for event in batch.events {
        switch event.topic.name {
        case "session": checkSessions(of: event.topic.key)
        case "rights": endSessions(of: event.topic.key)
        default: break
        }
        for id in index[event.topic]?.ids ?? [] { notify(id, of: event, in: batch, position) }
        guard !queries.isEmpty else { continue }
        for dependency in Dependency.touched(by: event) {
          for id in dependents[dependency]?.ids ?? [] { touch(id) }
        }
      }
      settle(by: batch.snapshot)
    }
    backlog.trim()
    takeTurns()
  }

  private mutating func forget(_ crash: CrashRecovery) {
    statisticsResetAt = crash.statisticsResetAt
    for id in subscriptions.keys { subscriptions[id]?.forget(from: crash.firstLost) }
    backlog.forget(from: crash.firstLost)
    executions.forget(from: crash.firstLost)
  }

  func sorted(_ ids: some Sequence<StreamID>) -> [StreamID] {
    ids.sorted { $0.number < $1.number }
  }

  // MARK: Turns

  /// Starts what may start, and executes what may be executed.
  mutating func takeTurns() {
    while policy.mayStart(now), let start = starts.popFirst() { begin(start) }
    if let rest = policy.restsUntil, rest > now, !starts.isEmpty {
      deadlines.set(.starts, at: rest)
    }
    executeReady()
    runReadyQueries()
  }

  /// Starts waiting streams after all events that arrived together with this one, because those may
  /// free more capacity.
  mutating func takeTurnsLater() {
    guard !isTurnDue, !starts.isEmpty || !executions.ready.isEmpty || !readyQueries.isEmpty else {
      return
    }
    isTurnDue = true
    actions.append(.takeTurns)
  }

  private mutating func begin(_ start: Start) {
    switch start {
    case .subscription(let id):
      guard case .queued? = subscriptions[id]?.lookup?.step else { return }
      policy.start()
      readKeys(id)
    case .query(let id):
      guard case .queued? = queries[id]?.phase else { return }
      policy.start()
      run(id)
    case .session(let id):
      guard resolutions[id] != nil else { return }
      policy.start()
      resolutions[id]?.isStarted = true
      actions.append(.resolve(id))
    }
  }

  // MARK: The end of a stream

  mutating func cancel(_ id: StreamID) {
    if subscriptions[id] != nil {
      remove(subscription: id)
    } else if queries[id] != nil {
      remove(query: id)
    } else if resolutions[id] != nil {
      remove(resolution: id)
    } else if sessions.remove(id) {
      deadlines.remove(.session(id))
      counts.sessions -= 1
      releaseReader()
    }
  }

  mutating func finish(_ id: StreamID, _ outcome: StatementOutcome) {
    cancel(id)
    actions.append(.finish(id, outcome))
  }

  mutating func interrupt(_ id: StreamID, _ reason: String) {
    guard subscriptions[id] != nil || queries[id] != nil else { return }
    cancel(id)
    actions.append(.interrupt(id, reason: reason))
  }
}
