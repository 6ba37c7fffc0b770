import Dispatch
import Glibc
import Postgres
import Synchronization

/// A private PostgreSQL cluster that lives as long as the server does, in a folder of its own,
/// reached by a Unix socket only.
///
///     DATA/postgres      the cluster; belongs to the user PostgreSQL runs as
///     DATA/run           its socket, where the path is short enough for one
///     DATA/postgres.log  what it printed before its own logging began
///     DATA/lock          held by the server that uses it
///
/// Whoever may enter the socket's folder may connect: that is all the authentication there is, and
/// the folder is its user's alone. Started as root, PostgreSQL runs as the user `postgres`.
///
/// Should it end by itself, as when the system kills it for its memory, it is started again.
package final class EmbeddedCluster: Sendable {
  /// Where it is reached as its owner, in libpq's keyword form.
  package var connectionString: String { connectionString(as: Self.superuser) }
  private let socketDirectory: String
  private let database: String
  /// The folder that is used, which may be another than the one asked for.
  package let dataDirectory: String
  private let lock: Int32
  private let state: Mutex<State>
  private let watch = DispatchQueue(label: "sociograph.cluster")

  private struct State {
    var process: pid_t
    var isStopped = false
  }

  package struct Options: Sendable {
    package var dataDirectory = ".sociograph"
    /// The folder with PostgreSQL's programs; the newest installed one when nil.
    package var binaries: String?
    /// False for tests: faster, and lost when the machine stops.
    package var isDurable = true
    package var database = "sociograph"
    /// More settings of the server.
    package var settings: [(name: String, value: String)] = []
    package var startTimeout = Duration.seconds(120)
    /// Starts it again should it end by itself.
    package var restarts = true

    package init() {}
  }

  private init(
    socketDirectory: String, database: String, dataDirectory: String, processID: pid_t,
    lock: Int32
  ) {
    self.socketDirectory = socketDirectory
    self.database = database
    self.dataDirectory = dataDirectory
    self.lock = lock
    state = Mutex(State(process: processID))
  }

  /// Makes the cluster where there is none, and has it running when it returns.
  package static func start(
    _ options: Options, report: @escaping @Sendable (ClusterEvent) -> Void
  ) throws -> EmbeddedCluster {
    // Before anything is made: a machine without PostgreSQL is told so, and nothing else.
    _ = try ClusterPrograms.find(options.binaries, for: "")
    let account = try ClusterAccount.current()
    let place = try ClusterPlace.prepare(options.dataDirectory, for: account, report: report)
    let lock = try place.takeLock()
    do {
      let programs = try ClusterPrograms.find(options.binaries, for: place.cluster)
      if !FileSystem.exists(place.cluster + "/PG_VERSION") {
        report(.creating(directory: place.cluster))
        try create(place, programs, account, options)
      }
      let run = { @Sendable (isWanted: () -> Bool) in
        try Self.run(place, programs, account, options, report, while: isWanted)
      }
      let process = try run { true }
      try prepareDatabase(
        options.database,
        through: "host='\(place.socketDirectory)' port=5432 user=\(superuser) dbname=", programs)
      report(.ready(process: process))
      let cluster = EmbeddedCluster(
        socketDirectory: place.socketDirectory, database: options.database,
        dataDirectory: place.data, processID: process, lock: lock)
      if options.restarts { cluster.look(again: .milliseconds(250), report, run) }
      return cluster
    } catch {
      close(lock)
      throw error
    }
  }

  /// The same as another role, which has no password: the socket is its account's alone.
  package func connectionString(as role: String) -> String {
    "host='\(socketDirectory)' port=5432 user=\(role) dbname=\(database)"
  }

  package var processID: pid_t { state.withLock { $0.process } }

  /// Lets what is running finish for a moment at most, writes everything down and ends.
  package func stop() {
    guard forget() else { return }
    // A restart under way gives up.
    watch.sync {}
    let process = processID
    Self.stop(process)
    _ = Self.processToSignal.compareExchange(
      expected: process, desired: 0, ordering: .acquiringAndReleasing)
    close(lock)
  }

  /// Lets go of it as a server does that is killed, but for the lock.
  @discardableResult
  private func forget() -> Bool {
    state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
  }

  /// Lets go of it as a server does that is killed: PostgreSQL goes on.
  func abandon() {
    if forget() { close(lock) }
  }

  private var isWanted: Bool { state.withLock { !$0.isStopped } }

  /// Looks whether it still runs, and again after a while; starts it when it does not.
  private func look(
    again interval: DispatchTimeInterval, _ report: @escaping @Sendable (ClusterEvent) -> Void,
    _ run: @escaping @Sendable (() -> Bool) throws -> pid_t
  ) {
    watch.asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self, isWanted else { return }
      guard let status = ChildProcess.ended(processID) else {
        return look(again: .milliseconds(250), report, run)
      }
      report(.ended(status: status))
      do {
        let process = try run { self.isWanted }
        state.withLock { $0.process = process }
        report(.ready(process: process))
        look(again: .milliseconds(250), report, run)
      } catch {
        guard isWanted else { return }
        report(.failed("\(error)"))
        look(again: .seconds(5), report, run)
      }
    }
  }

  private static let superuser = "sociograph"

  // MARK: Steps

  /// In a folder beside it first, so that what is there under its name is whole.
  private static func create(
    _ place: ClusterPlace, _ programs: ClusterPrograms, _ account: ClusterAccount,
    _ options: Options
  ) throws {
    let draft = place.cluster + ".new"
    if FileSystem.exists(draft) { try remove(draft) }
    try FileSystem.makeDirectory(draft, mode: 0o700)
    try account.give(draft)
    let arguments = [
      programs.initdb, "--pgdata=\(draft)", "--encoding=UTF8", "--locale=C.UTF-8",
      "--auth=trust", "--username=\(superuser)", "--no-instructions",
    ]
    try place.emptyLog()
    let status = try ChildProcess.run(
      arguments + (options.isDurable ? [] : ["--no-sync"]), user: account.name,
      output: place.log)
    guard status == 0 else {
      throw SetupError("initdb failed with status \(status): \(place.logTail)")
    }
    guard unsafe rename(draft, place.cluster) == 0 else {
      throw FileSystem.failure("make the folder", place.cluster)
    }
  }

  /// Starts PostgreSQL, or takes over the one that a killed server left running.
  private static func run(
    _ place: ClusterPlace, _ programs: ClusterPrograms, _ account: ClusterAccount,
    _ options: Options, _ report: (ClusterEvent) -> Void, while isWanted: () -> Bool
  ) throws -> pid_t {
    let clock = ContinuousClock()
    let deadline = clock.now + options.startTimeout
    if let left = place.postmaster() {
      if left.socketDirectory == place.socketDirectory, left.status == "ready" {
        report(.takingOver(process: left.process))
        stopWithSignals(left.process)
        return left.process
      }
      // On its way up or down, or listening where we would not look.
      if left.status != "stopping" { stop(left.process) }
      while ChildProcess.isAlive(left.process), clock.now < deadline, isWanted() { usleep(20_000) }
    }
    // Its children outlive a killed postmaster until they notice.
    while place.hasProcesses(), clock.now < deadline, isWanted() { usleep(20_000) }
    if place.removeForeignLockFile() { report(.recovering) }

    try place.writeConfiguration(
      ClusterConfiguration.text(options, socketDirectory: place.socketDirectory, programs))
    try place.emptyLog()
    report(.starting(version: programs.version))
    let process = try ChildProcess.start(
      [programs.postgres, "-D", place.cluster], user: account.name, output: place.log)
    stopWithSignals(process)
    while true {
      if let status = ChildProcess.ended(process) {
        throw SetupError("PostgreSQL ended with status \(status): \(place.logTail)")
      }
      if let running = place.postmaster(), running.status == "ready" { return running.process }
      guard clock.now < deadline, isWanted() else {
        stop(process)
        throw SetupError(
          "PostgreSQL was not ready within \(options.startTimeout): \(place.logTail)")
      }
      usleep(5_000)
    }
  }

  private static func prepareDatabase(
    _ database: String, through connection: String, _ programs: ClusterPrograms
  ) throws {
    var configuration = try PostgresConfiguration(connection + "postgres")
    configuration.statementTimeout = .zero
    let session = try PostgresSession(configuration)
    let isThere = try !session.execute(
      "SELECT FROM pg_database WHERE datname = $1", [database]
    ).isEmpty
    if !isThere {
      let quoted = try session.execute("SELECT quote_ident($1)", [database])
      guard let name = quoted.first?.first ?? nil else { return }
      try session.execute("CREATE DATABASE \(name)")
    }
    guard programs.hasStatementStatistics else { return }
    configuration = try PostgresConfiguration(connection + "'\(database)'")
    configuration.statementTimeout = .zero
    try PostgresSession(configuration).execute(
      "SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
  }

  /// Ctrl-C and SIGTERM end the cluster too while the server has not yet taken these signals into
  /// its own hands.
  private static func stopWithSignals(_ process: pid_t) {
    processToSignal.store(process, ordering: .releasing)
    for number in [SIGINT, SIGTERM] {
      let previous = signal(number) { number in
        let process = EmbeddedCluster.processToSignal.load(ordering: .acquiring)
        if process > 0 { kill(process, SIGINT) }
        _exit(128 + number)
      }
      if previous != nil { signal(number, previous) }
    }
  }

  private static let processToSignal = Atomic<pid_t>(0)

  /// A fast shutdown, an immediate one after 10 seconds, and at last no mercy.
  private static func stop(_ process: pid_t) {
    for (signal, patience) in [(SIGINT, 10), (SIGQUIT, 5), (SIGKILL, 2)] {
      kill(process, signal)
      let deadline = ContinuousClock.now + .seconds(patience)
      while ContinuousClock.now < deadline {
        if ChildProcess.ended(process) != nil { return }
        usleep(5_000)
      }
    }
  }

  private static func remove(_ directory: String) throws {
    guard let rm = ChildProcess.find("rm") else { throw SetupError("The program rm is missing.") }
    let status = try ChildProcess.run([rm, "-rf", "--", directory], user: nil)
    guard status == 0 else { throw SetupError("Cannot remove \(directory).") }
  }
}

/// What a cluster reports while it is started.
package enum ClusterEvent: Sendable, CustomStringConvertible {
  /// PostgreSQL's user cannot reach the folder asked for.
  case movedData(from: String, to: String, user: String)
  case creating(directory: String)
  case starting(version: String)
  case takingOver(process: pid_t)
  case recovering
  case ready(process: pid_t)
  /// It ended by itself, and is started again.
  case ended(status: Int32)
  /// It could not be started again; that is tried anew.
  case failed(String)

  package var description: String {
    switch self {
    case .movedData(let from, let to, let user):
      "the user \(user) cannot reach \(from), so the data is kept in \(to)"
    case .creating(let directory): "creating a database cluster in \(directory)"
    case .starting(let version): "starting PostgreSQL \(version)"
    case .takingOver(let process):
      "taking over PostgreSQL, process \(process), left running by an earlier server"
    case .recovering: "clearing what an earlier PostgreSQL left behind"
    case .ready(let process): "PostgreSQL is ready, process \(process)"
    case .ended(let status): "PostgreSQL ended by itself with status \(status)"
    case .failed(let reason): "PostgreSQL could not be started again: \(reason)"
    }
  }
}
