import EventLoops
import Foundation
import Testing

@testable import Subscriptions

struct AnswerCacheTests {
  /// A cache that expectations can ask.
  private final class Cache {
    var value: AnswerCache<Int, Int>

    init(maximumBytes: Int) { value = AnswerCache(maximumBytes: maximumBytes) }

    var bytes: Int { value.bytes }
    var count: Int { value.count }

    func joined(at now: Moment) { value.joined(at: now) }
    func receive(_ batch: EventBatch, at now: Moment) { value.receive(batch, at: now) }
    func begin() -> AnswerCache<Int, Int>.Position { value.begin() }
    func answer(_ key: Int, after writes: UInt64, at now: Moment) -> Int? {
      value.answer(key, after: writes, at: now)
    }
    func end(
      _ position: AnswerCache<Int, Int>.Position, keeping answer: Int, for key: Int, bytes: Int,
      dependencies: Set<Dependency>
    ) {
      value.end(
        position, keeping: answer, for: key, bytes: bytes, dependencies: dependencies)
    }
  }

  private static let start = Moment.now
  private var now: Moment { Self.start }

  private func batch(
    _ keys: [Int64] = [], hasGap: Bool = false, writes: UInt64 = 0, connection: Int = 1
  ) throws -> EventBatch {
    var batch = EventBatch(
      events: keys.map {
        CommittedEvent(topic: .init(name: "t", key: $0), node: $0 << 8 | 7, transaction: 1)
      }, snapshot: try #require(PostgresSnapshot("5:5:")), hasGap: hasGap)
    (batch.writes, batch.connection) = (writes, connection)
    return batch
  }

  /// A cache that is up to date, with an answer that depends on key 1.
  private func cache() throws -> Cache {
    let cache = Cache(maximumBytes: 100_000)
    cache.joined(at: now)
    cache.receive(try batch(), at: now)
    keep(cache, 1, [.key(topic: "t", 1)])
    return cache
  }

  private func keep(_ cache: Cache, _ key: Int, _ dependencies: Set<Dependency>) {
    let position = cache.begin()
    cache.end(position, keeping: key * 10, for: key, bytes: 100, dependencies: dependencies)
  }

  @Test func `an answer is known until a dependency is touched`() throws {
    for dependency: Dependency in [
      .key(topic: "t", 1), .node(topic: "t", 1 << 8 | 7), .tag(topic: "t", 7), .all(topic: "t"),
    ] {
      let cache = try self.cache()
      keep(cache, 2, [dependency])
      cache.receive(try batch([9].filter { _ in dependency == .key(topic: "t", 1) }), at: now)
      #expect(cache.answer(2, after: 0, at: now) == 20 && cache.answer(3, after: 0, at: now) == nil)
      cache.receive(try batch([1]), at: now)
      #expect(cache.answer(2, after: 0, at: now) == nil && cache.count == 0 && cache.bytes == 0)
    }
  }

  @Test func `what is touched while its statement runs is not kept`() throws {
    let cache = try self.cache()
    let position = cache.begin()
    cache.receive(try batch([5]), at: now)
    let later = cache.begin()
    cache.receive(try batch([6]), at: now)
    cache.end(position, keeping: 1, for: 5, bytes: 1, dependencies: [.key(topic: "t", 5)])
    cache.end(later, keeping: 2, for: 6, bytes: 1, dependencies: [.key(topic: "t", 5)])
    #expect(cache.answer(5, after: 0, at: now) == nil && cache.answer(6, after: 0, at: now) == 2)
    let last = cache.begin()
    cache.receive(try batch(hasGap: true), at: now)
    cache.end(last, keeping: 3, for: 7, bytes: 1, dependencies: [.key(topic: "t", 7)])
    #expect(cache.count == 0)
  }

  @Test func `a gap, a crash and another connection forget everything`() throws {
    var crashed = try batch()
    crashed.crash = CrashRecovery(statisticsResetAt: nil, firstLost: 1)
    for batch in [try batch(hasGap: true), crashed, try batch(connection: 2)] {
      let cache = try self.cache()
      cache.receive(batch, at: now)
      #expect(cache.answer(1, after: 0, at: now) == nil)
    }
  }

  @Test func `nothing is answered before the reader is joined, nor long after it was heard of`()
    throws
  {
    let early = Cache(maximumBytes: 100_000)
    keep(early, 1, [])
    early.receive(try batch(), at: now)
    #expect(early.answer(1, after: 0, at: now) == nil)
    let cache = try self.cache()
    #expect(cache.answer(1, after: 0, at: now + .seconds(3)) == 10)
    #expect(cache.answer(1, after: 0, at: now + .seconds(4)) == nil)
    cache.receive(try batch(), at: now + .seconds(4))
    #expect(cache.answer(1, after: 0, at: now + .seconds(5)) == 10)
  }

  @Test func `who wrote waits for the poll that began later`() throws {
    let cache = try self.cache()
    #expect(cache.answer(1, after: 1, at: now) == nil && cache.answer(1, after: 0, at: now) == 10)
    cache.receive(try batch(writes: 1), at: now)
    #expect(cache.answer(1, after: 1, at: now) == 10 && cache.answer(1, after: 2, at: now) == nil)
  }

  @Test func `the least recently used go first, and nothing takes an eighth`() throws {
    let cache = Cache(maximumBytes: 64_000)
    cache.joined(at: now)
    for key in 0..<1_000 {
      keep(cache, key, [.key(topic: "t", Int64(key))])
      #expect(cache.bytes <= 64_000)
      #expect(cache.answer(key, after: 0, at: now) == key * 10)
      if key > 0 { #expect(cache.answer(1, after: 0, at: now) == 10, "\(key)") }
    }
    let position = cache.begin()
    cache.end(position, keeping: 1, for: 2_000, bytes: 9_000, dependencies: [])
    #expect(cache.answer(2_000, after: 0, at: now) == nil)
  }
}

/// A database of counters, clients that add to them and read them, and one loop's cache.
///
/// Commits, polls, statements and their results happen in any order that PostgreSQL and the loop
/// allow. An answer from the cache must contain each write of its client that was acknowledged, and
/// whatever the loop was told.
@Suite struct AnswerCacheModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let steps = environment["SOCIOGRAPH_STEPS"].flatMap { Int($0) } ?? 100_000
  private static let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1

  private struct World {
    static let counters = 6
    static let clients = 5

    struct Answer {
      /// The counters that the query reads, and their values.
      let counters: [Int]
      let values: [Int]
    }

    struct Reading {
      let query: Int
      let position: AnswerCache<Int, Answer>.Position
      /// Nil until its snapshot is taken.
      var answer: Answer?
    }

    var generator: SplitMix
    var cache = AnswerCache<Int, Answer>(maximumBytes: 40_000)
    var now = Moment.now
    var values = [Int](repeating: 0, count: counters)
    var commits: [Int] = []
    /// Commits that are not acknowledged: client and counter.
    var unacknowledged: [(client: Int, counter: Int, value: Int)] = []
    var writes: UInt64 = 0
    var positions = [UInt64](repeating: 0, count: clients)
    /// What each client knows it wrote.
    var known = [[Int]](
      repeating: [Int](repeating: 0, count: counters), count: clients)
    /// The poll in progress: the writes when it began, and the number of commits in its snapshot.
    var poll: (writes: UInt64, snapshot: Int?)?
    var read = 0
    /// Batches on their way to the loop, and the values that the loop was told of.
    var sent: [(batch: EventBatch, values: [Int])] = []
    var told = [Int](repeating: 0, count: counters)
    var connection = 1
    var readings: [Reading] = []
    var hits = 0
    var failure: String?

    init(seed: UInt64) { generator = SplitMix(state: seed) }

    mutating func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    /// The counters of a query: one, two, or a whole topic's.
    static func counters(of query: Int) -> [Int] {
      query < counters
        ? [query]
        : query < 2 * counters ? [query - counters, (query + 1) % counters] : Array(0..<counters)
    }

    static func dependencies(of query: Int) -> Set<Dependency> {
      query < 2 * counters
        ? Set(counters(of: query).map { .key(topic: "c", Int64($0)) }) : [.all(topic: "c")]
    }

    mutating func step() {
      now = now + .milliseconds(random(20))
      switch random(100) {
      case 0..<3: commit()
      case 3..<9: acknowledge()
      case 9..<17: if poll == nil { poll = (writes, nil) }
      case 17..<25: snapshot()
      case 25..<33: endPoll()
      case 33..<41: deliver()
      case 41..<58: look()
      case 58..<76: takeSnapshot()
      case 76..<99: endReading()
      default: disturb()
      }
    }

    mutating func commit() {
      let (client, counter) = (random(Self.clients), random(Self.counters))
      values[counter] += 1
      commits.append(counter)
      unacknowledged.append((client, counter, values[counter]))
    }

    mutating func acknowledge() {
      guard !unacknowledged.isEmpty else { return }
      let write = unacknowledged.remove(at: random(unacknowledged.count))
      writes += 1
      positions[write.client] = writes
      known[write.client][write.counter] = max(known[write.client][write.counter], write.value)
    }

    mutating func snapshot() {
      if poll?.snapshot == nil, poll != nil { poll?.snapshot = commits.count }
    }

    mutating func endPoll() {
      guard let found = poll, let snapshot = found.snapshot,
        let position = PostgresSnapshot("\(snapshot + 1):\(snapshot + 1):")
      else { return }
      poll = nil
      let events = commits[read..<snapshot].map {
        CommittedEvent(
          topic: .init(name: "c", key: Int64($0)), node: Int64($0) << 8, transaction: 1)
      }
      var values = [Int](repeating: 0, count: Self.counters)
      for counter in commits[..<snapshot] { values[counter] += 1 }
      read = snapshot
      var batch = EventBatch(events: events, snapshot: position)
      (batch.writes, batch.connection) = (found.writes, connection)
      sent.append((batch, values))
    }

    mutating func deliver() {
      guard !sent.isEmpty else { return }
      let (batch, values) = sent.removeFirst()
      told = values
      cache.receive(batch, at: now)
    }

    mutating func look() {
      let (client, query) = (random(Self.clients), random(2 * Self.counters + 2))
      guard let answer = cache.answer(query, after: positions[client], at: now) else {
        readings.append(Reading(query: query, position: cache.begin()))
        return
      }
      hits += 1
      for (counter, value) in zip(answer.counters, answer.values) {
        if value < told[counter] {
          failure = "counter \(counter) is \(value), told was \(told[counter])"
        }
        if value < known[client][counter] {
          failure = "counter \(counter) is \(value), its client wrote \(known[client][counter])"
        }
      }
    }

    mutating func takeSnapshot() {
      guard let place = readings.indices.first(where: { readings[$0].answer == nil }) else {
        return
      }
      let counters = Self.counters(of: readings[place].query)
      readings[place].answer = Answer(counters: counters, values: counters.map { values[$0] })
    }

    mutating func endReading() {
      guard !readings.isEmpty else { return }
      let reading = readings.remove(at: random(readings.count))
      guard let answer = reading.answer, random(20) > 0 else { return cache.end(reading.position) }
      cache.end(
        reading.position, keeping: answer, for: reading.query, bytes: 100,
        dependencies: Self.dependencies(of: reading.query))
    }

    /// The reader is away for long, has lost events, or has connected again.
    mutating func disturb() {
      switch random(8) {
      case 0: now = now + .seconds(5)
      case 1:
        poll = nil
        connection += 1
      case 2:
        guard let position = PostgresSnapshot("\(commits.count + 1):\(commits.count + 1):") else {
          return
        }
        poll = nil
        read = commits.count
        var batch = EventBatch(events: [], snapshot: position, hasGap: true)
        (batch.writes, batch.connection) = (writes, connection)
        sent.append((batch, values))
      default: break
      }
    }
  }

  struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  @Test func `no answer from the cache is older than it may be`() {
    var hits = 0
    for number in 0..<UInt64(max(Self.steps / 2_000, 1)) {
      var world = World(seed: Self.seed &* 1_000_003 &+ number)
      world.cache.joined(at: world.now)
      for _ in 0..<2_000 {
        world.step()
        if let failure = world.failure {
          Issue.record("seed \(Self.seed), world \(number): \(failure)")
          return
        }
      }
      hits += world.hits
    }
    #expect(hits > Self.steps / 40, "Hardly anything was known: \(hits).")
  }
}
