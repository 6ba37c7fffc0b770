import EventLoops
import GraphQLResponse

@testable import Subscriptions

/// A registry with a clock of its own, whose actions are compared as text.
struct RegistryHarness {
  var registry: SubscriptionRegistry
  var now = Moment(nanoseconds: 1_000_000_000)
  private(set) var last: [RegistryAction] = []

  init(_ change: (inout SubscriptionRegistry.Settings) -> Void = { _ in }) {
    var settings = SubscriptionRegistry.Settings()
    change(&settings)
    registry = SubscriptionRegistry(settings)
  }

  /// What follows from an event, an action a line.
  mutating func handle(_ event: RegistryEvent) -> [String] {
    last = []
    registry.handle(event, at: now, &last)
    return last.map(Self.text)
  }

  mutating func pass(_ duration: Duration) -> [String] {
    now += duration
    return handle(.timePassed)
  }

  /// A registry that has joined the reader, with a subscription 1 that is active from `50:50:` on.
  static func active(
    _ source: SubscriptionSource = source(),
    _ change: (inout SubscriptionRegistry.Settings) -> Void = { _ in }
  ) -> RegistryHarness {
    var harness = RegistryHarness(change)
    _ = harness.handle(.subscribe(one, source, from: nil))
    _ = harness.handle(.joined(statisticsResetAt: nil))
    _ = harness.handle(.keysRead(statement(1), keys([7], "50:50:")))
    if source.isCompared { _ = harness.handle(.executed(statement(2), response("first"))) }
    return harness
  }

  static let one = StreamID(1)
  static let two = StreamID(2)

  static func statement(_ number: UInt64) -> StatementID { StatementID(number: number) }

  static func source(
    keysMayChange: Bool = false, isSettled: Bool = false, endsWithNull: Bool = false,
    readsNode: Bool = true, group: Int = 1
  ) -> SubscriptionSource {
    SubscriptionSource(
      topic: "item", keysMayChange: keysMayChange, isSettled: isSettled, endsWithNull: endsWithNull,
      readsNode: readsNode, readsReceived: false, nullBody: Array("null".utf8), group: group)
  }

  static func snapshot(_ text: String) -> PostgresSnapshot {
    guard let snapshot = PostgresSnapshot(text) else { fatalError("\(text) is no snapshot.") }
    return snapshot
  }

  static func keys(
    _ keys: [Int64], _ text: String
  ) -> Result<SubscriptionKeys, StatementFailure> {
    .success(SubscriptionKeys(keys, snapshot(text)))
  }

  static func response(_ body: String, errors: [GraphQLError] = []) -> StatementOutcome {
    .response(Array(body.utf8), errors: errors)
  }

  static func failure(_ code: ErrorCode) -> StatementFailure {
    StatementFailure([GraphQLError("Failed.", code: code)])
  }

  /// A batch of the topic `item` with key 7.
  static func batch(
    _ events: [(node: Int64, transaction: UInt64)], _ text: String, key: Int64 = 7,
    hasGap: Bool = false, crash: CrashRecovery? = nil
  ) -> RegistryEvent {
    .received(
      EventBatch(
        events: events.map {
          CommittedEvent(
            topic: .init(name: "item", key: key), node: $0.node, transaction: $0.transaction)
        }, snapshot: snapshot(text), hasGap: hasGap, crash: crash))
  }

  static func text(_ action: RegistryAction) -> String {
    switch action {
    case .joinReader: "joinReader"
    case .leaveReader: "leaveReader"
    case .readKeys(let statement, let id): "readKeys \(statement.number) of \(id.number)"
    case .readMissed(let statement, let id, let topic, let since):
      "readMissed \(statement.number) of \(id.number): \(topic) since \(since.text)"
    case .execute(let statement, let id, let event):
      "execute \(statement.number) of \(id.number): \(event.node), \(event.received), \(event.ended)"
    case .query(let statement, let id): "query \(statement.number) of \(id.number)"
    case .cancel(let statement): "cancel \(statement.number)"
    case .send(let id, let body, let token, let isFollowed):
      "send \(String(decoding: body, as: UTF8.self)) to \(id.number)"
        + (token.map { " at \(Self.unmarked($0))" } ?? "") + (isFollowed ? ", followed" : "")
    case .report(let id, _): "report \(id.number)"
    case .finish(let id, .response): "finish \(id.number)"
    case .finish(let id, .failed(let errors)):
      "finish \(id.number): \(errors.first?.code.rawValue ?? "")"
    case .interrupt(let id, _): "interrupt \(id.number)"
    case .resolve(let id): "resolve \(id.number)"
    case .failResolving(let id, let errors):
      "failResolving \(id.number): \(errors.first?.code.rawValue ?? "")"
    case .readExpiry(let id): "readExpiry \(id.number)"
    case .check(let id): "check \(id.number)"
    case .endSession(let id, .over): "endSession \(id.number)"
    case .endSession(let id, .changed): "changeSession \(id.number)"
    case .takeTurns: "takeTurns"
    }
  }

  /// The token without its mark, which is a hash.
  private static func unmarked(_ token: ResumeToken) -> Substring {
    token.text.prefix { $0 != "#" }
  }
}
