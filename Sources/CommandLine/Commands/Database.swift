import DatabaseSetup
import Foundation
import GraphQLExecution
import Postgres

/// The database of a command: the one it was given, or an embedded cluster: that of a server that is
/// running, or one that runs as long as the command does.
struct Database {
  let connectionString: String
  /// Where its tables are looked for; what is made goes into the first.
  let namespaces: [String]
  /// Nil for a database that is somebody else's to run.
  private let cluster: EmbeddedCluster?

  /// - Parameters:
  ///   - joinsRunning: the cluster may be another process', which stops it when it likes.
  ///   - onEvent: told of the cluster after it was said.
  static func open(
    _ options: CommandOptions, joinsRunning: Bool = true,
    onEvent: @escaping @Sendable (ClusterEvent) -> Void = { _ in }
  ) throws -> Database {
    let namespaces = try SettingOptions.namespaces(options)
    // Setting up takes a session, which a pooler does not give.
    let name = options.text("direct-database") == nil ? "database" : "direct-database"
    if let url = options.text(name) {
      guard !url.isEmpty else {
        throw UsageError("\(options.origin(name)) must not be empty.")
      }
      do {
        _ = try PostgresConfiguration(url)
      } catch {
        throw UsageError("\(options.origin(name)): \(error)")
      }
      return Database(connectionString: url, namespaces: namespaces, cluster: nil)
    }
    var settings = EmbeddedCluster.Options()
    settings.dataDirectory = options.text("data") ?? settings.dataDirectory
    settings.binaries = options.text("postgres-programs")
    settings.joinsRunning = joinsRunning
    let cluster = try EmbeddedCluster.start(settings) { event in
      Console.say("\(event)")
      onEvent(event)
    }
    return Database(
      connectionString: cluster.connectionString, namespaces: namespaces, cluster: cluster)
  }

  var isEmbedded: Bool { cluster != nil }
  /// Somebody else runs it, on our folder or elsewhere.
  var isShared: Bool { cluster?.isJoined ?? true }
  /// Where psql of the same version is; nil for a database that is somebody else's to run.
  var programFolder: String? { cluster?.programFolder }

  /// See `EmbeddedCluster.arrangeRestarts`.
  func arrangeRestarts(_ arrangement: @escaping @Sendable (() -> Void) -> Void) {
    cluster?.arrangeRestarts(arrangement)
  }

  func configuration() throws -> PostgresConfiguration {
    try configuration(of: connectionString)
  }

  private func configuration(of connectionString: String) throws -> PostgresConfiguration {
    var configuration = try PostgresConfiguration(connectionString)
    configuration.namespaces = namespaces
    return configuration
  }

  /// Who is connected to serve: in an embedded cluster a role that can do no more than that (R15).
  ///
  /// - Parameter migrations: what was applied just now.
  func servingConfiguration(after migrations: Migrations.Outcome) throws -> PostgresConfiguration {
    try roleConfiguration("sociograph_server", mutations: false, after: migrations)
  }

  /// Who is connected for mutations: whom the operator says, or in an embedded cluster a role that may
  /// read and call functions.
  func writingConfiguration(
    _ options: CommandOptions, after migrations: Migrations.Outcome
  ) throws -> PostgresConfiguration {
    // Through a pooler there is one way only for sessions of one's own.
    if options.text("direct-database") == nil, let url = options.text("writer-database") {
      do {
        return try configuration(of: url)
      } catch let error as PostgresConfigurationError {
        throw UsageError("\(options.origin("writer-database")): \(error)")
      }
    }
    return try roleConfiguration("sociograph_writer", mutations: true, after: migrations)
  }

  /// The same through a pooler, for what runs in single transactions.
  ///
  /// - Parameter name: the option that says how it is reached.
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
    guard let cluster else { return try configuration() }
    let isNew = try !ServerRole.exists(role, in: configuration())
    if try isNew || !migrations.isEmpty || ServerRole.lacksFunctions(role, in: configuration()) {
      try ServerRole.allow(role, isNew: isNew, mutations: mutations, in: configuration())
    }
    return try configuration(of: cluster.connectionString(as: role))
  }

  func close() { cluster?.stop() }

  /// Applies what the database lacks of a folder. Only reads when that is nothing, so that a role that
  /// may not create tables can serve.
  ///
  /// - Parameter putBack: also replaces functions of a later program. Whoever else is served by an
  ///   embedded database is this very program, so there it is always done.
  func migrate(_ folder: String, putBack: Bool = false) throws -> Migrations.Outcome {
    let putBack = putBack || isEmbedded
    let migrations = try Migrations.read(folder)
    let plan = try migrations.plan(for: configuration(), putBack: putBack)
    if let remark = plan.remark { Console.say(remark) }
    guard plan.isPending else { return Migrations.Outcome() }
    return try migrations.apply(to: configuration(), putBack: putBack) { Console.report($0) }
  }

  /// Whether the graph says whom tokens of others stand for.
  static func knowsTokens(_ session: PostgresSession) throws(PostgresError) -> Bool {
    let rows = try session.execute(
      "SELECT to_regprocedure('viewer_of_token(text, text)')")
    return rows.first?.first ?? nil != nil
  }

  /// What every server over this database seals cursors with; nil where it was never migrated.
  static func cursorSeal(_ session: PostgresSession) throws(PostgresError) -> CursorSeal? {
    try ServerSecret.read(from: session).flatMap { CursorSeal(bytes: $0) }
  }

  /// Loads demo data into an empty graph, with a progress bar.
  ///
  /// - Returns: tables of ids, names and tokens to start from.
  func seed(_ folder: String, scale: Int, seed: Int) throws -> [String] {
    let isTerminal = isatty(STDERR_FILENO) == 1 && Console.logFormat == .text
    var progress = SeedProgress(isTerminal: isTerminal)
    return try Seeder.read(folder + "/demo", scale: scale, seed: seed)
      .run(configuration()) { event in
        let text = progress.text(for: event)
        guard Console.logFormat == .text else {
          return Console.say(text.trimmingCharacters(in: .newlines))
        }
        Console.write(text, to: STDERR_FILENO)
      }
      .map(\.description)
  }
}
