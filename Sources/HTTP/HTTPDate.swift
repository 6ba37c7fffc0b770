import Glibc

/// The `Date` line of responses, made once per second (RFC 9110, 5.6.7).
struct HTTPDateLine {
  private var second: time_t = -1
  private(set) var bytes: [UInt8] = []

  /// Updates the line.
  ///
  /// - Returns: whether it changed.
  mutating func refresh() -> Bool {
    let now = time(nil)
    guard now != second else { return false }
    second = now
    bytes = Array("Date: \(Self.text(unixSeconds: Int(now)))\r\n".utf8)
    return true
  }

  /// Returns a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, for a moment not before 1970.
  static func text(unixSeconds: Int) -> String {
    let days = unixSeconds / 86_400
    let second = unixSeconds % 86_400
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let (year, month, day) = civil(days: days)
    return "\(weekdays[days % 7]), \(two(day)) \(months[month - 1]) \(year) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Returns the Gregorian date of a day counted from 1 January 1970. Years are counted from March,
  /// so that a leap day is a year's last.
  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let sinceMarch0 = days + 719_468
    let era = sinceMarch0 / 146_097
    let dayOfEra = sinceMarch0 % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1
    )
  }
}

/// Returns the nanoseconds of a monotonic clock. The clock is coarse (a few milliseconds) and
/// cheap.
func coarseNow() -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

extension Duration {
  /// The duration in nanoseconds, at least 0, saturated after 292 years.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? UInt64(Int64.max) : whole &+ UInt64(attoseconds / 1_000_000_000)
  }
}
