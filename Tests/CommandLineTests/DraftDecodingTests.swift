import Foundation
import HTTPTestSupport
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing

/// `serve --live decoding`: live queries over tables that know nothing of it.
@Suite(.usesCluster) struct DraftDecodingTests {
  private static let sql = """
    CREATE TABLE artist (artist_id serial PRIMARY KEY, name text NOT NULL, country text);
    CREATE TABLE album (
      album_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), artist_id int NOT NULL REFERENCES artist,
      title text NOT NULL, price numeric NOT NULL DEFAULT 1);
    CREATE TABLE tag ("Name" text PRIMARY KEY, note text);
    CREATE TABLE album_tag (
      album_id uuid REFERENCES album ON DELETE CASCADE, "Name" text REFERENCES tag,
      PRIMARY KEY (album_id, "Name"));
    CREATE TABLE person (person_id bigint PRIMARY KEY, boss_id bigint REFERENCES person, name text);
    CREATE TABLE sale (day date NOT NULL, sale_id int NOT NULL, artist_id int REFERENCES artist,
      amount int, PRIMARY KEY (day, sale_id)) PARTITION BY RANGE (day);
    CREATE TABLE sale_old PARTITION OF sale FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
    CREATE TABLE sale_new PARTITION OF sale FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
    CREATE VIEW cheap AS SELECT b.title, a.name FROM album b JOIN artist a USING (artist_id) WHERE b.price < 2;
    ALTER TABLE sale_new REPLICA IDENTITY FULL;
    INSERT INTO artist (name, country) SELECT 'artist ' || i, chr(65 + i % 3) FROM generate_series(1, 12) i;
    INSERT INTO album (album_id, artist_id, title)
      SELECT md5(i::text)::uuid, 1 + i % 12, 'album ' || i FROM generate_series(1, 40) i;
    INSERT INTO tag SELECT 'tag ' || i FROM generate_series(1, 5) i;
    INSERT INTO album_tag SELECT md5(i::text)::uuid, 'tag ' || (1 + i % 5) FROM generate_series(1, 40) i;
    INSERT INTO person SELECT i, nullif(i / 3, 0), 'person ' || i FROM generate_series(1, 20) i;
    INSERT INTO sale SELECT date '2025-12-25' + i % 14, i, 1 + i % 12, i FROM generate_series(1, 60) i;
    """

  /// The last results of live queries on one socket.
  private final class Listener: @unchecked Sendable {
    // @unchecked: the socket is read by one thread.
    private let socket: GraphQLSocket
    private let results = Mutex<[String: JSONValue]>([:])

    init(_ port: UInt16, _ queries: [String]) throws {
      socket = try GraphQLSocket(port: port)
      for (place, query) in queries.enumerated() {
        socket.subscribe("\(place)", "query @live \(query)")
      }
      let thread = Thread { [self] in
        while let message = socket.message() {
          guard case .string(let id)? = message["id"], let payload = message["payload"] else {
            continue
          }
          results.withLock { $0[id] = payload }
        }
      }
      thread.start()
    }

    func result(_ place: Int) -> JSONValue? { results.withLock { $0["\(place)"] } }
  }

  private struct Graph {
    let session: PostgresSession
    let server: DraftedServer
    let database: String

    init(_ serving: [String] = []) throws {
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      try session.execute(DraftDecodingTests.sql)
      server = try DraftedServer(
        database, ["--nodes", "--aggregates"], serving: ["--live", "decoding"] + serving)
    }

    func ask(_ query: String) throws -> JSONValue { try DraftComparison.send(query, server.port) }
  }

  /// Random queries of every kind of relation, filter and order.
  private static func query(_ number: Int, _ random: inout some RandomNumberGenerator) -> String {
    let artist = Int.random(in: 1...14, using: &random)
    switch number % 12 {
    case 0:
      return
        "{ artist(artistId: \(artist)) { name albums(first: 3) { totalCount nodes { title price } } } }"
    case 1:
      return
        "{ albums(first: 4, filter: {artistId: {eq: \(artist)}}) { totalCount nodes { title artist { name } } } }"
    case 2:
      return
        "{ artists(first: 3, orderBy: [{albums: {count: DESC}}]) { nodes { name albums { totalCount } } } }"
    case 3:
      return
        "{ albums(first: 5, orderBy: [{artist: {name: DESC}}, {title: ASC}]) { nodes { title artist { name } } } }"
    case 4:
      return
        "{ artists(filter: {albums: {some: {tags: {some: {name: {eq: \"tag \(artist % 5 + 1)\"}}}}}}) { totalCount } }"
    case 5:
      return
        "{ tag(name: \"tag \(artist % 5 + 1)\") { note albums(first: 3) { totalCount nodes { title } } } }"
    case 6:
      return
        "{ person(personId: \"\(artist)\") { name boss { name boss { name } } peopleByBoss(first: 2) { totalCount nodes { name } } } }"
    case 7:
      return
        "{ sales(first: 3, filter: {artistId: {eq: \(artist)}}) { totalCount nodes { day amount } aggregates { amount { sum } } } }"
    case 8: return "{ cheaps(limit: 5) { title name } }"
    case 9:
      return
        "{ people(filter: {boss: {name: {eq: \"person \(artist)\"}}}) { totalCount nodes { name } } }"
    case 10:
      return
        "{ artists(filter: {albums: {none: {price: {gt: \"1\"}}}}) { totalCount nodes { country sales(first: 1) { nodes { amount } } } } }"
    default:
      return
        "{ albums(first: 2, filter: {title: {startsWith: \"album \(artist)\"}}) { totalCount nodes { id title tags(first: 2) { nodes { name note } } } } }"
    }
  }

  private static func write(_ random: inout some RandomNumberGenerator) -> String {
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let album = "md5('\(number(1...44))')::uuid"
    switch number(0...17) {
    case 0:
      return
        "UPDATE artist SET name = 'artist ' || \(number(1...30)) WHERE artist_id = \(number(1...12))"
    case 1: return "UPDATE album SET artist_id = \(number(1...12)) WHERE album_id = \(album)"
    case 2: return "UPDATE album SET price = \(number(1...3)) WHERE album_id = \(album)"
    case 3:
      return "UPDATE album SET title = 'album ' || \(number(1...50)) WHERE album_id = \(album)"
    case 4:
      return
        "INSERT INTO album (album_id, artist_id, title) VALUES (\(album), \(number(1...12)), 'album new') ON CONFLICT DO NOTHING"
    case 5: return "DELETE FROM album WHERE album_id = \(album)"
    case 6:
      return
        "INSERT INTO album_tag SELECT album_id, 'tag \(number(1...5))' FROM album WHERE album_id = \(album) ON CONFLICT DO NOTHING"
    case 7:
      return
        #"DELETE FROM album_tag WHERE "Name" = 'tag \#(number(1...5))' AND album_id = \#(album)"#
    case 8:
      return #"UPDATE tag SET note = '\#(number(1...99))' WHERE "Name" = 'tag \#(number(1...5))'"#
    case 9:
      return "UPDATE person SET boss_id = \(number(1...20)) WHERE person_id = \(number(1...20))"
    case 10:
      return
        "UPDATE person SET name = 'person ' || \(number(1...20)) WHERE person_id = \(number(1...20))"
    case 11: return "UPDATE sale SET amount = amount + 1 WHERE sale_id = \(number(1...60))"
    case 12:
      return "UPDATE sale SET artist_id = \(number(1...12)) WHERE sale_id = \(number(1...60))"
    case 13:
      return
        "UPDATE sale SET day = day + 5 WHERE sale_id = \(number(1...60)) AND day < '2026-01-10'"
    case 14: return "DELETE FROM sale WHERE sale_id = \(number(1...60))"
    case 15:
      return
        "INSERT INTO sale VALUES ('2025-12-30', \(number(61...400)), \(number(1...12)), 1) ON CONFLICT DO NOTHING"
    case 16: return "BEGIN; UPDATE artist SET name = 'never'; ROLLBACK"
    default:
      return
        "BEGIN; UPDATE album SET title = title WHERE artist_id = \(number(1...12)); UPDATE artist SET country = '\(number(1...9))' WHERE artist_id = \(number(1...12)); COMMIT"
    }
  }

  @Test func `live queries over any table are those of a naive reader, at rest`() throws {
    let graph = try Graph()
    var random = SystemRandomNumberGenerator()
    let queries = (0..<24).map { Self.query($0, &random) }
    let listener = try Listener(graph.server.port, queries)
    // What is written is in the log at once.
    try graph.session.execute("SET synchronous_commit = on")
    // Few changes at a time: with many, one that is missed hides behind others.
    for _ in 0..<60 {
      var writes: [String] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        writes.append(Self.write(&random))
        try graph.session.execute(writes[writes.count - 1])
      }
      for (place, query) in queries.enumerated() {
        let expected = try graph.ask(query)
        try #require(
          eventually { listener.result(place) == expected },
          "\(query) after \(writes): \(listener.result(place) ?? .null), not \(expected)")
      }
    }
  }

  @Test func `a row that leaves a relation is noticed, also if no page has it`() throws {
    let graph = try Graph()
    try graph.session.execute(
      """
      SET synchronous_commit = on; UPDATE album SET artist_id = 1;
      UPDATE sale SET artist_id = 1; UPDATE person SET boss_id = 1 WHERE person_id > 1
      """)
    let query = """
      { artist(artistId: 1) { albums(first: 1) { totalCount } sales(first: 1) { totalCount } }
        person(personId: "1") { peopleByBoss(first: 1) { totalCount } } }
      """
    let listener = try Listener(graph.server.port, [query])
    for change in [
      "UPDATE album SET artist_id = 2 WHERE album_id = (SELECT album_id FROM album WHERE artist_id = 1 ORDER BY album_id DESC LIMIT 1)",
      "DELETE FROM album WHERE album_id = (SELECT album_id FROM album WHERE artist_id = 1 ORDER BY album_id DESC LIMIT 1)",
      "UPDATE sale SET artist_id = 2 WHERE sale_id = (SELECT max(sale_id) FROM sale WHERE artist_id = 1 AND day > '2026-01-02')",
      "DELETE FROM sale WHERE sale_id = (SELECT max(sale_id) FROM sale WHERE artist_id = 1 AND day > '2026-01-02')",
      "DELETE FROM sale WHERE sale_id = (SELECT max(sale_id) FROM sale WHERE artist_id = 1 AND day < '2026-01-01')",
      "UPDATE person SET boss_id = NULL WHERE person_id = 20",
      "DELETE FROM person WHERE person_id = 19",
    ] {
      let before = try graph.ask(query)
      #expect(eventually { listener.result(0) == before })
      try graph.session.execute(change)
      let after = try graph.ask(query)
      #expect(after != before, "\(change)")
      #expect(eventually { listener.result(0) == after }, "\(change)")
    }
  }

  @Test func `a table that is emptied, a lost connection and a large transaction are noticed`()
    throws
  {
    let graph = try Graph()
    let queries = [
      "{ tags(first: 9) { totalCount nodes { note } } }", "{ albumTags(first: 1) { totalCount } }",
    ]
    let listener = try Listener(graph.server.port, queries)
    func isCurrent() throws -> Bool {
      let expected = try queries.map { try graph.ask($0) }
      return eventually { queries.indices.allSatisfy { listener.result($0) == expected[$0] } }
    }
    #expect(try isCurrent())
    try graph.session.execute("TRUNCATE album_tag")
    #expect(try isCurrent())
    let end = """
      SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
      WHERE database = current_database() AND active_pid IS NOT NULL
      """
    #expect(try graph.session.execute(end) == [["t"]])
    try graph.session.execute("UPDATE tag SET note = 'lost'")
    #expect(try isCurrent())
    #expect(eventually { graph.server.errors.contains("the log cannot be read") })
    try graph.session.execute(
      """
      BEGIN; INSERT INTO album (artist_id, title) SELECT 1, 'a' FROM generate_series(1, 12000);
      INSERT INTO album_tag SELECT album_id, 'tag 1' FROM album; COMMIT
      """)
    #expect(try isCurrent())
  }

  @Test func `the slot is gone with the server, however that ends`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(Self.sql)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    _ = try ProgramRun.complete(["draft", path, "--database", database])
    let server = try ProgramRun([
      "serve", "--schema", path, "--database", database, "--live", "decoding",
    ])
    try #require(server.prints("Serving http://"), "\(server.errors)")
    let port = try #require(
      server.output.firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#).flatMap { UInt16($0.1) }
    )
    func slots() throws -> String? {
      try session.execute(
        "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()")[0][0]
    }
    #expect(try slots() == "0", "nobody listens")
    let listener = try Listener(port, ["{ tags(first: 1) { totalCount } }"])
    #expect(eventually { listener.result(0) != nil })
    #expect(try slots() == "1")
    server.signal(SIGKILL)
    _ = server.finish()
    #expect(try eventually { try slots() == "0" })
  }

  @Test func `a role that may not read the log is told what it needs`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try session.execute(
      """
      CREATE TABLE note (note_id int PRIMARY KEY); CREATE ROLE \(role) LOGIN;
      GRANT SELECT ON note TO \(role)
      """)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    _ = try ProgramRun.complete(["draft", path, "--database", database])
    let user = TestCluster.connectionString(database, as: role)
    let serve = ["serve", "--schema", path, "--database", user]
    let refused = try ProgramRun.complete(serve + ["--live", "decoding"])
    #expect(refused.status != 0)
    #expect(
      refused.errors.contains(
        "--live decoding: the role \(role) may not read the log: ALTER ROLE \(role) REPLICATION, or name "
          + "another one with --live-database."), "\(refused.errors)")
    let alone = try ProgramRun.complete(serve + ["--live-database", database])
    #expect(
      alone.errors.contains("--live-database needs --live decoding as well."), "\(alone.errors)")
    let server = try ProgramRun(serve + ["--live", "decoding", "--live-database", database])
    #expect(server.prints("Serving http://"), "\(server.errors)")
    server.signal(SIGINT)
    _ = server.finish()
  }
}
