import Postgres

/// Checks the invariants of a graph.
///
/// The checks are the graph's functions that are named `verify_...`, take no argument and return
/// rows: each row is a violation. All of them use one snapshot, so writers are not blocked, and
/// concurrent changes are not reported as violations.
package struct GraphVerification {
  package enum Event {
    /// A check began; its name is without `verify_`.
    case began(check: String, number: Int, of: Int)
    /// A violation: `check: column=value column=value`.
    case found(String)
    /// The check itself failed.
    case failed(check: String, PostgresError)
  }

  package struct Outcome: Sendable, Equatable {
    package var checks = 0
    /// The number of violations and failed checks.
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

  /// Returns the text in quotes if it is not one word; always on one line.
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
