import EventLoops
import Testing

@testable import Postgres

/// A pretended server, network, clock and crowd of clients around a `PoolState`, all driven by one
/// seed. It performs what the state decides and checks after each event that it decided well.
struct PoolSimulation {
  var state: PoolState
  var random: SplitMix
  let start = Moment.now
  /// Nanoseconds since the start.
  var now: Int64 = 0
  var events = EventQueue()
  var connections: [Connection?]
  var epoch = 0
  var isServerUp = true
  var serverUpSince: Int64 = 0
  var requests: [Int: Request] = [:]
  var owners: [Int32: Int] = [:]
  var nextRequest = 0
  var firstAnswerSinceUp: Int64?
  var deliveredCount = 0
  var failures: [PoolFailure] = []
  var probeCount = 0
  var problem: String?

  static let nobody = -1

  struct Connection {
    let epoch: Int
    var queue: [(index: Int32, request: Int, service: Int64)] = []
    var isLeased = false
    var isStuck = false
  }

  struct Request {
    let submittedAt: Int64
    let deadline: Int64
    let service: Int64
    let isLease: Bool
    let client: PoolClient?
    var sends = 0
  }

  enum Event {
    case submit(service: Int64, kind: PoolRequestKind, deadline: Int64, cancelAfter: Int64?)
    case cancel(PoolRequestID, Int)
    case served(slot: Int, epoch: Int)
    case cancelArrives(slot: Int, epoch: Int)
    case connected(slot: Int, epoch: Int)
    case releaseLease(slot: Int, epoch: Int)
    case serverDown, serverUp
    case connectionDrop
    case tick
    case stop
  }

  /// By time, then by order of arrival.
  struct EventQueue {
    private var heap: [(time: Int64, order: Int, event: Event)] = []
    private var order = 0

    mutating func add(_ event: Event, at time: Int64) {
      order += 1
      heap.append((time, order, event))
      var child = heap.count - 1
      while child > 0, isBefore(child, (child - 1) / 2) {
        heap.swapAt(child, (child - 1) / 2)
        child = (child - 1) / 2
      }
    }

    mutating func next() -> (time: Int64, event: Event)? {
      guard let first = heap.first else { return nil }
      let last = heap.removeLast()
      if !heap.isEmpty {
        heap[0] = last
        var parent = 0
        while true {
          var least = parent
          for child in [2 * parent + 1, 2 * parent + 2]
          where child < heap.count && isBefore(child, least) { least = child }
          if least == parent { break }
          heap.swapAt(parent, least)
          parent = least
        }
      }
      return (first.time, first.event)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
      (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
  }

  init(seed: UInt64, settings: PoolSettings) {
    random = SplitMix(state: seed)
    state = PoolState(settings: settings, seed: seed, now: start)
    connections = Array(repeating: nil, count: settings.size)
  }

  static let millisecond: Int64 = 1_000_000
  static let tickInterval = 25 * millisecond

  var instant: Moment { start + .nanoseconds(now) }

  mutating func act(_ change: (inout PoolState, inout [PoolAction]) -> Void) {
    var actions: [PoolAction] = []
    change(&state, &actions)
    perform(actions)
  }

  mutating func run(until end: Int64) {
    act { [instant] state, actions in state.start(now: instant, actions: &actions) }
    events.add(.tick, at: Self.tickInterval)
    while problem == nil, let (time, event) = events.next(), time <= end {
      now = time
      handle(event)
      check(after: event)
    }
  }

  mutating func handle(_ event: Event) {
    switch event {
    case .submit(let service, let kind, let deadline, let cancelAfter):
      submit(service, kind, deadline, cancelAfter)
    case .cancel(let id, let number):
      guard requests[number] != nil else { return }
      var isGone = false
      act { [instant] state, actions in
        isGone = state.cancel(id, now: instant, actions: &actions)
      }
      if isGone { requests[number] = nil }
    case .served(let slot, let epoch):
      guard let connection = connections[slot], connection.epoch == epoch,
        !connection.isStuck, !connection.queue.isEmpty
      else { return }
      served(slot, .final)
    case .cancelArrives(let slot, let epoch):
      for round in 0..<2 as Range<Int64> {
        // It may come twice, or late and hit another.
        guard let connection = connections[slot], connection.epoch == epoch, !connection.isStuck,
          !connection.queue.isEmpty, round == 0 || random.below(4) == 0
        else { return }
        served(slot, .cancelled)
      }
    case .connected(let slot, let epoch):
      if isServerUp, random.below(20) > 0 {
        connections[slot] = Connection(epoch: epoch)
        act { [instant] state, actions in
          state.connected(slot: slot, now: instant, actions: &actions)
        }
      } else {
        act { [instant] state, actions in
          state.connectFailed(
            slot: slot, PostgresError(.unavailable, message: "refused"), now: instant,
            actions: &actions)
        }
      }
    case .releaseLease(let slot, let epoch):
      guard connections[slot]?.epoch == epoch else { return }
      connections[slot]?.isLeased = false
      let isClean = random.below(5) > 0
      act { [instant] state, actions in
        state.released(slot: slot, isClean: isClean, now: instant, actions: &actions)
      }
    case .serverDown:
      isServerUp = false
      for slot in connections.indices where connections[slot] != nil { drop(slot) }
    case .serverUp:
      isServerUp = true
      serverUpSince = now
      firstAnswerSinceUp = nil
    case .connectionDrop:
      let slot = Int(random.below(Int64(connections.count)))
      if connections[slot] != nil { drop(slot) }
    case .tick:
      act { [instant] state, actions in state.tick(now: instant, actions: &actions) }
      events.add(.tick, at: now + Self.tickInterval)
    case .stop:
      act { [instant] state, actions in state.stop(now: instant, actions: &actions) }
    }
  }

  mutating func submit(
    _ service: Int64, _ kind: PoolRequestKind, _ deadline: Int64, _ cancelAfter: Int64?
  ) {
    let number = nextRequest
    nextRequest += 1
    let client = random.below(4) == 0 ? nil : PoolClient.viewer(random.below(3))
    requests[number] = Request(
      submittedAt: now, deadline: now + deadline, service: service, isLease: kind == .lease,
      client: kind == .lease ? nil : client)
    // Sometimes the pool knows the time, sometimes it is wrong.
    let estimate: UInt64 =
      switch random.below(6) {
      case 0: 0
      case 1: UInt64(random.below(service * 2) + 1)
      case 2: UInt64(service / 50 + 1)
      default: UInt64(service)
      }
    var actions: [PoolAction] = []
    let id = state.submit(
      kind: kind, estimate: estimate, isKnown: kind == .lease || client == nil || estimate > 0,
      mayRetry: true, client: kind == .lease ? nil : client,
      deadline: instant + .nanoseconds(deadline), now: instant, actions: &actions)
    owners[id.index] = number
    perform(actions)
    if let cancelAfter, requests[number] != nil {
      events.add(.cancel(id, number), at: now + cancelAfter)
    }
  }

  mutating func drop(_ slot: Int) {
    connections[slot] = nil
    act { [instant] state, actions in
      state.lost(
        slot: slot, PostgresError(.unavailable, message: "reset"), now: instant,
        actions: &actions)
    }
  }

  mutating func served(_ slot: Int, _ answer: PoolAnswer) {
    guard let item = connections[slot]?.queue.removeFirst() else { return }
    var actions: [PoolAction] = []
    let verdict = state.answered(slot: slot, answer, now: instant, actions: &actions)
    switch verdict {
    case .deliver:
      if requests.removeValue(forKey: item.request) == nil {
        problem = "request \(item.request) was delivered after its end"
      }
      deliveredCount += 1
      if firstAnswerSinceUp == nil, isServerUp { firstAnswerSinceUp = now }
    case .drop:
      if requests[item.request] != nil { problem = "request \(item.request) was dropped" }
    case .retry:
      // It was hit by another's cancel, which is made good beside the one time that it is tried again.
      if answer == .cancelled { requests[item.request]?.sends -= 1 }
    case .retryAsHeavy: break
    }
    scheduleHead(slot)
    perform(actions)
  }

  mutating func scheduleHead(_ slot: Int) {
    guard let connection = connections[slot], let head = connection.queue.first else { return }
    events.add(.served(slot: slot, epoch: connection.epoch), at: now + head.service)
  }

  mutating func perform(_ actions: [PoolAction]) {
    for action in actions {
      switch action {
      case .connect(let slot):
        if connections[slot] != nil { problem = "connected twice" }
        epoch += 1
        events.add(
          .connected(slot: slot, epoch: epoch), at: now + random.below(10 * Self.millisecond) + 1)
      case .close(let slot):
        if connections[slot] == nil { problem = "closed what was not open" }
        connections[slot] = nil
      case .send(let index, let slot):
        guard let connection = connections[slot], !connection.isLeased,
          let number = owners[index], let request = requests[number]
        else {
          problem = "sent nobody's request, or to no connection"
          return
        }
        requests[number]?.sends += 1
        if request.sends > 1 { problem = "request \(number) was sent three times" }
        connections[slot]?.queue.append((index, number, request.service))
        if connection.queue.isEmpty { scheduleHead(slot) }
        if connection.queue.count + 1 > state.settings.pipelineDepth {
          problem = "the pipeline is too deep"
        }
      case .probe(let index, let slot):
        guard let connection = connections[slot], connection.queue.isEmpty, !connection.isLeased
        else {
          problem = "probed a connection in use"
          return
        }
        owners[index] = Self.nobody
        connections[slot]?.queue.append((index, Self.nobody, 50_000))
        scheduleHead(slot)
        probeCount += 1
      case .lease(let index, let slot):
        guard let connection = connections[slot], connection.queue.isEmpty, !connection.isLeased,
          let number = owners[index], let request = requests[number], request.isLease
        else {
          problem = "leased a connection in use"
          return
        }
        requests[number] = nil
        connections[slot]?.isLeased = true
        events.add(
          .releaseLease(slot: slot, epoch: connection.epoch), at: now + request.service)
      case .cancel(let slot):
        guard let connection = connections[slot], !connection.queue.isEmpty else {
          problem = "cancelled nothing"
          return
        }
        // One that is still waited for makes way for others, and is sent once more.
        if let head = connection.queue.first { requests[head.request]?.sends -= 1 }
        // It may be stopped, or may not listen.
        if random.below(4) == 0 {
          connections[slot]?.isStuck = true
        } else {
          events.add(
            .cancelArrives(slot: slot, epoch: connection.epoch),
            at: now + random.below(2 * Self.millisecond) + 1)
        }
      case .fail(let index, let failure):
        guard let number = owners[index], requests.removeValue(forKey: number) != nil else {
          problem = "failed a request that was over"
          return
        }
        failures.append(failure)
      case .event, .outran: break
      }
    }
  }

  /// Checks that the recorded clients are those with requests, and that none exceeds its share.
  mutating func checkShares() {
    var loads: [PoolClient: (running: Int, waiting: Int)] = [:]
    for request in state.requests {
      guard let client = request.client else { continue }
      if request.phase == .queued { loads[client, default: (0, 0)].waiting += 1 }
      if request.phase == .inFlight, request.kind == .heavy {
        loads[client, default: (0, 0)].running += 1
      }
    }
    if loads.count != state.clients.count { problem = "a client is forgotten or kept" }
    for (client, load) in loads {
      if state.clients[client]?.running != load.running
        || state.clients[client]?.waiting != load.waiting
      {
        problem = "\(client) has \(load), not \(String(describing: state.clients[client]))"
      }
      if load.running > state.share { problem = "\(client) has \(load.running) connections" }
    }
  }

  /// Checks the invariants after every event.
  mutating func check(after event: Event) {
    guard problem == nil else { return }
    let statistics = state.currentStatistics
    let open = connections.count { $0 != nil }
    if statistics.idle + statistics.inUse + statistics.leased != open {
      problem = "counts \(statistics) for \(open) connections"
    }
    let inFlight = state.settings.size * state.settings.pipelineDepth
    if statistics.waiting > state.settings.quickQueueLimit + inFlight {
      problem = "the queue has \(statistics.waiting)"
    }
    let slack = Self.tickInterval + Self.millisecond
    for (number, request) in requests {
      if now > request.deadline + slack { problem = "request \(number) outlived its deadline" }
    }
    if case .tick = event { checkShares() }
    for slot in state.slots.indices where state.slots[slot].backlog < 0 {
      problem = "a backlog is negative"
    }
    if case .tick = event, state.exclusiveWaiting == 0,
      state.slots.contains(where: { $0.isPromised })
    {
      problem = "a connection is kept for nobody"
    }
    if statistics.idle > 0, statistics.leased == 0, state.quickWaiting > 0,
      state.slots.contains(where: { $0.phase == .ready && $0.inFlight.isEmpty && !$0.isPromised })
    {
      problem = "quick requests wait beside an idle connection"
    }
  }
}
