import Dispatch
import Foundation
import Glibc
import HTTP
import Load
import Postgres
import Server
import Synchronization

/// Ends a run at SIGINT and SIGTERM, the second time at once, and at the limit of its time.
final class LoadSignals: @unchecked Sendable {
  // @unchecked: `sources` is filled by `init` and then only held.
  let interrupt = LoadInterrupt()
  private let count = Atomic(0)
  private let isLate = Atomic(false)
  private var sources: [any DispatchSourceProtocol] = []
  private let queue = DispatchQueue(label: "sociograph.load.signals")

  init(maximumTime: Duration) {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { [weak self] in self?.receive() }
      source.resume()
      sources.append(source)
    }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Double(maximumTime.components.seconds))
    timer.setEventHandler { [weak self] in
      self?.isLate.store(true, ordering: .relaxed)
      self?.interrupt.raise()
    }
    timer.resume()
    sources.append(timer)
  }

  private func receive() {
    if count.add(1, ordering: .relaxed).newValue > 1 { _exit(130) }
    interrupt.raise()
  }

  /// The exit code of a run that was ended early; nil for others.
  var exitCode: Int32? {
    if count.load(ordering: .relaxed) > 0 { return 130 }
    return isLate.load(ordering: .relaxed) ? 1 : nil
  }
}

/// Tells on standard error how a run goes: on a terminal one line each second, elsewhere a line each
/// ten seconds.
struct LoadProgress {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let state = Counter()

  private final class Counter {
    var seconds = 0
    var recent: [Int64] = []
    var lag: Int64 = 0
    var isShown = false
    /// The seconds in a row in which the generator was late.
    var lateSeconds = 0
    var hasWarned = false
  }

  /// The lag of a second beyond which the generator has no time for its work.
  private static let maximumLag: Int64 = 50_000_000

  func show(_ progress: LoadDriver.Progress) {
    state.seconds += 1
    state.recent += progress.recent
    state.lag = max(state.lag, progress.lag)
    warn(progress.lag)
    guard isTerminal || state.seconds % 10 == 0 else { return }
    let figures = DurationStatistics(state.recent)
    func text(_ thousandths: Int) -> String {
      LoadTime.text(figures.quantile(thousandths).map { Double($0) })
    }
    let line =
      "offered \(progress.offered), ok \(progress.ok), p50 \(text(500)), p99 \(text(990)), "
      + "errors \(progress.errors), in flight \(progress.inFlight), lag \(LoadTime.text(Double(state.lag)))"
    state.recent = []
    state.lag = 0
    if isTerminal {
      Console.write("\r\u{1B}[K\(line)", to: STDERR_FILENO)
      state.isShown = true
    } else {
      Console.say(line)
    }
  }

  /// Says after two seconds, and not with the result, that the figures will be void.
  private func warn(_ lag: Int64) {
    state.lateSeconds = lag > Self.maximumLag ? state.lateSeconds + 1 : 0
    guard state.lateSeconds == 2, !state.hasWarned else { return }
    state.hasWarned = true
    clear()
    Console.warn(
      "this machine is too busy: requests are sent \(LoadTime.text(Double(lag))) after their time, so that "
        + "the figures will be void; give the generator a free core, or lower --rate")
  }

  /// Removes the line of a terminal.
  func clear() {
    guard state.isShown else { return }
    state.isShown = false
    Console.write("\r\u{1B}[K", to: STDERR_FILENO)
  }
}

/// One run at a rate, or one search for the knee, with its files and its exit code.
struct LoadExecution {
  private let settings: LoadSettings
  private let options: CommandOptions
  private let signals: LoadSignals
  private let progress = LoadProgress()

  init(_ settings: LoadSettings, _ options: CommandOptions) {
    self.settings = settings
    self.options = options
    signals = LoadSignals(maximumTime: settings.maximumTime)
  }

  func run() throws -> Int32 {
    guard var plan = settings.plan else { return 2 }
    let kind: LoadResult.Kind = if case .knee = settings.mode { .knee } else { .rate }
    var result = LoadResult(
      program: "sociograph \(Program.version)", started: Self.now(), seed: plan.seed, kind: kind,
      url: settings.url, settings: settings.shown)
    let ledger = try settings.ledger.map { try LoadLedger($0) }
    defer { ledger?.finish() }
    var onLedger: (@Sendable (LoadDriver.LedgerEntry) -> Void)?
    if let ledger { onLedger = { ledger.write($0) } }
    do {
      let people = try settings.makePeople()
      defer { people?.end() }
      if let people { plan.requests.tokens = people.texts }
      let side = try LoadSide(plan, interrupt: signals.interrupt, onLedger: onLedger)
      defer { side.close() }
      try side.tryOut()
      measure(side, try view(), &result)
    } catch let error as LoadFailure {
      result.isComplete = false
      try write(result)
      if let code = signals.exitCode { return code }
      throw CommandFailure(error.description)
    }
    progress.clear()
    result.isComplete = result.isComplete && !signals.interrupt.isRaised
    Console.write(result.text)
    let misses = misses(of: result)
    if let misses { Console.print(verdictText(misses)) }
    try write(result, misses: misses)
    if let code = signals.exitCode { return code }
    if !result.faults.isEmpty { return 3 }
    if let measured = result.measured, measured.totals.offered > 0,
      measured.totals.count(.transport) == measured.totals.offered
    {
      throw CommandFailure("no request was answered: each connection failed.")
    }
    return misses?.isEmpty == false ? 1 : 0
  }

  /// Returns the view of the PostgreSQL to observe; nil without one.
  private func view() throws -> PostgresView? {
    guard let configuration = settings.database else { return nil }
    do {
      return try PostgresView(configuration)
    } catch let error as PostgresError {
      throw LoadFailure("--database: \(error.message)")
    }
  }

  private func measure(_ side: LoadSide, _ view: PostgresView?, _ result: inout LoadResult) {
    switch settings.mode {
    case .rate(let rate):
      var findings: PostgresFindings?
      let measured = side.measure(
        rate: rate,
        around: { window in
          guard let view else { return window() }
          let (found, seen) = view.observe(window)
          findings = seen
          return found
        }, onProgress: { progress.show($0) })
      result.postgresql = findings
      result.measured = measured
      result.isComplete = measured.isComplete
    case .knee(let knee): search(side, knee, view, &result)
    case .servers, .files: break
    }
  }

  private func search(
    _ side: LoadSide, _ knee: KneeRun.Settings, _ view: PostgresView?, _ result: inout LoadResult
  ) {
    var findings: [PostgresFindings] = []
    let run = KneeRun(side, knee, objective: settings.objective)
    let (search, steps) = run.run(
      interrupt: signals.interrupt,
      window: { _, window in
        guard let view else { return window() }
        let (found, seen) = view.observe(window)
        findings.append(seen)
        return found
      }, onProgress: { progress.show($0) },
      onStep: { step in
        progress.clear()
        Console.print(step.text)
      })
    result.search = search
    result.steps = steps
    let met = steps.lastIndex { $0.isMet && $0.rate == search.met }
    result.measured = met.map { steps[$0].measured }
    if let met, met < findings.count { result.postgresql = findings[met] }
    let missed = steps.lastIndex { $0.rate == search.missed }
    guard search.isFound, let missed else { return }
    result.limit = KneeLimit(
      first: steps.first { $0.isMet }?.measured,
      met: result.measured, missed: steps[missed].measured,
      before: result.postgresql, after: missed < findings.count ? findings[missed] : nil)
  }

  /// Returns the terms of the objective that are missed; nil if none was given.
  private func misses(of result: LoadResult) -> [String]? {
    guard settings.isJudged, result.kind == .rate, let measured = result.measured else {
      return nil
    }
    return settings.objective.misses(measured)
  }

  private func verdictText(_ misses: [String]) -> String {
    misses.isEmpty
      ? "met: \(settings.objective.terms.map(\.text).joined(separator: " "))"
      : "missed: \(misses.joined(separator: "; "))"
  }

  private func write(_ result: LoadResult, misses: [String]? = nil) throws {
    if let save = settings.save {
      try LoadFiles.write(result.json.bytes + [UInt8(ascii: "\n")], to: save)
    }
    if let report = settings.report {
      try LoadFiles.write(
        Array(
          LoadReport(
            result, verdict: misses.map(verdictText),
            objective: settings.isJudged || result.kind == .knee ? settings.objective : nil
          ).html.utf8), to: report)
    }
  }

  /// The time in the format of RFC 3339.
  static func now() -> String {
    Date().formatted(.iso8601)
  }
}

/// Two servers in alternating blocks.
struct PairedExecution {
  private let settings: LoadSettings
  private let options: CommandOptions
  private let signals: LoadSignals

  init(_ settings: LoadSettings, _ options: CommandOptions) {
    self.settings = settings
    self.options = options
    signals = LoadSignals(maximumTime: settings.maximumTime)
  }

  func run(against: HTTPTarget, rate: Double, blocks: Int) throws -> Int32 {
    guard var plan = settings.plan else { return 2 }
    let (comparison, sides): (Comparison?, [LoadMeasurement])
    do {
      let people = try settings.makePeople()
      defer { people?.end() }
      if let people { plan.requests.tokens = people.texts }
      var other = plan
      other.target = against
      let a = try LoadSide(plan, interrupt: signals.interrupt)
      defer { a.close() }
      let b = try LoadSide(other, interrupt: signals.interrupt)
      defer { b.close() }
      for side in [a, b] { try side.tryOut() }
      if a.pools != b.pools { Console.say("the pools of the two servers have different values") }
      (comparison, sides) = PairedRun(a, b, rate: rate, blocks: blocks).run(
        interrupt: signals.interrupt
      ) { pair, side in
        if side == 0, pair % 5 == 0 { Console.say("pair \(pair + 1) of \(blocks)") }
      }
    } catch let error as LoadFailure {
      try writeNothing()
      if let code = signals.exitCode { return code }
      throw CommandFailure(error.description)
    }
    for (name, side) in zip(["A", "B"], sides) where side.totals.errorCount > 0 {
      Console.print("\(name): \(side.totals.errorCount) of \(side.totals.offered) requests failed")
    }
    guard let comparison else {
      try writeNothing()
      return signals.exitCode ?? 1
    }
    return try LoadCommand.finish(comparison, settings)
  }

  /// Writes a comparison of nothing.
  private func writeNothing() throws {
    var comparison = Comparison([], method: .pairedBlocks)
    comparison.faults = ["it ended before its last block"]
    try LoadCommand.write(comparison, settings)
  }
}
