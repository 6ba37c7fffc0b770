import JSON

/// All that a run found, as it is written to files.
package struct LoadResult: Sendable {
  package enum Kind: String, Sendable { case rate, knee }

  package let program: String
  /// In the format of RFC 3339.
  package let started: String
  package var isComplete = true
  package let seed: UInt64
  package let kind: Kind
  package let url: String
  /// The options by name, without what is secret in them.
  package let settings: [(name: String, value: String)]
  /// The figures; nil if nothing was sent.
  package var measured: LoadMeasurement?
  package var steps: [KneeStep] = []
  package var search: KneeSearch?
  package var limit: KneeLimit?
  package var postgresql: PostgresFindings?
  /// The reasons other than the generator that make the run void.
  package var otherFaults: [String] = []

  package init(
    program: String, started: String, seed: UInt64, kind: Kind, url: String,
    settings: [(name: String, value: String)]
  ) {
    self.program = program
    self.started = started
    self.seed = seed
    self.kind = kind
    self.url = url
    self.settings = settings
  }

  /// Why the run is void; empty if it is valid.
  package var faults: [String] {
    var faults = (measured?.faults ?? []) + otherFaults
    if let missed = missedStep {
      faults += missed.measured.faults.map { "at \(LoadTime.decimal(missed.rate, 1))/s " + $0 }
    }
    return faults
  }

  /// The lowest step that was missed.
  package var missedStep: KneeStep? {
    guard let rate = search?.missed else { return nil }
    return steps.last { $0.rate == rate }
  }

  package var json: JSONValue {
    let empty = LoadMeasurement(WindowResult(), operations: [])
    let measured = measured ?? empty
    return .members([
      "format": .string("sociograph-load/1"), "program": .string(program),
      "started": .string(started), "complete": .boolean(isComplete),
      "seed": .number(String(seed)), "kind": .string(kind.rawValue),
      "target": .members(["url": .string(url)]),
      "settings": .object(
        settings.map { JSONValue.Member(name: $0.name, value: .string($0.value)) }),
      "totals": measured.totals.json,
      "validity": .members([
        "valid": .boolean(faults.isEmpty), "reasons": .array(faults.map { .string($0) }),
        "lag_ms": measured.lag.json, "generator_cores": .of(measured.generatorCores),
      ]),
      "operations": measured.operationsJSON, "seconds": measured.secondsJSON,
      "blocks": measured.blocksJSON, "stairs": .array(steps.map(Self.json)),
      "knee": kneeJSON, "postgresql": postgresql?.json ?? .null,
      "subscriptions": measured.deliveriesJSON,
    ])
  }

  private static func json(_ step: KneeStep) -> JSONValue {
    JSONValue.members([
      "rate_per_s": .of(step.rate), "met": .boolean(step.isMet),
      "why": step.isMet ? .null : .string(step.misses.joined(separator: "; ")),
      "valid": .boolean(step.measured.faults.isEmpty),
    ]).merged(step.measured.totals.json)
  }

  private var kneeJSON: JSONValue {
    guard let search else { return .null }
    return .members([
      "found": .boolean(search.isFound), "rate_per_s": .of(search.met),
      "missed_per_s": .of(search.missed),
      "limit": .members([
        "resource": .string(limit?.resource ?? "unknown"),
        "evidence": .string(limit?.evidence ?? ""),
      ]),
    ])
  }

  // MARK: - Text

  /// The summary for people.
  package var text: String {
    guard let measured else { return (kneeText ?? "Nothing was sent.") + "\n" }
    var lines: [String] = []
    let totals = measured.totals
    lines.append(
      "\(LoadTime.decimal(totals.offeredPerSecond, 1))/s offered for "
        + "\(LoadTime.decimal(totals.seconds, 1)) s: \(totals.offered) requests, \(totals.ok) ok, "
        + "\(totals.errorCount) errors")
    if totals.errorCount > 0 {
      let kinds = Outcome.allCases.filter { $0 != .ok && totals.count($0) > 0 }
      let codes = totals.byCode.prefix(5).map { "\($0.code) \($0.count)" }
      lines.append(
        "errors: " + (kinds.map { "\($0) \(totals.count($0))" } + codes).joined(separator: ", "))
    }
    var rows = [["", "count", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]]
    rows.append(Self.row("latency ms", totals.latency))
    rows.append(Self.row("service ms", totals.service))
    if totals.failed.count > 0 { rows.append(Self.row("failed ms", totals.failed)) }
    if measured.operations.count > 1 {
      for operation in measured.operations {
        rows.append(Self.row(operation.name, operation.group.latency))
      }
    }
    for figures in measured.deliveries {
      rows.append(Self.row("\(figures.name) from sending", figures.fromSend))
      rows.append(Self.row("\(figures.name) from answer", figures.fromAnswer))
    }
    lines += Self.table(rows)
    lines += measured.deliveries.map(\.text)
    if !totals.split.isEmpty {
      lines.append(
        "mean ms of \(totals.timed) timed: "
          + totals.split.map { "\($0.name) \(LoadTime.milliseconds($0.milliseconds * 1e6))" }
          .joined(separator: ", "))
    }
    if let postgresql { lines += postgresql.lines(measured) }
    lines.append(
      "generator: p99 lag \(LoadTime.text(measured.lag.quantile(990).map { Double($0) })), "
        + "\(LoadTime.decimal(measured.generatorCores, 2)) cores")
    if let kneeText { lines.append(kneeText) }
    if !isComplete { lines.append("interrupted: the figures are those of what there was") }
    for fault in faults { lines.append("VOID: \(fault)") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The knee in a sentence; nil if none was searched.
  package var kneeText: String? {
    guard let search else { return nil }
    guard let met = search.met else {
      return "knee: not found; the objective is missed at the lowest rate already"
    }
    guard let missed = search.missed else {
      return
        "knee: not found; the objective is met at \(LoadTime.decimal(met, 1))/s, the highest rate"
    }
    return
      "knee: \(LoadTime.decimal(met, 1))/s met, \(LoadTime.decimal(missed, 1))/s missed; limit: "
      + "\(limit?.resource ?? "unknown") (\(limit?.evidence ?? ""))"
  }

  private static func row(_ name: String, _ figures: DurationStatistics) -> [String] {
    [name, "\(figures.count)", LoadTime.milliseconds(figures.mean)]
      + DurationStatistics.quantiles.map {
        LoadTime.milliseconds(figures.quantile($0.thousandths).map { Double($0) })
      } + [LoadTime.milliseconds(figures.sorted.last.map { Double($0) })]
  }

  /// Returns rows with their columns aligned, the first to the left.
  static func table(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + space : space + cell
      }.joined(separator: "  ")
    }
  }
}

extension KneeStep {
  /// The line of a step.
  package var text: String {
    "\(LoadTime.decimal(rate, 1))/s  p50 "
      + "\(LoadTime.text(measured.totals.latency.quantile(500).map { Double($0) }))  p99 "
      + "\(LoadTime.text(measured.totals.latency.quantile(990).map { Double($0) }))  errors "
      + "\(measured.totals.errorCount)  "
      + (isMet ? "met" : "missed: " + misses.joined(separator: "; "))
      + (measured.faults.isEmpty ? "" : "  VOID")
  }
}
