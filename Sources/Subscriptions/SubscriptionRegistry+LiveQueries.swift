import EventLoops
import GraphQLResponse

/// The repeated execution of live queries.
///
/// A live query is registered under its dependencies: those of its plan from the start, and those
/// of its result from then on. Events during an execution are compared with the dependencies of its
/// result. Executions of one query never overlap, and pause in between, so that live queries leave
/// most of the connections' time to others.
extension SubscriptionRegistry {
  /// The number of events during an execution beyond which the query is executed again without a
  /// comparison.
  private static let maximumCompared = 10_000

  mutating func add(_ id: StreamID, _ source: LiveQuerySource) {
    queries[id] = LiveQuery(source, now)
    counts.queries += 1
    register(query: id, source.dependencies)
    needReader()
    guard reader == .joined else { return }
    queue(id)
    takeTurns()
  }

  /// The first execution waits for its turn to start.
  mutating func queue(_ id: StreamID) {
    queries[id]?.phase = .queued
    starts.append(.query(id))
  }

  // MARK: Dependencies

  private mutating func register(query id: StreamID, _ dependencies: Set<Dependency>) {
    guard let known = queries[id]?.dependencies else { return }
    for dependency in known where !dependencies.contains(dependency) {
      unregister(query: id, dependency)
    }
    for dependency in dependencies where !known.contains(dependency) {
      dependents[dependency, default: StreamList()].insert(id)
      counts.dependencies += 1
    }
    queries[id]?.dependencies = dependencies
  }

  private mutating func unregister(query id: StreamID, _ dependency: Dependency) {
    dependents[dependency]?.remove(id)
    if dependents[dependency]?.isEmpty == true { dependents[dependency] = nil }
    counts.dependencies -= 1
  }

  // MARK: Turns

  /// A dependency was touched, or the polling interval is over.
  mutating func touch(_ id: StreamID) {
    switch queries[id]?.phase {
    case .running(let statement, let position, _):
      queries[id]?.phase = .running(statement, position: position, isDirty: true)
    case .idle: plan(id)
    case .waiting, .queued, .resting, .ready, nil: break
    }
  }

  private mutating func plan(_ id: StreamID) {
    guard let rest = queries[id]?.restsUntil else { return }
    if rest > now {
      queries[id]?.phase = .resting
      deadlines.set(.query(id), at: rest)
    } else {
      queries[id]?.phase = .ready
      readyQueries.append(id)
    }
  }

  /// Its pause is over.
  mutating func rested(_ id: StreamID) {
    guard case .resting? = queries[id]?.phase else { return }
    queries[id]?.phase = .ready
    readyQueries.append(id)
    runReadyQueries()
  }

  /// Executes live queries while their share of the connections' time lasts.
  mutating func runReadyQueries() {
    while !readyQueries.isEmpty, runningQueries < settings.maximumStatements {
      let earliest = liveBalance - settings.liveBurst
      guard earliest <= now else { return deadlines.set(.liveBudget, at: earliest) }
      guard let id = readyQueries.popFirst() else { return }
      if case .ready? = queries[id]?.phase { run(id) }
    }
  }

  mutating func run(_ id: StreamID) {
    let statement = newStatement(.query(id))
    backlog.open(at: backlog.end)
    queries[id]?.phase = .running(statement, position: backlog.end, isDirty: false)
    queries[id]?.startedAt = now
    deadlines.remove(.interval(id))
    runningQueries += 1
    counts.executions &+= 1
    actions.append(.query(statement, id))
  }

  // MARK: Results

  mutating func queried(
    _ statement: StatementID, _ outcome: StatementOutcome, _ result: LiveResult
  ) {
    guard case .query(let id)? = statements.removeValue(forKey: statement),
      let query = queries[id], case .running(_, let position, let isDirty) = query.phase
    else { return }
    runningQueries -= 1
    queries[id]?.phase = .idle
    // The time that a statement took is made up for, so that live queries have their share of all.
    let wait = result.cost * 100 / (max(settings.livePercent, 1) * max(settings.connections, 1))
    liveBalance = max(liveBalance, now) + wait
    queries[id]?.restsUntil = query.startedAt + max(settings.livePause, result.cost * 10)
    switch outcome {
    case .response(let body, let errors):
      if query.responses.isEmpty { policy.succeed() }
      guard result.objectCount <= settings.maximumLiveDependencies else {
        backlog.close(position)
        return finish(id, .failed([tooManyDependencies(result.objectCount)]))
      }
      queries[id]?.failures = 0
      let dependencies = query.source.dependencies.union(result.dependencies)
      register(query: id, dependencies)
      if isDirty || isTouched(dependencies, since: position) { plan(id) }
      backlog.close(position)
      if let interval = query.source.interval {
        deadlines.set(.interval(id), at: now + interval)
      }
      send(id, body, errors)
    case .failed(let errors):
      backlog.close(position)
      failed(id, query, errors)
    }
    backlog.trim()
    takeTurnsLater()
  }

  private mutating func send(_ id: StreamID, _ body: [UInt8], _ errors: [GraphQLError]) {
    guard let response = queries[id]?.responses.next(body) else { return }
    counts.queryResponses &+= 1
    if !errors.isEmpty { actions.append(.report(id, errors)) }
    actions.append(.send(id, response, nil, isFollowed: false))
  }

  private mutating func failed(_ id: StreamID, _ query: LiveQuery, _ errors: [GraphQLError]) {
    let isFirst = query.responses.isEmpty
    let stage: OverloadPolicy.Stage =
      isFirst ? .starting(since: query.began) : .serving(failures: query.failures + 1)
    switch policy.verdict(on: errors, of: stage, now) {
    case .requeue:
      queries[id]?.phase = .queued
      starts.prepend(.query(id))
      policy.overload(now)
    case .retry(let pause):
      queries[id]?.failures += 1
      queries[id]?.restsUntil = now + pause
      plan(id)
    case .fail:
      if isFirst { policy.end() }
      finish(id, .failed(errors))
    }
  }

  private func tooManyDependencies(_ count: Int) -> GraphQLError {
    GraphQLError(
      "The query depends on \(count) objects; a live query may depend on at most "
        + "\(settings.maximumLiveDependencies). Request smaller pages.", code: .liveUnsupported)
  }

  private func isTouched(_ dependencies: Set<Dependency>, since position: Int) -> Bool {
    var count = 0
    for (_, batch) in backlog.batches(from: position) {
      count += batch.events.count
      guard count <= Self.maximumCompared else { return true }
      for event in batch.events
      where Dependency.touched(by: event).contains(where: dependencies.contains) { return true }
    }
    return false
  }

  mutating func remove(query id: StreamID) {
    guard let query = queries[id] else { return }
    if case .running(let statement, let position, _) = query.phase {
      cancel(statement)
      runningQueries -= 1
      if query.responses.isEmpty { policy.end() }
      backlog.close(position)
    }
    for dependency in query.dependencies { unregister(query: id, dependency) }
    deadlines.remove(.query(id))
    deadlines.remove(.interval(id))
    queries[id] = nil
    counts.queries -= 1
    backlog.trim()
    releaseReader()
    takeTurnsLater()
  }
}
