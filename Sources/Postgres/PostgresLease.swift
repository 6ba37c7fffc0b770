/// A connection taken out of its pool for a transaction. Statements are sent as they come and
/// answered in order; one that fails leaves the later ones to fail too, until `ROLLBACK`.
package final class PostgresLease {
  private let pool: PostgresPool
  private let connection: PostgresConnection
  private let slot: Int
  private var isReleased = false

  init(pool: PostgresPool, connection: PostgresConnection, slot: Int) {
    self.pool = pool
    self.connection = connection
    self.slot = slot
  }

  deinit { release() }

  /// Nothing is tried again: the owner knows what may be.
  package func execute(
    _ statement: PostgresStatement, _ parameters: PostgresParameters,
    completion: @escaping (borrowing PostgresOutcome) -> Void
  ) {
    let error: PostgresError? =
      isReleased || !connection.isOpen
      ? PostgresError(.unavailable, message: "The connection was lost.")
      : PostgresPool.mismatch(statement, parameters)
    if let error {
      pool.loop.afterThisBatch { completion(.failure(error)) }
      return
    }
    // Holding on to the lease until the answer keeps the connection from being given back early.
    connection.send(statement, parameters, tag: 0) { [self] outcome in
      withExtendedLifetime(self) { completion(outcome) }
    }
  }

  /// Gives the connection back; one that is in the middle of something is closed instead.
  package func release() {
    guard !isReleased else { return }
    isReleased = true
    let isClean =
      connection.isOpen && connection.inFlightCount == 0 && !connection.isInTransaction
    pool.released(slot, connection, isClean: isClean)
  }
}
