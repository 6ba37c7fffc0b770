import EventLoops

/// Connections and requests as plain data: without sockets, queues, clock or random source.
///
/// An event goes in with its time. The steps to take come out as `PoolAction`s, in order. The
/// caller performs them and reports their outcome. Requests are numbers; the caller keeps their
/// payload.
///
///     submit -> (queue) -> send -> answered
///                  |         |-> cancel -> answered, or close
///                  |         '-> lost -> (queue) once more, or fail
///                  '-> fail: full, waited too long, no database
struct PoolState {
  typealias Instant = Moment

  let settings: PoolSettings
  let limits: Limits
  var slots: [Slot]
  var statistics = PoolStatistics()
  var requests: [Request] = []
  var freeRequests: [Int32] = []
  /// Short and middling statements, long ones, and those that want a connection to themselves.
  var quick = Lane()
  var heavy = Lane()
  var leases = Lane()
  /// The clients with waiting requests or with running requests that are counted.
  var clients: [PoolClient: ClientLoad] = [:]
  var promisedCount = 0
  var condition = PoolCondition.serving
  var lastAttempt: Instant?
  var random: SplitMix

  init(settings: PoolSettings, seed: UInt64, now: Instant) {
    self.settings = settings
    limits = Limits(settings)
    random = SplitMix(state: seed)
    slots = (0..<max(settings.size, 1)).map { _ in Slot(vacantUntil: now) }
  }

  // MARK: Parts

  /// A place for a connection.
  struct Slot {
    enum Phase: Equatable {
      /// No connection; the next attempt not before `attemptAt`.
      case vacant
      case connecting
      case ready
      /// Takes nothing new and is closed when it has answered.
      case retiring
      case leased
    }

    var phase = Phase.vacant
    var retireReason = PoolCloseReason.shutDown
    var attemptAt: Instant
    var inFlight = RingBuffer<Int32>()
    /// The sum of the estimates of what is in flight, in nanoseconds.
    var backlog: Int64 = 0
    /// The estimated time at which the server began the first statement in flight.
    var headStart: Instant
    /// The network round-trip time, in nanoseconds.
    var distance: Int64 = 0
    var openedAt: Instant
    var expiresAt: Instant
    var lastUse: Instant
    /// The time of the last result.
    var provenAt: Instant
    /// The request whose statement a cancel was sent for, and when.
    var cancelled: (request: Int32, generation: UInt32, at: Instant)?
    /// A cancel may still hit a statement it was not meant for.
    var strayCancelUntil: Instant?
    /// Whether it is reserved for a waiting lease or heavy statement.
    var isPromised = false

    init(vacantUntil now: Instant) {
      (attemptAt, headStart, openedAt) = (now, now, now)
      (expiresAt, lastUse, provenAt) = (now, now, now)
    }
  }

  struct Request {
    enum Phase { case free, queued, inFlight, leased }
    var phase = Phase.free
    var generation: UInt32 = 0
    var kind = PoolRequestKind.quick
    var previous: Int32 = -1
    var next: Int32 = -1
    var slot: Int32 = -1
    var estimate: Int64 = 0
    /// The client that it counts for, or nil for none.
    var client: PoolClient?
    /// Its place in its lane; see `enqueue`.
    var turn: Int64 = 0
    var retries: UInt8 = 0
    var mayRetry = true
    /// Whether it writes. Its outcome is always awaited: past its deadline it is cancelled, and its
    /// completion gets the actual outcome.
    var awaitsEnd = false
    /// Its commit does not wait for the disk.
    var commitsAsynchronously = false
    /// Its deadline passed, and it is to be cancelled.
    var isOverdue = false
    /// Whether its caller has stopped waiting for the outcome.
    var isAbandoned = false
    /// Whether it is the pool's own check of the server.
    var isProbe = false
    /// Whether it has far exceeded its estimate.
    var hasOutrun = false
    /// Whether it was cancelled in favor of others and continues as a heavy request.
    var isDemoted = false
    var submittedAt: Instant
    var sentAt: Instant
    var queueDeadline: Instant
    var deadline: Instant
  }

  /// The settings that every placing reads, in nanoseconds.
  struct Limits {
    let shortStatement: Int64
    let heavyStatement: Int64
    let unknownEstimate: Int64
    let sharingLimit: Int64
    let longestQueueing: Int64
    let quickQueueWait: Int64
    let queueWait: Int64
    let shortestRoundTrip: Int64
    let asynchronousStall: Int64

    init(_ settings: PoolSettings) {
      shortStatement = settings.shortStatement.nanoseconds
      heavyStatement = settings.heavyStatement.nanoseconds
      unknownEstimate = settings.unknownEstimate.nanoseconds
      sharingLimit = settings.sharingLimit.nanoseconds
      longestQueueing = settings.longestQueueing.nanoseconds
      quickQueueWait = settings.quickQueueWait.nanoseconds
      queueWait = settings.queueWait.nanoseconds
      shortestRoundTrip = settings.shortestRoundTrip.nanoseconds
      asynchronousStall = settings.asynchronousStall.nanoseconds
    }
  }

  /// A queue of requests by their turns, linked through them, so that any can leave at once.
  struct Lane {
    var first: Int32 = -1
    var last: Int32 = -1
    var count = 0
    /// The sum of the estimates, in nanoseconds.
    var work: Int64 = 0
    /// The turn of what left it last to be sent, and a client's part of what was sent since.
    var clock: Int64 = 0
  }

  // MARK: Requests come and go

  /// Places a request on a connection or in the queue, or refuses it.
  ///
  /// - Parameters:
  ///   - estimate: the expected service time in nanoseconds, or 0 if it is unknown.
  ///   - isKnown: whether the estimate is measured. Otherwise the request is placed as a heavy one.
  ///   - client: the client whose share it uses, or nil for none.
  mutating func submit(
    kind: PoolRequestKind, estimate: UInt64, isKnown: Bool = true, mayRetry: Bool,
    awaitsEnd: Bool = false, commitsAsynchronously: Bool = false, client: PoolClient? = nil,
    deadline: Instant, now: Instant,
    actions: inout [PoolAction]
  ) -> PoolRequestID {
    let expected =
      estimate == 0 ? limits.unknownEstimate : Int64(clamping: estimate)
    var lane = kind
    if lane == .quick, !isKnown || expected >= limits.heavyStatement { lane = .heavy }
    let index = allocate(
      Request(
        kind: lane, estimate: expected, client: client, mayRetry: mayRetry, awaitsEnd: awaitsEnd,
        commitsAsynchronously: commitsAsynchronously,
        submittedAt: now, sentAt: now,
        queueDeadline: min(deadline, now.advanced(byNanoseconds: limits.queueWait)),
        deadline: deadline))
    let id = PoolRequestID(index: index, generation: requests[Int(index)].generation)
    statistics.executed += 1

    switch condition {
    case .serving, .recovering: break
    case .stopping:
      fail(index, .refused(.stopping), &actions)
      return id
    case .paused:
      guard makeRoom(for: client, &actions) else {
        fail(index, .refused(.queueFull), &actions)
        return id
      }
      enqueue(index)
      return id
    case .broken:
      let isProbing = slots.contains { $0.phase == .connecting } || startProbe(now, &actions)
      guard isProbing, waitingCount < settings.queueLimit else {
        fail(index, .refused(.noDatabase), &actions)
        return id
      }
      requests[Int(index)].queueDeadline = min(deadline, now + settings.openBreakerWait)
      enqueue(index)
      return id
    }
    let hasShare = hasShare(requests[Int(index)])
    if hasShare, waitingCount(ahead: lane) == 0, let slot = choose(for: index, now: now) {
      send(index, to: slot, now, &actions)
      growIfBusy(now, &actions)
      return id
    }
    guard makeRoom(for: client, &actions) else {
      fail(index, .refused(.queueFull), &actions)
      return id
    }
    enqueue(index)
    // Those ahead may be waiting for a share of their own, not for a connection.
    if hasShare, isCounted(requests[Int(index)]) { dispatch(now, &actions) }
    growIfBusy(now, &actions)
    return id
  }

  /// Marks a statement as measured. Its executions that wait in the heavy queue, because they were
  /// unmeasured, move to the queue of their kind.
  mutating func becameKnown(
    _ indices: [Int32], estimate: UInt64, now: Instant, actions: inout [PoolAction]
  ) {
    let expected = max(Int64(clamping: estimate), 1)
    guard expected < limits.heavyStatement else { return }
    var hasMoved = false
    for index in indices where requests.indices.contains(Int(index)) {
      let request = requests[Int(index)]
      guard request.phase == .queued, request.kind == .heavy, !request.isDemoted else { continue }
      dequeue(index)
      requests[Int(index)].kind = .quick
      requests[Int(index)].estimate = expected
      enqueue(index)
      hasMoved = true
    }
    if hasMoved { dispatch(now, &actions) }
  }

  /// Cancels a request.
  ///
  /// - Returns: whether its outcome was still to be delivered.
  mutating func cancel(_ id: PoolRequestID, now: Instant, actions: inout [PoolAction]) -> Bool {
    guard let index = live(id) else { return false }
    let request = requests[Int(index)]
    switch request.phase {
    case .free: return false
    case .leased: return false
    case .queued:
      dequeue(index)
      release(index)
      return true
    case .inFlight:
      guard !request.isAbandoned, !request.awaitsEnd else { return false }
      requests[Int(index)].isAbandoned = true
      // Short ones are over before a cancel arrives; the tick sees to those that are not.
      return true
    }
  }

  /// Records that a part of the first request's result was delivered, so that it is not retried.
  mutating func notePartAnswered(slot: Int) {
    guard let head = slots[slot].inFlight.first else { return }
    requests[Int(head)].mayRetry = false
  }

  /// The head of a connection's pipeline was answered.
  mutating func answered(
    slot: Int, _ answer: PoolAnswer, now: Instant, actions: inout [PoolAction]
  ) -> PoolVerdict {
    guard slots.indices.contains(slot), let index = slots[slot].inFlight.popFirst() else {
      return .drop
    }
    giveBackShare(index)
    let request = requests[Int(index)]
    let wasCancelled =
      slots[slot].cancelled.map { $0.request == index && $0.generation == request.generation }
      ?? false
    let started = headBegan(slot, request)
    shorten(slot, to: request.sentAt.nanoseconds(to: now))
    slots[slot].backlog -= request.estimate
    slots[slot].headStart = now
    slots[slot].provenAt = now
    if !request.isProbe { slots[slot].lastUse = now }
    if wasCancelled {
      slots[slot].cancelled = nil
      slots[slot].strayCancelUntil = now + settings.strayCancelWindow
    }

    let time = max(started.nanoseconds(to: now), 0)
    var verdict = PoolVerdict.deliver(after: time)
    if request.isAbandoned || request.isProbe {
      verdict = .drop
    } else if let reason = retryReason(request, slot, answer, wasCancelled, now) {
      verdict = .retry
      statistics.retried[reason, default: 0] += 1
      actions.append(.event(.retried(reason)))
      if reason == .overdue {
        verdict = .retryAsHeavy(after: time)
        requests[Int(index)].kind = .heavy
        requests[Int(index)].estimate = max(time, limits.heavyStatement)
      } else if reason == .strayCancel {
        // A cancel hits one statement.
        slots[slot].strayCancelUntil = nil
      }
      if reason.isCounted { requests[Int(index)].retries += 1 }
      requests[Int(index)].queueDeadline = min(request.deadline, now + settings.queueWait)
      enqueue(index, inFront: reason != .overdue)
    }
    switch verdict {
    case .deliver, .drop: release(index)
    case .retry, .retryAsHeavy: break
    }
    if answer == .readOnly {
      // Another server is the one to write to now.
      for other in slots.indices where slots[other].phase == .ready {
        retire(other, .readOnly, now, &actions)
      }
    }
    settle(slot, now, &actions)
    dispatch(now, &actions)
    return verdict
  }

  func retryReason(
    _ request: Request, _ slot: Int, _ answer: PoolAnswer, _ wasCancelled: Bool, _ now: Instant
  ) -> PoolRetryReason? {
    guard request.mayRetry, request.deadline > now, condition != .stopping else { return nil }
    let reason: PoolRetryReason
    switch answer {
    case .final, .readOnly: return nil
    case .conflict: reason = .conflict
    case .aborted: reason = .neighbourFailed
    case .stale: reason = .staleStatement
    case .cancelled where wasCancelled && request.isDemoted: reason = .overdue
    case .cancelled:
      guard !wasCancelled, let until = slots[slot].strayCancelUntil, until > now else { return nil }
      reason = .strayCancel
    }
    return request.retries == 0 || !reason.isCounted ? reason : nil
  }

  // MARK: Connections come and go

  mutating func start(now: Instant, actions: inout [PoolAction]) {
    for slot in slots.indices { connect(slot, now, &actions) }
  }

  /// - Parameter roundTrip: what the server's answer to nothing took.
  mutating func connected(
    slot: Int, roundTrip: Duration = .zero, now: Instant, actions: inout [PoolAction]
  ) {
    guard slots[slot].phase == .connecting else { return }
    slots[slot].distance = max(roundTrip.nanoseconds - limits.shortestRoundTrip, 0)
    let began = slots[slot].openedAt
    statistics.opened += 1
    let before = condition
    condition.connected()
    slots[slot].phase = .ready
    slots[slot].openedAt = now
    slots[slot].lastUse = now
    slots[slot].provenAt = now
    slots[slot].headStart = now
    let lifetime = settings.lifetime.nanoseconds
    slots[slot].expiresAt =
      now + .nanoseconds(lifetime - random.below(max(lifetime / 10, 1)))
    actions.append(.event(.opened(connection: slot, took: began.duration(to: now))))
    if before.isBroken { actions.append(.event(.breakerClosed)) }
    if before.failures > 0 {
      // The others held back.
      for other in slots.indices where slots[other].phase == .vacant {
        slots[other].attemptAt = now
      }
    }
    if let reason = condition.closeReason {
      retire(slot, reason, now, &actions)
      return
    }
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  mutating func connectFailed(
    slot: Int, _ error: PostgresError, now: Instant, actions: inout [PoolAction]
  ) {
    guard slots[slot].phase == .connecting else { return }
    statistics.connectFailures += 1
    let wasBroken = condition.isBroken
    slots[slot].phase = .vacant
    condition.connectFailed(isLast: readyCount == 0, threshold: settings.breakerThreshold)
    let wait = backOff()
    // An unreachable server is tried by one connection after the other.
    for other in slots.indices where slots[other].phase == .vacant {
      slots[other].attemptAt = max(slots[other].attemptAt, now + wait)
    }
    actions.append(
      .event(.connectFailed(connection: slot, error: error, nextAttempt: wait)))
    guard condition.isBroken else { return }
    if !wasBroken { actions.append(.event(.breakerOpened)) }
    failQueue(.refused(.noDatabase), &actions)
  }

  /// Handles a broken connection. Requests in flight are retried once if that is safe.
  mutating func lost(
    slot: Int, _ error: PostgresError, now: Instant, actions: inout [PoolAction]
  ) {
    statistics.broken += 1
    vacate(slot, .lost(error), now, &actions)
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  /// Another server has become the primary: what these connections are asked is done nowhere that lasts. Whether a
  /// write was done is not known then; a lease may go on to its end.
  mutating func leave(_ outdated: [Int], now: Instant, actions: inout [PoolAction]) {
    for slot in outdated {
      switch slots[slot].phase {
      case .ready, .retiring:
        actions.append(.close(slot))
        vacate(slot, .outdated, now, &actions)
      case .leased: slots[slot].expiresAt = now
      case .vacant, .connecting: break
      }
    }
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  /// A lease ended.
  mutating func released(
    slot: Int, isClean: Bool, now: Instant, actions: inout [PoolAction]
  ) {
    guard slots[slot].phase == .leased else { return }
    if let index = slots[slot].inFlight.popFirst() { release(index) }
    slots[slot].phase = .ready
    slots[slot].lastUse = now
    slots[slot].headStart = now
    if isClean {
      settle(slot, now, &actions)
    } else {
      actions.append(.close(slot))
      vacate(slot, .uncleanLease, now, &actions)
    }
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  mutating func stop(now: Instant, actions: inout [PoolAction]) {
    condition.stop()
    failQueue(.refused(.stopping), &actions)
    for slot in slots.indices where slots[slot].phase == .ready {
      retire(slot, .shutDown, now, &actions)
    }
  }

  /// Lets what is in flight finish and closes the connections; what waits, and what comes, is kept for
  /// `resume`.
  mutating func pause(now: Instant, actions: inout [PoolAction]) {
    let wasBroken = condition.isBroken
    guard condition.pause() else { return }
    if wasBroken { actions.append(.event(.breakerClosed)) }
    for slot in slots.indices where slots[slot].phase == .ready {
      retire(slot, .paused, now, &actions)
    }
  }

  /// All connections are gone after `pause`, or for good.
  var isAtRest: Bool { !condition.mayConnect && slots.allSatisfy { $0.phase == .vacant } }

  /// Connects again, at once; what has waited waits for a connection from now on.
  mutating func resume(now: Instant, actions: inout [PoolAction]) {
    guard condition.resume() else { return }
    for lane in [PoolRequestKind.quick, .heavy, .lease] {
      var index = first(of: lane) ?? -1
      while index >= 0 {
        let request = requests[Int(index)]
        requests[Int(index)].queueDeadline = min(request.deadline, now + settings.queueWait)
        index = request.next
      }
    }
    for slot in slots.indices where slots[slot].phase == .vacant { slots[slot].attemptAt = now }
    reconnect(now, &actions)
  }

  /// All connections are gone after `stop`.
  var isStopped: Bool { condition == .stopping && slots.allSatisfy { $0.phase == .vacant } }

  /// Applies deadlines, reconnection and connection lifetimes. Call every few hundredths of a
  /// second while `isBusy`, otherwise every few seconds.
  mutating func tick(now: Instant, actions: inout [PoolAction]) {
    for lane in [PoolRequestKind.quick, .heavy, .lease] { expire(lane, now, &actions) }
    for slot in slots.indices { watch(slot, now, &actions) }
    makeWay(now, &actions)
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  var isBusy: Bool {
    waitingCount > 0
      || slots.contains { slot in
        switch slot.phase {
        case .ready: !slot.inFlight.isEmpty
        case .vacant: condition.failures > 0
        case .connecting, .leased, .retiring: true
        }
      }
  }

  var quickWaiting: Int { quick.count }
  var exclusiveWaiting: Int { heavy.count + leases.count }

  var waitingCount: Int { quick.count + heavy.count + leases.count }

  var currentStatistics: PoolStatistics {
    var result = statistics
    for slot in slots {
      switch slot.phase {
      case .vacant: break
      case .connecting: result.connecting += 1
      case .leased: result.leased += 1
      case .ready, .retiring:
        if slot.inFlight.isEmpty { result.idle += 1 } else { result.inUse += 1 }
      }
      result.inFlight += slot.inFlight.count
    }
    result.waiting = waitingCount
    result.isBreakerOpen = condition.isBroken
    return result
  }

  /// The server has answered on some connection within that time.
  func isProven(within time: Duration, now: Instant) -> Bool {
    slots.contains { slot in
      (slot.phase == .ready || slot.phase == .leased) && slot.provenAt + time > now
    }
  }

  /// Returns the time until the next attempt to connect.
  func retryAfter(now: Instant) -> Duration {
    let next = slots.filter { $0.phase == .vacant }.map(\.attemptAt).min() ?? now
    return max(now.duration(to: next), .zero)
  }
}
