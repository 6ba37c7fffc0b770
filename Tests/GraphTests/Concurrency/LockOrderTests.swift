import DatabaseSetup
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// No two mutations deadlock, whatever their timing.
///
/// Two transactions deadlock over rows when one has X and waits for Y while the other has Y and
/// waits for X. So for every two calls and every row that both lock, a third session locks that
/// row. The first call runs until it waits there, and then the second does. The row is then
/// released, and goes to the first, which waited longest. If the second has a row that the first
/// needs next, PostgreSQL detects a deadlock every time.
@Suite(.usesCluster(isFirst: true)) struct LockOrderTests {
  @Test func `every mutation's function takes part`() throws {
    let folder = TestCluster.packageFolder + "/Schema"
    var functions: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let schema = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      functions.formUnion(
        schema.split(separator: "function: \"").dropFirst().map { String($0.prefix { $0 != "(" }) })
    }
    let world = try LockWorld()
    #expect(functions.count > 70)
    #expect(functions.subtracting(world.calls.map(\.function)) == [])
  }

  @Test func `no two mutations deadlock, in whatever order they come to what they share`() throws {
    let worlds = try (0..<3).map { _ in try LockWorld() }
    let first = worlds[0]
    let locks = try first.calls.map { try first.locks(of: $0) }
    // A call that locks nothing would prove nothing.
    for (call, locks) in zip(first.calls, locks) where locks.isEmpty {
      #expect(LockWorld.lockless.contains(call.function), "\(call.function) locks no row")
    }
    let trials = Self.trials(locks)
    #expect(trials.count > 500)
    let next = Atomic(0)
    let rings = Mutex<[String]>([])
    _ = try crowd(of: worlds.count) { number in
      let world = worlds[number]
      let pair = try LockPair(world)
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < trials.count else { return }
        let trial = trials[index]
        let (a, b) = (world.calls[trial.first], world.calls[trial.second])
        guard try pair.deadlocks(a.statement, b.statement, at: trial.row, trial.strength) else {
          continue
        }
        rings.withLock { $0.append("\(a.name) and \(b.name), meeting at \(trial.row)") }
      }
    }
    print("lock order: \(first.calls.count) calls, \(trials.count) meetings")
    #expect(rings.withLock { $0.sorted() } == [])
  }

  @Test func `a ring would be found`() throws {
    let world = try LockWorld()
    let rows = try world.data.run("SELECT id FROM post ORDER BY id LIMIT 2").map { $0[0] ?? "" }
    func both(_ rows: [String]) -> String {
      "SELECT lock_row(\(rows[0])), lock_row(\(rows[1]))"
    }
    try world.data.run(
      """
      CREATE FUNCTION lock_row(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN PERFORM FROM post p WHERE p.id = wanted FOR NO KEY UPDATE; END $$
      """)
    let row = LockedRow(
      table: "post",
      place: try world.data.run("SELECT ctid FROM post WHERE id = \(rows[0])")[0][0] ?? "")
    let pair = try LockPair(world)
    #expect(try pair.deadlocks(both(rows), both(rows.reversed()), at: row, .noKeyUpdate))
    #expect(try !pair.deadlocks(both(rows), both(rows), at: row, .noKeyUpdate))
  }

  struct Trial {
    let first: Int
    let second: Int
    let row: LockedRow
    let strength: LockStrength
  }

  /// Two calls can make a ring only where they conflict over two rows at least.
  private static func trials(_ locks: [[LockedRow: LockStrength]]) -> [Trial] {
    var trials: [Trial] = []
    for first in locks.indices {
      for second in locks.indices {
        let shared = locks[first].compactMap { row, strength -> (LockedRow, LockStrength)? in
          guard let other = locks[second][row], max(strength, other) > .keyShare,
            min(strength, other) > .keyShare || max(strength, other) == .update
          else { return nil }
          return (row, min(strength, other) > .keyShare ? .noKeyUpdate : .update)
        }
        guard shared.count > 1 else { continue }
        trials += shared.sorted { $0.0 < $1.0 }.map {
          Trial(first: first, second: second, row: $0.0, strength: $0.1)
        }
      }
    }
    return trials
  }
}

/// A row by its table and its place in it.
struct LockedRow: Hashable, Comparable, CustomStringConvertible, Sendable {
  let table: String
  let place: String
  var description: String { table + place }
  static func < (a: Self, b: Self) -> Bool { a.description < b.description }
}

/// The strength of a row lock: against deletion, against changes, or against any other lock.
enum LockStrength: Int, Comparable, Sendable {
  case keyShare, noKeyUpdate, update

  /// The clause that locks a row so that a lock of this strength has to wait.
  var clause: String { self == .update ? "FOR UPDATE" : "FOR NO KEY UPDATE" }
  static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Two sessions that call mutations, one that stands in their way, and one that looks on.
struct LockPair {
  private let first: PostgresSession
  private let second: PostgresSession
  private let holder: PostgresSession
  private let observer: PostgresSession

  init(_ world: LockWorld) throws {
    func session() throws -> PostgresSession {
      let session = try TestCluster.session(world.database)
      try session.execute("SET deadlock_timeout = '20ms'; SET lock_timeout = 0")
      return session
    }
    (first, second, holder, observer) = (
      try session(), try session(), try session(), try session()
    )
  }

  /// Returns whether two statements, each in a transaction that is rolled back, deadlock when both
  /// need a locked row, the first before the second.
  func deadlocks(
    _ a: String, _ b: String, at row: LockedRow, _ strength: LockStrength
  ) throws -> Bool {
    try holder.execute("BEGIN")
    try holder.execute(
      "SELECT FROM \(row.table) WHERE ctid = '\(row.place)' \(strength.clause)")
    let one = RunningCall(a, on: first)
    try wait(for: one, of: first)
    let two = RunningCall(b, on: second)
    try wait(for: two, of: second)
    try holder.execute("ROLLBACK")
    return [one.end(), two.end()].contains("40P01")
  }

  /// Until the call waits for a lock, or is done.
  private func wait(for call: RunningCall, of session: PostgresSession) throws {
    for _ in 0..<600_000 {
      if call.isDone { return }
      let isWaiting = try observer.execute(
        "SELECT FROM pg_locks WHERE pid = \(session.processID) AND NOT granted")
      if !isWaiting.isEmpty { return }
      usleep(100)
    }
    throw GraphTestFailure("a call neither waits nor ends")
  }
}

/// A call on a thread of its own.
private final class RunningCall: Sendable {
  private let state = Mutex<String?>(nil)
  private let done = DispatchSemaphore(value: 0)

  init(_ statement: String, on session: PostgresSession) {
    let session = Loan(session)
    Thread { [self] in
      var code = ""
      do {
        try session.value.execute("BEGIN")
        try session.value.execute(statement)
      } catch let error as PostgresError {
        code = error.sqlState
      } catch {
        code = "?"
      }
      _ = try? session.value.execute("ROLLBACK")
      state.withLock { $0 = code }
      done.signal()
    }.start()
  }

  var isDone: Bool { state.withLock { $0 != nil } }

  /// The SQLSTATE it ended with, empty when it went well.
  func end() -> String {
    done.wait()
    return state.withLock { $0 ?? "?" }
  }

  /// A session that another thread uses while this one waits.
  private struct Loan: @unchecked Sendable {
    let value: PostgresSession
    init(_ value: PostgresSession) { self.value = value }
  }
}
