import Glibc

/// PostgreSQL's installed files: the server's program and its libraries, each by its identity, size
/// and time.
///
/// A package manager that upgrades PostgreSQL replaces the files that a running server was started
/// from. The server keeps the files that it has loaded, but a library that it loads later fits the
/// installed program, not the running one.
struct ClusterInstallation: Equatable {
  private var files: [String: FileSystem.Identity]
  private let program: String

  /// Reads the files with about eighty calls of `stat`.
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
    program = programs.postgres
  }

  /// Returns whether a server that runs from the other files has to be restarted: its program has
  /// changed, or a library that one of its processes has loaded. Other files of extensions do not
  /// matter.
  ///
  /// It reads `/proc` if libraries have changed.
  func isUpgrade(of running: ClusterInstallation, process: Int32) -> Bool {
    guard self != running else { return false }
    guard files[program] == running.files[program] else { return true }
    let changed = running.files.keys.filter { files[$0] != running.files[$0] }
    guard !changed.isEmpty else { return false }
    guard let loaded = Self.files(loadedBy: process) else { return true }
    return changed.contains { path in
      // A call of a function loads it, and most graphs have such functions.
      path.hasSuffix("/plpgsql.so")
        || running.files[path].map { loaded.contains($0.inode) } ?? false
    }
  }

  /// Returns the inodes of the files that the server's process and its children have loaded; nil if
  /// the system does not provide them.
  private static func files(loadedBy process: Int32) -> Set<ino_t>? {
    guard let own = maps(of: process) else { return nil }
    var loaded = own
    for name in FileSystem.list("/proc") ?? [] {
      guard let child = Int32(name), parent(of: child) == process else { continue }
      // It may have ended just now.
      if let maps = maps(of: child) { loaded.formUnion(maps) }
    }
    return loaded
  }

  /// Returns the inodes, which are the fifth word of each line.
  private static func maps(of process: Int32) -> Set<ino_t>? {
    guard let text = FileSystem.readText("/proc/\(process)/maps"), !text.isEmpty else { return nil }
    var inodes: Set<ino_t> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 5)
      if words.count > 5, let inode = ino_t(words[4]), inode > 0 { inodes.insert(inode) }
    }
    return inodes
  }

  /// Returns the parent, which is the fourth word of `/proc/.../stat`, after the name in brackets.
  private static func parent(of process: Int32) -> Int32? {
    guard let text = FileSystem.readText("/proc/\(process)/stat"),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    return words.count > 1 ? Int32(words[1]) : nil
  }

  /// Returns whether a process runs the installed program; true if the system does not provide
  /// that.
  static func isCurrent(_ process: Int32, _ programs: ClusterPrograms) -> Bool {
    guard let running = FileSystem.identity(of: "/proc/\(process)/exe") else { return true }
    return running == FileSystem.identity(of: programs.postgres)
  }
}
