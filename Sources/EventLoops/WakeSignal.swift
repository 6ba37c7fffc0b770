import CEventLoops
import Glibc

/// A descriptor that becomes readable when raised, for a thread that waits in its own poll.
package final class WakeSignal: Sendable {
  package let descriptor: Int32

  package init() throws {
    descriptor = event_wake_create()
    guard descriptor >= 0 else { throw EventLoopError(call: "eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// Makes the descriptor readable. Call from any thread.
  package func raise() { event_wake_raise(descriptor) }
  package func lower() { event_wake_lower(descriptor) }
}
