import Glibc

/// Returns the factor of processor time for four times the input.
///
/// Proportional work has a factor of about 4, quadratic work 16, on any machine: each is the best
/// of several runs, measured by the thread's processor time. Work under a millisecond is too short
/// to measure.
package func growth(attempts: Int = 6, _ run: (_ scale: Int) throws -> Void) rethrows -> Double {
  var small = Duration.seconds(1_000)
  var large = Duration.seconds(1_000)
  for _ in 0..<attempts {
    small = min(small, try threadTime { try run(1) })
    large = min(large, try threadTime { try run(4) })
    if large / max(small, .milliseconds(1)) < 8 { break }
  }
  return large / max(small, .milliseconds(1))
}

private func threadTime(_ body: () throws -> Void) rethrows -> Duration {
  let start = threadTime()
  try body()
  return threadTime() - start
}

private func threadTime() -> Duration {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
