import Glibc

/// Returns whether a condition becomes true within ten minutes; it is tried every 10 ms.
package func eventually(_ holds: () throws -> Bool) rethrows -> Bool {
  let deadline = ContinuousClock.now + .seconds(600)
  while ContinuousClock.now < deadline {
    if try holds() { return true }
    usleep(10_000)
  }
  return false
}
