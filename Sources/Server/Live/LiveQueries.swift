import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres

/// The live queries of one loop: what each hangs on, and which are to be run again. Everything happens on the loop.
///
/// A query is known under its keys (`LivePlan`): those of its plan from the beginning, those of its answer from when that
/// is there; what is told in between is kept for it. Of what is touched it is run again, and what it gives is sent where
/// it is another answer. At most one statement of each is under way, and they pause between, so that live queries leave
/// most of the database's time to others.
final class LiveQueries: @unchecked Sendable {
  // @unchecked: touched on the loop only.

  enum Key: Hashable {
    /// Touches of the topic with this key, or about this node.
    case key(topic: String, Int64)
    case node(topic: String, Int64)
    /// All touches of the topic, or those about nodes of one type.
    case all(topic: String)
    case tag(topic: String, Int)
  }

  private let loop: EventLoop
  private let runner: QueryRunner
  private let settings: LiveSettings
  /// Of the loop's connections, whose time is shared.
  private let connections: Int
  private var watched: [Key: [ObjectIdentifier: LiveQuery]] = [:]
  private var all: [ObjectIdentifier: LiveQuery] = [:]
  private var running: [ObjectIdentifier: LiveQuery] = [:]
  private var ready = RingBuffer<LiveQuery>()
  /// When what was spent is made up for.
  private var balance = ContinuousClock.now
  private var pause: LoopTimer?
  /// Called for each query that is gone.
  var onEnd: () -> Void = {}
  /// Called when a response with errors is sent.
  var onErrors: (RequestIdentity, [GraphQLError]) -> Void = { _, _ in }

  /// How many there are, for those who look.
  struct Counts: Sendable {
    var queries = 0
    /// Of all together.
    var keys = 0
    var runs: UInt64 = 0
    var sent: UInt64 = 0
  }

  private(set) var counts = Counts()

  init(
    loop: EventLoop, runner: QueryRunner, settings: LiveSettings, connections: Int
  ) {
    self.loop = loop
    self.runner = runner
    self.settings = settings
    self.connections = max(connections, 1)
  }

  // MARK: Queries

  func add(_ query: LiveQuery, isHeard: Bool) {
    all[ObjectIdentifier(query)] = query
    counts.queries += 1
    register(query, [])
    if isHeard { run(query) }
  }

  /// From now on changes are told.
  func joined() {
    for query in all.values where !query.isRunning {
      if query.answers.isEmpty { run(query) } else { touch(query) }
    }
  }

  /// Nobody wants its answers any more.
  func drop(_ query: LiveQuery) {
    guard !query.hasEnded else { return }
    query.hasEnded = true
    query.ticket?.cancel()
    query.ticket = nil
    query.timer = nil
    query.intervalTimer = nil
    query.heard = []
    all[ObjectIdentifier(query)] = nil
    running[ObjectIdentifier(query)] = nil
    forget(query, query.keys)
    query.keys = []
    counts.queries -= 1
    if query.isRunning {
      query.isRunning = false
      goOn()
    }
    onEnd()
  }

  private func finish(_ query: LiveQuery, _ response: OperationResponse) {
    guard !query.hasEnded else { return }
    drop(query)
    query.ended(response)
  }

  // MARK: Keys

  private func keys(_ query: LiveQuery, _ found: Set<LiveKey>) -> Set<Key> {
    var keys: Set<Key> = []
    for pattern in query.plan.patterns {
      guard let tags = pattern.tags else {
        keys.insert(.all(topic: pattern.topic))
        continue
      }
      for tag in tags { keys.insert(.tag(topic: pattern.topic, tag)) }
    }
    func add(_ topic: LivePlan.Topic, _ id: Int64) {
      if topic.isOwn, id != query.viewer { return }
      keys.insert(topic.isNode ? .node(topic: topic.name, id) : .key(topic: topic.name, id))
    }
    for topic in query.plan.viewerTopics { add(topic, query.viewer) }
    for key in found where query.plan.topics.indices.contains(key.topic) {
      add(query.plan.topics[key.topic], key.id)
    }
    return keys
  }

  private func register(_ query: LiveQuery, _ found: Set<LiveKey>) {
    let keys = keys(query, found)
    forget(query, query.keys.subtracting(keys))
    for key in keys.subtracting(query.keys) {
      watched[key, default: [:]][ObjectIdentifier(query)] = query
      counts.keys += 1
    }
    query.keys = keys
  }

  private func forget(_ query: LiveQuery, _ keys: Set<Key>) {
    for key in keys {
      guard watched[key]?.removeValue(forKey: ObjectIdentifier(query)) != nil else { continue }
      counts.keys -= 1
      if watched[key]?.isEmpty == true { watched[key] = nil }
    }
  }

  private static func keys(of news: News) -> [Key] {
    let name = news.topic.name
    return [
      .key(topic: name, news.topic.key), .node(topic: name, news.node), .all(topic: name),
      .tag(topic: name, Int(news.node & 255)),
    ]
  }

  // MARK: News

  /// So much is remembered for a query that is running; of more it is run again, whatever it was.
  private static let maximumHeard = 10_000

  func receive(_ batch: NewsBatch) {
    guard !all.isEmpty else { return }
    if batch.hasGap {
      // An answer needs no history: what was missed is in the next one.
      for query in all.values { touch(query) }
      return
    }
    for query in running.values where !query.isDirty {
      query.heard += batch.news
      if query.heard.count > Self.maximumHeard { query.isDirty = true }
    }
    for news in batch.news {
      for key in Self.keys(of: news) {
        guard let queries = watched[key] else { continue }
        for query in queries.values { touch(query) }
      }
    }
  }

  private func touch(_ query: LiveQuery) {
    guard !query.hasEnded else { return }
    if query.isRunning {
      query.isDirty = true
      query.heard = []
    } else {
      plan(query)
    }
  }

  // MARK: Turns

  /// Has it run when it may.
  private func plan(_ query: LiveQuery) {
    guard !query.isWaiting, !query.isRunning, !query.hasEnded else { return }
    query.isWaiting = true
    let wait = ContinuousClock.now.duration(to: query.rest)
    guard wait > .zero else { return queue(query) }
    query.timer = loop.schedule(after: wait) { [weak self, weak query] in
      guard let self, let query else { return }
      query.timer = nil
      self.queue(query)
    }
  }

  private func queue(_ query: LiveQuery) {
    ready.append(query)
    goOn()
  }

  /// So many at once as the database has use for, while there is something of their share of its time.
  private func goOn() {
    while !ready.isEmpty, running.count < settings.deliveries {
      let debt = ContinuousClock.now.duration(to: balance)
      guard debt <= settings.liveBurst else {
        guard pause == nil else { return }
        pause = loop.schedule(after: debt - settings.liveBurst) { [weak self] in
          self?.pause = nil
          self?.goOn()
        }
        return
      }
      guard let query = ready.popFirst() else { return }
      query.isWaiting = false
      if !query.hasEnded { run(query) }
    }
  }

  private func run(_ query: LiveQuery) {
    query.isRunning = true
    query.isDirty = false
    query.heard = []
    query.intervalTimer = nil
    running[ObjectIdentifier(query)] = query
    counts.runs &+= 1
    let began = ContinuousClock.now
    let ticket = runner.run(query.operation, query.response, viewer: query.viewer) {
      [self] outcome in
      guard query.isRunning else { return }
      query.ticket = nil
      query.isRunning = false
      running[ObjectIdentifier(query)] = nil
      let cost = Duration.nanoseconds(Int64(clamping: outcome.times.asking))
      charge(cost)
      query.rest = began + max(settings.livePause, cost * 10)
      answer(query, outcome)
      if !ready.isEmpty { loop.afterThisBatch { [weak self] in self?.goOn() } }
    }
    if query.isRunning { query.ticket = ticket }
  }

  /// What a statement took of the time of one connection is waited for, so that they have their share of all.
  private func charge(_ cost: Duration) {
    let wait = cost * 100 / (settings.livePercent * connections)
    balance = max(balance, ContinuousClock.now) + wait
  }

  private func answer(_ query: LiveQuery, _ outcome: OperationOutcome) {
    switch outcome.response {
    case .executed(let body, let errors, _):
      query.failures = 0
      let found = outcome.dependencies
      guard found.count <= settings.maximumLiveKeys else {
        return finish(
          query,
          .refused([
            GraphQLError(
              "The answer hangs on more than \(settings.maximumLiveKeys) objects, which is too much "
                + "to be live. Ask for less.", code: .liveUnsupported)
          ]))
      }
      register(query, found)
      let isMissed = query.heard.contains { news in
        Self.keys(of: news).contains { query.keys.contains($0) }
      }
      query.heard = []
      if send(query, body), !errors.isEmpty { onErrors(query.operation.identity, errors) }
      guard !query.hasEnded else { return }
      if query.isDirty || isMissed { plan(query) }
      if let interval = query.interval {
        query.intervalTimer = loop.schedule(after: interval) { [weak self, weak query] in
          guard let self, let query else { return }
          query.intervalTimer = nil
          self.touch(query)
        }
      }
    case .refused(let errors, _) where mayRunAgain(query, after: errors):
      query.failures += 1
      let pause = min(Duration.milliseconds(50) * (1 << min(query.failures, 6)), .seconds(2))
      query.rest = ContinuousClock.now + pause
      plan(query)
    case .refused: finish(query, outcome.response)
    }
  }

  /// The first answer waits for a place in the queue, and all others for the database.
  private func mayRunAgain(_ query: LiveQuery, after errors: [GraphQLError]) -> Bool {
    guard query.answers.isEmpty else { return LiveHub.isPassing(errors) }
    return errors.first?.code == .serviceOverloaded
      && query.began.duration(to: .now) < settings.patience
  }

  /// - Returns: whether there was anything to send: the response is another than the last one.
  private func send(_ query: LiveQuery, _ body: [UInt8]) -> Bool {
    guard let message = query.answers.next(body) else { return false }
    counts.sent &+= 1
    if !query.sink.next(message, to: nil) {
      drop(query)
      query.sink.interrupt("Too much waits for the client to read it.")
    }
    return true
  }
}
