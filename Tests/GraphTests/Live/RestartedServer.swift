import DatabaseSetup
import Glibc
import Postgres
import Synchronization
import TestSupport

/// A server and a separate PostgreSQL, each of which ends and restarts.
final class RestartedServer: Sendable {
  private let cluster: EmbeddedCluster
  private let current: Mutex<LiveServer>

  /// - Parameter settings: more of PostgreSQL's.
  init(_ name: String = "live", settings: [(name: String, value: String)] = []) throws {
    var options = EmbeddedCluster.Options()
    let folder = "/tmp/sociograph-\(name)-\(getpid())-\(UInt16.random(in: 0 ... .max))"
    options.dataDirectory = folder
    options.isDurable = false
    options.settings =
      [
        ("max_connections", "80"), ("max_prepared_transactions", "10"),
        ("search_path", "graph, public"),
      ] + settings
    try TestCluster.endWithProcess(folder)
    cluster = try EmbeddedCluster.start(options) { _ in }
    var configuration = try PostgresConfiguration(cluster.connectionString)
    configuration.namespaces = ["graph"]
    try Migrations.read(TestCluster.packageFolder + "/sql").apply(to: configuration)
    current = Mutex(try LiveServer(database: cluster.connectionString))
  }

  deinit { cluster.stop() }

  /// The one that serves now.
  var server: LiveServer { current.withLock { $0 } }

  var database: String { cluster.connectionString }

  /// Another server, at another port, takes over; who is connected to the one before is sent away.
  func restartServer() throws {
    let next = try LiveServer(database: database)
    current.withLock { $0 = next }
  }

  /// Restarts PostgreSQL, which ends everything in progress.
  func restartDatabase() throws {
    let before = cluster.processID
    kill(before, SIGINT)
    for _ in 0..<12_000 {
      if cluster.processID != before { return }
      usleep(10_000)
    }
    throw GraphTestFailure("PostgreSQL does not come back")
  }

  /// One of PostgreSQL's processes is killed, whereupon it ends them all, and recovers.
  func crashDatabase() throws {
    let session = try GraphData(database)
    let recovered = "SELECT pg_last_wal_replay_lsn()"
    let before = try session.run(recovered)
    let process = try session.run("SELECT pg_backend_pid()")[0][0].flatMap { pid_t($0) }
    guard let process else { throw GraphTestFailure("a session has no process") }
    kill(process, SIGKILL)
    for _ in 0..<12_000 {
      if let data = try? GraphData(database), let now = try? data.run(recovered), now != before {
        return
      }
      usleep(10_000)
    }
    throw GraphTestFailure("PostgreSQL does not recover")
  }

  /// Ends all connections of servers, including the reader's.
  func endConnections() throws {
    try GraphData(database).run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'a test'
      """)
  }
}
