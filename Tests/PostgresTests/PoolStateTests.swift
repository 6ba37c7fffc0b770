import EventLoops
import Testing

@testable import Postgres

struct PoolStateTests {
  static let millisecond = PoolSimulation.millisecond

  static func settings(_ size: Int) -> PoolSettings {
    var settings = PoolSettings(size: size)
    settings.lifetime = .seconds(4)
    settings.idleLimit = .seconds(1)
    settings.cancelGrace = .milliseconds(300)
    settings.probeAfter = .milliseconds(300)
    settings.quickQueueLimit = 2 * settings.queueLimit
    return settings
  }

  /// Arrivals, cancels, deadlines, leases, drops and outages for five seconds.
  static func crowd(seed: UInt64) -> PoolSimulation {
    var dice = SplitMix(state: seed &* 7919 &+ 1)
    var simulation = PoolSimulation(
      seed: seed, settings: settings(1 + Int(dice.below(5))))
    var time: Int64 = 0
    let busyness = [200_000, 2_000_000, 20_000_000][Int(dice.below(3))]
    for _ in 0..<(100 + dice.below(200)) {
      time += dice.below(Int64(busyness)) + 1
      let service =
        switch dice.below(20) {
        case 0: dice.below(2_000 * millisecond)
        case 1, 2: dice.below(50 * millisecond)
        case 3...8: dice.below(2 * millisecond)
        default: dice.below(millisecond / 10)
        }
      let kind: PoolRequestKind = dice.below(12) == 0 ? .lease : .quick
      let deadline = dice.below(10) == 0 ? dice.below(300 * millisecond) : 3_000 * millisecond
      let cancel = dice.below(8) == 0 ? dice.below(100 * millisecond) : nil
      simulation.events.add(
        .submit(
          service: service + 1_000, kind: kind, deadline: deadline + 1, cancelAfter: cancel),
        at: time)
      if dice.below(60) == 0 { simulation.events.add(.connectionDrop, at: time) }
    }
    for _ in 0..<dice.below(3) {
      let down = dice.below(max(time, 1))
      simulation.events.add(.serverDown, at: down)
      simulation.events.add(.serverUp, at: down + dice.below(1_500 * millisecond))
    }
    return simulation
  }

  @Test func `in thousands of schedules every request has one end, in time`() {
    var delivered = 0
    var probes = 0
    var failed: [String: Int] = [:]
    for seed in 0..<600 as Range<UInt64> {
      var simulation = Self.crowd(seed: seed)
      simulation.run(until: 15_000 * Self.millisecond)
      if let problem = simulation.problem {
        Issue.record("seed \(seed): \(problem)")
        return
      }
      if !simulation.requests.isEmpty {
        Issue.record("seed \(seed): \(simulation.requests.count) requests have no end")
        return
      }
      delivered += simulation.deliveredCount
      probes += simulation.probeCount
      for failure in simulation.failures { failed["\(failure)", default: 0] += 1 }
    }
    // The schedules do what they are for.
    #expect(probes > 1_000)
    #expect(delivered > 20_000)
    for reason in ["queueFull", "waitedTooLong", "noDatabase"] {
      #expect(failed["refused(Postgres.PoolShedReason.\(reason))", default: 0] > 50, "\(failed)")
    }
    #expect(failed["deadlinePassed", default: 0] > 50, "\(failed)")
    #expect(failed["lost", default: 0] > 5, "\(failed)")
  }

  @Test func `after stop nothing is left open`() {
    for seed in 0..<150 as Range<UInt64> {
      var simulation = Self.crowd(seed: seed)
      simulation.events.add(.stop, at: 60 * Self.millisecond)
      simulation.run(until: 15_000 * Self.millisecond)
      #expect(simulation.problem == nil, "seed \(seed)")
      #expect(simulation.requests.isEmpty, "seed \(seed)")
      #expect(simulation.state.isStopped, "seed \(seed)")
    }
  }

  @Test func `the first answer comes within a second of the server's return`() {
    for seed in 0..<150 as Range<UInt64> {
      var simulation = PoolSimulation(seed: seed, settings: Self.settings(4))
      var dice = SplitMix(state: seed)
      simulation.events.add(.serverDown, at: 100 * Self.millisecond)
      let up = (1_000 + dice.below(30_000)) * Self.millisecond
      simulation.events.add(.serverUp, at: up)
      // Somebody asks every 40 ms.
      for time in stride(from: 0, to: up + 2_000 * Self.millisecond, by: 40 * Int(Self.millisecond))
      {
        simulation.events.add(
          .submit(
            service: 50_000, kind: .quick, deadline: 3_000 * Self.millisecond, cancelAfter: nil),
          at: Int64(time))
      }
      simulation.run(until: up + 4_000 * Self.millisecond)
      #expect(simulation.problem == nil, "seed \(seed)")
      let wait = (simulation.firstAnswerSinceUp ?? .max) - up
      #expect(wait <= 1_000 * Self.millisecond, "seed \(seed)")
    }
  }

  // MARK: One decision at a time

  let start = Moment.now

  func ready(_ size: Int, settings change: (inout PoolSettings) -> Void = { _ in }) -> PoolState {
    var settings = PoolSettings(size: size)
    change(&settings)
    var state = PoolState(settings: settings, seed: 1, now: start)
    var actions: [PoolAction] = []
    state.start(now: start, actions: &actions)
    for slot in 0..<size { state.connected(slot: slot, now: start, actions: &actions) }
    return state
  }

  /// The connection a request of that many microseconds is sent on, nil if it waits, -1 if refused.
  func place(
    _ state: inout PoolState, _ microseconds: UInt64, kind: PoolRequestKind = .quick,
    isKnown: Bool = true, for client: Int64? = nil, writes: Bool = false,
    asynchronously: Bool = false, at time: Duration = .zero
  ) -> Int? {
    var actions: [PoolAction] = []
    _ = state.submit(
      kind: kind, estimate: microseconds * 1_000, isKnown: isKnown, mayRetry: !writes,
      awaitsEnd: writes, commitsAsynchronously: asynchronously,
      client: client.map { .viewer($0) }, deadline: start + .seconds(10), now: start + time,
      actions: &actions)
    for action in actions {
      switch action {
      case .send(_, let slot), .lease(_, let slot): return slot
      case .fail: return -1
      default: continue
      }
    }
    return nil
  }

  @Test func `short statements share a connection while it is soon done`() {
    var state = ready(3)
    #expect(place(&state, 50) == 0)
    #expect((0..<5).map { _ in place(&state, 50) } == [0, 0, 0, 0, 0])
    #expect(place(&state, 50) == 1)
  }

  @Test func `long ones take idle connections, and short ones do not stand behind them`() {
    var state = ready(3)
    #expect(place(&state, 500) == 0)
    #expect(place(&state, 500) == 1)
    #expect(place(&state, 50) == 2)
    #expect(place(&state, 50) == 2)
  }

  @Test func `with none idle the one that is done first is taken`() {
    var state = ready(2)
    #expect(place(&state, 900) == 0)
    #expect(place(&state, 300) == 1)
    #expect(place(&state, 200) == 1)
    // Two long ones deep at most.
    #expect(place(&state, 200) == 0)
    #expect(place(&state, 200) == nil)
  }

  @Test func `nothing stands behind a statement that outran its estimate`() {
    var state = ready(1)
    #expect(place(&state, 50) == 0)
    #expect(place(&state, 50, at: .milliseconds(1)) == 0)
    #expect(place(&state, 50, at: .milliseconds(30)) == nil)
  }

  @Test func `heavy statements leave a connection to the others`() {
    var state = ready(3)
    #expect(place(&state, 50_000) == 0)
    #expect(place(&state, 50_000) == 1)
    #expect(place(&state, 50_000) == nil)
    #expect(place(&state, 50) == 2)
    #expect(place(&state, 500, at: .milliseconds(1)) == 2)
  }

  @Test func `a lease is given when its promised connection is done`() {
    var state = ready(2)
    for expected in [0, 1] { #expect(place(&state, 500) == expected) }
    #expect(place(&state, 0, kind: .lease) == nil)
    var actions: [PoolAction] = []
    _ = state.answered(slot: 0, .final, now: start + .microseconds(500), actions: &actions)
    #expect(actions.contains { if case .lease(_, 0) = $0 { true } else { false } })
    // What comes meanwhile goes elsewhere.
    #expect(place(&state, 50, at: .microseconds(500)) == 1)
  }

  @Test func `a heavy statement gets its turn beside a crowd of others`() {
    var state = ready(2)
    var now = Duration.zero
    for _ in 0..<2 { #expect(place(&state, 500) != nil) }
    #expect(place(&state, 50_000) == nil)
    var isSent = false
    for _ in 0..<20 where !isSent {
      now += .microseconds(500)
      _ = place(&state, 500, at: now)
      for slot in 0..<2 {
        var actions: [PoolAction] = []
        _ = state.answered(slot: slot, .final, now: start + now, actions: &actions)
        // Of three lanes the heavy one is seen by its estimate.
        if state.exclusiveWaiting == 0 { isSent = true }
      }
    }
    #expect(isSent)
  }

  @Test func `a connection kept for a lease that gave up is used again`() {
    var state = ready(1)
    #expect(place(&state, 500) == 0)
    var actions: [PoolAction] = []
    let lease = state.submit(
      kind: .lease, estimate: 0, mayRetry: true, deadline: start + .seconds(9), now: start,
      actions: &actions)
    state.tick(now: start, actions: &actions)
    #expect(state.slots[0].isPromised)
    #expect(state.cancel(lease, now: start, actions: &actions))
    state.tick(now: start + .milliseconds(25), actions: &actions)
    #expect(!state.slots[0].isPromised)
    _ = state.answered(
      slot: 0, .final, now: start + .milliseconds(26), actions: &actions)
    #expect(place(&state, 500, at: .milliseconds(26)) == 0)
  }

  @Test func `one execution that stood still does not make its statement heavy`() {
    let statement = PostgresStatement("SELECT 1", parameterCount: 0)
    for _ in 0..<10 { statement.record(nanoseconds: 200_000) }
    statement.record(nanoseconds: 900_000_000)
    #expect(statement.meanNanoseconds < 400_000)
    for _ in 0..<60 { statement.record(nanoseconds: 50_000_000) }
    #expect(statement.meanNanoseconds > 20_000_000)
  }

  @Test func `a statement that nobody has seen is placed by what is expected of it`() {
    let statement = PostgresStatement(
      "SELECT 1", parameterCount: 0, expectedNanoseconds: 25_000_000)
    #expect(statement.estimateNanoseconds(at: start) == 25_000_000)
    #expect(statement.meanNanoseconds == 0)
    for _ in 0..<3 {
      #expect(!statement.isKnown)
      statement.record(nanoseconds: 200_000)
    }
    #expect(statement.estimateNanoseconds(at: start) == 200_000 && statement.isKnown)
    let own = PostgresStatement("SELECT 1", parameterCount: 0)
    #expect(own.estimateNanoseconds(at: start) == 0 && own.isKnown)
  }

  @Test func `a statement that was given up counts as slow, whatever its cheap variants take`() {
    let statement = PostgresStatement("SELECT 1", parameterCount: 0)
    for _ in 0..<10 { statement.record(nanoseconds: 200_000) }
    let now = start + .seconds(1)
    statement.raise(toNanoseconds: 5_000_000_000, at: now)
    #expect(statement.estimateNanoseconds(at: now) == 5_000_000_000)
    statement.raise(toNanoseconds: 1_000, at: now)
    #expect(statement.estimateNanoseconds(at: now) == 5_000_000_000)
    for _ in 0..<10_000 { statement.record(nanoseconds: 200_000) }
    #expect(statement.estimateNanoseconds(at: now + .seconds(499)) == 5_000_000_000)
    // A hundred times as long as it took.
    #expect(statement.estimateNanoseconds(at: now + .seconds(501)) == 200_000)
  }

  @Test func `one that takes long once in a while says nothing of its statement, often it does`() {
    let statement = PostgresStatement("SELECT 1", parameterCount: 0)
    for _ in 0..<10 { statement.record(nanoseconds: 25_000) }
    func estimate() -> UInt64 { statement.estimateNanoseconds(at: start) }
    statement.outran(by: 200_000_000, sentAt: start, at: start + .milliseconds(200))
    // What was sent meanwhile met the same.
    statement.outran(
      by: 300_000_000, sentAt: start + .milliseconds(150), at: start + .milliseconds(450))
    #expect(estimate() == 25_000)
    for _ in 0..<10_000 { statement.record(nanoseconds: 25_000) }
    statement.outran(by: 200_000_000, sentAt: start + .seconds(3), at: start + .seconds(4))
    #expect(estimate() == 25_000)
    for _ in 0..<100 { statement.record(nanoseconds: 25_000) }
    statement.outran(by: 200_000_000, sentAt: start + .seconds(5), at: start + .seconds(6))
    #expect(estimate() == 200_000_000)
  }

  // MARK: Shares

  @Test func `what nobody knows leaves a connection to the others, however quick it may be`() {
    var state = ready(3)
    #expect(place(&state, 300, isKnown: false, for: 1) == 0)
    #expect(place(&state, 300, isKnown: false, for: 2) == 1)
    #expect(place(&state, 300, isKnown: false, for: 3) == nil)
    #expect(place(&state, 300, for: 1) == 2)
    // The server's own are known.
    #expect(place(&state, 50, at: .milliseconds(1)) == 2)
  }

  @Test func `what waited because nobody knew it goes on once it is known to be quick`() {
    var state = ready(3)
    for client in 1...2 {
      #expect(place(&state, 300, isKnown: false, for: Int64(client)) != nil)
    }
    for client in 3...12 {
      #expect(place(&state, 300, isKnown: false, for: Int64(client)) == nil)
    }
    var actions: [PoolAction] = []
    let all = state.requests.indices.map { Int32($0) }
    // Not while it is known to be heavy.
    state.becameKnown(all, estimate: 50_000_000, now: start, actions: &actions)
    #expect(state.heavy.count == 10 && actions.isEmpty)
    state.becameKnown(all, estimate: 20_000, now: start, actions: &actions)
    #expect(state.heavy.count == 0)
    let sent = actions.count { if case .send = $0 { true } else { false } }
    #expect(sent > 0 && sent + state.quick.count == 10)
  }

  @Test func `one client holds half of the connections, and others pass it`() {
    var state = ready(5)
    #expect(place(&state, 50_000, for: 1) == 0)
    #expect(place(&state, 50_000, for: 1) == 1)
    #expect(place(&state, 50_000, for: 1) == nil)
    #expect(place(&state, 50_000, isKnown: false, for: 1) == nil)
    #expect(place(&state, 50_000, for: 2) == 2)
    #expect(place(&state, 50_000, for: 3) == 3)
    // All but the one for quick statements are taken.
    #expect(place(&state, 50_000, for: 4) == nil)
    #expect(place(&state, 500, for: 1) == 4)
    var actions: [PoolAction] = []
    _ = state.answered(slot: 3, .final, now: start, actions: &actions)
    // Those of the first client came before, but not within its share.
    #expect(state.requests[Int(state.slots[3].inFlight.first ?? -1)].client == .viewer(4))
    _ = state.answered(slot: 0, .final, now: start, actions: &actions)
    #expect(state.requests[Int(state.slots[0].inFlight.first ?? -1)].client == .viewer(1))
  }

  @Test func `nothing is kept free for a client that has its share`() {
    var state = ready(3)
    #expect(place(&state, 50_000, for: 1) == 0)
    #expect(place(&state, 50_000, for: 1) == nil)
    var actions: [PoolAction] = []
    state.tick(now: start, actions: &actions)
    #expect(!state.slots.contains { $0.isPromised })
  }

  @Test func `one client's mutations hold half of the connections`() {
    var state = ready(4) { settings in
      settings.pipelineDepth = 1
      settings.longPipelineDepth = 1
    }
    #expect((0..<3).map { _ in place(&state, 0, for: 1, writes: true) } == [0, 1, nil])
    #expect((0..<3).map { _ in place(&state, 0, for: 2, writes: true) } == [2, 3, nil])
    var actions: [PoolAction] = []
    _ = state.answered(slot: 3, .final, now: start, actions: &actions)
    #expect(state.requests[Int(state.slots[3].inFlight.first ?? -1)].client == .viewer(2))
  }

  @Test
  func
    `of what commits asynchronously so many are at work at once, beside those that wait for a lock`()
  {
    var state = ready(4) { settings in
      settings.pipelineDepth = 1
      settings.longPipelineDepth = 1
      settings.asynchronousAtOnce = 1
      settings.asynchronousStall = .milliseconds(25)
    }
    // What waits for the disk by itself does not count.
    #expect(place(&state, 0, for: 1, writes: true) == 0)
    #expect(place(&state, 0, for: 2, writes: true, asynchronously: true) == 1)
    #expect(place(&state, 0, for: 3, writes: true, asynchronously: true) == nil)
    #expect(place(&state, 0, for: 4, writes: true, asynchronously: true) == nil)
    var actions: [PoolAction] = []
    state.tick(now: start + .milliseconds(24), actions: &actions)
    #expect(state.slots[2].inFlight.isEmpty)
    state.tick(now: start + .milliseconds(25), actions: &actions)
    #expect(state.slots[2].inFlight.first != nil)
    #expect(state.slots[3].inFlight.isEmpty)
    _ = state.answered(slot: 2, .final, now: start + .milliseconds(30), actions: &actions)
    #expect(state.slots[2].inFlight.first != nil)
    #expect(state.waitingCount == 0)
  }

  @Test func `clients that wait take turns`() {
    var state = ready(1) { $0.pipelineDepth = 1 }
    #expect(place(&state, 50, for: 1) == 0)
    for _ in 0..<6 { #expect(place(&state, 50, for: 1) == nil) }
    for _ in 0..<2 { #expect(place(&state, 50, for: 2) == nil) }
    #expect(place(&state, 50) == nil)
    var order: [PoolClient?] = []
    var actions: [PoolAction] = []
    for _ in 0..<9 {
      _ = state.answered(slot: 0, .final, now: start, actions: &actions)
      guard let head = state.slots[0].inFlight.first else { break }
      order.append(state.requests[Int(head)].client)
    }
    #expect(order.count == 9)
    // The second client's two, and the server's own, are not behind the first one's six.
    #expect(order.prefix(5).count { $0 == .viewer(1) } == 2)
    #expect(state.clients.isEmpty)
  }

  @Test func `who asks twice is not passed by all who ask once`() {
    var state = ready(1) { $0.pipelineDepth = 1 }
    #expect(place(&state, 50, for: 1) == 0)
    for _ in 0..<2 { #expect(place(&state, 50, for: 2) == nil) }
    var order: [PoolClient?] = []
    var actions: [PoolAction] = []
    for number in 0..<20 as Range<Int64> {
      // Somebody new each time, before the connection is free again.
      #expect(place(&state, 50, for: 10 + number) == nil)
      _ = state.answered(slot: 0, .final, now: start, actions: &actions)
      guard let head = state.slots[0].inFlight.first else { break }
      order.append(state.requests[Int(head)].client)
    }
    #expect(order.count == 20)
    #expect(order.prefix(10).count { $0 == .viewer(2) } == 2)
  }

  @Test func `what every request needs has room, and comes first`() {
    var state = ready(1) { settings in
      settings.pipelineDepth = 1
      settings.queueLimit = 4
      settings.quickQueueWait = .zero
    }
    #expect((0..<6).map { _ in place(&state, 50, for: 1) } == [0, nil, nil, nil, nil, -1])
    var actions: [PoolAction] = []
    for _ in 0..<20 {
      _ = state.submit(
        kind: .quick, estimate: 50_000, mayRetry: true, client: .server,
        deadline: start + .seconds(10), now: start, actions: &actions)
    }
    #expect(!actions.contains { if case .fail = $0 { true } else { false } })
    for _ in 0..<20 {
      _ = state.answered(slot: 0, .final, now: start, actions: &actions)
      #expect(state.requests[Int(state.slots[0].inFlight.first ?? -1)].client == .server)
    }
  }

  @Test func `in a full queue who has less than a quarter of it takes the place of who has more`() {
    var state = ready(1) { settings in
      settings.pipelineDepth = 1
      settings.queueLimit = 8
      settings.quickQueueWait = .zero
    }
    #expect(
      (0..<10).map { _ in place(&state, 50, for: 1) } == [0] + Array(repeating: nil, count: 8) + [
        -1
      ])
    var refused: [PoolClient?] = []
    for client in [2, 3, 2, 2] as [Int64] {
      var actions: [PoolAction] = []
      _ = state.submit(
        kind: .quick, estimate: 50_000, mayRetry: true, client: .viewer(client),
        deadline: start + .seconds(10), now: start, actions: &actions)
      for case .fail(let index, .refused(.queueFull)) in actions {
        refused.append(state.requests[Int(index)].client)
      }
    }
    #expect(refused == [.viewer(1), .viewer(1), .viewer(1), .viewer(2)])
    #expect(state.waitingCount == 8 && state.clients[.viewer(1)]?.waiting == 5)
  }

  @Test func `a statement past its timeout is cancelled then, not at the operation's deadline`() {
    var state = ready(1) { $0.statementTimeout = .seconds(5) }
    #expect(place(&state, 50_000, for: 1) == 0)
    var actions: [PoolAction] = []
    state.tick(now: start + .milliseconds(5_050), actions: &actions)
    #expect(actions.isEmpty)
    state.tick(now: start + .milliseconds(5_100), actions: &actions)
    #expect(actions.contains { if case .cancel(0) = $0 { true } else { false } })
    #expect(
      actions.contains { if case .fail(_, .deadlinePassed) = $0 { true } else { false } })
  }

  // MARK: What waits for something

  private func tick(_ state: inout PoolState, _ time: Duration) -> [PoolAction] {
    var actions: [PoolAction] = []
    state.tick(now: start + time, actions: &actions)
    return actions
  }

  @Test func `what waits holds no more connections than heavy statements may`() {
    var state = ready(2)
    for expected in [0, 1] { #expect(place(&state, 500) == expected) }
    #expect(place(&state, 500, at: .milliseconds(3)) == nil)
    // Two take far longer than they were expected to, and somebody waits: the second makes way.
    var actions = tick(&state, .milliseconds(110))
    #expect(actions.count { if case .outran = $0 { true } else { false } } == 2)
    #expect(actions.contains { if case .cancel(0) = $0 { true } else { false } } == false)
    #expect(actions.contains { if case .cancel(1) = $0 { true } else { false } })
    actions = []
    #expect(
      state.answered(slot: 1, .cancelled, now: start + .milliseconds(111), actions: &actions)
        == .retryAsHeavy(after: 111_000_000))
    #expect(actions.contains { if case .send(_, 1) = $0 { true } else { false } })
    #expect(state.exclusiveWaiting == 1 && state.quickWaiting == 0)
    #expect(state.currentStatistics.retried[.overdue] == 1)
    // The first is done: now the other has its connection to itself.
    actions = []
    _ = state.answered(slot: 0, .final, now: start + .milliseconds(112), actions: &actions)
    #expect(actions.contains { if case .send(_, 0) = $0 { true } else { false } })
    #expect(state.exclusiveWaiting == 0)
    #expect(place(&state, 50, at: .milliseconds(113)) == 1)
  }

  @Test func `what stands behind one that waits goes on without it`() {
    var state = ready(2)
    for expected in [0, 1, 1] { #expect(place(&state, expected == 0 ? 900 : 300) == expected) }
    let actions = tick(&state, .milliseconds(110))
    // Nobody is in the queue; but one is behind the second.
    #expect(actions.contains { if case .cancel(1) = $0 { true } else { false } })
    #expect(!actions.contains { if case .cancel(0) = $0 { true } else { false } })
  }

  @Test func `nobody makes way while nobody waits, nor twice`() {
    var state = ready(2)
    for expected in [0, 1] { #expect(place(&state, 500) == expected) }
    #expect(
      !tick(&state, .milliseconds(110)).contains { if case .cancel = $0 { true } else { false } })
    #expect(place(&state, 500, at: .milliseconds(120)) == nil)
    #expect(
      tick(&state, .milliseconds(125)).contains { if case .cancel = $0 { true } else { false } })
    #expect(
      !tick(&state, .milliseconds(150)).contains { if case .cancel = $0 { true } else { false } })
  }

  @Test func `as long as one waits its statement counts as heavy`() {
    let statement = PostgresStatement("SELECT 1", parameterCount: 0)
    statement.record(nanoseconds: 60_000)
    var slowness: StatementSlowness? = StatementSlowness(statement)
    withExtendedLifetime(slowness) {
      #expect(statement.estimateNanoseconds(at: start) >= 20_000_000)
    }
    slowness = nil
    #expect(statement.estimateNanoseconds(at: start) == 60_000)
    #expect(statement.meanNanoseconds == 60_000)
  }

  @Test func `a connection on which nothing ends is given up`() {
    var state = ready(1)
    #expect(place(&state, 50) == 0)
    #expect(
      !tick(&state, .milliseconds(5_990)).contains { if case .close = $0 { true } else { false } })
    let actions = tick(&state, .milliseconds(6_010))
    #expect(actions.contains { if case .close(0) = $0 { true } else { false } })
    // It is not sent again: the next server may be as dead.
    #expect(actions.contains { if case .fail(_, .lost) = $0 { true } else { false } })
    #expect(actions.contains { if case .connect(0) = $0 { true } else { false } })
  }

  @Test func `a write that meets a server that only reads drops all connections to it`() {
    var state = ready(2)
    #expect(place(&state, 50) == 0)
    var actions: [PoolAction] = []
    #expect(
      state.answered(slot: 0, .readOnly, now: start, actions: &actions) == .deliver(after: 0))
    #expect(actions.count { if case .close = $0 { true } else { false } } == 2)
  }

  @Test func `a conflict is tried again once`() {
    var state = ready(1)
    #expect(place(&state, 50) == 0)
    var actions: [PoolAction] = []
    #expect(state.answered(slot: 0, .conflict, now: start, actions: &actions) == .retry)
    #expect(
      state.answered(slot: 0, .conflict, now: start, actions: &actions) == .deliver(after: 0))
  }

  // MARK: Far away

  private func far(_ milliseconds: Int) -> PoolState {
    var settings = PoolSettings(size: 1)
    settings.quickQueueLimit = 10_000
    var state = PoolState(settings: settings, seed: 1, now: start)
    var actions: [PoolAction] = []
    state.start(now: start, actions: &actions)
    state.connected(
      slot: 0, roundTrip: .milliseconds(milliseconds) + settings.shortestRoundTrip, now: start,
      actions: &actions)
    return state
  }

  @Test func `the road is no part of what a statement takes`() {
    var state = far(30)
    #expect(place(&state, 50) == 0)
    #expect(place(&state, 50, at: .milliseconds(1)) == 0)
    var actions: [PoolAction] = []
    let came = start + .milliseconds(30)
    #expect(
      state.answered(slot: 0, .final, now: came + .microseconds(200), actions: &actions)
        == .deliver(after: 200_000))
    // Sent a millisecond later, it was answered half of one after it came there.
    #expect(
      state.answered(slot: 0, .final, now: came + .microseconds(1_500), actions: &actions)
        == .deliver(after: 500_000))
  }

  @Test func `on a long road more is under way, as much as the server does meanwhile`() {
    var state = far(30)
    #expect((0..<272).allSatisfy { _ in place(&state, 60) == 0 })
    #expect(place(&state, 60) == nil)
    var slower = far(30)
    // 102 long ones, which come to 51 ms of work.
    #expect((0..<100).count { _ in place(&slower, 500) == 0 } == 62)
  }

  @Test func `an answer that comes sooner shortens the road`() {
    var state = far(30)
    #expect(place(&state, 50) == 0)
    var actions: [PoolAction] = []
    _ = state.answered(slot: 0, .final, now: start + .milliseconds(10), actions: &actions)
    #expect(place(&state, 50, at: .milliseconds(20)) == 0)
    #expect(
      state.answered(slot: 0, .final, now: start + .milliseconds(32), actions: &actions)
        == .deliver(after: 2_100_000))
  }

  @Test func `the queue is bounded`() {
    var state = ready(1) { settings in
      settings.pipelineDepth = 1
      settings.queueLimit = 3
      settings.quickQueueWait = .zero
    }
    #expect((0..<5).map { _ in place(&state, 50) } == [0, nil, nil, nil, -1])
  }

  @Test func `the queue may be longer while it is soon worked off`() {
    var state = ready(1) { settings in
      settings.pipelineDepth = 1
      settings.queueLimit = 3
      settings.quickQueueLimit = 100
      settings.quickQueueWait = .milliseconds(1)
    }
    // 50 microseconds each, so 20 are a millisecond's work.
    #expect((0..<30).count { _ in place(&state, 50) != -1 } == 21)
    var other = ready(1) { settings in
      settings.pipelineDepth = 1
      settings.queueLimit = 3
      settings.quickQueueLimit = 10
    }
    #expect((0..<30).count { _ in place(&other, 50) != -1 } == 11)
  }

  @Test func `a silent connection is probed, and closed when it does not answer`() {
    var state = ready(1)
    let settings = state.settings
    var actions: [PoolAction] = []
    func tick(_ time: Duration) -> [String] {
      actions.removeAll()
      state.tick(now: start + time, actions: &actions)
      return actions.map { action in
        switch action {
        case .probe: "probe"
        case .cancel: "cancel"
        case .close: "close"
        case .connect: "connect"
        case .event: "event"
        default: "other"
        }
      }
    }
    #expect(tick(.seconds(1)) == [])
    #expect(tick(.seconds(2)) == ["probe"])
    #expect(
      state.answered(slot: 0, .final, now: start + .seconds(2), actions: &actions) == .drop)
    #expect(tick(.seconds(3)) == [])
    #expect(tick(.seconds(4)) == ["probe"])
    #expect(state.isProven(within: settings.proof, now: start + .milliseconds(6_990)))
    #expect(!state.isProven(within: settings.proof, now: start + .seconds(7)))
    #expect(tick(.milliseconds(5_010)) == ["cancel", "event"])
    #expect(tick(.milliseconds(6_020)) == ["close", "event", "connect"])
    // Probes are nobody's requests.
    #expect(state.currentStatistics.executed == 0)
  }

  @Test func `each cancel that hits a neighbour is made good`() {
    var state = ready(1)
    var actions: [PoolAction] = []
    var now = start
    /// The first of the pipeline is left by who asked for it, and cancelled for that.
    func abandon(_ id: PoolRequestID) {
      #expect(state.cancel(id, now: now, actions: &actions))
      actions.removeAll()
      now = now + .milliseconds(25)
      state.tick(now: now, actions: &actions)
      #expect(actions.contains { if case .cancel(0) = $0 { true } else { false } })
    }
    func submit() -> PoolRequestID {
      state.submit(
        kind: .quick, estimate: 50_000, mayRetry: true, deadline: start + .seconds(10), now: now,
        actions: &actions)
    }
    let first = submit()
    #expect(place(&state, 50) == 0)
    abandon(first)
    #expect(state.answered(slot: 0, .cancelled, now: now, actions: &actions) == .drop)
    let second = submit()
    // It goes behind the second one, whose cancel hits it again.
    #expect(state.answered(slot: 0, .cancelled, now: now, actions: &actions) == .retry)
    abandon(second)
    #expect(state.answered(slot: 0, .cancelled, now: now, actions: &actions) == .drop)
    #expect(state.answered(slot: 0, .cancelled, now: now, actions: &actions) == .retry)
    // There were two: who sends a third is not the pool.
    #expect(
      state.answered(slot: 0, .cancelled, now: now, actions: &actions) == .deliver(after: 0))
  }

  @Test func `what a neighbour's failure skipped is sent again until it has its own answer`() {
    var state = ready(1)
    var actions: [PoolAction] = []
    #expect(place(&state, 50) == 0)
    #expect(state.answered(slot: 0, .stale, now: start, actions: &actions) == .retry)
    #expect(state.answered(slot: 0, .aborted, now: start, actions: &actions) == .retry)
    #expect(state.answered(slot: 0, .aborted, now: start, actions: &actions) == .retry)
    #expect(state.currentStatistics.retried[.neighbourFailed] == 2)
    #expect(
      state.answered(slot: 0, .stale, now: start, actions: &actions) == .deliver(after: 0))
  }

  @Test func `what is partly answered is not asked again`() {
    var state = ready(1)
    var actions: [PoolAction] = []
    #expect(place(&state, 50) == 0)
    state.notePartAnswered(slot: 0)
    #expect(
      state.answered(slot: 0, .stale, now: start, actions: &actions) == .deliver(after: .zero))
  }

  @Test func `back-off stays between its bounds and the breaker opens at the third failure`() {
    var state = PoolState(settings: PoolSettings(size: 1), seed: 5, now: start)
    var now = start
    var actions: [PoolAction] = []
    state.start(now: now, actions: &actions)
    var waits: [Duration] = []
    for _ in 0..<12 {
      actions.removeAll()
      state.connectFailed(
        slot: 0, PostgresError(.unavailable, message: ""), now: now, actions: &actions)
      for case .event(.connectFailed(_, _, let wait)) in actions { waits.append(wait) }
      #expect(state.currentStatistics.isBreakerOpen == (waits.count >= 3))
      now += waits.last ?? .zero
      state.tick(now: now, actions: &actions)
    }
    #expect(waits.count == 12)
    #expect(waits.allSatisfy { $0 > .zero && $0 <= .milliseconds(1001) })
    #expect(waits[0] <= .milliseconds(51))
    #expect(waits.contains { $0 > .milliseconds(500) })
  }

  @Test func `one after the other tries to reach what is away, and all when it is back`() {
    var state = PoolState(settings: PoolSettings(size: 4), seed: 5, now: start)
    var now = start
    var actions: [PoolAction] = []
    func connecting() -> [Int] {
      actions.compactMap { if case .connect(let slot) = $0 { slot } else { nil } }
    }
    state.start(now: now, actions: &actions)
    #expect(connecting().count == 4)
    for slot in 0..<4 { state.connected(slot: slot, now: now, actions: &actions) }
    // Soon after they were opened all break at once, and then nobody answers for a while.
    for slot in 0..<4 {
      state.lost(
        slot: slot, PostgresError(.unavailable, message: ""), now: now, actions: &actions)
    }
    for _ in 0..<20 {
      actions.removeAll()
      now += .seconds(2)
      state.tick(now: now, actions: &actions)
      #expect(connecting().count == 1)
      let slot = connecting().first ?? 0
      state.connectFailed(
        slot: slot, PostgresError(.unavailable, message: ""), now: now, actions: &actions)
      #expect(state.retryAfter(now: now) <= .milliseconds(1001))
    }
    now += .seconds(2)
    actions.removeAll()
    state.tick(now: now, actions: &actions)
    let first = connecting()
    #expect(first.count == 1)
    actions.removeAll()
    state.connected(slot: first.first ?? 0, now: now, actions: &actions)
    #expect(connecting().count == 3)
  }
}
