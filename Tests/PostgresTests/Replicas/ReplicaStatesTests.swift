import EventLoops
import Testing

@testable import Postgres

/// Which replicas take reads, and where a client's read goes.
@Suite struct ReplicaStatesTests {
  private var states = ReplicaStates(count: 2, maximumLag: .seconds(4))
  private let start = Moment.now

  private func at(_ seconds: Double) -> Moment { start + .milliseconds(Int64(seconds * 1000)) }

  private func position(_ offset: UInt64, timeline: UInt32 = 1) -> LogPosition {
    LogPosition(timeline: timeline, offset: offset)
  }

  private func standby(_ offset: UInt64, timeline: UInt32 = 1) -> ReplicaStates.Report {
    ReplicaStates.Report(isStandby: true, replayed: position(offset, timeline: timeline))
  }

  private mutating func settle(_ offset: UInt64, at seconds: Double) {
    states.primaryAnswered(
      position(offset), seen: position(offset), after: states.changes, at: at(seconds))
  }

  private func decision(
    _ client: UInt64 = 7, _ need: ReadPositions.Need = .position(nil), isValid: Bool = true
  ) -> ReplicaStates.Decision {
    states.decision(for: client, need) { _ in isValid }
  }

  @Test mutating func `no replica takes reads before it and the primary have answered`() {
    #expect(decision() == .lagging)
    #expect(states.answered(0, standby(10), at: at(0)) == nil, "the primary is unknown")
    settle(10, at: 0)
    #expect(decision() == .lagging)
    #expect(states.answered(0, standby(10), at: at(0)) == .came)
    #expect(decision() == .lagging, "clients have moved")
    settle(12, at: 0.1)
    #expect(decision() == .ask(0), "it must have what the primary had when clients moved")
    #expect(states.answered(0, standby(12), at: at(0.2)) == nil)
    #expect(decision() == .replica(0))
  }

  private mutating func bothIn() {
    settle(10, at: 0)
    for index in 0...1 { #expect(states.answered(index, standby(10), at: at(0)) == .came) }
    settle(10, at: 0)
  }

  @Test mutating func `an answer of the primary to an older question does not end the move`() {
    bothIn()
    let before = states.changes
    #expect(states.answered(1, nil, at: at(1)) == .left(.unreachable))
    states.primaryAnswered(position(50), seen: position(50), after: before, at: at(1))
    #expect(decision() == .lagging)
    settle(50, at: 1)
    #expect(decision() == .ask(0))
  }

  @Test mutating func `a client reads what it wrote, or the primary is asked`() {
    bothIn()
    #expect(decision(7, .unknown) == .unknown)
    for client in 0..<20 as Range<UInt64> {
      guard case .ask(let index) = decision(client, .position(position(11))) else {
        Issue.record("a replica that lacks the position is asked")
        continue
      }
      #expect(decision(client) == .replica(index), "and it is the client's own")
    }
    for index in 0...1 { _ = states.answered(index, standby(11), at: at(1)) }
    guard case .replica = decision(7, .position(position(11))) else {
      Issue.record("both have it")
      return
    }
    guard case .ask = decision(7, .position(position(11, timeline: 2))) else {
      Issue.record("another timeline is never contained")
      return
    }
    guard case .ask = decision(7, isValid: false) else {
      Issue.record("after a broken connection the replica is asked again")
      return
    }
  }

  @Test mutating func `a replica that lacks what the primary had for too long leaves`() {
    bothIn()
    for second in 1...4 {
      settle(10 + UInt64(second), at: Double(second))
      #expect(states.answered(0, standby(10), at: at(Double(second) + 0.5)) == nil)
    }
    #expect(states.lag(0, at: at(4.5)) == .milliseconds(3_500))
    #expect(states.answered(0, standby(10), at: at(5.5)) == .left(.lagging))
    #expect(states.answered(0, standby(14), at: at(6)) == .came)
  }

  @Test mutating func `an idle primary makes nobody late`() {
    bothIn()
    for second in 1...60 {
      settle(10, at: Double(second))
      #expect(states.answered(0, standby(10), at: at(Double(second))) == nil)
    }
    #expect(states.lag(0, at: at(60)) == .zero)
  }

  @Test mutating func `a standby that stays on the old timeline leaves, however far it is`() {
    bothIn()
    states.primaryAnswered(
      position(5, timeline: 2), seen: position(5, timeline: 2), after: states.changes, at: at(1))
    #expect(states.answered(0, standby(99), at: at(2)) == nil)
    #expect(states.answered(0, standby(99), at: at(5.5)) == .left(.lagging))
    #expect(states.answered(1, standby(5, timeline: 2), at: at(5.5)) == nil)
  }

  @Test mutating func `one that is promoted leaves at once`() {
    bothIn()
    let promoted = ReplicaStates.Report(isStandby: false, replayed: position(10))
    #expect(states.answered(0, promoted, at: at(1)) == .left(.noStandby))
  }

  @Test mutating func `one that may have crashed serves nothing older than was seen`() {
    bothIn()
    settle(10, at: 0)
    let before = states.changes
    #expect(states.answered(0, standby(8), isInterrupted: true, at: at(1)) == nil)
    #expect(states.changes > before && decision() == .lagging)
    settle(12, at: 1)
    #expect((0..<20 as Range<UInt64>).allSatisfy { decision($0) != .replica(0) })
  }

  @Test mutating func `all event loops send a client to the same replica`() {
    states = ReplicaStates(count: 2, loops: 2, maximumLag: .seconds(4))
    settle(10, at: 0)
    for index in 0...1 {
      #expect(states.answered(index, standby(10), by: 0, at: at(0)) == nil, "one loop found it")
      #expect(states.answered(index, standby(10), by: 1, at: at(0)) == .came)
    }
    settle(10, at: 0)
    func choices(_ loop: Int) -> [ReplicaStates.Decision] {
      (0..<50 as Range<UInt64>).map {
        states.decision(for: $0, .position(nil), by: loop) { _ in true }
      }
    }
    #expect(choices(0) == choices(1) && Set(choices(0).map(String.init(describing:))).count == 2)
    #expect(states.answered(0, nil, by: 1, at: at(1)) == .left(.unreachable))
    settle(10, at: 1)
    for loop in 0...1 { #expect(choices(loop).allSatisfy { $0 == .replica(1) }) }
    #expect(states.answered(0, standby(10), by: 0, at: at(1)) == nil, "the other loop lacks it")
    #expect(states.answered(0, standby(10), by: 1, at: at(1)) == .came)
  }

  @Test func `a write of unknown position is read on the primary until it reports a later one`() {
    let (positions, writer) = (ReadPositions(), PoolClient.viewer(1))
    let before = positions.missed
    positions.hold([writer])
    positions.miss([writer])
    #expect(positions.need(of: writer) == .unknown)
    #expect(positions.need(of: .viewer(2)) == .position(nil))
    positions.reported(position(9), after: before)
    #expect(positions.need(of: writer) == .unknown, "the primary was asked before the write")
    let since = positions.missed
    positions.hold(nil)
    positions.miss(nil)
    positions.reported(position(10), after: since)
    #expect(positions.need(of: writer) == .unknown && positions.need(of: nil) == .unknown)
    positions.reported(position(11), after: positions.missed)
    #expect(positions.need(of: writer) == .position(position(11)))
    #expect(positions.need(of: .viewer(2)) == .position(position(11)))
  }

  @Test func `of many clients the least is kept: what one needs, all need`() {
    let positions = ReadPositions()
    positions.miss([.viewer(0)])
    for viewer in 1...20_000 as ClosedRange<Int64> {
      positions.note(position(UInt64(viewer)), of: .viewer(viewer))
    }
    #expect(positions.need(of: .viewer(30_000)) == .unknown)
    positions.reported(position(20_001), after: positions.missed)
    #expect(positions.need(of: .viewer(0)) == .position(position(20_001)))
  }

  @Test mutating func `without a primary, reads go on, but none misses what its client wrote`() {
    bothIn()
    settle(20, at: 1)
    #expect(states.answered(1, nil, at: at(2)) == .left(.unreachable))
    #expect(decision() == .lagging)
    for (need, wanted) in [
      (nil, .replica(0)), (position(10), .replica(0)), (position(11), .ask(0)),
    ] as [(LogPosition?, ReplicaStates.Decision)] {
      let decision = states.decision(for: 7, .position(need), hasPrimary: false) { _ in true }
      #expect(decision == wanted)
    }
    states.primaryAnswered(nil, seen: nil, after: states.changes, at: at(2))
    #expect(decision() == .replica(0))
    #expect(decision(7, .position(position(11))) == .ask(0))
  }

  @Test mutating func `clients are spread, and few move when one comes`() {
    var three = ReplicaStates(count: 3, maximumLag: .seconds(4))
    three.primaryAnswered(position(10), seen: position(10), after: 0, at: at(0))
    for index in 0...1 { _ = three.answered(index, standby(10), at: at(0)) }
    three.primaryAnswered(position(10), seen: position(10), after: three.changes, at: at(0))
    func choices(_ states: ReplicaStates) -> [ReplicaStates.Decision] {
      (0..<3_000 as Range<UInt64>).map { states.decision(for: $0, .position(nil)) { _ in true } }
    }
    let two = choices(three)
    let first = two.count { $0 == .replica(0) }
    #expect((1_300...1_700).contains(first) && two.allSatisfy { $0 != .lagging })
    _ = three.answered(2, standby(10), at: at(0))
    three.primaryAnswered(position(10), seen: position(10), after: three.changes, at: at(0))
    for (before, after) in zip(two, choices(three)) where before != after {
      #expect(after == .replica(2))
    }
  }

  @Test(
    arguments: [
      ("1", "16/B374D848", LogPosition(timeline: 1, offset: 0x16_B374_D848)),
      ("4294967295", "FFFFFFFF/FFFFFFFF", LogPosition(timeline: .max, offset: .max)),
      ("1", "16B374D848", nil), ("1", "1/2/3", nil), ("x", "0/1", nil), (nil, "0/1", nil),
      ("1", nil, nil), ("1", "0/100000000", nil),
    ] as [(String?, String?, LogPosition?)])
  func `positions are read as PostgreSQL writes them`(
    timeline: String?, offset: String?, position: LogPosition?
  ) {
    #expect(LogPosition(timeline: timeline, offset: offset) == position)
  }

  @Test func `each host of a connection string is a replica`() throws {
    let several = try PostgresConfiguration(
      "postgresql://app:p%27w@one:6001,two:6002/graph?application_name=a%20b&target_session_attrs=any"
    ).oneForEachHost()
    #expect(several.map(\.hostName) == ["one:6001", "two:6002"])
    let options = try PostgresConfiguration.options(of: several[1].connectionString)
    for (name, value) in [
      ("host", "two"), ("password", "p'w"), ("dbname", "graph"), ("application_name", "a b"),
    ] {
      #expect(options.contains { $0.name == name && $0.value == value }, "\(name)")
    }
    #expect(!options.contains { $0.name == "target_session_attrs" })
    #expect(try PostgresConfiguration("host=one").oneForEachHost().map(\.hostName) == ["one:5432"])
    #expect(throws: PostgresConfigurationError.self) {
      try PostgresConfiguration("host=a,b,c port=1,2").oneForEachHost()
    }
  }
}
