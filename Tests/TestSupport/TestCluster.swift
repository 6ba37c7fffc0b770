import DatabaseSetup
import Glibc
import Postgres
import SQL
import Synchronization

/// The PostgreSQL of the tests: one per test process, in a folder under /tmp, started on first use
/// and stopped with the process, however that ends.
package enum TestCluster {
  /// The number of connections of running tests, assigned by `TestTurns`.
  static let connectionsOfTests = 240
  /// The number of connections open as long as the process: those of the servers that tests share.
  private static let connectionsOfSharedServers = 220

  /// A database with the graph's tables and functions and no rows, made once; treat it as shared.
  package static func migratedDatabase() throws -> String {
    try migrated.get()
    return try connectionString(database: "migrated")
  }

  /// A new database, by its connection string.
  ///
  /// - Parameter migrated: with the graph's tables and functions. Takes some 50 ms either way.
  package static func newDatabase(migrated isMigrated: Bool = false) throws -> String {
    if isMigrated { try migrated.get() }
    let name = "test_\(UInt32.random(in: 0 ... .max))"
    try administrate(
      "CREATE DATABASE \(name)" + (isMigrated ? " TEMPLATE migrated_template" : ""))
    return try connectionString(database: name)
  }

  private static let copying = Mutex(())

  /// Returns a new database with the contents of another, which must have no connections.
  ///
  /// One at a time: PostgreSQL accepts no connection to a database while it is copied.
  package static func newDatabase(copying other: String) throws -> String {
    guard let source = other.firstMatch(of: /dbname=(\w+)/)?.output.1 else {
      throw PostgresError(.unavailable, message: "There is no database in \(other).")
    }
    return try copying.withLock { _ in
      let name = "test_\(UInt32.random(in: 0 ... .max))"
      let administrator = try session(connectionString())
      // A session that ended is gone a little later.
      _ = try eventually {
        try administrator.execute(
          "SELECT FROM pg_stat_activity WHERE datname = $1", [String(source)]
        ).isEmpty
      }
      try administrator.execute("CREATE DATABASE \(name) TEMPLATE \(source)")
      return try connectionString(database: name)
    }
  }

  package static func connectionString(database: String = "sociograph") throws -> String {
    let whole = try cluster.get().connectionString
    return whole.replacing("dbname=sociograph", with: "dbname=" + database)
  }

  private static let granting = Mutex(())

  /// Lets the roles of an embedded database serve this one, unless they may already.
  package static func letServe(_ database: String) throws {
    let configuration = try PostgresConfiguration(database)
    let session = try PostgresSession(configuration)
    // Roles are rows of the whole cluster: two that change one at a time refuse each other.
    try granting.withLock { _ in
      for (role, caller) in [
        (ServerRole.reader, ContractEntry.Caller.reader), (ServerRole.writer, .writer),
      ] {
        let isNew = try !ServerRole.exists(role, in: configuration)
        if try isNew || !RoleCheck(role, as: caller).run(session).isEmpty {
          try ServerRole.allow(
            role, isNew: isNew, mutations: caller == .writer, in: configuration)
        }
      }
    }
  }

  /// The same database as another role sees it.
  package static func connectionString(_ database: String, as role: String) -> String {
    database.replacing(/user=[^ ]+/, with: "user=\(role)")
  }

  package static func session(_ connectionString: String) throws -> PostgresSession {
    var configuration = try PostgresConfiguration(connectionString)
    configuration.statementTimeout = .seconds(600)
    configuration.lockTimeout = .seconds(600)
    configuration.connectTimeout = .seconds(600)
    configuration.applicationName = "a test"
    return try PostgresSession(configuration)
  }

  /// The repository, found from this file.
  package static var packageFolder: String {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/")
  }

  private static func administrate(_ command: String) throws {
    try session(connectionString()).execute(command)
  }

  private static let cluster = Result { try start() }

  private static let migrated = Result {
    try administrate("CREATE DATABASE migrated_template")
    let template = try connectionString(database: "migrated_template")
    var configuration = try PostgresConfiguration(template)
    configuration.namespaces = ["graph"]
    try Migrations.read(packageFolder + "/sql").apply(to: configuration)
    // Copies have the rights of the roles that serve; the roles themselves are the cluster's.
    try letServe(template)
    try administrate("CREATE DATABASE migrated TEMPLATE migrated_template")
  }

  private static func start() throws -> EmbeddedCluster {
    var options = EmbeddedCluster.Options()
    let folder = "/tmp/sociograph-test-\(getpid())"
    options.dataDirectory = folder
    options.isDurable = false
    options.restarts = false
    // Tests find the graph, and tables of their own, without naming a namespace.
    options.settings = [
      ("shared_buffers", "128MB"), ("search_path", "graph, public"),
      ("max_connections", "\(connectionsOfTests + connectionsOfSharedServers)"),
      ("max_prepared_transactions", "8"),
      // For live queries over any table.
      ("wal_level", "logical"), ("max_replication_slots", "50"), ("max_wal_senders", "50"),
    ]
    try endWithProcess(folder)
    return try EmbeddedCluster.start(options) { _ in }
  }

  /// Ends the cluster in a data directory, and the directory, with this process, also when that is
  /// killed.
  package static func endWithProcess(_ folder: String) throws {
    _ = try ChildProcess.start(
      [
        "/bin/sh", "-c",
        """
        while kill -0 "$0" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$0/status"; do sleep 0.3; done
        if read -r cluster 2>/dev/null < "$1/postgres/postmaster.pid"; then
          kill -INT "$cluster" 2>/dev/null
          while kill -0 "$cluster" 2>/dev/null; do sleep 0.1; done
        fi
        rm -rf "$1"
        """,
        String(getpid()), folder,
      ], user: nil, output: "/dev/null")
  }
}
