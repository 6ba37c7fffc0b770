import Glibc

/// A result as one page of HTML: no script, nothing loaded, pictures as SVG.
package struct LoadReport {
  private let result: LoadResult
  private let verdict: String?
  private let objective: Objective?

  /// - Parameters:
  ///   - verdict: whether the objective is met, if one was given.
  ///   - objective: what the figures are to satisfy; nil if nothing was asked.
  package init(_ result: LoadResult, verdict: String?, objective: Objective? = nil) {
    self.result = result
    self.verdict = verdict
    self.objective = objective
  }

  /// The limits of the latency of all operations, as lines of a chart in milliseconds.
  private var levels: [(y: Double, text: String)] {
    (objective?.terms ?? []).compactMap { term in
      guard term.operation == nil, case .latency(_, _, let nanoseconds) = term.limit else {
        return nil
      }
      return (Double(nanoseconds) / 1e6, "objective \(term.text)")
    }
  }

  package var html: String {
    var body = summary + rate
    if let measured = result.measured {
      body += time(measured) + percentiles(measured) + split(measured) + operations(measured)
      body += subscriptions(measured)
    } else {
      body += ["time", "percentiles", "split", "operations"].map {
        Self.section($0, $0.prefix(1).uppercased() + $0.dropFirst(), "<p>Nothing was sent.</p>\n")
      }.joined()
    }
    body += Self.settings(result.settings, command: "load")
    if let found = result.postgresql { body += waits(found) + statements(found) }
    return Self.page("Load: \(result.url)", body)
  }

  /// The page of a comparison.
  package static func html(
    _ comparison: Comparison, program: String, started: String,
    settings: [(name: String, value: String)]
  ) -> String {
    let state =
      comparison.faults.isEmpty
      ? "<p class=\"valid\">valid</p>"
      : "<p class=\"void\">VOID</p>" + list(comparison.faults)
    let summary = section(
      "summary", "Summary",
      "\(state)\n<p>Verdict: <strong>\(comparison.verdict.rawValue)</strong>. \(HTML.text(program)), "
        + "\(HTML.text(started)). Method: \(comparison.method.rawValue), \(comparison.blockCount) blocks, "
        + "99 % confidence for all verdicts together.</p>\n")
    let rows = comparison.operations.flatMap { operation in
      operation.metrics.map { metric in
        [
          operation.name, metric.name, LoadTime.milliseconds(metric.a),
          LoadTime.milliseconds(metric.b), metric.ratio.map { LoadTime.decimal($0, 3) } ?? "-",
          metric.interval.map {
            "\(LoadTime.decimal($0.low, 3))..\(LoadTime.decimal($0.high, 3))"
          } ?? "-", metric.verdict.rawValue,
        ]
      }
    }
    let operations = section(
      "operations", "Operations",
      HTML.table(["operation", "metric", "A ms", "B ms", "ratio", "interval", "verdict"], rows))
    return page("Comparison", summary + operations + Self.settings(settings, command: "load"))
  }

  // MARK: - The page

  private static func page(_ title: String, _ body: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(HTML.text(title))</title>
    <style>
    \(style)
    </style>
    </head>
    <body>
    <h1>\(HTML.text(title))</h1>
    \(body)</body>
    </html>

    """
  }

  private static let style = """
    :root { --ink: #1d2433; --faint: #667085; --rule: #d9dee7; --page: #fff; --box: #f5f7fa; --bad: #b42318;
      --good: #146c43; --c0: #1f6feb; --c1: #d9480f; --c2: #2b8a3e; --c3: #9c36b5; --c4: #b08500; --c5: #0b7285;
      --c6: #c2255c; --c7: #5c6f82; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e4e8f0; --faint: #98a2b3; --rule: #3a4354; --page: #14181f;
      --box: #1d232d; --bad: #ff8a80; --good: #69d29a; --c0: #6ea8fe; --c1: #ff9f68; --c2: #69db7c; --c3: #da8bf0;
      --c4: #ffd43b; --c5: #66d9e8; --c6: #faa2c1; --c7: #a9b6c5; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 16px; max-width: 760px; background: var(--page); color: var(--ink);
      font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
    h1 { font-size: 22px; line-height: 1.25; } h2 { font-size: 18px; margin: 32px 0 8px; }
    figure { margin: 12px 0; } figcaption { font-weight: 600; }
    svg { display: block; width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--faint); }
    .grid { stroke: var(--rule); } .mark { stroke: var(--ink); stroke-dasharray: 4 3; }
    .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .area { opacity: .85; }
    .c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); } .c7 { stroke: var(--c7); } .f0 { fill: var(--c0); } .f1 { fill: var(--c1); }
    .f2 { fill: var(--c2); } .f3 { fill: var(--c3); } .f4 { fill: var(--c4); } .f5 { fill: var(--c5); }
    .f6 { fill: var(--c6); } .f7 { fill: var(--c7); } .b0 { background: var(--c0); } .b1 { background: var(--c1); }
    .b2 { background: var(--c2); } .b3 { background: var(--c3); } .b4 { background: var(--c4); }
    .b5 { background: var(--c5); } .b6 { background: var(--c6); } .b7 { background: var(--c7); }
    .legend { margin: 4px 0; font-size: 14px; } .legend span { margin-right: 14px; white-space: nowrap; }
    .legend i { display: inline-block; width: 10px; height: 10px; margin-right: 5px; print-color-adjust: exact; }
    .wide { overflow-x: auto; margin: 12px 0; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
    th, td { padding: 3px 10px 3px 0; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
    th:first-child, td:first-child { text-align: left; } th { color: var(--faint); font-weight: 600; }
    pre { background: var(--box); padding: 10px; overflow-x: auto; white-space: pre-wrap; }
    .valid { color: var(--good); font-weight: 700; } .void { color: var(--bad); font-weight: 700; }
    @media (max-width: 480px) { h1 { font-size: 19px; } table { font-size: 12px; } svg text { font-size: 14px; }
      th, td { padding-right: 5px; } }
    @media print { body { max-width: none; } section { break-inside: avoid; } }
    """

  private static func section(_ id: String, _ title: String, _ body: String) -> String {
    "<section id=\"\(id)\"><h2>\(HTML.text(title))</h2>\n\(body)</section>\n"
  }

  private static func list(_ items: [String]) -> String {
    items.isEmpty ? "" : "<ul>" + items.map { "<li>\(HTML.text($0))</li>" }.joined() + "</ul>\n"
  }

  // MARK: - Sections

  private var summary: String {
    var body =
      result.faults.isEmpty
      ? "<p class=\"valid\">valid</p>\n" : "<p class=\"void\">VOID</p>\n" + Self.list(result.faults)
    if !result.isComplete {
      body += "<p><strong>Interrupted.</strong> The figures are those of what there was.</p>\n"
    }
    body +=
      "<p>\(HTML.text(result.program)), \(HTML.text(result.started)), seed \(result.seed).</p>\n"
    if let verdict { body += "<p>Objective \(HTML.text(verdict)).</p>\n" }
    if let text = result.kneeText { body += "<p><strong>\(HTML.text(text))</strong></p>\n" }
    guard let measured = result.measured else { return Self.section("summary", "Summary", body) }
    let totals = measured.totals
    body += HTML.table(
      ["", "requests", "ok", "errors", "offered/s", "ok/s"],
      [
        [
          "all", "\(totals.offered)", "\(totals.ok)", "\(totals.errorCount)",
          LoadTime.decimal(totals.offeredPerSecond, 1), LoadTime.decimal(totals.okPerSecond, 1),
        ]
      ])
    body += HTML.table(
      ["ms", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"],
      [
        Self.row("latency", totals.latency), Self.row("service", totals.service),
        Self.row("failed", totals.failed), Self.row("lag", measured.lag),
      ])
    if totals.errorCount > 0 {
      body += Self.list(
        Outcome.allCases.filter { $0 != .ok && totals.count($0) > 0 }.map {
          "\($0): \(totals.count($0))"
        } + totals.byCode.prefix(20).map { "code \($0.code): \($0.count)" })
    }
    body += Self.list(result.postgresql?.remarks ?? [])
    body +=
      "<p>Latency counts from the time at which a request was due; service from the time at which it was sent. "
      + "The generator used \(LoadTime.decimal(measured.generatorCores, 2)) cores.</p>\n"
    return Self.section("summary", "Summary", body)
  }

  private static func row(_ name: String, _ figures: DurationStatistics) -> [String] {
    [name, LoadTime.milliseconds(figures.mean)]
      + DurationStatistics.quantiles.map {
        LoadTime.milliseconds(figures.quantile($0.thousandths).map { Double($0) })
      } + [LoadTime.milliseconds(figures.sorted.last.map { Double($0) })]
  }

  /// The verdict on a step whose figures are the generator's.
  private static let void = "VOID"

  private var rate: String {
    let groups: [(rate: Double, group: LoadGroup, verdict: String)] =
      result.steps.isEmpty
      ? result.measured.map { [($0.totals.offeredPerSecond, $0.totals, "")] } ?? []
      : result.steps.map {
        (
          $0.rate, $0.measured.totals,
          $0.measured.faults.isEmpty
            ? $0.isMet ? "met" : $0.misses.joined(separator: "; ") : Self.void
        )
      }
    let sorted = groups.sorted { $0.rate < $1.rate }
    func line(_ name: String, _ color: Int, _ thousandths: Int) -> Chart.Line {
      Chart.Line(
        name: name, color: color,
        points: sorted.compactMap { entry in
          entry.group.latency.quantile(thousandths).map { (entry.rate, Double($0) / 1e6) }
        }, showsPoints: true)
    }
    var chart = Chart(
      title: "Latency by offered rate",
      description: result.kneeText
        ?? "One rate: \(LoadTime.decimal(sorted.first?.rate ?? 0, 1)) a second.",
      xLabel: "requests offered a second", yLabel: "ms", xScale: .logarithmic, yScale: .logarithmic,
      lines: [line("p50", 0, 500), line("p99", 1, 990)])
    if let met = result.search?.met { chart.marks = [(met, "knee")] }
    chart.levels = levels
    let rows = sorted.map { entry in
      [
        LoadTime.decimal(entry.rate, 1), "\(entry.group.ok)", "\(entry.group.errorCount)",
        LoadTime.milliseconds(entry.group.latency.quantile(500).map { Double($0) }),
        LoadTime.milliseconds(entry.group.latency.quantile(990).map { Double($0) }),
        ["", "met", Self.void].contains(entry.verdict) ? entry.verdict : "missed",
      ]
    }
    let misses = sorted.filter { !["", "met"].contains($0.verdict) }.map { entry in
      "at \(LoadTime.decimal(entry.rate, 1))/s: "
        + (entry.verdict == Self.void
          ? "void, as the generator was late; the step says nothing of the server" : entry.verdict)
    }
    return Self.section(
      "rate", "Rate",
      chart.svg
        + HTML.table(["offered/s", "ok", "errors", "p50 ms", "p99 ms", "objective"], rows)
        + Self.list(misses))
  }

  private func time(_ measured: LoadMeasurement) -> String {
    func line(_ name: String, _ color: Int, _ value: (LoadMeasurement.Second) -> Int64?)
      -> Chart.Line
    {
      Chart.Line(
        name: name, color: color,
        points: measured.seconds.compactMap { second in
          value(second).map { (Double(second.number), Double($0) / 1e6) }
        })
    }
    var checkpoints: [(x: Double, text: String)] = []
    for second in result.postgresql?.checkpointSeconds.prefix(20) ?? [] {
      checkpoints.append((Double(second), "checkpoint"))
    }
    let highest = measured.seconds.compactMap(\.p99).max().map { Double($0) }
    let latency = Chart(
      title: "Latency by second",
      description: "The highest 99th percentile of a second is \(LoadTime.text(highest)).",
      xLabel: "seconds", yLabel: "ms",
      lines: [line("p50", 0) { $0.p50 }, line("p99", 1) { $0.p99 }], marks: checkpoints,
      levels: levels)
    func count(_ name: String, _ color: Int, _ value: (LoadMeasurement.Second) -> Int) -> Chart.Line
    {
      Chart.Line(
        name: name, color: color,
        points: measured.seconds.map { (Double($0.number), Double(value($0))) })
    }
    let throughput = Chart(
      title: "Requests by second",
      description: "\(LoadTime.decimal(measured.totals.okPerSecond, 1)) a second were answered, of "
        + "\(LoadTime.decimal(measured.totals.offeredPerSecond, 1)) offered.",
      xLabel: "seconds", yLabel: "requests a second",
      lines: [
        count("offered", 7) { $0.offered }, count("ok", 2) { $0.ok },
        count("errors", 1) { $0.errors },
      ], marks: checkpoints)
    let flight = Chart(
      title: "Requests in flight",
      description:
        "At most \(measured.seconds.map(\.inFlight).max() ?? 0) at the end of a second.",
      xLabel: "seconds", yLabel: "requests",
      lines: [
        Chart.Line(
          name: "in flight", color: 0,
          points: measured.seconds.map { (Double($0.number), Double($0.inFlight)) })
      ])
    return Self.section(
      "time", "Time", latency.svg + throughput.svg + parts(measured) + flight.svg)
  }

  /// The parts of the mean latency by second, on top of each other.
  private func parts(_ measured: LoadMeasurement) -> String {
    let seconds = measured.seconds.filter { !$0.split.isEmpty }
    guard !seconds.isEmpty else {
      return "<p>The server sends no Server-Timing, so the latency has no parts.</p>\n"
    }
    let step = max(seconds.count / Chart.maximumPoints, 1)
    let thinned = seconds.enumerated().filter { $0.offset % step == 0 }.map(\.element)
    let lines = measured.totals.split.enumerated().map { index, part in
      Chart.Line(
        name: part.name, color: index % 8,
        points: thinned.map { second in
          let value = second.split.first { $0.name == part.name }?.milliseconds ?? 0
          return (Double(second.number), max(value, 0))
        })
    }
    return Chart(
      title: "Parts of the mean latency by second",
      description: measured.totals.split.map {
        "\($0.name) \(LoadTime.text($0.milliseconds * 1e6))"
      }.joined(separator: ", "),
      xLabel: "seconds", yLabel: "ms",
      lines: Array(lines.filter { $0.points.contains { $0.y > 0 } }), isStacked: true
    ).svg
  }

  private func percentiles(_ measured: LoadMeasurement) -> String {
    func line(_ name: String, _ color: Int, _ figures: DurationStatistics) -> Chart.Line {
      let count = Double(figures.count)
      var points: [(x: Double, y: Double)] = []
      var x = 1.0
      while figures.count > 0, x <= count {
        let rank = min(Int(count * (1 - 1 / x)), figures.count - 1)
        points.append((x, Double(figures.sorted[rank]) / 1e6))
        x *= 1.06
      }
      return Chart.Line(name: name, color: color, points: points)
    }
    let chart = Chart(
      title: "Latency by percentile",
      description:
        "From the intended start, p99 is \(LoadTime.text(measured.totals.latency.quantile(990).map { Double($0) })); "
        + "from the sending, \(LoadTime.text(measured.totals.service.quantile(990).map { Double($0) })).",
      xLabel: "1 / (1 - q): 10 is p90, 100 is p99, 1000 is p99.9", yLabel: "ms",
      xScale: .logarithmic,
      lines: [
        line("from the intended start", 1, measured.totals.latency),
        line("from the sending", 0, measured.totals.service),
      ])
    return Self.section("percentiles", "Percentiles", chart.svg)
  }

  private func split(_ measured: LoadMeasurement) -> String {
    let split = measured.totals.split
    guard !split.isEmpty else {
      return Self.section(
        "split", "Split", "<p>The server sends no Server-Timing, so the latency has no parts.</p>\n"
      )
    }
    let total = split.reduce(0) { $0 + $1.milliseconds }
    var at = 0.0
    let bars = split.enumerated().map { index, part in
      let width = max(part.milliseconds, 0) / max(total, 1e-9) * 480
      defer { at += width }
      return "<rect class=\"f\(index % 8)\" x=\"\(LoadTime.decimal(at, 1))\" y=\"0\" width=\""
        + "\(LoadTime.decimal(width, 1))\" height=\"24\"/>"
    }.joined()
    let text = split.map {
      "\($0.name) \(LoadTime.decimal($0.milliseconds / max(total, 1e-9) * 100, 1)) %"
    }
    let picture =
      "<svg viewBox=\"0 0 480 24\" role=\"img\" aria-label=\"\(HTML.text(text.joined(separator: ", ")))\">"
      + "<title>Parts of the mean latency</title>\(bars)</svg>\n"
    let rows = split.map { part in
      [
        part.name, LoadTime.decimal(part.milliseconds, 3),
        LoadTime.decimal(part.milliseconds / max(total, 1e-9) * 100, 1),
      ]
    }
    return Self.section(
      "split", "Split",
      picture + HTML.table(["part", "mean ms", "%"], rows)
        + "<p>Of \(measured.totals.timed) requests whose answers had Server-Timing.</p>\n")
  }

  private func operations(_ measured: LoadMeasurement) -> String {
    let rows = measured.operations.map { operation in
      [
        operation.name, operation.kind.rawValue, LoadTime.decimal(operation.weight, 1),
        "\(operation.group.offered)", "\(operation.group.errorCount)",
      ]
        + [500, 950, 990].map {
          LoadTime.milliseconds(operation.group.latency.quantile($0).map { Double($0) })
        } + [LoadTime.milliseconds(operation.group.latency.sorted.last.map { Double($0) })]
    }
    return Self.section(
      "operations", "Operations",
      HTML.table(
        [
          "operation", "kind", "weight", "requests", "errors", "p50 ms", "p95 ms", "p99 ms",
          "max ms",
        ],
        rows))
  }

  private func subscriptions(_ measured: LoadMeasurement) -> String {
    guard !measured.deliveries.isEmpty else { return "" }
    let counts = measured.deliveries.map { figures in
      [
        figures.name, "\(figures.subscribers)", "\(figures.events)", "\(figures.missed)",
        "\(figures.twice)", "\(figures.ended)",
      ]
    }
    let times = measured.deliveries.flatMap { figures in
      [
        Self.row("\(figures.name) from sending", figures.fromSend),
        Self.row("\(figures.name) from answer", figures.fromAnswer),
      ]
    }
    return Self.section(
      "subscriptions", "Subscriptions",
      HTML.table(
        ["subscription", "subscribers", "events", "missed", "twice", "ended early"], counts)
        + HTML.table(["ms", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"], times)
        + "<p>The commit of a mutation lies between its sending and its answer. An event may be there before "
        + "the answer.</p>\n")
  }

  private static func settings(
    _ settings: [(name: String, value: String)], command: String
  ) -> String {
    var words = ["sociograph", command]
    for (name, value) in settings {
      switch (name, value) {
      case ("mix", _): words += value.split(separator: " ").map(String.init)
      case (_, "true"): words.append("--\(name)")
      default: words += ["--\(name)", quoted(value)]
      }
    }
    return section(
      "settings", "Settings",
      "<p>The command to repeat it:</p><pre>\(HTML.text(words.joined(separator: " ")))</pre>\n"
        + HTML.table(["option", "value"], settings.map { [$0.name, $0.value] }))
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-_./:=%,+@".utf8.contains(byte)
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }

  // MARK: - PostgreSQL

  private func waits(_ found: PostgresFindings) -> String {
    guard let waits = found.waits, !waits.isEmpty else {
      return Self.section("waits", "Waits", "<p>No backend of the server was seen.</p>\n")
    }
    let shown = waits.prefix(12)
    let columns = max(shown.map(\.bySecond.count).max() ?? 0, 1)
    let step = max((columns + 119) / 120, 1)
    let bins = (columns + step - 1) / step
    let most = shown.flatMap(\.bySecond).max() ?? 1
    let width = 330.0 / Double(bins)
    var parts = ""
    for (row, wait) in shown.enumerated() {
      let y = row * 18
      parts += "<text x=\"0\" y=\"\(y + 13)\">\(HTML.text("\(wait.type)/\(wait.event)"))</text>"
      for bin in 0..<bins {
        // A wait that was seen early has no entries for the rest of the window.
        let count = wait.bySecond.dropFirst(bin * step).prefix(step).max() ?? 0
        guard count > 0 else { continue }
        parts +=
          "<rect class=\"f1\" x=\"\(LoadTime.decimal(150 + Double(bin) * width, 1))\" y=\"\(y + 2)\" width=\""
          + "\(LoadTime.decimal(width, 2))\" height=\"14\" opacity=\""
          + "\(LoadTime.decimal(0.15 + 0.85 * Double(count) / Double(max(most, 1)), 2))\"/>"
      }
    }
    for second in found.checkpointSeconds.prefix(20) {
      let x = LoadTime.decimal(150 + Double(second / step) * width, 1)
      parts += "<line class=\"mark\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"\(shown.count * 18)\"/>"
    }
    let text = shown.prefix(4).map { "\($0.type)/\($0.event) \($0.samples)" }.joined(
      separator: ", ")
    let picture =
      "<figure><figcaption>Wait events by second; a dashed line is a checkpoint</figcaption>"
      + "<svg viewBox=\"0 0 480 \(shown.count * 18 + 4)\" role=\"img\" aria-label=\"\(HTML.text(text))\">"
      + "<title>Wait events by second</title>\(parts)</svg></figure>\n"
    let rows = shown.map { wait in
      [
        "\(wait.type)/\(wait.event)", "\(wait.samples)",
        LoadTime.decimal(Double(wait.samples) / Double(max(found.sampleCount, 1)), 2),
      ]
    }
    return Self.section(
      "waits", "Waits",
      picture + HTML.table(["event", "samples", "backends on average"], rows))
  }

  private func statements(_ found: PostgresFindings) -> String {
    guard let statements = found.statements else {
      return Self.section("statements", "Statements", Self.list(found.remarks))
    }
    let total = statements.reduce(0) { $0 + $1.milliseconds }
    let rows = statements.prefix(50).map { statement in
      [
        statement.name, LoadTime.decimal(statement.calls, 0),
        LoadTime.decimal(statement.milliseconds, 1),
        LoadTime.decimal(statement.milliseconds / max(statement.calls, 1), 3),
        LoadTime.decimal(statement.milliseconds / max(total, 1e-9) * 100, 1),
        LoadTime.decimal(statement.rows, 0), LoadTime.decimal(statement.hits, 0),
        LoadTime.decimal(statement.reads, 0), LoadTime.decimal(statement.walBytes, 0),
      ]
    }
    return Self.section(
      "statements", "Statements",
      HTML.table(
        ["statement", "calls", "ms", "ms a call", "%", "rows", "hits", "reads", "WAL bytes"], rows))
  }
}
