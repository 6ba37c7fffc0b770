import HTTP

/// The sockets a server listens on, opened before there is anything to serve: a port that is taken is
/// told at once, one below 1024 can be opened before root's rights are given up, and clients who
/// come early are answered (`StartingService`).
package struct ListeningSockets {
  /// One for each loop.
  let clients: [HTTPListener]
  let operators: HTTPListener?

  package init(_ settings: RunningServer.Settings) throws {
    clients = try HTTPListener.open(settings.address, count: settings.loopCount)
    operators = try settings.adminAddress.flatMap { try HTTPListener.open($0).first }
  }
}
