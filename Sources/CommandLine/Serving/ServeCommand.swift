import Accounts
import DatabaseSetup
import EventLoops
import Foundation
import GraphQLExecution
import GraphQLPlanning
import GraphQLSchema
import HTTP
import Postgres
import Server
import StorageChecking

/// `sociograph serve`: runs the server, with an embedded PostgreSQL unless another is given.
enum ServeCommand {
  static let specification = CommandSpecification(
    "serve", "Serves the graph over HTTP.", sections: ServeSettings.sections)

  static func run(_ options: CommandOptions) throws {
    let settings = try ServeSettings(options)
    let manager = SystemdNotifier(ProcessInfo.processInfo.environment)
    try settings.logFile?.open()
    Console.log = settings.server.log
    if let hint = settings.memoryHint { Console.say(hint) }
    let mapping = try settings.readFolders()
    try Database.check(options)
    // Before anything is started, so that a port in use is reported at once.
    let doors = try openDoors(settings.server)
    if let account = settings.account {
      if options.text("database") == nil, let data = options.text("data") { try account.own(data) }
      try account.become()
    }
    let signals = StopSignals()
    signals.renew { manager.reload { renew(settings) } }
    // From here on there is an answer to whether it lives.
    let starting = try StartingService(doors, tls: settings.server.tls)
    let readiness = settings.server.readiness
    let database = try Database.open(options, creates: true, joinsRunning: false) { event in
      switch event {
      case .upgraded: readiness.interrupt()
      // The files are checked only after it was ready once.
      case .upgradeDone: readiness.restore()
      default: break
      }
    }
    signals.started { database.close() }
    defer { database.close() }
    do {
      if !database.isEmbedded {
        do {
          try wait(for: database, manager)
        } catch let error as PostgresError where error.message.contains("startup parameter") {
          throw CommandFailure(
            "\(error.message). Through PgBouncer in transaction mode, say --pooler transaction and "
              + "--direct-database URL.")
        }
      }
      try serve(settings, options, mapping, database, signals, manager, doors, starting)
    } catch {
      starting.stop()
      if signals.hasArrived { signals.waitForExit() }
      throw error
    }
  }

  /// Opens the listening sockets. The previous server may be about to end, so a port in use is
  /// tried again for a moment.
  private static func openDoors(_ settings: RunningServer.Settings) throws -> ListeningSockets {
    do {
      return try ListeningSockets.open(settings) { address in
        Console.say("waiting for \(address): the server that listens there is stopping")
      }
    } catch {
      guard error.isTaken else { throw error }
      throw CommandFailure("\(error) Another program listens there; --listen names a free port.")
    }
  }

  private static func serve(
    _ settings: ServeSettings, _ options: CommandOptions, _ mapping: StorageMapping,
    _ database: Database, _ signals: StopSignals, _ manager: SystemdNotifier,
    _ doors: ListeningSockets, _ starting: StartingService
  ) throws {
    if let sql = settings.sql { try database.requireOwnTables(sql, options) }
    let migrations = try settings.sql.map { try database.migrate($0) } ?? Migrations.Outcome()
    let hints = try seedIfEmpty(database, settings)
    if geteuid() == 0 {
      Console.warn("running as root; --user NAME drops root's privileges")
    }
    Console.say("checking the schema's storage directives")
    let (configuration, running) = try checked(settings, options, mapping, database, migrations)
    let server = try RunningServer(
      mapping, database: configuration, settings: running, doors: doors)
    starting.stop()
    let served = ServedSchema(server, settings, doors)
    database.arrangeRestarts { restart in served.server.betweenStatements { restart() } }
    signals.serve { served.server.cutOff() }
    if !server.waitUntilReady() { Console.warn("the database does not respond yet") }
    for hint in hints { Console.print(hint) }
    announce(
      server.address, isSecure: settings.server.tls != nil,
      example: ExampleOperation(StorageDirectives.clientSchema(of: mapping.schema)).text)
    if let address = server.adminAddress {
      let shown = if case .tcp = address { "http://\(address)" } else { "\(address) " }
      Console.say("for operators: \(shown)/metrics, /usage, /live, /ready")
    }
    manager.ready("serving")
    manager.watch { served.server.askForLife($0) }
    if settings.watches {
      served.watch(try database.configuration(), options) { mapping in
        try checked(
          settings, options, mapping, database, migrations, after: running)
      }
    }
    ProcessMemory.release()
    let signal = signals.wait()
    served.stopWatching()
    let last = served.server
    manager.stopping("finishing requests in progress")
    // A load balancer polls /ready and then sends no more requests; until then all are served. A
    // server in a terminal has no load balancer.
    last.announceEnd(over: signal == SIGTERM ? settings.shutdownDelay : .zero)
    if signal == SIGTERM, settings.shutdownDelay > .zero {
      Console.say("stopping: /ready fails; serving for another \(settings.shutdownDelay)")
      if signals.wait(settings.shutdownDelay) != nil {
        Console.say("stopping: received a second signal; no longer waiting")
      }
    }
    Console.say("stopping: finishing requests in progress")
    last.stop()
    served.waitForEarlierServers()
  }

  /// Returns the setting by which the graph makes links: the public address, or the one that the
  /// server listens on.
  private static func link(
    _ settings: ServeSettings, _ owner: PostgresSession, isFirst: Bool
  ) throws -> (name: String, value: String) {
    let url = try PublicURL.settle(settings.publicURL, in: owner)
    if settings.server.outbox != nil { try PublicURL.require(url, for: "--outbox") }
    if let url {
      if isFirst { Console.say("links begin with \(url)") }
      return ("sociograph.public_url", url)
    }
    let scheme = settings.server.tls == nil ? "http" : "https"
    let own =
      switch settings.server.address {
      case .tcp(let host, let port) where host.isEmpty: "\(scheme)://localhost:\(port)"
      case .tcp: "\(scheme)://\(settings.server.address)"
      case .unix: "\(scheme)://localhost"
      }
    // The port is not known before the server listens.
    if isFirst, !own.hasSuffix(":0") {
      Console.say("links begin with \(own), as there is no --public-url")
    }
    return ("sociograph.own_url", own)
  }

  /// Checks the schema against its database.
  ///
  /// - Parameter previous: the settings of the server that this one follows; nil for the first.
  /// - Returns: the configuration of statements, and the settings of the server.
  private static func checked(
    _ settings: ServeSettings, _ options: CommandOptions, _ mapping: StorageMapping,
    _ database: Database, _ migrations: Migrations.Outcome,
    after previous: RunningServer.Settings? = nil
  ) throws -> (PostgresConfiguration, RunningServer.Settings) {
    var configuration = try database.servingConfiguration(after: migrations)
    var writers = try database.writingConfiguration(options, after: migrations)
    // A database may be far away: one session for each role, not for each question.
    let owner = try PostgresSession(database.configuration())
    // The graph's functions ask for it.
    let link = try link(settings, owner, isFirst: previous == nil)
    configuration.settings.append(link)
    writers.settings.append(link)
    let writer = try PostgresSession(writers)
    // Each under its own role, and before anything that may fail because a privilege is missing.
    let features = settings.contractFeatures
    try check(
      RoleCheck(as: .reader, in: database.namespaces, features: features)
        .run(PostgresSession(configuration))
        + RoleCheck(as: .writer, in: database.namespaces, features: features).run(writer))
    try check(mapping, configuration, clientsHaveRoles: settings.anonymousRole != nil)
    let problems = try MutationCheck(mapping: mapping).run(writer)
    guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n")) }
    let written = mapping.anonymouslyWrittenTables
    if !written.isEmpty {
      Console.say(
        "clients without a token may write \(named(written)): the schema's @insert, @update and @delete "
          + "say so")
    }
    if let warning = try settings.connectionWarning(owner) {
      Console.warn(warning)
    }
    configuration.statementTimeout = settings.statementTimeout
    var running = settings.server
    if options.text("database") != nil {
      let name = try writer.execute("SELECT current_database()").first?.first
      running.pageContent.database = name.flatMap(\.self)
    }
    if let demo = try AccountInputs.Settings.demoProvider(options, sql: settings.sql) {
      running.accounts.providers = IdentityProviders(demo: demo)
    }
    if running.accounts.box == nil {
      running.accounts.box = try AccountInputs.Settings.embeddedBox(options, isCreating: true)
    }
    running.roles = try settings.anonymousRole.map {
      try roles(anonymous: $0, [PostgresSession(configuration), writer])
    }
    running.changeLog = try ChangeLog.configuration(
      settings, options, mapping, like: configuration)
    running.replicas = try replicas(settings, like: configuration, of: owner)
    running.sessionDatabase = writers
    running.writerDatabase = try Database.pooled(
      writers, options, by: "writer-database", settings.pooler)
    configuration = try Database.pooled(
      configuration, options, by: "database", settings.pooler)
    running.constraintErrors = try ConstraintErrors.read(from: writer, for: mapping)
    if let previous {
      running.execution.cursorSigner = previous.execution.cursorSigner
    } else if let key = settings.cursorSigner ?? (try? Database.cursorSigner(owner)) {
      running.execution.cursorSigner = key
    } else {
      Console.warn(
        "no cursor key in the database; cursors are valid until this process exits. "
          + (settings.sql == nil
            ? "--cursor-key FILE has one"
            : "Run \"sociograph migrate\" to create one"))
    }
    running.pictures = try previous?.pictures ?? settings.photos.open(for: writer)
    return (configuration, running)
  }

  private static func named(_ tables: [String]) -> String {
    let rest = tables.count > 20 ? " and \(tables.count - 20) more" : ""
    return tables.prefix(20).joined(separator: ", ") + rest
  }

  /// Returns the roles that clients may have.
  ///
  /// - Parameter sessions: those of the roles that serve.
  private static func roles(
    anonymous: String, _ sessions: [PostgresSession]
  ) throws -> ClientRoles {
    let checks = try sessions.map { session in try ClientRoleCheck(session) }
    var names = checks.first?.names ?? []
    for check in checks {
      if let problem = check.problem { throw CommandFailure("--roles claims: \(problem)") }
      names.formIntersection(check.names)
    }
    let refused = checks.flatMap(\.refused)
    if let reason = refused.first(where: { $0.name == anonymous })?.reason {
      throw CommandFailure("--anonymous-role \(anonymous): \(reason).")
    }
    guard names.contains(anonymous) else {
      throw CommandFailure(
        "--anonymous-role \(anonymous): the server's role is no member of it: "
          + "GRANT \(anonymous) TO the role that --database names.")
    }
    for (name, reason) in Dictionary(refused, uniquingKeysWith: { first, _ in first }).sorted(by: {
      $0.key < $1.key
    }) {
      Console.warn("no client has the role \(name): \(reason)")
    }
    Console.say("clients have the roles \(names.sorted().joined(separator: ", "))")
    return ClientRoles(anonymous: anonymous, names: names)
  }

  /// Returns the settings of the standbys, which are connected to as to the primary.
  ///
  /// - Throws: if one is of another cluster. One that cannot be reached may come later.
  private static func replicas(
    _ settings: ServeSettings, like primary: PostgresConfiguration, of owner: PostgresSession
  ) throws -> ReplicaSettings? {
    guard var replicas = settings.replicas else { return nil }
    let question = "SELECT system_identifier FROM pg_control_system()"
    let cluster = try owner.execute(question)
    for index in replicas.databases.indices {
      var configuration = primary
      configuration.connectionString = replicas.databases[index].connectionString
      replicas.databases[index] = configuration
      let answer = Result { () throws(PostgresError) in
        try PostgresSession(configuration).execute(question)
      }
      switch answer {
      case .success(let found) where found == cluster: break
      case .success:
        throw CommandFailure(
          "--replica-database: \(configuration.hostName) is no standby of --database: it belongs to "
            + "another cluster.")
      case .failure(let error) where error.kind == .unavailable:
        Console.warn("the standby \(configuration.hostName) cannot be reached: \(error.message)")
      case .failure(let error): throw error
      }
    }
    return replicas
  }

  /// Waits for the database, because a machine starts its services in any order. If PostgreSQL is
  /// running and refuses the connection, the start fails.
  private static func wait(for database: Database, _ manager: SystemdNotifier) throws {
    var configuration = try database.configuration()
    configuration.connectTimeout = .seconds(2)
    var said = ""
    while true {
      do throws(PostgresError) {
        _ = try PostgresSession(configuration)
        if !said.isEmpty { Console.say("PostgreSQL is available") }
        return
      } catch {
        guard error.kind == .unavailable, PostgresSession.isWorthWaitingFor(configuration) else {
          // It may have come up in between.
          if (try? PostgresSession(configuration)) != nil { continue }
          throw error
        }
        if error.message != said {
          Console.say("waiting for PostgreSQL: \(error.message)")
          said = error.message
        }
        manager.starting("waiting for PostgreSQL")
        usleep(250_000)
      }
    }
  }

  /// Reopens files that may have been moved or replaced, on SIGHUP.
  private static func renew(_ settings: ServeSettings) {
    do {
      try settings.logFile?.open()
      try settings.server.tls?.reload()
      Console.say("SIGHUP: reopened the log and the certificate")
    } catch {
      Console.warn("SIGHUP: \(error); the open files stay in use")
    }
  }

  /// Fails the start if a role lacks privileges that the program itself needs.
  private static func check(_ findings: [RoleCheck.Finding]) throws {
    let errors = findings.filter(\.isError)
    guard errors.isEmpty else {
      throw CommandFailure(errors.map(\.description).joined(separator: "\n"))
    }
    for warning in findings { Console.warn(warning.text) }
  }

  /// Fails the start on errors of the schema, and prints warnings.
  private static func check(
    _ mapping: StorageMapping, _ configuration: PostgresConfiguration, clientsHaveRoles: Bool
  ) throws {
    var check = StorageCheck(mapping: mapping)
    check.clientsHaveRoles = clientsHaveRoles
    let findings = try check.run(configuration)
    let errors = findings.filter { $0.severity == .error }
    guard errors.isEmpty else {
      throw CommandFailure(errors.map(\.description).joined(separator: "\n"))
    }
    for warning in findings { Console.warn("\(warning.coordinate): \(warning.message)") }
  }

  /// Loads demo data of scale 1 into an empty embedded database.
  private static func seedIfEmpty(
    _ database: Database, _ settings: ServeSettings
  ) throws -> [String] {
    guard database.isEmbedded, let folder = settings.sql,
      FileManager.default.fileExists(atPath: folder + "/demo"),
      try Seeder.read(folder + "/demo", scale: 1, seed: 1).isEmpty(database.configuration())
    else { return [] }
    Console.say("loading demo data (scale 1)")
    return try database.seed(folder, scale: 1, seed: 1, photos: settings.photos.folder)
  }

  private static func announce(_ address: HTTPAddress, isSecure: Bool, example operation: String) {
    let scheme = isSecure ? "https" : "http"
    // The example is for people, not for programs that read JSON.
    guard Console.logFormat == .text else {
      let shown = if case .tcp = address { "\(scheme)://\(address)" } else { "\(address)" }
      return Console.say("serving \(shown)")
    }
    let example =
      "/graphql -H 'Content-Type: application/json' "
      + #"-d '{"query":"\#(operation)"}'"#
    let insecure = isSecure ? " --insecure" : ""
    switch address {
    case .tcp(let host, let port):
      let shown = HTTPAddress.tcp(host: host.isEmpty ? "127.0.0.1" : host, port: port)
      Console.print("Serving \(scheme)://\(shown)")
      Console.print("Try: curl -s\(insecure) \(scheme)://\(shown)\(example)")
    case .unix(let path):
      Console.print("Serving unix:\(path)")
      Console.print("Try: curl -s\(insecure) --unix-socket \(path) \(scheme)://localhost\(example)")
    }
  }
}
