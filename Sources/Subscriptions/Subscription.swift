import EventLoops

/// The events of a subscription, from its plan.
package struct SubscriptionSource: Sendable {
  package let topic: String
  /// Its keys are read from tables, and may change.
  package let keysMayChange: Bool
  /// An event counts only when no older transaction can still commit.
  package let isSettled: Bool
  /// A null is sent, and ends the subscription. Otherwise a null is not sent.
  package let endsWithNull: Bool
  /// The response is about the event's node. Otherwise one response stands for all events so far.
  package let readsNode: Bool
  /// The statement reads `EventParameters.received`.
  package let readsReceived: Bool
  /// The response if the field is null.
  package let nullBody: [UInt8]
  /// Subscriptions of one group have the same response to the same event.
  package let group: Int

  /// Whether a response is skipped if it equals the last one or the result at the start. Then the
  /// event was about something that the viewer may not see.
  var isCompared: Bool { endsWithNull && !readsNode }

  package init(
    topic: String, keysMayChange: Bool, isSettled: Bool, endsWithNull: Bool, readsNode: Bool,
    readsReceived: Bool, nullBody: [UInt8], group: Int
  ) {
    self.topic = topic
    self.keysMayChange = keysMayChange
    self.isSettled = isSettled
    self.endsWithNull = endsWithNull
    self.readsNode = readsNode
    self.readsReceived = readsReceived
    self.nullBody = nullBody
    self.group = group
  }
}

/// One subscription.
///
///     waiting -> queued -> reading -> (comparing | catching up) -> active -> ... -> gone
///                  ^---------'- overloaded                          |
///                  '------------------------------------------------'  keys may have changed
struct Subscription {
  let source: SubscriptionSource
  let began: Moment
  /// How far its keys are known, or nil if they are.
  var lookup: Lookup?
  /// Whether it is registered under its keys.
  var isActive = false
  var topics: [CommittedEvent.Topic] = []
  /// Events that are visible in it are not sent.
  var since: PostgresSnapshot?
  /// The client has received every event that is visible in it.
  var received: PostgresSnapshot?
  /// Where a reconnecting client continues, until that is looked up.
  var resume: ResumeToken?
  /// The events to be sent, in order. If the plan does not read the node, the latest one only.
  var queue = Queue<PendingEvent>()
  var work = Work.idle
  /// The newest transaction whose event waits for older transactions.
  var unsettled: UInt64?
  /// The hash of the last response, or of the result at the start.
  var lastHash: Int?
  /// The number of consecutive failed statements.
  var failures = 0

  struct Lookup {
    /// The first batch that may have to be sent once the keys are known.
    var position: Int
    /// The keys may have changed since they were asked for.
    var isStale = false
    var step: Step
  }

  enum Step {
    /// The commit reader is to be joined.
    case waiting
    /// The subscription waits for its turn to start.
    case queued
    case reading(StatementID)
    /// Its operation is executed, to compare later responses with.
    case comparing(StatementID, SubscriptionKeys)
    case catchingUp(StatementID, SubscriptionKeys, ResumeToken)
    /// The subscription retries after the pause.
    case pausing

    /// The statement that it waits for.
    var statement: StatementID? {
      switch self {
      case .waiting, .queued, .pausing: nil
      case .reading(let statement), .comparing(let statement, _), .catchingUp(let statement, _, _):
        statement
      }
    }
  }

  /// The work for its next event.
  enum Work {
    case idle
    /// The subscription waits for its turn.
    case ready
    case executing(StatementID)
    /// The subscription retries after the pause.
    case pausing
  }
}

struct PendingEvent {
  let node: Int64
  /// The snapshot of the batch that it came with.
  var snapshot: PostgresSnapshot
  /// Whether it shares no statement, because a shared one had errors.
  var isAlone = false
}

extension Subscription {
  func parameters(of event: PendingEvent) -> EventParameters {
    EventParameters(
      node: event.node, received: (received ?? event.snapshot).first, ended: event.snapshot.first)
  }

  /// Removes what snapshots say about transactions from this one on.
  mutating func forget(from transaction: UInt64) {
    since = since?.before(transaction)
    received = received?.before(transaction)
    queue.update { $0.snapshot = $0.snapshot.before(transaction) }
    guard let step = lookup?.step else { return }
    switch step {
    case .waiting, .queued, .reading, .pausing: break
    case .comparing(let statement, let keys):
      lookup?.step = .comparing(statement, keys.before(transaction))
    case .catchingUp(let statement, let keys, let token):
      lookup?.step = .catchingUp(statement, keys.before(transaction), token)
    }
  }
}

extension SubscriptionKeys {
  fileprivate func before(_ transaction: UInt64) -> SubscriptionKeys {
    SubscriptionKeys(keys, snapshot.before(transaction))
  }
}
