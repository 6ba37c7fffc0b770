import Synchronization

/// How many bytes are kept for clients, over all loops of the process: of answers that wait to be
/// taken, or of uploads.
///
/// What a socket takes at once is not counted: only clients that read more slowly than they are
/// answered cost anything here, and then the whole answer, which is kept until all of it is sent.
package final class HTTPAnswerBudget: Sendable {
  private let held = Atomic(0)
  package let maximumBytes: Int

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  package var heldBytes: Int { held.load(ordering: .relaxed) }

  /// Whether an answer of so many bytes may be kept as well.
  package func admits(_ bytes: Int) -> Bool {
    let (sum, overflow) = heldBytes.addingReportingOverflow(bytes)
    return !overflow && sum <= maximumBytes
  }

  /// A connection holds another number of bytes than before.
  func change(from old: Int, to new: Int) {
    held.add(new - old, ordering: .relaxed)
  }
}
