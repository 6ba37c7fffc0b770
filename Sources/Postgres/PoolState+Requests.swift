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

  mutating func enqueue(_ index: Int32, inFront: Bool = false) {
    requests[Int(index)].phase = .queued
    changeLane(of: index) { lane, requests in
      lane.count += 1
      lane.work += requests[Int(index)].estimate
      if inFront {
        requests[Int(index)].previous = -1
        requests[Int(index)].next = lane.first
        if lane.first >= 0 { requests[Int(lane.first)].previous = index } else { lane.last = index }
        lane.first = index
      } else {
        requests[Int(index)].previous = lane.last
        requests[Int(index)].next = -1
        if lane.last >= 0 { requests[Int(lane.last)].next = index } else { lane.first = index }
        lane.last = index
      }
    }
  }

  mutating func dequeue(_ index: Int32) {
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
