import DatabaseSetup
import Foundation

/// A run of the real executable with a test's arguments, and its result.
///
/// Foundation's `Process` reports the end only after that of a PostgreSQL that the program leaves
/// running.
package final class ProgramRun: @unchecked Sendable {
  // @unchecked: used by one test.
  package let processID: pid_t
  private let folder: TemporaryFolder
  private var status: Int32?

  package static let executable = TestCluster.packageFolder + "/.build/debug/sociograph"

  /// Starts the executable in the repository. Without a listen address, a server takes a free port.
  package init(_ arguments: [String], environment: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    let environment = ["SOCIOGRAPH_LISTEN": "127.0.0.1:0"].merging(environment) { $1 }
    let script = #"cd "$1"; error=$2; shift 2; exec env "$@" 2>"$error""#
    processID = try ChildProcess.start(
      ["/bin/sh", "-c", script, "sh", TestCluster.packageFolder, folder.path + "/error"]
        + environment.map { "\($0)=\($1)" } + [Self.executable] + arguments,
      user: nil, output: folder.path + "/out")
  }

  deinit {
    if isRunning {
      kill(processID, SIGKILL)
      _ = finish()
    }
  }

  private func text(_ name: String) -> String {
    let data = FileManager.default.contents(atPath: folder.path + "/" + name)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  package var output: String { text("out") }
  package var errors: String { text("error") }

  package var isRunning: Bool {
    guard status == nil else { return false }
    var code: Int32 = 0
    guard unsafe waitpid(processID, &code, WNOHANG) == processID else { return true }
    status = code & 0x7f == 0 ? (code >> 8) & 0xff : 128 + (code & 0x7f)
    return false
  }

  package func signal(_ number: Int32) { kill(processID, number) }

  /// The exit status, 128 and its number for a signal's, or nil when it has not ended after
  /// `timeout` seconds.
  package func finish(within timeout: Double = 600) -> Int32? {
    let deadline = Date() + timeout
    while isRunning {
      guard Date() < deadline else { return nil }
      usleep(5_000)
    }
    return status
  }

  /// Waits for something in the standard output.
  package func prints(_ text: String, within timeout: Double = 600) -> Bool {
    let deadline = Date() + timeout
    while Date() < deadline {
      if output.contains(text) { return true }
      if !isRunning { return output.contains(text) }
      usleep(5_000)
    }
    return false
  }

  /// A run from beginning to end.
  package static func complete(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32?, output: String, errors: String) {
    let run = try ProgramRun(arguments, environment: environment)
    let status = run.finish()
    return (status, run.output, run.errors)
  }
}

/// A folder that is gone with its owner.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    path = "/tmp/sociograph-server-test-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func write(_ name: String, _ text: String, mode: Int = 0o644) throws -> String {
    let file = "\(path)/\(name)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }
}
