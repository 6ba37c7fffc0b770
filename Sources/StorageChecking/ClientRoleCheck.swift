import Postgres

/// Finds the roles of PostgreSQL that clients may have: those that the server's role is a member of,
/// and that row level security holds for.
package struct ClientRoleCheck: Sendable {
  /// The roles that clients may have.
  package private(set) var names: Set<String> = []
  /// The others, with the reasons.
  package private(set) var refused: [(name: String, reason: String)] = []
  /// The reason why the server's own role cannot serve; nil if it can.
  package private(set) var problem: String?

  package init(_ session: PostgresSession) throws(PostgresError) {
    for row in try session.execute(Self.query) {
      guard let name = row[0] else { continue }
      var reasons: [String] = []
      if row[1] == "t" { reasons.append("it is a superuser") }
      if row[2] == "t" { reasons.append("it has BYPASSRLS") }
      if let tables = row[4] {
        reasons.append("it owns tables whose policies do not hold for their owner: \(tables)")
      }
      let reason = reasons.joined(separator: ", ")
      if row[3] == "t" {
        // What it owns is no matter: no client's statement runs under it.
        if row[1] == "t" || row[2] == "t" {
          problem =
            "the server connects as \(name), and \(reason). Connect as a role that may only switch to those of "
            + "clients: CREATE ROLE authenticator LOGIN NOINHERIT; GRANT anon, member TO authenticator"
        }
      } else if reasons.isEmpty {
        names.insert(name)
      } else {
        refused.append((name, reason))
      }
    }
  }

  private static let query = #"""
    SELECT r.rolname, r.rolsuper, r.rolbypassrls, r.rolname = current_user,
      (SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid::regclass::text) FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relrowsecurity AND NOT c.relforcerowsecurity
          AND pg_has_role(r.oid, c.relowner, 'USAGE'))
    FROM pg_roles r
    WHERE pg_has_role(r.oid, 'MEMBER') AND r.rolname NOT LIKE 'pg\_%'
    ORDER BY r.rolname
    """#
}
