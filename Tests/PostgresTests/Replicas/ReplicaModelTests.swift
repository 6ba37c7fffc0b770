import EventLoops
import Testing

@testable import Postgres

/// A model of three viewers, two servers of one or two event loops, and two standbys, with every delay
/// and order of steps at random: each read contains what its viewer wrote, at whichever server, and saw
/// before, at the same server. The primary does not report the position of some writes. The model has
/// the decisions of `ReplicaStates` and `ReadPositions`, and nothing else.
@Suite struct ReplicaModelTests {
  /// A standby, or what became of one.
  private struct Standby {
    var timeline: UInt32 = 1
    var replayed: UInt64 = 0
    var isUp = true
    var isPaused = false
    /// How often its connections broke.
    var interruptions = 0
    var isStandby = true
  }

  /// A question or a read under way, with what was known when it was sent.
  private struct Probe {
    let standby: Int
    let report: ReplicaStates.Report?
    let interruptions: Int
  }

  private struct Read {
    let viewer: Int
    /// What it must contain: as of when it was sent.
    let needed: UInt64
    var standby: Int?
    var state: UInt64 = 0
    var interruptions = 0
    var changes = 0
  }

  private final class Server {
    var states: ReplicaStates
    let positions = ReadPositions()
    /// The position of the last write of each viewer here, and the latest that it saw here.
    var written = [UInt64](repeating: 0, count: 3)
    var seen = [UInt64](repeating: 0, count: 3)

    init(loops: Int) {
      states = ReplicaStates(count: 2, loops: loops, maximumLag: .seconds(4))
    }
  }

  private final class Loop {
    let server: Server
    let number: Int
    var valid = [-1, -1]
    var probes: [Probe] = []
    var primaryProbes: [(position: LogPosition?, changes: Int, missed: UInt64)] = []
    var reads: [Read] = []
    /// The viewers that wait for the primary's position, with what it was when it was asked.
    var holds: [(viewer: Int, position: LogPosition)] = []

    init(_ server: Server, _ number: Int) {
      self.server = server
      self.number = number
    }
  }

  private struct World {
    var random: SplitMix
    var now = Moment.now
    var timeline: UInt32 = 1
    var log: UInt64 = 1
    var standbys = [Standby(), Standby()]
    let loops: [Loop]
    /// The position that each viewer's client carries.
    var carried = [LogPosition?](repeating: nil, count: 3)
    var readsByReplicas = 0
    var readsByPrimary = 0
    var stale: [String] = []

    /// - Parameter loops: the event loops of each server.
    init(seed: UInt64, loops count: Int) {
      random = SplitMix(state: seed)
      loops = [Server(loops: count), Server(loops: count)].flatMap { server in
        (0..<count).map { Loop(server, $0) }
      }
    }

    var position: LogPosition { LogPosition(timeline: timeline, offset: log) }

    mutating func pick(_ count: Int) -> Int { Int(random.below(Int64(count))) }

    mutating func chance(_ percent: Int) -> Bool { pick(100) < percent }

    mutating func step() {
      now = now + .milliseconds(Int64(pick(20)))
      let loop = loops[pick(loops.count)]
      switch pick(100) {
      case 0...7: write(loop)
      case 8...29: beginRead(loop)
      case 30...49: endRead(loop)
      case 50...53: beginProbe(loop)
      case 54...61: endProbe(loop)
      case 62...63: askPrimary(loop)
      case 64...71: endPrimaryProbe(loop)
      case 72...85: endHold(loop)
      case 86...98: replay()
      default: disturb()
      }
    }

    /// A write is acknowledged once its position is known.
    mutating func write(_ loop: Loop) {
      let viewer = pick(3)
      log += UInt64(1 + pick(3))
      loop.server.positions.hold([.viewer(Int64(viewer))])
      loop.server.written[viewer] = log
      guard chance(80) else { return loop.server.positions.miss([.viewer(Int64(viewer))]) }
      loop.server.positions.release([.viewer(Int64(viewer))], at: position)
      carried[viewer] = position
    }

    mutating func beginRead(_ loop: Loop) {
      let viewer = pick(3)
      let client = PoolClient.viewer(Int64(viewer))
      if let position = carried[viewer] { loop.server.positions.note(position, of: client) }
      // Of what its server did not tell it, a client's other server knows nothing.
      let wrote = max(carried[viewer]?.offset ?? 0, loop.server.written[viewer])
      let read = Read(viewer: viewer, needed: max(wrote, loop.server.seen[viewer]))
      decide(read, loop, client)
    }

    mutating func decide(_ read: Read, _ loop: Loop, _ client: PoolClient, asked: Int = 0) {
      var read = read
      let decision = loop.server.states.decision(
        for: UInt64(read.viewer), loop.server.positions.need(of: client), by: loop.number
      ) { loop.valid[$0] == standbys[$0].interruptions }
      switch decision {
      case .replica(let index):
        // What it answers is as new as it is, or newer, when the answer is made.
        read.standby = index
        read.state = standbys[index].replayed
        read.interruptions = standbys[index].interruptions
        read.changes = loop.server.states.changes
        loop.reads.append(read)
      case .ask(let index) where asked < 2:
        probe(loop, index)
        while !loop.probes.isEmpty { endProbe(loop) }
        if chance(50) { replay() }
        decide(read, loop, client, asked: asked + 1)
      case .ask, .lagging, .unknown: readPrimary(read, loop)
      }
    }

    mutating func readPrimary(_ read: Read, _ loop: Loop) {
      readsByPrimary += 1
      loop.server.positions.hold([.viewer(Int64(read.viewer))])
      loop.holds.append((read.viewer, position))
      check(read, log, loop, "the primary")
    }

    mutating func endRead(_ loop: Loop) {
      guard !loop.reads.isEmpty else { return }
      let read = loop.reads.remove(at: pick(loop.reads.count))
      guard let index = read.standby else { return }
      // The answer of a connection that broke is none, and that of a replica that the client has
      // left may be newer than the other one's next; the primary is asked.
      guard standbys[index].interruptions == read.interruptions,
        loop.server.states.changes == read.changes
      else {
        return readPrimary(read, loop)
      }
      readsByReplicas += 1
      check(read, max(read.state, chance(50) ? standbys[index].replayed : 0), loop, "\(index)")
    }

    mutating func check(_ read: Read, _ state: UInt64, _ loop: Loop, _ place: String) {
      if state < read.needed {
        stale.append("viewer \(read.viewer) needs \(read.needed), \(place) answers as of \(state)")
      }
      loop.server.seen[read.viewer] = max(loop.server.seen[read.viewer], state)
    }

    mutating func endHold(_ loop: Loop) {
      for _ in 0..<min(1 + pick(4), loop.holds.count) {
        let hold = loop.holds.remove(at: pick(loop.holds.count))
        loop.server.positions.release([.viewer(Int64(hold.viewer))], at: hold.position)
      }
    }

    mutating func beginProbe(_ loop: Loop) { probe(loop, pick(2)) }

    mutating func probe(_ loop: Loop, _ index: Int) {
      let standby = standbys[index]
      let report = ReplicaStates.Report(
        isStandby: standby.isStandby,
        replayed: LogPosition(timeline: standby.timeline, offset: standby.replayed))
      loop.probes.append(
        Probe(
          standby: index, report: standby.isUp ? report : nil,
          interruptions: standby.interruptions))
    }

    mutating func endProbe(_ loop: Loop) {
      // A pool answers the questions to one replica in order.
      guard !loop.probes.isEmpty else { return }
      let probe = loop.probes.removeFirst()
      let isInterrupted = loop.valid[probe.standby] != probe.interruptions
      loop.valid[probe.standby] = probe.interruptions
      let before = loop.server.states.changes
      _ = loop.server.states.answered(
        probe.standby, probe.report, by: loop.number, isInterrupted: isInterrupted, at: now)
      if loop.server.states.changes != before { askPrimary(loop) }
    }

    mutating func askPrimary(_ loop: Loop) {
      loop.primaryProbes.append(
        (position, loop.server.states.changes, loop.server.positions.missed))
    }

    mutating func endPrimaryProbe(_ loop: Loop) {
      for probe in loop.primaryProbes {
        if let position = probe.position {
          loop.server.positions.reported(position, after: probe.missed)
        }
        loop.server.states.primaryAnswered(
          probe.position, seen: probe.position, after: probe.changes, at: now)
      }
      loop.primaryProbes = []
    }

    mutating func replay() {
      let index = pick(2)
      guard standbys[index].isUp, !standbys[index].isPaused else { return }
      let missing = log - min(standbys[index].replayed, log)
      standbys[index].replayed += chance(40) ? missing : UInt64(pick(Int(missing) + 1))
    }

    /// Pauses, crashes, and returns with less than it said.
    mutating func disturb() {
      let index = pick(2)
      switch pick(6) {
      case 0: standbys[index].isPaused = true
      case 1:
        standbys[index].isUp = false
        standbys[index].interruptions += 1
        standbys[index].replayed -= min(standbys[index].replayed, UInt64(pick(3)))
      default:
        standbys[index].isPaused = false
        standbys[index].isUp = true
      }
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>, [1, 2])
  func `each read contains what its viewer wrote and saw`(seed: UInt64, loops: Int) {
    var world = World(seed: seed, loops: loops)
    for _ in 0..<10_000 { world.step() }
    #expect(world.stale.prefix(3) == [])
    #expect(world.readsByReplicas > 150, "\(world.readsByReplicas)")
    #expect(world.readsByPrimary > 300, "\(world.readsByPrimary)")
  }
}
