import Postgres
import TestSupport
import Testing

@testable import DatabaseSetup

@Suite(.usesCluster) struct MigrationsTests {
  let configuration: PostgresConfiguration

  init() throws {
    configuration = try PostgresConfiguration(TestCluster.newDatabase())
  }

  let first = Migrations.File(name: "0001_a.sql", text: "CREATE TABLE a (id bigint);")
  let second = Migrations.File(
    name: "0002_b.sql", text: "INSERT INTO a VALUES (1); INSERT INTO a VALUES (2);")

  @Test func `files are applied in order and once`() throws {
    #expect(try Migrations(tables: [first]).apply(to: configuration).tables == 1)
    #expect(
      try Migrations(tables: [first, second]).plan(for: configuration).missing == ["0002_b.sql"])
    #expect(try Migrations(tables: [first, second]).apply(to: configuration).tables == 1)
    #expect(try Migrations(tables: [first, second]).apply(to: configuration).isEmpty)
    let session = try PostgresSession(configuration)
    #expect(try session.execute("SELECT count(*) FROM a") == [["2"]])
  }

  @Test func `a database keeps one secret for all its servers`() throws {
    #expect(try ServerSecret.read(from: PostgresSession(configuration)) == nil)
    try Migrations(tables: [first]).apply(to: configuration)
    let secret = try ServerSecret.read(from: PostgresSession(configuration))
    #expect(secret?.count == 32 && Set(secret ?? []).count > 8)
    try Migrations(tables: [first, second]).apply(to: configuration)
    #expect(try ServerSecret.read(from: PostgresSession(configuration)) == secret)
  }

  @Test func `a file that fails leaves nothing behind and is named with its place`() throws {
    let broken = Migrations.File(
      name: "0002_b.sql", text: "INSERT INTO a VALUES (1);\n  INSERT INTO nowhere VALUES (1);")
    let error = #expect(throws: SetupError.self) {
      try Migrations(tables: [first, broken]).apply(to: configuration)
    }
    #expect(error?.message.hasPrefix("0002_b.sql:2:15: ") == true, "\(error as Any)")
    let session = try PostgresSession(configuration)
    #expect(try session.execute("SELECT count(*) FROM a") == [["0"]])
    #expect(try session.execute("SELECT name FROM sociograph_migration") == [["0001_a.sql"]])
  }

  @Test func `a file that changed after it was applied is refused by name`() throws {
    try Migrations(tables: [first]).apply(to: configuration)
    let changed = try Migrations(
      tables: [Migrations.File(name: first.name, text: first.text + " -- more")])
    let error = #expect(throws: SetupError.self) { try changed.apply(to: configuration) }
    #expect(error?.message.contains("0001_a.sql was applied and has changed") == true)
    #expect(try changed.apply(to: configuration, allowChanged: true).isEmpty)
    #expect(try changed.apply(to: configuration).isEmpty)
  }

  @Test func `a file that is gone or comes too late is refused`() throws {
    try Migrations(tables: [second].map { .init(name: $0.name, text: "SELECT 1") })
      .apply(to: configuration)
    #expect(throws: SetupError.self) {
      try Migrations(tables: [first]).apply(to: configuration)
    }
    #expect(throws: SetupError.self) {
      try Migrations(tables: [first, .init(name: "0002_b.sql", text: "SELECT 1")])
        .apply(to: configuration)
    }
  }

  @Test(arguments: ["1_a.sql", "0001a.sql", "00011_a.sql", "abcd_a.sql", "0001_.sql"])
  func `a name that is not numbered is refused`(name: String) {
    #expect(throws: SetupError.self) {
      try Migrations(tables: [Migrations.File(name: name, text: "")])
    }
  }

  @Test func `two files of one number are refused`() {
    #expect(throws: SetupError.self) {
      try Migrations(tables: [
        Migrations.File(name: "0001_a.sql", text: ""),
        Migrations.File(name: "0001_b.sql", text: ""),
      ])
    }
  }

  @Test func `two that migrate at once do not get in each other's way`() async throws {
    let slow = Migrations.File(
      name: "0001_a.sql", text: "CREATE TABLE a (id bigint); SELECT pg_sleep(0.2);")
    let migrations = try Migrations(tables: [slow])
    let configuration = configuration
    async let one = Task.detached { try migrations.apply(to: configuration).tables }.value
    async let other = Task.detached { try migrations.apply(to: configuration).tables }.value
    #expect(try await one + other == 1)
  }

  @Test func `the graph's own files apply`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let count = try session.execute("SELECT count(*) > 5 FROM sociograph_migration")
    #expect(count == [["t"]])
  }
}
