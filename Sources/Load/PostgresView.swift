import Dispatch
import EventLoops
import Foundation
import Postgres
import Synchronization

/// Observes PostgreSQL during windows, over a connection of its own: the statements before and after,
/// and each 100 ms what the backends of the server wait for.
package final class PostgresView: @unchecked Sendable {
  // @unchecked: the session is used by one thread at a time: by the caller between windows, by the
  // sampling thread within one, whose end the caller waits for.
  private let session: PostgresSession
  private let remarks: [String]
  private let hasStatements: Bool
  private let hasCheckpointer: Bool

  private struct Statement {
    let name: String
    let text: String
    let figures: [Double]
  }

  private struct State {
    var statements: [String: Statement] = [:]
    var counters: [String: Double] = [:]
  }

  private static let interval: Duration = .milliseconds(100)

  /// Connects, and finds out what the role may read.
  package init(_ configuration: PostgresConfiguration) throws {
    var configuration = configuration
    configuration.applicationName = "sociograph load"
    configuration.isReadOnly = true
    session = try PostgresSession(configuration)
    var remarks: [String] = []
    do {
      _ = try session.execute("SELECT 1 FROM pg_stat_statements LIMIT 1")
      hasStatements = true
    } catch {
      hasStatements = false
      remarks.append("no statements: pg_stat_statements cannot be read (\(error.message))")
    }
    let isMonitor = try session.execute("SELECT pg_has_role('pg_read_all_stats', 'USAGE')")
    if isMonitor.first?.first != "t" {
      remarks.append(
        "the role is no member of pg_read_all_stats, so that it sees only its own sessions")
    }
    let found = try session.execute(
      "SELECT to_regclass('pg_catalog.pg_stat_checkpointer') IS NOT NULL")
    hasCheckpointer = found.first?.first == "t"
    self.remarks = remarks
  }

  /// Runs a window and observes it.
  package func observe(_ window: () -> WindowResult) -> (WindowResult, PostgresFindings) {
    var findings = PostgresFindings()
    findings.remarks = remarks
    let before = try? state()
    let sampler = Sampler()
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread { [self] in
      sample(into: sampler)
      ended.signal()
    }
    thread.start()
    let result = window()
    sampler.isOver.store(true, ordering: .relaxed)
    ended.wait()
    // The sessions of the server send their counters to the shared ones once a second at most.
    if let before, let after = try? state() {
      add(before, after, to: &findings)
    } else {
      findings.remarks.append("its counters could not be read")
    }
    let (waits, count, checkpoints) = sampler.found.withLock {
      ($0.waits, $0.count, $0.checkpoints)
    }
    findings.sampleCount = count
    findings.checkpointSeconds = checkpoints
    findings.waits = waits.map { key, seconds in
      let parts = key.split(separator: "/", maxSplits: 1).map(String.init)
      return PostgresFindings.Wait(
        type: parts.first ?? "", event: parts.last ?? "", samples: seconds.reduce(0, +),
        bySecond: seconds)
    }.sorted { ($1.samples, $0.event) < ($0.samples, $1.event) }
    return (result, findings)
  }

  // MARK: - Counters

  private static let columns = [
    "calls", "total_exec_time", "rows", "shared_blks_hit", "shared_blks_read", "wal_bytes",
  ]

  /// The start of the statements of the view itself, which are not shown.
  private static let mark = "/* sociograph load */"

  private func state() throws -> State {
    var state = State()
    if hasStatements {
      let rows = try session.execute(
        """
        \(Self.mark) SELECT queryid::text || '/' || userid::text || '/' || toplevel::text, left(query, 200),
          \(Self.columns.map { $0 + "::float8" }.joined(separator: ", "))
        FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        """)
      for row in rows {
        guard row.count == 2 + Self.columns.count, let key = row[0] else { continue }
        let text = row[1] ?? ""
        state.statements[key] = Statement(
          name: Self.name(of: text), text: text,
          figures: row.dropFirst(2).map { $0.flatMap { Double($0) } ?? 0 })
      }
    }
    let checkpoints =
      hasCheckpointer
      ? "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)"
      : "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)"
    // pg_stat_wal lags behind: backends report to it once a second.
    let row = try session.execute(
      """
      \(Self.mark) SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn() - '0/0'::pg_lsn END::float8,
        \(checkpoints)::float8, deadlocks::float8,
        temp_bytes::float8
      FROM pg_stat_database WHERE datname = current_database()
      """
    ).first
    for (name, value) in zip(["wal", "checkpoints", "deadlocks", "temporary"], row ?? []) {
      state.counters[name] = value.flatMap { Double($0) }
    }
    return state
  }

  /// Returns the values in the comment that a statement of the server begins with: those of its
  /// operation and its own name. Returns the start of another statement.
  static func name(of text: String) -> String {
    guard text.hasPrefix("/*"), let end = text.firstRange(of: "*/") else {
      return String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(60))
    }
    let words = text[..<end.lowerBound].dropFirst(2)
      .split { $0.isWhitespace || $0 == "," }
    return words.filter { !$0.hasPrefix("application=") }.map { word in
      let value = word.split(separator: "=", maxSplits: 1).last ?? word
      return value.filter { $0 != "'" }
    }.joined(separator: " ")
  }

  private func add(_ before: State, _ after: State, to findings: inout PostgresFindings) {
    func difference(_ name: String) -> Double? {
      guard let first = before.counters[name], let last = after.counters[name] else { return nil }
      return max(last - first, 0)
    }
    findings.walBytes = difference("wal")
    findings.checkpoints = difference("checkpoints")
    findings.deadlocks = difference("deadlocks")
    findings.temporaryBytes = difference("temporary")
    guard hasStatements else { return }
    findings.statements = after.statements.compactMap { key, statement in
      let first = before.statements[key]?.figures ?? statement.figures.map { _ in 0 }
      let change = zip(statement.figures, first).map { max($0 - $1, 0) }
      guard change.count == Self.columns.count, change[0] > 0,
        !statement.text.hasPrefix(Self.mark)
      else { return nil }
      return PostgresFindings.Statement(
        name: statement.name, calls: change[0], milliseconds: change[1], rows: change[2],
        hits: change[3], reads: change[4], walBytes: change[5], text: statement.text)
    }.sorted { ($1.milliseconds, $0.name) < ($0.milliseconds, $1.name) }
  }

  // MARK: - Samples

  private final class Sampler: Sendable {
    struct Found {
      var waits: [String: [Int]] = [:]
      var count = 0
      var checkpoints: [Int] = []
    }

    let isOver = Atomic(false)
    let found = Mutex(Found())
  }

  private func sample(into sampler: Sampler) {
    let start = Moment.now
    let (seconds, attoseconds) = Self.interval.components
    let step = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    var next = start
    var checkpoints: String?
    while !sampler.isOver.load(ordering: .relaxed) {
      let second = Int(start.nanoseconds(to: .now) / 1_000_000_000)
      guard let rows = try? session.execute(Self.question) else { return }
      let number =
        (try? session.execute(
          "\(Self.mark) SELECT checkpoint_lsn::text FROM pg_control_checkpoint()"))?.first?
        .first
        ?? nil
      sampler.found.withLock { found in
        found.count += 1
        for row in rows {
          guard let key = row.first ?? nil,
            let count = row.last.flatMap({ $0 }).flatMap({ Int($0) })
          else { continue }
          var seconds = found.waits[key] ?? []
          while seconds.count <= second { seconds.append(0) }
          seconds[second] += count
          found.waits[key] = seconds
        }
        if let checkpoints, let number, checkpoints != number { found.checkpoints.append(second) }
      }
      checkpoints = number ?? checkpoints
      next = next.advanced(byNanoseconds: step)
      let wait = Moment.now.nanoseconds(to: next)
      if wait > 0 { Thread.sleep(forTimeInterval: Double(wait) / 1e9) } else { next = .now }
    }
  }

  /// Backends at work: an active one without a wait event uses the processor. Idle ones, and this one, are
  /// left out.
  private static let question = """
    \(mark) SELECT coalesce(wait_event_type || '/' || wait_event, 'CPU/running'), count(*)
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND state IN ('active', 'idle in transaction')
    GROUP BY 1
    """
}
