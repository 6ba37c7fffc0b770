import CEventLoops
import Glibc

/// A descriptor that becomes readable at a moment, to the microsecond, where the timers of a loop
/// have milliseconds.
///
/// Register its descriptor on a loop. It stays readable until the timer is set again.
package final class PreciseTimer: Sendable {
  package let descriptor: Int32

  package init() throws {
    descriptor = event_timer_create()
    guard descriptor >= 0 else { throw EventLoopError(call: "timerfd_create", code: errno) }
  }

  deinit { close(descriptor) }

  /// Sets the moment, which may have passed; nil for never.
  package func set(_ moment: Moment?) {
    event_timer_set(descriptor, UInt64(clamping: max(moment?.nanoseconds ?? 0, 0)))
  }
}
