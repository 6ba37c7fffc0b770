/// How fast a client takes what is made for it.
///
/// What is unsent at a moment is to be taken at a least rate from then on, and what is made meanwhile counts from when
/// that was taken: for a client that is slower than what is made for it a little is always unsent, but never the same.
struct ReadingPace {
  /// From when what is `due` counts; 0 while nothing is unsent.
  private var start: UInt64 = 0
  private var due = 0
  private var taken = 0

  /// Something is unsent.
  mutating func begin(at moment: UInt64) {
    if start == 0 { start = moment }
  }

  /// - Parameter unsent: how much is left.
  mutating func took(_ bytes: Int, leaving unsent: Int, at moment: UInt64) {
    taken += bytes
    guard taken >= due else { return }
    (start, due, taken) = (moment, unsent, 0)
  }

  /// - Parameters:
  ///   - grace: for so long any rate will do.
  ///   - least: bytes in a second.
  func isTooSlow(at moment: UInt64, grace: Duration, least: Int) -> Bool {
    guard start > 0, moment > start, moment - start > grace.nanoseconds else { return false }
    let (bytes, overflow) = least.multipliedReportingOverflow(
      by: Int((moment - start) / 1_000_000))
    return overflow || taken < bytes / 1000
  }
}
