import Dispatch
import EventLoops

/// Cancels statements of a pool's connections: through a connection kept for it, since libpq's own
/// way blocks. Used on the pool's loop only.
final class StatementCanceller {
  private static let statement = PostgresStatement(
    "SELECT pg_cancel_backend($1::int4)", parameterCount: 1, label: StatementLabel(task: "cancel"))

  private let loop: EventLoop
  private let configuration: PostgresConfiguration
  /// The queue on which libpq connects, which blocks.
  private let queue: DispatchQueue
  private var connection: PostgresConnection?
  private var isConnecting = false
  private var isStopped = false
  /// The process IDs of the backends to cancel once there is a connection.
  private var targets: [Int32] = []
  /// Called after each attempt to connect.
  var whenConnected: () -> Void = {}

  init(loop: EventLoop, configuration: PostgresConfiguration) {
    self.loop = loop
    self.configuration = configuration
    queue = DispatchQueue(label: "\(loop.label).cancelling")
  }

  /// Cancels what the connection's backend is executing.
  ///
  /// Best effort: PostgreSQL ignores a cancel that arrives before the statement or after its end.
  func cancel(_ connection: PostgresConnection) {
    guard configuration.pooler == .none else {
      // The process ID is the pooler's, and says nothing to the server.
      if let cancel = connection.makeCancel() { queue.async { cancel.send() } }
      return
    }
    cancel(connection.processID)
  }

  /// Closes the connection; the next cancel opens another one.
  func disconnect() {
    connection?.close()
    connection = nil
  }

  /// Closes the connection for good.
  func stop() {
    isStopped = true
    disconnect()
  }

  private func cancel(_ processID: Int32) {
    if let connection, connection.isOpen {
      var parameters = PostgresParameters()
      parameters.append(processID)
      connection.send(Self.statement, parameters, tag: 0) { _ in }
      return
    }
    targets.append(processID)
    guard !isConnecting else { return }
    isConnecting = true
    nonisolated(unsafe) weak let canceller = self
    let configuration = configuration
    let loop = loop
    queue.async {
      let result = Result { () throws(PostgresError) in try LibraryConnection(configuration) }
      loop.execute { unsafe canceller?.connected(result) }
    }
  }

  private func connected(_ result: Result<LibraryConnection, PostgresError>) {
    whenConnected()
    isConnecting = false
    let waiting = targets
    targets.removeAll()
    guard !isStopped, let library = try? result.get(),
      let connection = try? PostgresConnection(library, loop: loop, configuration)
    else { return }
    connection.onClose = { [weak self] _ in self?.connection = nil }
    self.connection = connection
    for target in waiting { cancel(target) }
  }
}
