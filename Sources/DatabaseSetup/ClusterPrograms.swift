import Glibc

/// PostgreSQL's programs as they are installed.
struct ClusterPrograms {
  let folder: String
  let major: Int

  var postgres: String { folder + "/postgres" }
  var initdb: String { folder + "/initdb" }
  var version: String { String(major) }
  var libraries: String? { FileSystem.parent(of: folder).map { $0 + "/lib" } }

  static let oldestMajor = 15

  /// Finds the given folder, or the newest installed version; for an existing cluster, its version.
  static func find(_ given: String?, for cluster: String) throws(SetupError) -> ClusterPrograms {
    let wanted = FileSystem.readText(cluster + "/PG_VERSION").flatMap { Int($0.filter(\.isNumber)) }
    if let given {
      let name = FileSystem.absolute(given)
      guard FileSystem.isExecutable(name + "/postgres"), FileSystem.isExecutable(name + "/initdb")
      else { throw SetupError("The folder \(name) has no programs postgres and initdb.") }
      return ClusterPrograms(folder: name, major: wanted ?? oldestMajor)
    }
    let installed = candidates().filter {
      FileSystem.isExecutable($0.postgres) && FileSystem.isExecutable($0.initdb)
    }
    if let wanted {
      guard let match = installed.first(where: { $0.major == wanted }) else {
        throw SetupError(
          "The cluster in \(cluster) was made by PostgreSQL \(wanted), which is not installed.")
      }
      return match
    }
    guard
      let newest = installed.filter({ $0.major >= oldestMajor }).max(by: { $0.major < $1.major })
    else {
      throw SetupError(
        "PostgreSQL \(oldestMajor) or newer is not installed here (package postgresql), and no "
          + "database that runs elsewhere is named.")
    }
    return newest
  }

  private static func candidates() -> [ClusterPrograms] {
    var result: [ClusterPrograms] = []
    // Debian and Ubuntu; the packages of postgresql.org for Red Hat.
    for name in FileSystem.list("/usr/lib/postgresql") ?? [] {
      if let major = Int(name) {
        result.append(ClusterPrograms(folder: "/usr/lib/postgresql/\(name)/bin", major: major))
      }
    }
    for name in FileSystem.list("/usr") ?? [] where name.hasPrefix("pgsql-") {
      if let major = Int(name.dropFirst(6)) {
        result.append(ClusterPrograms(folder: "/usr/\(name)/bin", major: major))
      }
    }
    return result
  }

  /// Whether the library of pg_stat_statements is installed.
  var hasStatementStatistics: Bool {
    libraries.map { FileSystem.exists($0 + "/pg_stat_statements.so") } ?? false
  }

  /// Returns whether the server's program can be run, which is false during an upgrade.
  func work(as account: ClusterAccount) -> Bool {
    (try? ChildProcess.run([postgres, "--version"], user: account.name)) == 0
  }
}

/// The settings of an embedded cluster.
enum ClusterConfiguration {
  static func text(
    _ options: EmbeddedCluster.Options, socketDirectory: String, _ programs: ClusterPrograms
  ) -> String {
    let megabytes = memoryMegabytes()
    var settings: [(name: String, value: String)] = [
      ("listen_addresses", ""),
      ("unix_socket_directories", socketDirectory),
      ("unix_socket_permissions", "0700"),
      ("port", "5432"),
      ("max_connections", "100"),
      ("shared_buffers", "\(min(max(megabytes / 4, 64), 2048))MB"),
      ("effective_cache_size", "\(max(megabytes * 2 / 3, 128))MB"),
      ("work_mem", "16MB"),
      ("maintenance_work_mem", "\(min(max(megabytes / 16, 64), 512))MB"),
      // Solid-state disks; and statements that are too short to be worth a second process.
      ("random_page_cost", "1.1"),
      ("effective_io_concurrency", "200"),
      ("max_parallel_workers_per_gather", "0"),
      ("jit", "off"),
      ("max_wal_size", "4GB"),
      ("min_wal_size", "256MB"),
      ("wal_compression", "on"),
      ("checkpoint_timeout", "15min"),
      ("autovacuum_vacuum_scale_factor", "0.05"),
      ("autovacuum_analyze_scale_factor", "0.02"),
      ("track_io_timing", "on"),
      ("timezone", "UTC"),
      ("log_timezone", "UTC"),
      // A week of logs, each day's in its file.
      ("logging_collector", "on"),
      ("log_directory", "log"),
      ("log_filename", "postgresql-%a.log"),
      ("log_truncate_on_rotation", "on"),
      ("log_rotation_age", "1d"),
      ("log_rotation_size", "0"),
      ("log_min_duration_statement", "1s"),
      // Words of searches, say: never logged.
      ("log_parameter_max_length", "0"),
      ("log_parameter_max_length_on_error", "0"),
      ("log_lock_waits", "on"),
      ("log_line_prefix", "%m [%p] %a "),
    ]
    if programs.hasStatementStatistics {
      settings.append(("shared_preload_libraries", "pg_stat_statements"))
      settings.append(("pg_stat_statements.track", "top"))
      settings.append(("pg_stat_statements.max", "10000"))
    }
    if !options.isDurable {
      settings.append(("fsync", "off"))
      settings.append(("full_page_writes", "off"))
      settings.append(("wal_compression", "off"))
      settings.append(("synchronous_commit", "off"))
    }
    settings += options.settings
    let lines = settings.map { "\($0.name) = '\(quoted($0.value))'" }
    return "# Written by sociograph at each start; changes belong into postgresql.auto.conf.\n"
      + lines.joined(separator: "\n") + "\n"
  }

  private static func quoted(_ value: String) -> String {
    value.reduce(into: "") { result, character in
      if character == "'" { result.append("'") }
      result.append(character)
    }
  }

  private static func memoryMegabytes() -> Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let size = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && size > 0 ? pages / 1024 * size / 1024 : 1024
  }
}
