import EventLoops
import GraphQLResponse
import OracleSupport

@testable import Subscriptions

/// An event loop with a registry, clients, a commit reader, and statements that take their time or fail. Each step is one
/// thing that happens next, drawn at random.
///
/// Clients remember what they received. `difference` says where that is not what the naive model expects.
struct SimulatedLoop {
  /// What a client asked for.
  enum Kind {
    /// Every item under a key.
    case items(Int64)
    /// The value of a place, whenever it changes.
    case value(Int64)
    /// The values of a group's members, whose keys change with the members.
    case group(Int64)
    /// From when to when a log has new entries.
    case log(Int64)
    /// A live query for the values of a group's members.
    case live(Int64)
    case session(Int64)
    case resolution
  }

  struct Client {
    let kind: Kind
    var id: StreamID
    var token: ResumeToken?
    /// Events that are visible in it are not expected.
    var baseline: PostgresSnapshot?
    var nodes: [Int64] = []
    var ranges: [ClosedRange<UInt64>] = []
    /// The last response, or the result at the start.
    var last: String?
    var isOver = false
    /// It continued from a token, and events may be in another order.
    var hasResumed = false
    /// Responses since it subscribed.
    var received = 0
    var endings = 0
    var expiresAt = Moment(nanoseconds: .max)
  }

  /// A statement on its way: first it is executed, then its result arrives.
  private enum Statement {
    case keys(StatementID, StreamID)
    case missed(StatementID, StreamID, String, PostgresSnapshot)
    case execute(StatementID, StreamID, EventParameters)
    case query(StatementID, StreamID)
    case resolve(StreamID)
    case expiry(StreamID)
    case check(StreamID)
    case result(RegistryEvent)
  }

  static let settings = {
    var settings = SubscriptionRegistry.Settings()
    settings.maximumStatements = 4
    settings.maximumQueue = 50
    settings.patience = .seconds(5)
    settings.connections = 4
    return settings
  }()

  private(set) var random: SeededGenerator
  private(set) var database = SimulatedDatabase()
  private(set) var registry = SubscriptionRegistry(settings)
  private var now = Moment(nanoseconds: 1_000_000_000)
  private var statements: [Statement] = []
  private(set) var clients: [Client] = []
  private var places: [StreamID: Int] = [:]
  /// What each stream is, also of one that has ended and shares a statement with others.
  private var kinds: [StreamID: Kind] = [:]
  private var lastID: UInt64 = 0
  private var isJoined = false
  private var isJoining = false
  private var snapshot: PostgresSnapshot?
  private var crash: CrashRecovery?
  private var isTurnDue = false
  /// Nothing fails, and nothing new happens.
  private var isCalm = false
  /// While it lasts, most statements are refused.
  private var isOverloaded = false
  private(set) var problems: [String] = []
  private(set) var responses = 0
  private var performed = 0
  private var lastActions: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    for key in 0..<SimulatedDatabase.places {
      for _ in 0..<2 { add(.items(key)) }
      add(.value(key))
      add(.value(key))
      add(.log(key))
      add(.session(key))
    }
    for group in 0..<SimulatedDatabase.groups {
      for _ in 0..<2 { add(.group(group)) }
      for _ in 0..<2 { add(.live(group)) }
    }
  }

  private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  // MARK: Steps

  mutating func step() {
    switch draw(100) {
    case 0..<6: if database.open.count < 5 { database.begin() }
    case 6..<18: database.change(&random)
    case 18..<25: database.end(&random, commits: draw(5) > 0)
    case 25..<33: poll()
    case 33..<83: progress()
    case 83..<90: pass(.milliseconds(draw(40)))
    case 90..<96: if isTurnDue { turn() }
    case 96:
      let over = clients.indices.filter { clients[$0].isOver }
      reconnect(draw(2) == 0 ? over.randomElement(using: &random) : draw(clients.count))
    case 97: if draw(20) == 0 { isOverloaded.toggle() }
    case 98: if draw(8) == 0 { crashNow() }
    default: if draw(4) == 0 { add(.resolution) }
    }
    let most = Self.settings.maximumStatements
    if registry.policy.starting > most || registry.executions.count > most
      || registry.runningQueries > 2 * most
    {
      problem("more is under way than may be")
    }
  }

  /// Lets everything come to its end, without failures.
  mutating func settle() {
    isCalm = true
    isOverloaded = false
    while !database.open.isEmpty { database.end(&random, commits: true) }
    for place in clients.indices where clients[place].isOver { reconnect(place) }
    var quiet = 0
    var rounds = 0
    while quiet < 60 {
      rounds += 1
      guard rounds < 5_000 else { return problem("it does not come to rest: \(lastActions)") }
      let before = performed
      poll()
      while !statements.isEmpty { progress() }
      if isTurnDue { turn() }
      pass(.milliseconds(50))
      quiet = before == performed ? quiet + 1 : 0
    }
    isCalm = false
  }

  /// Forgets what everybody has received, so that memory stays flat.
  mutating func forget() {
    database.forgetEvents()
    clients.removeAll { if case .resolution = $0.kind { true } else { false } }
    (places, kinds) = ([:], [:])
    for place in clients.indices {
      kinds[clients[place].id] = clients[place].kind
      clients[place].nodes = []
      clients[place].ranges = []
      clients[place].baseline = database.snapshot
      places[clients[place].id] = place
    }
  }

  /// Ends every stream.
  mutating func end() {
    for client in clients { handle(.cancel(client.id)) }
    while isTurnDue { turn() }
    statements = []
  }

  private mutating func handle(_ event: RegistryEvent) {
    var actions: [RegistryAction] = []
    registry.handle(event, at: now, &actions)
    for action in actions { perform(action) }
  }

  private mutating func pass(_ duration: Duration) {
    now += duration
    if let deadline = registry.nextDeadline, deadline <= now { handle(.timePassed) }
  }

  private mutating func turn() {
    isTurnDue = false
    handle(.turn)
  }

  private mutating func poll() {
    if isJoining {
      isJoining = false
      isJoined = true
      snapshot = database.snapshot
      crash = nil
      return handle(.joined(statisticsResetAt: database.statisticsResetAt))
    }
    guard isJoined, let last = snapshot else { return }
    let current = database.snapshot
    let isLost = !isCalm && draw(300) == 0
    let batch = EventBatch(
      events: isLost ? [] : database.events(since: last), snapshot: current, hasGap: isLost,
      crash: crash)
    snapshot = current
    crash = nil
    handle(.received(batch))
  }

  private mutating func crashNow() {
    // The results that were sent arrive.
    let results = statements.compactMap {
      if case .result(let event) = $0 { event } else { nil }
    }
    statements.removeAll { if case .result = $0 { true } else { false } }
    for result in results { handle(result) }
    crash = database.crash()
    guard let crash else { return }
    snapshot = snapshot?.before(crash.firstLost)
    for place in clients.indices {
      clients[place].baseline = clients[place].baseline?.before(crash.firstLost)
    }
    let lost = statements
    statements = []
    for statement in lost { fail(statement, .databaseUnavailable) }
    poll()
  }

  // MARK: Statements

  private mutating func progress() {
    guard !statements.isEmpty else { return }
    let place = draw(statements.count)
    let statement = statements[place]
    statements[place] = statements[statements.count - 1]
    statements.removeLast()
    if case .result(let event) = statement { return handle(event) }
    if !isCalm {
      switch draw(isOverloaded ? 3 : 60) {
      case 0: return fail(statement, .serviceOverloaded)
      case 1: return fail(statement, draw(3) > 0 ? .databaseUnavailable : .internalServerError)
      default: break
      }
    }
    let result = execute(statement)
    if draw(2) > 0 { handle(result) } else { statements.append(.result(result)) }
  }

  private mutating func fail(_ statement: Statement, _ code: ErrorCode) {
    let failure = RegistryHarness.failure(code)
    switch statement {
    case .keys(let statement, _): handle(.keysRead(statement, .failure(failure)))
    case .missed(let statement, _, _, _): handle(.missedRead(statement, .failure(failure)))
    case .execute(let statement, _, _): handle(.executed(statement, .failed(failure.errors)))
    case .query(let statement, _):
      handle(
        .queried(
          statement, .failed(failure.errors), LiveResult([], objectCount: 0, cost: .zero)))
    case .resolve(let id): handle(.resolved(id, failure))
    case .expiry(let id): handle(.expiryRead(id, nil))
    case .check(let id): handle(.checked(id, .unknown))
    case .result: break
    }
  }

  /// The result of a statement as the database is now.
  private mutating func execute(_ statement: Statement) -> RegistryEvent {
    switch statement {
    case .keys(let statement, let id):
      let keys: [Int64]
      switch kind(of: id) {
      case .items(let key)?, .value(let key)?, .log(let key)?: keys = [key]
      case .group(let group)?: keys = database.keys(ofGroup: group)
      case .live?, .session?, .resolution?, nil: keys = []
      }
      let snapshot = database.snapshot
      // The last one before it is active counts, unless it continues from a token.
      if let place = places[id], !clients[place].hasResumed, clients[place].received == 0,
        registry.subscriptions[id]?.isActive == false
      {
        clients[place].baseline = snapshot
      }
      return .keysRead(statement, .success(SubscriptionKeys(keys, snapshot)))
    case .missed(let statement, _, let topic, let since):
      let events = database.events(since: since).filter { $0.topic.name == topic }
      return .missedRead(
        statement,
        .success(MissedEvents(events, statisticsResetAt: database.statisticsResetAt)))
    case .execute(let statement, let id, let event):
      let body = body(of: id, event)
      let isStart = registry.subscriptions[id]?.lastHash == nil
      if isStart, let place = places[id], clients[place].last == nil {
        starts[id] = body
      }
      return .executed(statement, RegistryHarness.response(body, errors: errors()))
    case .query(let statement, let id):
      guard case .live(let group)? = kind(of: id) else {
        return .queried(
          statement, RegistryHarness.response(""), LiveResult([], objectCount: 0, cost: .zero))
      }
      let dependencies = database.members[Int(group)].map { Dependency.node(topic: "value", $0) }
      return .queried(
        statement, RegistryHarness.response(database.text(ofGroup: group)),
        LiveResult(
          Set(dependencies), objectCount: dependencies.count, cost: .milliseconds(draw(3))))
    case .resolve(let id): return .resolved(id, nil)
    case .expiry(let id):
      guard let place = places[id] else { return .expiryRead(id, nil) }
      let expiresAt = clients[place].expiresAt
      return .expiryRead(id, expiresAt > now ? now.duration(to: expiresAt) : .zero)
    case .check(let id):
      guard let place = places[id] else { return .checked(id, .over) }
      return .checked(id, isOver(clients[place]) ? .over : .valid)
    case .result(let event): return event
    }
  }

  /// The results at the start of subscriptions that compare with them.
  private var starts: [StreamID: String] = [:]

  private mutating func errors() -> [GraphQLError] {
    !isCalm && draw(20) == 0 ? RegistryHarness.failure(.internalServerError).errors : []
  }

  /// - Parameter delay: for so long nobody need have noticed that its time was over.
  private func isOver(_ client: Client, noticedAfter delay: Duration = .zero) -> Bool {
    guard case .session(let viewer) = client.kind else { return false }
    return client.expiresAt + delay <= now || database.endings[viewer, default: 0] > client.endings
  }

  private func body(of id: StreamID, _ event: EventParameters) -> String {
    switch kind(of: id) {
    case .items?: event.node % SimulatedDatabase.hidden == 0 ? "null" : "\(event.node)"
    case .value(let place)?:
      database.values[Int(place)] < 0 ? "null" : "\(database.values[Int(place)])"
    case .group(let group)?: database.text(ofGroup: group)
    case .log(let key)?:
      database.events.contains {
        $0.topic.name == "log" && $0.topic.key == key && event.received <= $0.transaction
          && $0.transaction < event.ended
      } ? "\(event.received) \(event.ended)" : "null"
    case .live?, .session?, .resolution?, nil: ""
    }
  }

  private func kind(of id: StreamID) -> Kind? { kinds[id] }

  // MARK: Clients

  private mutating func add(_ kind: Kind) {
    lastID += 1
    clients.append(Client(kind: kind, id: StreamID(lastID)))
    places[StreamID(lastID)] = clients.count - 1
    begin(clients.count - 1)
  }

  /// Ends a stream, and begins it again from its last token.
  private mutating func reconnect(_ place: Int?) {
    guard let place else { return }
    if case .resolution = clients[place].kind { return }
    let old = clients[place].id
    if !clients[place].isOver { handle(.cancel(old)) }
    places[old] = nil
    starts[old] = nil
    lastID += 1
    clients[place].id = StreamID(lastID)
    places[StreamID(lastID)] = place
    begin(place)
  }

  private mutating func begin(_ place: Int) {
    clients[place].isOver = false
    clients[place].received = 0
    let id = clients[place].id
    kinds[id] = clients[place].kind
    var token = clients[place].token
    // Its tokens are sent as text.
    if let text = token?.text { token = ResumeToken(text) }
    clients[place].hasResumed = token != nil
    if token == nil {
      clients[place].nodes = []
      clients[place].ranges = []
      clients[place].last = nil
      clients[place].baseline = nil
    }
    switch clients[place].kind {
    case .items(let key): handle(.subscribe(id, Self.source("item", group: Int(key)), from: token))
    case .value(let key):
      handle(
        .subscribe(
          id, Self.source("value", group: 10 + Int(key), isCompared: true), from: token))
    case .group(let group):
      handle(
        .subscribe(
          id,
          Self.source("group", group: 20 + Int(group), isCompared: true, keysMayChange: true),
          from: token))
    case .log(let key):
      handle(
        .subscribe(id, Self.source("log", group: 30 + Int(key), isSettled: true), from: token))
    case .live(let group):
      handle(
        .query(
          id,
          LiveQuerySource(
            dependencies: [.key(topic: "group", group)], interval: nil, asPatches: false)))
    case .session(let viewer):
      clients[place].endings = database.endings[viewer, default: 0]
      clients[place].expiresAt = now + .milliseconds(1_000 + draw(100_000))
      handle(.monitor(id, viewer: viewer))
    case .resolution: handle(.resolve(id, since: now))
    }
  }

  private static func source(
    _ topic: String, group: Int, isCompared: Bool = false, isSettled: Bool = false,
    keysMayChange: Bool = false
  ) -> SubscriptionSource {
    SubscriptionSource(
      topic: topic, keysMayChange: keysMayChange, isSettled: isSettled, endsWithNull: isCompared,
      readsNode: topic == "item", readsReceived: isSettled, nullBody: Array("null".utf8),
      group: group)
  }

  // MARK: Actions

  private mutating func perform(_ action: RegistryAction) {
    performed += 1
    if isCalm { lastActions = lastActions.suffix(20) + [RegistryHarness.text(action)] }
    switch action {
    case .joinReader:
      isJoining = true
      isJoined = false
    case .leaveReader: (isJoining, isJoined, snapshot) = (false, false, nil)
    case .readKeys(let statement, let id): statements.append(.keys(statement, id))
    case .readMissed(let statement, let id, let topic, let since):
      statements.append(.missed(statement, id, topic, since))
    case .execute(let statement, let id, let event):
      statements.append(.execute(statement, id, event))
    case .query(let statement, let id): statements.append(.query(statement, id))
    // What is cancelled may have been executed: its result must do no harm.
    case .cancel: break
    case .send(let id, let body, let token, _):
      received(id, String(decoding: body, as: UTF8.self), token)
    case .report: break
    case .finish(let id, let outcome): finished(id, outcome)
    case .interrupt(let id, _): interrupted(id)
    case .resolve(let id): statements.append(.resolve(id))
    case .failResolving(let id, _): if let place = places[id] { clients[place].isOver = true }
    case .readExpiry(let id): statements.append(.expiry(id))
    case .check(let id): statements.append(.check(id))
    case .endSession(let id, _):
      guard let place = places[id] else { return problem("an unknown session ended") }
      if !isOver(clients[place]) { problem("a session ended that lasts") }
      clients[place].isOver = true
    case .takeTurns:
      if isTurnDue { problem("a turn was asked for twice") }
      isTurnDue = true
    }
  }

  private mutating func problem(_ text: String) {
    if problems.count < 10 { problems.append(text) }
  }

  private mutating func received(_ id: StreamID, _ body: String, _ token: ResumeToken?) {
    guard let place = places[id], !clients[place].isOver else {
      return problem("\(body) was sent to a client that has left")
    }
    responses += 1
    clients[place].received += 1
    if let token { clients[place].token = token }
    switch clients[place].kind {
    case .items:
      guard let node = Int64(body) else { return problem("\(body) is no item") }
      clients[place].nodes.append(node)
    case .value, .group, .live:
      let last = clients[place].last ?? starts[id]
      if body == last, body != "null" {
        problem("\(body) was sent twice to \(clients[place].kind)")
      }
      clients[place].last = body
    case .log:
      let numbers = body.split(separator: " ").compactMap { UInt64($0) }
      guard numbers.count == 2, numbers[0] < numbers[1] else {
        return problem("\(body) is no range")
      }
      clients[place].ranges.append(numbers[0]...(numbers[1] - 1))
    case .session, .resolution: problem("\(body) was sent to \(clients[place].kind)")
    }
  }

  private mutating func finished(_ id: StreamID, _ outcome: StatementOutcome) {
    guard let place = places[id] else { return problem("an unknown stream ended") }
    clients[place].isOver = true
    switch outcome {
    case .response:
      if clients[place].last != "null" { problem("\(clients[place].kind) ended without a null") }
      restart(place)
    case .failed(let errors):
      if errors.first?.code == .tokenExpired { return restart(place) }
      if isCalm { problem("\(clients[place].kind) failed in a calm: \(errors)") }
    }
  }

  /// It forgets what it received.
  private mutating func restart(_ place: Int) { clients[place].token = nil }

  private mutating func interrupted(_ id: StreamID) {
    guard let place = places[id] else { return problem("an unknown stream was interrupted") }
    clients[place].isOver = true
    // Too much happened for it to catch up with.
    if clients[place].received == 0 { restart(place) }
  }

  // MARK: The model

  /// Where what clients received is not what they should have, once nothing happens any more.
  func difference() -> [String] {
    var found = problems
    if registry.counts.starting > 0 { found.append("\(registry.counts.starting) still start") }
    for client in clients {
      switch client.kind {
      case .items(let key):
        guard !client.isOver, let baseline = client.baseline else { continue }
        let expected = database.events.filter {
          $0.topic.name == "item" && $0.topic.key == key && !baseline.contains($0.transaction)
            && $0.node % SimulatedDatabase.hidden != 0
        }.map(\.node)
        if client.nodes.sorted() != expected.sorted() {
          found.append("items of \(key): \(client.nodes), not \(expected)")
        }
      case .value(let place):
        let value = database.values[Int(place)]
        let last = client.last ?? starts[client.id]
        if !client.isOver, last != (value < 0 ? "null" : "\(value)") {
          found.append("value of \(place): \(last ?? "nothing"), not \(value)")
        }
      case .group(let group):
        let last = client.last ?? starts[client.id]
        if !client.isOver, last != database.text(ofGroup: group) {
          found.append("group \(group): \(last ?? "nothing"), not \(database.text(ofGroup: group))")
        }
      case .live(let group):
        if !client.isOver, client.last != database.text(ofGroup: group) {
          found.append(
            "live \(group): \(client.last ?? "nothing"), not \(database.text(ofGroup: group))")
        }
      case .log(let key):
        guard !client.isOver, let baseline = client.baseline else { continue }
        for event in database.events
        where event.topic.name == "log" && event.topic.key == key
          && !baseline.contains(event.transaction)
          && !client.ranges.contains(where: { $0.contains(event.transaction) })
        { found.append("log \(key): \(event.transaction) is in none of \(client.ranges)") }
      case .session:
        // A minute, if the time that is left could not be read.
        if !client.isOver, isOver(client, noticedAfter: .seconds(61)) {
          found.append("a session that ended lives on")
        }
      case .resolution:
        if registry.resolutions[client.id] != nil { found.append("a session is still looked up") }
      }
    }
    return found
  }
}
