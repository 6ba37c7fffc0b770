/// The client that a statement counts for: a viewer, or the address of an anonymous client.
package enum PoolClient: Hashable, Sendable {
  case viewer(Int64)
  /// The server itself, for work that every request needs, such as session lookup. It goes first
  /// and uses no client's share.
  case server
  /// IPv6, or IPv4 in its last 32 bits.
  case address(high: UInt64, low: UInt64)
}

/// The share of one client: half of the connections for heavy statements, unmeasured statements and
/// writes, and a quarter of a full queue.
extension PoolState {
  /// The waiting requests of a client, and its running requests that are counted.
  struct ClientLoad {
    var running = 0
    var waiting = 0
    var heavyWaiting = 0
    /// When its next turns come, in the lane of heavy statements and in that of others.
    var heavyTurn: Int64 = 0
    var quickTurn: Int64 = 0
  }

  /// The maximum number of connections that a client may use at once.
  var share: Int { max(1, slots.count / 2) }

  /// Quick statements are not: they are over before it matters, and take turns.
  func isCounted(_ request: Request) -> Bool {
    request.client != nil && request.client != .server
      && (request.kind == .heavy || request.awaitsEnd)
  }

  func hasShare(_ request: Request) -> Bool {
    guard let client = request.client, isCounted(request) else { return true }
    return (clients[client]?.running ?? 0) < share
  }

  mutating func takeShare(_ index: Int32) {
    let request = requests[Int(index)]
    guard let client = request.client, isCounted(request) else { return }
    clients[client, default: ClientLoad()].running += 1
  }

  mutating func giveBackShare(_ index: Int32) {
    let request = requests[Int(index)]
    guard let client = request.client, isCounted(request) else { return }
    change(client) { $0.running -= 1 }
  }

  mutating func change(_ client: PoolClient, _ body: (inout ClientLoad) -> Void) {
    guard var load = clients[client] else { return }
    body(&load)
    clients[client] = load.running > 0 || load.waiting > 0 ? load : nil
  }

  /// The first of a lane that its client's share lets go.
  func firstWithShare(in lane: PoolRequestKind) -> Int32? {
    var index = first(of: lane) ?? -1
    while index >= 0 {
      if hasShare(requests[Int(index)]) { return index }
      index = requests[Int(index)].next
    }
    return nil
  }

  /// The number of leases and heavy statements that could run now, given enough connections.
  var exclusiveWithShare: Int {
    var count = leases.count + heavy.count
    for load in clients.values where load.heavyWaiting > 0 {
      count -= max(0, load.heavyWaiting - max(0, share - load.running))
    }
    return count
  }

  /// Whether one more may wait. In a full queue it takes the place of the last one of a client that has
  /// more than a quarter of it, unless its own client has that.
  mutating func makeRoom(for client: PoolClient?, _ actions: inout [PoolAction]) -> Bool {
    if hasRoomToWait || client == .server && waitingCount < settings.quickQueueLimit {
      return true
    }
    let part = max(1, waitingCount / 4)
    if let client, (clients[client]?.waiting ?? 0) >= part { return false }
    for lane in [PoolRequestKind.heavy, .quick] {
      var index = lane == .heavy ? heavy.last : quick.last
      while index >= 0 {
        if let greedy = requests[Int(index)].client, greedy != .server,
          (clients[greedy]?.waiting ?? 0) > part
        {
          dequeue(index)
          fail(index, .refused(.queueFull), &actions)
          return true
        }
        index = requests[Int(index)].previous
      }
    }
    return false
  }
}
