import Glibc
import HTTP

/// The sockets that a server listens on, opened before anything else.
///
/// So a port in use is reported at once, and a port below 1024 can be opened before root's
/// privileges are dropped. Early clients get a response from `StartingService`.
package struct ListeningSockets {
  /// One for each loop.
  let clients: [HTTPListener]
  let operators: HTTPListener?

  package init(_ settings: RunningServer.Settings) throws(HTTPListenError) {
    // First, so that no client is let in before both are there.
    operators =
      if let address = settings.adminAddress { try HTTPListener.open(address).first } else { nil }
    clients = try HTTPListener.open(settings.address, count: settings.loopCount)
  }

  /// Opens them once a server that has one of them and says that it is stopping has left it.
  ///
  /// - Parameter waiting: called once.
  package static func open(
    _ settings: RunningServer.Settings, waiting: (HTTPAddress) -> Void
  ) throws(HTTPListenError) -> ListeningSockets {
    var isWaiting = false
    // It may close the address between being met there and being asked.
    var chances = 2
    while true {
      do throws(HTTPListenError) {
        return try ListeningSockets(settings)
      } catch {
        guard error.isTaken else { throw error }
        if HTTPListener.answer(error.address, to: "/ready")?.hasSuffix("\r\n\r\nstopping\n") == true
        {
          if !isWaiting { waiting(error.address) }
          isWaiting = true
          chances = 2
        } else {
          chances -= 1
          guard chances > 0 else { throw error }
        }
        usleep(50_000)
      }
    }
  }
}
