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
    /// The number of the last write whose position the primary did not report; 0 if there is none.
    var missed: UInt64 = 0

    var isUnknown: Bool { holds > 0 || missed > 0 }

    mutating func add(_ other: LogPosition) { position = position?.later(other) ?? other }
  }

  private struct State {
    /// The entry of clients that are not listed.
    var others = Entry()
    var clients: [PoolClient: Entry] = [:]
    /// The number of writes so far whose position the primary did not report.
    var missed: UInt64 = 0
    /// Of them, those up to here are known to be before a position since.
    var found: UInt64 = 0
  }

  private static let maximumClients = 10_000
  private let state = Mutex(State())

  package init() {}

  package func need(of client: PoolClient?) -> Need {
    state.withLock { state in
      let entry = client.flatMap { state.clients[$0] }
      guard !state.others.isUnknown, entry?.isUnknown != true else { return .unknown }
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
  /// - Parameter position: the position, or nil if the primary did not report it. An answer that may
  ///   be older than the last one is then better than none.
  package func release(_ clients: [PoolClient]?, at position: LogPosition?) {
    change(clients) { entry in
      entry.holds = max(entry.holds - 1, 0)
      if let position { entry.add(position) }
    }
  }

  /// Ends the wait for a write whose position the primary did not report. Its clients need the
  /// primary until it has reported a later one.
  package func miss(_ clients: [PoolClient]?) {
    state.withLock { state in
      state.missed += 1
      let number = state.missed
      Self.change(clients, &state) { entry in
        entry.holds = max(entry.holds - 1, 0)
        entry.missed = number
      }
    }
  }

  /// The number of writes so far whose position the primary did not report.
  package var missed: UInt64 { state.withLock { $0.missed } }

  /// Takes a position of the primary.
  ///
  /// - Parameter missed: `missed` before the primary was asked.
  package func reported(_ position: LogPosition, after missed: UInt64) {
    state.withLock { state in
      guard missed > state.found else { return }
      state.found = missed
      func find(_ entry: inout Entry) {
        guard entry.missed > 0, entry.missed <= missed else { return }
        entry.missed = 0
        entry.add(position)
      }
      find(&state.others)
      for client in state.clients.keys { find(&state.clients[client, default: Entry()]) }
    }
  }

  /// Notes a position that a client brings along.
  package func note(_ position: LogPosition, of client: PoolClient) {
    change([client]) { $0.add(position) }
  }

  private func change(_ clients: [PoolClient]?, _ body: (inout Entry) -> Void) {
    state.withLock { Self.change(clients, &$0, body) }
  }

  private static func change(
    _ clients: [PoolClient]?, _ state: inout State, _ body: (inout Entry) -> Void
  ) {
    guard let clients else { return body(&state.others) }
    if state.clients.count >= maximumClients { fold(&state) }
    for client in clients { body(&state.clients[client, default: Entry()]) }
  }

  /// Makes the latest of all positions that of every client, and removes the list.
  private static func fold(_ state: inout State) {
    for (client, entry) in state.clients where entry.holds == 0 {
      if let position = entry.position { state.others.add(position) }
      state.others.missed = max(state.others.missed, entry.missed)
      state.clients[client] = nil
    }
  }
}
