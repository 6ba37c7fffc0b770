import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres
import SQL
import Subscriptions

/// Who watches what on one loop, and what they are still to be told. Everything happens on the loop.
///
/// A subscription asks for its keys and a snapshot, and hears of what is not in that: news that come before the
/// answer are kept for it. For each it is told of, its statement is run as any query's is, for its viewer, and what the
/// viewer may not see is told to nobody. One at a time for each subscription, so in order.
final class LiveHub: @unchecked Sendable {
  // @unchecked: touched on the loop only.
  private let loop: EventLoop
  private let number: Int
  /// Nil where the graph has nothing to watch.
  private let reader: NewsReader?
  private let runner: QueryRunner
  private let starter: SubscriptionRunner
  private let pool: PostgresPool
  private let settings: LiveSettings

  private var watches: [News.Topic: [ObjectIdentifier: Watch]] = [:]
  private var starting: [ObjectIdentifier: Watch] = [:]
  /// Those whose turn to ask for their keys has not come: as many ask at once as the database has use for, and none is
  /// refused because all come back together.
  private var waiting = RingBuffer<Watch>()
  /// Those that have asked while too much waited for the database, and are to ask again before the others.
  private var deferred = RingBuffer<Watch>()
  private var asking = 0
  /// How many may ask at once: as many as are not told that too much waits.
  private var room: Int
  /// None asks while it runs.
  private var rest: LoopTimer?
  private var unsettled: [ObjectIdentifier: Watch] = [:]
  /// Those that still know from where on they hear.
  private var recent: [ObjectIdentifier: Watch] = [:]
  /// What to look at when something becomes of a user's sessions.
  private var sessions: [Int64: [ObjectIdentifier: SessionWatch]] = [:]
  private let deliveries: LiveDeliveries
  /// Those that are answered again.
  private let queries: LiveQueries
  /// Called when a response with errors is sent for an event.
  var onErrors: (RequestIdentity, [GraphQLError]) -> Void = { _, _ in }
  /// `Crash.beginning` of the last.
  private var crash: String?
  private var hasJoined = false
  private var isJoining = false
  /// Subscriptions, live queries, and sessions that sockets and streams last no longer than.
  private var interest = 0
  private var count = 0
  private var delivered: UInt64 = 0

  /// How many there are, for those who look.
  struct Counts: Sendable {
    var starting = 0
    var hearing = 0
    /// Under which they hear, of all together.
    var keys = 0
    /// That sockets and streams last no longer than.
    var sessions = 0
    var delivered: UInt64 = 0
    var live = LiveQueries.Counts()
  }

  var counts: Counts {
    let starting = starting.count
    return Counts(
      starting: starting, hearing: count - starting,
      keys: watches.values.reduce(0) { $0 + $1.count },
      sessions: sessions.values.reduce(0) { $0 + $1.count }, delivered: delivered,
      live: queries.counts)
  }

  init(
    loop: EventLoop, number: Int, reader: NewsReader?, runner: QueryRunner, pool: PostgresPool,
    settings: LiveSettings
  ) {
    self.loop = loop
    self.number = number
    self.reader = reader
    self.runner = runner
    starter = SubscriptionRunner(on: pool)
    self.pool = pool
    self.settings = settings
    room = settings.deliveries
    queries = LiveQueries(
      loop: loop, runner: runner, settings: settings, connections: pool.settings.size)
    deliveries = LiveDeliveries(loop: loop, runner: runner, maximum: settings.deliveries)
    queries.onEnd = { [unowned self] in end() }
    queries.onErrors = { [unowned self] in onErrors($0, $1) }
    deliveries.onAnswer = { [unowned self] in answer($0, $1, $2) }
  }

  // MARK: Interest

  private func begin() {
    interest += 1
    guard !hasJoined, !isJoining else { return }
    isJoining = true
    let loop = loop
    reader?.join(
      number,
      NewsReader.Listener(
        joined: { [self] crash in loop.execute { [self] in joined(crash) } },
        receive: { [self] batch in loop.execute { [self] in receive(batch) } }))
  }

  private func end() {
    interest -= 1
    guard interest == 0 else { return }
    hasJoined = false
    isJoining = false
    reader?.leave(number)
  }

  private func joined(_ crash: String?) {
    guard isJoining else { return }
    self.crash = crash
    isJoining = false
    hasJoined = true
    for watch in starting.values { ask(watch) }
    queries.joined()
    // What became of them while nobody listened is not told.
    lookAtAllSessions()
  }

  // MARK: Sessions

  func add(_ session: SessionWatch, of viewer: Int64) {
    sessions[viewer, default: [:]][ObjectIdentifier(session)] = session
    begin()
  }

  func remove(_ session: SessionWatch, of viewer: Int64) {
    guard sessions[viewer]?.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
    if sessions[viewer]?.isEmpty == true { sessions[viewer] = nil }
    end()
  }

  private func lookAtAllSessions() {
    for session in sessions.values.flatMap(\.values) { session.look() }
  }

  // MARK: Live queries

  /// - Parameter ended: called when it has ended by itself.
  func keepAnswering(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LivePlan,
    viewer: Int64, sink: any ResponseSink, ended: @escaping (OperationResponse) -> Void
  ) -> LiveQuery? {
    guard let live = operation.live, reader != nil else { return nil }
    let query = LiveQuery(operation, response, plan, live, viewer: viewer, sink: sink, ended: ended)
    begin()
    queries.add(query, isHeard: hasJoined)
    return query
  }

  /// Nobody wants its answers any more.
  func drop(_ query: LiveQuery) { queries.drop(query) }

  // MARK: Subscriptions

  /// - Parameter ended: called when it has ended by itself.
  func watch(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    viewer: Int64, from resume: ResumePoint? = nil, sink: any ResponseSink,
    ended: @escaping (OperationResponse) -> Void
  ) -> Watch? {
    guard reader != nil else { return nil }
    let watch = Watch(operation, response, event, viewer: viewer, sink: sink, ended: ended)
    watch.told = resume?.told
    watch.resume = resume
    count += 1
    starting[ObjectIdentifier(watch)] = watch
    begin()
    if hasJoined { ask(watch) }
    return watch
  }

  /// Nobody wants to hear any more.
  func drop(_ watch: Watch) {
    if case .ended = watch.state { return }
    watch.state = .ended
    asked(watch)
    deliveries.drop(watch)
    watch.question?.cancel()
    watch.question = nil
    watch.queue = []
    starting[ObjectIdentifier(watch)] = nil
    unsettled[ObjectIdentifier(watch)] = nil
    recent[ObjectIdentifier(watch)] = nil
    watch.retry = nil
    forget(watch)
    count -= 1
    end()
  }

  private func forget(_ watch: Watch) {
    for topic in watch.topics {
      watches[topic]?[ObjectIdentifier(watch)] = nil
      if watches[topic]?.isEmpty == true { watches[topic] = nil }
    }
    watch.topics = []
  }

  private func finish(_ watch: Watch, _ response: OperationResponse) {
    drop(watch)
    watch.ended(response)
  }

  private func ask(_ watch: Watch) {
    waiting.append(watch)
    askNext()
  }

  private func askNext() {
    while rest == nil, asking < room, let watch = deferred.popFirst() ?? waiting.popFirst() {
      if watch.state != .ended { askNow(watch) }
    }
  }

  private func asked(_ watch: Watch) {
    guard watch.isAsking else { return }
    watch.isAsking = false
    asking -= 1
    guard !waiting.isEmpty || !deferred.isEmpty else { return }
    loop.afterThisBatch { [weak self] in self?.askNext() }
  }

  private func mayAskLater(_ watch: Watch, _ errors: [GraphQLError]) -> Bool {
    errors.first?.code == .serviceOverloaded && watch.began.duration(to: .now) < settings.patience
  }

  /// Too much waits for the database: whoever only begins does not make it more.
  private func askLater(_ watch: Watch) {
    deferred.append(watch)
    asked(watch)
    room = max(room / 2, 1)
    guard rest == nil else { return }
    rest = loop.schedule(after: .milliseconds(20)) { [weak self] in
      self?.rest = nil
      self?.askNext()
    }
  }

  private func askNow(_ watch: Watch) {
    watch.isAsking = true
    asking += 1
    watch.question = starter.start(watch.operation, watch.subscription, viewer: watch.viewer) {
      [self] result in
      watch.question = nil
      if case .ended = watch.state { return }
      switch result {
      case .success(let start):
        guard let snapshot = PostgresSnapshot(start.snapshot) else { return asked(watch) }
        let keys = start.keys
        if watch.event.isCompared, watch.lastHash == nil {
          compare(watch, keys, snapshot)
        } else if let resume = watch.resume {
          watch.resume = nil
          catchUp(watch, keys, snapshot, from: resume)
        } else {
          hear(watch, keys, snapshot)
        }
      case .failure(let refusal) where Self.isPassing(refusal.errors) && !watch.topics.isEmpty:
        asked(watch)
        again(watch) { [self] in ask(watch) }
      case .failure(let refusal) where mayAskLater(watch, refusal.errors): askLater(watch)
      case .failure(let refusal): finish(watch, .refused(refusal.errors))
      }
    }
  }

  /// Asks for what is so at the beginning, before it hears: only what is another then is told. Who comes back is told it
  /// where it is not what they say they were told last, whether or not there were news.
  private func compare(_ watch: Watch, _ keys: [Int64], _ snapshot: PostgresSnapshot) {
    var isAnswered = false
    let ticket = runner.run(watch.operation, watch.response, viewer: watch.viewer) {
      [self] outcome in
      let response = outcome.response
      isAnswered = true
      watch.question = nil
      if case .ended = watch.state { return }
      switch response {
      case .executed(let body, _, _):
        let resume = watch.resume
        watch.resume = nil
        watch.told = snapshot
        _ = isNew(body, watch)
        let isTold = resume == nil || resume?.last?.mark == ResponseMark(of: body)
        if body == watch.event.nullBody {
          _ = watch.sink.next(body, to: point(of: watch, body))
          return finish(watch, response)
        }
        if !isTold {
          delivered += 1
          guard watch.sink.next(body, to: point(of: watch, body)) else {
            return interrupt(watch, Self.unread)
          }
        }
        hear(watch, keys, snapshot)
      case .refused(let errors, _) where mayAskLater(watch, errors): askLater(watch)
      case .refused: finish(watch, response)
      }
    }
    if !isAnswered { watch.question = ticket }
  }

  private static let missed = PostgresStatement(
    """
    SELECT n.key, n.node, n.xid::text::bigint, \(Crash.beginning)::text
    FROM (SELECT 1) o LEFT JOIN \(GraphContract.newsSince)($1::text::pg_snapshot) n ON n.topic = $2::text
    ORDER BY n.node, n.xid
    """, parameterCount: 2, label: StatementLabel("(news)"))

  /// Tells who comes back what happened since they were told last: first what is left of the look they left amid.
  private func catchUp(
    _ watch: Watch, _ keys: [Int64], _ snapshot: PostgresSnapshot, from resume: ResumePoint
  ) {
    var parameters = PostgresParameters()
    parameters.append(resume.told.text)
    parameters.append(watch.event.topic)
    watch.question = pool.execute(Self.missed, parameters) { [self] outcome, _ in
      watch.question = nil
      if case .ended = watch.state { return }
      switch outcome {
      case .success(let result):
        guard result.rowCount > 0, resume.crash == result.string(row: 0, column: 3) else {
          let text = "PostgreSQL has ended by a crash since; subscribe anew."
          return finish(watch, .refused([GraphQLError(text, code: .tokenExpired)]))
        }
        let keys = Set(keys)
        var later: [News] = []
        for row in 0..<result.rowCount {
          guard let key = result.integer(row: row, column: 0), keys.contains(key),
            let node = result.integer(row: row, column: 1),
            let transaction = result.integer(row: row, column: 2),
            snapshot.contains(UInt64(max(transaction, 0)))
          else { continue }
          guard let part = resume.part, part.look.contains(UInt64(max(transaction, 0))) else {
            let topic = News.Topic(name: watch.event.topic, key: key)
            later.append(News(topic: topic, node: node, transaction: UInt64(max(transaction, 0))))
            continue
          }
          if node > part.node { add(watch, node, part.look) }
        }
        if watch.queue.isEmpty, let part = resume.part { watch.told = part.look }
        for news in later { add(watch, news, snapshot) }
        if watch.state == .starting { hear(watch, Array(keys), snapshot) }
      case .failure(let error):
        let response = OperationResponse.failure(error)
        if case .refused(let errors, _) = response, mayAskLater(watch, errors) {
          watch.resume = resume
          askLater(watch)
        } else {
          finish(watch, response)
        }
      }
    }
  }

  private func hear(_ watch: Watch, _ keys: [Int64], _ snapshot: PostgresSnapshot) {
    let isRenewed = watch.since != nil || watch.state == .hearing
    asked(watch)
    room = min(room + 1, settings.deliveries)
    forget(watch)
    watch.failures = 0
    watch.topics = Set(keys).map { News.Topic(name: watch.event.topic, key: $0) }
    for topic in watch.topics { watches[topic, default: [:]][ObjectIdentifier(watch)] = watch }
    if !isRenewed {
      watch.since = snapshot
      watch.told = watch.told ?? snapshot
      recent[ObjectIdentifier(watch)] = watch
    }
    watch.state = .hearing
    starting[ObjectIdentifier(watch)] = nil
    let missed = watch.missed
    watch.missed = []
    if watch.isStale {
      // What made the keys others came while they were asked for.
      watch.isStale = false
      watch.missed = missed
      starting[ObjectIdentifier(watch)] = watch
      return ask(watch)
    }
    for batch in missed {
      for news in batch.news where watch.topics.contains(news.topic) {
        if isRenewed { add(watch, news, batch.snapshot) } else { tell(watch, news, in: batch) }
      }
    }
    deliveries.enqueue(watch)
  }

  // MARK: News

  private func receive(_ batch: NewsBatch) {
    guard hasJoined else { return }
    if let crash = batch.crash { forget(crash) }
    queries.receive(batch)
    if batch.hasGap {
      lookAtAllSessions()
      return interruptAll()
    }
    for watch in starting.values where !batch.news.isEmpty { watch.missed.append(batch) }
    for news in batch.news {
      if news.topic.name == "session" {
        for session in (sessions[news.topic.key] ?? [:]).values { session.look() }
      }
      for watch in (watches[news.topic] ?? [:]).values { tell(watch, news, in: batch) }
    }
    for watch in unsettled.values { settle(watch, by: batch.snapshot) }
    if !batch.news.isEmpty { return }
    // A quiet moment: what cannot come any more need not be remembered.
    for (key, watch) in recent {
      guard let since = watch.since, batch.snapshot.first < since.end else {
        watch.since = nil
        recent[key] = nil
        continue
      }
    }
  }

  private func forget(_ crash: Crash) {
    self.crash = crash.beginning
    for watch in Array(starting.values) + watches.values.flatMap(\.values) {
      watch.forget(from: crash.firstLost)
    }
  }

  private func tell(_ watch: Watch, _ news: News, in batch: NewsBatch) {
    if let since = watch.since, since.contains(news.transaction) { return }
    // Who hears under a key below zero may be others after each time.
    if watch.event.hasSet || news.topic.key < 0, !watch.event.readsNode { renew(watch, batch) }
    add(watch, news, batch.snapshot)
  }

  private func add(_ watch: Watch, _ news: News, _ snapshot: PostgresSnapshot) {
    if watch.event.isSettled, news.transaction >= snapshot.first {
      watch.unsettled = max(watch.unsettled ?? 0, news.transaction)
      unsettled[ObjectIdentifier(watch)] = watch
      return
    }
    add(watch, news.node, snapshot)
  }

  /// Asks for the keys anew, as they may be others by now; under new ones it hears from this batch on.
  private func renew(_ watch: Watch, _ batch: NewsBatch) {
    guard starting[ObjectIdentifier(watch)] == nil else {
      watch.isStale = true
      return
    }
    watch.isStale = false
    starting[ObjectIdentifier(watch)] = watch
    watch.missed = [batch]
    ask(watch)
  }

  private func settle(_ watch: Watch, by snapshot: PostgresSnapshot) {
    guard let transaction = watch.unsettled, transaction < snapshot.first else { return }
    watch.unsettled = nil
    unsettled[ObjectIdentifier(watch)] = nil
    add(watch, 0, snapshot)
  }

  private func add(_ watch: Watch, _ node: Int64, _ snapshot: PostgresSnapshot) {
    let due = Watch.Due(node: node, snapshot: snapshot)
    if !watch.event.readsNode {
      watch.queue = [due]
    } else {
      guard watch.queue.count < settings.maximumQueue else {
        return interrupt(watch, "Too much happens to be told.")
      }
      watch.queue.append(due)
    }
    if case .hearing = watch.state { deliveries.enqueue(watch) }
  }

  private func interruptAll() {
    let all = Array(starting.values) + watches.values.flatMap(\.values)
    for watch in all { interrupt(watch, "Some of what happened is lost; subscribe again.") }
  }

  private func interrupt(_ watch: Watch, _ reason: String) {
    if case .ended = watch.state { return }
    drop(watch)
    watch.sink.interrupt(reason)
  }

  // MARK: Answers

  private func answer(_ watch: Watch, _ due: Watch.Due, _ response: OperationResponse) {
    let isAllOfLook = watch.queue.first?.snapshot != due.snapshot
    if isAllOfLook { watch.told = due.snapshot }
    let part = isAllOfLook ? nil : ResumePoint.Part(look: due.snapshot, node: due.node)
    switch response {
    case .executed(let body, let errors, _):
      watch.failures = 0
      if body == watch.event.nullBody {
        if watch.event.endsWithNull {
          _ = watch.sink.next(body, to: point(of: watch, body, part))
          return finish(watch, response)
        }
      } else if isNew(body, watch) {
        delivered += 1
        if !errors.isEmpty { onErrors(watch.operation.identity, errors) }
        let point = point(of: watch, body, part)
        guard watch.sink.next(body, to: point, isFollowed: !watch.queue.isEmpty) else {
          return interrupt(watch, Self.unread)
        }
      }
    case .refused(let errors, _) where Self.isPassing(errors):
      watch.queue.insert(due, at: 0)
      return again(watch) { [self] in deliveries.enqueue(watch) }
    case .refused: return finish(watch, response)
    }
    deliveries.enqueue(watch)
  }

  private static let unread = "Too much waits for the client to read it."

  private func point(
    of watch: Watch, _ body: [UInt8], _ part: ResumePoint.Part? = nil
  ) -> ResumePoint? {
    watch.told.map {
      ResumePoint(
        told: $0, part: part, crash: crash, last: watch.event.isCompared ? .response(body) : nil)
    }
  }

  private func isNew(_ body: [UInt8], _ watch: Watch) -> Bool {
    guard !watch.event.readsNode else { return true }
    let hash = body.hashValue
    defer { watch.lastHash = hash }
    return watch.lastHash != hash
  }

  /// Errors that say nothing about the operation.
  static func isPassing(_ errors: [GraphQLError]) -> Bool {
    switch errors.first?.code {
    case .databaseUnavailable, .serviceOverloaded, .timeout, .lockTimeout: true
    default: false
    }
  }

  private func again(_ watch: Watch, _ work: @escaping () -> Void) {
    watch.failures += 1
    let pause = min(Duration.milliseconds(50) * (1 << min(watch.failures, 6)), .seconds(2))
    watch.retry = loop.schedule(after: pause) { [weak watch] in
      guard let watch else { return }
      watch.retry = nil
      if case .ended = watch.state { return }
      work()
    }
  }
}
