import EventLoops
import Foundation
import Glibc

/// A program of the operator's that delivers: it is given a message as JSON on its standard input, and says
/// by its exit status what came of it.
package struct OutboxCommand: Sendable {
  /// As a shell reads it.
  package let text: String
  /// After this it is ended, and has not delivered.
  package let timeout: Duration

  package init(text: String, timeout: Duration = .seconds(60)) {
    self.text = text
    self.timeout = timeout
  }

  enum Outcome: Equatable {
    case delivered
    /// To be tried again.
    case failed(String)
    /// By EX_DATAERR, EX_NOUSER or EX_NOHOST: nothing will come of trying again.
    case refused(String)
  }

  /// What is ours to know: the database's password, the sealing key's place, our manager's socket.
  private static let ownVariables = [
    "SOCIOGRAPH_", "DATABASE_URL", "PG", "NOTIFY_SOCKET", "WATCHDOG_", "CREDENTIALS_DIRECTORY",
  ]
  private static let maximumErrorBytes = 1_000
  private static let finalStatuses: Set<Int32> = [65, 67, 68]

  /// Runs it to its end. Blocks.
  func hand(_ message: [UInt8]) -> Outcome {
    guard let input = EventLoops.Pipe.open() else { return .failed("no pipe for its input") }
    guard let errors = EventLoops.Pipe.open() else {
      close(input.reading)
      close(input.writing)
      return .failed("no pipe for its errors")
    }
    let process = start(input: input.reading, errors: errors.writing)
    close(input.reading)
    close(errors.writing)
    var writing = input.writing
    defer {
      if writing >= 0 { close(writing) }
      close(errors.reading)
    }
    guard process > 0 else { return .failed("it cannot be started") }
    for end in [writing, errors.reading] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    var said: [UInt8] = []
    var rest = message[...]
    let deadline = ContinuousClock.now + timeout
    var status: Int32 = 0
    while unsafe waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < deadline else {
        // Whatever it has started goes with it.
        kill(-process, SIGKILL)
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return .failed("it took longer than \(timeout)")
      }
      if writing >= 0 {
        rest = Self.write(rest, to: writing)
        if rest.isEmpty {
          close(writing)
          writing = -1
        }
      }
      var entries = [
        pollfd(fd: errors.reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: writing, events: Int16(POLLOUT), revents: 0),
      ]
      _ = unsafe poll(&entries, writing >= 0 ? 2 : 1, 20)
      // One that has closed them and goes on is looked at now and then.
      if !Self.read(errors.reading, into: &said) { usleep(5_000) }
    }
    while Self.read(errors.reading, into: &said) {}
    let signal = status & 0x7f
    let code = (status >> 8) & 0xff
    if signal == 0, code == 0 { return .delivered }
    let line = String(decoding: said.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let reason =
      (signal == 0 ? "status \(code)" : "signal \(signal)") + (line.isEmpty ? "" : ": \(line)")
    return signal == 0 && Self.finalStatuses.contains(code) ? .refused(reason) : .failed(reason)
  }

  /// In a process group of its own; 0 when it cannot be started.
  private func start(input: Int32, errors: Int32) -> pid_t {
    var files = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&files)
    defer { unsafe posix_spawn_file_actions_destroy(&files) }
    unsafe posix_spawn_file_actions_adddup2(&files, input, 0)
    unsafe posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&files, errors, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    let environment = ProcessInfo.processInfo.environment.filter { name, _ in
      !Self.ownVariables.contains { name.hasPrefix($0) }
    }
    var process: pid_t = 0
    let words = ["/bin/sh", "-c", text]
    let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    let lines = environment.map { "\($0.key)=\($0.value)" }
    let variables: [UnsafeMutablePointer<CChar>?] = unsafe lines.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    let code = unsafe posix_spawn(
      &process, "/bin/sh", &files, &attributes, arguments, variables)
    return code == 0 ? process : 0
  }

  /// - Returns: what it did not take yet; nothing when it takes no more.
  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> ArraySlice<UInt8> {
    let count = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    if count >= 0 { return bytes.dropFirst(count) }
    return errno == EAGAIN || errno == EINTR ? bytes : []
  }

  /// - Returns: whether there was something.
  private static func read(_ descriptor: Int32, into said: inout [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else { return false }
    said += buffer[..<count].prefix(max(0, maximumErrorBytes - said.count))
    return true
  }
}
