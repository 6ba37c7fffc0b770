import Dispatch
import Glibc
import JSON
import Load
import Server

/// The files that a run writes.
enum LoadFiles {
  /// Finds out before a run whether its files can be written.
  static func check(_ names: [String?]) throws(UsageError) {
    for name in names.compactMap(\.self) {
      let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else {
        throw UsageError("\"\(name)\" cannot be written: \(Console.describe(errno)).")
      }
      close(descriptor)
    }
  }

  static func write(_ bytes: [UInt8], to name: String) throws(CommandFailure) {
    let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure("\"\(name)\" cannot be written: \(Console.describe(errno)).")
    }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw CommandFailure("\"\(name)\" cannot be written: \(Console.describe(errno)).")
      }
      rest = rest.dropFirst(count)
    }
  }
}

/// The ledger of mutations: one JSON object a line, written when the mutation ends.
final class LoadLedger: Sendable {
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "sociograph.load.ledger")

  init(_ name: String) throws(CommandFailure) {
    descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure("\"\(name)\" cannot be written: \(Console.describe(errno)).")
    }
  }

  deinit { close(descriptor) }

  /// Writes an entry, on a queue of its own, so that a slow disk does not delay requests.
  func write(_ entry: LoadDriver.LedgerEntry) {
    var json = JSONWriter(capacity: 160)
    json.append("{\"key\":")
    json.write(entry.key)
    json.append(",\"operation\":")
    json.write(entry.operation)
    json.append(",\"outcome\":")
    json.write(entry.fate.rawValue)
    json.append(",\"attempts\":")
    json.write(entry.attempts)
    json.append(",\"replayed\":")
    json.write(entry.isReplayed)
    json.append("}\n")
    let line = json.finish()
    queue.async { [descriptor] in Console.write(line, to: descriptor) }
  }

  /// Waits until all entries are written.
  func finish() { queue.sync {} }
}
