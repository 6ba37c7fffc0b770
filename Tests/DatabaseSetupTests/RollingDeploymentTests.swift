import Postgres
import TestSupport
import Testing

@testable import DatabaseSetup

/// Programs of two versions over one database, in whichever order they come and go.
@Suite(.usesCluster) struct RollingDeploymentTests {
  let configuration: PostgresConfiguration
  let session: PostgresSession

  init() throws {
    configuration = try PostgresConfiguration(TestCluster.newDatabase())
    session = try PostgresSession(configuration)
  }

  func program(_ version: Int, breaking: String? = nil) throws -> Migrations {
    let tables = (1...version).map { number in
      Migrations.File(
        name: "000\(number)_t.sql",
        text: (number == version ? breaking.map { "-- breaking: \($0)\n" } ?? "" : "")
          + "CREATE TABLE t\(number) (id bigint);")
    }
    let text =
      "CREATE OR REPLACE FUNCTION version() RETURNS int LANGUAGE sql AS 'SELECT \(version)';"
    return try Migrations(tables: tables, functions: [.init(name: "version.sql", text: text)])
  }

  var version: String? {
    get throws { try session.execute("SELECT public.version()").first?.first ?? nil }
  }

  @Test func `an older program serves a later database, and leaves it as it is`() throws {
    try program(1).apply(to: configuration)
    try program(3).apply(to: configuration)
    let plan = try program(1).plan(for: configuration)
    #expect(plan.later == ["0002_t.sql", "0003_t.sql"] && plan.functions == .older)
    #expect(!plan.isPending)
    #expect(
      plan.remark?.contains("ahead of this program, by 2 migrations up to 0003_t.sql") == true)
    #expect(try program(1).apply(to: configuration, putBack: true).isEmpty)
    #expect(try version == "3")
  }

  @Test func `one that a migration breaks does not go on, and says why`() throws {
    try program(1).apply(to: configuration)
    try program(2, breaking: "t1 has new ids.").apply(to: configuration)
    let error = #expect(throws: SetupError.self) { try program(1).plan(for: configuration) }
    #expect(
      error?.message.contains(
        "0002_t.sql, which this program does not know and cannot go on with: t1 has new ids.")
        == true, "\(error as Any)")
    #expect(throws: SetupError.self) { try program(1).apply(to: configuration) }
    #expect(try !program(2, breaking: "t1 has new ids.").plan(for: configuration).isPending)
  }

  @Test func `functions of an older program come back only when asked for`() throws {
    let tables = try program(1).tables
    func saying(_ text: String) throws -> Migrations {
      try Migrations(
        tables: tables,
        functions: [
          Migrations.File(
            name: "version.sql",
            text: "CREATE OR REPLACE FUNCTION version() RETURNS int LANGUAGE sql AS '\(text)';")
        ])
    }
    try saying("SELECT 1").apply(to: configuration)
    try saying("SELECT 2").apply(to: configuration)
    let older = try saying("SELECT 1")
    #expect(try older.plan(for: configuration).functions == .older)
    #expect(try older.plan(for: configuration).remark?.contains("`sociograph migrate`") == true)
    #expect(try older.apply(to: configuration).isEmpty)
    #expect(try version == "2")
    #expect(
      try older.plan(for: configuration, putBack: true).functions == .changed(["version.sql"]))
    #expect(try older.apply(to: configuration, putBack: true).functions)
    #expect(try version == "1")
    // The later program finds its own replaced.
    #expect(try saying("SELECT 2").plan(for: configuration).functions == .older)
  }

  @Test func `a database that was put back is brought to the program again`() throws {
    try program(1).apply(to: configuration)
    let former = try session.execute("SELECT current_database()")[0][0] ?? ""
    let copy = "\(former)_copy"
    let administrator = try TestCluster.session(TestCluster.connectionString())
    try administrator.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(former)'")
    try administrator.execute("CREATE DATABASE \(copy) TEMPLATE \(former)")
    try program(3).apply(to: configuration)
    let restored = try PostgresConfiguration(TestCluster.connectionString(database: copy))
    #expect(try program(3).plan(for: restored).missing == ["0002_t.sql", "0003_t.sql"])
    #expect(try program(3).apply(to: restored).tables == 2)
    #expect(
      try PostgresSession(restored).execute("SELECT public.version()") == [["3"]])
  }

  @Test func `the last tables and the functions that need them come at once or not at all`() throws
  {
    try program(1).apply(to: configuration)
    var next = try program(2)
    next = try Migrations(
      tables: next.tables,
      functions: [
        .init(name: "version.sql", text: "CREATE FUNCTION version() RETURNS nothing AS 'SELECT 1'")
      ])
    #expect(throws: SetupError.self) { try next.apply(to: configuration) }
    #expect(try session.execute("SELECT to_regclass('t2')") == [[nil]])
    #expect(try version == "1")
    #expect(try program(2).apply(to: configuration).tables == 1)
  }

  @Test func `a role that may not apply what is missing says what, and what to run`() throws {
    try program(1).apply(to: configuration)
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try session.execute("CREATE ROLE \(role) LOGIN")
    try ServerRole.allow(role, in: configuration)
    var reader = configuration
    reader.connectionString = configuration.connectionString
      .replacing(/user=[^ ]+/, with: "user=\(role)")
    #expect(try !program(1).plan(for: reader).isPending)
    let error = #expect(throws: SetupError.self) { try program(2).apply(to: reader) }
    let message = error?.message ?? ""
    #expect(
      message.hasPrefix(
        "The database lacks tables/0002_t.sql, functions/version.sql, and the role \"\(role)\""),
      "\(message)")
    #expect(message.contains("Run `sociograph migrate --database URL`"))
  }

  @Test
  func `what is made goes into the first namespace, beside another graph in the same database`()
    throws
  {
    var (one, other) = (configuration, configuration)
    one.namespaces = ["one \"graph\"", "public"]
    other.namespaces = ["other"]
    try program(2).apply(to: one)
    #expect(try program(1).plan(for: other).missing == ["0001_t.sql"])
    try program(1).apply(to: other)
    #expect(
      try session.execute(
        "SELECT table_schema FROM information_schema.tables WHERE table_name LIKE 't_' ORDER BY 1")
        == [["one \"graph\""], ["one \"graph\""], ["other"]])
    #expect(
      try session.execute("SELECT \"one \"\"graph\"\"\".version(), other.version()") == [
        ["2", "1"]
      ])
    #expect(
      try ServerSecret.read(from: PostgresSession(one))
        != ServerSecret.read(from: PostgresSession(other)))
    try session.execute("DROP SCHEMA \"one \"\"graph\"\"\", other CASCADE")
  }
}
