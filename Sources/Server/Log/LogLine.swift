import Glibc
import JSON

/// One line of the log, with the moment it was made.
///
///     2026-05-01T18:30:00.123Z warning slow: query Feed requestId=7f… milliseconds=812.402 …
///     {"time":"2026-05-01T18:30:00.123Z","level":"warning","subject":"slow","message":"query Feed",…}
package struct LogLine: Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case text, json
  }

  /// The urgency of a line.
  package enum Level: String, CaseIterable, Sendable {
    /// Nothing to do.
    case info
    /// Something failed that the server retries or works around, or that a setting can avoid.
    case warning
    /// Something failed. An operator has to look at it.
    case error
  }

  package enum Value: Sendable {
    case text(String)
    case number(Int)
    /// Written in milliseconds with three digits behind the point.
    case nanoseconds(UInt64)
  }

  package typealias Fields = [(name: StaticString, value: Value)]

  package let level: Level
  package let subject: StaticString
  package let message: String
  package var fields: Fields
  private let time: timespec

  package init(
    _ level: Level, _ subject: StaticString, _ message: String, _ fields: Fields = []
  ) {
    self.level = level
    self.subject = subject
    self.message = message
    self.fields = fields
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    self.time = time
  }

  /// Returns the bytes of the line, including its line feed.
  func bytes(_ format: Format) -> [UInt8] {
    switch format {
    case .text: text
    case .json: json
    }
  }

  private var text: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    bytes += timeText.utf8
    bytes.append(UInt8(ascii: " "))
    bytes += "\(level.rawValue) \(subject): ".utf8
    Self.append(message, to: &bytes)
    for (name, value) in fields {
      bytes += " \(name)=".utf8
      switch value {
      case .text(let text): Self.append(text, to: &bytes)
      case .number(let number): bytes += "\(number)".utf8
      case .nanoseconds(let time): bytes += Self.milliseconds(time).utf8
      }
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Appends text from a client without line breaks, so that it cannot forge a line.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      bytes += text.utf8
      return
    }
    for scalar in text.unicodeScalars {
      let isControl =
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
      bytes += isControl ? Array("?".utf8) : Array(String(scalar).utf8)
    }
  }

  private var json: [UInt8] {
    var writer = JSONWriter()
    writer.append(#"{"time":"#)
    writer.write(timeText)
    writer.append(#","level":"#)
    writer.write(level.rawValue)
    writer.append(#","subject":"#)
    writer.write("\(subject)")
    writer.append(#","message":"#)
    writer.write(message)
    for (name, value) in fields {
      writer.append(",")
      writer.write("\(name)")
      writer.append(":")
      switch value {
      case .text(let text): writer.write(text)
      case .number(let number): writer.write(Int64(number))
      case .nanoseconds(let time): writer.append(Array(Self.milliseconds(time).utf8))
      }
    }
    writer.append("}\n")
    return writer.finish()
  }

  static func milliseconds(_ nanoseconds: UInt64) -> String {
    let thousandths = nanoseconds / 1_000 % 1_000
    let digits = String(thousandths)
    return "\(nanoseconds / 1_000_000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  private var timeText: String {
    var seconds = time.tv_sec
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    func padded(_ number: some BinaryInteger, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(hour, 2)):"
      + "\(padded(minute, 2)):\(padded(second, 2)).\(padded(time.tv_nsec / 1_000_000, 3))Z"
  }
}
