import DatabaseSetup
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// PostgreSQL goes away and comes back while it is used. Each test has a cluster of its own.
@Suite(.serialized) final class OutageTests: Sendable {
  let options: EmbeddedCluster.Options

  init() throws {
    var options = EmbeddedCluster.Options()
    options.dataDirectory = "/tmp/sociograph-outage-\(getpid())-\(UInt16.random(in: 0 ... .max))"
    options.isDurable = false
    options.restarts = false
    options.settings = [("shared_buffers", "16MB")]
    self.options = options
    try TestCluster.endWithProcess(options.dataDirectory)
  }

  deinit {
    _ = try? ChildProcess.start(
      ["/bin/rm", "-rf", options.dataDirectory], user: nil, output: "/dev/null")
  }

  func start() throws -> EmbeddedCluster {
    try EmbeddedCluster.start(options) { _ in }
  }

  /// What clients saw.
  struct Tally: Sendable {
    var answers = 0
    var kinds: [PostgresError.Kind] = []
    var slowest = Duration.zero
    var lastAnswer: ContinuousClock.Instant?
    var firstAnswer: ContinuousClock.Instant?
  }

  /// Some clients that ask one thing after another until told to stop.
  func load(
    _ harness: PoolHarness, clients: Int = 8, pause: Duration = .milliseconds(5),
    while body: (borrowing Mutex<Tally>) async throws -> Void
  ) async throws -> Tally {
    let tally = Shared(Tally())
    let isOver = Shared(false)
    let statement = PostgresStatement("SELECT $1::bigint::text", parameterCount: 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<clients {
        group.addTask { () async throws -> Void in
          while !isOver.mutex.withLock({ $0 }) {
            let began = ContinuousClock.now
            var parameters = PostgresParameters()
            parameters.append(Int64(client))
            do {
              let value = try await harness.run(statement, parameters)
              #expect(value == "\(client)")
              tally.mutex.withLock {
                $0.answers += 1
                $0.lastAnswer = .now
                if $0.firstAnswer == nil { $0.firstAnswer = .now }
              }
            } catch let error as PostgresError {
              tally.mutex.withLock { $0.kinds.append(error.kind) }
            }
            let took = began.duration(to: .now)
            tally.mutex.withLock { $0.slowest = max($0.slowest, took) }
            try await Task.sleep(for: pause)
          }
        }
      }
      defer { isOver.mutex.withLock { $0 = true } }
      try await body(tally.mutex)
      isOver.mutex.withLock { $0 = true }
      try await group.waitForAll()
    }
    return tally.mutex.withLock { $0 }
  }

  final class Shared<Value: Sendable>: Sendable {
    let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
  }

  @Test func `backends that are ended under load cost nobody an answer`() async throws {
    let cluster = try start()
    defer { cluster.stop() }
    let harness = try PoolHarness(cluster.connectionString, size: 3)
    try await harness.run("SELECT 'ready'")
    let session = try TestCluster.session(cluster.connectionString)
    let tally = try await load(harness) { _ in
      // One at a time and seldom: a statement is tried again once, not twice.
      for _ in 0..<5 {
        try await Task.sleep(for: .milliseconds(400))
        try session.execute(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'sociograph' AND pid <> pg_backend_pid()
          LIMIT 1
          """)
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    #expect(tally.answers > 50)
    #expect(tally.kinds == [])
    #expect(harness.count("closed") >= 4)
  }

  @Test func `a cluster that restarts is refused quickly and found again within a second`()
    async throws
  {
    let first = try start()
    let harness = try PoolHarness(first.connectionString, size: 3)
    try await harness.run("SELECT 'ready'")
    let restarted = Shared<EmbeddedCluster?>(nil)
    var refusedAfter = Duration.zero
    var foundAfter: Duration?
    _ = try await load(harness) { tally in
      try await Task.sleep(for: .milliseconds(200))
      // Without a word to anybody, as when the machine fails.
      kill(first.processID, SIGKILL)
      first.stop()
      #expect(try await harness.eventually { harness.count("breaker opened") > 0 })
      for _ in 0..<20 {
        let began = ContinuousClock.now
        let kind = await harness.failure("SELECT 'x'")?.kind
        #expect(kind == .unavailable)
        refusedAfter = max(refusedAfter, began.duration(to: .now))
        try await Task.sleep(for: .milliseconds(50))
      }
      tally.withLock { $0.firstAnswer = nil }
      let again = try start()
      restarted.mutex.withLock { $0 = again }
      // PostgreSQL accepts: `start` has connected.
      let accepts = ContinuousClock.now
      _ = try await harness.eventually { tally.withLock { $0.firstAnswer != nil } }
      foundAfter = tally.withLock { $0.firstAnswer.map { max(accepts.duration(to: $0), .zero) } }
      try await Task.sleep(for: .milliseconds(300))
    }
    restarted.mutex.withLock { $0 }?.stop()
    // 50 ms, and what a busy machine adds.
    #expect(refusedAfter < .milliseconds(150))
    #expect((foundAfter ?? .seconds(99)) < .seconds(1))
    #expect(harness.count("breaker closed") >= 1)
  }

  @Test func `one that stands still lets nobody wait beyond their deadline`() async throws {
    let cluster = try start()
    defer { cluster.stop() }
    let harness = try PoolHarness(cluster.connectionString, size: 2) { settings in
      settings.queueWait = .seconds(1)
      settings.operationDeadline = .milliseconds(700)
      settings.cancelGrace = .milliseconds(200)
    }
    try await harness.run("SELECT 'ready'")
    let session = try TestCluster.session(cluster.connectionString)
    let backends = try session.execute(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'sociograph'"
    ).compactMap { $0[0].flatMap { pid_t($0) } }.filter { $0 != session.processID }
    #expect(!backends.isEmpty)
    for backend in backends { kill(backend, SIGSTOP) }
    let tally = try await load(harness, clients: 3) { _ in
      try await Task.sleep(for: .seconds(2))
      for backend in backends { kill(backend, SIGCONT) }
      try await Task.sleep(for: .milliseconds(500))
    }
    #expect(tally.kinds.allSatisfy { $0 == .timeout || $0 == .overloaded || $0 == .unavailable })
    #expect(tally.slowest < .milliseconds(1_500))
    // Connections that did not listen were replaced.
    #expect(tally.answers > 0)
    #expect(try await harness.run("SELECT 'again'") == "again")
  }

  @Test func `a pool that never finds its database refuses within 50 ms`() async throws {
    let harness = try PoolHarness("host=/nonexistent user=nobody dbname=none", size: 2)
    #expect(try await harness.eventually { harness.count("breaker opened") == 1 })
    var slowest = Duration.zero
    for _ in 0..<20 {
      let began = ContinuousClock.now
      let error = await harness.failure("SELECT 'x'")
      #expect(error?.kind == .unavailable)
      #expect(error?.retryAfter != nil)
      slowest = max(slowest, began.duration(to: .now))
    }
    #expect(slowest < .milliseconds(150))
    #expect(!harness.onLoop { $0.isAvailable })
  }
}
