import EventLoops

/// Which connection takes which request, and when.
extension PoolState {
  var readyCount: Int {
    var count = 0
    for slot in slots.indices {
      if slots[slot].phase == .ready || slots[slot].phase == .leased { count += 1 }
    }
    return count
  }

  /// Whether a round trip to the server takes longer than a short statement. False while no connection
  /// is ready, because the latency is then unknown.
  var isFar: Bool {
    var isKnown = false
    for slot in slots.indices where slots[slot].phase == .ready {
      if slots[slot].distance < limits.shortStatement { return false }
      isKnown = true
    }
    return isKnown
  }

  private func asynchronousCount(_ now: Instant) -> Int {
    var count = 0
    for slot in slots.indices {
      guard let head = slots[slot].inFlight.first else { continue }
      let request = requests[Int(head)]
      if request.commitsAsynchronously,
        headBegan(slot, request).nanoseconds(to: now) < limits.asynchronousStall
      {
        count += 1
      }
    }
    return count
  }

  /// No connection is idle, or others wait for one.
  var isCrowded: Bool {
    if waitingCount > 0 { return true }
    for slot in slots.indices where slots[slot].phase == .ready {
      if slots[slot].inFlight.isEmpty { return false }
    }
    return true
  }

  var unfinishedCount: Int {
    var count = waitingCount
    for slot in slots.indices { count += slots[slot].inFlight.count }
    return count
  }

  /// The maximum number of connections that leases and heavy statements may use at once.
  var exclusiveLimit: Int { max(1, slots.count - settings.reservedForQuick) }

  /// A queue that is longer than its limit may grow while it is still soon worked off: many clients
  /// with quick statements are no overload.
  var hasRoomToWait: Bool {
    let count = waitingCount
    if count < settings.queueLimit { return true }
    let work = quick.work + heavy.work + leases.work
    return count < settings.quickQueueLimit && work < limits.quickQueueWait * Int64(slots.count)
  }

  func waitingCount(ahead lane: PoolRequestKind) -> Int {
    switch lane {
    case .quick: quick.count
    case .heavy: heavy.count
    case .lease: leases.count
    }
  }

  /// Returns the connection that should take a request now, or nil if it has to wait.
  ///
  /// Short statements share a connection whose backlog ends soon: one busy backend is faster than
  /// several that take turns. Other quick statements take an idle connection, or follow one
  /// statement that is expected to end soon, so that the backend does not idle in between. Heavy
  /// statements need an idle connection, and leave one connection to the others.
  func choose(for index: Int32, now: Instant) -> Int? {
    let request = requests[Int(index)]
    if request.commitsAsynchronously, asynchronousCount(now) >= settings.asynchronousAtOnce {
      return nil
    }
    let isShort =
      request.kind == .quick && request.estimate < limits.shortStatement
    var idle: Int?
    var least: Int?
    var leastBacklog = Int64.max
    var exclusive = 0
    for slot in slots.indices {
      if slots[slot].phase == .leased { exclusive += 1 }
      guard slots[slot].phase == .ready else { continue }
      let distance = slots[slot].distance
      let count = slots[slot].inFlight.count
      if count == 0 {
        if request.kind != .quick || !slots[slot].isPromised, idle == nil { idle = slot }
        continue
      }
      if isExclusive(slot) {
        exclusive += 1
        continue
      }
      guard request.kind == .quick, !slots[slot].isPromised,
        count < depth(isShort, request.estimate, distance)
      else { continue }
      // A statement on the network costs the server nothing yet.
      let backlog = max(expectedBacklog(slot, now) - distance, 0)
      if isShort, backlog + request.estimate <= limits.sharingLimit,
        slots[slot].backlog < Int64(count) * limits.shortStatement
      {
        return slot
      }
      if backlog < leastBacklog { (least, leastBacklog) = (slot, backlog) }
    }
    if request.kind != .quick {
      return exclusive < exclusiveLimit ? idle : nil
    }
    if let idle { return idle }
    return leastBacklog <= limits.longestQueueing ? least : nil
  }

  /// Returns the maximum number of statements on one connection. Latency raises it by the number
  /// that the server can run during a round trip.
  private func depth(_ isShort: Bool, _ estimate: Int64, _ distance: Int64) -> Int {
    let most = isShort ? settings.pipelineDepth : settings.longPipelineDepth
    guard distance > 0, most > 1 else { return most }
    return most + Int(min(distance / max(estimate, 20_000), Int64(settings.deepestPipeline)))
  }

  /// Returns the time at which the server began the first statement of a connection, measured at
  /// this end. It is not before the previous result, nor before one round trip after the statement
  /// was sent.
  func headBegan(_ slot: Int, _ head: Request) -> Instant {
    let distance = slots[slot].distance
    let came = distance > 0 ? head.sentAt.advanced(byNanoseconds: distance) : head.sentAt
    return max(slots[slot].headStart, came)
  }

  /// Lowers the network latency of a connection after a result that came within a time.
  mutating func shorten(_ slot: Int, to time: Int64) {
    guard slots[slot].distance > 0 else { return }
    slots[slot].distance = min(
      slots[slot].distance, max(time - limits.shortestRoundTrip, 0))
  }

  /// Nanoseconds until the connection is expected to be idle. A statement that has outrun its
  /// estimate is expected to take as long again.
  func expectedBacklog(_ slot: Int, _ now: Instant) -> Int64 {
    guard let head = slots[slot].inFlight.first else { return 0 }
    let estimate = requests[Int(head)].estimate
    let elapsed = headBegan(slot, requests[Int(head)]).nanoseconds(to: now)
    let rest = elapsed > estimate ? elapsed : estimate - max(elapsed, 0)
    return slots[slot].backlog - estimate + rest
  }

  mutating func send(
    _ index: Int32, to slot: Int, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    let request = requests[Int(index)]
    requests[Int(index)].phase = .inFlight
    takeShare(index)
    requests[Int(index)].slot = Int32(slot)
    requests[Int(index)].sentAt = now
    requests[Int(index)].hasOutrun = false
    if slots[slot].inFlight.isEmpty { slots[slot].headStart = now }
    slots[slot].inFlight.append(index)
    slots[slot].backlog += request.estimate
    slots[slot].lastUse = now
    if request.kind != .quick, slots[slot].isPromised {
      slots[slot].isPromised = false
      promisedCount -= 1
    }
    if request.kind == .lease {
      slots[slot].phase = .leased
      requests[Int(index)].phase = .leased
      actions.append(.lease(index, slot))
    } else {
      actions.append(.send(index, slot))
    }
  }

  mutating func dispatch(_ now: Instant, _ actions: inout [PoolAction]) {
    if exclusiveWaiting > 0 || promisedCount > 0 {
      dispatch(.lease, now, &actions)
      dispatch(.heavy, now, &actions)
      promise()
    }
    if quick.count > 0 { dispatch(.quick, now, &actions) }
  }

  mutating func dispatch(
    _ lane: PoolRequestKind, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    while let index = firstWithShare(in: lane), let slot = choose(for: index, now: now) {
      statistics.waited += 1
      statistics.totalWait += requests[Int(index)].submittedAt.duration(to: now)
      let turn = requests[Int(index)].turn
      // The clock goes on though all who come are new, so that who came again has its turn, too.
      let passed = requests[Int(index)].estimate / Int64(clients.count + 1)
      changeLane(of: index) { lane, _ in lane.clock = max(lane.clock, turn) + passed }
      dequeue(index)
      send(index, to: slot, now, &actions)
    }
  }

  /// Reserves connections for waiting leases and heavy statements, up to their limit. A reserved
  /// connection takes no new work. Otherwise they would starve while quick statements keep all
  /// connections busy.
  mutating func promise() {
    var free = exclusiveLimit
    promisedCount = 0
    for slot in slots.indices {
      let isHeld = isExclusive(slot)
      if isHeld { free -= 1 }
      if isHeld || slots[slot].phase != .ready { slots[slot].isPromised = false }
      if slots[slot].isPromised { promisedCount += 1 }
    }
    let wanted = max(0, min(exclusiveWithShare, free))
    while promisedCount != wanted {
      let isMissing = promisedCount < wanted
      let candidates = slots.indices.filter {
        slots[$0].phase == .ready && !isExclusive($0) && slots[$0].isPromised != isMissing
      }
      let backlog = { [slots] (slot: Int) in slots[slot].backlog }
      guard
        let slot = isMissing
          ? candidates.min(by: { backlog($0) < backlog($1) })
          : candidates.max(by: { backlog($0) < backlog($1) })
      else { return }
      slots[slot].isPromised = isMissing
      promisedCount += isMissing ? 1 : -1
    }
  }

  /// A lease or a heavy statement has the connection to itself; so has one that outran its estimate by
  /// far, as one does that waits for a lock.
  func isExclusive(_ slot: Int) -> Bool {
    if slots[slot].phase == .leased { return true }
    guard let head = slots[slot].inFlight.first else { return false }
    return requests[Int(head)].kind == .heavy || requests[Int(head)].hasOutrun
  }
}
