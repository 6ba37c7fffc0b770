import EventLoops
import Synchronization
import TestSupport

@testable import Postgres

/// A loop with a pool on it, for tests that wait.
final class PoolHarness: @unchecked Sendable {
  // @unchecked: the pool is touched on its loop only.
  let loop: EventLoop
  let pool: PostgresPool
  let events = Mutex<[String]>([])

  init(
    _ connectionString: String? = nil, size: Int = 4,
    settings change: (inout PoolSettings) -> Void = { _ in },
    configuration changeConfiguration: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws {
    loop = try EventLoop(label: "test")
    var configuration = try PostgresConfiguration(
      connectionString ?? TestCluster.connectionString())
    configuration.statementTimeout = .seconds(600)
    configuration.lockTimeout = .seconds(600)
    configuration.idleInTransactionTimeout = .seconds(600)
    configuration.connectTimeout = .seconds(600)
    changeConfiguration(&configuration)
    var settings = PoolSettings(size: size)
    settings.queueLimit = 1_000
    // Tests run beside each other on few cores, which may be slow or busy: what is not a test's
    // subject has time.
    settings.queueWait = .seconds(600)
    settings.operationDeadline = .seconds(600)
    settings.cancelGrace = .seconds(30)
    settings.probeTimeout = .seconds(30)
    settings.statementTimeout = .seconds(600)
    change(&settings)
    nonisolated(unsafe) weak var recorder: PoolHarness?
    pool = PostgresPool(loop: loop, configuration: configuration, settings: settings) { event in
      let text =
        switch event {
        case .opened: "opened"
        case .closed: "closed"
        case .connectFailed: "connect failed"
        case .hostRefused(let refusal): "refused \(refusal.reason)"
        case .breakerOpened: "breaker opened"
        case .breakerClosed: "breaker closed"
        case .shed(let reason): "shed \(reason)"
        case .retried(let reason): "retried \(reason)"
        case .cancelSent: "cancel sent"
        case .prepared(_, let statement): "prepared \(statement)"
        case .batched(let executions): "batched \(executions)"
        }
      unsafe recorder?.events.withLock { $0.append(text) }
    }
    unsafe recorder = self
    onLoop { $0.start() }
  }

  deinit {
    onLoop { $0.stop() }
    loop.stop()
  }

  func onLoop<R>(_ body: (PostgresPool) -> R) -> R {
    loop.sync { body(pool) }
  }

  func count(_ event: String) -> Int {
    events.withLock { $0.count { $0 == event } }
  }

  /// The first value of the first row, as text is; the statement's values have to be text then.
  @discardableResult
  func run(
    _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters(),
    within limit: Duration? = nil, ticket: (@Sendable (PostgresTicket) -> Void)? = nil
  ) async throws -> String? {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        let given = pool.execute(
          statement, parameters, deadline: limit.map { Moment.now + $0 }
        ) { outcome, _ in
          switch outcome {
          case .success(let result):
            continuation.resume(
              returning: result.rowCount > 0 && result.columnCount > 0
                ? result.string(row: 0, column: 0) : nil)
          case .failure(let error): continuation.resume(throwing: error)
          }
        }
        ticket?(given)
      }
    }
  }

  @discardableResult
  func run(_ text: String, _ numbers: [Int64] = [], within limit: Duration? = nil) async throws
    -> String?
  {
    var parameters = PostgresParameters()
    for number in numbers { parameters.append(number) }
    return try await run(
      PostgresStatement(text, parameterCount: numbers.count), parameters, within: limit)
  }

  /// Returns the times of a statement's phases.
  func times(_ statement: PostgresStatement) async throws -> StatementTimes {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        pool.execute(statement, PostgresParameters()) { outcome, took in
          switch outcome {
          case .success: continuation.resume(returning: took)
          case .failure(let error): continuation.resume(throwing: error)
          }
        }
      }
    }
  }

  /// The error a statement ends with.
  func failure(
    _ text: String, _ parameters: PostgresParameters = PostgresParameters(),
    within limit: Duration? = nil
  ) async -> PostgresError? {
    do {
      _ = try await run(
        PostgresStatement(text, parameterCount: parameters.count), parameters, within: limit)
      return nil
    } catch {
      return error as? PostgresError
    }
  }

  /// Submits all within one batch of the loop.
  func runTogether(
    _ statement: PostgresStatement, _ parameters: [PostgresParameters]
  ) async -> [Result<String?, PostgresError>] {
    await runTogether(parameters) { pool in
      { parameters, completion in pool.execute(statement, parameters, completion: completion) }
    }
  }

  /// Runs executions at once by a runner in front of the pool, created on the loop.
  func runTogether(
    _ parameters: [PostgresParameters],
    by make:
      @escaping @Sendable (PostgresPool) -> (
        PostgresParameters, @escaping StatementCompletion
      ) -> Void
  ) async -> [Result<String?, PostgresError>] {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        nonisolated(unsafe) var outcomes: [Result<String?, PostgresError>?] = parameters.map { _ in
          nil
        }
        let run = make(pool)
        for (index, parameters) in parameters.enumerated() {
          run(parameters) { outcome, _ in
            switch outcome {
            case .success(let result):
              unsafe outcomes[index] = .success(
                result.rowCount > 0 ? result.string(row: 0, column: 0) : nil)
            case .failure(let error): unsafe outcomes[index] = .failure(error)
            }
            let known = unsafe outcomes.compactMap { $0 }
            if unsafe known.count == outcomes.count { continuation.resume(returning: known) }
          }
        }
      }
    }
  }

  func lease() async throws -> HeldLease {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        pool.lease { result in
          switch result {
          case .success(let lease): continuation.resume(returning: HeldLease(lease, self.loop))
          case .failure(let error): continuation.resume(throwing: error)
          }
        }
      }
    }
  }

  /// Waits until something holds, for a minute at most.
  func eventually(_ holds: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(600)
    while ContinuousClock.now < deadline {
      if try await holds() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}

/// A lease used from tests, on its loop.
final class HeldLease: @unchecked Sendable {
  // @unchecked: touched on the loop only.
  private var lease: PostgresLease?
  private let loop: EventLoop

  init(_ lease: PostgresLease, _ loop: EventLoop) {
    self.lease = lease
    self.loop = loop
  }

  @discardableResult
  func run(_ text: String) async throws -> String? {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute { [self] in
        lease?.execute(PostgresStatement(text, parameterCount: 0), PostgresParameters()) {
          outcome in
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

  func release() {
    loop.sync {
      lease?.release()
      lease = nil
    }
  }
}
