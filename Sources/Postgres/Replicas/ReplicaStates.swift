import EventLoops

/// Which replicas take reads, and which of them has what a client must see. It knows no sockets.
///
/// A replica takes reads while it is a standby that answers and whose lag is bounded. The lag is
/// measured by the primary's log: the replica lacks a position that the primary had so long ago. So
/// a standby that follows no primary any more, or another timeline, leaves by itself.
///
/// Whenever a replica comes or goes, clients move from one to another. Until the primary has said
/// where it is, every read goes to the primary. From then on, each replica must have this position.
///
/// All event loops of a process share one, because a client's connections belong to several of them. A
/// replica takes reads while every loop finds it well. What it has replayed is known to each loop by
/// itself, as it holds only until the loop's connections break.
package struct ReplicaStates: Sendable {
  /// The answer of a replica to a probe.
  package struct Report: Sendable, Equatable {
    package let isStandby: Bool
    /// The position that it has replayed, or nil if it says none.
    package let replayed: LogPosition?

    package init(isStandby: Bool, replayed: LogPosition?) {
      self.isStandby = isStandby
      self.replayed = replayed
    }
  }

  package enum Departure: Sendable, Equatable {
    /// It lacks what the primary had before the maximum lag.
    case lagging
    /// It was promoted, or never was a standby.
    case noStandby
    case unreachable
  }

  package enum Change: Sendable, Equatable {
    case came
    case left(Departure)
  }

  private struct Replica {
    /// By event loop; nil of those that find it well.
    var departures: [Departure?]
    /// By event loop.
    var replayed: [LogPosition?]

    init(loops: Int) {
      departures = Array(repeating: .unreachable, count: loops)
      replayed = Array(repeating: nil, count: loops)
    }

    /// Nil while it takes reads.
    var departure: Departure? { departures.lazy.compactMap { $0 }.first }
  }

  private let maximumLag: Duration
  private var replicas: [Replica]
  /// Where the primary was, and when: the oldest first.
  private var history: [(time: Moment, position: LogPosition)] = []
  /// The position that every read must contain.
  private var floor: LogPosition?
  /// Whether clients have moved, and the primary has not said yet what they may have seen.
  private var isSettling = true
  /// The number of times that a replica came or went.
  package private(set) var changes = 0

  package init(count: Int, loops: Int = 1, maximumLag: Duration) {
    self.maximumLag = maximumLag
    replicas = Array(repeating: Replica(loops: loops), count: count)
  }

  /// Whether the replica takes reads.
  package func isIn(_ index: Int) -> Bool { replicas[index].departure == nil }

  // MARK: - Probes

  /// Takes the primary's answer.
  ///
  /// - Parameters:
  ///   - position: everything that was acknowledged is before it; nil if the primary did not answer.
  ///   - seen: everything that was visible is before it.
  ///   - changes: `changes` when the primary was asked. An answer to an older question does not say
  ///     what clients have seen since.
  package mutating func primaryAnswered(
    _ position: LogPosition?, seen: LogPosition?, after changes: Int, at now: Moment
  ) {
    if let position { note(position, at: now) }
    guard isSettling, changes == self.changes else { return }
    isSettling = false
    // Without a primary, an answer that may be a moment older than one of the replica that left is
    // better than none.
    if let seen { floor = floor.map { $0.later(seen) } ?? seen }
  }

  private mutating func note(_ position: LogPosition, at now: Moment) {
    // One entry for each sixteenth of the lag is precise enough.
    let pause = max(maximumLag.nanoseconds / 16, 1)
    let isDue =
      history.last.map {
        $0.time.nanoseconds(to: now) >= pause || $0.position.timeline != position.timeline
      } ?? true
    guard isDue else { return }
    history.append((now, position))
    while history.count > 2, history[1].time.nanoseconds(to: now) > 2 * maximumLag.nanoseconds {
      history.removeFirst()
    }
  }

  /// Takes a replica's answer.
  ///
  /// - Parameters:
  ///   - report: nil if it did not answer.
  ///   - loop: the event loop that asked.
  ///   - isInterrupted: whether connections broke since its last answer. It may have crashed, and
  ///     have less now than its clients have seen: they are treated as if they moved.
  /// - Returns: whether it takes reads from now on, or none any more. The primary is to be asked
  ///   whenever `changes` has grown.
  package mutating func answered(
    _ index: Int, _ report: Report?, by loop: Int = 0, isInterrupted: Bool = false, at now: Moment
  ) -> Change? {
    let before = replicas[index].departure
    // What it had when it left is what its clients may have seen.
    if let replayed = report?.replayed { replicas[index].replayed[loop] = replayed }
    replicas[index].departures[loop] = departure(report, at: now)
    let departure = replicas[index].departure
    let hasChanged = (departure == nil) != (before == nil)
    guard hasChanged || isInterrupted && departure == nil else { return nil }
    isSettling = true
    changes += 1
    guard hasChanged else { return nil }
    return departure.map { .left($0) } ?? .came
  }

  private func departure(_ report: Report?, at now: Moment) -> Departure? {
    guard let report else { return .unreachable }
    guard report.isStandby, let replayed = report.replayed else { return .noStandby }
    return lag(of: replayed, at: now) > maximumLag ? .lagging : nil
  }

  /// Returns how long the replica has lacked something, as far as it was probed.
  package func lag(_ index: Int, at now: Moment) -> Duration? {
    replicas[index].replayed.compactMap { $0.map { lag(of: $0, at: now) } }.min()
  }

  private func lag(of replayed: LogPosition, at now: Moment) -> Duration {
    // Nothing is known of a primary that has not answered yet.
    guard let last = history.last else { return maximumLag + .nanoseconds(1) }
    guard !replayed.contains(last.position) else { return .zero }
    let has = history.lastIndex { replayed.contains($0.position) } ?? -1
    return .nanoseconds(max(history[has + 1].time.nanoseconds(to: now), 1))
  }

  // MARK: - Reads

  package enum Decision: Sendable, Equatable {
    /// The replica has what the client must see.
    case replica(Int)
    /// It may have it: ask the replica, and decide again.
    case ask(Int)
    /// No replica takes reads.
    case lagging
    /// The position that the client needs is not known yet.
    case unknown
  }

  /// Decides where a client's read goes. A client keeps its replica while the same ones take reads,
  /// and few clients get another if one comes or goes.
  ///
  /// - Parameters:
  ///   - need: what the client wrote or saw.
  ///   - loop: the event loop that reads.
  ///   - hasPrimary: whether the primary answers. If not, an answer that may be a moment older than
  ///     that of a replica that left is better than none; what the client wrote is in it all the same.
  ///   - isValid: whether what a replica said still holds. It does not if its connections broke.
  package func decision(
    for client: UInt64, _ need: ReadPositions.Need, by loop: Int = 0, hasPrimary: Bool = true,
    isValid: (Int) -> Bool
  ) -> Decision {
    guard !isSettling || !hasPrimary, let index = choice(for: client) else { return .lagging }
    guard case .position(let position) = need else { return .unknown }
    guard isValid(index), let replayed = replicas[index].replayed[loop] else {
      return .ask(index)
    }
    let wanted = [hasPrimary ? floor : nil, position]
    let hasAll = wanted.allSatisfy { $0.map { replayed.contains($0) } ?? true }
    return hasAll ? .replica(index) : .ask(index)
  }

  private func choice(for client: UInt64) -> Int? {
    var best: (index: Int, weight: UInt64)?
    for index in replicas.indices where replicas[index].departure == nil {
      let weight = Self.mixed(client ^ Self.mixed(UInt64(index) &+ 1))
      if best.map({ weight > $0.weight }) ?? true { best = (index, weight) }
    }
    return best?.index
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixer = SplitMix(state: value)
    return mixer.next()
  }
}
