import CSandbox
import Glibc

/// A program that reads bytes and writes bytes, within limits, and is killed if it exceeds them.
/// The calling thread waits.
struct ChildProgram {
  struct Limits: Sendable {
    /// The maximum address space in bytes; 0 for no limit.
    var memoryBytes = 0
    /// The maximum time from its start to its end.
    var time = Duration.seconds(20)
    var outputBytes = 64 << 20
    /// Whether it runs without a network, files to write, child processes and root's privileges.
    var isConfined = true
  }

  enum Outcome: Equatable {
    /// It ended with an exit status, or by a signal: then with 128 plus its number, as in shells.
    case ended(status: Int32, output: [UInt8])
    case outOfTime
    case tooMuchOutput
    /// It was not started.
    case notStarted(code: Int32)
  }

  /// The arguments, beginning with the program's path.
  let arguments: [String]
  let environment: [String]
  let limits: Limits

  func run(_ input: [UInt8]) -> Outcome {
    let deadline = ContinuousClock.now + limits.time
    var process = sandbox_process()
    // Processor time is for what fools the clock: a machine that sleeps.
    let code = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe sandbox_start(
          arguments, environment,
          sandbox_limits(
            memory_bytes: UInt64(limits.memoryBytes),
            processor_seconds: UInt64(max(1, limits.time.components.seconds + 1)),
            is_confined: limits.isConfined ? 1 : 0), &process)
      }
    }
    guard code == 0 else { return .notStarted(code: code) }
    var pipes = Pipes(process, input, maximumOutput: limits.outputBytes)
    let end = pipes.exchange(until: deadline)
    let status = end == .done ? Self.wait(for: process.process, until: deadline) : nil
    guard let status else {
      // Its whole session, then itself for the case that it had not begun one.
      kill(-process.process, SIGKILL)
      kill(process.process, SIGKILL)
      var ignored: Int32 = 0
      while unsafe waitpid(process.process, &ignored, 0) < 0, errno == EINTR {}
      return end == .tooMuch ? .tooMuchOutput : .outOfTime
    }
    return .ended(status: status, output: pipes.output)
  }

  /// Returns the exit status, or nil if the process has not ended by the deadline.
  private static func wait(for process: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
    var status: Int32 = 0
    var pause: UInt32 = 100
    while true {
      let result = unsafe waitpid(process, &status, WNOHANG)
      if result == process {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
      }
      guard result == 0 || errno == EINTR, ContinuousClock.now < deadline else { return nil }
      usleep(pause)
      pause = min(pause * 2, 5_000)
    }
  }

  private func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      // Not empty: it ends with a nil.
      guard let base = buffer.baseAddress else { preconditionFailure("No arguments.") }
      return unsafe body(base)
    }
  }
}

/// The two pipes of a child: written and read as either is ready, so that neither side blocks the
/// other forever.
private struct Pipes: ~Copyable {
  enum End { case done, tooMuch, late }

  private var input: Int32
  private let outputEnd: Int32
  private let bytes: [UInt8]
  private var written = 0
  private let maximumOutput: Int
  private(set) var output: [UInt8] = []

  init(_ process: sandbox_process, _ bytes: [UInt8], maximumOutput: Int) {
    input = process.input
    outputEnd = process.output
    self.bytes = bytes
    self.maximumOutput = maximumOutput
  }

  deinit {
    if input >= 0 { close(input) }
    close(outputEnd)
  }

  /// Exchanges bytes until the child has closed its output.
  mutating func exchange(until deadline: ContinuousClock.Instant) -> End {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return .late }
      if written == bytes.count, input >= 0 {
        close(input)
        input = -1
      }
      // A descriptor of -1 is passed over.
      var waits = [
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: outputEnd, events: Int16(POLLIN), revents: 0),
      ]
      let milliseconds = Int32(clamping: left.components.seconds * 1000 + 1)
      if unsafe poll(&waits, 2, min(milliseconds, 200)) < 0, errno != EINTR { return .late }
      if waits[0].revents != 0 { feed() }
      guard waits[1].revents != 0 else { continue }
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(outputEnd, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 else { return .done }
      guard output.count + count <= maximumOutput else { return .tooMuch }
      output.append(contentsOf: buffer[..<count])
    }
  }

  private mutating func feed() {
    let count = unsafe bytes.withUnsafeBytes {
      unsafe sandbox_write(
        input, $0.baseAddress.map { unsafe $0 + written }, bytes.count - written)
    }
    if count >= 0 {
      written += count
    } else if errno != EAGAIN, errno != EINTR {
      // It has read enough.
      written = bytes.count
    }
  }
}
