import Foundation
import Sandbox

/// The operator's program that delivers: it gets a message as JSON on its standard input, and its
/// exit status is the outcome.
package struct OutboxCommand: Sendable {
  /// The command for the shell.
  package let text: String
  /// The time after which it is killed, and has not delivered.
  package let timeout: Duration

  package init(text: String, timeout: Duration = .seconds(60)) {
    self.text = text
    self.timeout = timeout
  }

  enum Outcome: Equatable {
    case delivered
    /// The delivery failed, and is retried.
    case failed(String)
    /// EX_DATAERR or EX_NOHOST: another attempt would fail as well.
    case refused(String)
    /// EX_NOUSER: nobody is reached there any more.
    case gone(String)
  }

  /// The prefixes of the server's own variables: the database's password, the path of the
  /// encryption key, the service manager's socket.
  private static let ownVariables = [
    "SOCIOGRAPH_", "DATABASE_URL", "PG", "NOTIFY_SOCKET", "WATCHDOG_", "CREDENTIALS_DIRECTORY",
  ]
  private static let finalStatuses: Set<Int32> = [65, 68]
  private static let goneStatus: Int32 = 67

  /// Runs the command to its end. The calling thread waits.
  func hand(_ message: [UInt8]) -> Outcome {
    var limits = ChildProgram.Limits()
    limits.time = timeout
    limits.outputBytes = 1_000
    limits.truncatesOutput = true
    limits.isConfined = false
    let environment = ProcessInfo.processInfo.environment.filter { name, _ in
      !Self.ownVariables.contains { name.hasPrefix($0) }
    }
    let program = ChildProgram(
      arguments: ["/bin/sh", "-c", text], environment: environment.map { "\($0)=\($1)" },
      limits: limits, reading: .errors)
    switch program.run(message) {
    case .ended(0, _): return .delivered
    case .ended(let status, let errors):
      let line = String(decoding: errors.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      let reason = "status \(status)" + (line.isEmpty ? "" : ": \(line)")
      if status == Self.goneStatus { return .gone(reason) }
      return Self.finalStatuses.contains(status) ? .refused(reason) : .failed(reason)
    case .outOfTime, .tooMuchOutput: return .failed("it took longer than \(timeout)")
    case .notStarted(let code): return .failed("it could not be started (error \(code))")
    }
  }
}
