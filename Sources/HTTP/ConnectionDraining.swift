/// The schedule by which long-lived connections end, so that their clients do not all reconnect at
/// once: at each moment, the fraction of the connections equals the fraction of the time.
struct ConnectionDraining {
  let length: Duration
  /// The number of connections ended so far.
  private(set) var count = 0

  init(over length: Duration) { self.length = length }

  /// Returns the number of connections to end now.
  ///
  /// - Parameters:
  ///   - elapsed: the time since the start.
  ///   - open: the number of open connections, including those opened since the start.
  mutating func next(after elapsed: Duration, of open: Int) -> Int {
    let part = elapsed < length ? max(elapsed, .zero) / length : 1
    let next = min(max(Int((Double(count + open) * part).rounded()) - count, 0), open)
    count += next
    return next
  }
}
