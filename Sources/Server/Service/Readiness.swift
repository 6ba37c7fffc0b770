import Synchronization

/// Whether the process as a whole accepts requests, in addition to the state of each event loop.
/// `/ready` reads it. Call from any thread.
package final class Readiness: Sendable {
  private let interruptions = Atomic<Int>(0)

  package init() {}

  /// Makes `/ready` fail until `restore` has been called as often.
  package func interrupt() { interruptions.add(1, ordering: .relaxed) }

  package func restore() { interruptions.subtract(1, ordering: .relaxed) }

  package var isGiven: Bool { interruptions.load(ordering: .relaxed) <= 0 }
}
