/// Requests as storage: reused places in one array, and queues linked through them.
extension PoolState {
  mutating func allocate(_ request: Request) -> Int32 {
    guard let index = freeRequests.popLast() else {
      requests.append(request)
      return Int32(requests.count - 1)
    }
    let generation = requests[Int(index)].generation
    requests[Int(index)] = request
    requests[Int(index)].generation = generation
    return index
  }

  mutating func release(_ index: Int32) {
    requests[Int(index)].phase = .free
    requests[Int(index)].generation &+= 1
    freeRequests.append(index)
  }

  func live(_ id: PoolRequestID) -> Int32? {
    guard requests.indices.contains(Int(id.index)),
      requests[Int(id.index)].generation == id.generation
    else { return nil }
    return id.index
  }

  func first(of lane: PoolRequestKind) -> Int32? {
    let index =
      switch lane {
      case .quick: quick.first
      case .heavy: heavy.first
      case .lease: leases.first
      }
    return index < 0 ? nil : index
  }

  /// Adds a request to its queue, in fair order. A client's next turn comes after the time that its
  /// last request is expected to take. So clients take turns by the time that they use, and a
  /// client with few requests goes ahead of a busy one.
  mutating func enqueue(_ index: Int32, inFront: Bool = false) {
    requests[Int(index)].phase = .queued
    let client = requests[Int(index)].client
    let isHeavy = requests[Int(index)].kind == .heavy
    var load = client.map { clients[$0] ?? ClientLoad() } ?? ClientLoad()
    changeLane(of: index) { lane, requests in
      lane.count += 1
      lane.work += requests[Int(index)].estimate
      var next = lane.first
      var turn = lane.clock
      if inFront {
        if next >= 0 { turn = min(turn, requests[Int(next)].turn) }
      } else {
        turn = client == .server ? turn - 1 : max(turn, isHeavy ? load.heavyTurn : load.quickTurn)
        next = -1
        var previous = lane.last
        while previous >= 0, requests[Int(previous)].turn > turn {
          next = previous
          previous = requests[Int(previous)].previous
        }
        let following = turn &+ requests[Int(index)].estimate
        if isHeavy { load.heavyTurn = following } else { load.quickTurn = following }
      }
      let previous = next >= 0 ? requests[Int(next)].previous : lane.last
      requests[Int(index)].turn = turn
      requests[Int(index)].previous = previous
      requests[Int(index)].next = next
      if previous >= 0 { requests[Int(previous)].next = index } else { lane.first = index }
      if next >= 0 { requests[Int(next)].previous = index } else { lane.last = index }
    }
    guard let client else { return }
    load.waiting += 1
    if isHeavy { load.heavyWaiting += 1 }
    clients[client] = load
  }

  mutating func dequeue(_ index: Int32) {
    if let client = requests[Int(index)].client {
      let isHeavy = requests[Int(index)].kind == .heavy
      change(client) { load in
        load.waiting -= 1
        if isHeavy { load.heavyWaiting -= 1 }
      }
    }
    changeLane(of: index) { lane, requests in
      let (previous, next) = (requests[Int(index)].previous, requests[Int(index)].next)
      lane.count -= 1
      lane.work -= requests[Int(index)].estimate
      if previous >= 0 { requests[Int(previous)].next = next } else { lane.first = next }
      if next >= 0 { requests[Int(next)].previous = previous } else { lane.last = previous }
    }
  }

  mutating func changeLane(of index: Int32, _ change: (inout Lane, inout [Request]) -> Void) {
    switch requests[Int(index)].kind {
    case .quick: change(&quick, &requests)
    case .heavy: change(&heavy, &requests)
    case .lease: change(&leases, &requests)
    }
  }
}
