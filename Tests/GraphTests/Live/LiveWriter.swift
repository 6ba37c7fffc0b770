import Glibc
import OracleSupport
import Postgres
import TestSupport

/// Writes in transactions that wait, are undone in part or as a whole, end in two phases, and overtake each other. One whose statement waits
/// too long for a lock of another, or that ends with its connection, is undone as well.
struct LiveWriter {
  /// The one whose transaction is the first to begin and the last to end.
  static let longest = 3
  let number: Int
  let world: LiveWorld
  private let phase: Int
  private let database: String
  private var data: GraphData
  private var random: SeededGenerator
  private(set) var committed: [LiveNews] = []
  private var count = 0
  /// The name of a transaction that is prepared and was not ended.
  private var prepared: String?

  init(_ number: Int, _ world: LiveWorld, _ database: String, phase: Int, seed: UInt64) throws {
    self.number = number
    self.world = world
    self.phase = phase
    self.database = database
    data = try Self.connect(database)
    random = SeededGenerator(seed: seed &* 1_000_000 &+ UInt64(phase * 1_000 + number))
  }

  private static func connect(_ database: String) throws -> GraphData {
    let data = try GraphData(database)
    // Whoever counts what the longest transaction counts, too, may have to wait for its end, and that one for theirs.
    try data.run("SET lock_timeout = '200ms'; SET idle_in_transaction_session_timeout = 0")
    return data
  }

  /// - Parameter meanwhile: done while the transaction is open.
  mutating func transaction(_ meanwhile: () throws -> Void = {}) throws {
    var made: [LiveNews] = []
    do {
      try data.run("BEGIN")
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try step(&made)
        try data.run("SELECT pg_sleep(0.02 * random() * random())")
      }
      try meanwhile()
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try data.run("ROLLBACK")
      case 1: try endPrepared(by: "ROLLBACK")
      case 2...3:
        try endPrepared(by: "COMMIT")
        committed += made
      default:
        try data.run("COMMIT")
        committed += made
      }
    } catch let error as PostgresError
      where [.lock, .retry, .unavailable, .lost].contains(error.kind)
    {
      try reconnect()
      try endLost()
      // It may have been committed just before the connection ended.
      committed += try made.filter { try isThere($0) }
    }
  }

  private mutating func endPrepared(by end: String) throws {
    let name = "phase \(phase) of \(number), \(count)"
    prepared = name
    try data.run("PREPARE TRANSACTION '\(name)'")
    try data.run("SELECT pg_sleep(0.05 * random())")
    try data.run("\(end) PREPARED '\(name)'")
    prepared = nil
  }

  /// Ends a lost connection; a prepared transaction survives it, and PostgreSQL.
  private mutating func endLost() throws {
    guard let name = prepared else { return }
    prepared = nil
    if try !data.run("SELECT FROM pg_prepared_xacts WHERE gid = $1", [name]).isEmpty {
      try data.run("COMMIT PREPARED '\(name)'")
    }
  }

  private mutating func step(_ made: inout [LiveNews]) throws {
    switch Int.random(in: 0..<(number == Self.longest ? 5 : 8), using: &random) {
    case 0...3: try comment("said", &made)
    case 4:
      try data.run("SAVEPOINT s")
      var undone: [LiveNews] = []
      try comment("taken back", &undone)
      try data.run("ROLLBACK TO s")
    case 5: try react()
    case 6: try follow()
    default:
      let news = next("posted", in: LiveWorld.posts)
      made.append(news)
      _ = try data.post(.text, by: world.people[news.author ?? 0], news.body)
    }
  }

  private mutating func next(_ text: String, in place: Int) -> LiveNews {
    count += 1
    return LiveNews(
      place: place, author: Int.random(in: 0..<world.people.count, using: &random),
      body: "\(text) \(phase) \(number) \(count)", writer: number)
  }

  private mutating func comment(_ text: String, _ made: inout [LiveNews]) throws {
    let isLongest = number == Self.longest
    let news = next(
      text, in: isLongest ? LiveWorld.quiet : Int.random(in: 0..<LiveWorld.quiet, using: &random))
    made.append(news)
    _ = try data.comment(
      world.subjects[news.place], by: world.people[news.author ?? 0], news.body)
  }

  /// The person whose reactions and follows only this writer changes, so that it waits for no
  /// other.
  private var person: Person { world.people[number % world.people.count] }

  private mutating func react() throws {
    let subject = world.subjects[Int.random(in: 0..<2, using: &random)]
    try data.run(
      Bool.random(using: &random)
        ? """
        INSERT INTO reaction (subject_id, user_id, kind) VALUES (\(subject), \(person), 'HEART')
        ON CONFLICT DO NOTHING
        """ : "DELETE FROM reaction WHERE subject_id = \(subject) AND user_id = \(person)")
  }

  private mutating func follow() throws {
    try data.run(
      Bool.random(using: &random)
        ? """
        INSERT INTO follow (follower_id, followee_id) VALUES (\(person), \(world.host))
        ON CONFLICT DO NOTHING
        """ : "DELETE FROM follow WHERE follower_id = \(person) AND followee_id = \(world.host)")
  }

  // MARK: After an end

  private mutating func reconnect() throws {
    for _ in 0..<12_000 {
      do {
        data = try Self.connect(database)
        return
      } catch let error as PostgresError where error.kind == .unavailable {
        usleep(10_000)
      }
    }
    throw GraphTestFailure("PostgreSQL does not come back")
  }

  private func isThere(_ news: LiveNews) throws -> Bool {
    let rows = try data.run(
      news.place == LiveWorld.posts
        ? "SELECT FROM post WHERE author_id = \(world.people[news.author ?? 0]) AND body = $1"
        : "SELECT FROM comment WHERE subject_id = \(world.subjects[news.place]) AND body = $1",
      [news.body])
    return !rows.isEmpty
  }
}
