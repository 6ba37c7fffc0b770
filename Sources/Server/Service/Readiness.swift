import Synchronization

/// Whether the process as a whole may be sent requests, apart from what each loop knows by itself: asked
/// by `/ready`, told by those who know of a reason against it. From any thread.
package final class Readiness: Sendable {
  private let interruptions = Atomic<Int>(0)

  package init() {}

  /// Not until `restore` has been called as often.
  package func interrupt() { interruptions.add(1, ordering: .relaxed) }

  package func restore() { interruptions.subtract(1, ordering: .relaxed) }

  package var isGiven: Bool { interruptions.load(ordering: .relaxed) <= 0 }
}
