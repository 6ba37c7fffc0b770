import EventLoops
import Synchronization

/// An SQL command with the name it is prepared under on each connection that meets it.
///
/// Made once per plan and kept: its C strings are ready, and it carries the mean time the server
/// took for it, which the pool reads to place it. Two statements of the same text are the same
/// prepared statement, whatever their labels: the server shows the first one's.
package final class PostgresStatement: Sendable {
  package let text: String
  /// `s_` and the hash of the text in hexadecimal.
  package let name: String
  package let parameterCount: Int

  let hash: UInt64
  let textBytes: [CChar]
  let nameBytes: [CChar]
  private let record: StatementRecord
  /// Executions under way that have far outrun the mean.
  fileprivate let slow = Atomic<Int>(0)
  private let underWay = Atomic<Int>(0)
  private let expected: UInt64?

  /// The label in the comment in front of the statement's text.
  package let label: StatementLabel?

  /// - Parameter expectedNanoseconds: of a client's, what an execution may take as long as none was
  ///   measured; nil of the server's own, which need not be measured to be known.
  /// - Parameter record: where its times are noted.
  package init(
    _ text: String, parameterCount: Int, label: StatementLabel? = nil,
    expectedNanoseconds: UInt64? = nil, record: StatementRecord = StatementRecord()
  ) {
    self.text = text
    self.record = record
    expected = expectedNanoseconds
    self.parameterCount = parameterCount
    self.label = label
    hash = Self.hash(of: text)
    let digits = String(hash, radix: 16)
    let name = "s_" + String(repeating: "0", count: 16 - digits.count) + digits
    self.name = name
    let comment = label.map { $0.comment(of: name) + " " } ?? ""
    textBytes = Array((comment + text).utf8CString)
    nameBytes = Array(name.utf8CString)
  }

  /// Executions that a pool has and that are not over.
  var underWayCount: Int { underWay.load(ordering: .relaxed) }

  func begins() { underWay.add(1, ordering: .relaxed) }

  func ends() { underWay.subtract(1, ordering: .relaxed) }

  /// Mean time of recent executions in nanoseconds, without the first on a connection; 0 before
  /// any.
  package var meanNanoseconds: UInt64 { record.mean.load(ordering: .relaxed) }

  /// Returns the estimate by which the pool places an execution: the mean, or the expected duration
  /// before the first measurement, or 0 if both are unknown.
  func estimateNanoseconds(at now: @autoclosure () -> Moment) -> UInt64 {
    estimate(usually: meanNanoseconds, at: now())
  }

  /// Returns the cost of an execution in PostgreSQL, by which it shares a connection. It is the
  /// shortest recent duration, because other processes on the cores make an execution longer but
  /// not more expensive.
  func costNanoseconds(at now: @autoclosure () -> Moment) -> UInt64 {
    estimate(usually: record.least.load(ordering: .relaxed), at: now())
  }

  private func estimate(
    usually measured: UInt64, at now: @autoclosure () -> Moment
  ) -> UInt64 {
    let floor = record.floor.load(ordering: .relaxed)
    if floor > measured {
      if now().nanoseconds < record.floorEnd.load(ordering: .relaxed) { return floor }
      record.floor.store(0, ordering: .relaxed)
    }
    let usual = measured > 0 ? measured : expected ?? 0
    // The next execution would wait for the same lock.
    return slow.load(ordering: .relaxed) > 0 ? max(usual, 1_000_000_000) : usual
  }

  /// Whether the estimate is reliable: the statement is the server's own, or was measured three
  /// times.
  var isKnown: Bool { expected == nil || record.measured.load(ordering: .relaxed) >= 3 }

  /// Raises the estimate to the duration of a slow execution, at once and for a hundred times that
  /// duration. Cheap variants of an expensive statement do not lower it meanwhile. So an expensive
  /// statement occupies at most a hundredth of the time of quick connections.
  func raise(toNanoseconds nanoseconds: UInt64, at now: Moment) {
    let end = now.nanoseconds &+ Int64(100 * min(nanoseconds, 1 << 40))
    if nanoseconds > record.floor.load(ordering: .relaxed)
      || end > record.floorEnd.load(ordering: .relaxed)
    {
      record.floor.store(nanoseconds, ordering: .relaxed)
      record.floorEnd.store(end, ordering: .relaxed)
    }
  }

  /// Records an execution that took far longer than usual. A busy machine or a server that has just
  /// started can cause a single one. The estimate rises only if the executions since the previous
  /// one took less time in total, and if this one was sent well after it.
  func outran(by nanoseconds: UInt64, sentAt: Moment, at now: Moment) {
    let seen = record.outrunAt.load(ordering: .relaxed)
    if record.takenSinceOutrun.load(ordering: .relaxed) >= nanoseconds {
      record.outrunAt.store(now.nanoseconds, ordering: .relaxed)
      record.takenSinceOutrun.store(0, ordering: .relaxed)
    } else if sentAt.nanoseconds &- seen > Int64(min(nanoseconds, 1 << 40)) {
      raise(toNanoseconds: nanoseconds, at: now)
    }
  }

  /// Takes an execution's time into the mean, outliers cut. Loops may overwrite each other's: it is an estimate.
  func record(nanoseconds: UInt64) {
    let count = record.measured.load(ordering: .relaxed)
    if count < 3 { record.measured.store(count + 1, ordering: .relaxed) }
    let old = record.mean.load(ordering: .relaxed)
    // One that had to wait for a lock or a core says little about the next.
    let usual = min(nanoseconds, 4 &* min(old, 1 << 60) + 100_000)
    let new = old == 0 ? max(nanoseconds, 1) : old - old / 8 + usual / 8
    record.mean.store(new, ordering: .relaxed)
    let taken = record.takenSinceOutrun.load(ordering: .relaxed)
    record.takenSinceOutrun.store(min(taken &+ usual, 1 << 62), ordering: .relaxed)
    // Forgotten by half in some 45 executions, should what is there have grown.
    let least = record.least.load(ordering: .relaxed)
    record.least.store(
      least == 0 ? max(nanoseconds, 1) : min(max(nanoseconds, 1), least &+ least / 64 &+ 1),
      ordering: .relaxed)
  }

  /// FNV-1a, its bits then mixed. Not for secrets: the connection compares texts where two hashes
  /// are equal.
  private static func hash(of text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ (hash >> 33)
  }
}

/// The measured durations of a statement's executions. Any number of event loops may update it.
package final class StatementRecord: Sendable {
  fileprivate let mean = Atomic<UInt64>(0)
  fileprivate let least = Atomic<UInt64>(0)
  /// The minimum estimate in nanoseconds, until the `Moment` in `floorEnd`.
  fileprivate let floor = Atomic<UInt64>(0)
  fileprivate let floorEnd = Atomic<Int64>(0)
  /// When one took far longer than usual, and how long all since then took, in nanoseconds.
  fileprivate let outrunAt = Atomic<Int64>(0)
  fileprivate let takenSinceOutrun = Atomic<UInt64>(1 << 62)
  /// How often it was measured, up to what makes it known.
  fileprivate let measured = Atomic<UInt8>(0)

  package init() {}
}

/// The records of what clients ask, by its text: what one loop has measured the others know as well.
package final class StatementRecords: Sendable {
  private struct Entry {
    weak var record: StatementRecord?
  }

  private struct Table {
    var entries: [String: Entry] = [:]
    var sweepAt = 1_024
  }

  private let table = Mutex(Table())

  package init() {}

  package func record(of text: String) -> StatementRecord {
    table.withLock { table in
      if let known = table.entries[text]?.record { return known }
      if table.entries.count >= table.sweepAt {
        table.entries = table.entries.filter { $0.value.record != nil }
        table.sweepAt = max(1_024, 2 * table.entries.count)
      }
      let record = StatementRecord()
      table.entries[text] = Entry(record: record)
      return record
    }
  }
}

/// A token that makes its statement count as slow while it exists.
final class StatementSlowness {
  private let statement: PostgresStatement

  init(_ statement: PostgresStatement) {
    self.statement = statement
    statement.slow.add(1, ordering: .relaxed)
  }

  deinit { statement.slow.subtract(1, ordering: .relaxed) }
}
