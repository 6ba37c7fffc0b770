/// Connections and requests as plain data: no socket, no queue, no clock, no chance of its own.
///
/// An event goes in with the time it happened; what is to be done comes out as `PoolAction`s, in
/// order. The caller performs them and reports what came of them. Requests are numbers; what they
/// carry is the caller's.
///
///     submit -> (queue) -> send -> answered
///                  |         |-> cancel -> answered, or close
///                  |         '-> lost -> (queue) once more, or fail
///                  '-> fail: full, waited too long, no database
struct PoolState {
  typealias Instant = ContinuousClock.Instant

  let settings: PoolSettings
  private let limits: Limits
  private(set) var slots: [Slot]
  private(set) var statistics = PoolStatistics()
  private var requests: [Request] = []
  private var freeRequests: [Int32] = []
  /// Short and middling statements, long ones, and those that want a connection to themselves.
  private var quick = Lane()
  private var heavy = Lane()
  private var leases = Lane()
  private var promisedCount = 0
  private var failuresInARow = 0
  private var isBreakerOpen = false
  private var lastAttempt: Instant?
  private var random: SplitMix
  private var isStopping = false

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
    /// When the head of what is in flight began to be served, as far as can be told.
    var headStart: Instant
    var openedAt: Instant
    var expiresAt: Instant
    var lastUse: Instant
    /// When the server last answered on it.
    var provenAt: Instant
    /// The request whose statement a cancel was sent for, and when.
    var cancelled: (request: Int32, generation: UInt32, at: Instant)?
    /// A cancel may still hit a statement it was not meant for.
    var strayCancelUntil: Instant?
    /// Kept free for the lease or heavy statement that waits for it.
    var isPromised = false

    init(vacantUntil now: Instant) {
      (attemptAt, headStart, openedAt) = (now, now, now)
      (expiresAt, lastUse, provenAt) = (now, now, now)
    }
  }

  private struct Request {
    enum Phase { case free, queued, inFlight, leased }
    var phase = Phase.free
    var generation: UInt32 = 0
    var kind = PoolRequestKind.quick
    var previous: Int32 = -1
    var next: Int32 = -1
    var slot: Int32 = -1
    var estimate: Int64 = 0
    var retries: UInt8 = 0
    var mayRetry = true
    /// Nobody waits for the outcome any more.
    var isAbandoned = false
    /// Ours, to see whether the server still answers.
    var isProbe = false
    var submittedAt: Instant
    var queueDeadline: Instant
    var deadline: Instant
  }

  /// The settings that every placing reads, in nanoseconds.
  private struct Limits {
    let shortStatement: Int64
    let heavyStatement: Int64
    let unknownEstimate: Int64
    let sharingLimit: Int64
    let longestQueueing: Int64
    let quickQueueWait: Int64

    init(_ settings: PoolSettings) {
      shortStatement = settings.shortStatement.nanoseconds
      heavyStatement = settings.heavyStatement.nanoseconds
      unknownEstimate = settings.unknownEstimate.nanoseconds
      sharingLimit = settings.sharingLimit.nanoseconds
      longestQueueing = settings.longestQueueing.nanoseconds
      quickQueueWait = settings.quickQueueWait.nanoseconds
    }
  }

  /// A queue of requests, linked through them, so that any can leave at once.
  private struct Lane {
    var first: Int32 = -1
    var last: Int32 = -1
    var count = 0
    /// The sum of the estimates, in nanoseconds.
    var work: Int64 = 0
  }

  // MARK: Requests come and go

  /// Places a request: on a connection, in the queue, or nowhere.
  ///
  /// - Parameter estimate: expected service time in nanoseconds, 0 when not known.
  mutating func submit(
    kind: PoolRequestKind, estimate: UInt64, mayRetry: Bool, deadline: Instant, now: Instant,
    actions: inout [PoolAction]
  ) -> PoolRequestID {
    let expected =
      estimate == 0 ? limits.unknownEstimate : Int64(clamping: estimate)
    var lane = kind
    if lane == .quick, expected >= limits.heavyStatement { lane = .heavy }
    let index = allocate(
      Request(
        kind: lane, estimate: expected, mayRetry: mayRetry, submittedAt: now,
        queueDeadline: min(deadline, now + settings.queueWait), deadline: deadline))
    let id = PoolRequestID(index: index, generation: requests[Int(index)].generation)
    statistics.executed += 1

    if isStopping {
      fail(index, .refused(.stopping), &actions)
      return id
    }
    if isBreakerOpen, readyCount == 0 {
      let isProbing = slots.contains { $0.phase == .connecting } || startProbe(now, &actions)
      guard isProbing, waitingCount < settings.queueLimit else {
        fail(index, .refused(.noDatabase), &actions)
        return id
      }
      requests[Int(index)].queueDeadline = min(deadline, now + settings.openBreakerWait)
      enqueue(index)
      return id
    }
    if waitingCount(ahead: lane) == 0, let slot = choose(for: index, now: now) {
      send(index, to: slot, now, &actions)
      growIfBusy(now, &actions)
      return id
    }
    guard hasRoomToWait else {
      fail(index, .refused(.queueFull), &actions)
      return id
    }
    enqueue(index)
    growIfBusy(now, &actions)
    return id
  }

  /// Nobody waits for this one any more. True if it was still to be told its outcome.
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
      guard !request.isAbandoned else { return false }
      requests[Int(index)].isAbandoned = true
      // Short ones are over before a cancel arrives; the tick sees to those that are not.
      return true
    }
  }

  /// The head of a connection's pipeline was answered.
  mutating func answered(
    slot: Int, _ answer: PoolAnswer, now: Instant, actions: inout [PoolAction]
  ) -> PoolVerdict {
    guard slots.indices.contains(slot), let index = slots[slot].inFlight.popFirst() else {
      return .drop
    }
    let request = requests[Int(index)]
    let wasCancelled =
      slots[slot].cancelled.map { $0.request == index && $0.generation == request.generation }
      ?? false
    let started = max(slots[slot].headStart, request.submittedAt)
    slots[slot].backlog -= request.estimate
    slots[slot].headStart = now
    slots[slot].provenAt = now
    if !request.isProbe { slots[slot].lastUse = now }
    if wasCancelled {
      slots[slot].cancelled = nil
      slots[slot].strayCancelUntil = now + settings.strayCancelWindow
    }

    var verdict = PoolVerdict.deliver(after: started.duration(to: now))
    if request.isAbandoned || request.isProbe {
      verdict = .drop
    } else if let reason = retryReason(request, slot, answer, wasCancelled, now) {
      verdict = .retry
      statistics.retried[reason, default: 0] += 1
      actions.append(.event(.retried(reason)))
      requests[Int(index)].retries += 1
      requests[Int(index)].queueDeadline = min(request.deadline, now + settings.queueWait)
      enqueue(index, inFront: true)
    }
    if verdict != .retry { release(index) }
    settle(slot, now, &actions)
    dispatch(now, &actions)
    return verdict
  }

  private func retryReason(
    _ request: Request, _ slot: Int, _ answer: PoolAnswer, _ wasCancelled: Bool, _ now: Instant
  ) -> PoolRetryReason? {
    guard request.mayRetry, request.retries == 0, request.deadline > now, !isStopping else {
      return nil
    }
    switch answer {
    case .final: return nil
    case .stale: return .staleStatement
    case .cancelled:
      guard !wasCancelled, let until = slots[slot].strayCancelUntil, until > now else { return nil }
      return .strayCancel
    }
  }

  // MARK: Connections come and go

  mutating func start(now: Instant, actions: inout [PoolAction]) {
    for slot in slots.indices { connect(slot, now, &actions) }
  }

  mutating func connected(slot: Int, now: Instant, actions: inout [PoolAction]) {
    guard slots[slot].phase == .connecting else { return }
    let began = slots[slot].openedAt
    statistics.opened += 1
    failuresInARow = 0
    slots[slot].phase = .ready
    slots[slot].openedAt = now
    slots[slot].lastUse = now
    slots[slot].provenAt = now
    slots[slot].headStart = now
    let lifetime = settings.lifetime.nanoseconds
    slots[slot].expiresAt =
      now + .nanoseconds(lifetime - random.below(max(lifetime / 10, 1)))
    actions.append(.event(.opened(connection: slot, took: began.duration(to: now))))
    if isBreakerOpen {
      isBreakerOpen = false
      actions.append(.event(.breakerClosed))
      // The others held back while it was open.
      for other in slots.indices where slots[other].phase == .vacant {
        slots[other].attemptAt = now
      }
    }
    if isStopping {
      retire(slot, .shutDown, now, &actions)
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
    failuresInARow += 1
    let wait = backOff()
    slots[slot].phase = .vacant
    slots[slot].attemptAt = now + wait
    actions.append(
      .event(.connectFailed(connection: slot, error: error, nextAttempt: wait)))
    guard readyCount == 0 else { return }
    if failuresInARow >= settings.breakerThreshold, !isBreakerOpen {
      isBreakerOpen = true
      actions.append(.event(.breakerOpened))
    }
    if isBreakerOpen { failQueue(.refused(.noDatabase), &actions) }
  }

  /// A connection broke. What was in flight is tried once more where that is safe.
  mutating func lost(
    slot: Int, _ error: PostgresError, now: Instant, actions: inout [PoolAction]
  ) {
    vacate(slot, .lost(error), now, &actions)
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
    isStopping = true
    failQueue(.refused(.stopping), &actions)
    for slot in slots.indices where slots[slot].phase == .ready {
      retire(slot, .shutDown, now, &actions)
    }
  }

  /// All connections are gone after `stop`.
  var isStopped: Bool { isStopping && slots.allSatisfy { $0.phase == .vacant } }

  /// What only time brings: deadlines, reconnection, lifetime. Call every few hundredths of a
  /// second while `isBusy`, every few seconds otherwise.
  mutating func tick(now: Instant, actions: inout [PoolAction]) {
    for lane in [PoolRequestKind.quick, .heavy, .lease] { expire(lane, now, &actions) }
    for slot in slots.indices { watch(slot, now, &actions) }
    dispatch(now, &actions)
    reconnect(now, &actions)
  }

  var isBusy: Bool {
    waitingCount > 0
      || slots.contains { slot in
        switch slot.phase {
        case .ready: !slot.inFlight.isEmpty
        case .vacant: !isStopping && failuresInARow > 0
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
    result.isBreakerOpen = isBreakerOpen
    return result
  }

  /// The server has answered on some connection within that time.
  func isProven(within time: Duration, now: Instant) -> Bool {
    slots.contains { slot in
      (slot.phase == .ready || slot.phase == .leased) && slot.provenAt + time > now
    }
  }

  /// How long until the next attempt to connect.
  func retryAfter(now: Instant) -> Duration {
    let next = slots.filter { $0.phase == .vacant }.map(\.attemptAt).min() ?? now
    return max(now.duration(to: next), .zero)
  }

  // MARK: Choosing a connection

  private var readyCount: Int {
    var count = 0
    for slot in slots.indices {
      if slots[slot].phase == .ready || slots[slot].phase == .leased { count += 1 }
    }
    return count
  }

  /// How many connections leases and heavy statements may hold at once.
  private var exclusiveLimit: Int { max(1, slots.count - settings.reservedForQuick) }

  /// A queue that is longer than its limit may grow while it is still soon worked off: many clients
  /// with quick statements are no overload.
  private var hasRoomToWait: Bool {
    let count = waitingCount
    if count < settings.queueLimit { return true }
    let work = quick.work + heavy.work + leases.work
    return count < settings.quickQueueLimit && work < limits.quickQueueWait * Int64(slots.count)
  }

  private func waitingCount(ahead lane: PoolRequestKind) -> Int {
    switch lane {
    case .quick: quick.count
    case .heavy: heavy.count
    case .lease: leases.count
    }
  }

  /// The connection that should take a request now, if any.
  ///
  /// Short statements share a connection while what is on it is soon done: one backend that is
  /// kept busy beats several that take turns. Others take an idle one, or stand behind one other
  /// where that is expected to end soon, so that the backend need not wait for us in between. Heavy
  /// ones need an idle one, and leave one connection to the others.
  private func choose(for index: Int32, now: Instant) -> Int? {
    let request = requests[Int(index)]
    let isShort =
      request.kind == .quick && request.estimate < limits.shortStatement
    var idle: Int?
    var least: Int?
    var leastBacklog = Int64.max
    var exclusive = 0
    for slot in slots.indices {
      if slots[slot].phase == .leased { exclusive += 1 }
      guard slots[slot].phase == .ready else { continue }
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
        count < (isShort ? settings.pipelineDepth : settings.longPipelineDepth)
      else { continue }
      let backlog = expectedBacklog(slot, now)
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

  /// Nanoseconds until the connection is expected to be idle. A statement that has outrun its
  /// estimate is expected to take as long again.
  private func expectedBacklog(_ slot: Int, _ now: Instant) -> Int64 {
    guard let head = slots[slot].inFlight.first else { return 0 }
    let estimate = requests[Int(head)].estimate
    let elapsed = slots[slot].headStart.duration(to: now).nanoseconds
    let rest = elapsed > estimate ? elapsed : estimate - max(elapsed, 0)
    return slots[slot].backlog - estimate + rest
  }

  private mutating func send(
    _ index: Int32, to slot: Int, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    let request = requests[Int(index)]
    requests[Int(index)].phase = .inFlight
    requests[Int(index)].slot = Int32(slot)
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

  private mutating func dispatch(_ now: Instant, _ actions: inout [PoolAction]) {
    if exclusiveWaiting > 0 || promisedCount > 0 {
      dispatch(.lease, now, &actions)
      dispatch(.heavy, now, &actions)
      promise()
    }
    if quick.count > 0 { dispatch(.quick, now, &actions) }
  }

  private mutating func dispatch(
    _ lane: PoolRequestKind, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    while let index = first(of: lane), let slot = choose(for: index, now: now) {
      statistics.waited += 1
      statistics.totalWait += requests[Int(index)].submittedAt.duration(to: now)
      dequeue(index)
      send(index, to: slot, now, &actions)
    }
  }

  /// Keeps connections from taking new work while leases and heavy statements wait for one to be
  /// idle, as many as these may have; without it they would wait for ever beside a busy crowd.
  private mutating func promise() {
    var free = exclusiveLimit
    promisedCount = 0
    for slot in slots.indices {
      let isHeld = isExclusive(slot)
      if isHeld { free -= 1 }
      if isHeld || slots[slot].phase != .ready { slots[slot].isPromised = false }
      if slots[slot].isPromised { promisedCount += 1 }
    }
    let wanted = max(0, min(exclusiveWaiting, free))
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

  /// A lease or a heavy statement has the connection to itself.
  private func isExclusive(_ slot: Int) -> Bool {
    if slots[slot].phase == .leased { return true }
    guard let head = slots[slot].inFlight.first else { return false }
    return requests[Int(head)].kind == .heavy
  }

  // MARK: Deadlines and cancels

  private mutating func expire(
    _ lane: PoolRequestKind, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    var index = first(of: lane) ?? -1
    while index >= 0 {
      let request = requests[Int(index)]
      if request.deadline <= now {
        dequeue(index)
        statistics.timedOut += 1
        fail(index, .deadlinePassed, &actions)
      } else if request.queueDeadline <= now {
        dequeue(index)
        let isDown = readyCount == 0 && isBreakerOpen
        fail(index, .refused(isDown ? .noDatabase : .waitedTooLong), &actions)
      }
      index = request.next
    }
  }

  /// Looks at what a connection has in flight, and at its age.
  private mutating func watch(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    guard slots[slot].phase != .leased else { return }
    for place in 0..<slots[slot].inFlight.count {
      guard let index = slots[slot].inFlight[place] else { continue }
      let request = requests[Int(index)]
      if !request.isAbandoned, request.deadline <= now {
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
    } else if let head = slots[slot].inFlight.first, requests[Int(head)].isAbandoned {
      slots[slot].cancelled = (head, requests[Int(head)].generation, now)
      slots[slot].strayCancelUntil = now + settings.cancelGrace + settings.strayCancelWindow
      statistics.cancelsSent += 1
      actions.append(.cancel(slot))
      actions.append(.event(.cancelSent(connection: slot)))
    }
    settle(slot, now, &actions)
    probeIfSilent(slot, now, &actions)
    if slots[slot].phase == .ready, slots[slot].inFlight.isEmpty,
      slots[slot].lastUse + settings.idleLimit <= now, readyCount > max(settings.minimumIdle, 1)
    {
      retire(slot, .idle, now, &actions)
    }
  }

  /// Asks something of a connection that has long been silent, so that one whose other end is gone
  /// without a word is found before a request is.
  private mutating func probeIfSilent(
    _ slot: Int, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    guard slots[slot].phase == .ready, slots[slot].inFlight.isEmpty,
      slots[slot].provenAt + settings.probeAfter <= now
    else { return }
    let deadline = now + settings.probeTimeout
    let index = allocate(
      Request(
        phase: .inFlight, slot: Int32(slot), estimate: 50_000, mayRetry: false, isProbe: true,
        submittedAt: now, queueDeadline: deadline, deadline: deadline))
    slots[slot].headStart = now
    slots[slot].inFlight.append(index)
    slots[slot].backlog += 50_000
    actions.append(.probe(index, slot))
  }

  /// Closes a connection that is to go, once nothing is in flight on it.
  private mutating func settle(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    if slots[slot].phase == .ready, slots[slot].expiresAt <= now {
      retire(slot, .lifetime, now, &actions)
    } else if slots[slot].phase == .retiring, slots[slot].inFlight.isEmpty {
      retire(slot, slots[slot].retireReason, now, &actions)
    }
  }

  private mutating func retire(
    _ slot: Int, _ reason: PoolCloseReason, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    slots[slot].phase = .retiring
    slots[slot].retireReason = reason
    guard slots[slot].inFlight.isEmpty else { return }
    actions.append(.close(slot))
    vacate(slot, reason, now, &actions)
  }

  /// Empties a slot whose connection is gone or about to be.
  private mutating func vacate(
    _ slot: Int, _ reason: PoolCloseReason, _ now: Instant, _ actions: inout [PoolAction]
  ) {
    guard slots[slot].phase != .vacant, slots[slot].phase != .connecting else { return }
    statistics.closed += 1
    actions.append(.event(.closed(connection: slot, reason: reason)))
    var survivors: [Int32] = []
    while let index = slots[slot].inFlight.popFirst() {
      let request = requests[Int(index)]
      if request.isAbandoned || request.isProbe || request.phase == .leased {
        release(index)
      } else if request.mayRetry, request.retries == 0, request.deadline > now, !isStopping {
        survivors.append(index)
      } else {
        fail(index, .lost, &actions)
      }
    }
    for index in survivors.reversed() {
      requests[Int(index)].retries += 1
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
      failuresInARow += 1
      slots[slot].attemptAt = now + backOff()
    case .idle:
      // Comes back when there is work for it.
      slots[slot].attemptAt = now + .seconds(365 * 24 * 3600)
    default: break
    }
  }

  // MARK: Connecting

  private mutating func connect(_ slot: Int, _ now: Instant, _ actions: inout [PoolAction]) {
    guard !isStopping else { return }
    slots[slot].phase = .connecting
    slots[slot].openedAt = now
    lastAttempt = now
    actions.append(.connect(slot))
  }

  /// Starts the attempts that are due; after a failure, one at a time.
  private mutating func reconnect(_ now: Instant, _ actions: inout [PoolAction]) {
    guard !isStopping else { return }
    for slot in slots.indices where slots[slot].phase == .vacant && slots[slot].attemptAt <= now {
      if failuresInARow > 0, slots.contains(where: { $0.phase == .connecting }) { return }
      connect(slot, now, &actions)
    }
  }

  /// While the breaker is open a request may start an attempt earlier than back-off would, so that
  /// the first request after the database's return finds it. True if it did.
  private mutating func startProbe(_ now: Instant, _ actions: inout [PoolAction]) -> Bool {
    if let lastAttempt, lastAttempt + settings.probeInterval > now { return false }
    guard let slot = slots.firstIndex(where: { $0.phase == .vacant }) else { return false }
    connect(slot, now, &actions)
    return true
  }

  /// Reopens a connection that was closed for being idle when all others have work.
  private mutating func growIfBusy(_ now: Instant, _ actions: inout [PoolAction]) {
    guard failuresInARow == 0 else { return }
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
  private mutating func backOff() -> Duration {
    let first = settings.firstBackOff.nanoseconds
    let last = settings.lastBackOff.nanoseconds
    let bound = min(last, first << min(max(failuresInARow - 1, 0), 20))
    return .nanoseconds(random.below(max(bound, 1)) + 1_000_000)
  }

  private mutating func failQueue(_ failure: PoolFailure, _ actions: inout [PoolAction]) {
    for lane in [PoolRequestKind.lease, .quick, .heavy] {
      while let index = first(of: lane) {
        dequeue(index)
        fail(index, failure, &actions)
      }
    }
  }

  private mutating func fail(
    _ index: Int32, _ failure: PoolFailure, _ actions: inout [PoolAction]
  ) {
    if case .refused(let reason) = failure {
      statistics.shed[reason, default: 0] += 1
      actions.append(.event(.shed(reason)))
    }
    actions.append(.fail(index, failure))
    release(index)
  }

  // MARK: Requests as storage

  private mutating func allocate(_ request: Request) -> Int32 {
    guard let index = freeRequests.popLast() else {
      requests.append(request)
      return Int32(requests.count - 1)
    }
    let generation = requests[Int(index)].generation
    requests[Int(index)] = request
    requests[Int(index)].generation = generation
    return index
  }

  private mutating func release(_ index: Int32) {
    requests[Int(index)].phase = .free
    requests[Int(index)].generation &+= 1
    freeRequests.append(index)
  }

  private func live(_ id: PoolRequestID) -> Int32? {
    guard requests.indices.contains(Int(id.index)),
      requests[Int(id.index)].generation == id.generation
    else { return nil }
    return id.index
  }

  private func first(of lane: PoolRequestKind) -> Int32? {
    let index =
      switch lane {
      case .quick: quick.first
      case .heavy: heavy.first
      case .lease: leases.first
      }
    return index < 0 ? nil : index
  }

  private mutating func enqueue(_ index: Int32, inFront: Bool = false) {
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

  private mutating func dequeue(_ index: Int32) {
    changeLane(of: index) { lane, requests in
      let (previous, next) = (requests[Int(index)].previous, requests[Int(index)].next)
      lane.count -= 1
      lane.work -= requests[Int(index)].estimate
      if previous >= 0 { requests[Int(previous)].next = next } else { lane.first = next }
      if next >= 0 { requests[Int(next)].previous = previous } else { lane.last = previous }
    }
  }

  private mutating func changeLane(of index: Int32, _ change: (inout Lane, inout [Request]) -> Void)
  {
    switch requests[Int(index)].kind {
    case .quick: change(&quick, &requests)
    case .heavy: change(&heavy, &requests)
    case .lease: change(&leases, &requests)
    }
  }
}

/// The pool's sizes, limits and times.
package struct PoolSettings: Sendable {
  package var size = 4
  /// Statements in flight on one connection: short ones, and others.
  package var pipelineDepth = 16
  package var longPipelineDepth = 2
  /// Below this mean a statement is short.
  package var shortStatement = Duration.microseconds(100)
  /// Short statements are added to a busy connection while it is expected to be done within this.
  package var sharingLimit = Duration.microseconds(300)
  /// Nothing is put behind statements expected to take longer than this.
  package var longestQueueing = Duration.milliseconds(2)
  /// From this mean on a statement is heavy.
  package var heavyStatement = Duration.milliseconds(20)
  /// Connections that neither leases nor heavy statements may take.
  package var reservedForQuick = 1
  package var unknownEstimate = Duration.microseconds(300)
  /// Requests waiting for a connection, and for how long.
  package var queueLimit = 64
  package var queueWait = Duration.seconds(1)
  /// More may wait, so many in all, while the queue is expected to be worked off within that time.
  package var quickQueueLimit = 1024
  package var quickQueueWait = Duration.milliseconds(50)
  /// The same while there is no database and an attempt to reach it is under way.
  package var openBreakerWait = Duration.milliseconds(40)
  package var operationDeadline = Duration.seconds(10)
  package var firstBackOff = Duration.milliseconds(50)
  package var lastBackOff = Duration.seconds(5)
  package var breakerThreshold = 3
  package var probeInterval = Duration.milliseconds(250)
  /// A connection that was silent this long is asked something, and has so long to answer.
  package var probeAfter = Duration.seconds(4)
  package var probeTimeout = Duration.seconds(1)
  /// How long an answer proves that the database is there.
  package var proof = Duration.seconds(10)
  package var lifetime = Duration.seconds(30 * 60)
  package var idleLimit = Duration.seconds(10 * 60)
  package var minimumIdle = 1
  /// How long a cancelled statement may go on before its connection is closed.
  package var cancelGrace = Duration.seconds(2)
  /// How long after a cancelled statement's end a cancel may still arrive.
  package var strayCancelWindow = Duration.milliseconds(100)

  package init(size: Int = 4) {
    self.size = size
    queueLimit = 16 * max(size, 1)
  }
}

struct PoolRequestID: Hashable, Sendable {
  let index: Int32
  let generation: UInt32
}

enum PoolRequestKind { case quick, heavy, lease }

/// What to do, in order. Requests and connections by number.
enum PoolAction {
  case connect(Int)
  case close(Int)
  case send(Int32, Int)
  case lease(Int32, Int)
  /// Send a statement that asks nothing.
  case probe(Int32, Int)
  /// Ask the server to stop what the connection is running.
  case cancel(Int)
  /// Tell the request's owner; it is over.
  case fail(Int32, PoolFailure)
  indirect case event(PoolEvent)
}

enum PoolFailure: Equatable {
  case refused(PoolShedReason)
  case deadlinePassed
  case lost
}

/// How the server answered, as far as the pool minds.
enum PoolAnswer {
  case final
  case stale
  case cancelled
}

/// What becomes of an answer.
enum PoolVerdict: Equatable {
  /// Hand it over; it took that long.
  case deliver(after: Duration)
  case drop
  /// It goes back to the queue.
  case retry
}

/// SplitMix64: small, seeded, for jitter only.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  mutating func below(_ bound: Int64) -> Int64 {
    bound <= 1 ? 0 : Int64(next() % UInt64(bound))
  }
}
