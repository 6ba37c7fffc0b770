import EventLoops
import Testing

@testable import Postgres

/// A model of three viewers, two servers and two standbys, with every delay and order of steps at
/// random: each read contains what its viewer wrote, at whichever server, and saw before, at the same
/// server. The model has the decisions of `ReplicaStates` and `ReadPositions`, and nothing else.
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
    var states = ReplicaStates(count: 2, maximumLag: .seconds(4))
    let positions = ReadPositions()
    var valid = [-1, -1]
    var probes: [Probe] = []
    var primaryProbes: [(position: LogPosition?, changes: Int)] = []
    var reads: [Read] = []
    /// The viewers that wait for the primary's position, with what it was when it was asked.
    var holds: [(viewer: Int, position: LogPosition)] = []
    /// The latest position that each viewer saw here.
    var seen = [UInt64](repeating: 0, count: 3)
  }

  private struct World {
    var random: SplitMix
    var now = Moment.now
    var timeline: UInt32 = 1
    var log: UInt64 = 1
    var standbys = [Standby(), Standby()]
    let servers = [Server(), Server()]
    /// What each viewer wrote last, and the position its client carries.
    var written = [UInt64](repeating: 0, count: 3)
    var carried = [LogPosition?](repeating: nil, count: 3)
    var readsByReplicas = 0
    var readsByPrimary = 0
    var stale: [String] = []

    init(seed: UInt64) { random = SplitMix(state: seed) }

    var position: LogPosition { LogPosition(timeline: timeline, offset: log) }

    mutating func pick(_ count: Int) -> Int { Int(random.below(Int64(count))) }

    mutating func chance(_ percent: Int) -> Bool { pick(100) < percent }

    mutating func step() {
      now = now + .milliseconds(Int64(pick(20)))
      let server = servers[pick(2)]
      switch pick(100) {
      case 0...7: write(server)
      case 8...29: beginRead(server)
      case 30...49: endRead(server)
      case 50...53: beginProbe(server)
      case 54...61: endProbe(server)
      case 62...63: server.primaryProbes.append((position, server.states.changes))
      case 64...71: endPrimaryProbe(server)
      case 72...85: endHold(server)
      case 86...98: replay()
      default: disturb()
      }
    }

    /// A write is acknowledged once its position is known.
    mutating func write(_ server: Server) {
      let viewer = pick(3)
      log += UInt64(1 + pick(3))
      server.positions.hold([.viewer(Int64(viewer))])
      server.positions.release([.viewer(Int64(viewer))], at: position)
      written[viewer] = log
      carried[viewer] = position
    }

    mutating func beginRead(_ server: Server) {
      let viewer = pick(3)
      let client = PoolClient.viewer(Int64(viewer))
      if let position = carried[viewer] { server.positions.note(position, of: client) }
      let read = Read(viewer: viewer, needed: max(written[viewer], server.seen[viewer]))
      decide(read, server, client)
    }

    mutating func decide(_ read: Read, _ server: Server, _ client: PoolClient, asked: Int = 0) {
      var read = read
      let decision = server.states.decision(
        for: UInt64(read.viewer), server.positions.need(of: client)
      ) { server.valid[$0] == standbys[$0].interruptions }
      switch decision {
      case .replica(let index):
        // What it answers is as new as it is, or newer, when the answer is made.
        read.standby = index
        read.state = standbys[index].replayed
        read.interruptions = standbys[index].interruptions
        read.changes = server.states.changes
        server.reads.append(read)
      case .ask(let index) where asked < 2:
        probe(server, index)
        while !server.probes.isEmpty { endProbe(server) }
        if chance(50) { replay() }
        decide(read, server, client, asked: asked + 1)
      case .ask, .lagging, .unknown: readPrimary(read, server)
      }
    }

    mutating func readPrimary(_ read: Read, _ server: Server) {
      readsByPrimary += 1
      server.positions.hold([.viewer(Int64(read.viewer))])
      server.holds.append((read.viewer, position))
      check(read, log, server, "the primary")
    }

    mutating func endRead(_ server: Server) {
      guard !server.reads.isEmpty else { return }
      let read = server.reads.remove(at: pick(server.reads.count))
      guard let index = read.standby else { return }
      // The answer of a connection that broke is none, and that of a replica that the client has
      // left may be newer than the other one's next; the primary is asked.
      guard standbys[index].interruptions == read.interruptions,
        server.states.changes == read.changes
      else {
        return readPrimary(read, server)
      }
      readsByReplicas += 1
      check(read, max(read.state, chance(50) ? standbys[index].replayed : 0), server, "\(index)")
    }

    mutating func check(_ read: Read, _ state: UInt64, _ server: Server, _ place: String) {
      if state < read.needed {
        stale.append("viewer \(read.viewer) needs \(read.needed), \(place) answers as of \(state)")
      }
      server.seen[read.viewer] = max(server.seen[read.viewer], state)
    }

    mutating func endHold(_ server: Server) {
      for _ in 0..<min(1 + pick(4), server.holds.count) {
        let hold = server.holds.remove(at: pick(server.holds.count))
        server.positions.release([.viewer(Int64(hold.viewer))], at: hold.position)
      }
    }

    mutating func beginProbe(_ server: Server) { probe(server, pick(2)) }

    mutating func probe(_ server: Server, _ index: Int) {
      let standby = standbys[index]
      let report = ReplicaStates.Report(
        isStandby: standby.isStandby,
        replayed: LogPosition(timeline: standby.timeline, offset: standby.replayed))
      server.probes.append(
        Probe(
          standby: index, report: standby.isUp ? report : nil,
          interruptions: standby.interruptions))
    }

    mutating func endProbe(_ server: Server) {
      // A pool answers the questions to one replica in order.
      guard !server.probes.isEmpty else { return }
      let probe = server.probes.removeFirst()
      server.valid[probe.standby] = probe.interruptions
      if server.states.answered(probe.standby, probe.report, at: now) != nil {
        server.primaryProbes.append((position, server.states.changes))
      }
    }

    mutating func endPrimaryProbe(_ server: Server) {
      for probe in server.primaryProbes {
        server.states.primaryAnswered(
          probe.position, seen: probe.position, after: probe.changes, at: now)
      }
      server.primaryProbes = []
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

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `each read contains what its viewer wrote and saw`(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<10_000 { world.step() }
    #expect(world.stale.prefix(3) == [])
    #expect(world.readsByReplicas > 300, "\(world.readsByReplicas)")
    #expect(world.readsByPrimary > 300, "\(world.readsByPrimary)")
  }
}
