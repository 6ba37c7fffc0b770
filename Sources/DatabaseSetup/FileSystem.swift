import Glibc

/// The calls on files and folders that setup needs, with paths as the system takes them.
enum FileSystem {
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

  /// Returns the contents, or nil if the file cannot be read.
  static func read(_ path: String, limit: Int = 64 << 20) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var contents: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
      }
      if count == 0 { return contents }
      if count < 0, errno == EINTR { continue }
      guard count > 0, contents.count + count <= limit else { return nil }
      contents.append(contentsOf: piece[..<count])
    }
  }

  /// Returns UTF-8 text, or nil if the file cannot be read or is not UTF-8.
  static func readText(_ path: String) -> String? {
    read(path).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Writes a file atomically.
  static func write(_ text: String, to path: String) throws(SetupError) {
    let temporary = path + ".new"
    let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure("write", path) }
    var text = text
    let isWritten = text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(
          file, bytes.baseAddress?.advanced(by: written), bytes.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        written += count
      }
      return true
    }
    let error = failure("write", path)
    close(file)
    guard isWritten else { throw error }
    guard unsafe rename(temporary, path) == 0 else { throw failure("write", path) }
  }

  /// Returns the names in a folder, sorted by their bytes; nil if it cannot be read.
  static func list(_ path: String) -> [String]? {
    guard let directory = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { field in
        unsafe String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Creates a folder and its missing parents.
  static func makeDirectory(_ path: String, mode: mode_t = 0o755) throws(SetupError) {
    if exists(path) { return }
    if let parent = parent(of: path) { try makeDirectory(parent) }
    guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
      throw failure("make the folder", path)
    }
    // mkdir leaves out what the process' mask does.
    unsafe chmod(path, mode)
  }

  /// Removes a folder and its contents, as far as possible.
  static func removeTree(_ path: String) {
    guard let rm = ChildProcess.find("rm") else { return }
    _ = try? ChildProcess.run([rm, "-rf", "--", path], user: nil)
  }

  static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Returns an absolute path without `.`, leading `..` or doubled slashes; the path need not
  /// exist.
  static func absolute(_ path: String) -> String {
    var whole = path
    if !path.hasPrefix("/") {
      whole = (currentDirectory ?? "/") + "/" + path
    }
    var parts: [Substring] = []
    for part in whole.split(separator: "/") where part != "." {
      if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Returns the path with links resolved; nil if it does not exist.
  static func resolved(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Returns the target of a symbolic link.
  static func target(ofLink path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &buffer, buffer.count)
    guard count >= 0 else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func owner(of path: String) -> uid_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_uid : nil
  }

  /// Returns the time of change in seconds since 1970.
  static func changed(_ path: String) -> Int {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mtim.tv_sec : 0
  }

  /// The identity of a file's content: it differs from that of a file that replaces it, and changes
  /// when the file is written to.
  struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t
    let bytes: off_t
    let seconds: Int
    let nanoseconds: Int
  }

  /// Returns the identity of a file, with links resolved; nil if it does not exist.
  static func identity(of path: String) -> Identity? {
    var status = Glibc.stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Identity(
      device: status.st_dev, inode: status.st_ino, bytes: status.st_size,
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  static func failure(_ what: String, _ path: String) -> SetupError {
    SetupError("Cannot \(what) \(path): \(describe(errno)).")
  }

  private static var currentDirectory: String? {
    guard let path = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }
}

/// Returns the system's text for an error number.
func describe(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}
