import Foundation
import Postgres
import TestSupport
import Testing

@testable import Load

@Suite(.usesCluster) struct PostgresViewTests {
  @Test func `a statement is named by its comment, another by its start`() {
    let comment = "/*action='Feed',application='sociograph',document='01ab',statement='s_12'*/"
    #expect(PostgresView.name(of: comment + " SELECT 1") == "Feed 01ab s_12")
    #expect(PostgresView.name(of: "/* query Feed  s_12 */ SELECT 1") == "query Feed s_12")
    #expect(PostgresView.name(of: "SELECT\n  1") == "SELECT 1")
    #expect(PostgresView.name(of: "/* open") == "/* open")
  }

  @Test func `a window's waits, statements and write-ahead log are those of the server`() throws {
    let database = try TestCluster.newDatabase()
    var waiting = try PostgresConfiguration(database)
    waiting.lockTimeout = .seconds(600)
    let configuration = waiting
    let view = try PostgresView(configuration)
    let holder = try PostgresSession(configuration)
    try holder.execute("CREATE TABLE t (a int); BEGIN; SELECT pg_advisory_lock(7)")
    let (result, findings) = view.observe {
      // Another session waits for the lock until the view has looked at it, twice.
      let done = DispatchSemaphore(value: 0)
      Thread {
        let waiter = try? PostgresSession(configuration)
        _ = try? waiter?.execute("/* query Waits s_7 */ SELECT pg_advisory_lock(7)")
        done.signal()
      }.start()
      var looked: Set<String> = []
      let watcher = try? PostgresSession(configuration)
      _ = eventually {
        let rows = try? watcher?.execute(
          """
          SELECT v.query_start::text FROM pg_stat_activity v, pg_stat_activity w
          WHERE v.application_name = 'sociograph load' AND v.query LIKE '%pg_stat_activity%'
            AND v.datname = current_database() AND w.datname = v.datname AND w.wait_event = 'advisory'
            AND v.query_start > w.state_change
          """)
        if let time = rows?.first?.first ?? nil { looked.insert(time) }
        return looked.count == 3
      }
      _ = try? holder.execute(
        "INSERT INTO t SELECT generate_series(1, 1000); COMMIT; SELECT pg_advisory_unlock(7)")
      done.wait()
      return WindowResult()
    }
    #expect(result.samples.isEmpty)
    let waits = try #require(findings.waits)
    let wait = try #require(waits.first { $0.type == "Lock" && $0.event == "advisory" }, "\(waits)")
    #expect(wait.samples >= 1 && wait.bySecond.reduce(0, +) == wait.samples)
    #expect(findings.sampleCount >= wait.samples)
    #expect(findings.walBytes ?? 0 > 10_000 && findings.deadlocks == 0)
    #expect(findings.checkpoints != nil && findings.temporaryBytes != nil)
    guard let statements = findings.statements else {
      #expect(findings.remarks.contains { $0.contains("pg_stat_statements") })
      return
    }
    let named = try #require(statements.first { $0.name == "query Waits s_7" })
    #expect(named.calls == 1 && named.rows == 1 && named.milliseconds > 0)
  }
}
