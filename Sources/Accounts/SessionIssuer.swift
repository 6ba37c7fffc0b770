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
    return try create(for: viewer, device: device, session)
  }

  private static func create(
    for viewer: Int64, device: String, _ session: PostgresSession
  ) throws -> SessionToken {
    let token = SessionToken()
    var parameters = PostgresParameters()
    parameters.append(viewer)
    parameters.append(token.hash)
    parameters.append(inTextFormat: device)
    _ = try session.execute(
      "SELECT \(GraphContract.createSession)($1::bigint, $2::bytea, $3)", binding: parameters)
    return token
  }

  /// Creates a session for each of some users, which the graph's function `some_viewers(wanted)` selects.
  ///
  /// - Returns: fewer tokens if there are fewer users.
  package static func tokens(
    forUsers count: Int, device: String, in configuration: PostgresConfiguration
  ) throws -> [SessionToken] {
    let session = try PostgresSession(configuration)
    _ = try session.execute("BEGIN")
    let viewers = try session.execute(
      "SELECT \(GraphContract.someViewers)($1::int)", [String(count)])
    let tokens = try viewers.compactMap { $0.first.flatMap { $0 }.flatMap { Int64($0) } }
      .map { try create(for: $0, device: device, session) }
    _ = try session.execute("COMMIT")
    return tokens
  }

  /// Ends the sessions of tokens.
  package static func end(
    _ tokens: [SessionToken], in configuration: PostgresConfiguration
  ) throws {
    let session = try PostgresSession(configuration)
    for token in tokens {
      var parameters = PostgresParameters()
      parameters.append(token.hash)
      _ = try session.execute("SELECT \(GraphContract.endSession)($1::bytea)", binding: parameters)
    }
  }
}
