/// Slows down who guesses passwords (R20): after five failures in a row a name waits 1, 2, 4, ... up to
/// 900 seconds before the next try counts, and an address that failed 20 times in ten minutes waits
/// until they are over.
///
/// A name is never locked for good, as that would lock its owner out. Plain data, without a clock of
/// its own. What it remembers is bounded: beyond `maximumCount` names or addresses the oldest are
/// forgotten. A process knows its own failures only: with several servers each allows as many.
package struct GuessThrottle: Sendable {
  package typealias Instant = ContinuousClock.Instant

  package enum Verdict: Sendable, Equatable {
    case mayTry
    /// The name has failed too often: not before so long.
    case nameWaits(Duration)
    case addressWaits(Duration)
  }

  private struct Name {
    var failures = 0
    var mayTryAt: Instant
    var lastFailure: Instant
  }

  private struct Address {
    var failures: [Instant] = []
  }

  static let freeFailures = 5
  static let longestWait = Duration.seconds(900)
  static let addressFailures = 20
  static let addressWindow = Duration.seconds(600)
  /// A name that has not failed for so long starts anew.
  static let forgetting = Duration.seconds(3_600)

  private let maximumCount: Int
  private var names: [String: Name] = [:]
  private var addresses: [String: Address] = [:]

  package init(maximumCount: Int = 10_000) {
    self.maximumCount = maximumCount
  }

  /// Whether a try for this name, from this address, is to be looked at.
  package mutating func verdict(name: String, address: String, now: Instant) -> Verdict {
    if let known = addresses[address] {
      let recent = known.failures.filter { $0.duration(to: now) < Self.addressWindow }
      addresses[address] = recent.isEmpty ? nil : Address(failures: recent)
      if recent.count >= Self.addressFailures, let first = recent.first {
        return .addressWaits(now.duration(to: first + Self.addressWindow))
      }
    }
    guard let known = names[name] else { return .mayTry }
    if known.lastFailure.duration(to: now) >= Self.forgetting {
      names[name] = nil
      return .mayTry
    }
    return known.mayTryAt > now ? .nameWaits(now.duration(to: known.mayTryAt)) : .mayTry
  }

  package mutating func failed(name: String, address: String, now: Instant) {
    if names.count >= maximumCount, names[name] == nil {
      forgetOldest(of: &names) { $0.lastFailure }
    }
    if addresses.count >= maximumCount, addresses[address] == nil {
      forgetOldest(of: &addresses) { $0.failures.last ?? now }
    }
    var known = names[name] ?? Name(mayTryAt: now, lastFailure: now)
    known.failures += 1
    known.lastFailure = now
    let over = known.failures - Self.freeFailures
    if over >= 0 {
      known.mayTryAt = now + (over < 10 ? .seconds(1 << over) : Self.longestWait)
    }
    names[name] = known
    var failures = addresses[address]?.failures ?? []
    failures.append(now)
    addresses[address] = Address(failures: Array(failures.suffix(Self.addressFailures)))
  }

  package mutating func succeeded(name: String) { names[name] = nil }

  /// Half of them at once, so that forgetting costs little for each.
  private func forgetOldest<Value>(
    of known: inout [String: Value], age: (Value) -> Instant
  ) {
    let instants = known.values.map(age).sorted()
    guard !instants.isEmpty else { return }
    let middle = instants[instants.count / 2]
    known = known.filter { age($0.value) > middle }
  }
}
