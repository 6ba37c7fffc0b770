import DatabaseSetup
import Foundation
import GraphQLExecution
import Pictures
import Postgres
import SQL
import Server

/// The database of a command: a given one, or an embedded cluster, either of a running server or
/// run for the duration of the command.
struct Database {
  let connectionString: String
  /// The namespaces of its tables; new objects are created in the first.
  let namespaces: [String]
  /// The embedded cluster; nil for a database that is run elsewhere.
  private let cluster: EmbeddedCluster?

  /// Opens a database.
  ///
  /// - Parameters:
  ///   - creates: whether to create the embedded cluster if there is none.
  ///   - joinsRunning: whether the cluster may be that of another process, which may stop it at any
  ///     time.
  ///   - onEvent: called after an event of the cluster was reported.
  static func open(
    _ options: CommandOptions, creates: Bool = false, joinsRunning: Bool = true,
    onEvent: @escaping @Sendable (ClusterEvent) -> Void = { _ in }
  ) throws -> Database {
    let namespaces = try SettingOptions.namespaces(options)
    // Setting up takes a session, which a pooler does not give.
    let name = options.text("direct-database") == nil ? "database" : "direct-database"
    if let url = try connectionString(options, name) {
      return Database(connectionString: url, namespaces: namespaces, cluster: nil)
    }
    var settings = clusterOptions(options)
    settings.joinsRunning = joinsRunning
    settings.creates = creates
    // The last server on the folder may be about to end.
    if !joinsRunning { settings.patience = .seconds(5) }
    let cluster = try EmbeddedCluster.start(settings) { event in
      Console.say("\(event)", level(of: event))
      onEvent(event)
    }
    return Database(
      connectionString: cluster.connectionString, namespaces: namespaces, cluster: cluster)
  }

  private static func level(of event: ClusterEvent) -> LogLine.Level {
    switch event {
    case .creating, .starting, .takingOver, .joining, .recovering, .ready, .upgradeDone: .info
    case .movedData, .upgraded: .warning
    case .ended, .failed: .error
    }
  }

  /// Checks the options that select a database, without starting or querying one.
  ///
  /// - Throws: a `UsageError` or `SetupError`.
  static func check(_ options: CommandOptions) throws {
    _ = try SettingOptions.namespaces(options)
    let urls = try ["database", "direct-database", "writer-database"].map {
      try connectionString(options, $0)
    }
    guard urls[0] == nil else { return }
    do {
      try EmbeddedCluster.check(clusterOptions(options))
    } catch let error as SetupError where options.isTold("postgres-programs") {
      throw UsageError("\(options.origin("postgres-programs")): \(error)")
    }
  }

  private static func clusterOptions(_ options: CommandOptions) -> EmbeddedCluster.Options {
    var settings = EmbeddedCluster.Options()
    settings.dataDirectory = options.text("data") ?? settings.dataDirectory
    settings.binaries = options.text("postgres-programs")
    return settings
  }

  /// Returns a connection string; nil without the option. Errors do not quote it, because it may
  /// contain a password.
  private static func connectionString(
    _ options: CommandOptions, _ name: String
  ) throws(UsageError) -> String? {
    guard let text = options.text(name) else { return nil }
    let origin = options.origin(name)
    guard !text.isEmpty else { throw UsageError("\(origin) must not be empty.") }
    if let end = text.range(of: "://"),
      !["postgresql", "postgres"].contains(text[..<end.lowerBound]),
      !text[..<end.lowerBound].contains("=")
    {
      throw UsageError(
        "\(origin): only PostgreSQL is served, so the URL must begin with postgresql://, not "
          + "\(text[..<end.upperBound]).")
    }
    guard text.contains("://") || text.contains("=") else {
      throw UsageError(
        "\(origin) must be a URL such as postgresql://user@host/name, or postgresql:///name for a "
          + "database of this machine's PostgreSQL.")
    }
    do {
      _ = try PostgresConfiguration(text)
    } catch {
      throw UsageError("\(origin): \(error)")
    }
    return text
  }

  /// Queries the graph, with an error that says what to do if the database has none.
  func withGraph<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgresError where ["42P01", "42883", "3F000"].contains(error.sqlState) {
      // A table, a function or a namespace.
      throw CommandFailure(
        "the database has no graph, or that of an earlier program; run \"sociograph migrate\" with the "
          + "same \(isEmbedded ? "--data" : "--database") first (\(error.message)).")
    }
  }

  var isEmbedded: Bool { cluster != nil }
  /// Whether another process runs the database, on our folder or elsewhere.
  var isShared: Bool { cluster?.isJoined ?? true }
  /// The folder of psql of the same version; nil for a database that is run elsewhere.
  var programFolder: String? { cluster?.programFolder }

  /// Sets the closure that arranges restarts; see `EmbeddedCluster.arrangeRestarts`.
  func arrangeRestarts(_ arrangement: @escaping @Sendable (() -> Void) -> Void) {
    cluster?.arrangeRestarts(arrangement)
  }

  func configuration() throws -> PostgresConfiguration {
    try configuration(of: connectionString)
  }

  /// Returns the configuration of sessions that find names as those that serve do.
  func planningConfiguration() throws -> PostgresConfiguration {
    var configuration = try configuration()
    configuration.keepsSearchPath = true
    return configuration
  }

  private func configuration(of connectionString: String) throws -> PostgresConfiguration {
    var configuration = try PostgresConfiguration(connectionString)
    configuration.namespaces = namespaces
    // The server checks the history.
    configuration.checksHistory = false
    return configuration
  }

  /// Returns the configuration of the connections that serve: in an embedded cluster, of a role
  /// that can do no more than that.
  ///
  /// - Parameter migrations: the migrations that were just applied.
  func servingConfiguration(after migrations: Migrations.Outcome) throws -> PostgresConfiguration {
    try roleConfiguration(ServerRole.reader, mutations: false, after: migrations)
  }

  /// Returns the configuration of the connections for mutations: as the operator chose, or in an
  /// embedded cluster of a role that may read and call functions.
  func writingConfiguration(
    _ options: CommandOptions, after migrations: Migrations.Outcome
  ) throws -> PostgresConfiguration {
    // Behind a pooler, only --direct-database has sessions.
    if options.text("direct-database") == nil, let url = options.text("writer-database") {
      do {
        var configuration = try configuration(of: url)
        configuration.keepsSearchPath = true
        return configuration
      } catch let error as PostgresConfigurationError {
        throw UsageError("\(options.origin("writer-database")): \(error)")
      }
    }
    return try roleConfiguration(ServerRole.writer, mutations: true, after: migrations)
  }

  /// Returns a configuration through a pooler, for single transactions.
  ///
  /// - Parameter name: the option with the pooler's address.
  static func pooled(
    _ configuration: PostgresConfiguration, _ options: CommandOptions, by name: String,
    _ pooler: PostgresConfiguration.Pooler
  ) throws -> PostgresConfiguration {
    guard pooler != .none, let url = options.text(name) ?? options.text("database") else {
      return configuration
    }
    var configuration = configuration
    do {
      configuration.connectionString = try PostgresConfiguration(url).connectionString
    } catch {
      throw UsageError("\(options.origin(name)): \(error)")
    }
    configuration.pooler = pooler
    return configuration
  }

  private func roleConfiguration(
    _ role: String, mutations: Bool, after migrations: Migrations.Outcome
  ) throws -> PostgresConfiguration {
    guard let cluster else { return try planningConfiguration() }
    let isNew = try !ServerRole.exists(role, in: configuration())
    // A role that an earlier program was content with may lack what this one needs.
    if try isNew || !migrations.isEmpty || !lacking(role, mutations ? .writer : .reader).isEmpty {
      try ServerRole.allow(role, isNew: isNew, mutations: mutations, in: configuration())
    }
    var configuration = try configuration(of: cluster.connectionString(as: role))
    configuration.keepsSearchPath = true
    return configuration
  }

  /// Returns the entries of the contract that a serving role lacks.
  ///
  /// - Parameter role: nil for the role of the command's connection.
  func lacking(
    _ role: String?, _ caller: ContractEntry.Caller
  ) throws -> [RoleCheck.Finding] {
    try RoleCheck(role, as: caller, in: namespaces).run(PostgresSession(configuration()))
  }

  func close() { cluster?.stop() }

  /// Refuses to install the graph, unless asked by `migrate`, where others have their tables.
  ///
  /// - Throws: a `CommandFailure` that says what was found, if no migration was applied yet.
  func requireOwnTables(_ folder: String, _ options: CommandOptions) throws {
    guard !isEmbedded else { return }
    let migrations = try Migrations.read(folder)
    guard !migrations.tables.isEmpty,
      try migrations.plan(for: configuration()).missing.count == migrations.tables.count
    else { return }
    let chosen =
      options.isTold("namespace")
      ? "n.nspname = ANY (\(SQLQuoting.arrayLiteral(namespaces))::name[])"
      : "n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')"
    let found = try PostgresSession(configuration()).execute(
      """
      SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE \(chosen) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND NOT EXISTS (
          SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
            AND d.deptype = 'e')
      ORDER BY 1
      """
    ).compactMap { $0.first.flatMap(\.self) }
    guard !found.isEmpty else { return }
    let names = found.prefix(5).joined(separator: ", ") + (found.count > 5 ? ", ..." : "")
    throw CommandFailure(
      "the database has \(found.count == 1 ? "a table" : "\(found.count) tables") of others "
        + "(\(names)); nothing was installed. To serve them, run \"sociograph draft DIR\" and \"sociograph "
        + "serve --schema DIR\" with the same --database. To install the graph next to them, run "
        + "\"sociograph migrate\" first.")
  }

  /// Applies the pending migrations of a folder. It only reads if there are none, so that a role
  /// that may not create tables can serve.
  ///
  /// - Parameter putBack: whether to replace functions of a later program. In an embedded database
  ///   it always does, because no other program serves it.
  func migrate(_ folder: String, putBack: Bool = false) throws -> Migrations.Outcome {
    let putBack = putBack || isEmbedded
    let migrations = try Migrations.read(folder)
    let plan = try migrations.plan(for: configuration(), putBack: putBack)
    if let remark = plan.remark { Console.say(remark) }
    guard plan.isPending else { return Migrations.Outcome() }
    return try migrations.apply(to: configuration(), putBack: putBack) { Console.report($0) }
  }

  /// Returns the signer of cursors, which all servers over this database share; nil if it was never
  /// migrated.
  static func cursorSigner(_ session: PostgresSession) throws(PostgresError) -> CursorSigner? {
    try ServerSecret.read(from: session).flatMap { CursorSigner(bytes: $0) }
  }

  /// Loads demo data into an empty graph, with a progress bar.
  ///
  /// - Parameter photos: the folder for its pictures; nil for none.
  /// - Returns: tables of IDs, names and tokens to start from.
  func seed(_ folder: String, scale: Int, seed: Int, photos: String?) throws -> [String] {
    let isTerminal = isatty(STDERR_FILENO) == 1 && Console.logFormat == .text
    var progress = SeedProgress(isTerminal: isTerminal)
    let seeder = try Seeder.read(folder + "/demo", scale: scale, seed: seed)
    var store: PictureFolder?
    do throws(PictureStoreError) {
      if !seeder.pictures.isEmpty, let photos { store = try PictureFolder(photos) }
    } catch {
      throw CommandFailure("--photos: \(error).")
    }
    if store == nil, !seeder.pictures.isEmpty {
      Console.warn(
        "the images of the demo data are not stored; use --photos DIR, also when you serve")
    }
    return
      try seeder
      .run(configuration(), keepingPicturesIn: store) { event in
        let text = progress.text(for: event)
        guard Console.logFormat == .text else {
          if !text.isEmpty { Console.say(text.trimmingCharacters(in: .newlines)) }
          return
        }
        Console.write(text, to: STDERR_FILENO)
      }
      .map(\.description)
  }
}
