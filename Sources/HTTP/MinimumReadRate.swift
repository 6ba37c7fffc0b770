/// The rate at which a client reads its responses.
///
/// Bytes that are unsent at a moment have to be read at a minimum rate from then on, and bytes
/// added meanwhile count from when those were read. So a client that reads more slowly than the
/// server writes always has unsent bytes, but never the same ones for long.
struct MinimumReadRate {
  /// The time from which `due` counts; 0 if nothing is unsent.
  private var start: UInt64 = 0
  private var due = 0
  private var taken = 0

  /// Records that bytes are unsent.
  mutating func begin(at moment: UInt64) {
    if start == 0 { start = moment }
  }

  /// Records that the client took bytes.
  ///
  /// - Parameter unsent: the number of bytes left.
  mutating func took(_ bytes: Int, leaving unsent: Int, at moment: UInt64) {
    taken += bytes
    guard taken >= due else { return }
    (start, due, taken) = (moment, unsent, 0)
  }

  /// Returns whether the client reads too slowly.
  ///
  /// - Parameters:
  ///   - grace: the time before the minimum rate applies.
  ///   - least: the minimum rate, in bytes per second.
  func isTooSlow(at moment: UInt64, grace: Duration, least: Int) -> Bool {
    guard start > 0, moment > start, moment - start > grace.nanoseconds else { return false }
    let (bytes, overflow) = least.multipliedReportingOverflow(
      by: Int((moment - start) / 1_000_000))
    return overflow || taken < bytes / 1000
  }
}
