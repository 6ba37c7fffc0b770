/// Limits password guesses. After five consecutive failures, a name waits 1, 2, 4, ... up to 900
/// seconds before the next attempt. An address that failed 20 times in ten minutes waits until they
/// are over.
///
/// An attempt counts from its admission: `admit` reserves it, and `failed`, `succeeded` or
/// `abandoned` reports its outcome. So as many concurrent attempts pass as failures are left, and
/// then one at a time.
///
/// A name is never locked permanently, because that would lock out its owner. The throttle is plain
/// data and has no clock. Its memory is bounded: beyond `maximumCount` names or addresses, the
/// oldest are evicted. Each process counts its own failures, so several servers allow as many each.
package struct LoginThrottle: Sendable {
  package typealias Instant = ContinuousClock.Instant

  package enum Verdict: Sendable, Equatable {
    case mayTry
    /// The name has failed too often, and has to wait this long.
    case nameWaits(Duration)
    case addressWaits(Duration)
  }

  private struct Name {
    var failures = 0
    /// The number of attempts that were admitted and have no outcome yet.
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
  /// The time to wait for the outcomes of concurrent attempts.
  static let pendingWait = Duration.seconds(1)
  /// The time without failures after which a name starts again from zero.
  static let forgetting = Duration.seconds(3_600)

  private let maximumCount: Int
  private var names: [String: Name] = [:]
  private var addresses: [String: Address] = [:]

  package init(maximumCount: Int = 10_000) {
    self.maximumCount = maximumCount
  }

  /// Returns whether an attempt for this name, from this address, may be compared.
  ///
  /// - Parameter address: nil for one shared by clients that cannot be distinguished.
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

  /// Returns the verdict, and reserves the attempt if it is allowed.
  package mutating func admit(name: String, address: String?, now: Instant) -> Verdict {
    let verdict = verdict(name: name, address: address, now: now)
    guard verdict == .mayTry else { return verdict }
    makeRoom(name, address, now)
    names[name, default: Name(mayTryAt: now, lastFailure: now)].pending += 1
    if let address { addresses[address, default: Address()].pending += 1 }
    return .mayTry
  }

  /// Returns whether the name's last attempts failed.
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

  /// Releases an attempt whose password was not compared.
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

  /// Evicts half of them at once, so that eviction costs little for each.
  private func forgetOldest<Value>(
    of known: inout [String: Value], age: (Value) -> Instant
  ) {
    let instants = known.values.map(age).sorted()
    guard !instants.isEmpty else { return }
    let middle = instants[instants.count / 2]
    known = known.filter { age($0.value) > middle }
  }
}
