import Foundation

/// A folder of drafted files, and of the base: what was last drafted, in `.drafted`.
package struct DraftFolder {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let path: String

  package init(_ path: String) { self.path = path }

  /// Whether it has files of SDL.
  package var hasFiles: Bool { !names.isEmpty }

  /// The names of its files of SDL, in order; empty if there is no folder.
  var names: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(".graphql") }.sorted()
  }

  /// Returns the texts of its files of SDL by name.
  package func texts() throws(Failure) -> [String: String] {
    var texts: [String: String] = [:]
    for name in names {
      guard let bytes = FileManager.default.contents(atPath: "\(path)/\(name)") else {
        throw Failure(description: "the file \"\(path)/\(name)\" cannot be read.")
      }
      texts[name] = String(decoding: bytes, as: UTF8.self)
    }
    return texts
  }

  /// Writes files into a temporary folder next to this one.
  ///
  /// - Parameter body: called with the path of that folder, which is gone when it returns.
  package func withCopy<R>(
    of files: [(name: String, text: String)], _ body: (_ folder: String) throws -> R
  ) throws -> R {
    // Not by Foundation, whose paths of one character trap.
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    while parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
    let name = parts.removeLast()
    let temporary = (parts + [".\(name).drafting"]).joined(separator: "/")
    let manager = FileManager.default
    try? manager.removeItem(atPath: temporary)
    try make(temporary)
    defer { try? manager.removeItem(atPath: temporary) }
    for file in files { try write(file.text, to: "\(temporary)/\(file.name)") }
    return try body(temporary)
  }

  /// Writes files, each at once: first into a temporary folder, then to their places.
  package func write(
    _ files: [(name: String, text: String)], removing removed: [String] = []
  ) throws {
    try withCopy(of: files) { temporary in
      try make(path)
      for file in files { try move("\(temporary)/\(file.name)", to: "\(path)/\(file.name)") }
    }
    for name in removed { try? FileManager.default.removeItem(atPath: "\(path)/\(name)") }
  }

  /// The folder of the base.
  package var base: DraftFolder { DraftFolder("\(path)/.drafted") }

  /// Returns the options of the draft, as `keepBase` wrote them; empty if there are none.
  package func baseOptions() -> [String: String] {
    guard let bytes = FileManager.default.contents(atPath: "\(base.path)/options") else {
      return [:]
    }
    var options: [String: String] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: " ", maxSplits: 1)
      if parts.count == 2 { options[String(parts[0])] = String(parts[1]) }
    }
    return options
  }

  /// Returns the names of the draft; none if it kept none.
  package func baseNames() -> KeptNames {
    let bytes = FileManager.default.contents(atPath: "\(base.path)/names") ?? Data()
    return KeptNames(text: String(decoding: bytes, as: UTF8.self))
  }

  /// Keeps what was drafted, for the next `--update`.
  ///
  /// - Parameters:
  ///   - names: the names by which clients know tables and columns.
  ///   - options: the options that selected the tables, by their names.
  package func keepBase(
    _ files: [DraftedFile], _ names: KeptNames, options: [String: String]
  ) throws {
    let lines = options.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
    let kept = Set(files.map(\.name))
    try base.write(
      files.map { ($0.name, $0.text) } + [("options", lines.joined()), ("names", names.text)],
      removing: base.names.filter { !kept.contains($0) })
  }

  private func make(_ path: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(description: "the folder \"\(path)\" cannot be created.")
    }
  }

  private func write(_ text: String, to file: String) throws(Failure) {
    do {
      try Data(text.utf8).write(to: URL(filePath: file))
    } catch {
      throw Failure(description: "the file \"\(file)\" cannot be written.")
    }
  }

  private func move(_ file: String, to place: String) throws(Failure) {
    guard unsafe rename(file, place) == 0 else {
      throw Failure(description: "the file \"\(place)\" cannot be written.")
    }
  }
}
