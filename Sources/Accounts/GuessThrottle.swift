/// Slows down who guesses passwords (R20): after five failures in a row a name waits 1, 2, 4, ... up to
/// 900 seconds before the next try counts, and an address that failed 20 times in ten minutes waits
/// until they are over.
///
/// A try counts from its admission: `admit` reserves it, and `failed`, `succeeded` or `abandoned` says
/// what became of it. So as many tries at once pass as failures are left, and one at a time after that.
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
    /// Tries that were admitted and have no result yet.
    var pending = 0
    var mayTryAt: Instant
    var lastFailure: Instant
  }

  private struct Address {
    var failures: [Instant] = []
    var pending = 0
  }

  static let freeFailures = 5
  static let longestWait = Duration.seconds(900)
  static let addressFailures = 20
  static let addressWindow = Duration.seconds(600)
  /// How long to wait for the results of others' tries.
  static let pendingWait = Duration.seconds(1)
  /// A name that has not failed for so long starts anew.
  static let forgetting = Duration.seconds(3_600)

  private let maximumCount: Int
  private var names: [String: Name] = [:]
  private var addresses: [String: Address] = [:]

  package init(maximumCount: Int = 10_000) {
    self.maximumCount = maximumCount
  }

  /// Whether a try for this name, from this address, may be compared.
  ///
  /// - Parameter address: nil for one that clients share who cannot be told apart.
  package mutating func verdict(name: String, address: String?, now: Instant) -> Verdict {
    if let address, var known = addresses[address] {
      known.failures.removeAll { $0.duration(to: now) >= Self.addressWindow }
      addresses[address] = known.failures.isEmpty && known.pending == 0 ? nil : known
      if known.failures.count + known.pending >= Self.addressFailures {
        let first = known.failures.count >= Self.addressFailures ? known.failures.first : nil
        return .addressWaits(
          first.map { now.duration(to: $0 + Self.addressWindow) } ?? Self.pendingWait)
      }
    }
    guard let known = names[name] else { return .mayTry }
    if known.lastFailure.duration(to: now) >= Self.forgetting, known.pending == 0 {
      names[name] = nil
      return .mayTry
    }
    if known.mayTryAt > now { return .nameWaits(now.duration(to: known.mayTryAt)) }
    return known.pending > 0 && known.failures + known.pending >= Self.freeFailures
      ? .nameWaits(Self.pendingWait) : .mayTry
  }

  /// The verdict; a try that may be made is under way then.
  package mutating func admit(name: String, address: String?, now: Instant) -> Verdict {
    let verdict = verdict(name: name, address: address, now: now)
    guard verdict == .mayTry else { return verdict }
    makeRoom(name, address, now)
    names[name, default: Name(mayTryAt: now, lastFailure: now)].pending += 1
    if let address { addresses[address, default: Address()].pending += 1 }
    return .mayTry
  }

  /// Whether the name's last tries failed.
  package func hasFailed(name: String) -> Bool { (names[name]?.failures ?? 0) > 0 }

  package mutating func failed(name: String, address: String?, now: Instant) {
    makeRoom(name, address, now)
    var known = names[name] ?? Name(mayTryAt: now, lastFailure: now)
    known.pending = max(0, known.pending - 1)
    known.failures += 1
    known.lastFailure = now
    let over = known.failures - Self.freeFailures
    if over >= 0 {
      known.mayTryAt = now + (over < 10 ? .seconds(1 << over) : Self.longestWait)
    }
    names[name] = known
    guard let address else { return }
    var there = addresses[address] ?? Address()
    there.pending = max(0, there.pending - 1)
    there.failures = Array((there.failures + [now]).suffix(Self.addressFailures))
    addresses[address] = there
  }

  package mutating func succeeded(name: String, address: String?) {
    names[name]?.failures = 0
    abandoned(name: name, address: address)
  }

  /// The password was not compared.
  package mutating func abandoned(name: String, address: String?) {
    if var known = names[name] {
      known.pending = max(0, known.pending - 1)
      names[name] = known.pending == 0 && known.failures == 0 ? nil : known
    }
    if let address, var known = addresses[address] {
      known.pending = max(0, known.pending - 1)
      addresses[address] = known.pending == 0 && known.failures.isEmpty ? nil : known
    }
  }

  private mutating func makeRoom(_ name: String, _ address: String?, _ now: Instant) {
    if names.count >= maximumCount, names[name] == nil {
      forgetOldest(of: &names) { $0.lastFailure }
    }
    if let address, addresses.count >= maximumCount, addresses[address] == nil {
      forgetOldest(of: &addresses) { $0.failures.last ?? now }
    }
  }

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
