import Cryptography
import Synchronization

/// Automatic persisted queries: texts that clients sent once and refer to by their hash.
///
/// All loops share them. Their number and size are bounded; the least recently used are evicted
/// first.
package final class PersistedQueries: Sendable {
  private let state: Mutex<State>

  package init(maximumCount: Int = 1000, maximumBytes: Int = 16 * 1024 * 1024) {
    state = Mutex(State(maximumCount: maximumCount, maximumBytes: maximumBytes))
  }

  func text(hash: String) -> String? { state.withLock { $0.text(hash: hash) } }

  func keep(_ text: String, hash: String) { state.withLock { $0.keep(text, hash: hash) } }

  package var count: Int { state.withLock { $0.entries.count } }

  /// Returns the SHA-256 of the text, in lower-case hexadecimal.
  package static func hash(_ text: String) -> String { SHA256.hexadecimal(Array(text.utf8)) }

  /// The entries with the moment of their last use, which is a running number.
  struct State {
    struct Entry {
      let text: String
      var lastUse: UInt64
    }

    let maximumCount: Int
    let maximumBytes: Int
    private(set) var entries: [String: Entry] = [:]
    private(set) var bytes = 0
    private var uses: UInt64 = 0

    init(maximumCount: Int, maximumBytes: Int) {
      self.maximumCount = maximumCount
      self.maximumBytes = maximumBytes
    }

    mutating func text(hash: String) -> String? {
      uses += 1
      guard entries[hash] != nil else { return nil }
      entries[hash]?.lastUse = uses
      return entries[hash]?.text
    }

    mutating func keep(_ text: String, hash: String) {
      uses += 1
      if entries[hash] != nil {
        entries[hash]?.lastUse = uses
        return
      }
      let size = text.utf8.count
      guard size <= maximumBytes, maximumCount > 0 else { return }
      if entries.count >= maximumCount || bytes + size > maximumBytes { makeRoom(for: size) }
      entries[hash] = Entry(text: text, lastUse: uses)
      bytes += size
    }

    /// Evicts an eighth of the entries at once, so that a flood does not sort them each time.
    private mutating func makeRoom(for size: Int) {
      let targetCount = maximumCount - max(maximumCount / 8, 1)
      let targetBytes = min(maximumBytes - maximumBytes / 8, maximumBytes - size)
      for (hash, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
        guard entries.count > targetCount || bytes > targetBytes else { return }
        entries[hash] = nil
        bytes -= entry.text.utf8.count
      }
    }
  }
}
