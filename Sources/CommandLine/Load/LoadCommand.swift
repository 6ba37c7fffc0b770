import Load
import Server

/// `sociograph load`: sends operations at a rate and measures the answers; compares two servers, or
/// two saved runs.
enum LoadCommand {
  static let specification = CommandSpecification(
    "load",
    "Sends operations to a server at a rate and measures the answers; compares two servers.",
    operands: "MIX | compare MIX | compare BEFORE.json AFTER.json",
    sections: [
      CommandSpecification.Section(
        "Load",
        [
          option(
            "url", "URL", default: "http://127.0.0.1:8080/graphql",
            "the server: http:, https: or unix:PATH"),
          option("rate", "N", "the arrivals a second, a decimal number"),
          option(
            "arrivals", "poisson|even", default: "poisson",
            "how arrivals are spread: with exponential gaps, or all 1/N apart"),
          option(
            "duration", "TIME", default: "30s",
            "the length of the measured window; of compare, for each server"),
          option("warm-up", "TIME", default: "5s", "the same load before it, which no figure has"),
          option(
            "connections", "N", default: "128",
            "the maximum number of connections; other requests wait, and their latency counts from their "
              + "intended start"),
          option(
            "timeout", "TIME", default: "30s",
            "the time limit of a request, from its intended start"),
          option(
            "seed", "N", default: "1",
            "the same seed draws the same arrivals, operations, variables and tokens"),
          option(
            "slo", "TEXT", default: "p99<100ms errors<0.1%",
            "the objective: p50, p90, p95, p99 or p99.9 below a TIME, errors below a share; NAME:p99<TIME for "
              + "one operation"),
        ]),
      CommandSpecification.Section(
        "Knee",
        [
          option("find-knee", nil, "find the highest rate at which --slo is met"),
          option("rates", "LOW..HIGH", default: "10..20000", "the rates that are tried"),
          option("step", "TIME", default: "10s", "the length of one step"),
          option(
            "precision", "PERCENT", default: "2.5%",
            "how far the lowest rate that is missed may be above the highest that is met"),
        ]),
      CommandSpecification.Section(
        "Requests",
        [
          option("tokens", "FILE", "session tokens, one a line, to draw from for each request"),
          option(
            "people", "N",
            "create sessions for N users in --database, whose role must own the graph, and end them after the run"
          ),
          option("header", "TEXT", repeatable: true, "send this header with each request"),
          option(
            "timings", "on|off", default: "on",
            "ask the server for Server-Timing, to split the latency"),
          option(
            "documents", "FILE",
            "a manifest of trusted documents (Relay, graphql-codegen or Apollo), in place of MIX or beside it"
          ),
          option(
            "send", "document|id", default: "document",
            "send documents, or their IDs in --documents"),
          option(
            "weights-from", "FILE",
            "a log of serve --access-log: the weight of an operation is the number of its lines"),
          option("writes", nil, "allow mutations, and subscriptions to what they commit"),
          option("ledger", "FILE", "write what became of each mutation, one JSON object a line"),
        ]),
      CommandSpecification.Section(
        "Results",
        [
          option(
            "database", "URL", "the PostgreSQL behind the server, to read its statistics"),
          SettingOptions.namespace,
          option("save", "FILE", "write the result as JSON"),
          option("report", "FILE", "write the result as one HTML page"),
        ]),
      CommandSpecification.Section(
        "Comparison",
        [
          option("against", "URL", "the other server of compare"),
          option("blocks", "N", default: "20", "the pairs of alternating blocks"),
        ]),
      CommandSpecification.Section(
        "Safety",
        [
          option(
            "allow-remote", "HOST", repeatable: true,
            "allow a server on another machine, named as in its URL"),
          option(
            "maximum-time", "TIME", default: "30m",
            "the time limit of the command; a longer plan is refused"),
        ]),
    ],
    notes: """
      MIX is a folder of operations, NAME.graphql each, with their weights and variables in mix.json,
      or a manifest of trusted documents. TIME is such as 500ms, 30s or 10m.
      Exit status: 0 done, and --slo is met if it was given; compare: same or faster. 1 --slo is missed,
      compare: slower, or a failure. 2 the command line or the mix is wrong, and nothing was sent.
      3 the generator was too late for the figures to be valid, or compare cannot tell. 130 interrupted.
      """)

  private static func option(
    _ name: String, _ placeholder: String?, default fallback: String? = nil,
    repeatable: Bool = false, _ summary: String
  ) -> CommandSpecification.Option {
    CommandSpecification.Option(
      name, placeholder,
      environment: "SOCIOGRAPH_LOAD_"
        + name.uppercased().split(separator: "-").joined(separator: "_"),
      default: fallback, isRepeatable: repeatable, summary)
  }

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    let settings = try LoadSettings(options)
    try LoadFiles.check([settings.save, settings.report, settings.ledger])
    for remark in settings.remarks { Console.say(remark) }
    switch settings.mode {
    case .files(let before, let after): return try compare(before, after, settings)
    case .servers(let against, let rate, let blocks):
      return try PairedExecution(settings, options).run(
        against: against, rate: rate, blocks: blocks)
    case .rate, .knee: return try LoadExecution(settings, options).run()
    }
  }

  private static func compare(
    _ before: String, _ after: String, _ settings: LoadSettings
  ) throws -> Int32 {
    let runs = try [before, after].map { name in
      do {
        return try SavedRun(Console.contents(of: name))
      } catch let error as LoadInputError {
        throw UsageError("\(name): \(error)")
      } catch let error as CommandFailure {
        throw UsageError(error.description)
      }
    }
    Console.say("two runs one after the other: what drifted between them is not in the intervals")
    let others = runs[0].differences(runs[1])
    if !others.isEmpty { Console.say("the runs differ in \(others.joined(separator: ", "))") }
    do {
      return try finish(SavedRun.compare(runs[0], runs[1]), settings)
    } catch let error as LoadInputError {
      throw UsageError(error.description)
    }
  }

  /// Prints and writes a comparison.
  ///
  /// - Returns: the exit code.
  static func finish(_ comparison: Comparison, _ settings: LoadSettings) throws -> Int32 {
    for line in comparison.lines { Console.print(line) }
    for fault in comparison.faults { Console.print("VOID: \(fault)") }
    Console.print("verdict: \(comparison.verdict.rawValue)")
    try write(comparison, settings)
    guard comparison.faults.isEmpty else { return 3 }
    return switch comparison.verdict {
    case .same, .faster: 0
    case .slower: 1
    case .unsure: 3
    }
  }

  /// Writes the files of a comparison.
  static func write(_ comparison: Comparison, _ settings: LoadSettings) throws {
    if let save = settings.save {
      try LoadFiles.write(comparison.json.bytes + [UInt8(ascii: "\n")], to: save)
    }
    if let report = settings.report {
      let page = LoadReport.html(
        comparison, program: "sociograph \(Program.version)", started: LoadExecution.now(),
        settings: settings.shown)
      try LoadFiles.write(Array(page.utf8), to: report)
    }
  }
}
