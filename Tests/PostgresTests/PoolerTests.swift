import TestSupport
import Testing

@testable import Postgres

/// The pool through Debian's PgBouncer in transaction mode: each transaction may have another session.
@Suite(.usesCluster) struct PoolerTests {
  private func harness(
    _ pooler: TestPooler, size: Int = 4, depth: Int? = nil,
    _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PoolHarness {
    try PoolHarness(pooler.connectionString, size: size) {
      $0.pipelineDepth = depth ?? $0.pipelineDepth
      $0.longPipelineDepth = depth ?? $0.longPipelineDepth
    } configuration: {
      $0.pooler = .transaction
      change(&$0)
    }
  }

  @Test func `what a session would be set to holds in every transaction, and for nobody else`()
    async throws
  {
    let pooler = try TestPooler(to: TestCluster.newDatabase(), serverConnections: 1)
    let ours = try harness(pooler) {
      $0.isReadOnly = true
      $0.statementTimeout = .milliseconds(123_456)
      $0.namespaces = ["odd 'na\\me'", "public"]
      $0.settings = [("sociograph.public_url", "https://example.org/'")]
    }
    let others = try harness(pooler)
    for _ in 0..<3 {
      for (name, value) in [
        ("statement_timeout", "123456ms"), ("transaction_read_only", "on"), ("jit", "off"),
        ("plan_cache_mode", "force_generic_plan"), ("TimeZone", "UTC"),
        ("search_path", #""odd 'na\me'", "public", graph, public"#), ("DateStyle", "ISO, MDY"),
        ("sociograph.public_url", "https://example.org/'"),
      ] {
        #expect(try await ours.run("SELECT current_setting('\(name)')") == value)
      }
      #expect(await ours.failure("CREATE TABLE no (id bigint)")?.kind == .readOnly)
      #expect(try await others.run("SELECT current_setting('statement_timeout')") == "10min")
      #expect(try await others.run("SELECT current_setting('transaction_read_only')") == "off")
    }
  }

  @Test func `hundreds of statements on few sessions each get their own answer`() async throws {
    let pooler = try TestPooler(to: TestCluster.newDatabase(), serverConnections: 2)
    let harness = try harness(pooler, size: 3)
    let statement = PostgresStatement(
      "SELECT (6 / ($1::bigint % 7) * 0 + $1)::text", parameterCount: 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<900 as Range<Int64> {
        group.addTask { () async throws -> Void in
          var parameters = PostgresParameters()
          parameters.append(number)
          if number % 7 == 0 {
            await #expect(throws: PostgresError.self) {
              try await harness.run(statement, parameters)
            }
          } else {
            #expect(try await harness.run(statement, parameters) == "\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(harness.count("closed") == 0)
    #expect(harness.count("retried staleStatement") == 0)
  }

  @Test func `statements of a transaction have one session, and its settings`() async throws {
    let pooler = try TestPooler(to: TestCluster.newDatabase(), serverConnections: 2)
    let harness = try harness(pooler, size: 2, depth: 1)
    try await harness.run("CREATE TABLE item (id bigint PRIMARY KEY)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { () async throws -> Void in
          let seen = try await harness.transact([
            "WITH a AS (INSERT INTO item VALUES (\(number)) RETURNING id) SELECT id::text FROM a",
            "SELECT set_config('my.result', max(id)::text, true) FROM item WHERE id = \(number)",
            "SELECT current_setting('my.result') || current_setting('statement_timeout')",
          ])
          #expect(seen == "\(number)10min")
        }
      }
      try await group.waitForAll()
    }
    let error = await harness.transactionFailure([
      "SELECT 'first'",
      "WITH a AS (INSERT INTO item VALUES (7) RETURNING id) SELECT id::text FROM a",
    ])
    #expect(error?.kind == .constraint)
    #expect(try await harness.run("SELECT count(*)::text FROM item") == "50")
  }

  @Test func `a deadline ends the statement, wherever it runs`() async throws {
    let database = try TestCluster.newDatabase()
    let pooler = try TestPooler(to: database, serverConnections: 1)
    let harness = try harness(pooler, size: 1)
    try await harness.run("SELECT 'ready'")
    #expect(
      await harness.failure("SELECT pg_sleep(600)", within: .milliseconds(200))?.kind == .timeout)
    // There is one session for all.
    #expect(try await harness.run("SELECT 'again'") == "again")
    #expect(harness.count("closed") == 0)
  }
}
