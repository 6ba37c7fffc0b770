import CEventLoops
import Glibc

/// A descriptor that can be read once it was raised, for a thread that waits in a poll of its own.
package final class WakeSignal: Sendable {
  package let descriptor: Int32

  package init() throws {
    descriptor = event_wake_create()
    guard descriptor >= 0 else { throw EventLoopError(call: "eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// From any thread.
  package func raise() { event_wake_raise(descriptor) }
  package func lower() { event_wake_lower(descriptor) }
}
