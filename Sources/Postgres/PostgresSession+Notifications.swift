import CPostgreSQL
import Glibc

extension PostgresSession {
  /// Waits for a notification of another session, until a descriptor is readable, or for a maximum
  /// time.
  ///
  /// - Parameter patience: the maximum time, or nil for no limit.
  /// - Returns: whether a notification arrived.
  package func waitForNotification(
    orReadable wake: Int32, atMost patience: Duration?
  ) throws(PostgresError) -> Bool {
    // Notifications that came with the last result are in the library.
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
