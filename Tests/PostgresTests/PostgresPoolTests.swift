import EventLoops
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// The pool on real sockets, with a real PostgreSQL.
@Suite(.usesCluster) struct PostgresPoolTests {
  @Test func `a session is set up as configured`() async throws {
    let harness = try PoolHarness {
      $0.queueLimit = 64
    } configuration: { configuration in
      configuration.isReadOnly = true
      configuration.statementTimeout = .milliseconds(1234)
      configuration.lockTimeout = .milliseconds(1500)
      configuration.namespaces = ["public", "pg_temp"]
      configuration.applicationName = "loop 7 of 'many'"
    }
    for (name, value) in [
      ("plan_cache_mode", "force_generic_plan"), ("jit", "off"), ("statement_timeout", "1234ms"),
      ("default_transaction_read_only", "on"),
      ("DateStyle", "ISO, MDY"), ("IntervalStyle", "postgres"), ("bytea_output", "hex"),
      ("extra_float_digits", "1"), ("lc_monetary", "C"), ("standard_conforming_strings", "on"),
      ("max_parallel_workers_per_gather", "0"),
      ("application_name", "loop 7 of 'many'"), ("client_encoding", "UTF8"), ("TimeZone", "UTC"),
      ("client_connection_check_interval", "1s"), ("lock_timeout", "1500ms"),
    ] {
      #expect(try await harness.run("SELECT current_setting('\(name)')") == value)
    }
    // Behind its own the session has the path of the database, and the namespaces of extensions.
    let path = try await harness.run("SELECT current_setting('search_path')")
    let extensions = try await harness.run(
      "SELECT string_agg(DISTINCT quote_ident(extnamespace::regnamespace::text), ', ') "
        + "FROM pg_extension WHERE extnamespace <> 'pg_catalog'::regnamespace")
    let own = #""public", "pg_temp", graph, public"#
    #expect(path == ([own] + [extensions].compactMap(\.self)).joined(separator: ", "))
    #expect(await harness.failure("CREATE TABLE no (id bigint)")?.kind == .readOnly)
  }

  @Test func `connections are made side by side`() async throws {
    // A server that lets everybody in and says nothing.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe bind(listener, $0, length)
        _ = unsafe getsockname(listener, $0, &length)
      }
    }
    try #require(listen(listener, 16) == 0)
    let port = UInt16(bigEndian: address.sin_port)
    let harness = try PoolHarness(
      "host=127.0.0.1 port=\(port) user=nobody dbname=none sslmode=disable", size: 3)
    var clients: [Int32] = []
    for _ in 0..<3 {
      // None is answered before all have come; one after the other, the next comes after a minute.
      var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, 30_000) == 1 else { break }
      clients.append(accept(listener, nil, nil))
    }
    #expect(clients.count == 3)
    for client in clients { close(client) }
    #expect(try await harness.eventually { harness.count("connect failed") > 0 })
  }

  @Test func `thousands of statements on few connections each get their own answer`() async throws {
    let harness = try PoolHarness(size: 2)
    let statement = PostgresStatement("SELECT 'n' || $1::bigint", parameterCount: 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<50 as Range<Int64> {
        group.addTask {
          for round in 0..<60 as Range<Int64> {
            var parameters = PostgresParameters()
            parameters.append(client * 1000 + round)
            let value = try await harness.run(statement, parameters)
            #expect(value == "n\(client * 1000 + round)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(statement.meanNanoseconds > 0)
    let statistics = harness.onLoop { $0.statistics }
    #expect(statistics.executed == 3_000)
    #expect(statistics.opened == 2)
    #expect(statistics.inFlight == 0)
  }

  @Test func `a statement that fails leaves its neighbours in the pipeline alone`() async throws {
    let harness = try PoolHarness(size: 1)
    try await harness.run("SELECT 'ready'")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 as Range<Int64> {
        group.addTask { () async throws -> Void in
          switch number % 4 {
          case 0:
            var parameters = PostgresParameters()
            parameters.append(number - number)
            #expect(await harness.failure("SELECT (1 / $1::bigint)::text", parameters) != nil)
          case 1: #expect(await harness.failure("SELECT nothing AS n\(number % 8)") != nil)
          default:
            #expect(try await harness.run("SELECT $1::bigint::text", [number]) == "\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(harness.count("closed") == 0)
  }

  @Test func `short statements of one batch share a transaction, but not their failures`()
    async throws
  {
    let harness = try PoolHarness(size: 1) {
      // However slow the machine is.
      $0.shortStatement = .seconds(100)
      $0.heavyStatement = .seconds(200)
      $0.sharingLimit = .seconds(1_000)
      $0.longestQueueing = .seconds(1_000)
    }
    let statement = PostgresStatement(
      "SELECT now()::text WHERE 1 / $1::bigint = 1", parameterCount: 1)
    // Prepared, and then measured.
    for _ in 0..<2 { #expect(try await harness.run(statement, numbers(1)) != nil) }

    let together = await harness.runTogether(statement, (0..<12).map { _ in numbers(1) })
    #expect(Set(together.map { try? $0.get() }).count == 1)
    #expect(try together.allSatisfy { try $0.get() != nil })

    let mixed = await harness.runTogether(
      statement, (0..<12).map { numbers($0 == 3 || $0 == 7 ? 0 : 1) })
    for (number, outcome) in mixed.enumerated() {
      switch outcome {
      case .success(let text): #expect(text != nil && number != 3 && number != 7)
      case .failure(let error): #expect(error.sqlState == "22012" && [3, 7].contains(number))
      }
    }
    // All behind the first failure, each once; the second fails by itself.
    #expect(harness.count("retried neighbourFailed") == 8)
    #expect(harness.count("closed") == 0)
  }

  private func numbers(_ values: Int64...) -> PostgresParameters {
    values.reduce(into: PostgresParameters()) { $0.append($1) }
  }

  @Test func `what stands behind a statement that could not be prepared has an answer of its own`()
    async throws
  {
    let database = try TestCluster.newDatabase()
    let owner = try TestCluster.session(database)
    try owner.execute(
      "SET idle_in_transaction_session_timeout = 0; CREATE TABLE item (id bigint)")
    let harness = try PoolHarness(database, size: 1) {
      $0.longPipelineDepth = 8
      $0.longestQueueing = .seconds(1_000)
    } configuration: {
      // All five are sent before the first of them fails.
      $0.lockTimeout = .milliseconds(400)
    }
    try await harness.run("SELECT 'ready'")
    try owner.execute("BEGIN; LOCK item")
    let statement = PostgresStatement("SELECT count(*)::text FROM item", parameterCount: 0)
    let outcomes = await harness.runTogether(
      statement, (0..<5).map { _ in PostgresParameters() })
    for outcome in outcomes {
      guard case .failure(let error) = outcome else {
        Issue.record("It was executed.")
        continue
      }
      #expect(error.kind == .lock)
    }
    // None of them used up its one try for another's failure.
    #expect(harness.count("retried staleStatement") == 0)
    #expect(harness.count("retried neighbourFailed") == 4 + 3 + 2 + 1)
    try owner.execute("COMMIT")
    #expect(try await harness.run(statement) == "0")
    #expect(harness.count("closed") == 0)
  }

  @Test func `a table that is locked holds up those who read it and nobody else`() async throws {
    let database = try TestCluster.newDatabase()
    let owner = try TestCluster.session(database)
    try owner.execute(
      "SET idle_in_transaction_session_timeout = 0; CREATE TABLE item (id bigint)")
    let harness = try PoolHarness(database, size: 2)
    try await harness.run("SELECT 'ready'")
    try owner.execute("BEGIN; LOCK item")
    // Different ones, so that of none it is known that it waits.
    let waiting = (0..<6).map { number in
      Task { try await harness.run("SELECT '\(number) ' || count(*) FROM item") }
    }
    #expect(
      try await harness.eventually { harness.onLoop { $0.statistics.inFlight > 0 } })
    // The lock is held until these are answered, however often one is asked.
    for number in 0..<20 as Range<Int64> {
      #expect(try await harness.run("SELECT $1::bigint::text", [number]) == "\(number)")
    }
    #expect(harness.count("closed") == 0)
    try owner.execute("COMMIT")
    for (number, task) in waiting.enumerated() {
      #expect(try await task.value == "\(number) 0")
    }
  }

  @Test func `large values go both ways at once`() async throws {
    // However long they take on a busy machine, none is asked to make way.
    let harness = try PoolHarness(size: 1) {
      $0.overdue = .seconds(600)
      $0.overdueBesideOthers = .seconds(600)
    }
    let text = String(repeating: "äöü€", count: 100_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask { () async throws -> Void in
          var parameters = PostgresParameters()
          parameters.append(text)
          let statement = PostgresStatement("SELECT $1::text", parameterCount: 1)
          #expect(try await harness.run(statement, parameters) == text)
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Prepared statements

  @Test func `a plan gone stale is made again and the statement tried once more`() async throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute("CREATE TABLE thing (a text); INSERT INTO thing VALUES ('x')")
    let harness = try PoolHarness(database, size: 1)
    let statement = PostgresStatement("SELECT * FROM thing", parameterCount: 0)
    #expect(try await harness.run(statement) == "x")
    try session.execute("ALTER TABLE thing ADD b text; ALTER TABLE thing DROP a")
    #expect(try await harness.run(statement) == nil)
    #expect(try await harness.run(statement) == nil)
    #expect(harness.count("retried staleStatement") == 1)
    #expect(harness.count("closed") == 0)
  }

  @Test func `statements the server forgot or already knows are prepared again`() async throws {
    let harness = try PoolHarness(size: 1)
    let statement = PostgresStatement("SELECT 'kept'", parameterCount: 0)
    #expect(try await harness.run(statement) == "kept")
    try await harness.run("DEALLOCATE ALL")
    #expect(try await harness.run(statement) == "kept")
    let other = PostgresStatement("SELECT 'other'", parameterCount: 0)
    try await harness.run("PREPARE \(other.name) AS SELECT 'wrong'")
    #expect(try await harness.run(other) == "other")
    #expect(harness.count("retried staleStatement") == 2)
  }

  @Test func `the least recently used statements make room`() async throws {
    let harness = try PoolHarness(size: 1) {
      $0.queueLimit = 1_000
    } configuration: {
      $0.preparedStatementLimit = 5
    }
    for round in 0..<3 {
      for number in 0..<20 {
        let text = "SELECT 'the \(number)th'"
        #expect(try await harness.run(text) == "the \(number)th", "round \(round)")
      }
    }
    let left = try await harness.run(
      "SELECT string_agg(statement, chr(124) ORDER BY statement) FROM pg_prepared_statements")
    // A probe, which a slow machine gives time for, is the empty statement.
    let names = left?.split(separator: "|", omittingEmptySubsequences: false).map(String.init) ?? []
    #expect(names.count == 5, "\(names)")
    #expect(names.contains("SELECT 'the 19th'") && !names.contains("SELECT 'the 1th'"))
  }

  @Test func `a statement that cannot be prepared is not taken for prepared`() async throws {
    let database = try TestCluster.newDatabase()
    let harness = try PoolHarness(database, size: 1)
    let statement = PostgresStatement("SELECT a FROM later", parameterCount: 0)
    async let first = harness.failure(statement.text)
    async let second = harness.failure(statement.text)
    #expect(await (first?.sqlState, second?.sqlState) == ("42P01", "42P01"))
    try TestCluster.session(database).execute(
      "CREATE TABLE later (a text); INSERT INTO later VALUES ('now')")
    #expect(try await harness.run(statement) == "now")
  }

  // MARK: Kinds of errors

  @Test func `what PostgreSQL gave up counts as slow from then on`() async throws {
    let harness = try PoolHarness(size: 1) {
      $0.queueLimit = 1_000
    } configuration: {
      $0.statementTimeout = .milliseconds(200)
    }
    let statement = PostgresStatement(
      "SELECT coalesce(pg_sleep($1::bigint)::text, '')", parameterCount: 1)
    func run(_ seconds: Int64) async -> PostgresError? {
      var parameters = PostgresParameters()
      parameters.append(seconds)
      do {
        _ = try await harness.run(statement, parameters)
        return nil
      } catch { return error as? PostgresError }
    }
    for _ in 0..<3 { #expect(await run(0) == nil) }
    #expect(await run(9)?.kind == .timeout)
    #expect(statement.estimateNanoseconds(at: .now) >= 150_000_000)
  }

  @Test func `what PostgreSQL lets run past the timeout is cancelled`() async throws {
    let harness = try PoolHarness(size: 1) { $0.statementTimeout = .milliseconds(100) }
    #expect(await harness.failure("SELECT pg_sleep(600)")?.kind == .timeout)
    #expect(try await harness.run("SELECT 'free again'") == "free again")
    #expect(harness.count("cancel sent") == 1)
  }

  @Test func `quick statements pass those that outrun what was expected of them`() async throws {
    // None is so short that it stands behind another while there is an idle connection.
    let harness = try PoolHarness(size: 2) { $0.shortStatement = .nanoseconds(1) }
    let statement = PostgresStatement(
      "SELECT coalesce(pg_sleep($1::bigint)::text, '')", parameterCount: 1, expectedNanoseconds: 1)
    @discardableResult @Sendable
    func sleep(
      _ seconds: Int64, in pool: PostgresPool, then: @escaping () -> Void
    ) -> PostgresTicket {
      var parameters = PostgresParameters()
      parameters.append(seconds)
      return pool.execute(statement, parameters, for: .viewer(1)) { _, _ in then() }
    }
    // Trained to be a quick one, whatever a busy machine made of its first executions.
    let heavy = UInt64(harness.onLoop { $0.settings.heavyStatement }.nanoseconds)
    while !statement.isKnown || statement.estimateNanoseconds(at: .now) >= heavy {
      await withCheckedContinuation { done in
        harness.loop.execute { sleep(0, in: harness.pool) { done.resume() } }
      }
    }
    let areOpen = try await harness.eventually { harness.onLoop { $0.statistics.idle } == 2 }
    #expect(areOpen)
    let ended = Mutex(0)
    let tickets = harness.onLoop { pool in
      (0..<4).map { _ in sleep(60, in: pool) { ended.withLock { $0 += 1 } } }
    }
    // Both connections are taken; one is given back.
    #expect(harness.onLoop { $0.statistics.inUse } == 2)
    #expect(try await harness.run("SELECT 'served'") == "served")
    #expect(ended.withLock { $0 } == 0)
    #expect(harness.count("retried overdue") >= 1)
    #expect(statement.estimateNanoseconds(at: .now) >= 20_000_000)
    harness.onLoop { _ in for ticket in tickets { ticket.cancel() } }
    // A loop that ends before its connections do is no subject of this test.
    let isOver = try await harness.eventually {
      harness.onLoop { $0.statistics.inFlight + $0.statistics.waiting } == 0
    }
    #expect(isOver)
  }

  @Test(arguments: [
    ("SELECT 'x'::text::bigint", PostgresError.Kind.invalidValue, "22P02"),
    ("SELECT 1 / 0", .invalidValue, "22012"),
    ("SELECT", .other, ""),
    ("SELEC 1", .other, "42601"),
    ("SELECT pg_sleep(9)", .timeout, "57014"),
    ("DO $$ BEGIN RAISE 'no' USING ERRCODE = 'SG001'; END $$", .userRaised, "SG001"),
    ("SELECT chr(0)", .invalidValue, "54000"),
  ])
  func `SQLSTATEs have kinds`(text: String, kind: PostgresError.Kind, state: String) async throws {
    let harness = try PoolHarness(size: 1) {
      $0.queueLimit = 1_000
    } configuration: {
      if state == "57014" { $0.statementTimeout = .milliseconds(200) }
    }
    let error = await harness.failure(text)
    if state.isEmpty {
      // A row without columns is an answer.
      #expect(error == nil)
    } else if state == "54000" {
      #expect(error?.sqlState == state && error?.kind == .other)
    } else {
      #expect(error?.kind == kind && error?.sqlState == state)
    }
    #expect(try await harness.eventually { await harness.failure("SELECT 'still here'") == nil })
  }

  @Test func `text with a NUL or broken UTF-8 is an encoding error`() async throws {
    let harness = try PoolHarness(size: 1)
    for bytes: [UInt8] in [[0x61, 0, 0x62], [0xff, 0xfe], [0xc3]] {
      var parameters = PostgresParameters()
      unsafe parameters.append(utf8: bytes.span.bytes)
      #expect(await harness.failure("SELECT $1::text", parameters)?.kind == .invalidEncoding)
    }
  }

  @Test func `too many or too few parameters are refused before they are sent`() async throws {
    let harness = try PoolHarness(size: 1)
    let statement = PostgresStatement("SELECT $1::text", parameterCount: 1)
    await #expect(throws: PostgresError.self) { try await harness.run(statement) }
    // A count that is wrong in the statement itself is the server's to refuse.
    var two = PostgresParameters()
    two.append("a")
    two.append("b")
    #expect(await harness.failure("SELECT $1::text", two)?.sqlState == "08P01")
    #expect(await harness.failure("SELECT $1::text", two)?.kind == .other)
  }

  @Test func `a COPY breaks its connection and nothing else`() async throws {
    let harness = try PoolHarness(size: 2)
    #expect(await harness.failure("COPY (SELECT 1) TO STDOUT") != nil)
    #expect(try await harness.run("SELECT 'still here'") == "still here")
  }

  // MARK: Time

  @Test func `a deadline ends the wait and the statement`() async throws {
    let harness = try PoolHarness(size: 1)
    try await harness.run("SELECT 'ready'")
    let error = await harness.failure("SELECT pg_sleep(600)", within: .milliseconds(200))
    #expect(error?.kind == .timeout)
    // The only connection is free again long before the statement would have been done.
    #expect(try await harness.run("SELECT 'again'") == "again")
    #expect(harness.count("cancel sent") == 1)
    #expect(harness.count("closed") == 0)
  }

  @Test func `a cancelled ticket stops its statement and calls nobody`() async throws {
    let harness = try PoolHarness(size: 1)
    try await harness.run("SELECT 'ready'")
    let marker = "SELECT pg_sleep(600), 'cancel me \(UInt32.random(in: 0 ... .max))'"
    let ticket = harness.onLoop { pool in
      Held(
        pool.execute(PostgresStatement(marker, parameterCount: 0), PostgresParameters()) { _, _ in
          Issue.record("It was called.")
        })
    }
    let session = try TestCluster.session(TestCluster.connectionString())
    func isRunning() throws -> Bool {
      try session.execute(
        "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = $1", [marker]
      ).count > 0
    }
    #expect(try await harness.eventually { try isRunning() })
    harness.onLoop { _ in ticket.value.cancel() }
    #expect(try await harness.eventually { try !isRunning() })
    #expect(try await harness.run("SELECT 'again'") == "again")
    #expect(harness.count("closed") == 0)
  }

  @Test func `statements behind a cancelled one are answered`() async throws {
    let harness = try PoolHarness(size: 1)
    try await harness.run("SELECT 'ready'")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let error = await harness.failure("SELECT pg_sleep(600)", within: .milliseconds(150))
        #expect(error?.kind == .timeout)
      }
      for number in 0..<10 as Range<Int64> {
        group.addTask { () async throws -> Void in
          try await Task.sleep(for: .milliseconds(1))
          #expect(try await harness.run("SELECT $1::bigint::text", [number]) == "\(number)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `more than the queue takes is refused at once`() async throws {
    let harness = try PoolHarness(size: 1) { settings in
      settings.queueLimit = 3
      settings.quickQueueWait = .zero
      // On a machine so slow that the database seems far, more would be on the road.
      settings.deepestPipeline = 0
    }
    try await harness.run("SELECT 'ready'")
    // What the others wait for does not end before they are refused.
    let statement = PostgresStatement("SELECT pg_sleep(600)", parameterCount: 0)
    let held = harness.onLoop { pool in
      Held(
        pool.execute(statement, PostgresParameters()) { _, _ in Issue.record("It was called.") })
    }
    let (kinds, refusals) = AsyncStream.makeStream(of: PostgresError.Kind?.self)
    let waiting = harness.onLoop { pool in
      Held(
        (0..<30).map { _ in
          pool.execute(statement, PostgresParameters()) { outcome, _ in
            switch outcome {
            case .success: Issue.record("It was executed.")
            case .failure(let error): refusals.yield(error.kind)
            }
          }
        })
    }
    var refused: [PostgresError.Kind?] = []
    for await kind in kinds {
      refused.append(kind)
      if refused.count == 20 { break }
    }
    #expect(refused.allSatisfy { $0 == .overloaded })
    harness.onLoop { _ in
      for ticket in waiting.value { ticket.cancel() }
      held.value.cancel()
    }
    #expect(try await harness.run("SELECT 'again'") == "again")
  }

  @Test func `quick statements pass slow ones`() async throws {
    let harness = try PoolHarness(size: 2) {
      // On a machine that is busy a quick statement may take long.
      $0.heavyStatement = .milliseconds(500)
      $0.overrun = .seconds(600)
    }
    let slow = PostgresStatement("SELECT pg_sleep($1::bigint)::text", parameterCount: 1)
    let quick = PostgresStatement("SELECT 'quick'", parameterCount: 0)
    // Their means are known from here on.
    for _ in 0..<3 {
      var second = PostgresParameters()
      second.append(Int64(1))
      _ = try await harness.run(slow, second)
      // Often: one that stood still with the machine says little about it.
      for _ in 0..<20 { _ = try await harness.run(quick) }
    }
    let crowd = harness.onLoop { pool in
      var long = PostgresParameters()
      long.append(Int64(600))
      return Held(
        (0..<3).map { _ in
          pool.execute(slow, long) { _, _ in Issue.record("It was called.") }
        })
    }
    for _ in 0..<20 { #expect(try await harness.run(quick) == "quick") }
    harness.onLoop { _ in for ticket in crowd.value { ticket.cancel() } }
  }

  @Test func `probes keep a silent pool proven and are in no statistics`() async throws {
    let database = try TestCluster.newDatabase()
    let harness = try PoolHarness(database, size: 1) { settings in
      settings.probeAfter = .milliseconds(100)
      settings.proof = .milliseconds(9_000)
    }
    try await harness.run("SELECT 'ready'")
    let began = ContinuousClock.now
    // Idle pools look every five seconds.
    while began.duration(to: .now) < .milliseconds(9_200) {
      try await Task.sleep(for: .milliseconds(200))
    }
    #expect(harness.onLoop { $0.isAvailable })
    #expect(harness.count("closed") == 0)
    // Statistics that are full forget what is older.
    try await harness.run("SELECT 'again'")
    let statements = try TestCluster.session(TestCluster.connectionString()).execute(
      """
      SELECT query FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
        AND query NOT LIKE '%pg_control_system%'
      """, [database.split(separator: "=").last.map(String.init)])
    // But for what each connection asks once, which server it has.
    #expect(statements == [["SELECT $1"]])
  }

  // MARK: Leases

  @Test func `a lease has its connection to itself until it is released`() async throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute("CREATE TABLE thing (a bigint)")
    let harness = try PoolHarness(database, size: 2)
    let lease = try await harness.lease()
    try await lease.run("BEGIN")
    try await lease.run("INSERT INTO thing VALUES (1)")
    #expect(try await lease.run("SELECT count(*)::text FROM thing") == "1")
    #expect(try await harness.run("SELECT count(*)::text FROM thing") == "0")
    try await lease.run("COMMIT")
    lease.release()
    #expect(try await harness.run("SELECT count(*)::text FROM thing") == "1")
    #expect(harness.count("closed") == 0)
  }

  @Test func `a lease let go in the middle of a transaction undoes it`() async throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute("CREATE TABLE thing (a bigint)")
    let harness = try PoolHarness(database, size: 2)
    let lease = try await harness.lease()
    try await lease.run("BEGIN")
    try await lease.run("INSERT INTO thing VALUES (1)")
    lease.release()
    #expect(try await harness.eventually { harness.count("opened") == 3 })
    #expect(try await harness.run("SELECT count(*)::text FROM thing") == "0")
    #expect(harness.count("closed") == 1)
  }

  @Test func `a statement that fails in a transaction fails what follows, until ROLLBACK`()
    async throws
  {
    let harness = try PoolHarness(size: 2)
    let lease = try await harness.lease()
    try await lease.run("BEGIN")
    await #expect(throws: PostgresError.self) { try await lease.run("SELECT 1 / 0") }
    do {
      try await lease.run("SELECT 'x'")
      Issue.record("It went on.")
    } catch let error as PostgresError {
      #expect(error.sqlState == "25P02")
    }
    try await lease.run("ROLLBACK")
    lease.release()
    #expect(harness.count("closed") == 0)
  }

  @Test func `a pause lets what runs finish and keeps what comes`() async throws {
    let harness = try PoolHarness(size: 2)
    let backend = try await harness.run("SELECT pg_backend_pid()::text")
    let lease = try await harness.lease()
    try await lease.run("BEGIN")
    let (rests, rested) = AsyncStream.makeStream(of: Void.self)
    harness.onLoop { pool in pool.pause { rested.yield() } }
    async let later = harness.run("SELECT pg_backend_pid()::text")
    #expect(try await harness.eventually { harness.onLoop { $0.statistics.waiting } == 1 })
    #expect(try await lease.run("SELECT 'in time'") == "in time")
    #expect(harness.onLoop { $0.statistics.leased } == 1)
    try await lease.run("COMMIT")
    lease.release()
    for await _ in rests { break }
    let still = harness.onLoop { $0.statistics }
    #expect(still.waiting == 1 && still.idle + still.inUse + still.connecting == 0)
    #expect(!harness.onLoop { $0.isAvailable })
    harness.onLoop { $0.resume() }
    let other = try await later
    #expect(other != nil && other != backend)
    #expect(harness.count("connect failed") == 0)
  }

  @Test func `what is paused can be stopped`() async throws {
    let harness = try PoolHarness(size: 2)
    try await harness.run("SELECT 'ready'")
    let (ends, ended) = AsyncStream.makeStream(of: String.self)
    harness.onLoop { pool in
      pool.pause { ended.yield("at rest") }
      pool.stop { ended.yield("stopped") }
    }
    var seen: Set<String> = []
    for await end in ends {
      seen.insert(end)
      if seen.count == 2 { break }
    }
    #expect(seen == ["at rest", "stopped"])
  }

  @Test func `leases wait for each other`() async throws {
    let harness = try PoolHarness(size: 2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { () async throws -> Void in
          let lease = try await harness.lease()
          try await lease.run("BEGIN")
          #expect(try await lease.run("SELECT '\(number % 3)'") == "\(number % 3)")
          try await lease.run("COMMIT")
          lease.release()
        }
      }
      try await group.waitForAll()
    }
  }
}

/// Carries what belongs to a loop through a test.
struct Held<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
