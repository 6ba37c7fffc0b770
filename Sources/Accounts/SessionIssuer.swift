import Postgres
import SQL

/// Creates sessions on the command line, for a database's owner.
package enum SessionIssuer {
  /// Creates a session of a user and returns its token, of which the database stores the hash.
  ///
  /// Two functions of the graph do it: `viewer_named(name)` finds the user, and
  /// `create_session(viewer, token_hash, device)` inserts the row.
  ///
  /// - Parameter device: the name under which the user sees the session.
  /// - Returns: nil if there is no such user.
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
