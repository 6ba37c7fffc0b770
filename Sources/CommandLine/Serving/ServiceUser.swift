import Foundation
import Glibc
import Server

/// A user of the machine that `serve` switches to if root has started it.
struct ServiceUser {
  let name: String
  private let userID: uid_t
  private let groupID: gid_t
  private let home: String

  /// - Throws: a `UsageError` for a user who does not exist, or whom this process cannot become.
  init(_ name: String, _ origin: String) throws(UsageError) {
    guard !name.utf8.contains(0), let entry = unsafe getpwnam(name) else {
      throw UsageError("\(origin): there is no user \"\(name)\".")
    }
    self.name = name
    userID = unsafe entry.pointee.pw_uid
    groupID = unsafe entry.pointee.pw_gid
    home = unsafe String(cString: entry.pointee.pw_dir)
    guard userID != 0 else {
      throw UsageError("\(origin) must not be root, whose privileges it drops; name another user.")
    }
    guard geteuid() == 0 || geteuid() == userID else {
      throw UsageError("\(origin): only root can become \"\(name)\".")
    }
  }

  /// Makes the user the owner of a folder, which root may have to create first.
  func own(_ folder: String) throws(CommandFailure) {
    guard geteuid() == 0, !FileManager.default.fileExists(atPath: folder) else { return }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure("The folder \(folder) cannot be made: \(error.localizedDescription)")
    }
    guard unsafe chown(folder, userID, groupID) == 0 else { throw failure("be given \(folder)") }
  }

  /// Switches to the user permanently, and drops all privileges of root.
  func become() throws(CommandFailure) {
    guard geteuid() == 0 else { return }
    // So that it can be opened again.
    var status = stat()
    if unsafe fstat(STDERR_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == 0
    {
      _ = fchown(STDERR_FILENO, userID, groupID)
    }
    guard unsafe initgroups(name, groupID) == 0, setgid(groupID) == 0, setuid(userID) == 0,
      setuid(0) != 0, geteuid() == userID, getuid() == userID, getegid() == groupID
    else { throw failure("be become") }
    unsafe setenv("HOME", home, 1)
  }

  private func failure(_ what: String) -> CommandFailure {
    CommandFailure("The user \"\(name)\" cannot \(what): \(Console.describe(errno)).")
  }
}

/// A file that replaces standard error, so that all messages go there.
struct LogFile: Sendable {
  let path: String

  /// Opens the file, also again after it was moved; changes nothing if it cannot. A FIFO is opened
  /// if a process reads it: opening never waits for one.
  func open() throws(CommandFailure) {
    let descriptor = unsafe Glibc.open(
      path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o640)
    guard descriptor >= 0 else {
      let reason = errno == ENXIO ? "no process reads the FIFO" : Console.describe(errno)
      throw CommandFailure("The log file \"\(path)\" cannot be opened: \(reason).")
    }
    // Writes may block: the log has a dedicated thread, and child processes inherit the descriptor.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    // In one step, so that no writer finds the descriptor closed.
    guard dup2(descriptor, STDERR_FILENO) >= 0 else {
      let code = errno
      close(descriptor)
      throw CommandFailure("The log file \"\(path)\" cannot be used: \(Console.describe(code)).")
    }
    close(descriptor)
  }
}
