import DatabaseSetup
import Foundation
import GraphQLExecution
import Postgres
import Synchronization

/// The database of a command: the one it was given, or an embedded cluster for as long as it runs.
struct Database {
  let connectionString: String
  /// Nil for a database that is somebody else's to run.
  private let cluster: EmbeddedCluster?

  static func open(_ options: CommandOptions) throws -> Database {
    if let url = options.text("database") {
      guard !url.isEmpty else {
        throw UsageError("\(options.origin("database")) must not be empty.")
      }
      do {
        _ = try PostgresConfiguration(url)
      } catch {
        throw UsageError("\(options.origin("database")): \(error)")
      }
      return Database(connectionString: url, cluster: nil)
    }
    var settings = EmbeddedCluster.Options()
    settings.dataDirectory = options.text("data") ?? settings.dataDirectory
    let cluster = try EmbeddedCluster.start(settings) { say("\($0)") }
    return Database(connectionString: cluster.connectionString, cluster: cluster)
  }

  var isEmbedded: Bool { cluster != nil }

  func configuration() throws -> PostgresConfiguration {
    try PostgresConfiguration(connectionString)
  }

  /// Who is connected to serve: in an embedded cluster a role that can do no more than that (R15).
  ///
  /// - Parameter migrations: how many were applied just now.
  func servingConfiguration(after migrations: Int) throws -> PostgresConfiguration {
    guard let cluster else { return try configuration() }
    let isNew = try !ServerRole.exists(Self.servingRole, in: configuration())
    if isNew || migrations > 0 {
      try ServerRole.allow(Self.servingRole, isNew: isNew, in: configuration())
    }
    return try PostgresConfiguration(cluster.connectionString(as: Self.servingRole))
  }

  private static let servingRole = "sociograph_server"

  func close() { cluster?.stop() }

  /// Applies the migrations of a folder that are missing. Only reads when none is, so that a role
  /// that may not create tables can serve.
  func migrate(_ folder: String) throws -> Int {
    let migrations = try Migrations.read(folder)
    if try migrations.pending(in: configuration()).isEmpty {
      // A database of before there were secrets gets one, if this role may.
      if (try? cursorKey()) == nil { _ = try? migrations.apply(to: configuration()) }
      return 0
    }
    return try migrations.apply(to: configuration()) { Self.say("\($0)") }
  }

  /// What every server over this database seals cursors with; nil where it was never migrated.
  func cursorKey() throws -> CursorKey? {
    try ServerSecret.read(from: configuration()).flatMap { CursorKey(bytes: $0) }
  }

  /// Loads demo data into an empty graph, with a progress bar.
  ///
  /// - Returns: tables of ids, names and tokens to start from.
  func seed(_ folder: String, scale: Int, seed: Int) throws -> [String] {
    let isTerminal = isatty(STDERR_FILENO) == 1 && Self.logFormat == .text
    var progress = SeedProgress(isTerminal: isTerminal)
    return try Seeder.read(folder + "/demo", scale: scale, seed: seed)
      .run(configuration()) { event in
        let text = progress.text(for: event)
        guard Self.logFormat == .text else {
          return Self.say(text.trimmingCharacters(in: .newlines))
        }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      }
      .map(\.description)
  }

  /// What `serve` was told of its log; from then on, all that it says is in that format.
  static var logFormat: ServiceLog.Format {
    get { format.withLock { $0 } }
    set { format.withLock { $0 = newValue } }
  }
  private static let format = Mutex(ServiceLog.Format.text)

  static func say(_ text: String) {
    guard logFormat == .text else {
      return ServiceLog(format: logFormat).line("server", text, nil)
    }
    // Whoever reads this may have gone; that is no reason to stop.
    try? FileHandle.standardError.write(contentsOf: Data("sociograph: \(text)\n".utf8))
  }
}
