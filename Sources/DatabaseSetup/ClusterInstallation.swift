/// PostgreSQL's files as they are installed: the server's program and its libraries, each by its
/// identity, size and time.
///
/// A package manager that upgrades PostgreSQL puts other files in the place of those a running server
/// was started from. It goes on with what it has loaded, but a library it loads from then on fits the
/// program that is there now, not the one that runs.
struct ClusterInstallation: Equatable {
  private let files: [String: FileSystem.Identity]

  /// Some eighty calls of `stat`.
  init(_ programs: ClusterPrograms) {
    var files: [String: FileSystem.Identity] = [:]
    var paths = [programs.postgres]
    if let libraries = programs.libraries {
      paths += (FileSystem.list(libraries) ?? []).filter { $0.hasSuffix(".so") }
        .map { libraries + "/" + $0 }
    }
    // One that is not there just now, in the middle of an upgrade, is a difference as well.
    for path in paths { files[path] = FileSystem.identity(of: path) }
    self.files = files
  }

  /// A process runs the program that is there; true where the system does not say.
  static func isCurrent(_ process: Int32, _ programs: ClusterPrograms) -> Bool {
    guard let running = FileSystem.identity(of: "/proc/\(process)/exe") else { return true }
    return running == FileSystem.identity(of: programs.postgres)
  }
}
