import DatabaseSetup
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// PostgreSQL goes away and restarts while it is used. Each test has its own cluster.
@Suite(.serialized, .usesCluster(isFirst: true)) final class OutageTests: Sendable {
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
      ["/bin/rm", "-rf", options.dataDirectory, options.dataDirectory + "-other"], user: nil,
      output: "/dev/null")
  }

  /// The same cluster once more, as it is now; not while it runs.
  ///
  /// - Parameter isPromoted: it begins a timeline of its own when it is started.
  func copy(isPromoted: Bool = false) throws -> EmbeddedCluster.Options {
    var others = options
    others.dataDirectory += "-other"
    try TestCluster.endWithProcess(others.dataDirectory)
    let process = try ChildProcess.start(
      ["/bin/cp", "-a", options.dataDirectory, others.dataDirectory], user: nil, output: "/dev/null"
    )
    var status: Int32 = -1
    #expect(unsafe waitpid(process, &status, 0) == process && status == 0)
    if isPromoted {
      // The end of an archive that has nothing.
      others.settings += [("restore_command", "/bin/false"), ("hot_standby", "off")]
      let signal = unsafe open(
        others.dataDirectory + "/postgres/recovery.signal", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(signal >= 0)
      close(signal)
    }
    return others
  }

  func start() throws -> EmbeddedCluster {
    try EmbeddedCluster.start(options) { _ in }
  }

  /// The results that clients saw.
  struct Tally: Sendable {
    var answers = 0
    var kinds: [PostgresError.Kind] = []
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
            var parameters = PostgresParameters()
            parameters.append(Int64(client))
            do {
              let value = try await harness.run(statement, parameters)
              #expect(value == "\(client)")
              tally.mutex.withLock { $0.answers += 1 }
            } catch let error as PostgresError {
              tally.mutex.withLock { $0.kinds.append(error.kind) }
            }
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
    let tally = try await load(harness) { tally in
      // One that was ended is still listed until it has gone.
      var ended = ["0"]
      for round in 1...5 {
        let isEnded = try await harness.eventually {
          let rows = try session.execute(
            """
            SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'sociograph' AND pid <> pg_backend_pid()
              AND pid <> ALL ('{\(ended.joined(separator: ","))}')
            LIMIT 1
            """)
          ended += rows.compactMap { $0[0] }
          return !rows.isEmpty
        }
        #expect(isEnded)
        // One at a time: a statement is tried again once, not twice. One may be ended before it is open.
        let answers = tally.withLock { $0.answers }
        let areServed = try await harness.eventually {
          harness.count("closed") + harness.count("connect failed") >= round
            && tally.withLock { $0.answers > answers + 50 }
        }
        #expect(areServed)
      }
    }
    #expect(tally.answers > 250)
    #expect(tally.kinds == [])
  }

  @Test func `while a cluster is away everyone is refused at once, and served when it is back`()
    async throws
  {
    let first = try start()
    let harness = try PoolHarness(first.connectionString, size: 3)
    try await harness.run("SELECT 'ready'")
    let restarted = Shared<EmbeddedCluster?>(nil)
    _ = try await load(harness) { tally in
      try await Task.sleep(for: .milliseconds(200))
      // Without a word to anybody, as when the machine fails.
      kill(first.processID, SIGKILL)
      first.stop()
      #expect(try await harness.eventually { harness.count("breaker opened") > 0 })
      for _ in 0..<20 {
        // What had waited in the queue would be overloaded.
        #expect(await harness.failure("SELECT 'x'")?.kind == .unavailable)
        try await Task.sleep(for: .milliseconds(50))
      }
      let answers = tally.withLock { $0.answers }
      let again = try start()
      restarted.mutex.withLock { $0 = again }
      let areServed = try await harness.eventually {
        tally.withLock { $0.answers > answers + 50 }
      }
      #expect(areServed)
    }
    restarted.mutex.withLock { $0 }?.stop()
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
    #expect(try await harness.eventually { harness.count("opened") == 2 })
    let session = try TestCluster.session(cluster.connectionString)
    let backends = try session.execute(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'sociograph'"
    ).compactMap { $0[0].flatMap { pid_t($0) } }.filter { $0 != session.processID }
    #expect(backends.count == 2)
    for backend in backends { kill(backend, SIGSTOP) }
    let tally = try await load(harness, clients: 3) { tally in
      // Nobody answers, and yet nobody waits: connections that do not listen are replaced. Their
      // statements end in time, or are cancelled for others' sake and done on another connection.
      let areServed = try await harness.eventually {
        harness.count("closed") >= 2 && tally.withLock { $0.answers > 50 }
      }
      #expect(areServed)
      for backend in backends { kill(backend, SIGCONT) }
    }
    #expect(tally.kinds.allSatisfy { $0 == .timeout || $0 == .overloaded || $0 == .unavailable })
    #expect(try await harness.eventually { await harness.failure("SELECT 'again'") == nil })
  }

  @Test func `a server that stands still is given up after its own timeout`() async throws {
    let cluster = try start()
    defer { cluster.stop() }
    // Nothing but the statement timeout ends a wait here.
    let harness = try PoolHarness(cluster.connectionString, size: 1) {
      $0.probeAfter = .seconds(600)
    } configuration: {
      $0.statementTimeout = .milliseconds(500)
    }
    try await harness.run("SELECT 'ready'")
    let session = try TestCluster.session(cluster.connectionString)
    let backend = try session.execute(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'sociograph'"
    ).compactMap { $0[0].flatMap { pid_t($0) } }.first { $0 != session.processID }
    let process = try #require(backend)
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    #expect(await harness.failure("SELECT 'x'")?.kind == .unavailable)
    #expect(try await harness.eventually { await harness.failure("SELECT 'again'") == nil })
  }

  @Test(arguments: [false, true])
  func `of two servers the one is used that takes writes, also when that changes`(asURL: Bool)
    async throws
  {
    try start().stop()
    let others = try copy()
    let first = try start()
    defer { first.stop() }
    let second = try EmbeddedCluster.start(others) { _ in }
    defer { second.stop() }
    let folders = "\(options.dataDirectory)/run,\(others.dataDirectory)/run"
    let text =
      asURL
      ? "postgresql://sociograph@/sociograph?host=\(folders)&target_session_attrs=read-write"
      : "host=\(folders) user=sociograph dbname=sociograph target_session_attrs=read-write"
    func say(_ word: String, _ cluster: EmbeddedCluster) throws {
      try TestCluster.session(cluster.connectionString).execute(
        """
        SET default_transaction_read_only = off;
        CREATE TABLE IF NOT EXISTS place AS SELECT '\(word)' AS name
        """)
    }
    func change(_ cluster: EmbeddedCluster, isReadOnly: Bool) throws {
      let session = try TestCluster.session(cluster.connectionString)
      try session.execute("ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly)")
      try session.execute("SELECT pg_reload_conf()")
    }
    try say("first", first)
    try say("second", second)
    try change(first, isReadOnly: true)
    let readers = try PoolHarness(text, size: 1) { _ in
    } configuration: {
      $0.isReadOnly = true
    }
    let writers = try PoolHarness(text, size: 1) {
      $0.pipelineDepth = 1
      $0.longPipelineDepth = 1
    } configuration: {
      $0.writes = true
    }
    let write = "UPDATE place SET name = name RETURNING name"
    #expect(
      try await writers.eventually { (try? await writers.transact([write])) == "second" })
    // Ours are set to read only after libpq has looked.
    #expect(try await readers.run("SELECT name FROM place") == "second")
    #expect(await readers.failure("CREATE TABLE no ()")?.kind == .readOnly)
    try change(first, isReadOnly: false)
    try change(second, isReadOnly: true)
    #expect(
      try await writers.eventually { (try? await writers.transact([write])) == "first" })
  }

  /// Two servers of one cluster, of which the second was promoted after the first ended; a table of writes.
  private func failedOver() throws -> (hosts: String, others: EmbeddedCluster.Options) {
    let first = try start()
    try TestCluster.session(first.connectionString).execute("CREATE TABLE write (name text)")
    first.stop()
    let others = try copy(isPromoted: true)
    return ("\(options.dataDirectory)/run,\(others.dataDirectory)/run", others)
  }

  private static let write = "INSERT INTO write VALUES ('x') RETURNING name"

  private func writes(_ cluster: EmbeddedCluster) throws -> String? {
    try TestCluster.session(cluster.connectionString).execute("SELECT count(*) FROM write")
      .first?.first ?? nil
  }

  private func end(_ cluster: EmbeddedCluster) throws {
    try TestCluster.session(cluster.connectionString).execute(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'sociograph' AND pid <> pg_backend_pid()
      """)
  }

  @Test func `a former primary that comes back gets no write, and the next host has it`()
    async throws
  {
    let (hosts, others) = try failedOver()
    let text = "host=\(hosts) user=sociograph dbname=sociograph"
    let writers = try PoolHarness(text, size: 2) {
      $0.pipelineDepth = 1
      $0.longPipelineDepth = 1
    } configuration: {
      $0.writes = true
    }
    var first = try start()
    #expect(
      try await writers.eventually { (try? await writers.transact([Self.write])) == "x" })
    let before = try writes(first)
    first.stop()
    let second = try EmbeddedCluster.start(others) { _ in }
    defer { second.stop() }
    #expect(
      try await writers.eventually { (try? await writers.transact([Self.write])) == "x" })

    first = try start()
    defer { first.stop() }
    let count = try #require(try writes(second))
    var acknowledged = try #require(Int(count))
    for _ in 0..<5 {
      // Whoever connects now meets the first host first.
      try end(second)
      let refused = writers.count("refused outdated(timeline: 1, newest: 2)")
      #expect(
        try await writers.eventually {
          if (try? await writers.transact([Self.write])) == "x" { acknowledged += 1 }
          return writers.count("refused outdated(timeline: 1, newest: 2)") > refused
        })
    }
    #expect(try writes(first) == before)
    #expect(try writes(second) == "\(acknowledged)")
    #expect(writers.onLoop { $0.statistics.hostsRefused } >= 5)
  }

  @Test func `connections to a primary are left once another connection meets its successor`()
    async throws
  {
    let (hosts, others) = try failedOver()
    let folders = hosts.split(separator: ",")
    let history = ServerHistory()
    func pool(_ folder: Substring) throws -> PoolHarness {
      try PoolHarness("host=\(folder) user=sociograph dbname=sociograph", size: 1) {
        $0.pipelineDepth = 1
        $0.longPipelineDepth = 1
      } configuration: {
        $0.writes = true
        $0.history = history
      }
    }
    let first = try start()
    defer { first.stop() }
    let old = try pool(folders[0])
    #expect(try await old.transact([Self.write]) == "x")
    let before = try writes(first)
    // Nobody has told the first that it is one no longer.
    let second = try EmbeddedCluster.start(others) { _ in }
    defer { second.stop() }
    let new = try pool(folders[1])
    #expect(try await new.transact([Self.write]) == "x")
    for _ in 0..<5 {
      await #expect(throws: PostgresError.self) { try await old.transact([Self.write]) }
    }
    #expect(try await old.eventually { old.count("refused outdated(timeline: 1, newest: 2)") > 0 })
    #expect(try writes(first) == before)
    #expect(try await new.transact([Self.write]) == "x")
  }

  @Test func `a host of another cluster is refused, whatever its timeline`() async throws {
    var others = options
    others.dataDirectory += "-other"
    try TestCluster.endWithProcess(others.dataDirectory)
    let first = try start()
    let hosts = "\(options.dataDirectory)/run,\(others.dataDirectory)/run"
    let harness = try PoolHarness("host=\(hosts) user=sociograph dbname=sociograph", size: 1)
    #expect(try await harness.run("SELECT 'first'") == "first")
    let second = try EmbeddedCluster.start(others) { _ in }
    defer { second.stop() }
    first.stop()
    #expect(try await harness.eventually { harness.count("refused otherCluster") > 0 })
    #expect(await harness.failure("SELECT 'x'")?.kind == .unavailable)
    let again = try start()
    defer { again.stop() }
    #expect(
      try await harness.eventually { (try? await harness.run("SELECT 'first'")) == "first" })
  }

  @Test func `a role that may not ask where the server is reads and writes all the same`()
    async throws
  {
    let cluster = try start()
    defer { cluster.stop() }
    try TestCluster.session(cluster.connectionString).execute(
      """
      CREATE ROLE guest LOGIN;
      REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC
      """)
    let harness = try PoolHarness(
      "host=\(options.dataDirectory)/run user=guest dbname=sociograph", size: 2
    ) { _ in
    } configuration: {
      $0.isReadOnly = true
    }
    #expect(try await harness.run("SHOW default_transaction_read_only") == "on")
    #expect(await harness.failure("CREATE TABLE no ()")?.kind == .readOnly)
    #expect(!harness.pool.configuration.history.isKnown)
  }

  @Test func `a pool that never finds its database refuses at once`() async throws {
    let harness = try PoolHarness("host=/nonexistent user=nobody dbname=none", size: 2)
    #expect(try await harness.eventually { harness.count("breaker opened") == 1 })
    for _ in 0..<20 {
      let error = await harness.failure("SELECT 'x'")
      #expect(error?.kind == .unavailable)
      #expect(error?.retryAfter != nil)
    }
    #expect(!harness.onLoop { $0.isAvailable })
  }
}
