import DatabaseSetup
import Dispatch
import Foundation
import Glibc
import JSON
import Server
import Synchronization

/// Input and output of a command: results on standard output, progress on standard error, one line
/// each. A closed pipe on either is not an error.
enum Console {
  /// The settings of the log of `serve`. Once set, all messages have that format and are written
  /// like the log, so that output never blocks.
  static var log: ServiceLog.Settings? {
    get { settings.withLock { $0 } }
    set { settings.withLock { $0 = newValue } }
  }
  private static let settings = Mutex(ServiceLog.Settings?.none)

  static var logFormat: LogLine.Format { log?.format ?? .text }

  /// Prints progress, a warning or an error.
  static func say(_ text: String, _ level: LogLine.Level = .info) {
    let line = Array("sociograph: \(level == .warning ? "warning: " : "")\(text)\n".utf8)
    switch log?.format {
    case nil: write(line, to: STDERR_FILENO)
    case .text: LogWriter.standardError.write(line, as: .text)
    case .json:
      let event: LifeEvent =
        switch level {
        case .info: .step(text)
        case .warning: .warning(text)
        case .error: .failure(text)
        }
      ServiceLog(log ?? ServiceLog.Settings()).report(.life(event), loop: nil)
    }
  }

  /// Prints a warning: a condition that the user should change.
  static func warn(_ text: String) { say(text, .warning) }

  /// Prints a migration's progress.
  static func report(_ event: MigrationEvent) {
    guard let log, log.format == .json else { return say(event.description) }
    ServiceLog(log).report(.migration(event), loop: nil)
  }

  /// Waits for a moment until messages are written. Call before the process ends.
  static func flush() {
    guard log != nil else { return }
    LogWriter.standardError.flush()
    standardOutput.flush()
  }

  /// Prints a result as one line of JSON.
  static func print(_ value: JSONValue) {
    var json = JSONWriter()
    json.write(value)
    print(String(decoding: json.finish(), as: UTF8.self))
  }

  enum Color: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  /// Returns text in a color if standard output is a terminal that shows it (https://no-color.org).
  static func colored(_ text: String, _ color: Color) -> String {
    hasColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  private static let hasColor =
    isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// Prints a finding, with its severity in color.
  static func print(finding: String) {
    for (mark, color) in [("error:", Color.red), ("warning:", .yellow)]
    where finding.hasPrefix(mark) {
      return print(colored(mark, color) + finding.dropFirst(mark.count))
    }
    print(finding)
  }

  /// Runs work that may take long: after two seconds, a line on a terminal says what and for how long.
  static func working<Result>(_ what: String, _ work: () throws -> Result) rethrows -> Result {
    guard isatty(STDERR_FILENO) == 1, log == nil else { return try work() }
    let began = ContinuousClock.now
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "sociograph.working"))
    timer.schedule(deadline: .now() + 2, repeating: 1)
    timer.setEventHandler {
      let seconds = began.duration(to: .now).components.seconds
      write("\r\u{1B}[K\(what), \(seconds) s", to: STDERR_FILENO)
    }
    timer.resume()
    defer {
      timer.cancel()
      if began.duration(to: .now) >= .seconds(2) { write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
    return try work()
  }

  /// Prints a result and a line feed.
  static func print(_ text: String) { write(text + "\n") }

  /// Writes without waiting for a slow reader of a server's output.
  static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array(text.utf8)
    guard log != nil else { return write(bytes, to: descriptor) }
    let writer = descriptor == STDERR_FILENO ? LogWriter.standardError : standardOutput
    writer.write(bytes, as: .text)
  }

  private static let standardOutput = LogWriter(descriptor: STDOUT_FILENO)

  static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        return
      }
      rest = rest.dropFirst(count)
    }
  }

  // MARK: Reading

  /// Returns the number of bytes read; 0 at the end, negative for an error.
  static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> Int {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 || errno != EINTR { return count }
    }
  }

  /// Returns the contents of a file or pipe; `-` is standard input.
  ///
  /// - Throws: a `CommandFailure` that names it.
  static func contents(of name: String) throws(CommandFailure) -> [UInt8] {
    let descriptor = name == "-" ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(name) }
    defer { if name != "-" { close(descriptor) } }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, into: &buffer)
      guard count >= 0 else { throw unreadable(name) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static func unreadable(_ name: String) -> CommandFailure {
    CommandFailure("\"\(name)\" cannot be read: \(describe(errno)).")
  }

  /// Returns the system's text for an error number.
  static func describe(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

/// The lines of standard input, as they arrive.
struct LineReader {
  enum Line {
    case complete([UInt8])
    case tooLong
  }

  private let maximumLineBytes: Int
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var start = 0
  private var end = 0

  init(maximumLineBytes: Int) { self.maximumLineBytes = maximumLineBytes }

  /// Returns the next line. The last line may have no line feed.
  mutating func next() -> Line? {
    var line: [UInt8] = []
    var isTooLong = false
    while true {
      if start == end {
        start = 0
        end = Console.read(STDIN_FILENO, into: &buffer)
        guard end > 0 else {
          end = 0
          if isTooLong { return .tooLong }
          return line.isEmpty ? nil : .complete(line)
        }
      }
      let rest = buffer[start..<end]
      let lineFeed = rest.firstIndex(of: UInt8(ascii: "\n"))
      let part = rest[..<(lineFeed ?? end)]
      if line.count + part.count > maximumLineBytes {
        isTooLong = true
        line = []
      } else if !isTooLong {
        line += part
      }
      start = lineFeed.map { $0 + 1 } ?? end
      if lineFeed != nil { return isTooLong ? .tooLong : .complete(line) }
    }
  }
}
