import Foundation
import Pictures
import Postgres
import TestSupport
import Testing

@testable import DatabaseSetup

@Suite(.usesCluster) struct SeederTests {
  let configuration: PostgresConfiguration

  init() throws {
    configuration = try PostgresConfiguration(TestCluster.newDatabase())
    try PostgresSession(configuration).execute(
      """
      CREATE TABLE person (id bigint PRIMARY KEY, name text NOT NULL, score smallint, seen timestamptz);
      CREATE TABLE follow (a bigint REFERENCES person, b bigint REFERENCES person);
      """)
  }

  func seeder(_ steps: String, scale: Int = 2) throws -> Seeder {
    let text = "-- empty: SELECT NOT EXISTS (SELECT FROM person)\n" + steps
    return Seeder(
      scripts: [try DemoScript(name: "demo.sql", text: text, scale: scale, seed: 1)])
  }

  let people = """
    -- step: people; table: person(id, name, score, seen); rows: :scale * 1000
    SELECT n, 'p' || n, nullif(n % 3, 0), timestamptz '2026-01-01 00:00Z' + n * interval '1 s'
    FROM generate_series(1, :scale * 1000) AS n;

    """

  let follows = """
    -- step: follows; table: follow(a, b); rows: (SELECT count(*) FROM person)
    SELECT id, 1 + id % 10 FROM person;
    -- step: counters; run
    UPDATE person SET score = 9 WHERE id = 1;
    -- step: start; print
    SELECT id, name, score FROM person ORDER BY id LIMIT 2;

    """

  @Test func `steps are loaded in order, their types fitted, and rows to start from returned`()
    throws
  {
    var events: [String] = []
    let printed = try seeder(people + follows).run(configuration) { event in
      if case .finished(let label, let rows, _) = event { events.append("\(label) \(rows)") }
      if case .done(let rows, _) = event { events.append("all \(rows)") }
    }
    #expect(events == ["people 2000", "follows 2000", "counters 0", "start 0", "all 4000"])
    #expect(
      printed == [
        SeedTable(
          title: "start", columns: ["id", "name", "score"],
          rows: [["1", "p1", "9"], ["2", "p2", "2"]])
      ])
    #expect(printed[0].description == "id  name  score\n1   p1    9\n2   p2    2")
    let session = try PostgresSession(configuration)
    #expect(
      try session.execute(
        "SELECT count(*), count(score), min(seen) AT TIME ZONE 'UTC' FROM person")
        == [["2000", "1334", "2026-01-01 00:00:01"]])
    #expect(try session.execute("SELECT count(*) FROM follow") == [["2000"]])
  }

  @Test func `a graph that is not empty is left alone`() throws {
    try PostgresSession(configuration).execute("INSERT INTO person VALUES (1, 'kept')")
    let seeder = try self.seeder(people)
    #expect(try !seeder.isEmpty(configuration))
    #expect(throws: SetupError.self) { try seeder.run(configuration) { _ in } }
    #expect(try PostgresSession(configuration).execute("SELECT name FROM person") == [["kept"]])
  }

  @Test func `loading that was broken off is started over`() throws {
    // Nothing of the steps names this table, and no constraint.
    try PostgresSession(configuration).execute(
      """
      CREATE TABLE person_rank (person_id bigint PRIMARY KEY);
      CREATE FUNCTION add_rank() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO person_rank VALUES (NEW.id); RETURN NULL; END $$;
      CREATE TRIGGER rank AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION add_rank();
      CREATE TABLE kept (id int);
      INSERT INTO kept VALUES (1)
      """)
    let broken =
      "-- step: broken; table: follow(a, b)\nSELECT 1, 1/(n-5) FROM generate_series(1, 9) n;"
    let error = #expect(throws: SetupError.self) {
      try self.seeder(people + broken).run(configuration) { _ in }
    }
    #expect(
      error?.message.contains("demo.sql:6: step \"broken\": division by zero") == true,
      "\(error as Any)")
    let seeder = try self.seeder(people + follows)
    #expect(try seeder.isEmpty(configuration))
    var startedOver = false
    _ = try seeder.run(configuration) { event in
      if case .startingOver = event { startedOver = true }
    }
    #expect(startedOver)
    #expect(try !seeder.isEmpty(configuration))
    #expect(
      try PostgresSession(configuration).execute(
        "SELECT (SELECT count(*) FROM person_rank), (SELECT count(*) FROM kept)") == [
          ["2000", "1"]
        ])
  }

  @Test func `a row the table refuses is told in the server's words`() throws {
    let wrong = "-- step: wrong; table: follow(a, b); rows: 1\nSELECT 1, 2;"
    let error = #expect(throws: SetupError.self) {
      try seeder(wrong).run(configuration) { _ in }
    }
    #expect(error?.message.contains("follow_a_fkey") == true, "\(error as Any)")
    let missing = "-- step: wrong; table: follow(a, c)\nSELECT 1, 2;"
    let other = #expect(throws: SetupError.self) {
      try seeder(missing).run(configuration) { _ in }
    }
    #expect(other?.message.contains("has no column c") == true)
  }

  @Test func `pictures go into the store, and the steps are told of them`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/photos", withIntermediateDirectories: true)
    for name in ["README.md", "person-1.png", "post-hills.png"] {
      try FileManager.default.copyItem(
        atPath: "\(DemoDataTests.folder)/photos/\(name)", toPath: "\(folder.path)/photos/\(name)")
    }
    _ = try folder.write(
      "demo.sql",
      """
      -- empty: SELECT NOT EXISTS (SELECT FROM person)
      -- step: people; table: person(id, name)
      SELECT n, concat_ws(' ', name, width, height, file)
      FROM ROWS FROM (jsonb_to_recordset(current_setting('sociograph.demo_pictures')::jsonb)
        AS (name text, file text, width int, height int))
        WITH ORDINALITY AS p(name, file, width, height, n);
      """)
    let store = try PictureFolder(folder.path + "/store")
    _ = try Seeder.read(folder.path, scale: 1, seed: 1)
      .run(configuration, keepingPicturesIn: store) { _ in }
    let told = try PostgresSession(configuration).execute("SELECT name FROM person ORDER BY id")
      .map { ($0[0] ?? "").split(separator: " ") }
    #expect(
      told.map { $0[..<3].joined(separator: " ") } == ["person-1 256 256", "post-hills 640 480"])
    let files = ["person-1.png", "post-hills.png"].map {
      FileManager.default.contents(atPath: "\(folder.path)/photos/\($0)").map { [UInt8]($0) }
    }
    for (name, bytes) in zip(told.map { $0[3] }, files) {
      let name = try #require(PictureName(name))
      #expect(try store.bytes(of: name, in: 0..<(1 << 20)) == bytes)
    }

    _ = try folder.write("photos/person-2.png", "no picture")
    let error = #expect(throws: SetupError.self) {
      try Seeder.read(folder.path, scale: 1, seed: 1)
    }
    #expect(error?.message == "The file \(folder.path)/photos/person-2.png is not a picture.")
  }

  @Test func `progress is drawn as a bar on a terminal and as lines elsewhere`() {
    var terminal = SeedProgress(isTerminal: true)
    _ = terminal.text(for: .began(label: "follows", number: 2, of: 3))
    #expect(
      terminal.text(
        for: .progressed(
          rows: 500_000, stepRows: 1, expected: 1_000_000, elapsed: .seconds(2)))
        == "\r\u{1b}[K[############------------]  50 %  500,000 rows  250,000/s  2 s left  follows")
    var lines = SeedProgress(isTerminal: false)
    _ = lines.text(for: .began(label: "follows", number: 2, of: 3))
    #expect(
      lines.text(
        for: .progressed(rows: 1, stepRows: 1, expected: 1, elapsed: .seconds(2))) == "")
    #expect(
      lines.text(for: .finished(label: "follows", rows: 1234, took: .milliseconds(1500)))
        == "[2/3] follows: 1,234 rows in 1.5 s\n")
  }
}

@Suite(.usesCluster) struct DemoDataTests {
  static let folder = TestCluster.packageFolder + "/sql/demo"

  @Test(.enabled(if: FileSystem.exists(folder), "the folder sql/demo is not there"))
  func `the graph's own demo data loads`() throws {
    let configuration = try PostgresConfiguration(TestCluster.newDatabase(migrated: true))
    let seeder = try Seeder.read(Self.folder, scale: 1, seed: 1)
    let printed = try seeder.run(configuration) { _ in }
    #expect(printed.contains { !$0.rows.isEmpty })
    #expect(try !seeder.isEmpty(configuration))
  }
}
