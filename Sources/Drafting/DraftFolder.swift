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
  func texts() throws(Failure) -> [String: String] {
    var texts: [String: String] = [:]
    for name in names {
      guard let bytes = FileManager.default.contents(atPath: "\(path)/\(name)") else {
        throw Failure(description: "the file \"\(path)/\(name)\" cannot be read.")
      }
      texts[name] = String(decoding: bytes, as: UTF8.self)
    }
    return texts
  }

  /// Writes files next to where they belong, lets them be checked, and then moves them, so that the
  /// folder never has a part of a draft.
  ///
  /// - Parameter check: called with the path of the temporary folder.
  package func replace<R>(
    _ files: [(name: String, text: String)], removing removed: [String] = [],
    check: (_ folder: String) throws -> R
  ) throws -> R {
    let parent = (path as NSString).deletingLastPathComponent
    let name = (path as NSString).lastPathComponent
    let temporary = (parent.isEmpty ? "" : parent + "/") + ".\(name).drafting"
    let manager = FileManager.default
    try? manager.removeItem(atPath: temporary)
    try make(temporary)
    defer { try? manager.removeItem(atPath: temporary) }
    for file in files { try write(file.text, to: "\(temporary)/\(file.name)") }
    let result = try check(temporary)
    try make(path)
    for file in files { try move("\(temporary)/\(file.name)", to: "\(path)/\(file.name)") }
    for name in removed { try? manager.removeItem(atPath: "\(path)/\(name)") }
    return result
  }

  /// Keeps what was drafted, for the next `--update`.
  package func keepBase(_ files: [DraftedFile], options: String) throws(Failure) {
    let base = "\(path)/.drafted"
    let manager = FileManager.default
    try? manager.removeItem(atPath: base)
    try make(base)
    for file in files { try write(file.text, to: "\(base)/\(file.name)") }
    try write(options, to: "\(base)/options")
  }

  private func make(_ path: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(description: "the folder \"\(path)\" cannot be created.")
    }
  }

  private func write(_ text: String, to file: String) throws(Failure) {
    guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8)) else {
      throw Failure(description: "the file \"\(file)\" cannot be written.")
    }
  }

  private func move(_ file: String, to place: String) throws(Failure) {
    guard unsafe rename(file, place) == 0 else {
      throw Failure(description: "the file \"\(place)\" cannot be written.")
    }
  }
}
