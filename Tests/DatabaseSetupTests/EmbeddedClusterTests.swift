import Dispatch
import Glibc
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import DatabaseSetup

/// Each test makes a cluster of its own and stops it.
@Suite(.serialized, .usesCluster(isFirst: true)) struct EmbeddedClusterTests {
  let options: EmbeddedCluster.Options

  init() throws {
    var options = EmbeddedCluster.Options()
    options.dataDirectory = "/tmp/sociograph-cluster-\(getpid())-\(UInt16.random(in: 0 ... .max))"
    options.isDurable = false
    options.restarts = false
    options.settings = [("shared_buffers", "16MB"), ("synchronous_commit", "on")]
    self.options = options
    try TestCluster.endWithProcess(options.dataDirectory)
  }

  func remove(_ folder: String) throws {
    _ = try ChildProcess.run(["/bin/rm", "-rf", folder], user: nil)
  }

  func start(_ options: EmbeddedCluster.Options) throws -> (EmbeddedCluster, [String]) {
    let events = Events()
    let cluster = try EmbeddedCluster.start(options, report: events.add)
    return (cluster, events.names)
  }

  /// The reported events, in short.
  final class Events: Sendable {
    private let list = Mutex<[String]>([])

    var names: [String] { list.withLock { $0 } }

    @Sendable func add(_ event: ClusterEvent) {
      let name =
        switch event {
        case .movedData: "moved"
        case .creating: "creating"
        case .starting: "starting"
        case .takingOver: "taking over"
        case .recovering: "recovering"
        case .joining: "joining"
        case .upgraded: "upgraded"
        case .upgradeDone: "upgrade done"
        case .ready: "ready"
        case .ended: "ended"
        case .failed: "failed"
        }
      list.withLock { $0.append(name) }
    }
  }

  func query(_ cluster: EmbeddedCluster, _ text: String) throws -> [[String?]] {
    try PostgresSession(PostgresConfiguration(cluster.connectionString)).execute(text)
  }

  @Test func `PostgreSQL does not go on for a database that cannot be made`() throws {
    defer { try? remove(options.dataDirectory) }
    var impossible = options
    // Nobody may connect to it, as nobody can write to a disk that is full.
    impossible.database = "template0"
    #expect(throws: (any Error).self) { try start(impossible) }
    // None is left that could be taken over.
    let (next, events) = try start(options)
    next.stop()
    #expect(events == ["starting", "ready"])
  }

  @Test func `it is made, keeps its rows and starts again`() throws {
    defer { try? remove(options.dataDirectory) }
    let (first, events) = try start(options)
    #expect(events == ["creating", "starting", "ready"])
    _ = try query(first, "CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (7)")
    let installed = try query(first, "SELECT count(*) FROM pg_stat_statements")
    #expect(installed.count == 1)
    first.stop()
    #expect(!ChildProcess.isAlive(first.processID))

    let (second, again) = try start(options)
    defer { second.stop() }
    #expect(again == ["starting", "ready"])
    #expect(try query(second, "SELECT id FROM kept") == [["7"]])
  }

  @Test func `a second server on the same folder is told so`() throws {
    defer { try? remove(options.dataDirectory) }
    let (cluster, _) = try start(options)
    defer { cluster.stop() }
    let error = #expect(throws: SetupError.self) { try start(options) }
    #expect(error?.message.contains("in use by another server, process \(getpid())") == true)
  }

  @Test func `one left running by a killed server is taken over`() throws {
    defer { try? remove(options.dataDirectory) }
    let (left, _) = try start(options)
    _ = try query(left, "CREATE TABLE kept (id bigint)")
    left.abandon()
    let (cluster, events) = try start(options)
    #expect(events == ["taking over", "ready"])
    #expect(cluster.processID == left.processID)
    #expect(try query(cluster, "SELECT count(*) FROM kept") == [["0"]])
    cluster.stop()
    #expect(!ChildProcess.isAlive(cluster.processID))
  }

  @Test func `what a killed server left half-done is waited for`() throws {
    defer { try? remove(options.dataDirectory) }
    let (left, _) = try start(options)
    let admin = left.connectionString.replacing("dbname=sociograph", with: "dbname=postgres")
    // As a killed server's connection goes on: it is about to make the database.
    let half = try PostgresSession(PostgresConfiguration(admin))
    try half.execute(EmbeddedCluster.preparing)
    try half.execute("DROP DATABASE sociograph")
    left.abandon()
    let options = options
    let heir = Mutex<Result<EmbeddedCluster, any Error>?>(nil)
    let started = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      heir.withLock { $0 = Result { try EmbeddedCluster.start(options) { _ in } } }
      started.signal()
    }
    let deadline = ContinuousClock.now + .seconds(120)
    let waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    while try half.execute(waiting).isEmpty, ContinuousClock.now < deadline { usleep(5_000) }
    try half.execute("CREATE DATABASE sociograph")
    try half.execute("SELECT pg_advisory_unlock_all()")
    started.wait()
    let cluster = try #require(heir.withLock { $0 }).get()
    #expect(try query(cluster, "SELECT 1") == [["1"]])
    cluster.stop()
  }

  @Test func `one whose postmaster was killed recovers`() throws {
    defer { try? remove(options.dataDirectory) }
    let (left, _) = try start(options)
    _ = try query(left, "CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (7)")
    kill(left.processID, SIGKILL)
    while ChildProcess.ended(left.processID) == nil { usleep(1000) }
    left.abandon()
    let (cluster, events) = try start(options)
    defer { cluster.stop() }
    #expect(events == ["recovering", "starting", "ready"])
    #expect(try query(cluster, "SELECT id FROM kept") == [["7"]])
  }

  @Test func `one that ends by itself is started again`() async throws {
    var options = options
    options.restarts = true
    defer { try? remove(options.dataDirectory) }
    let events = Events()
    let cluster = try EmbeddedCluster.start(options, report: events.add)
    defer { cluster.stop() }
    _ = try query(cluster, "CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (7)")
    let first = cluster.processID
    kill(first, SIGKILL)
    let deadline = ContinuousClock.now + .seconds(120)
    while events.names.count(where: { $0 == "ready" }) < 2, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(
      events.names == ["creating", "starting", "ready", "ended", "recovering", "starting", "ready"])
    #expect(cluster.processID != first)
    #expect(try query(cluster, "SELECT id FROM kept") == [["7"]])
  }

  @Test func `who may join uses the one that runs, and leaves it running`() throws {
    defer { try? remove(options.dataDirectory) }
    let (cluster, _) = try start(options)
    defer { cluster.stop() }
    var options = options
    options.joinsRunning = true
    let (joined, events) = try start(options)
    #expect(events == ["joining"])
    #expect(joined.isJoined && !cluster.isJoined)
    #expect(joined.connectionString == cluster.connectionString)
    #expect(joined.processID == cluster.processID)
    joined.stop()
    #expect(try query(cluster, "SELECT 1") == [["1"]])
    cluster.stop()
    let (own, started) = try start(options)
    defer { own.stop() }
    #expect(started == ["starting", "ready"] && !own.isJoined)
  }

  /// An installation of its own, whose libraries are links to those installed.
  func programs() throws -> String {
    let installed = try ClusterPrograms.find(nil, for: "").folder
    let folder = options.dataDirectory + "-programs"
    try shell(
      """
      mkdir -p \(folder)/bin \(folder)/lib
      cp \(installed)/postgres \(installed)/initdb \(folder)/bin
      ln -s \(installed)/../lib/*.so \(folder)/lib
      """)
    return folder + "/bin"
  }

  func shell(_ script: String) throws {
    #expect(try ChildProcess.run(["/bin/sh", "-ec", script], user: nil) == 0)
  }

  @Test(arguments: ["bin/postgres", "lib/plpgsql.so"])
  func `one whose files are upgraded is restarted when it suits`(file: String) async throws {
    var options = options
    options.restarts = true
    options.binaries = try programs()
    defer {
      try? remove(options.dataDirectory)
      try? remove(options.dataDirectory + "-programs")
    }
    let path = options.dataDirectory + "-programs/" + file
    let events = Events()
    let cluster = try EmbeddedCluster.start(options, report: events.add)
    defer { cluster.stop() }
    let first = cluster.processID
    _ = try query(cluster, "CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (7)")
    // Asked first, it goes on answering until it is told to.
    let asked = AsyncStream.makeStream(of: Void.self)
    let allowed = AsyncStream.makeStream(of: Void.self)
    let wasUp = Atomic(false)
    cluster.arrangeRestarts { restart in
      wasUp.store(ChildProcess.isAlive(first), ordering: .relaxed)
      asked.continuation.yield()
      let done = DispatchSemaphore(value: 0)
      Task {
        for await _ in allowed.stream { break }
        done.signal()
      }
      done.wait()
      restart()
    }
    try shell("cp \(path) \(path).new && mv \(path).new \(path)")
    for await _ in asked.stream { break }
    let isUpMeanwhile = wasUp.load(ordering: .relaxed)
    #expect(isUpMeanwhile)
    #expect(events.names == ["creating", "starting", "ready", "upgraded"])
    #expect(try query(cluster, "SELECT id FROM kept") == [["7"]])
    allowed.continuation.yield()
    while events.names.last != "upgrade done" { try await Task.sleep(for: .milliseconds(20)) }
    #expect(
      events.names == [
        "creating", "starting", "ready", "upgraded", "starting", "ready", "upgrade done",
      ])
    #expect(cluster.processID != first && !ChildProcess.isAlive(first))
    #expect(try query(cluster, "SELECT id FROM kept") == [["7"]])
  }

  @Test func `only files that the server has loaded make an upgrade`() throws {
    var options = options
    options.binaries = try programs()
    let folder = options.dataDirectory + "-programs"
    defer {
      try? remove(options.dataDirectory)
      try? remove(folder)
    }
    let (cluster, _) = try start(options)
    defer { cluster.stop() }
    let programs = try ClusterPrograms.find(options.binaries, for: "")
    let session = try PostgresSession(PostgresConfiguration(cluster.connectionString))
    try session.execute("LOAD '\(folder)/lib/citext.so'")
    func isUpgrade(_ script: String) throws -> Bool {
      let before = ClusterInstallation(programs)
      try shell("cd \(folder); " + script)
      let after = ClusterInstallation(programs)
      #expect(before != after)
      return after.isUpgrade(of: before, process: cluster.processID)
    }
    func replace(_ file: String) -> String { "cp \(file) new && mv new \(file)" }
    // Another extension is installed, upgraded and removed.
    #expect(try !isUpgrade("cp lib/hstore.so lib/unrelated.so"))
    #expect(try !isUpgrade(replace("lib/hstore.so")))
    #expect(try !isUpgrade("rm lib/unrelated.so"))
    #expect(try isUpgrade(replace("lib/citext.so")))
    #expect(try isUpgrade(replace("lib/plpgsql.so")))
    #expect(try isUpgrade(replace("bin/postgres")))
    withExtendedLifetime(session) {}
  }

  @Test func `one left running by a server of before an upgrade is not taken over`() throws {
    var options = options
    options.binaries = try programs()
    defer {
      try? remove(options.dataDirectory)
      try? remove(options.dataDirectory + "-programs")
    }
    let (left, _) = try start(options)
    left.abandon()
    let path = (options.binaries ?? "") + "/postgres"
    try shell("cp \(path) \(path).new && mv \(path).new \(path)")
    let (cluster, events) = try start(options)
    defer { cluster.stop() }
    #expect(events.suffix(2) == ["starting", "ready"])
    #expect(cluster.processID != left.processID)
  }

  @Test func `an initdb left at work by a killed server harms no other`() throws {
    // It writes into its folder for as long as it lives, and empties it when that fails, as initdb does.
    var options = options
    let folder = options.dataDirectory + "-programs"
    try FileSystem.makeDirectory(folder)
    defer {
      try? remove(options.dataDirectory)
      try? remove(folder)
    }
    let installed = try ClusterPrograms.find(nil, for: "").folder
    try FileSystem.write(
      """
      #!/bin/sh
      for word; do case "$word" in --pgdata=*) data=${word#--pgdata=} ;; esac; done
      echo "$data" > "$data/../draft"
      (while mkdir -p "$data/base" && echo 15 > "$data/PG_VERSION"; do :; done) &
      while [ -e "$data/.." ]; do sleep 0.05; done
      """, to: folder + "/initdb")
    try FileSystem.write("#!/bin/sh\nexec \(installed)/postgres \"$@\"\n", to: folder + "/postgres")
    for name in ["initdb", "postgres"] { unsafe chmod(folder + "/" + name, 0o755) }
    let account = try ClusterAccount.current()
    let place = try ClusterLayout.prepare(options.dataDirectory, for: account) { _ in }
    try account.give(place.data)
    let draft = try place.makeDraft(for: account)
    let left = try ChildProcess.start(
      [folder + "/initdb", "--pgdata=\(draft)"], user: account.name, output: "/dev/null")
    defer { kill(left, SIGKILL) }
    while !FileSystem.exists(place.data + "/draft") { usleep(1000) }
    options.settings.append(("log_min_messages", "warning"))
    let (cluster, events) = try start(options)
    defer { cluster.stop() }
    #expect(events == ["creating", "starting", "ready"])
    #expect(try query(cluster, "SELECT 1") == [["1"]])
  }

  @Test func `a lock file that names a process of another program does not stop it`() throws {
    defer { try? remove(options.dataDirectory) }
    let (first, _) = try start(options)
    first.stop()
    let account = try ClusterAccount.current()
    let other = try ChildProcess.start(
      ["/bin/sleep", "60"], user: account.name, output: "/dev/null")
    defer {
      kill(other, SIGKILL)
      while ChildProcess.ended(other) == nil { usleep(1000) }
    }
    let place = options.dataDirectory + "/postgres"
    try FileSystem.write(
      "\(other)\n\(place)\n1700000000\n5432\n\(options.dataDirectory)/run\n\n  1 1\nready   \n",
      to: place + "/postmaster.pid")
    try account.give(place + "/postmaster.pid")
    let (cluster, events) = try start(options)
    defer { cluster.stop() }
    #expect(events == ["recovering", "starting", "ready"])
  }

  @Test func `a path too long for a socket has its socket elsewhere`() throws {
    var options = options
    let folder = options.dataDirectory
    options.dataDirectory += "/" + String(repeating: "a-long-name-", count: 8)
    defer { try? remove(folder) }
    let (cluster, _) = try start(options)
    defer { cluster.stop() }
    #expect(!cluster.connectionString.contains("a-long-name"))
    #expect(try query(cluster, "SELECT 1") == [["1"]])
    if let socket = cluster.connectionString.split(separator: "'").dropFirst().first {
      #expect(FileSystem.owner(of: String(socket)) == (try ClusterAccount.current().userID))
      cluster.stop()
      try remove(String(socket))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can be locked out of its own home"))
  func `a folder PostgreSQL's user cannot reach is replaced, and that is said`() throws {
    let closed = options.dataDirectory + "-closed"
    try FileSystem.makeDirectory(closed, mode: 0o700)
    defer { try? remove(closed) }
    var options = options
    options.dataDirectory = closed + "/data"
    let (cluster, events) = try start(options)
    #expect(events.first == "moved")
    #expect(cluster.dataDirectory.hasPrefix("/var/lib/sociograph/"))
    #expect(try query(cluster, "SELECT 1") == [["1"]])
    cluster.stop()
    try remove(cluster.dataDirectory)
  }

  @Test func `a data directory that is a file is refused`() throws {
    defer { try? remove(options.dataDirectory) }
    try FileSystem.write("", to: options.dataDirectory)
    let error = #expect(throws: SetupError.self) { try start(options) }
    #expect(error?.message == "The data directory \(options.dataDirectory) is a file.")
  }

  @Test func `of what PostgreSQL printed the reasons are shown`() throws {
    defer { try? remove(options.dataDirectory) }
    try FileSystem.makeDirectory(options.dataDirectory)
    let place = ClusterLayout(data: options.dataDirectory, socketDirectory: "")
    try FileSystem.write(
      "LOG:  one\n1 [2] FATAL:  no room\n1 [2] HINT:  look\n3 [4] LOG:  down\n", to: place.log)
    #expect(place.logTail == "LOG:  one / 1 [2] FATAL:  no room")
    try FileSystem.write("one\ntwo\n", to: place.log)
    #expect(place.logTail == "one / two")
  }

  @Test func `programs that are not there are named`() throws {
    var options = options
    options.binaries = "/nonexistent"
    defer { try? remove(options.dataDirectory) }
    let error = #expect(throws: SetupError.self) { try start(options) }
    #expect(error?.message.contains("/nonexistent has no programs") == true)
    #expect(!FileSystem.exists(options.dataDirectory))
  }

  @Test func `a setting PostgreSQL refuses is shown in its words`() throws {
    var options = options
    options.settings.append(("max_connections", "many"))
    defer { try? remove(options.dataDirectory) }
    let error = #expect(throws: SetupError.self) { try start(options) }
    #expect(error?.message.contains("max_connections") == true, "\(error as Any)")
  }
}
