import Postgres

/// The privileges that the role lacks for statements.
struct RoleRights {
  private let role: String
  /// Whether there is anything at all that it may not read or call. Most roles lack nothing, and
  /// checking each statement takes PostgreSQL longer than the rest of the check.
  let lacksAny: Bool

  static let query = """
    WITH namespace AS (
      SELECT n.oid, has_schema_privilege(n.oid, 'USAGE') AS is_usable FROM pg_namespace n
      WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    )
    SELECT current_user,
      EXISTS (SELECT FROM namespace n WHERE NOT n.is_usable)
      OR EXISTS (SELECT FROM namespace n JOIN pg_class c ON c.relnamespace = n.oid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT has_table_privilege(c.oid, 'SELECT'))
      OR EXISTS (SELECT FROM namespace n JOIN pg_proc p ON p.pronamespace = n.oid
        WHERE NOT has_function_privilege(p.oid, 'EXECUTE'))
    """

  init(_ rows: [[String?]]) {
    let row = rows.first ?? []
    role = row.first.flatMap(\.self) ?? ""
    lacksAny = row.dropFirst().first == "t"
  }

  /// Returns commands that plan every statement, which makes PostgreSQL check the role's
  /// privileges.
  static func commands(for probes: [PlannedProbes]) -> [PipelinedCommand] {
    probes.flatMap { ProbePlan.explain($0.plan?.statement) }
  }

  func findings(
    _ answers: [Result<PipelinedAnswer, PostgresError>], for probes: [PlannedProbes]
  ) -> [StorageFinding] {
    var findings: [StorageFinding] = []
    let explained = stride(from: 1, to: answers.count, by: 3).map { answers[$0] }
    for (probe, answer) in zip(probes.filter { $0.plan?.statement != nil }, explained) {
      guard case .failure(let error) = answer, error.kind == .forbidden else { continue }
      findings.append(StorageFinding(.error, probe.group.place, message(error)))
    }
    return findings
  }

  /// Returns a message for an error such as `permission denied for table post`.
  private func message(_ error: PostgresError) -> String {
    guard let match = error.message.wholeMatch(of: /permission denied for (\w+) (.+)/) else {
      return StatementErrors.sentence(error.message)
    }
    let (kind, name) = (String(match.1), String(match.2))
    let grant =
      switch kind {
      case "function", "procedure": "EXECUTE ON FUNCTION \(name)"
      case "schema": "USAGE ON SCHEMA \(name)"
      default: "SELECT ON \(name)"
      }
    return "the role \(role) may not use the \(kind) \(name); GRANT \(grant) TO \(role)."
  }
}
