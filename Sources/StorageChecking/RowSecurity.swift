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

  // MARK: - Policies that lead to themselves

  /// Returns the query of the tables and the other roles that may read them under policies, as far as
  /// the session may switch to them. The role that checks is often an owner, whom policies do not bind.
  static func readers(of types: Set<PostgresType>) -> String {
    let list = types.map { String($0.rawValue) }.sorted().joined(separator: ",")
    return #"""
      SELECT c.oid::regclass, quote_ident(r.rolname)
      FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid CROSS JOIN pg_roles r
      WHERE t.oid = ANY ('{\#(list)}'::oid[]) AND c.relkind IN ('r', 'p') AND c.relrowsecurity
        AND r.rolname <> current_user AND NOT r.rolsuper AND NOT r.rolbypassrls AND r.rolname NOT LIKE 'pg\_%'
        AND pg_has_role(r.oid, 'MEMBER') AND has_table_privilege(r.oid, c.oid, 'SELECT')
        AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
      ORDER BY 2, 1 LIMIT 500
      """#
  }

  /// Returns the findings of policies that recurse under one of these roles.
  static func recursions(
    _ answer: Result<PipelinedAnswer, PostgresError>, _ session: PostgresSession
  ) throws(PostgresError) -> [StorageFinding] {
    let pairs = try answer.get().rows.compactMap { row in
      row[0].flatMap { table in row[1].map { (table: table, role: $0) } }
    }
    guard !pairs.isEmpty else { return [] }
    let verdicts = try session.pipeline(
      pairs.flatMap {
        [.execute("SET ROLE \($0.role)"), .describe("SELECT FROM \($0.table)")]
          as [PipelinedCommand]
      } + [.execute("RESET ROLE")])
    var known: Set<String> = []
    return zip(pairs, stride(from: 1, to: verdicts.count, by: 2)).compactMap { pair, place in
      // invalid_object_definition
      guard case .failure(let error) = verdicts[place], error.sqlState == "42P17",
        known.insert(pair.table).inserted
      else { return nil }
      return StorageFinding(
        .error, pair.table,
        "its policies lead to themselves under the role \(pair.role) (\(error.message)); read the other table in a "
          + "function that is SECURITY DEFINER.")
    }
  }
}
