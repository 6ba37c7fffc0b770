import CEventLoops

/// A point in time by the clock that never goes back, in nanoseconds.
///
/// `ContinuousClock.Instant` is a number of 128 bits that other modules cannot see into; what is compared
/// several times in each request is this. Public, so that others inline it.
public struct Moment: Hashable, Comparable, Sendable {
  /// Since nobody knows when.
  public let nanoseconds: Int64

  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static var now: Moment { Moment(nanoseconds: Int64(clamping: event_nanoseconds())) }

  @inlinable public static func < (left: Moment, right: Moment) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Saturates.
  @inlinable public func nanoseconds(to other: Moment) -> Int64 {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return overflow ? (other.nanoseconds < 0 ? .min : .max) : difference
  }

  /// Saturates.
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
  /// Saturates after 292 years.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carry ? (seconds < 0 ? .min : .max) : sum
  }
}
