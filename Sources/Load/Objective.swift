/// A service level objective: `p99<100ms errors<0.1% Feed:p50<20ms`.
package struct Objective: Sendable {
  package enum Limit: Sendable, Equatable {
    /// A quantile, in thousandths, below nanoseconds.
    case latency(name: String, thousandths: Int, nanoseconds: Int64)
    /// The share of errors among what was offered, below a share.
    case errors(share: Double)
  }

  package struct Term: Sendable {
    /// The term as it was written.
    package let text: String
    /// The operation; nil for all of them together.
    package let operation: String?
    package let limit: Limit
  }

  package let terms: [Term]

  package init(_ text: String) throws(LoadInputError) {
    var terms: [Term] = []
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\n" }) {
      terms.append(try Self.term(String(word)))
    }
    guard !terms.isEmpty else { throw LoadInputError("there is no term in it.") }
    self.terms = terms
  }

  private static func term(_ text: String) throws(LoadInputError) -> Term {
    let parts = text.split(separator: "<", omittingEmptySubsequences: false).map(String.init)
    let fault = LoadInputError(
      "\"\(text)\" must be such as p99<100ms, errors<0.1% or Feed:p50<20ms, with p50, p90, p95, p99 or p99.9."
    )
    guard parts.count == 2 else { throw fault }
    var metric = parts[0][...]
    var operation: String?
    if let colon = metric.lastIndex(of: ":") {
      operation = String(metric[..<colon])
      metric = metric[metric.index(after: colon)...]
      guard operation != "" else { throw fault }
    }
    if metric == "errors" {
      guard parts[1].hasSuffix("%"), let percent = Double(parts[1].dropLast()), percent >= 0,
        percent <= 100
      else { throw fault }
      return Term(text: text, operation: operation, limit: .errors(share: percent / 100))
    }
    guard let quantile = DurationStatistics.quantiles.first(where: { $0.name == metric }),
      let nanoseconds = LoadTime.nanoseconds(parts[1]), nanoseconds > 0
    else { throw fault }
    return Term(
      text: text, operation: operation,
      limit: .latency(
        name: quantile.name, thousandths: quantile.thousandths, nanoseconds: nanoseconds))
  }

  /// The longest time among the terms.
  package var longest: Int64? {
    terms.compactMap { term in
      if case .latency(_, _, let nanoseconds) = term.limit { nanoseconds } else { nil }
    }.max()
  }

  /// Returns why a window misses its objective; empty if it is met.
  package func misses(_ measured: LoadMeasurement) -> [String] {
    terms.compactMap { term in
      guard
        let group = term.operation.map({ name in
          measured.operations.first { $0.name == name }?.group
        }) ?? measured.totals
      else { return "\(term.text): there is no such operation" }
      switch term.limit {
      case .latency(_, let thousandths, let limit):
        guard let value = group.latency.quantile(thousandths) else {
          return "\(term.text): no answers"
        }
        return value < limit ? nil : "\(term.text): \(LoadTime.text(Double(value)))"
      case .errors(let share):
        guard group.offered > 0 else { return nil }
        let found = Double(group.errorCount) / Double(group.offered)
        return found < share || group.errorCount == 0
          ? nil : "\(term.text): \(LoadTime.decimal(found * 100, 3)) %"
      }
    }
  }
}

/// Times as people write them.
package enum LoadTime {
  /// Reads `500ms`, `30s` or `10m`; nil for anything else.
  package static func nanoseconds(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit: Double? =
      switch text.dropFirst(digits.count) {
      case "us": 1e3
      case "ms": 1e6
      case "s": 1e9
      case "m", "min": 60e9
      default: nil
      }
    guard let unit, let number = Double(digits), number * unit < 1e18 else { return nil }
    return Int64((number * unit).rounded())
  }

  /// Returns nanoseconds such as `48.1 ms`.
  package static func text(_ nanoseconds: Double?) -> String {
    guard let nanoseconds else { return "-" }
    return milliseconds(nanoseconds) + " ms"
  }

  /// Returns nanoseconds as milliseconds, with three digits that matter.
  package static func milliseconds(_ nanoseconds: Double?) -> String {
    guard let nanoseconds else { return "-" }
    let value = nanoseconds / 1e6
    return decimal(value, value < 1 ? 3 : value < 10 ? 2 : value < 1000 ? 1 : 0)
  }

  /// Returns a number with so many decimals.
  package static func decimal(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "\(value)" }
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    let scaled = Int64((value.magnitude * power).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    let divisor = Int64(power)
    let fraction = String(scaled % divisor)
    let whole = "\(sign)\(scaled / divisor)"
    guard decimals > 0 else { return whole }
    return whole + "." + String(repeating: "0", count: decimals - fraction.utf8.count) + fraction
  }
}
