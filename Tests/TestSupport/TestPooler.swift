import DatabaseSetup
import Foundation
import Glibc
import Postgres

/// PgBouncer in transaction mode before the tests' cluster.
package final class TestPooler: @unchecked Sendable {
  // @unchecked: `process` is set once.
  private let folder: TemporaryFolder
  private let process: pid_t
  /// Leads to a database through it.
  package let connectionString: String

  /// - Parameters:
  ///   - database: by its connection string.
  ///   - serverConnections: how many there are for all clients.
  package init(to database: String, serverConnections: Int) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    let target = try PostgresConfiguration.options(of: database)
      .map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    let user = geteuid() == 0 ? "postgres" : nil
    unsafe chmod(folder.path, 0o777)
    let settings = try folder.write(
      "pgbouncer.ini",
      """
      [databases]
      pooled = \(target)
      [pgbouncer]
      pool_mode = transaction
      default_pool_size = \(serverConnections)
      listen_port = 6432
      unix_socket_dir = \(folder.path)
      auth_type = any
      """)
    guard let program = ChildProcess.find("pgbouncer") else {
      throw Failure(text: "There is no pgbouncer; script/setup test installs it.")
    }
    process = try ChildProcess.start(
      [program, settings], user: user, output: folder.path + "/log")
    connectionString = "host=\(folder.path) port=6432 dbname=pooled user=anybody"
    for _ in 0..<60_000 {
      if unsafe access(folder.path + "/.s.PGSQL.6432", F_OK) == 0 { return }
      usleep(10_000)
    }
    throw Failure(text: "pgbouncer does not listen: \(log)")
  }

  deinit {
    kill(process, SIGKILL)
    _ = waitpid(process, nil, 0)
  }

  struct Failure: Error { let text: String }

  package var log: String {
    String(
      decoding: FileManager.default.contents(atPath: folder.path + "/log") ?? Data(), as: UTF8.self)
  }
}
