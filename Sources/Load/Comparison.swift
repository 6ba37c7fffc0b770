import Glibc
import JSON

/// Whether one server is slower than another, from blocks of both.
package struct Comparison: Sendable {
  package enum Verdict: String, Sendable { case same, slower, faster, unsure }

  package enum Method: String, Sendable {
    /// Each block of one side against one of the other with the same requests: ranks of the
    /// differences.
    case pairedBlocks = "paired-blocks"
    /// Blocks of two runs: Welch's test. The drift between the runs is not in it.
    case welchBlocks = "welch-blocks"
  }

  /// The answers of one operation in one block: their number, and their quantiles in nanoseconds.
  package struct Block: Sendable {
    package let count: Int
    package let p50: Double?
    package let p99: Double?

    package init(count: Int, p50: Double?, p99: Double?) {
      self.count = count
      self.p50 = p50
      self.p99 = p99
    }

    /// - Parameter sorted: nanoseconds, ascending.
    package init(_ sorted: [Int64]) {
      self.init(
        count: sorted.count, p50: DurationStatistics.quantile(500, of: sorted).map { Double($0) },
        p99: DurationStatistics.quantile(990, of: sorted).map { Double($0) })
    }
  }

  /// One operation on both sides.
  package struct Subject: Sendable {
    package let name: String
    package let a: [Block]
    package let b: [Block]
    /// The quantiles of all blocks together: p50, then p99.
    package let wholeA: [Double?]
    package let wholeB: [Double?]

    package init(
      name: String, a: [Block], b: [Block], wholeA: [Double?], wholeB: [Double?]
    ) {
      self.name = name
      self.a = a
      self.b = b
      self.wholeA = wholeA
      self.wholeB = wholeB
    }
  }

  package struct Metric: Sendable {
    package let name: String
    package let a: Double?
    package let b: Double?
    /// The ratio of b to a, and its interval; nil if there are too few answers.
    package let ratio: Double?
    package let interval: (low: Double, high: Double)?
    package let verdict: Verdict
  }

  package struct OperationVerdict: Sendable {
    package let name: String
    package let metrics: [Metric]
    package let verdict: Verdict
  }

  package let method: Method
  package let blockCount: Int
  package let operations: [OperationVerdict]
  /// Why the comparison is void; empty if it is valid.
  package var faults: [String] = []

  /// The confidence of all verdicts together.
  package static let confidence = 0.99

  /// The metrics, with the answers a block needs on average.
  private static let metrics:
    [(name: String, minimum: Double, value: @Sendable (Block) -> Double?)] =
      [("p50", 20, { $0.p50 }), ("p99", 400, { $0.p99 })]

  package init(_ subjects: [Subject], method: Method) {
    self.method = method
    blockCount = subjects.map { max($0.a.count, $0.b.count) }.max() ?? 0
    let asked = subjects.reduce(0) { sum, subject in
      sum + Self.metrics.count { Self.isEnough(subject, $0.minimum) }
    }
    let error = (1 - Self.confidence) / Double(max(asked, 1))
    operations = subjects.map { subject in
      let metrics = Self.metrics.enumerated().map { place, metric in
        Self.metric(
          subject, place, metric.name, Self.isEnough(subject, metric.minimum), metric.value, method,
          error: error)
      }
      return OperationVerdict(
        name: subject.name, metrics: metrics, verdict: Self.verdict(of: metrics))
    }
  }

  private static func isEnough(_ subject: Subject, _ minimum: Double) -> Bool {
    [subject.a, subject.b].allSatisfy { blocks in
      let counts = blocks.map { Double($0.count) }
      return counts.count >= 2 && counts.reduce(0, +) >= minimum * Double(counts.count)
        && counts.allSatisfy { $0 >= minimum / 2 }
    }
  }

  private static func metric(
    _ subject: Subject, _ place: Int, _ name: String, _ isEnough: Bool,
    _ value: (Block) -> Double?, _ method: Method, error: Double
  ) -> Metric {
    let (wholeA, wholeB) = (subject.wholeA[place], subject.wholeB[place])
    let a = subject.a.compactMap(value).filter { $0 > 0 }.map { log($0) }
    let b = subject.b.compactMap(value).filter { $0 > 0 }.map { log($0) }
    guard isEnough, a.count == subject.a.count, b.count == subject.b.count else {
      return Metric(
        name: name, a: wholeA, b: wholeB, ratio: nil, interval: nil, verdict: .unsure)
    }
    let estimate =
      switch method {
      case .pairedBlocks: SignedRanks(zip(a, b).map { $1 - $0 }).estimate(error: error)
      case .welchBlocks: Welch.estimate(a, b, error: error)
      }
    return Metric(
      name: name, a: wholeA, b: wholeB, ratio: exp(estimate.center),
      interval: estimate.interval.map { (low: exp($0.low), high: exp($0.high)) },
      verdict: verdict(estimate))
  }

  private static func verdict(_ estimate: Estimate) -> Verdict {
    guard let (low, high) = estimate.interval else { return .unsure }
    let isOff = abs(exp(estimate.center) - 1) >= 0.01
    if low > 0, isOff { return .slower }
    if high < 0, isOff { return .faster }
    return (high - low) / 2 <= log(1.03) ? .same : .unsure
  }

  private static func verdict(of metrics: [Metric]) -> Verdict {
    if metrics.contains(where: { $0.verdict == .slower }) { return .slower }
    if metrics.contains(where: { $0.verdict == .faster }) { return .faster }
    return metrics.first?.verdict == .same ? .same : .unsure
  }

  /// The verdict on all operations.
  package var verdict: Verdict {
    for verdict in [Verdict.slower, .unsure, .faster] {
      if operations.contains(where: { $0.verdict == verdict }) { return verdict }
    }
    return operations.isEmpty ? .unsure : .same
  }

  // MARK: - Output

  /// The lines for people, one for each metric.
  package var lines: [String] {
    operations.flatMap { operation in
      operation.metrics.map { metric in
        var line =
          "\(operation.name) \(metric.name) \(LoadTime.milliseconds(metric.a)) -> "
          + "\(LoadTime.milliseconds(metric.b)) ms"
        if let ratio = metric.ratio { line += " \(LoadTime.decimal(ratio, 2))" }
        if let (low, high) = metric.interval {
          line += " (\(LoadTime.decimal(low, 2))..\(LoadTime.decimal(high, 2)))"
        }
        line += " \(metric.verdict.rawValue)"
        return metric.ratio == nil ? line + ", too few answers" : line
      }
    }
  }

  package var json: JSONValue {
    .members([
      "format": .string("sociograph-load-compare/1"), "valid": .boolean(faults.isEmpty),
      "reasons": .array(faults.map { .string($0) }),
      "method": .members([
        "name": .string(method.rawValue), "blocks": .of(blockCount),
        "confidence": .of(Self.confidence),
      ]),
      "operations": .array(
        operations.map { operation in
          .members([
            "name": .string(operation.name), "verdict": .string(operation.verdict.rawValue),
            "metrics": .array(
              operation.metrics.map { metric in
                .members([
                  "metric": .string(metric.name), "a_ms": .milliseconds(metric.a),
                  "b_ms": .milliseconds(metric.b), "ratio": .of(metric.ratio),
                  "low": .of(metric.interval?.low), "high": .of(metric.interval?.high),
                  "verdict": .string(metric.verdict.rawValue),
                ])
              }),
          ])
        }),
      "verdict": .string(verdict.rawValue),
    ])
  }
}

/// A difference of logarithms, and its interval; nil if the blocks are too few for one.
package struct Estimate: Sendable {
  package let center: Double
  package let interval: (low: Double, high: Double)?
}

/// The median of Hodges and Lehmann, and the exact interval of Wilcoxon's signed ranks.
package struct SignedRanks: Sendable {
  private let averages: [Double]
  private let count: Int

  package init(_ differences: [Double]) {
    count = differences.count
    var averages: [Double] = []
    for (index, first) in differences.enumerated() {
      for second in differences[index...] { averages.append((first + second) / 2) }
    }
    self.averages = averages.sorted()
  }

  /// - Parameter error: the probability of missing the difference, on both sides together.
  package func estimate(error: Double) -> Estimate {
    guard !averages.isEmpty else { return Estimate(center: 0, interval: nil) }
    let middle = averages.count / 2
    let center =
      averages.count % 2 == 1 ? averages[middle] : (averages[middle - 1] + averages[middle]) / 2
    guard let cut = Self.criticalRank(count, error: error) else {
      return Estimate(center: center, interval: nil)
    }
    return Estimate(
      center: center, interval: (averages[cut], averages[averages.count - 1 - cut]))
  }

  /// Returns the largest number of averages to leave out at either end; nil if even the outermost
  /// are too sure.
  ///
  /// The sum of the positive ranks is at most `w` with the probability of the subsets of 1...n whose
  /// sum is at most `w`, over 2^n.
  package static func criticalRank(_ count: Int, error: Double) -> Int? {
    let total = count * (count + 1) / 2
    var ways = [Double](repeating: 0, count: total + 1)
    ways[0] = 1
    for rank in stride(from: 1, through: count, by: 1) {
      for sum in stride(from: total, through: rank, by: -1) { ways[sum] += ways[sum - rank] }
    }
    let all = pow(2, Double(count))
    var below = 0.0
    var cut: Int?
    for sum in 0...total {
      below += ways[sum] / all
      guard below <= error / 2 else { break }
      cut = sum
    }
    // The interval from the average after those that are left out.
    return cut.map { min($0, (total - 1) / 2) }
  }
}

/// Welch's interval for the difference of two means.
package enum Welch {
  package static func estimate(_ a: [Double], _ b: [Double], error: Double) -> Estimate {
    let (meanA, errorA) = mean(a)
    let (meanB, errorB) = mean(b)
    let center = meanB - meanA
    let sum = errorA + errorB
    guard a.count >= 2, b.count >= 2 else { return Estimate(center: center, interval: nil) }
    guard sum > 0 else { return Estimate(center: center, interval: (center, center)) }
    let degrees =
      sum * sum / (errorA * errorA / Double(a.count - 1) + errorB * errorB / Double(b.count - 1))
    let reach = StudentT.quantile(1 - error / 2, degrees: degrees) * sqrt(sum)
    return Estimate(center: center, interval: (center - reach, center + reach))
  }

  /// Returns the mean, and the square of its standard error.
  private static func mean(_ values: [Double]) -> (Double, Double) {
    guard values.count >= 2 else { return (values.first ?? 0, 0) }
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (mean, squares / (count - 1) / count)
  }
}

/// Student's distribution.
package enum StudentT {
  /// Returns the value that a share of the distribution is below.
  package static func quantile(_ share: Double, degrees: Double) -> Double {
    var (low, high) = (-1.0, 1.0)
    while cumulative(high, degrees) < share, high < 1e12 { high *= 2 }
    while cumulative(low, degrees) > share, low > -1e12 { low *= 2 }
    for _ in 0..<200 {
      let middle = (low + high) / 2
      if cumulative(middle, degrees) < share { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  static func cumulative(_ value: Double, _ degrees: Double) -> Double {
    let tail = beta(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
    return value > 0 ? 1 - tail : tail
  }

  /// The regularized incomplete beta function, by its continued fraction (Lentz's method).
  private static func beta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    if x > (a + 1) / (a + b + 2) { return 1 - beta(1 - x, b, a) }
    let scale = exp(
      lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x))
    let tiny = 1e-300
    func away(_ value: Double) -> Double { abs(value) < tiny ? tiny : value }
    var c = 1.0
    var d = 1 / away(1 - (a + b) * x / (a + 1))
    var fraction = d
    for step in 1...300 {
      let m = Double(step)
      let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
      d = 1 / away(1 + even * d)
      c = away(1 + even / c)
      fraction *= d * c
      let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
      d = 1 / away(1 + odd * d)
      c = away(1 + odd / c)
      let change = d * c
      fraction *= change
      if abs(change - 1) < 1e-15 { break }
    }
    return scale * fraction / a
  }
}
