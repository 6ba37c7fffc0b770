/// What sockets and streams may take.
package struct LiveSettings: Sendable {
  /// Until a client has said who it is, in `connection_init`.
  package var initialisation: Duration = .seconds(3)
  /// Operations of one socket at once.
  package var maximumOperations = 100

  /// Of one subscription, waiting to be told.
  package var maximumQueue = 1_000
  /// Statements of one loop at once.
  package var deliveries = 64
  /// Streams say so often that they are alive.
  package var heartbeat: Duration = .seconds(12)

  package init() {}
}
