import CEventLoops

/// A point in time by the monotonic clock, in nanoseconds.
///
/// `ContinuousClock.Instant` is a number of 128 bits whose layout other modules cannot see; this
/// type is for times that each request compares several times. It is public, so that other modules
/// inline it.
public struct Moment: Hashable, Comparable, Sendable {
  /// The nanoseconds since an unspecified start.
  public let nanoseconds: Int64

  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static var now: Moment { Moment(nanoseconds: Int64(clamping: event_nanoseconds())) }

  @inlinable public static func < (left: Moment, right: Moment) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Returns the nanoseconds until another moment, saturated.
  @inlinable public func nanoseconds(to other: Moment) -> Int64 {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return overflow ? (other.nanoseconds < 0 ? .min : .max) : difference
  }

  /// Returns a later moment, saturated.
  @inlinable public func advanced(byNanoseconds other: Int64) -> Moment {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(other)
    return Moment(nanoseconds: overflow ? (other < 0 ? .min : .max) : sum)
  }

  package func duration(to other: Moment) -> Duration { .nanoseconds(nanoseconds(to: other)) }

  package static func + (moment: Moment, duration: Duration) -> Moment {
    moment.advanced(byNanoseconds: duration.nanoseconds)
  }

  package static func += (moment: inout Moment, duration: Duration) { moment = moment + duration }

  package static func - (moment: Moment, duration: Duration) -> Moment {
    moment + (.zero - duration)
  }
}

extension Duration {
  /// The duration in nanoseconds, saturated after 292 years.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carry ? (seconds < 0 ? .min : .max) : sum
  }
}
