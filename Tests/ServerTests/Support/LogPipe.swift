import Glibc
import JSON
import Server

/// A pipe that a log is written to; its lines as they come.
final class LogPipe {
  private let readEnd: Int32
  private let writeEnd: Int32
  private var text = ""
  let writer: LogWriter

  /// - Parameter maximumBytes: of what waits to be written.
  init(maximumBytes: Int = 1 << 20) {
    // What is written after the reading end is closed must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    _ = unsafe pipe(&ends)
    readEnd = ends[0]
    writeEnd = ends[1]
    writer = LogWriter(descriptor: writeEnd, maximumBytes: maximumBytes)
  }

  /// The write end stays open: its thread may be writing still.
  deinit { close(readEnd) }

  /// All lines up to the first that has `text`; nil when none comes within a minute.
  func lines(through text: String) -> [String]? {
    lines { lines in lines.firstIndex { $0.contains(text) } }
  }

  /// All lines up to the one that `end` finds; nil when it finds none within a minute.
  func lines(_ end: ([String]) -> Int?) -> [String]? {
    let deadline = ContinuousClock.now + .seconds(600)
    while ContinuousClock.now < deadline {
      var lines = self.text.split(separator: "\n", omittingEmptySubsequences: false).map(
        String.init)
      lines.removeLast()
      if let end = end(lines) { return Array(lines[...end]) }
      var entry = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, 100) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(readEnd, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return nil }
      self.text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return nil
  }

  /// The first line of a subject, as JSON.
  func object(_ subject: String) throws -> JSONValue? {
    guard let line = lines(through: "\"subject\":\"\(subject)\"")?.last else { return nil }
    return try JSONParser.parse(Array(line.utf8))
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let text) = self { Double(text) } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  var names: [String] { if case .object(let members) = self { members.map(\.name) } else { [] } }
}
