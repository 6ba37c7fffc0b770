import Synchronization

/// The number of bytes buffered for clients over all loops of the process: of unsent responses, or
/// of uploads.
///
/// Bytes that a socket takes at once are not counted. So only a client that reads more slowly than
/// the server responds is counted, and then with the complete response, which stays in memory until
/// all of it is sent.
package final class HTTPBufferBudget: Sendable {
  private let held = Atomic(0)
  package let maximumBytes: Int

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  package var heldBytes: Int { held.load(ordering: .relaxed) }

  /// Returns whether a response of this many bytes may be buffered as well.
  package func admits(_ bytes: Int) -> Bool {
    let (sum, overflow) = heldBytes.addingReportingOverflow(bytes)
    return !overflow && sum <= maximumBytes
  }

  /// Records that a connection buffers `new` bytes instead of `old`.
  func change(from old: Int, to new: Int) {
    held.add(new - old, ordering: .relaxed)
  }
}
