/// How many of the connections that would last are ended by when, so that their clients do not all come back at once:
/// at each moment as large a part of them as has passed of the time.
struct GradualEnd {
  let length: Duration
  /// How many were ended.
  private(set) var count = 0

  init(over length: Duration) { self.length = length }

  /// - Parameters:
  ///   - elapsed: since the beginning.
  ///   - open: how many are left, those that came meanwhile among them.
  /// - Returns: how many of these are to be ended now.
  mutating func next(after elapsed: Duration, of open: Int) -> Int {
    let part = elapsed < length ? max(elapsed, .zero) / length : 1
    let next = min(max(Int((Double(count + open) * part).rounded()) - count, 0), open)
    count += next
    return next
  }
}
