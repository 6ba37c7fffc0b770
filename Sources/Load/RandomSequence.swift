import Glibc

/// Pseudorandom numbers from a seed (SplitMix64): the same seed gives the same numbers on every
/// machine.
package struct RandomSequence: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Creates the sequence of one part of a run, independent of those of other parts.
  package init(seed: UInt64, part: UInt64) {
    var first = RandomSequence(seed: seed)
    state = first.next() ^ (part &* 0xD6E8_FEB8_6659_FD93)
    state = next()
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Returns a number in 0..<1, in steps of 2^-53.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns an index of something with `count` elements, more than 0.
  package mutating func index(below count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(max(count, 1))).high)
  }
}

/// Weights that can be drawn from: an index has the probability of its weight's share.
package struct Weights: Sendable {
  private let sums: [Double]

  /// - Parameter weights: at least one, none below 0, not all of them 0.
  package init(_ weights: [Double]) {
    var sum = 0.0
    sums = weights.map { weight in
      sum += weight
      return sum
    }
  }

  /// The weights of the ranks of a Zipf distribution: rank k has (k + 1)^-exponent.
  package init(zipf exponent: Double, count: Int) {
    self.init((0..<count).map { pow(Double($0 + 1), -exponent) })
  }

  package func draw(_ random: inout RandomSequence) -> Int {
    let point = random.unit() * (sums.last ?? 0)
    var (low, high) = (0, max(sums.count - 1, 0))
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > point { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
