import Cryptography
import Postgres
import SQL

/// The random bytes that a database stores for its servers, so that a cursor signed by one server
/// is accepted by the others, and after a restart.
package enum ServerSecret {
  /// Reads the secret.
  ///
  /// - Returns: nil for a database that `Migrations` has not created.
  package static func read(from session: PostgresSession) throws(PostgresError) -> [UInt8]? {
    let rows = try session.rowsIfThere("SELECT encode(secret, 'hex') FROM \(GraphContract.secret)")
    guard let digits = rows.first?.first ?? nil else { return nil }
    return Hexadecimal.decode(digits)
  }

  static func create(_ session: PostgresSession) throws {
    try session.execute(
      """
      CREATE TABLE IF NOT EXISTS sociograph_secret (
        secret bytea NOT NULL,
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
      );
      COMMENT ON TABLE sociograph_secret IS
        'The only row: random bytes with which the servers of this database sign cursors.'
      """)
    // 244 bits from the system's generator.
    try session.execute(
      """
      INSERT INTO sociograph_secret (secret)
      VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
      ON CONFLICT DO NOTHING
      """)
  }
}
