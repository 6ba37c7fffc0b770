import Postgres

/// Holds a graph against what is said to be always true of it.
///
/// The graph's functions that are named `verify_...`, take no argument and return rows are the checks: a
/// row is something that is wrong. All of them see one snapshot, so writers are neither waited for
/// nor held up, and what they do meanwhile is not mistaken for a fault.
package struct GraphVerification {
  package enum Event {
    /// The name is without `verify_`.
    case began(check: String, number: Int, of: Int)
    /// `check: column=value column=value`
    case found(String)
    /// The check itself does not work.
    case failed(check: String, PostgresError)
  }

  package struct Outcome: Sendable, Equatable {
    package var checks = 0
    /// What is wrong, and checks that failed.
    package var faults = 0
  }

  private let session: PostgresSession

  package init(_ configuration: PostgresConfiguration) throws(PostgresError) {
    var configuration = configuration
    configuration.isReadOnly = true
    configuration.statementTimeout = .zero
    configuration.idleInTransactionTimeout = .zero
    session = try PostgresSession(configuration)
  }

  /// Runs every check, in the order of their names.
  package func run(_ report: (Event) -> Void) throws(PostgresError) -> Outcome {
    let names = try session.execute(
      """
      SELECT p.oid::regproc, substring(p.proname FROM 8) FROM pg_proc p
      WHERE p.proname LIKE 'verify\\_%' AND p.pronargs = 0 AND p.proretset
        AND pg_function_is_visible(p.oid)
      ORDER BY p.proname
      """
    ).compactMap { row in row[0].flatMap { function in row[1].map { (function, $0) } } }
    var outcome = Outcome(checks: names.count)
    try session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    for (index, (function, name)) in names.enumerated() {
      report(.began(check: name, number: index + 1, of: names.count))
      try session.execute("SAVEPOINT check_begins")
      do throws(PostgresError) {
        let (columns, rows) = try session.table("SELECT * FROM \(function)()")
        for row in rows {
          report(.found(Self.line(name, columns, row)))
        }
        outcome.faults += rows.count
      } catch {
        if error.kind == .unavailable { throw error }
        try session.execute("ROLLBACK TO SAVEPOINT check_begins")
        report(.failed(check: name, error))
        outcome.faults += 1
      }
    }
    try session.execute("COMMIT")
    return outcome
  }

  private static func line(_ check: String, _ columns: [String], _ row: [String?]) -> String {
    let parts = zip(columns, row).map { column, value in
      "\(column)=\(value.map(word) ?? "null")"
    }
    return "\(check): " + parts.joined(separator: " ")
  }

  /// In quotes where it would not stay one word; on one line in any case.
  private static func word(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
    if isPlain { return text }
    let inner = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\n": "\\n"
      default: scalar.value < 0x20 || scalar.value == 0x7F ? "?" : String(scalar)
      }
    }
    return "\"" + inner.joined() + "\""
  }
}
