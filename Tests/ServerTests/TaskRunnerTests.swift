import DatabaseSetup
import Foundation
import Glibc
import HTTPTestSupport
import Postgres
import TestSupport
import Testing

@testable import Server

/// Background tasks in a server, and how several share them.
@Suite(.usesCluster) struct TaskRunnerTests {
  /// A database whose only tasks, besides the server's own, are the test's.
  private static func database(_ tasks: String, _ functions: String) throws -> String {
    let database = try TestCluster.newDatabase(migrated: true)
    try TestCluster.session(database).execute(
      """
      CREATE TABLE graph.run (task text, application text DEFAULT current_setting('application_name'));
      \(functions);
      CREATE OR REPLACE VIEW graph.background_task AS
        SELECT * FROM (VALUES \(tasks)) AS t (task, period);
      """)
    return database
  }

  private static let noting = """
    CREATE FUNCTION graph.note_run() RETURNS void LANGUAGE sql AS
      $$ INSERT INTO graph.run VALUES ('note_run') $$
    """

  @Test func `a server runs them, again and again, and one that fails keeps none of the others`()
    throws
  {
    let database = try Self.database(
      "('note_run', interval '10 ms'), ('fall_over', interval '10 ms'), "
        + "('there_is_none', interval '1 day')",
      Self.noting
        + "; CREATE FUNCTION graph.fall_over() RETURNS void LANGUAGE plpgsql AS "
        + "$$ BEGIN RAISE EXCEPTION 'it fell over'; END $$")
    let pipe = LogPipe()
    let server = try TestServer(database: database) {
      $0.runsTasks = true
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.logWriter = pipe.writer
    }
    let session = try TestCluster.session(database)
    let hasRun = try eventually {
      try session.execute("SELECT FROM run OFFSET 2 LIMIT 1").count == 1
    }
    #expect(hasRun)
    #expect(try session.execute("SELECT DISTINCT application FROM run") == [["sociograph tasks"]])
    #expect(
      try eventually {
        try server.metric(#"sociograph_tasks_total{task="fall_over",result="failed"}"#) ?? 0 >= 1
      })
    #expect(
      try server.metric(#"sociograph_tasks_total{task="note_run",result="ran"}"#) ?? 0 >= 3)
    #expect(
      try eventually {
        try !session.execute(
          "SELECT FROM sociograph_task WHERE name = 'sociograph_forget_requests'"
        ).isEmpty
      })
    #expect(pipe.lines(through: "tasks: fall_over failed")?.last?.contains("it fell over") == true)
    #expect(pipe.lines(through: "tasks: there_is_none failed") != nil)
  }

  @Test func `of several servers one runs a task when it is due`() throws {
    let database = try Self.database("('note_run', interval '1 hour')", Self.noting)
    let task = BackgroundTask(name: "note_run", period: .seconds(3600))
    let (one, other) = (try TestCluster.session(database), try TestCluster.session(database))
    #expect(try BackgroundTask.all(in: one).contains(task))
    // While one is at it, the others leave it alone, however due it is.
    try one.execute("BEGIN")
    #expect(try task.run(whenDue: true, in: one))
    #expect(try !task.run(whenDue: true, in: other))
    #expect(try !task.run(whenDue: false, in: other))
    try one.execute("COMMIT")
    // Then it is done, unless it is wanted in any case.
    #expect(try !task.run(whenDue: true, in: other))
    #expect(try other.execute("SELECT count(*) FROM run") == [["1"]])
    #expect(try task.run(whenDue: false, in: other))
    try other.execute("UPDATE sociograph_task SET ran_at = ran_at - interval '55 minutes'")
    #expect(try task.run(whenDue: true, in: one))
    #expect(try other.execute("SELECT count(*) FROM run") == [["3"]])
    // What the database does not list is nobody's to run.
    #expect(try !BackgroundTask(name: "now", period: .zero).run(whenDue: false, in: one))
  }

  @Test func `one that runs long ends with its server`() throws {
    let database = try Self.database(
      "('sleep_long', interval '1 hour')",
      "CREATE FUNCTION graph.sleep_long() RETURNS void LANGUAGE sql AS $$ SELECT pg_sleep(600) $$")
    let server = try TestServer(database: database) { $0.runsTasks = true }
    let session = try TestCluster.session(database)
    let sleeping =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    #expect(try eventually { try !session.execute(sleeping).isEmpty })
    server.stop()
    #expect(try eventually { try session.execute(sleeping).isEmpty })
    #expect(
      try session.execute("SELECT FROM sociograph_task WHERE name = 'sleep_long'").isEmpty)
  }

  @Test func `a role that may call functions runs them with the rights of their owner`() throws {
    let database = try Self.database("('note_run', interval '1 hour')", Self.noting)
    let role = "tasks_\(UInt32.random(in: 0 ... .max))"
    try ServerRole.allow(role, isNew: true, mutations: true, in: PostgresConfiguration(database))
    let session = try TestCluster.session(
      database.replacing(/user=[^ ]+/, with: "user=\(role)"))
    let task = BackgroundTask(name: "note_run", period: .seconds(3600))
    #expect(try task.run(whenDue: true, in: session))
    for task in try BackgroundTask.all(in: session) {
      #expect(try task.run(whenDue: false, in: session), "\(task)")
    }
    let denied = #expect(throws: PostgresError.self) {
      try session.execute("INSERT INTO run VALUES ('by itself')")
    }
    #expect(denied?.sqlState == "42501")
  }
}
