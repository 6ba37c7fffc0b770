import Postgres

/// Reports tables whose rows policies hide from the server's role. All users are served under that
/// one role, so responses would lack rows without an error.
enum RowSecurity {
  /// Returns the query.
  ///
  /// - Parameter types: the types of the rows that are read.
  static func query(for types: Set<PostgresType>) -> String {
    let list = types.map { String($0.rawValue) }.sorted().joined(separator: ",")
    return """
      SELECT c.oid::regclass, current_user::text::regrole
      FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
      WHERE t.oid = ANY ('{\(list)}'::oid[]) AND c.relkind IN ('r', 'p') AND row_security_active(c.oid)
      ORDER BY 1
      """
  }

  static func findings(
    _ answer: Result<PipelinedAnswer, PostgresError>
  ) throws(PostgresError) -> [StorageFinding] {
    try answer.get().rows.compactMap { row in
      guard let table = row[0], let role = row[1] else { return nil }
      return StorageFinding(
        .warning, table,
        "it has row level security, and the role \(role), under which every viewer is served, finds only the rows "
          + "that its policies give to that role; serve with --roles claims, so that each client has a role of its "
          + "own, or write the rule in @table(where:), and ALTER ROLE \(role) BYPASSRLS.")
    }
  }
}
