import Postgres
import Synchronization

/// The last acknowledged write of each client of this process, as the number of all acknowledged
/// writes until then. Shared by the event loops.
final class WritePositions: Sendable {
  private struct State {
    var count: UInt64 = 0
    /// The position of clients that are not listed.
    var others: UInt64 = 0
    var clients: [PoolClient: UInt64] = [:]
  }

  private static let maximumClients = 10_000
  private let state = Mutex(State())

  /// The number of acknowledged writes.
  var count: UInt64 { state.withLock { $0.count } }

  /// Notes a write, before it is acknowledged.
  ///
  /// - Parameter clients: those that must see it; nil for all.
  func note(_ clients: [PoolClient]?) {
    state.withLock { state in
      state.count += 1
      guard let clients, state.clients.count < Self.maximumClients else {
        state.others = state.count
        state.clients.removeAll()
        return
      }
      for client in clients { state.clients[client] = state.count }
    }
  }

  /// Returns the number of writes that all of these clients must see.
  func position(of clients: [PoolClient]) -> UInt64 {
    state.withLock { state in
      clients.reduce(state.others) { max($0, state.clients[$1] ?? 0) }
    }
  }
}
