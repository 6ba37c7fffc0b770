import CPostgreSQL
import Glibc

extension PostgresSession {
  /// Waits until another session has notified this one, until a descriptor can be read, or for a while.
  ///
  /// - Parameter patience: nil for ever.
  /// - Returns: whether somebody else has notified.
  package func waitForNotification(
    orReadable wake: Int32, atMost patience: Duration?
  ) throws(PostgresError) -> Bool {
    // What came with the answer to the last command waits in the library.
    if takeNotifications() { return true }
    var entries = [
      pollfd(fd: unsafe PQsocket(library.handle), events: Int16(POLLIN), revents: 0),
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = patience.map { Int32(clamping: max(0, $0.nanoseconds / 1_000_000)) } ?? -1
    guard unsafe poll(&entries, 2, milliseconds) > 0, entries[0].revents != 0 else { return false }
    guard unsafe PQconsumeInput(library.handle) == 1 else {
      throw unsafe PostgresError(connection: library.handle)
    }
    return takeNotifications()
  }

  private func takeNotifications() -> Bool {
    var isFound = false
    while let notification = unsafe PQnotifies(library.handle) {
      if unsafe notification.pointee.be_pid != processID { isFound = true }
      unsafe PQfreemem(notification)
    }
    return isFound
  }
}
