/// The values of one call, with their origins, so that errors can name those.
struct CommandOptions: Sendable {
  struct Value: Sendable {
    let text: String
    let origin: String
    /// Whether the value was given; false for a default.
    var isTold = true
  }

  /// The values by the options' names, in the order given.
  let values: [String: [Value]]
  let operands: [String]
  /// Warnings about former names of options.
  let warnings: [String]

  private subscript(name: String) -> (value: String, origin: String)? {
    values[name]?.last.map { ($0.text, $0.origin) }
  }

  func text(_ name: String) -> String? { self[name]?.value }

  /// Returns every value of a repeatable option.
  func texts(_ name: String) -> [String] { (values[name] ?? []).map(\.text) }

  /// Returns whether the option was given and is not the default.
  func isTold(_ name: String) -> Bool { values[name]?.last?.isTold ?? false }

  func isSet(_ name: String) throws(UsageError) -> Bool {
    guard let (value, origin) = self[name] else { return false }
    switch value.lowercased() {
    case "true", "1", "yes", "on": return true
    case "false", "0", "no", "off": return false
    default: throw UsageError("\(origin) must be on or off, not \"\(value)\".")
    }
  }

  func int(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let (value, origin) = self[name] else { return nil }
    guard let number = Int(value), range.contains(number) else {
      throw UsageError(
        "\(origin) must be a whole number between \(range.lowerBound) and \(range.upperBound), not \"\(value)\"."
      )
    }
    return number
  }

  /// Returns a time such as `5s`, `250ms` or `2min`.
  func duration(_ name: String, in range: ClosedRange<Duration>) throws(UsageError) -> Duration? {
    guard let (value, origin) = self[name] else { return nil }
    let digits = value.prefix { $0.isASCII && $0.isNumber }
    let unit: Duration? =
      switch value.dropFirst(digits.count) {
      case "ms": .milliseconds(1)
      case "s": .seconds(1)
      case "min": .seconds(60)
      default: nil
      }
    guard let unit, let number = Int32(digits), range.contains(unit * Int(number)) else {
      throw UsageError(
        "\(origin) must be a time between \(Self.words(range.lowerBound)) and "
          + "\(Self.words(range.upperBound)) such as 250ms, 5s or 2min, not \"\(value)\".")
    }
    return unit * Int(number)
  }

  static func words(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return attoseconds == 0
      ? "\(seconds)s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
  }

  /// Returns the comma-separated elements; empty without the option.
  func list(_ name: String) -> [String] {
    (text(name) ?? "").split(separator: ",").map { item in
      String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, as: Choice.Type)
    throws(UsageError) -> Choice? where Choice.RawValue == String
  {
    guard let (value, origin) = self[name] else { return nil }
    guard let choice = Choice(rawValue: value) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("\(origin) must be one of \(known), not \"\(value)\".")
    }
    return choice
  }

  /// Returns the choices in a list.
  func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
    _ name: String, as: Choice.Type
  ) throws(UsageError) -> Set<Choice> where Choice.RawValue == String {
    var found: Set<Choice> = []
    for value in list(name) {
      guard let choice = Choice(rawValue: value) else {
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("\(origin(name)) must list some of \(known), not \"\(value)\".")
      }
      found.insert(choice)
    }
    return found
  }

  func origin(_ name: String) -> String { self[name]?.origin ?? "--\(name)" }
}

/// A call that cannot be understood: one line, exit code 2.
struct UsageError: Error, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
