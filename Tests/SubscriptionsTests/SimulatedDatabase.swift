import OracleSupport

@testable import Subscriptions

/// PostgreSQL and the graph, as far as subscriptions know them: transactions that begin, change something, and commit or
/// roll back in any order; what is committed; and the snapshots of both.
struct SimulatedDatabase {
  enum Change {
    /// A new node under a key of the topic `item`.
    case item(key: Int64, node: Int64)
    /// The value of a place changes, or is deleted.
    case value(Int64, deletes: Bool)
    /// A place joins or leaves a group.
    case member(Int64, of: Int64)
    /// A session of the user ends.
    case session(Int64)
    /// An entry of a log.
    case log(Int64)
  }

  static let places: Int64 = 6
  static let groups: Int64 = 3
  static let hidden: Int64 = 7

  private(set) var next: UInt64 = 100
  private(set) var open: [(transaction: UInt64, changes: [Change])] = []
  /// What was committed, in that order.
  private(set) var events: [CommittedEvent] = []
  private(set) var values = [Int64](repeating: 0, count: Int(places))
  private(set) var members = [Set<Int64>](repeating: [], count: Int(groups))
  /// How often a session of the user has ended.
  private(set) var endings: [Int64: Int] = [:]
  /// How often PostgreSQL has crashed.
  private(set) var crashes = 0
  private var lastCommitted: UInt64 = 99
  private var lastNode: Int64 = 0

  var statisticsResetAt: String { "\(crashes)" }

  var snapshot: PostgresSnapshot {
    let numbers = open.map(\.transaction)
    let first = numbers.first ?? next
    let list = numbers.map(String.init).joined(separator: ",")
    return RegistryHarness.snapshot("\(first):\(next):\(list)")
  }

  // MARK: Transactions

  mutating func begin() {
    open.append((next, []))
    next += 1
  }

  mutating func change(_ random: inout SeededGenerator) {
    guard !open.isEmpty else { return }
    let place = Int.random(in: open.indices, using: &random)
    let change: Change
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9:
      lastNode += 1
      change = .item(key: Int64.random(in: 0..<Self.places, using: &random), node: lastNode)
    case 9..<14: change = .value(Int64.random(in: 0..<Self.places, using: &random), deletes: false)
    case 14: change = .value(Int64.random(in: 0..<Self.places, using: &random), deletes: true)
    case 15..<17:
      change = .member(
        Int64.random(in: 0..<Self.places, using: &random),
        of: Int64.random(in: 0..<Self.groups, using: &random))
    case 17: change = .session(Int64.random(in: 0..<Self.places, using: &random))
    default: change = .log(Int64.random(in: 0..<Self.places, using: &random))
    }
    open[place].changes.append(change)
  }

  mutating func end(_ random: inout SeededGenerator, commits: Bool) {
    guard !open.isEmpty else { return }
    let (transaction, changes) = open.remove(at: Int.random(in: open.indices, using: &random))
    guard commits, !changes.isEmpty else { return }
    lastCommitted = max(lastCommitted, transaction)
    for change in changes { apply(change, transaction) }
  }

  private mutating func apply(_ change: Change, _ transaction: UInt64) {
    func touch(_ topic: String, _ key: Int64, _ node: Int64) {
      events.append(
        CommittedEvent(
          topic: .init(name: topic, key: key), node: node, transaction: transaction))
    }
    switch change {
    case .item(let key, let node): touch("item", key, node)
    case .value(let place, let deletes):
      values[Int(place)] = deletes ? -1 : max(values[Int(place)], 0) + 1
      touch("value", place, place)
      touch("group", 100 + place, place)
    case .member(let place, let group):
      if members[Int(group)].remove(place) == nil { members[Int(group)].insert(place) }
      touch("group", group, place)
    case .session(let viewer):
      endings[viewer, default: 0] += 1
      touch("session", viewer, 0)
    case .log(let key): touch("log", key, 0)
    }
  }

  /// Open transactions are lost, and the IDs of those that left nothing are used again.
  mutating func crash() -> CrashRecovery {
    open = []
    next = lastCommitted + 1
    crashes += 1
    return CrashRecovery(statisticsResetAt: statisticsResetAt, firstLost: next)
  }

  /// Forgets the events that everybody has.
  mutating func forgetEvents() { events = [] }

  // MARK: Reads

  /// The events that are not visible in a snapshot, as `news_since` returns them.
  func events(since snapshot: PostgresSnapshot) -> [CommittedEvent] {
    events.filter { !snapshot.contains($0.transaction) }
      .sorted { ($0.node, $0.transaction) < ($1.node, $1.transaction) }
  }

  func keys(ofGroup group: Int64) -> [Int64] {
    [group] + members[Int(group)].sorted().map { 100 + $0 }
  }

  /// The places of a group with their values.
  func text(ofGroup group: Int64) -> String {
    members[Int(group)].sorted().map { "\($0)=\(values[Int($0)])" }.joined(separator: ",")
  }
}
