import Dispatch
import Glibc
import Postgres
import Synchronization

/// A private PostgreSQL cluster that runs as long as the server does, in a dedicated folder, and is
/// reached by a Unix socket only.
///
///     DATA/postgres      the cluster; belongs to the user PostgreSQL runs as
///     DATA/postgres.new… one in the making, renamed when complete
///     DATA/run           its socket, if the path is short enough for one
///     DATA/postgres.log  its output before its own logging began
///     DATA/lock          held by the server that uses it
///
/// A process that may enter the socket's folder may connect: there is no other authentication, and
/// the folder belongs to its user alone. If started as root, PostgreSQL runs as the user
/// `postgres`.
///
/// If the cluster ends unexpectedly, such as when the system kills it for its memory, it is started
/// again. If its files are upgraded while it runs, it is restarted between requests.
package final class EmbeddedCluster: Sendable {
  /// The connection string for its owner, in libpq's keyword form.
  package var connectionString: String { connectionString(as: Self.superuser) }
  private let socketDirectory: String
  private let database: String
  /// The folder that is used, which may differ from the requested one.
  package let dataDirectory: String
  private let lock: Int32
  private let state: Mutex<State>
  private let watch = DispatchQueue(label: "sociograph.cluster")

  private struct State {
    var running: Running
    var isStopped = false
    /// The installed files at the last check, if they differ from those it runs; otherwise nil.
    var upgrade: ClusterInstallation?
    var arrangement: @Sendable (() -> Void) -> Void = { $0() }
  }

  /// A postmaster and the files that it was started from.
  private struct Running {
    let process: pid_t
    let files: ClusterInstallation
  }

  package struct Options: Sendable {
    package var dataDirectory = ".sociograph"
    /// The folder with PostgreSQL's programs; nil for the newest installed ones.
    package var binaries: String?
    /// Whether writes are durable. Tests turn it off: that is faster, and data is lost when the
    /// machine stops.
    package var isDurable = true
    package var database = "sociograph"
    /// Additional settings of the server.
    package var settings: [(name: String, value: String)] = []
    package var startTimeout = Duration.seconds(120)
    /// Whether to start it again if it ends or its files are upgraded.
    package var restarts = true
    /// Whether to use the cluster of a server that runs on the same folder, instead of failing.
    package var joinsRunning = false
    /// Whether to create the cluster if there is none, instead of failing.
    package var creates = true
    /// The time to wait for another server to release the folder, unless its cluster is joined.
    package var patience = Duration.zero

    package init() {}
  }

  /// Whether another process runs the cluster and stops it.
  package let isJoined: Bool
  /// The folder of PostgreSQL's programs, including psql.
  package let programFolder: String

  private init(
    _ place: ClusterLayout, _ programs: ClusterPrograms, database: String, _ running: Running,
    lock: Int32?
  ) {
    socketDirectory = place.socketDirectory
    self.database = database
    dataDirectory = place.data
    programFolder = programs.folder
    isJoined = lock == nil
    self.lock = lock ?? -1
    state = Mutex(State(running: running, isStopped: isJoined))
  }

  /// Finds reasons why no cluster could be started, such as a machine without PostgreSQL.
  package static func check(_ options: Options) throws {
    _ = try ClusterPrograms.find(options.binaries, for: "")
  }

  /// Creates the cluster if there is none, and starts it.
  package static func start(
    _ options: Options, report: @escaping @Sendable (ClusterEvent) -> Void
  ) throws -> EmbeddedCluster {
    // First, so that a machine without PostgreSQL gets this error and no other.
    try check(options)
    guard options.creates || FileSystem.exists(options.dataDirectory) else {
      throw missing(options.dataDirectory)
    }
    let account = try ClusterAccount.current()
    let place = try ClusterLayout.prepare(options.dataDirectory, for: account, report: report)
    guard let lock = try lock(place, options, report) else {
      return try joined(place, options, report)
    }
    do {
      let programs = try ClusterPrograms.find(options.binaries, for: place.cluster)
      if !FileSystem.exists(place.cluster + "/PG_VERSION") {
        guard options.creates else { throw missing(options.dataDirectory) }
        report(.creating(directory: place.cluster))
        try create(place, programs, account, options)
      }
      let run = { @Sendable (isWanted: () -> Bool) in
        try Self.run(place, programs, account, options, report, while: isWanted)
      }
      let running = try run { true }
      do {
        try prepareDatabase(
          options.database,
          through: "host='\(place.socketDirectory)' port=5432 user=\(superuser) dbname=", programs)
      } catch {
        // Such as when the disk is full: nobody would stop it later.
        stop(running.process)
        throw error
      }
      report(.ready(process: running.process))
      let cluster = EmbeddedCluster(
        place, programs, database: options.database, running, lock: lock)
      if options.restarts {
        cluster.look(
          again: .milliseconds(250),
          Watch(programs: programs, account: account, report: report, run: run))
      }
      return cluster
    } catch {
      close(lock)
      throw error
    }
  }

  private static func missing(_ folder: String) -> SetupError {
    SetupError(
      "There is no database in \(folder): \"sociograph serve\" creates one, with demo data; --data names "
        + "another folder, --database a database that you run.")
  }

  /// Takes the lock of the folder; returns nil if a server that may be joined holds it and is
  /// running.
  private static func lock(
    _ place: ClusterLayout, _ options: Options, _ report: (ClusterEvent) -> Void
  ) throws -> Int32? {
    let deadline =
      ContinuousClock.now + (options.joinsRunning ? options.startTimeout : options.patience)
    while true {
      if let lock = try place.takeLock() { return lock }
      guard ContinuousClock.now < deadline else { throw place.isInUse }
      // It may be on its way up, or down.
      if options.joinsRunning, place.postmaster()?.status == "ready" { return nil }
      usleep(20_000)
    }
  }

  private static func joined(
    _ place: ClusterLayout, _ options: Options, _ report: (ClusterEvent) -> Void
  ) throws -> EmbeddedCluster {
    let programs = try ClusterPrograms.find(options.binaries, for: place.cluster)
    guard let postmaster = place.postmaster() else { throw place.isInUse }
    report(.joining(process: postmaster.process))
    return EmbeddedCluster(
      place, programs, database: options.database,
      Running(process: postmaster.process, files: ClusterInstallation(programs)), lock: nil)
  }

  /// Sets the closure that arranges restarts. It is called on a thread of the cluster, calls its
  /// argument once while no request is running, and then returns.
  package func arrangeRestarts(_ arrangement: @escaping @Sendable (() -> Void) -> Void) {
    state.withLock { $0.arrangement = arrangement }
  }

  /// Returns the connection string for another role, which has no password: only this account can
  /// reach the socket.
  package func connectionString(as role: String) -> String {
    "host='\(socketDirectory)' port=5432 user=\(role) dbname=\(database)"
  }

  package var processID: pid_t { state.withLock { $0.running.process } }

  /// Stops the cluster: lets running statements finish for a moment at most, writes all data, and
  /// ends.
  package func stop() {
    guard forget() else { return }
    // Waits until a restart in progress has stopped.
    watch.sync {}
    let process = processID
    Self.stop(process)
    _ = Self.processToSignal.compareExchange(
      expected: process, desired: 0, ordering: .acquiringAndReleasing)
    close(lock)
  }

  /// Forgets the cluster as a killed server does, except for the lock.
  @discardableResult
  private func forget() -> Bool {
    state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
  }

  /// Forgets the cluster as a killed server does: PostgreSQL continues.
  func abandon() {
    if forget() { close(lock) }
  }

  private var isWanted: Bool { state.withLock { !$0.isStopped } }

  // MARK: While it runs

  /// The state of monitoring the cluster.
  private struct Watch {
    let programs: ClusterPrograms
    let account: ClusterAccount
    let report: @Sendable (ClusterEvent) -> Void
    /// Starts the cluster, unless the closure returns false meanwhile.
    let run: @Sendable (() -> Bool) throws -> Running
    /// The number of checks until the files are checked; that is less often than whether it runs.
    var untilFiles = 0
  }

  /// The number of checks, four per second, from one of its files to the next.
  private static let looksBetweenFiles = 8

  /// Checks periodically whether the cluster runs, and whether it runs the installed files; starts
  /// it if it does not run.
  private func look(again interval: DispatchTimeInterval, _ watch: Watch) {
    self.watch.asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self, isWanted else { return }
      var watch = watch
      if let status = ChildProcess.ended(processID) {
        watch.report(.ended(status: status))
        start(watch)
      } else if watch.untilFiles == 0 {
        watch.untilFiles = Self.looksBetweenFiles
        followUpgrade(watch)
      } else {
        watch.untilFiles -= 1
      }
      let isUp = ChildProcess.ended(processID) == nil
      look(again: isUp ? .milliseconds(250) : .seconds(5), watch)
    }
  }

  private func start(_ watch: Watch) {
    do {
      let running = try watch.run { self.isWanted }
      let wasUpgraded = state.withLock { state in
        defer { state.upgrade = nil }
        state.running = running
        return state.upgrade != nil
      }
      watch.report(.ready(process: running.process))
      if wasUpgraded { watch.report(.upgradeDone) }
    } catch {
      if isWanted { watch.report(.failed("\(error)")) }
    }
  }

  /// Restarts the cluster after its files have changed and stopped changing.
  private func followUpgrade(_ watch: Watch) {
    let present = ClusterInstallation(watch.programs)
    let (running, before, arrange) = state.withLock { state in
      (state.running, state.upgrade, state.arrangement)
    }
    guard present.isUpgrade(of: running.files, process: running.process) else {
      // Taken back, as by a package manager that gave up.
      if before != nil {
        state.withLock { $0.upgrade = nil }
        watch.report(.upgradeDone)
      } else if present != running.files {
        state.withLock { $0.running = Running(process: running.process, files: present) }
      }
      return
    }
    if before == nil { watch.report(.upgraded) }
    state.withLock { $0.upgrade = present }
    guard present == before, watch.programs.work(as: watch.account) else { return }
    arrange {
      guard isWanted else { return }
      Self.stop(running.process)
      start(watch)
    }
  }

  private static let superuser = "sociograph"

  // MARK: Steps

  /// Creates the cluster in a temporary folder first, so that the final name always has a complete
  /// one.
  private static func create(
    _ place: ClusterLayout, _ programs: ClusterPrograms, _ account: ClusterAccount,
    _ options: Options
  ) throws {
    let draft = try place.makeDraft(for: account)
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
    _ place: ClusterLayout, _ programs: ClusterPrograms, _ account: ClusterAccount,
    _ options: Options, _ report: (ClusterEvent) -> Void, while isWanted: () -> Bool
  ) throws -> Running {
    let clock = ContinuousClock()
    let deadline = clock.now + options.startTimeout
    if let left = place.postmaster() {
      if left.socketDirectory == place.socketDirectory, left.status == "ready",
        ClusterInstallation.isCurrent(left.process, programs)
      {
        report(.takingOver(process: left.process))
        stopWithSignals(left.process)
        return Running(process: left.process, files: ClusterInstallation(programs))
      }
      // On its way up or down, listening where we would not look, or of before an upgrade.
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
    let files = ClusterInstallation(programs)
    let process = try ChildProcess.start(
      [programs.postgres, "-D", place.cluster], user: account.name, output: place.log)
    stopWithSignals(process)
    while true {
      if let status = ChildProcess.ended(process) {
        throw SetupError("PostgreSQL ended with status \(status): \(place.logTail)")
      }
      if let running = place.postmaster(), running.status == "ready" {
        return Running(process: running.process, files: files)
      }
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
    configuration.lockTimeout = .zero
    let session = try PostgresSession(configuration)
    // PostgreSQL first ends the statements of a server that was killed.
    try session.execute(preparing)
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
    configuration.lockTimeout = .zero
    let inside = try PostgresSession(configuration)
    try inside.execute(preparing)
    try inside.execute(
      "SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
  }

  static let preparing = "SELECT pg_advisory_lock(hashtext('sociograph_preparing'))"

  /// Stops the cluster on Ctrl-C, SIGTERM and a terminal that closes, until the server handles
  /// these signals itself.
  private static func stopWithSignals(_ process: pid_t) {
    processToSignal.store(process, ordering: .releasing)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let previous = signal(number) { number in
        let process = EmbeddedCluster.processToSignal.load(ordering: .acquiring)
        if process > 0 { kill(process, SIGINT) }
        _exit(128 + number)
      }
      if previous != nil { signal(number, previous) }
    }
  }

  private static let processToSignal = Atomic<pid_t>(0)

  /// Stops a process: a fast shutdown, an immediate one after 10 seconds, and finally a kill.
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
}

/// The events of a cluster.
package enum ClusterEvent: Sendable, CustomStringConvertible {
  /// PostgreSQL's user cannot reach the requested folder.
  case movedData(from: String, to: String, user: String)
  case creating(directory: String)
  case starting(version: String)
  case takingOver(process: pid_t)
  case joining(process: pid_t)
  case recovering
  case ready(process: pid_t)
  /// The installed files differ from those that it runs; it is restarted once they stop changing.
  case upgraded
  /// PostgreSQL runs the installed files again.
  case upgradeDone
  /// PostgreSQL ended unexpectedly, and is started again.
  case ended(status: Int32)
  /// PostgreSQL could not be started again; another attempt follows.
  case failed(String)

  package var description: String {
    switch self {
    case .movedData(let from, let to, let user):
      "the user \(user) cannot reach \(from), so the data is kept in \(to)"
    case .creating(let directory): "creating a database cluster in \(directory)"
    case .starting(let version): "starting PostgreSQL \(version)"
    case .takingOver(let process):
      "taking over PostgreSQL, process \(process), left running by an earlier server"
    case .joining(let process):
      "using the PostgreSQL of the server that is running, process \(process)"
    case .upgraded:
      "PostgreSQL's files have changed, such as by an upgrade; it will be restarted between requests"
    case .upgradeDone: "PostgreSQL runs from the installed files"
    case .recovering: "removing the remains of an earlier PostgreSQL"
    case .ready(let process): "PostgreSQL is ready, process \(process)"
    case .ended(let status): "PostgreSQL ended unexpectedly with status \(status)"
    case .failed(let reason): "PostgreSQL could not be started again: \(reason)"
    }
  }
}
