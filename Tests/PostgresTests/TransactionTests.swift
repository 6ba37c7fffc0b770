import EventLoops
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// Statements sent as one transaction, on real sockets.
@Suite(.usesCluster) struct TransactionTests {
  /// A pool of connections at depth one, as writers are, over a database of the test's own.
  private func harness(
    size: Int = 2, settings change: (inout PoolSettings) -> Void = { _ in }
  ) throws -> PoolHarness {
    let harness = try PoolHarness(TestCluster.newDatabase(), size: size) {
      $0.pipelineDepth = 1
      $0.longPipelineDepth = 1
      change(&$0)
    }
    return harness
  }

  @Test func `each statement sees what those before it did, and all is committed`() async throws {
    let harness = try harness()
    try await harness.run("CREATE TABLE item (id bigint PRIMARY KEY)")
    let seen = try await harness.transact([
      "WITH a AS (INSERT INTO item VALUES (1) RETURNING id) SELECT id::text FROM a",
      "SELECT set_config('my.result', count(*)::text, true) FROM item",
      "SELECT current_setting('my.result') || ' of ' || count(*) FROM item",
    ])
    #expect(seen == "1 of 1")
    #expect(try await harness.run("SELECT count(*)::text FROM item") == "1")
    // The setting is gone with its transaction.
    #expect(
      try await harness.run("SELECT coalesce(current_setting('my.result', true), '')") == "")
  }

  @Test func `an error undoes everything and leaves the connection as it was`() async throws {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint CONSTRAINT item_key PRIMARY KEY)")
    let insert = "WITH a AS (INSERT INTO item VALUES (1) RETURNING id) SELECT id::text FROM a"
    for round in 0..<3 {
      // The statement behind the error is prepared in none of the rounds.
      let error = await harness.transactionFailure([insert, insert, "SELECT 'round \(round)'"])
      #expect(error?.kind == .constraint)
      #expect(error?.constraint == "item_key")
      #expect(error?.table == "item")
    }
    #expect(try await harness.run("SELECT count(*)::text FROM item") == "0")
    #expect(try await harness.transact([insert, "SELECT 'round 2'"]) == "round 2")
    #expect(harness.count("closed") == 0)
  }

  @Test func `a null where none may be names the column`() async throws {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint NOT NULL)")
    let error = await harness.transactionFailure([
      "WITH a AS (INSERT INTO item VALUES (NULL) RETURNING id) SELECT id::text FROM a"
    ])
    #expect(error?.constraint == "id")
  }

  @Test func `a commit that fails is a failure, though every statement had its result`()
    async throws
  {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint PRIMARY KEY, other bigint)")
    try await harness.run(
      """
      ALTER TABLE item ADD CONSTRAINT item_other FOREIGN KEY (other) REFERENCES item
      DEFERRABLE INITIALLY DEFERRED
      """)
    let insert = { (id: Int, other: Int) in
      "WITH a AS (INSERT INTO item VALUES (\(id), \(other)) RETURNING id) SELECT id::text FROM a"
    }
    let error = await harness.transactionFailure([insert(1, 2), "SELECT 'done'"])
    #expect(error?.constraint == "item_other")
    #expect(try await harness.run("SELECT count(*)::text FROM item") == "0")
    #expect(try await harness.transact([insert(1, 2), insert(2, 1), "SELECT 'done'"]) == "done")
  }

  @Test func `a statement that no longer fits its tables says so, and the next try does it`()
    async throws
  {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint)")
    let statements = ["SELECT 'first'", "SELECT item::text, * FROM item", "SELECT 'last'"]
    #expect(try await harness.transact(statements) == "last")
    try await harness.run("ALTER TABLE item ADD COLUMN more text")
    let error = await harness.transactionFailure(statements)
    #expect(error?.kind == .staleStatement)
    #expect(try await harness.transact(statements) == "last")
  }

  @Test func `a connection takes one transaction at a time, and the others wait in the pool`()
    async throws
  {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint)")
    let lock = try await harness.lease()
    try await lock.run("SELECT 'mine'")
    async let one = harness.transact(["SELECT 'one'"])
    async let two = harness.transact(["SELECT 'two'"])
    #expect(
      try await harness.eventually { harness.onLoop { $0.statistics.waiting } == 2 })
    lock.release()
    #expect(try await [one, two] == ["one", "two"])
  }

  @Test func `a flush on a new connection says nothing of what was committed before`() async throws
  {
    let harness = try harness(size: 1) { $0.probeAfter = .seconds(600) }
    let flushed = Mutex<[PostgresError?]>([])
    nonisolated(unsafe) var groupCommit: GroupCommit?
    harness.onLoop { pool in
      var settings = GroupCommit.Settings()
      settings.longestWait = .seconds(600)
      unsafe groupCommit = GroupCommit(pool, settings: settings) { 2 }
    }
    func flush() {
      harness.onLoop { _ in
        unsafe groupCommit?.flush { error in flushed.withLock { $0.append(error) } }
      }
    }
    let process = try await harness.run("SELECT pg_backend_pid()::text")
    flush()
    // To its clients a server that crashed and recovered is one that ended all connections.
    try TestCluster.session(TestCluster.connectionString()).execute(
      "SELECT pg_terminate_backend(\(process ?? ""))")
    #expect(
      try await harness.eventually { harness.onLoop { $0.statistics.opened } == 2 })
    flush()
    #expect(try await harness.eventually { flushed.withLock { $0.count } == 2 })
    #expect(flushed.withLock { $0 }.map { $0?.kind } == [.lost, .lost])
    for _ in 0..<2 { flush() }
    #expect(try await harness.eventually { flushed.withLock { $0.count } == 4 })
    #expect(flushed.withLock { $0.suffix(2).map { $0?.kind } } == [nil, nil])
  }

  @Test
  func
    `a flush comes when half of what is under way waits for it, and is one for all of them`()
    async throws
  {
    let harness = try harness(size: 1) { $0.probeAfter = .seconds(600) }
    let flushed = Mutex<[PostgresError?]>([])
    nonisolated(unsafe) var others = 3
    nonisolated(unsafe) var groupCommit: GroupCommit?
    harness.onLoop { pool in
      var settings = GroupCommit.Settings()
      settings.longestWait = .seconds(600)
      unsafe groupCommit = GroupCommit(pool, settings: settings) { unsafe others }
    }
    func flush(_ count: Int) {
      harness.onLoop { _ in
        for _ in 0..<count {
          unsafe groupCommit?.flush { error in flushed.withLock { $0.append(error) } }
        }
      }
    }
    func executed() -> Int { harness.onLoop { $0.statistics.executed } }
    let before = executed()
    flush(2)
    // 2 of 5; the loop has looked at them by the second question.
    #expect(executed() + executed() == 2 * before)
    flush(1)
    #expect(try await harness.eventually { flushed.withLock { $0.count } == 3 })
    #expect(executed() == before + 1)
    // With nothing else under way there is nobody to wait for.
    harness.onLoop { _ in unsafe others = 0 }
    flush(1)
    #expect(try await harness.eventually { flushed.withLock { $0.count } == 4 })
    #expect(flushed.withLock { $0.allSatisfy { $0 == nil } })
    harness.onLoop { $0.stop() }
    flush(1)
    #expect(try await harness.eventually { flushed.withLock { $0.count } == 5 })
    #expect(flushed.withLock { $0.last??.kind } == .lost)
    harness.onLoop { _ in unsafe groupCommit = nil }
  }

  @Test func `the first that waits for a flush does not wait for ever`() async throws {
    let harness = try harness(size: 1)
    let flushed = Mutex(0)
    nonisolated(unsafe) var groupCommit: GroupCommit?
    harness.onLoop { pool in
      unsafe groupCommit = GroupCommit(pool) { 1_000 }
      unsafe groupCommit?.flush { _ in flushed.withLock { $0 += 1 } }
    }
    #expect(try await harness.eventually { flushed.withLock { $0 } == 1 })
    harness.onLoop { _ in unsafe groupCommit = nil }
  }

  @Test func `past its deadline it is cancelled, and told how that ended`() async throws {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint)")
    let insert = "WITH a AS (INSERT INTO item VALUES (1) RETURNING id) SELECT id::text FROM a"
    let error = await harness.transactionFailure(
      [insert, "SELECT pg_sleep(600)::text"], within: .milliseconds(50))
    #expect(error?.kind == .timeout)
    #expect(error?.sqlState == "57014")
    #expect(harness.count("cancel sent") == 1)
    #expect(try await harness.run("SELECT count(*)::text FROM item") == "0")
  }

  @Test func `one whose connection is lost is neither done nor not done, and is not tried again`()
    async throws
  {
    let harness = try harness(size: 1)
    let other = try PoolHarness(size: 1)
    async let error = harness.transactionFailure(["SELECT pg_sleep(601)::text"])
    let isKilled = try await harness.eventually {
      try await other.run(
        """
        SELECT coalesce(max(pg_terminate_backend(pid)::text), 'none') FROM pg_stat_activity
        WHERE query LIKE 'SELECT pg_sleep(601)::text' AND state = 'active'
        """) == "true"
    }
    #expect(isKilled)
    #expect(await error?.kind == .lost)
    #expect(harness.count("retried connectionLost") == 0)
  }

  @Test func `who leaves the queue is not run, and who is running is finished`() async throws {
    let harness = try harness(size: 1)
    try await harness.run("CREATE TABLE item (id bigint)")
    func insert(_ id: Int) -> [BoundStatement] {
      harness.bound([
        "WITH a AS (INSERT INTO item VALUES (\(id)) RETURNING id) SELECT id::text FROM a"
      ])
    }
    harness.onLoop { pool in
      let running = pool.execute(transaction: insert(1)) { _, _ in }
      let waiting = pool.execute(transaction: insert(2)) { _, _ in }
      waiting.cancel()
      running.cancel()
    }
    #expect(try await harness.transact(["SELECT sum(id)::text FROM item"]) == "1")
  }
}

extension PoolHarness {
  func bound(_ texts: [String]) -> [BoundStatement] {
    texts.map { BoundStatement(PostgresStatement($0, parameterCount: 0), PostgresParameters()) }
  }

  /// The last statement's first value.
  func transact(_ texts: [String], within limit: Duration? = nil) async throws -> String? {
    let transaction = bound(texts)
    return try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        pool.execute(
          transaction: transaction, deadline: limit.map { Moment.now + $0 }
        ) { outcome, _ in
          switch outcome {
          case .success(let result):
            continuation.resume(
              returning: result.rowCount > 0 ? result.string(row: 0, column: 0) : nil)
          case .failure(let error): continuation.resume(throwing: error)
          }
        }
      }
    }
  }

  func transactionFailure(_ texts: [String], within limit: Duration? = nil) async
    -> PostgresError?
  {
    do {
      _ = try await transact(texts, within: limit)
      return nil
    } catch {
      return error as? PostgresError
    }
  }
}
