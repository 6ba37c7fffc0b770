/// What a command can be told: options by `--name VALUE`, each also by an environment variable, then
/// operands. One list serves parsing, `--help` and the README's table.
package struct CommandSpecification: Sendable {
  package struct Option: Sendable {
    let name: String
    /// Shown behind the name; nil for a switch.
    let placeholder: String?
    let environment: String
    let summary: String
    let fallback: String?

    init(
      _ name: String, _ placeholder: String?, environment: String? = nil,
      default fallback: String? = nil,
      _ summary: String
    ) {
      self.name = name
      self.placeholder = placeholder
      self.environment =
        environment
        ?? "SOCIOGRAPH_" + name.uppercased().split(separator: "-").joined(separator: "_")
      self.summary = summary
      self.fallback = fallback
    }
  }

  let name: String
  let summary: String
  /// Such as `FILE`; empty when the command takes none.
  let operands: String
  /// Options under headings, as `--help` shows them.
  let sections: [Section]

  struct Section: Sendable {
    let title: String
    let options: [Option]

    init(_ title: String, _ options: [Option]) {
      self.title = title
      self.options = options
    }
  }

  var options: [Option] { sections.flatMap(\.options) }

  init(_ name: String, _ summary: String, operands: String = "", options: [Option]) {
    self.init(name, summary, operands: operands, sections: [Section("Options", options)])
  }

  init(_ name: String, _ summary: String, operands: String = "", sections: [Section]) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.sections = sections
  }

  package var help: String {
    var lines = [
      "Usage: sociograph \(name) [OPTION]..." + (operands.isEmpty ? "" : " \(operands)"), "",
      summary, "",
    ]
    for section in sections {
      lines.append("\(section.title):")
      for option in section.options {
        let head = "  --\(option.name)" + (option.placeholder.map { " \($0)" } ?? "")
        var text = option.summary
        if let fallback = option.fallback { text += " (default: \(fallback))" }
        lines += Self.entry(head, text + " [\(option.environment)]")
      }
      lines.append("")
    }
    lines += [
      "Names in brackets are environment variables; an option on the command line goes before them."
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// An option and its text in two columns, 96 wide.
  private static func entry(_ head: String, _ text: String) -> [String] {
    let column = 32
    var lines: [String] = []
    var line = head
    if head.count > column - 2 {
      lines.append(head)
      line = ""
    }
    line += String(repeating: " ", count: column - line.count)
    var isFresh = true
    for word in text.split(separator: " ") {
      if !isFresh, line.count + 1 + word.count > 96 {
        lines.append(line)
        line = String(repeating: " ", count: column)
        isFresh = true
      }
      line += (isFresh ? "" : " ") + word
      isFresh = false
    }
    return lines + [line]
  }

  /// - Throws: `UsageError` naming the argument at fault.
  func parse(_ arguments: [String], environment: [String: String]) throws(UsageError)
    -> CommandOptions
  {
    var values: [String: (value: String, origin: String)] = [:]
    for option in options {
      if let value = environment[option.environment], !value.isEmpty {
        values[option.name] = (value, option.environment)
      } else if let fallback = option.fallback {
        values[option.name] = (fallback, "--\(option.name)")
      }
    }
    var operandValues: [String] = []
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      if argument == "--" {
        operandValues += arguments[index...]
        break
      }
      guard argument.hasPrefix("--") else {
        operandValues.append(argument)
        continue
      }
      let parts = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = options.first(where: { $0.name == parts[0] }) else {
        throw UsageError("unknown option \(argument); see sociograph \(name) --help.")
      }
      if option.placeholder == nil {
        values[option.name] = (parts.count == 2 ? String(parts[1]) : "true", "--\(option.name)")
      } else if parts.count == 2 {
        values[option.name] = (String(parts[1]), "--\(option.name)")
      } else if index < arguments.count {
        values[option.name] = (arguments[index], "--\(option.name)")
        index += 1
      } else {
        throw UsageError("--\(option.name) needs a value: \(option.placeholder ?? "").")
      }
    }
    if operands.isEmpty, let extra = operandValues.first {
      throw UsageError("unexpected argument \"\(extra)\"; see sociograph \(name) --help.")
    }
    return CommandOptions(values: values, operands: operandValues)
  }
}

/// The values of one call, each knowing where it came from so that an error can name it.
package struct CommandOptions: Sendable {
  let values: [String: (value: String, origin: String)]
  package let operands: [String]

  func text(_ name: String) -> String? { values[name]?.value }

  func isSet(_ name: String) throws(UsageError) -> Bool {
    guard let (value, origin) = values[name] else { return false }
    switch value.lowercased() {
    case "true", "1", "yes", "on": return true
    case "false", "0", "no", "off": return false
    default: throw UsageError("\(origin) must be on or off, not \"\(value)\".")
    }
  }

  func int(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let (value, origin) = values[name] else { return nil }
    guard let number = Int(value), range.contains(number) else {
      throw UsageError(
        "\(origin) must be a whole number between \(range.lowerBound) and \(range.upperBound), not \"\(value)\"."
      )
    }
    return number
  }

  /// A time such as `5s`, `250ms` or `2min`.
  func duration(_ name: String, in range: ClosedRange<Duration>) throws(UsageError) -> Duration? {
    guard let (value, origin) = values[name] else { return nil }
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
        "\(origin) must be a time between \(Self.text(range.lowerBound)) and "
          + "\(Self.text(range.upperBound)) such as 250ms, 5s or 2min, not \"\(value)\".")
    }
    return unit * Int(number)
  }

  private static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return attoseconds == 0
      ? "\(seconds)s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
  }

  /// What stands between commas; empty without the option.
  func list(_ name: String) -> [String] {
    (text(name) ?? "").split(separator: ",").map { item in
      String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, as: Choice.Type)
    throws(UsageError) -> Choice? where Choice.RawValue == String
  {
    guard let (value, origin) = values[name] else { return nil }
    guard let choice = Choice(rawValue: value) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("\(origin) must be one of \(known), not \"\(value)\".")
    }
    return choice
  }

  func origin(_ name: String) -> String { values[name]?.origin ?? "--\(name)" }
}

/// A call that cannot be understood: one line, exit code 2.
package struct UsageError: Error, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Something that stops a command: one line, exit code 1.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
