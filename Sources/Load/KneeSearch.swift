import Glibc

/// Looks for the highest rate at which an objective is met: doubles the rate until it is missed, then
/// halves the gap between the highest rate met and the lowest missed, on a logarithmic scale.
package struct KneeSearch: Sendable {
  package let rates: ClosedRange<Double>
  /// The ratio between missed and met at which the search ends, less 1.
  package let precision: Double
  /// The highest rate that was met.
  package private(set) var met: Double?
  /// The lowest rate that was missed.
  package private(set) var missed: Double?

  package init(rates: ClosedRange<Double>, precision: Double) {
    self.rates = rates
    self.precision = precision
  }

  /// The rate to try; nil at the end.
  package var next: Double? {
    guard let missed else {
      guard let met else { return rates.lowerBound }
      return met >= rates.upperBound ? nil : min(met * 2, rates.upperBound)
    }
    guard let met, missed / met > 1 + precision else { return nil }
    return sqrt(met * missed)
  }

  /// Takes the outcome of the rate that was to be tried.
  package mutating func record(_ rate: Double, met isMet: Bool) {
    if isMet { met = max(met ?? rate, rate) } else { missed = min(missed ?? rate, rate) }
  }

  /// Whether both ends are known.
  package var isFound: Bool { met != nil && missed != nil }

  /// The most steps that a search can take, of which the first missed one is taken twice.
  package var maximumSteps: Int {
    let stairs = Int(max(log2(rates.upperBound / rates.lowerBound), 0).rounded(.up)) + 1
    let halvings = Int(max(log2(log(2) / log(1 + precision)), 0).rounded(.up))
    return stairs + halvings + 1
  }
}

/// One step of a search.
package struct KneeStep: Sendable {
  package let rate: Double
  package let misses: [String]
  package let measured: LoadMeasurement

  package init(rate: Double, misses: [String], measured: LoadMeasurement) {
    self.rate = rate
    self.misses = misses
    self.measured = measured
  }

  package var isMet: Bool { misses.isEmpty }
}

/// The resource that limits a server at its knee.
package struct KneeLimit: Sendable, Equatable {
  package let resource: String
  package let evidence: String

  package init(resource: String, evidence: String) {
    self.resource = resource
    self.evidence = evidence
  }

  /// Compares the last step that was met with the first that was missed: the part of the time that
  /// grew most names the resource. A server refuses what waits too long for a connection, and says so
  /// (`SERVICE_OVERLOADED`): its connections or its statements are the limit, whatever grew besides.
  /// Other refusals are a limit of their own.
  package init(met: LoadMeasurement?, missed: LoadMeasurement) {
    let refused = missed.totals.count(.throttled)
    let isThrottled =
      refused > (met?.totals.count(.throttled) ?? 0) && refused * 2 > missed.totals.errorCount
      && Double(refused) > Double(missed.totals.offered) * 0.001
    let overloaded = missed.totals.byCode.first { $0.code == "SERVICE_OVERLOADED" }?.count ?? 0
    let refusals = "the server refused \(refused) of \(missed.totals.offered) requests"
    let grown = KneeLimit(growthFrom: met, to: missed)
    guard isThrottled else {
      self = grown
      return
    }
    guard overloaded * 2 >= refused else {
      self.init(resource: "throttled", evidence: refusals)
      return
    }
    let isKnown = ["connections", "postgresql"].contains(grown.resource)
    self.init(
      resource: isKnown ? grown.resource : "connections",
      evidence: isKnown
        ? "\(grown.evidence); \(refusals)" : "\(refusals), as none of its connections was free")
  }

  /// The parts that grow on the side of the generator, also because a server answers slowly and so
  /// keeps the connections.
  private static let outside: Set<String> = ["generator", "queue", "network"]

  private init(
    growthFrom met: LoadMeasurement?, to missed: LoadMeasurement, without left: Set<String> = []
  ) {
    guard missed.totals.timed > 0 else {
      self.init(
        resource: "unknown",
        evidence: "the server sends no Server-Timing, so that its times cannot be split")
      return
    }
    var before: [String: Double] = [:]
    for (name, value) in met?.totals.split ?? [] { before[name] = value }
    let growth = missed.totals.split.filter { !left.contains($0.name) }.map { part in
      (name: part.name, milliseconds: part.milliseconds - (before[part.name] ?? 0))
    }
    guard let most = growth.max(by: { $0.milliseconds < $1.milliseconds }) else {
      self.init(resource: "unknown", evidence: "no part of the time is known")
      return
    }
    let resource =
      switch most.name {
      case "wait": "connections"
      case "postgresql": "postgresql"
      case "network": "network"
      case "generator", "queue": "generator"
      default: "server"
      }
    let (from, to) = (before[most.name] ?? 0, (before[most.name] ?? 0) + most.milliseconds)
    self.init(
      resource: resource,
      evidence: "\(most.name) grew from \(LoadTime.text(from * 1e6)) to \(LoadTime.text(to * 1e6))")
  }

  /// As `init(met:missed:)`, and names what of PostgreSQL grew if that limits the server.
  ///
  /// If requests wait for connections because each statement takes longer than at the lowest rate,
  /// `first`, the limit is PostgreSQL and not their number.
  package init(
    first: LoadMeasurement?, met: LoadMeasurement?, missed: LoadMeasurement,
    before: PostgresFindings?, after: PostgresFindings?
  ) {
    var limit = KneeLimit(met: met, missed: missed)
    func server(_ measured: LoadMeasurement) -> Double {
      measured.totals.split.filter { !Self.outside.contains($0.name) }
        .reduce(0) { $0 + $1.milliseconds }
    }
    if limit.resource == "generator", let first, server(missed) >= 2 * server(first) {
      limit = KneeLimit(growthFrom: first, to: missed, without: Self.outside)
    }
    if limit.resource == "connections",
      let alone = first?.totals.split.first(where: { $0.name == "postgresql" })?.milliseconds,
      let crowded = missed.totals.split.first(where: { $0.name == "postgresql" })?.milliseconds,
      alone > 0, crowded >= 1.5 * alone
    {
      limit = KneeLimit(
        resource: "postgresql",
        evidence:
          "\(limit.evidence); a statement takes \(LoadTime.text(crowded * 1e6)) and not the "
          + "\(LoadTime.text(alone * 1e6)) of the lowest rate: more connections would not help")
    }
    guard limit.resource == "postgresql", let after else {
      self = limit
      return
    }
    var evidence = limit.evidence
    func share(_ wait: PostgresFindings.Wait, _ found: PostgresFindings) -> Double {
      Double(wait.samples) / Double(max(found.sampleCount, 1))
    }
    let growth = (after.waits ?? []).map { wait in
      let known = before?.waits?.first { $0.type == wait.type && $0.event == wait.event }
      let former = if let known, let before { share(known, before) } else { 0.0 }
      return (wait: wait, backends: share(wait, after) - former)
    }
    if let most = growth.max(by: { $0.backends < $1.backends }), most.backends > 0 {
      evidence +=
        "; \(LoadTime.decimal(most.backends, 1)) more backends at \(most.wait.type)/\(most.wait.event)"
    }
    if let statements = after.statements, let first = statements.first {
      let total = statements.reduce(0) { $0 + $1.milliseconds }
      evidence +=
        "; \(LoadTime.decimal(first.milliseconds / max(total, 1e-9) * 100, 0)) % of the execution time is \(first.name)"
    }
    self.init(resource: limit.resource, evidence: evidence)
  }
}
