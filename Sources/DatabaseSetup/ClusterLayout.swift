import Glibc

/// The folders of an embedded cluster, where the user that runs PostgreSQL can reach them.
struct ClusterLayout {
  let data: String
  let socketDirectory: String

  var cluster: String { data + "/postgres" }
  var log: String { data + "/postgres.log" }

  /// The name of the socket, whose path has to fit 107 bytes and a NUL.
  private static let socketName = "/.s.PGSQL.5432"
  private static let longestSocketPath = 107

  static func prepare(
    _ directory: String, for account: ClusterAccount, report: (ClusterEvent) -> Void
  ) throws(SetupError) -> ClusterLayout {
    var data = FileSystem.absolute(directory)
    try FileSystem.makeDirectory(data)
    guard FileSystem.isDirectory(data) else {
      throw SetupError("The data directory \(data) is a file.")
    }
    data = FileSystem.resolved(data) ?? data
    guard !data.contains("'"), !data.contains("\\"), !data.contains("\n") else {
      throw SetupError("The data directory's path has a quote, backslash or line feed: \(data).")
    }
    if try !account.canReach(data) {
      guard account.name != nil else {
        throw SetupError("This process may not write the data directory \(data).")
      }
      // For example root's home. The name is derived from the folder's path.
      let other = "/var/lib/sociograph/" + hexadecimalHash(of: data)
      try FileSystem.makeDirectory(other)
      guard try account.canReach(other) else {
        throw SetupError("The user \(account.label) can reach neither \(data) nor \(other).")
      }
      report(.movedData(from: data, to: other, user: account.label))
      data = other
    }
    return ClusterLayout(
      data: data, socketDirectory: try prepareSocketDirectory(for: data, account))
  }

  private static func prepareSocketDirectory(
    for data: String, _ account: ClusterAccount
  ) throws(SetupError) -> String {
    var directory = data + "/run"
    if directory.utf8.count + socketName.utf8.count > longestSocketPath {
      var base = "/tmp"
      if account.name == nil, let runtime = unsafe getenv("XDG_RUNTIME_DIR") {
        let path = unsafe String(cString: runtime)
        if path.hasPrefix("/"), path.utf8.count < 64, FileSystem.isDirectory(path) { base = path }
      }
      directory = "\(base)/sociograph-\(account.userID)-\(hexadecimalHash(of: data))"
    }
    try FileSystem.makeDirectory(directory, mode: 0o700)
    // Under /tmp, another user may have created it first.
    let owner = FileSystem.owner(of: directory)
    guard FileSystem.isDirectory(directory), owner == account.userID || owner == geteuid() else {
      throw SetupError("The folder \(directory) belongs to another user.")
    }
    try account.give(directory)
    return directory
  }

  // MARK: One server at a time

  /// Takes the lock.
  ///
  /// - Returns: the descriptor that holds the lock, which the system releases with the process; nil
  ///   if another process holds it.
  func takeLock() throws(SetupError) -> Int32? {
    let path = data + "/lock"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileSystem.failure("open", path) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return nil
    }
    let text = Array(String(getpid()).utf8)
    ftruncate(file, 0)
    _ = unsafe text.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    return file
  }

  /// The error that the lock is taken.
  var isInUse: SetupError {
    let holder = FileSystem.readText(data + "/lock") ?? ""
    return SetupError(
      "The data directory \(data) is in use by another server"
        + (holder.isEmpty ? "." : ", process \(holder)."))
  }

  // MARK: Drafts

  private static let draftPrefix = "postgres.new"

  /// Creates a new folder for a cluster that is being created, and removes those of earlier
  /// attempts if possible. A server that was killed leaves its initdb running, which may still
  /// write to its folder or remove it.
  func makeDraft(for account: ClusterAccount) throws(SetupError) -> String {
    for name in FileSystem.list(data) ?? [] where name.hasPrefix(Self.draftPrefix) {
      let path = data + "/" + name
      for process in processes(makingOrUsing: path) { kill(process, SIGKILL) }
      FileSystem.removeTree(path)
    }
    let draft = "\(data)/\(Self.draftPrefix)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    try FileSystem.makeDirectory(draft, mode: 0o700)
    try account.give(draft)
    return draft
  }

  private func processes(makingOrUsing folder: String) -> [pid_t] {
    (FileSystem.list("/proc") ?? []).compactMap { pid_t($0) }.filter { process in
      FileSystem.target(ofLink: "/proc/\(process)/cwd") == folder
        || FileSystem.read("/proc/\(process)/cmdline")
          .map { String(decoding: $0, as: UTF8.self).contains(folder) } ?? false
    }
  }

  // MARK: What runs here

  struct Postmaster {
    let process: pid_t
    let socketDirectory: String
    /// The status: `starting`, `stopping`, `ready` or `standby`.
    let status: String
  }

  /// Returns the running postmaster of this cluster, according to its lock file.
  func postmaster() -> Postmaster? {
    guard let text = FileSystem.readText(cluster + "/postmaster.pid") else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.first, let process = pid_t(first), worksHere(process) else {
      return nil
    }
    return Postmaster(
      process: process, socketDirectory: lines.count > 4 ? String(lines[4]) : "",
      status: lines.count > 7 ? String(lines[7]).filter { $0 != " " } : "")
  }

  /// Returns whether a process works in the cluster's folder, as all of its processes do.
  private func worksHere(_ process: pid_t) -> Bool {
    ChildProcess.isAlive(process)
      && FileSystem.target(ofLink: "/proc/\(process)/cwd") == cluster
  }

  func hasProcesses() -> Bool {
    (FileSystem.list("/proc") ?? []).contains { name in
      pid_t(name).map { FileSystem.target(ofLink: "/proc/\($0)/cwd") == cluster } ?? false
    }
  }

  /// Removes a lock file whose process number now belongs to another program, or to a process that
  /// has ended and was not reaped; PostgreSQL itself would assume a running cluster. Call if no
  /// process of the cluster runs.
  ///
  /// - Returns: whether there was a file.
  func removeForeignLockFile() -> Bool {
    let path = cluster + "/postmaster.pid"
    guard FileSystem.exists(path) else { return false }
    if let text = FileSystem.readText(path), let first = text.split(separator: "\n").first,
      let process = pid_t(first), process > 0, kill(process, 0) == 0 || errno == EPERM
    {
      unsafe unlink(path)
      unsafe unlink(socketDirectory + "/.s.PGSQL.5432.lock")
    }
    return true
  }

  // MARK: Files

  /// Writes our configuration, which the file made by initdb includes at its end, so that it takes
  /// precedence.
  func writeConfiguration(_ text: String) throws(SetupError) {
    try FileSystem.write(text, to: cluster + "/sociograph.conf")
    let path = cluster + "/postgresql.conf"
    let include = "include 'sociograph.conf'"
    guard let present = FileSystem.readText(path) else {
      throw FileSystem.failure("read", path)
    }
    if !present.contains("\n" + include) {
      try FileSystem.write(present + "\n" + include + "\n", to: path)
      // As initdb had it: its user's.
    }
    if let owner = FileSystem.owner(of: cluster) {
      for file in [path, cluster + "/sociograph.conf"] { unsafe chown(file, owner, gid_t.max) }
    }
  }

  func emptyLog() throws(SetupError) {
    try FileSystem.write("", to: log)
  }

  /// The error in the last lines that PostgreSQL printed, as one text.
  var logTail: String {
    var text = FileSystem.readText(log) ?? ""
    // Once its own logging has begun, what went wrong is written there.
    if text.contains("logging collector") {
      let logs = (FileSystem.list(cluster + "/log") ?? []).map { cluster + "/log/" + $0 }
      if let newest = logs.max(by: { FileSystem.changed($0) < FileSystem.changed($1) }) {
        text = FileSystem.readText(newest) ?? text
      }
    }
    let printed = text.split(separator: "\n")
    // The lines after the reason only follow from it.
    let reason = printed.lastIndex { line in
      [" FATAL: ", " PANIC: ", " ERROR: ", "error: "].contains { line.contains($0) }
    }
    let lines = reason.map { printed[...$0].suffix(3) } ?? printed.suffix(5)
    return lines.isEmpty ? "it printed nothing (\(log))" : lines.joined(separator: " / ")
  }

  private static func hexadecimalHash(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

/// The user that PostgreSQL runs as: this process's user, or `postgres` if that is root, as which
/// PostgreSQL refuses to run.
struct ClusterAccount {
  /// The name of the user, or nil for this process's user.
  let name: String?
  let userID: uid_t
  let groupID: gid_t

  var label: String { name ?? "of this process" }

  static func current() throws(SetupError) -> ClusterAccount {
    guard geteuid() == 0 else {
      return ClusterAccount(name: nil, userID: geteuid(), groupID: getegid())
    }
    guard let entry = unsafe getpwnam("postgres") else {
      throw SetupError(
        "PostgreSQL does not run as root, and there is no user \"postgres\" to run it as.")
    }
    return unsafe ClusterAccount(
      name: "postgres", userID: entry.pointee.pw_uid, groupID: entry.pointee.pw_gid)
  }

  /// Returns whether the user can enter this folder and pass through all folders above.
  func canReach(_ directory: String) throws(SetupError) -> Bool {
    guard let name else { return unsafe access(directory, R_OK | W_OK | X_OK) == 0 }
    guard let test = ChildProcess.find("test") else { return true }
    return try ChildProcess.run([test, "-x", directory], user: name) == 0
  }

  func give(_ path: String) throws(SetupError) {
    guard name != nil else { return }
    guard unsafe chown(path, userID, groupID) == 0 else {
      throw FileSystem.failure("change the owner of", path)
    }
  }
}
