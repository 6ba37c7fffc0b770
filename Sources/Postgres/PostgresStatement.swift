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
  private let mean = Atomic<UInt64>(0)
  /// Executions under way that have far outrun the mean.
  fileprivate let slow = Atomic<Int>(0)
  private let expected: UInt64

  /// What it is for, in the comment that the server is given before the text.
  package let label: StatementLabel?

  /// - Parameter expectedNanoseconds: what an execution may take as long as none was measured; 0 when
  ///   nobody knows.
  package init(
    _ text: String, parameterCount: Int, label: StatementLabel? = nil,
    expectedNanoseconds: UInt64 = 0
  ) {
    self.text = text
    expected = expectedNanoseconds
    self.parameterCount = parameterCount
    self.label = label
    hash = Self.hash(of: text)
    let digits = String(hash, radix: 16)
    let name = "s_" + String(repeating: "0", count: 16 - digits.count) + digits
    self.name = name
    let comment = label.map { "/* \($0.text) \(name) */ " } ?? ""
    textBytes = Array((comment + text).utf8CString)
    nameBytes = Array(name.utf8CString)
  }

  /// Mean time of recent executions in nanoseconds, without the first on a connection; 0 before
  /// any.
  package var meanNanoseconds: UInt64 { mean.load(ordering: .relaxed) }

  /// By which the pool places it: the mean, or before any what is expected; 0 when nobody knows.
  var estimateNanoseconds: UInt64 {
    let mean = meanNanoseconds
    let usual = mean > 0 ? mean : expected
    // What one waits for now, the next would wait for as well.
    return slow.load(ordering: .relaxed) > 0 ? max(usual, 1_000_000_000) : usual
  }

  /// It was given up after so long: from now on it counts as taking that long, at once.
  func raise(toNanoseconds nanoseconds: UInt64) {
    if nanoseconds > mean.load(ordering: .relaxed) { mean.store(nanoseconds, ordering: .relaxed) }
  }

  /// Takes an execution's time into the mean, outliers cut. Loops may overwrite each other's: it is an estimate.
  func record(nanoseconds: UInt64) {
    let old = mean.load(ordering: .relaxed)
    // One that had to wait for a lock or a core says little about the next.
    let usual = min(nanoseconds, 4 &* min(old, 1 << 60) + 100_000)
    let new = old == 0 ? max(nanoseconds, 1) : old - old / 8 + usual / 8
    mean.store(new, ordering: .relaxed)
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

/// As long as one is kept, its statement counts as one that takes long.
final class StatementSlowness {
  private let statement: PostgresStatement

  init(_ statement: PostgresStatement) {
    self.statement = statement
    statement.slow.add(1, ordering: .relaxed)
  }

  deinit { statement.slow.subtract(1, ordering: .relaxed) }
}
