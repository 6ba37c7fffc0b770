import CSandbox
import Glibc

/// A program that reads bytes and writes bytes, within limits, and is killed if it exceeds them.
///
/// It runs in its own session, with the descriptors of its input and output only. It is killed when
/// the calling thread ends, which waits for it.
package struct ChildProgram {
  /// The stream of the program that is read. The other one is dropped.
  package enum Stream: Sendable { case output, errors }

  package struct Limits: Sendable {
    /// The maximum address space in bytes; 0 for no limit.
    package var memoryBytes = 0
    /// The maximum time from its start to its end.
    package var time = Duration.seconds(20)
    /// The maximum number of bytes that are read.
    package var outputBytes = 64 << 20
    /// Whether further bytes are dropped, instead of being a reason to kill it.
    package var truncatesOutput = false
    /// Whether it runs without a network, files to write, child processes and root's privileges.
    package var isConfined = true

    package init() {}
  }

  package enum Outcome: Equatable {
    /// The program ended with an exit status. If a signal ended it, the status is 128 plus the
    /// signal's number, as in shells.
    case ended(status: Int32, output: [UInt8])
    case outOfTime
    case tooMuchOutput
    /// The program could not be started.
    case notStarted(code: Int32)
  }

  /// The arguments, beginning with the program's path.
  let arguments: [String]
  let environment: [String]
  let limits: Limits
  let stream: Stream

  /// - Parameters:
  ///   - arguments: the program's path, then its arguments.
  ///   - environment: all variables, each as `NAME=VALUE`.
  package init(
    arguments: [String], environment: [String], limits: Limits, reading stream: Stream = .output
  ) {
    self.arguments = arguments
    self.environment = environment
    self.limits = limits
    self.stream = stream
  }

  /// Runs the program to its end with the input, which it need not read.
  package func run(_ input: [UInt8]) -> Outcome {
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
            is_confined: limits.isConfined ? 1 : 0, reads_errors: stream == .errors ? 1 : 0),
          &process)
      }
    }
    guard code == 0 else { return .notStarted(code: code) }
    var pipes = Pipes(process, input, limits)
    let end = pipes.exchange(until: deadline)
    let status: Int32? =
      switch end {
      case .closed: Self.wait(for: process.process, until: deadline)
      case .ended(let status): status
      case .tooMuch, .late: nil
      }
    guard let status else {
      // Its whole session, then itself for the case that it had not begun one.
      kill(-process.process, SIGKILL)
      kill(process.process, SIGKILL)
      _ = waitForExit(of: process.process)
      return end == .tooMuch ? .tooMuchOutput : .outOfTime
    }
    return .ended(status: status, output: pipes.output)
  }

  /// Returns the exit status, or nil if the process has not ended by the deadline.
  private static func wait(for process: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
    var pause: UInt32 = 100
    while true {
      if let status = exitStatus(of: process) { return status }
      guard ContinuousClock.now < deadline else { return nil }
      usleep(pause)
      pause = min(pause * 2, 5_000)
    }
  }
}

/// The two pipes of a child: written and read as either is ready, so that neither side blocks the
/// other forever.
private struct Pipes: ~Copyable {
  enum End: Equatable {
    /// The child has closed its output.
    case closed
    /// The child has ended, and something that it started still has its output open.
    case ended(status: Int32)
    case tooMuch, late
  }

  private var input: Int32
  private let outputEnd: Int32
  private let process: pid_t
  private let bytes: [UInt8]
  private var written = 0
  private let limits: ChildProgram.Limits
  private(set) var output: [UInt8] = []

  init(_ process: sandbox_process, _ bytes: [UInt8], _ limits: ChildProgram.Limits) {
    self.process = process.process
    input = process.input
    outputEnd = process.output
    self.bytes = bytes
    self.limits = limits
  }

  deinit {
    if input >= 0 { close(input) }
    close(outputEnd)
  }

  /// Exchanges bytes until the child has closed its output or has ended.
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
      if waits[1].revents != 0 {
        if let end = read(into: &buffer) { return end }
      } else if let status = exitStatus(of: process) {
        // It may have written between the two calls. Its status is known only here.
        return read(into: &buffer) == .tooMuch ? .tooMuch : .ended(status: status)
      }
    }
  }

  /// Reads what is there.
  ///
  /// - Returns: the reason for which nothing more is read, or nil.
  private mutating func read(into buffer: inout [UInt8]) -> End? {
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe Glibc.read(outputEnd, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    guard count > 0 else { return .closed }
    let room = limits.outputBytes - output.count
    guard count <= room || limits.truncatesOutput else { return .tooMuch }
    output.append(contentsOf: buffer[..<min(count, room)])
    return nil
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
