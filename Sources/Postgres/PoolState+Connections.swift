import EventLoops

/// Transitions that depend on time: deadlines, cancels, probes, and the closing and reopening of
/// connections.
extension PoolState {
  mutating func expire(
    _ lane: PoolRequestKind, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    var index = first(of: lane) ?? -1
    while index >= 0 {
      let request = requests[Int(index)]
      if request.deadline <= now {
        dequeue(index)
        statistics.timedOut += 1
        fail(index, .deadlinePassed, &actions)
      } else if request.queueDeadline <= now, condition != .paused {
        dequeue(index)
        fail(index, .refused(condition.isBroken ? .noDatabase : .waitedTooLong), &actions)
      }
      index = request.next
    }
  }

  /// Looks at what a connection has in flight, and at its age.
  mutating func watch(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    guard slots[slot].phase != .leased else { return }
    for place in 0..<slots[slot].inFlight.count {
      guard let index = slots[slot].inFlight[place] else { continue }
      let request = requests[Int(index)]
      let isOver = request.deadline <= now || place == 0 && hasOutrunTimeout(request, slot, now)
      if request.awaitsEnd, !request.isOverdue, isOver {
        requests[Int(index)].isOverdue = true
        statistics.timedOut += 1
      } else if !request.awaitsEnd, !request.isAbandoned, isOver {
        requests[Int(index)].isAbandoned = true
        if request.isProbe { continue }
        statistics.timedOut += 1
        actions.append(.fail(index, .deadlinePassed))
      }
    }
    if let cancelled = slots[slot].cancelled {
      if cancelled.at + settings.cancelGrace <= now {
        actions.append(.close(slot))
        vacate(slot, .cancelIgnored, now, &actions)
        return
      }
    } else if let head = slots[slot].inFlight.first,
      requests[Int(head)].isAbandoned || requests[Int(head)].isOverdue
    {
      sendCancel(slot, head, now, &actions)
    }
    if let head = slots[slot].inFlight.first {
      let took = headBegan(slot, requests[Int(head)]).duration(to: now)
      if took >= settings.longestStatement {
        // The next one may take as long.
        requests[Int(head)].retries = .max
        actions.append(.close(slot))
        vacate(slot, .unresponsive, now, &actions)
        return
      }
      noteOutrun(slot, head, took, &actions)
    }
    settle(slot, now, &actions)
    probeIfSilent(slot, now, &actions)
    if slots[slot].phase == .ready, slots[slot].inFlight.isEmpty,
      slots[slot].lastUse + settings.idleLimit <= now, readyCount > max(settings.minimumIdle, 1)
    {
      retire(slot, .idle, now, &actions)
    }
  }

  /// Returns whether a statement has exceeded its timeout by the grace time. PostgreSQL ends a
  /// statement at its timeout, except while it does not check the clock, such as when it builds a
  /// large record.
  func hasOutrunTimeout(_ request: Request, _ slot: Int, _ now: Instant) -> Bool {
    guard let timeout = settings.statementTimeout, timeout > .zero, !request.awaitsEnd,
      !request.isProbe, request.kind != .lease
    else { return false }
    let since = max(slots[slot].headStart, request.submittedAt)
    return since.duration(to: now) >= timeout + settings.timeoutGrace
  }

  /// Notes of the head of a connection that it takes far longer than was expected.
  private mutating func noteOutrun(
    _ slot: Int, _ head: Int32, _ took: Duration, _ actions: inout [PoolAction]
  ) {
    let request = requests[Int(head)]
    guard request.kind == .quick, !request.hasOutrun, !request.isProbe, !request.awaitsEnd else {
      return
    }
    let held = slots.indices.count { isExclusive($0) }
    let limit = held >= exclusiveLimit ? settings.overdueBesideOthers : settings.overdue
    guard took >= limit + .nanoseconds(4 * min(request.estimate, limits.heavyStatement)) else {
      return
    }
    requests[Int(head)].hasOutrun = true
    actions.append(.outran(head))
  }

  /// Cancels a statement that waits for a lock while others wait for its connection, and runs it as
  /// a heavy one. It gets a connection of its own. If heavy statements already use as many
  /// connections as they may, it returns to the queue.
  mutating func makeWay(_ now: Instant, _ actions: inout [PoolAction]) {
    var held = 0
    var last: Int?
    for slot in slots.indices where isExclusive(slot) && slots[slot].cancelled == nil {
      held += 1
      guard let head = slots[slot].inFlight.first, slots[slot].phase == .ready,
        requests[Int(head)].hasOutrun, requests[Int(head)].kind == .quick,
        requests[Int(head)].mayRetry
      else { continue }
      if slots[slot].inFlight.count > 1 {
        held -= 1
        demote(slot, head, now, &actions)
      } else if last.map({ slots[$0].headStart <= slots[slot].headStart }) ?? true {
        last = slot
      }
    }
    guard quick.count > 0, held > exclusiveLimit, let slot = last,
      let head = slots[slot].inFlight.first
    else { return }
    demote(slot, head, now, &actions)
  }

  private mutating func demote(
    _ slot: Int, _ head: Int32, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    requests[Int(head)].isDemoted = true
    sendCancel(slot, head, now, &actions)
  }

  private mutating func sendCancel(
    _ slot: Int, _ head: Int32, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    slots[slot].cancelled = (head, requests[Int(head)].generation, now)
    slots[slot].strayCancelUntil = now + settings.cancelGrace + settings.strayCancelWindow
    statistics.cancelsSent += 1
    actions.append(.cancel(slot))
    actions.append(.event(.cancelSent(connection: slot)))
  }

  /// Asks something of a connection that has long been silent, so that one whose other end is gone
  /// without a word is found before a request is.
  mutating func probeIfSilent(
    _ slot: Int, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    guard slots[slot].phase == .ready, slots[slot].inFlight.isEmpty,
      slots[slot].provenAt + settings.probeAfter <= now
    else { return }
    let deadline = now + settings.probeTimeout
    let index = allocate(
      Request(
        phase: .inFlight, slot: Int32(slot), estimate: 50_000, mayRetry: false, isProbe: true,
        submittedAt: now, sentAt: now, queueDeadline: deadline, deadline: deadline))
    slots[slot].headStart = now
    slots[slot].inFlight.append(index)
    slots[slot].backlog += 50_000
    actions.append(.probe(index, slot))
  }

  /// Closes a connection that is to go, once nothing is in flight on it.
  mutating func settle(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    if slots[slot].phase == .ready, condition == .paused {
      retire(slot, .paused, now, &actions)
    } else if slots[slot].phase == .ready, slots[slot].expiresAt <= now {
      retire(slot, .lifetime, now, &actions)
    } else if slots[slot].phase == .retiring, slots[slot].inFlight.isEmpty {
      retire(slot, slots[slot].retireReason, now, &actions)
    }
  }

  mutating func retire(
    _ slot: Int, _ reason: PoolCloseReason, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    slots[slot].phase = .retiring
    slots[slot].retireReason = reason
    guard slots[slot].inFlight.isEmpty else { return }
    actions.append(.close(slot))
    vacate(slot, reason, now, &actions)
  }

  /// Empties a slot whose connection is gone or about to be.
  mutating func vacate(
    _ slot: Int, _ reason: PoolCloseReason, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    guard slots[slot].phase != .vacant, slots[slot].phase != .connecting else { return }
    statistics.closed += 1
    actions.append(.event(.closed(connection: slot, reason: reason)))
    var survivors: [Int32] = []
    while let index = slots[slot].inFlight.popFirst() {
      giveBackShare(index)
      let request = requests[Int(index)]
      if request.isAbandoned || request.isProbe || request.phase == .leased {
        release(index)
      } else if request.mayRetry, request.retries == 0, request.deadline > now,
        condition != .stopping
      {
        survivors.append(index)
      } else {
        fail(index, .lost, &actions)
      }
    }
    for index in survivors.reversed() {
      requests[Int(index)].retries += 1
      requests[Int(index)].isDemoted = false
      requests[Int(index)].queueDeadline = min(
        requests[Int(index)].deadline, now + settings.queueWait)
      statistics.retried[.connectionLost, default: 0] += 1
      actions.append(.event(.retried(.connectionLost)))
      enqueue(index, inFront: true)
    }
    if slots[slot].isPromised { promisedCount -= 1 }
    let wasShortLived = slots[slot].openedAt + .seconds(1) > now
    slots[slot] = Slot(vacantUntil: now)
    switch reason {
    case .lost where wasShortLived:
      condition.brokeAtOnce()
      slots[slot].attemptAt = now + backOff()
    case .idle:
      // It is opened again when there is work for it.
      slots[slot].attemptAt = now + .seconds(365 * 24 * 3600)
    default: break
    }
  }

  // MARK: Connecting

  mutating func connect(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    guard condition.mayConnect else { return }
    slots[slot].phase = .connecting
    slots[slot].openedAt = now
    lastAttempt = now
    actions.append(.connect(slot))
  }

  /// Starts the attempts that are due; after a failure, one at a time.
  mutating func reconnect(_ now: Instant, _ actions: inout [PoolAction]) {
    guard condition.mayConnect else { return }
    for slot in slots.indices where slots[slot].phase == .vacant && slots[slot].attemptAt <= now {
      if condition.failures > 0, slots.contains(where: { $0.phase == .connecting }) { return }
      connect(slot, now, &actions)
    }
  }

  /// Starts an attempt to connect for a request while the breaker is open, earlier than the
  /// back-off would. So the first request after the database's return succeeds.
  ///
  /// - Returns: whether an attempt was started.
  mutating func startProbe(_ now: Instant, _ actions: inout [PoolAction]) -> Bool {
    if let lastAttempt, lastAttempt + settings.probeInterval > now { return false }
    guard let slot = slots.firstIndex(where: { $0.phase == .vacant }) else { return false }
    connect(slot, now, &actions)
    return true
  }

  /// Reopens a connection that was closed for being idle when all others have work.
  mutating func growIfBusy(_ now: Instant, _ actions: inout [PoolAction]) {
    guard condition.failures == 0 else { return }
    var vacant: Int?
    for slot in slots.indices {
      switch slots[slot].phase {
      case .vacant: vacant = slot
      case .ready where slots[slot].inFlight.isEmpty: return
      case .connecting: return
      case .ready, .leased, .retiring: break
      }
    }
    if let vacant { connect(vacant, now, &actions) }
  }

  /// Full jitter: anything up to a bound that doubles with each failure.
  mutating func backOff() -> Duration {
    let first = settings.firstBackOff.nanoseconds
    let last = settings.lastBackOff.nanoseconds
    let bound = min(last, first << min(max(condition.failures - 1, 0), 20))
    return .nanoseconds(random.below(max(bound, 1)) + 1_000_000)
  }

  mutating func failQueue(_ failure: PoolFailure, _ actions: inout [PoolAction]) {
    for lane in [PoolRequestKind.lease, .quick, .heavy] {
      while let index = first(of: lane) {
        dequeue(index)
        fail(index, failure, &actions)
      }
    }
  }

  mutating func fail(
    _ index: Int32, _ failure: PoolFailure, _ actions: inout [PoolAction]
  ) {
    if case .refused(let reason) = failure {
      statistics.shed[reason, default: 0] += 1
      actions.append(.event(.shed(reason)))
    }
    actions.append(.fail(index, failure))
    release(index)
  }
}
