import Dispatch
import EventLoops
import Glibc
import TestSupport
import Testing

@testable import Postgres

/// A loop with a pool on it, for tests that wait.
final class PoolHarness: @unchecked Sendable {
  // @unchecked: the pool is touched on its loop only.
  let loop: EventLoop
  let pool: PostgresPool

  init(settings: PoolSettings = PoolSettings(), readOnly: Bool = false) throws {
    loop = try EventLoop(label: "test")
    var configuration = try PostgresConfiguration(TestCluster.connectionString())
    configuration.isReadOnly = readOnly
    pool = PostgresPool(loop: loop, configuration: configuration, settings: settings)
    loop.queue.sync { pool.start() }
  }

  deinit {
    let pool = pool
    nonisolated(unsafe) let stopping = pool
    loop.queue.sync { unsafe stopping.stop() }
    loop.stop()
  }

  func run(_ text: String, _ numbers: [Int64] = []) async throws -> String? {
    let statement = PostgresStatement(text, parameterCount: numbers.count)
    return try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        var parameters = PostgresParameters()
        for number in numbers { parameters.append(number) }
        pool.execute(statement, parameters) { outcome in
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
}

@Test func `a statement's rows come back`() async throws {
  let harness = try PoolHarness()
  #expect(try await harness.run("SELECT 'x' || $1::bigint", [42]) == "x42")
  #expect(try await harness.run("SELECT 'x' || $1::bigint", [43]) == "x43")
  await #expect(throws: PostgresError.self) { try await harness.run("SELECT nonsense") }
  #expect(
    try await harness.run("SELECT current_setting('plan_cache_mode')") == "force_generic_plan")
}

@Test func `many statements`() async throws {
  let harness = try PoolHarness()
  try await withThrowingTaskGroup(of: Void.self) { group in
    for index in 0..<50 {
      group.addTask {
        for round in 0..<100 {
          let number = Int64(index * 1000 + round)
          let value = try await harness.run("SELECT 'n' || $1::bigint", [number])
          #expect(value == "n\(number)")
        }
      }
    }
    try await group.waitForAll()
  }
}
