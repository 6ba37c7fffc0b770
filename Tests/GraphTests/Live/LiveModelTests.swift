import Foundation
import Glibc
import HTTPTestSupport
import JSON
import OracleSupport
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  /// Subscriptions and live queries with random writers, who wait, abort and overtake each other,
  /// while connections, servers and PostgreSQL end and restart. Each subscriber receives exactly
  /// the events of the naive model, and the last response of each live query is current.
  ///
  /// While there are writers, no one's access changes. That happens between phases, which end with
  /// a comment of the host on each subject. `script/live-model` has more phases and seeds.
  @Suite struct LiveModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let phases = environment["SOCIOGRAPH_LIVE_PHASES"].flatMap { Int($0) } ?? 4
    private static let seeds: ClosedRange<UInt64> = {
      let first = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
      let count = environment["SOCIOGRAPH_LIVE_SEEDS"].flatMap { UInt64($0) } ?? 1
      return first...(first + count - 1)
    }()

    /// A part that ends while there are writers, and restarts.
    private enum Outage: CaseIterable { case connections, server, database }

    @Test(arguments: seeds)
    func `who watches is told what the model says, once, and knows in the end what is so`(
      _ seed: UInt64
    ) throws {
      var run = try Run(seed)
      for phase in 0..<Self.phases {
        try run.change(isLast: phase == Self.phases - 1)
        try run.write(phase, Outage.allCases[phase % Outage.allCases.count])
      }
      try run.expectSilence()
      try run.end()
      try Self.expectFlat(run.servers.server.metric("process_resident_memory_bytes"))
    }

    /// Resident memory of servers and clients after each seed.
    private static let resident = Mutex<[Int]>([])

    /// Checks that, of many seeds (`script/live-model`), later ones take hardly more memory than
    /// earlier ones.
    private static func expectFlat(_ bytes: Int) {
      let all = resident.withLock { resident in
        resident.append(bytes)
        return resident
      }
      guard all.count == seeds.count, all.count >= 10 else { return }
      let (earlier, later) = (all.prefix(all.count / 2), all.suffix(all.count / 2))
      #expect((later.max() ?? 0) * 10 <= (earlier.max() ?? 0) * 11, "\(all)")
    }

    /// One seed's world, with who watches it.
    private struct Run {
      let seed: UInt64
      let servers: RestartedServer
      var random: SeededGenerator
      var world: LiveWorld
      var watchers: [LiveWatcher] = []
      var queries: [LiveAnswerCheck] = []

      init(_ seed: UInt64) throws {
        self.seed = seed
        servers = try RestartedServer()
        random = SeededGenerator(seed: seed)
        world = try LiveWorld(GraphData(servers.database))
        for _ in 0..<16 {
          var watcher = LiveWatcher(viewer(), Int.random(in: 0...LiveWorld.posts, using: &random))
          try watcher.open(servers.server, world)
          watchers.append(watcher)
        }
        for _ in 0..<10 { queries.append(try query()) }
        try servers.server.waitForHearing(watchers.count)
      }

      private mutating func viewer() -> Int? {
        let place = Int.random(in: 0...world.people.count, using: &random)
        return place == world.people.count ? nil : place
      }

      private mutating func query() throws -> LiveAnswerCheck {
        let viewer = viewer().map { world.people[$0] }
        let subject = world.subjects[Int.random(in: 0..<world.subjects.count, using: &random)]
        let (selection, id) =
          switch Int.random(in: 0..<(viewer == nil ? 2 : 4), using: &random) {
          case 0:
            (
              """
              node(id: $id) { ... on Post { reactionCount commentCount
                comments(first: 5) { nodes { body author { displayName } } } } }
              """, subject
            )
          case 1:
            ("node(id: $id) { ... on Post { body author { followers { totalCount } } } }", subject)
          case 2:
            (
              """
              node(id: $id) { id }
              viewer { unreadNotificationCount feed(first: 5) { nodes { id body commentCount } } }
              """, subject
            )
          default:
            ("circle(id: $id) { members(first: 5) { totalCount nodes { username } } }", world.group)
          }
        return try LiveAnswerCheck(
          selection, id, viewer, asPatches: Bool.random(using: &random), servers.server)
      }

      // MARK: A phase

      mutating func change(isLast: Bool) throws {
        let data = try GraphData(servers.database)
        if isLast {
          try world.open(data)
        } else {
          for _ in 0..<4 { try world.change(&random, data) }
        }
        // A client that comes back hears of what happens from then on.
        let place = Int.random(in: watchers.indices, using: &random)
        watchers[place].close()
        try servers.server.waitForHearing(watchers.count - 1)
        try watchers[place].open(servers.server, world)
        try servers.server.waitForHearing(watchers.count)
      }

      mutating func write(_ phase: Int, _ outage: Outage) throws {
        let end = "end \(phase)"
        let (written, streams) = try Phase(
          seed: seed, number: phase, outage: outage, servers: servers, world: world,
          watchers: watchers.count, end: end
        ).run()
        for stream in streams { stream.expect(written) }
        for place in watchers.indices {
          try watchers[place].expect(written, end, world, isCut: outage == .server)
        }
        if outage == .server {
          for place in watchers.indices {
            watchers[place].close()
            try watchers[place].open(servers.server, world)
          }
          for place in queries.indices { try queries[place].reopen(servers.server) }
          try servers.server.waitForHearing(watchers.count)
        }
        for place in queries.indices { try queries[place].awaitFresh(servers.server.graph) }
      }

      // MARK: The end

      /// Checks that the reader polls twice, and that no other statement runs.
      func expectSilence() throws {
        let data = try GraphData(servers.database)
        let names = [
          #"pool_statements_total{pool="reads"}"#, "live_query_executions_total",
          "subscription_events_sent_total",
        ]
        func counts() throws -> [Int] {
          try names.map { try servers.server.metric("sociograph_\($0)") }
        }
        func look() throws -> String? {
          try data.run(
            """
            SELECT max(query_start) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE '%news_since%'
              AND pid <> pg_backend_pid()
            """)[0][0]
        }
        // What is counted is folded into ranks a moment later, which is a change.
        for _ in 0..<60 {
          let before = try counts()
          #expect(before.allSatisfy { $0 > 0 })
          var looks: Set<String> = []
          try LiveModelTests.wait {
            if let look = try look() { looks.insert(look) }
            return looks.count == 3
          }
          if try counts() == before { return }
        }
        throw GraphTestFailure("statements are run although nothing happens: \(try counts())")
      }

      mutating func end() throws {
        for place in queries.indices { try queries[place].expectLast(servers.server.graph) }
        watchers = []
        for query in queries { query.complete() }
        try servers.server.wait("sociograph_live_queries", 0)
        queries = []
        for name in [
          "subscriptions", "subscriptions_starting", "subscription_keys", "live_query_dependencies",
          "monitored_sessions", "response_buffer_bytes",
        ] {
          try servers.server.wait("sociograph_\(name)", 0)
        }
      }
    }

    /// Seven writers, one more whose transaction is the first to begin and the last to end, streams
    /// that break and reconnect, and an outage.
    private final class Phase: Sendable {
      private let seed: UInt64
      private let number: Int
      private let outage: Outage
      private let servers: RestartedServer
      private let world: LiveWorld
      private let watchers: Int
      private let end: String
      private let writing = Atomic(host)
      private let streamsThatHear = Atomic(0)
      private let areHeard = Atomic(false)
      private let hasBegun = Atomic(false)

      private static let streams = 2
      /// Behind the writers.
      private static let host = 8

      init(
        seed: UInt64, number: Int, outage: Outage, servers: RestartedServer, world: LiveWorld,
        watchers: Int, end: String
      ) {
        self.seed = seed
        self.number = number
        self.outage = outage
        self.servers = servers
        self.world = world
        self.watchers = watchers
        self.end = end
      }

      /// - Returns: the committed events, and the streams with those that they received.
      func run() throws -> (written: [LiveNews], streams: [LiveStream]) {
        let results = try crowd(of: Self.host + 1 + Self.streams) {
          [self] place -> ([LiveNews], LiveStream?) in
          switch place {
          case ..<Self.host: (try write(place), nil)
          case Self.host: (try goAlong(), nil)
          default: ([], try listen(place))
          }
        }
        return (results.flatMap(\.0), results.compactMap(\.1))
      }

      private func write(_ place: Int) throws -> [LiveNews] {
        defer { writing.subtract(1, ordering: .sequentiallyConsistent) }
        var writer = try LiveWriter(place, world, servers.database, phase: number, seed: seed)
        try wait { areHeard.load(ordering: .sequentiallyConsistent) }
        if place == LiveWriter.longest {
          defer { hasBegun.store(true, ordering: .sequentiallyConsistent) }
          try writer.transaction {
            hasBegun.store(true, ordering: .sequentiallyConsistent)
            try wait { writing.load(ordering: .sequentiallyConsistent) == 1 }
          }
        } else {
          try wait { hasBegun.load(ordering: .sequentiallyConsistent) }
          for _ in 0..<6 { try writer.transaction() }
        }
        return writer.committed
      }

      /// The host begins, sees to the outage, and has the last word.
      private func goAlong() throws -> [LiveNews] {
        try servers.server.waitForHearing(watchers + Self.streams)
        // Streams that have heard of something know what to say when they come back.
        var written = try say("begin \(number)", on: [0])
        try wait { streamsThatHear.load(ordering: .sequentiallyConsistent) == Self.streams }
        areHeard.store(true, ordering: .sequentiallyConsistent)
        try wait { hasBegun.load(ordering: .sequentiallyConsistent) }
        switch outage {
        case .connections:
          for _ in 0..<3 {
            try servers.endConnections()
            usleep(50_000)
          }
        case .server: try servers.restartServer()
        case .database: try servers.restartDatabase()
        }
        try wait { writing.load(ordering: .sequentiallyConsistent) == 0 }
        written += try say(end, on: Array(world.subjects.indices) + [LiveWorld.posts])
        return written
      }

      private func say(_ text: String, on places: [Int]) throws -> [LiveNews] {
        let data = try GraphData(servers.database)
        for place in places {
          if place == LiveWorld.posts {
            _ = try data.post(.text, by: world.host, text)
          } else {
            _ = try data.comment(world.subjects[place], by: world.host, text)
          }
        }
        return places.map { LiveNews(place: $0, author: nil, body: text, writer: Self.host) }
      }

      private func listen(_ place: Int) throws -> LiveStream {
        var stream = LiveStream(place, seed: seed &+ UInt64(number))
        try stream.listen(servers, world.subjects[0], until: end) {
          streamsThatHear.add(1, ordering: .sequentiallyConsistent)
        }
        return stream
      }

      private func wait(_ isSo: () throws -> Bool) throws { try LiveModelTests.wait(isSo) }
    }

    private static func wait(_ isSo: () throws -> Bool) throws {
      for _ in 0..<60_000 {
        if try isSo() { return }
        usleep(2_000)
      }
      throw GraphTestFailure("nothing happened for two minutes")
    }
  }
}
