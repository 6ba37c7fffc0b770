import EventLoops
import Glibc
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Postgres

@Suite(.usesCluster) struct StatementBatcherTests {
  /// Texts of the given type, read back from what was combined.
  private func values(
    _ type: String, _ harness: PoolHarness,
    _ append: [(inout PostgresParameters) -> Void]
  ) async throws -> [String?] {
    let statement = BatchableStatement("SELECT \(0, type)::text")
    let outcomes = await harness.combine(
      statement,
      append.map { append in
        var parameters = PostgresParameters()
        append(&parameters)
        return parameters
      })
    return try outcomes.map { try $0.get() }
  }

  @Test func `values of every type reach their own execution`() async throws {
    let harness = try PoolHarness(size: 1)
    #expect(
      try await values(
        "bigint", harness, [{ $0.append(Int64.min) }, { $0.appendNull() }, { $0.append(Int64(7)) }])
        == ["-9223372036854775808", nil, "7"])
    #expect(
      try await values("int4", harness, [{ $0.append(Int32(1)) }, { $0.append(Int32(-2)) }])
        == ["1", "-2"])
    #expect(
      try await values("float8", harness, [{ $0.append(0.5) }, { $0.append(-Double.infinity) }])
        == ["0.5", "-Infinity"])
    #expect(
      try await values("bool", harness, [{ $0.append(true) }, { $0.append(false) }])
        == ["true", "false"])
    #expect(
      try await values(
        "text", harness, [{ $0.append("") }, { $0.append("ü,{}\"") }, { $0.appendNull() }])
        == ["", "ü,{}\"", nil])
    #expect(
      try await values(
        "timestamptz", harness, [{ $0.append(timestamp: 0) }, { $0.append(timestamp: 1_000_000) }])
        == ["2000-01-01 00:00:00+00", "2000-01-01 00:00:01+00"])
    #expect(
      try await values("date", harness, [{ $0.append(date: 0) }, { $0.append(date: 31) }])
        == ["2000-01-01", "2000-02-01"])
  }

  @Test func `arrays reach their own execution, empty and null ones too`() async throws {
    let harness = try PoolHarness(size: 1)
    #expect(
      try await values(
        "bigint[]", harness,
        [
          { $0.append(array: [1, nil, 3] as [Int64?]) }, { $0.append(array: [Int64?]()) },
          { $0.appendNull() }, { $0.append(array: [4] as [Int64?]) },
        ]) == ["{1,NULL,3}", "{}", nil, "{4}"])
    #expect(
      try await values(
        "text[]", harness,
        [
          { $0.append(array: ["a,b", nil, ""] as [String?]) }, { $0.append(array: ["ü"]) },
        ]) == [#"{"a,b",NULL,""}"#, "{ü}"])
    // All are empty, or null.
    #expect(
      try await values(
        "bigint[]", harness, [{ $0.append(array: [Int64?]()) }, { $0.appendNull() }])
        == ["{}", nil])
  }

  @Test func `many executions are one for PostgreSQL, each with its own answer`() async throws {
    let harness = try PoolHarness(size: 1) { $0.probeAfter = .seconds(600) }
    let statement = BatchableStatement(
      """
      SELECT \(1, "text") || ':' || (SELECT count(*) FROM unnest(\(0, "bigint[]")) AS e(id)
        WHERE e.id > \(2, "bigint")) || ':' || pg_backend_pid() || ':' || statement_timestamp()
      """)
    for count in [2, 3, 8] {
      let outcomes = await harness.combine(
        statement,
        (0..<count).map { number in
          var parameters = PostgresParameters()
          parameters.append(array: (0..<10).map { Int64($0) } as [Int64?])
          parameters.append("n\(number)")
          parameters.append(Int64(number))
          return parameters
        })
      let texts = try outcomes.map { try $0.get() ?? "" }
      for (number, text) in texts.enumerated() {
        #expect(text.hasPrefix("n\(number):\(9 - number):"))
      }
      // The moment of a statement is one.
      #expect(Set(texts.map { $0.split(separator: ":", maxSplits: 2).last ?? "" }).count == 1)
    }
    let executed = harness.onLoop { $0.statistics.executed }
    #expect(executed == 3)
  }

  @Test func `the executions of one request are one for PostgreSQL, however rare they are`()
    async throws
  {
    let harness = try PoolHarness(size: 1) { $0.probeAfter = .seconds(600) }
    let statement = OnLoop(value: BatchableStatement("SELECT (12 / \(0, "bigint"))::text"))
    func outcomes(_ numbers: [Int64]) async -> [Result<String?, PostgresError>] {
      let parameters = numbers.map { number in
        var parameters = PostgresParameters()
        parameters.append(number)
        return parameters
      }
      let count = numbers.count
      return await harness.runTogether(parameters) { pool in
        let gatherer = StatementGatherer(StatementBatcher(pool))
        var left = count
        return { parameters, completion in
          _ = gatherer.run(statement.value, parameters, for: nil, completion: completion)
          left -= 1
          if left == 0 { gatherer.send() }
        }
      }
    }
    let good = await outcomes((0..<250).map { $0 % 12 + 1 })
    for (number, outcome) in good.enumerated() {
      #expect(try outcome.get() == "\(12 / (number % 12 + 1))")
    }
    // A hundred at a time, as PostgreSQL answers all of them at once.
    #expect(harness.onLoop { $0.statistics.executed } == 3)
    // One that fails leaves the others alone.
    let some = await outcomes([3, 0, 4])
    #expect(try some[0].get() == "4" && some[2].get() == "3")
    #expect(throws: PostgresError.self) { try some[1].get() }
  }

  @Test func `one that fails leaves those beside it alone`() async throws {
    let harness = try PoolHarness(size: 1)
    let statement = BatchableStatement("SELECT (12 / \(0, "bigint"))::text")
    for _ in 0..<2 {
      let outcomes = await harness.combine(
        statement,
        ([3, 0, 4] as [Int64]).map { number in
          var parameters = PostgresParameters()
          parameters.append(number)
          return parameters
        })
      #expect(try outcomes[0].get() == "4")
      #expect(throws: PostgresError.self) { try outcomes[1].get() }
      #expect(try outcomes[2].get() == "3")
    }
  }

  @Test func `one that is stopped takes no answer from those beside it`() async throws {
    let harness = try PoolHarness(size: 1)
    let other = try PoolHarness(size: 1)
    let statement = BatchableStatement(
      "SELECT coalesce(pg_sleep(\(0, "bigint"))::text, '') || \(0, "bigint") || ' stopped'")
    // As PostgreSQL does when a statement takes too long.
    let stopping = Task {
      while !Task.isCancelled {
        try await other.run(
          """
          SELECT count(pg_cancel_backend(pid))::text FROM pg_stat_activity
          WHERE wait_event = 'PgSleep' AND query LIKE '% stopped%' AND pid <> pg_backend_pid()
          """)
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    let outcomes = await harness.combine(
      statement,
      ([0, 600, 0] as [Int64]).map { seconds in
        var parameters = PostgresParameters()
        parameters.append(seconds)
        return parameters
      })
    stopping.cancel()
    _ = try? await stopping.value
    #expect(try outcomes[0].get() == "0 stopped")
    #expect(throws: PostgresError.self) { try outcomes[1].get() }
    #expect(try outcomes[2].get() == "0 stopped")
    #expect(statement.isUnbatchable)
  }

  @Test func `what cannot be batched runs alone`() async throws {
    let harness = try PoolHarness(size: 2)
    var number = PostgresParameters()
    number.append(inTextFormat: "1.5")
    let numeric = BatchableStatement("SELECT \(0, "numeric")::text")
    #expect(numeric.batched == nil)
    for outcome in await harness.combine(numeric, [number, number]) {
      #expect(try outcome.get() == "1.5")
    }
    // A type that is not written, and none at all.
    #expect(BatchableStatement("SELECT \(0, nil) || 'a'").batched == nil)
    #expect(BatchableStatement("SELECT 1").batched == nil)
    // Text that promises binary values, whose values are not.
    let text = BatchableStatement("SELECT \(0, "text")")
    for outcome in await harness.combine(text, [number, number]) {
      #expect(try outcome.get() == "1.5")
    }
    // A text that is no SELECT of one column.
    let broken = BatchableStatement(
      "SELECT id::text FROM unnest(\(0, "bigint[]")) AS e(id)")
    var ids = PostgresParameters()
    ids.append(array: [5] as [Int64?])
    for outcome in await harness.combine(broken, [ids, ids]) { #expect(try outcome.get() == "5") }
    #expect(broken.isUnbatchable)
  }

  @Test func `rare and long statements are not held`() async throws {
    let harness = try PoolHarness(size: 1) { $0.probeAfter = .seconds(600) }
    var parameters = PostgresParameters()
    parameters.append(Int64(1))
    let rare = BatchableStatement("SELECT \(0, "bigint")::text")
    var settings = StatementBatcher.Settings.always
    settings.frequent = 3
    _ = await harness.combine(rare, [parameters, parameters], settings)
    #expect(harness.onLoop { $0.statistics.executed } == 2)
    // The third is still rare, and the two behind it are one.
    _ = await harness.combine(rare, [parameters, parameters, parameters], settings)
    #expect(harness.onLoop { $0.statistics.executed } == 4)
    settings.longestTogether = .nanoseconds(1)
    _ = await harness.combine(rare, [parameters, parameters], settings)
    #expect(harness.onLoop { $0.statistics.executed } == 6)
  }

  @Test func `what others take of the cores is no cost of a statement`() {
    let statement = PostgresStatement("SELECT 1", parameterCount: 0)
    for _ in 0..<20 {
      statement.record(nanoseconds: 300_000)
      statement.record(nanoseconds: 9_000_000)
    }
    #expect(statement.estimateNanoseconds(at: .now) > 2_000_000)
    #expect(statement.costNanoseconds(at: .now) < 310_000)
    // One that has really become dearer is soon known to be.
    for _ in 0..<400 { statement.record(nanoseconds: 9_000_000) }
    #expect(statement.costNanoseconds(at: .now) == 9_000_000)
    // What ran into its timeout costs as much.
    statement.raise(toNanoseconds: 5_000_000_000, at: .now)
    #expect(statement.costNanoseconds(at: .now) == 5_000_000_000)
  }

  @Test func `the dearer a statement, the fewer are in one execution`() async throws {
    let harness = try PoolHarness(size: 1) { $0.probeAfter = .seconds(600) }
    let statement = BatchableStatement("SELECT \(0, "bigint")::text")
    var parameters = PostgresParameters()
    parameters.append(Int64(1))
    var settings = StatementBatcher.Settings.always
    settings.longestTogether = .milliseconds(4)
    statement.alone.record(nanoseconds: 1_300_000)
    _ = await harness.combine(statement, Array(repeating: parameters, count: 6), settings)
    #expect(harness.onLoop { $0.statistics.executed } == 2)
    statement.alone.raise(toNanoseconds: 2_100_000, at: .now)
    _ = await harness.combine(statement, [parameters, parameters], settings)
    #expect(harness.onLoop { $0.statistics.executed } == 4)
  }

  @Test
  func
    `who is served last of a batch waits for nobody, and what it asks for behind that is together`()
    async throws
  {
    let harness = try PoolHarness(size: 1) { $0.probeAfter = .seconds(600) }
    var ends: [Int32] = [-1, -1]
    #expect(unsafe pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    defer {
      close(reading)
      close(writing)
    }
    let (atOnce, answers) = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<(Int, [String?]), any Error>) in
      harness.loop.execute {
        let batcher = StatementBatcher(harness.pool, settings: .always)
        let statement = BatchableStatement("SELECT \(0, "bigint")::text")
        var token: EventLoop.Token?
        var answers: [String?] = []
        var atOnce = 0
        do {
          token = try harness.loop.register(reading, for: .readable) { _ in
            // Others may be ready as well; the pipe stays it.
            guard harness.loop.isServingLast, let held = token else { return }
            harness.loop.unregister(held)
            for number in 0..<3 {
              var parameters = PostgresParameters()
              parameters.append(Int64(number))
              _ = batcher.run(statement, parameters, for: nil) { outcome, _ in
                switch outcome {
                case .success(let result): answers.append(result.string(row: 0, column: 0))
                case .failure(let error): answers.append(error.message)
                }
                if answers.count == 3 { continuation.resume(returning: (atOnce, answers)) }
              }
            }
            atOnce = harness.pool.statistics.executed
          }
        } catch {
          continuation.resume(throwing: error)
        }
        var byte: UInt8 = 1
        _ = unsafe write(writing, &byte, 1)
      }
    }
    #expect(atOnce == 1)
    #expect(answers == ["0", "1", "2"])
    #expect(harness.onLoop { $0.statistics.executed } == 2)
    #expect(harness.count("batched 2") == 1)
  }

  @Test func `what comes while as many as are wanted run waits for one of these, but not long`()
    async throws
  {
    let (harness, locking) = (try PoolHarness(size: 1), try PoolHarness(size: 1))
    let isNear = try await harness.eventually {
      try await harness.run("SELECT 'near'")
      return harness.onLoop { !$0.isFar }
    }
    #expect(isNear)
    for longest in [Duration.seconds(3600), .milliseconds(20)] {
      let lock = try await locking.lease()
      try await lock.run("SELECT pg_advisory_lock(7317)::text")
      var settings = StatementBatcher.Settings.always
      settings.longestTogether = longest
      let batcher = harness.onLoop { OnLoop(value: StatementBatcher($0, settings: settings)) }
      let statement = BatchableStatement(
        "SELECT pg_advisory_xact_lock_shared(7317)::text || \(0, "bigint")")
      let answers = Mutex<[String?]>([])
      // Two in turns of their own, then the others in one; where eight are held, these go at once.
      let count = longest > .seconds(1) ? 21 : 5
      for turn in [0..<1, 1..<2, 2..<count] {
        harness.onLoop { _ in
          for number in turn {
            var parameters = PostgresParameters()
            parameters.append(Int64(number))
            _ = batcher.value.run(statement, parameters, for: nil) { outcome, _ in
              switch outcome {
              case .success(let result):
                answers.withLock { $0.append(result.string(row: 0, column: 0)) }
              case .failure(let error): answers.withLock { $0.append(error.message) }
              }
            }
          }
        }
      }
      if longest > .seconds(1) {
        #expect(harness.onLoop { _ in statement.held.count } == 3)
        #expect(harness.onLoop { _ in statement.underWayCount } == 4)
        #expect(harness.onLoop { _ in batcher.value.due.count } == 1)
      } else {
        #expect(try await harness.eventually { harness.onLoop { _ in statement.held.isEmpty } })
      }
      #expect(answers.withLock { $0.isEmpty })
      try await lock.run("SELECT pg_advisory_unlock(7317)::text")
      lock.release()
      #expect(try await harness.eventually { answers.withLock { $0.count } == count })
      #expect(answers.withLock { Set($0) } == Set((0..<count).map { "\($0)" }))
      #expect(harness.onLoop { _ in statement.underWayCount } == 0)
      if longest > .seconds(1) { #expect(harness.count("batched 3") == 1) }
    }
  }

  @Test func `nobody is told who has left, and the others are`() async throws {
    let harness = try PoolHarness(size: 1)
    let answers = await withCheckedContinuation {
      (continuation: CheckedContinuation<[Int], Never>) in
      harness.loop.execute {
        let batcher = StatementBatcher(harness.pool, settings: .always)
        let statement = BatchableStatement("SELECT \(0, "bigint")::text")
        nonisolated(unsafe) var answers: [Int] = []
        var tickets: [PostgresTicket?] = []
        for number in 0..<5 {
          var parameters = PostgresParameters()
          parameters.append(Int64(number))
          tickets.append(
            batcher.run(statement, parameters, for: nil) { _, _ in
              unsafe answers.append(number)
              if number == 4 { continuation.resume(returning: unsafe answers) }
            })
        }
        // One before it was sent, one after.
        tickets[1]?.cancel()
        harness.loop.afterThisBatch { tickets[2]?.cancel() }
      }
    }
    #expect(answers == [0, 3, 4])
  }

  @Test func `when all have left, what runs is cancelled`() async throws {
    let harness = try PoolHarness(size: 1)
    harness.loop.execute {
      let batcher = StatementBatcher(harness.pool, settings: .always)
      let statement = BatchableStatement(
        "SELECT pg_sleep(600 + \(0, "bigint"))::text")
      var parameters = PostgresParameters()
      parameters.append(Int64(1))
      let tickets = (0..<2).map { _ in batcher.run(statement, parameters, for: nil) { _, _ in } }
      harness.loop.afterThisBatch {
        harness.loop.afterThisBatch { for ticket in tickets { ticket?.cancel() } }
      }
    }
    #expect(try await harness.run("SELECT 'free again'") == "free again")
  }
}

extension StatementBatcher.Settings {
  /// Limits that combine everything of one turn.
  static var always: Self {
    var settings = Self()
    settings.frequent = 0
    settings.longestTogether = .seconds(3600)
    return settings
  }
}

extension BatchableStatement {
  fileprivate convenience init(_ fragment: SQLFragment) { self.init(fragment.statement()) }
}

extension SQLFragment.StringInterpolation {
  /// A parameter by its ordinal, with its type: `bigint`, `text[]`.
  fileprivate mutating func appendInterpolation(_ ordinal: Int, _ type: String?) {
    let type = type.map { SQLType($0.replacing("[]", with: ""), isArray: $0.hasSuffix("[]")) }
    appendInterpolation(SQLParameter(ordinal: ordinal, type: type))
  }
}

/// Handed to a loop, which is the only one to touch it while it does.
private struct OnLoop<Value>: @unchecked Sendable {
  let value: Value
}

extension PoolHarness {
  /// Runs all in one turn of the loop.
  fileprivate func combine(
    _ statement: BatchableStatement, _ parameters: [PostgresParameters],
    _ settings: StatementBatcher.Settings = .always
  ) async -> [Result<String?, PostgresError>] {
    let statement = OnLoop(value: statement)
    return await runTogether(parameters) { pool in
      let batcher = StatementBatcher(pool, settings: settings)
      return { parameters, completion in
        _ = batcher.run(statement.value, parameters, for: nil, completion: completion)
      }
    }
  }
}
