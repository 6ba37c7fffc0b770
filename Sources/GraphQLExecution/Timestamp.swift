/// Instants and days as PostgreSQL counts them, from 2000-01-01, and as clients write them.
///
/// RFC 3339, section 5.6; the proleptic Gregorian calendar as days since 1970 after Howard
/// Hinnant's "chrono-Compatible Low-Level Date Algorithms".
///
/// Exact instants and days may have any year that PostgreSQL has. Beyond 0 to 9999 it is written with
/// a sign and six digits or more, as in ISO 8601 and ECMAScript. The ends of time are
/// words: `infinity` and `-infinity`.
enum Timestamp {
  static let infinity = "infinity"
  static let negativeInfinity = "-infinity"

  private static let daysFrom1970To2000: Int64 = 10_957
  private static let microsecondsPerDay: Int64 = 86_400_000_000

  // MARK: - Reading

  /// Microseconds since 2000 of `2026-05-01T18:30:00.5+02:00`, floored to milliseconds unless it is
  /// to be exact; nil for anything else.
  static func microseconds(_ text: String, isExact: Bool = false) -> Int64? {
    if isExact, let end: Int64 = end(text) { return end }
    var scanner = Scanner(text)
    guard let days = scanner.date(isWide: isExact) else { return nil }
    guard
      scanner.take(UInt8(ascii: "T")) || scanner.take(UInt8(ascii: "t"))
        || scanner.take(UInt8(ascii: " ")),
      let hour = scanner.number(2), hour < 24, scanner.take(UInt8(ascii: ":")),
      let minute = scanner.number(2), minute < 60, scanner.take(UInt8(ascii: ":")),
      let second = scanner.number(2), second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if scanner.take(UInt8(ascii: ".")) {
      guard let micros = scanner.fraction(from: isExact ? 1 : 1_000) else { return nil }
      fraction = micros
    }
    var offsetMinutes: Int64 = 0
    if !scanner.take(UInt8(ascii: "Z")), !scanner.take(UInt8(ascii: "z")) {
      let isNegative = scanner.take(UInt8(ascii: "-"))
      guard isNegative || scanner.take(UInt8(ascii: "+")), let hours = scanner.number(2),
        hours < 24, scanner.take(UInt8(ascii: ":")), let minutes = scanner.number(2), minutes < 60
      else { return nil }
      offsetMinutes = (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }
    guard scanner.isAtEnd else { return nil }
    let seconds = (hour * 60 + minute - offsetMinutes) * 60 + second
    let (start, overflows) = days.multipliedReportingOverflow(by: microsecondsPerDay)
    let (instant, exceeds) = start.addingReportingOverflow(seconds * 1_000_000 + fraction)
    guard !overflows, !exceeds, instant != .max, instant != .min else { return nil }
    return instant
  }

  /// Days since 2000 of `2026-05-01`.
  static func days(_ text: String) -> Int32? {
    if let end: Int32 = end(text) { return end }
    var scanner = Scanner(text)
    guard let days = scanner.date(isWide: true), scanner.isAtEnd,
      let number = Int32(exactly: days), number != .max, number != .min
    else { return nil }
    return number
  }

  /// The number by which PostgreSQL means an end of time; nil for any other text.
  private static func end<Number: FixedWidthInteger>(_ text: String) -> Number? {
    switch text {
    case infinity: .max
    case negativeInfinity: .min
    default: nil
    }
  }

  private struct Scanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = text.utf8.count <= 40 ? Array(text.utf8) : [] }

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ byte: UInt8) -> Bool {
      guard index < bytes.count, bytes[index] == byte else { return false }
      index += 1
      return true
    }

    mutating func digit() -> Int64? {
      guard index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 else { return nil }
      defer { index += 1 }
      return Int64(bytes[index] - UInt8(ascii: "0"))
    }

    mutating func number(_ count: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// Microseconds; digits of less than the unit are dropped.
    mutating func fraction(from least: Int64) -> Int64? {
      guard let first = digit() else { return nil }
      var value = first * 100_000
      var unit: Int64 = 10_000
      while let digit = digit() {
        if unit >= least { value += digit * unit }
        unit /= 10
      }
      return value
    }

    /// A year of four digits; with a sign, of six or seven if it may be wide.
    private mutating func year(isWide: Bool) -> Int64? {
      guard isWide, index < bytes.count,
        [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[index])
      else { return number(4) }
      let isNegative = take(UInt8(ascii: "-"))
      if !isNegative { index += 1 }
      guard var year = number(6) else { return nil }
      if let digit = digit() { year = year * 10 + digit }
      return isNegative ? -year : year
    }

    /// Days since 2000.
    mutating func date(isWide: Bool) -> Int64? {
      guard let year = year(isWide: isWide), take(UInt8(ascii: "-")), let month = number(2),
        (1...12).contains(month), take(UInt8(ascii: "-")), let day = number(2),
        day >= 1, day <= Timestamp.lengthOfMonth(month, year)
      else { return nil }
      let shifted = month <= 2 ? year - 1 : year
      let era = (shifted >= 0 ? shifted : shifted - 399) / 400
      let yearOfEra = shifted - era * 400
      let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
      let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
      return era * 146_097 + dayOfEra - 719_468 - daysFrom1970To2000
    }
  }

  private static func lengthOfMonth(_ month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  // MARK: - Writing

  /// `2026-05-01T18:30:00.000Z`, with three digits, as `Date.prototype.toISOString` has it; if it is
  /// to be exact and has microseconds, with six. False for what RFC 3339 cannot say (years outside 0
  /// to 9999, infinity), unless it is to be exact.
  @inline(__always)
  static func append(
    microseconds: Int64, isExact: Bool = false, to append: (UInt8) -> Void
  ) -> Bool {
    if isExact, microseconds == .max || microseconds == .min {
      appendEnd(isNegative: microseconds == .min, append)
      return true
    }
    let day = floorDivide(microseconds, microsecondsPerDay)
    let inDay = microseconds &- day &* microsecondsPerDay
    guard isExact || isUsual(days: day) else { return false }
    Timestamp.append(days: day, to: append)
    append(UInt8(ascii: "T"))
    let seconds = inDay / 1_000_000
    two(seconds / 3600, append)
    append(UInt8(ascii: ":"))
    two(seconds / 60 % 60, append)
    append(UInt8(ascii: ":"))
    two(seconds % 60, append)
    let milliseconds = inDay / 1_000 % 1_000
    append(UInt8(ascii: "."))
    append(UInt8(truncatingIfNeeded: 48 + milliseconds / 100))
    two(milliseconds % 100, append)
    let rest = inDay % 1_000
    if isExact, rest > 0 {
      append(UInt8(truncatingIfNeeded: 48 + rest / 100))
      two(rest % 100, append)
    }
    append(UInt8(ascii: "Z"))
    return true
  }

  /// `2026-05-01`, or an end of time.
  @inline(__always)
  static func append(date: Int32, to append: (UInt8) -> Void) {
    if date == .max || date == .min {
      appendEnd(isNegative: date == .min, append)
    } else {
      Timestamp.append(days: Int64(date), to: append)
    }
  }

  /// Whether the year is 0 to 9999.
  private static func isUsual(days: Int64) -> Bool { days >= -730_485 && days <= 2_921_939 }

  private static func appendEnd(isNegative: Bool, _ append: (UInt8) -> Void) {
    for byte in (isNegative ? negativeInfinity : infinity).utf8 { append(byte) }
  }

  @inline(__always)
  private static func append(days: Int64, to append: (UInt8) -> Void) {
    let shifted = days + daysFrom1970To2000 + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    if isUsual(days: days) {
      two(year / 100, append)
      two(year % 100, append)
    } else {
      appendWide(year: year, append)
    }
    append(UInt8(ascii: "-"))
    two(month, append)
    append(UInt8(ascii: "-"))
    two(day, append)
  }

  /// `+010000` or `-000043`.
  private static func appendWide(year: Int64, _ append: (UInt8) -> Void) {
    append(UInt8(ascii: year < 0 ? "-" : "+"))
    let digits = String(abs(year))
    for _ in 0..<max(0, 6 - digits.utf8.count) { append(UInt8(ascii: "0")) }
    for byte in digits.utf8 { append(byte) }
  }

  @inline(__always)
  private static func two(_ value: Int64, _ append: (UInt8) -> Void) {
    append(UInt8(truncatingIfNeeded: 48 + value / 10))
    append(UInt8(truncatingIfNeeded: 48 + value % 10))
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }
}
