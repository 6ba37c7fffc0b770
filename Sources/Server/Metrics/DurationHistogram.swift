/// A histogram of durations. It belongs to one event loop and needs no lock and no allocation.
/// Other threads ask the loop for a copy.
struct DurationHistogram: Sendable {
  /// Nanoseconds; what is longer than the last is counted without a bound.
  static let bounds: [19 of UInt64] = [
    10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000,
    5_000_000_000, 10_000_000_000,
  ]

  /// The number of durations up to each bound and above the previous one. The last has no bound.
  private(set) var counts = [20 of UInt64](repeating: 0)
  private(set) var total: UInt64 = 0

  mutating func observe(_ nanoseconds: UInt64) {
    let bounds = Self.bounds
    var place = 0
    while place < bounds.count, nanoseconds > bounds[place] { place += 1 }
    counts[place] &+= 1
    total &+= nanoseconds
  }

  mutating func add(_ other: DurationHistogram) {
    for place in counts.indices { counts[place] &+= other.counts[place] }
    total &+= other.total
  }

  var count: UInt64 {
    var sum: UInt64 = 0
    for place in counts.indices { sum &+= counts[place] }
    return sum
  }
}
