import Postgres

/// What the roles that `serve` runs under need, and no more (R15). One reads the graph and notes that a
/// session was used; the other, for mutations, reads the graph and calls its functions, of which
/// those that write do so under their owner's rights.
package enum ServerRole {
  private static let creation = "CREATE ROLE %I LOGIN"
  private static func grants(in namespace: String) -> [String] {
    [
      "GRANT USAGE ON SCHEMA \(namespace) TO %I",
      "GRANT SELECT ON ALL TABLES IN SCHEMA \(namespace) TO %I",
      "ALTER DEFAULT PRIVILEGES IN SCHEMA \(namespace) GRANT SELECT ON TABLES TO %I",
    ]
  }
  private static func calls(in namespace: String) -> [String] {
    [
      "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA \(namespace) TO %I",
      "ALTER DEFAULT PRIVILEGES IN SCHEMA \(namespace) GRANT EXECUTE ON ROUTINES TO %I",
    ]
  }
  /// A refusal is an error to PostgreSQL, whose log anybody could fill, and whose details are rows.
  private static let quiet = [
    "ALTER ROLE %I SET log_min_messages = fatal",
    "ALTER ROLE %I SET log_error_verbosity = terse",
  ]
  private static let notes = "GRANT UPDATE (last_used_at, expires_at) ON session TO %I"

  package static func exists(_ role: String, in configuration: PostgresConfiguration) throws -> Bool
  {
    try !PostgresSession(configuration).execute(
      "SELECT FROM pg_roles WHERE rolname = $1", [role]
    ).isEmpty
  }

  /// Lets a role serve what is in the namespaces of the configuration, also after later migrations.
  ///
  /// - Parameters:
  ///   - isNew: the role is made first; all of it happens or nothing.
  ///   - mutations: it is the one that mutations run under. What they are refused for stays out of
  ///     PostgreSQL's log where a superuser says so.
  package static func allow(
    _ role: String, isNew: Bool = false, mutations: Bool = false,
    in configuration: PostgresConfiguration
  ) throws {
    var configuration = configuration
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let table = try session.execute("SELECT to_regclass('session')")
    let hasSessions = table.first?.first ?? nil != nil
    // Doubled, as what comes of it is a format.
    let namespaces = try session.execute(
      "SELECT replace(quote_ident(unnest(current_schemas(false))), '%', '%%')"
    ).compactMap { $0[0] }
    let isSuperuser =
      try session.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
      .first?.first == "t"
    let statements =
      (isNew ? [creation] : []) + namespaces.flatMap(grants)
      + (mutations
        ? namespaces.flatMap(calls) + (isSuperuser ? quiet : []) : hasSessions ? [notes] : [])
    try session.transaction {
      for statement in statements {
        let rows = try session.execute("SELECT format($1, $2::text)", [statement, role])
        if let text = rows.first?.first ?? nil { try session.execute(text) }
      }
    }
  }
}
