import Postgres

/// What the role that `serve` runs under needs, and no more (R15): to read the graph, and to note that
/// a session was used.
package enum ServerRole {
  private static let creation = "CREATE ROLE %I LOGIN"
  private static let grants = [
    "GRANT USAGE ON SCHEMA public TO %I",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO %I",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO %I",
  ]
  private static let notes = "GRANT UPDATE (last_used_at, expires_at) ON session TO %I"

  package static func exists(_ role: String, in configuration: PostgresConfiguration) throws -> Bool
  {
    try !PostgresSession(configuration).execute(
      "SELECT FROM pg_roles WHERE rolname = $1", [role]
    ).isEmpty
  }

  /// Lets a role serve the database, also after later migrations.
  ///
  /// - Parameter isNew: the role is made first; all of it happens or nothing.
  package static func allow(
    _ role: String, isNew: Bool = false, in configuration: PostgresConfiguration
  ) throws {
    var configuration = configuration
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let table = try session.execute("SELECT to_regclass('session')")
    let hasSessions = table.first?.first ?? nil != nil
    let statements = (isNew ? [creation] : []) + grants + (hasSessions ? [notes] : [])
    try session.transaction {
      for statement in statements {
        let rows = try session.execute("SELECT format($1, $2::text)", [statement, role])
        if let text = rows.first?.first ?? nil { try session.execute(text) }
      }
    }
  }
}
