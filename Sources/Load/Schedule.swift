import Glibc

/// The times at which requests are to arrive, all drawn before the first of them.
package struct Schedule: Sendable {
  package enum Arrivals: String, CaseIterable, Sendable {
    /// The gaps are exponential, as those of many people who do not know of each other.
    case poisson
    /// All gaps are equal.
    case even
  }

  /// In nanoseconds from the start of the window, ascending; those of the warm-up are negative.
  package let arrivals: [Int64]
  /// The number of arrivals of the warm-up, the first of all.
  package let warmUpCount: Int
  /// The length of the window, in nanoseconds.
  package let duration: Int64
  package let seed: UInt64

  package init(
    rate: Double, arrivals kind: Arrivals, warmUp: Int64, duration: Int64, seed: UInt64
  ) {
    let before = Self.offsets(rate, kind, warmUp, RandomSequence(seed: seed, part: 1))
      .map { $0 - warmUp }
    arrivals = before + Self.offsets(rate, kind, duration, RandomSequence(seed: seed, part: 0))
    warmUpCount = before.count
    self.duration = duration
    self.seed = seed
  }

  private static func offsets(
    _ rate: Double, _ kind: Arrivals, _ duration: Int64, _ random: RandomSequence
  ) -> [Int64] {
    var random = random
    var offsets: [Int64] = []
    offsets.reserveCapacity(Int(min(rate * Double(duration) / 1e9 * 1.1, 1e7)))
    let end = Double(duration)
    switch kind {
    case .even:
      var number = 0.0
      while number * 1e9 / rate < end {
        offsets.append(Int64(number * 1e9 / rate))
        number += 1
      }
    case .poisson:
      var time = -log(1 - random.unit()) * 1e9 / rate
      while time < end {
        offsets.append(Int64(time))
        time += -log(1 - random.unit()) * 1e9 / rate
      }
    }
    return offsets
  }

  /// Returns the number of a request within its window, which selects what it asks for; those of
  /// the warm-up are negative.
  func number(of index: Int) -> Int { index - warmUpCount }
}
