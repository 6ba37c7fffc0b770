/// What sockets and streams may take.
package struct LiveSettings: Sendable {
  /// Until a client has said who it is, in `connection_init`.
  package var initialisation: Duration = .seconds(3)
  /// Operations of one socket at once.
  package var maximumOperations = 100

  package init() {}
}
