import Postgres

/// What the role that `serve` runs under needs, and no more (R15): to read the graph, and to note that
/// a session was used.
package enum ServerRole {
  private static let grants = [
    "GRANT USAGE ON SCHEMA public TO %I",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO %I",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO %I",
  ]
  private static let notes = "GRANT UPDATE (last_used_at, expires_at) ON session TO %I"

  /// Lets a role that exists serve the database, also after later migrations.
  package static func allow(_ role: String, in configuration: PostgresConfiguration) throws {
    var configuration = configuration
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let table = try session.execute("SELECT to_regclass('session')")
    let hasSessions = table.first?.first ?? nil != nil
    try session.transaction {
      for grant in grants + (hasSessions ? [notes] : []) {
        let rows = try session.execute("SELECT format($1, $2::text)", [grant, role])
        if let statement = rows.first?.first ?? nil { try session.execute(statement) }
      }
    }
  }
}
