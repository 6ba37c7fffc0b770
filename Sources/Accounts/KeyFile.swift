import Foundation

/// A file with a key, which only its owner can read.
package enum KeyFile {
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// Creates the file, whole or not at all.
  package static func create(_ file: String, containing text: String) throws(Fault) {
    let draft = file + ".new"
    guard
      FileManager.default.createFile(
        atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]),
      (try? FileManager.default.moveItem(atPath: draft, toPath: file)) != nil
    else { throw Fault(description: "The key \(file) cannot be written.") }
  }
}
