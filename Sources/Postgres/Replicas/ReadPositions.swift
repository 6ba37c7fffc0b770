import Synchronization

/// The latest writes and reads of each client of this process, as positions in the primary's log. Shared
/// by the event loops.
package final class ReadPositions: Sendable {
  /// The need of a client's next read.
  package enum Need: Sendable, Equatable {
    /// Nothing, or what every server has that has this position.
    case position(LogPosition?)
    /// Something of which the position is not known yet: only the primary has it for certain.
    case unknown
  }

  private struct Entry {
    var position: LogPosition?
    /// The number of writes and of reads on the primary that wait for their position.
    var holds = 0
  }

  private struct State {
    /// The entry of clients that are not listed.
    var others = Entry()
    var clients: [PoolClient: Entry] = [:]
  }

  private static let maximumClients = 10_000
  private let state = Mutex(State())

  package init() {}

  package func need(of client: PoolClient?) -> Need {
    state.withLock { state in
      let entry = client.flatMap { state.clients[$0] }
      guard state.others.holds == 0, entry?.holds ?? 0 == 0 else { return .unknown }
      guard let position = entry?.position else { return .position(state.others.position) }
      return .position(state.others.position?.later(position) ?? position)
    }
  }

  /// Begins to wait for the position of what clients wrote or saw.
  ///
  /// - Parameter clients: nil for all.
  package func hold(_ clients: [PoolClient]?) {
    change(clients) { $0.holds += 1 }
  }

  /// Ends the wait.
  ///
  /// - Parameter position: the position, or nil if the primary did not report it.
  package func release(_ clients: [PoolClient]?, at position: LogPosition?) {
    change(clients) { entry in
      entry.holds = max(entry.holds - 1, 0)
      if let position { entry.position = entry.position?.later(position) ?? position }
    }
  }

  /// Notes a position that a client brings along.
  package func note(_ position: LogPosition, of client: PoolClient) {
    change([client]) { $0.position = $0.position?.later(position) ?? position }
  }

  private func change(_ clients: [PoolClient]?, _ body: (inout Entry) -> Void) {
    state.withLock { state in
      guard let clients else { return body(&state.others) }
      if state.clients.count >= Self.maximumClients { Self.fold(&state) }
      for client in clients { body(&state.clients[client, default: Entry()]) }
    }
  }

  /// Makes the latest of all positions that of every client, and removes the list.
  private static func fold(_ state: inout State) {
    for (client, entry) in state.clients where entry.holds == 0 {
      if let position = entry.position {
        state.others.position = state.others.position?.later(position) ?? position
      }
      state.clients[client] = nil
    }
  }
}
