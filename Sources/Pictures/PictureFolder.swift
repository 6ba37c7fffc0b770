import Glibc

/// Pictures as files, in one folder for each two first digits of their names.
///
/// A file is written completely under a temporary name and then renamed, so that readers never see
/// part of one. Its time of change is the time when it was last stored.
package struct PictureFolder: PictureStore {
  package let path: String

  /// - Throws: an error if the folder cannot be created or written to.
  package init(_ path: String) throws(PictureStoreError) {
    self.path = path
    try Self.makeFolder(path)
    try Self.makeFolder("\(path)/new")
    guard unsafe access("\(path)/new", W_OK | X_OK) == 0 else {
      throw PictureStoreError("the folder \(path) cannot be written to")
    }
  }

  private static func makeFolder(_ path: String) throws(PictureStoreError) {
    guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    throw fault("cannot make the folder \(path)")
  }

  private static func fault(_ what: String) -> PictureStoreError {
    unsafe PictureStoreError("\(what): \(String(cString: strerror(errno)))")
  }

  private func folder(of name: PictureName) -> String { "\(path)/\(name.hash.prefix(2))" }
  private func file(of name: PictureName) -> String { "\(folder(of: name))/\(name)" }

  package func keep(_ bytes: [UInt8], as name: PictureName) throws(PictureStoreError) {
    let draft = "\(path)/new/\(name).\(UInt64.random(in: 0 ... .max))"
    do throws(PictureStoreError) {
      try Self.write(bytes, to: draft)
      try Self.makeFolder(folder(of: name))
      guard unsafe rename(draft, file(of: name)) == 0 else {
        throw Self.fault("cannot keep \(name)")
      }
      try Self.settle(folder(of: name))
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(PictureStoreError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fault("cannot write \(path)") }
    defer { close(descriptor) }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes[written...].withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw fault("cannot write \(path)") }
      written += count
    }
    guard fsync(descriptor) == 0 else { throw fault("cannot write \(path)") }
  }

  /// Syncs a folder, so that its names survive a crash.
  private static func settle(_ folder: String) throws(PictureStoreError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw fault("cannot open \(folder)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw fault("cannot write \(folder)") }
  }

  package func size(of name: PictureName) throws(PictureStoreError) -> Int? {
    try status(of: file(of: name)).map { Int($0.st_size) }
  }

  private func status(of file: String) throws(PictureStoreError) -> stat? {
    var status = stat()
    if unsafe stat(file, &status) == 0 { return status }
    guard errno == ENOENT else { throw Self.fault("cannot read \(file)") }
    return nil
  }

  package func bytes(
    of name: PictureName, in range: Range<Int>
  ) throws(PictureStoreError) -> [UInt8]? {
    let file = file(of: name)
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw Self.fault("cannot read \(file)") }
      return nil
    }
    defer { close(descriptor) }
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
      while filled < range.count {
        let count = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + filled }, range.count - filled,
          range.lowerBound + filled)
        if count < 0, errno == EINTR { continue }
        if count < 0 { code = errno }
        guard count > 0 else { break }
        filled += count
      }
    }
    guard code == 0 else {
      errno = code
      throw Self.fault("cannot read \(file)")
    }
    return bytes
  }

  package func names(olderThan seconds: Int) throws(PictureStoreError) -> [PictureName] {
    var names: [PictureName] = []
    for folder in try Self.entries(of: path) where folder.utf8.count == 2 {
      for entry in try Self.entries(of: "\(path)/\(folder)") {
        guard let name = PictureName(entry), entry.hasPrefix(folder) else { continue }
        if try isOld(file(of: name), seconds) { names.append(name) }
      }
    }
    return names
  }

  package func remove(_ name: PictureName, olderThan seconds: Int) throws(PictureStoreError) {
    guard try isOld(file(of: name), seconds) else { return }
    guard unsafe unlink(file(of: name)) == 0 || errno == ENOENT else {
      throw Self.fault("cannot remove \(name)")
    }
  }

  /// Removes files that were being written when the server died.
  package func removeDrafts(olderThan seconds: Int) throws(PictureStoreError) {
    for entry in try Self.entries(of: "\(path)/new") where !entry.hasPrefix(".") {
      if try isOld("\(path)/new/\(entry)", seconds) { unsafe unlink("\(path)/new/\(entry)") }
    }
  }

  private func isOld(_ file: String, _ seconds: Int) throws(PictureStoreError) -> Bool {
    guard let status = try status(of: file) else { return false }
    return status.st_mtim.tv_sec <= time(nil) - seconds
  }

  private static func entries(of folder: String) throws(PictureStoreError) -> [String] {
    guard let stream = unsafe opendir(folder) else { throw fault("cannot read \(folder)") }
    defer { unsafe closedir(stream) }
    var entries: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      entries.append(name)
    }
    return entries
  }
}
