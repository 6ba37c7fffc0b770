import Postgres
import SQL

/// Gives out sessions by hand, for a database's owner.
package enum SessionIssue {
  /// A new session of a user. The database is told the token's hash alone (R21), through two functions
  /// of the graph: `viewer_named(name)` finds the user, `create_session(viewer, token_hash, device)`
  /// makes the row.
  ///
  /// - Parameter device: what the user sees the session under.
  /// - Returns: nil when there is no such user.
  package static func token(
    forUserNamed name: String, device: String, in configuration: PostgresConfiguration
  ) throws -> SessionToken? {
    let session = try PostgresSession(configuration)
    let rows = try session.execute("SELECT \(GraphContract.viewerNamed)($1)", [name])
    guard let text = rows.first?.first ?? nil, let viewer = Int64(text) else { return nil }
    let token = SessionToken()
    var parameters = PostgresParameters()
    parameters.append(viewer)
    parameters.append(token.hash)
    parameters.append(inTextFormat: device)
    _ = try session.execute(
      "SELECT \(GraphContract.createSession)($1::bigint, $2::bytea, $3)", binding: parameters)
    return token
  }
}
