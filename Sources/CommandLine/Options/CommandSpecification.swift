import GraphQLSchema

/// The arguments of a command: options by `--name VALUE`, each also by an environment variable,
/// then operands. One table serves parsing, `--help`, manual pages, completion and the documentation.
struct CommandSpecification: Sendable {
  struct Option: Sendable {
    let name: String
    /// The name in the previous version, which is accepted with a warning; nil if it has not changed.
    let formerName: String?
    /// The placeholder after the name; nil for a switch.
    let placeholder: String?
    let environment: String
    let summary: String
    /// The default as it would be written; nil for none.
    let fallback: String?
    private let words: String?
    /// The values to choose from, which completion offers; empty if any value is valid.
    let choices: [String]
    /// Whether the option may be given several times with several values; other options have the
    /// last one.
    let isRepeatable: Bool

    /// The environment variable of the former name.
    var formerEnvironment: String? { formerName.map(CommandSpecification.variable) }

    /// - Parameters:
    ///   - former: the name in the previous version.
    ///   - fallback: the default value.
    ///   - words: a description of the default if it is not a value.
    ///   - choices: the values to choose from, for completion.
    init(
      _ name: String, _ placeholder: String?, former: String? = nil, environment: String? = nil,
      default fallback: String? = nil, shown words: String? = nil, isRepeatable: Bool = false,
      choices: [String] = [], _ summary: String
    ) {
      self.name = name
      formerName = former
      self.placeholder = placeholder
      self.environment = environment ?? CommandSpecification.variable(name)
      self.summary = summary
      self.fallback = fallback
      self.words = words
      self.isRepeatable = isRepeatable
      self.choices = choices
    }

    /// The default as `--help` and the documentation show it.
    var shownDefault: String { words ?? fallback ?? (placeholder == nil ? "off" : "none") }
  }

  /// Options under a heading, as `--help` shows them.
  struct Section: Sendable {
    let title: String
    let options: [Option]

    init(_ title: String, _ options: [Option]) {
      self.title = title
      self.options = options
    }
  }

  let name: String
  let summary: String
  /// The operands, such as `FILE`; empty if the command takes none.
  let operands: String
  /// Whether its operands may begin with one minus, as in `-STAFF`.
  let takesSignedOperands: Bool
  let sections: [Section]
  /// Notes below the options.
  let notes: String

  var options: [Option] { sections.flatMap(\.options) }

  init(
    _ name: String, _ summary: String, operands: String = "", takesSignedOperands: Bool = false,
    options: [Option], notes: String = ""
  ) {
    self.init(
      name, summary, operands: operands, takesSignedOperands: takesSignedOperands,
      sections: [Section("Options", options)], notes: notes)
  }

  init(
    _ name: String, _ summary: String, operands: String = "", takesSignedOperands: Bool = false,
    sections: [Section], notes: String = ""
  ) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.takesSignedOperands = takesSignedOperands
    self.sections = sections
    self.notes = notes
  }

  /// The words that the operands may begin with, such as `create` of `create USER | sign [ISSUER]`.
  var firstOperands: [String] {
    operands.split(separator: "|").compactMap { part in
      let word = part.drop { " [".contains($0) }.prefix { $0.isLetter || $0 == "-" }
      return !word.isEmpty && word == word.lowercased() ? String(word) : nil
    }
  }

  static let variablePrefix = "SOCIOGRAPH_"

  private static func variable(_ option: String) -> String {
    variablePrefix + option.uppercased().split(separator: "-").joined(separator: "_")
  }

  // MARK: Help

  var help: String {
    var lines = [
      "Usage: sociograph \(name) [OPTION]..." + (operands.isEmpty ? "" : " \(operands)"), "",
      summary, "",
    ]
    for section in sections where !section.options.isEmpty {
      lines.append("\(section.title):")
      for option in section.options {
        let head = "  --\(option.name)" + (option.placeholder.map { " \($0)" } ?? "")
        let text = "\(option.summary) (default: \(option.shownDefault)) [\(option.environment)]"
        lines += Self.entry(head, text)
      }
      lines.append("")
    }
    if !notes.isEmpty { lines += [notes, ""] }
    lines += [
      "Names in brackets are environment variables; an option on the command line goes before them."
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns an option and its text in two columns, 96 wide.
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

  // MARK: Parsing

  /// Parses arguments.
  ///
  /// - Throws: a `UsageError` that names the argument at fault.
  func parse(_ arguments: [String], environment: [String: String]) throws(UsageError)
    -> CommandOptions
  {
    var values: [String: [CommandOptions.Value]] = [:]
    var warnings: [String] = []
    for option in options {
      if let text = environment[option.environment], !text.isEmpty {
        values[option.name] = [CommandOptions.Value(text: text, origin: option.environment)]
      } else if let former = option.formerEnvironment, let text = environment[former],
        !text.isEmpty
      {
        values[option.name] = [CommandOptions.Value(text: text, origin: former)]
        warnings.append(Self.warning(of: former, now: option.environment))
      } else if let fallback = option.fallback {
        values[option.name] = [
          CommandOptions.Value(text: fallback, origin: "--\(option.name)", isTold: false)
        ]
      }
    }
    var told: [String: [CommandOptions.Value]] = [:]
    var operandValues: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operandValues += rest
        break
      }
      let isSigned = takesSignedOperands && !argument.hasPrefix("--")
      guard argument.hasPrefix("-"), argument != "-", !isSigned else {
        operandValues.append(argument)
        continue
      }
      let parts = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard argument.hasPrefix("--"), let name = parts.first,
        let option = options.first(where: { $0.name == name || $0.formerName ?? $0.name == name })
      else { throw unknown(argument) }
      if name != option.name {
        warnings.append(Self.warning(of: "--\(name)", now: "--\(option.name)"))
      }
      let text: String
      if parts.count == 2 {
        text = String(parts[1])
      } else if let placeholder = option.placeholder {
        guard let next = rest.popFirst() else {
          throw UsageError("--\(name) needs a value: \(placeholder).")
        }
        text = next
      } else {
        text = "true"
      }
      let value = CommandOptions.Value(text: text, origin: "--\(name)")
      if option.isRepeatable {
        told[option.name, default: []].append(value)
      } else {
        told[option.name] = [value]
      }
    }
    if operands.isEmpty, let extra = operandValues.first {
      throw UsageError("unexpected argument \"\(extra)\"; see sociograph \(name) --help.")
    }
    return CommandOptions(
      values: values.merging(told) { $1 }, operands: operandValues, warnings: warnings)
  }

  private static func warning(of former: String, now name: String) -> String {
    "\(former) is now \(name); the next version refuses the former name"
  }

  private func unknown(_ argument: String) -> UsageError {
    if operands.hasPrefix("[-- "), !argument.hasPrefix("--") {
      return UsageError(
        "unknown option \(argument); options for \(name) come after --, as in: "
          + "sociograph \(name) -- \(argument)")
    }
    let name = String(argument.drop { $0 == "-" }.prefix { $0 != "=" })
    var suggestions = Suggestions()
    let near = suggestions.near(name, among: options.map(\.name)).first
    return UsageError(
      "unknown option \(argument); "
        + (near.map { "did you mean --\($0)? " } ?? "") + "see sociograph \(self.name) --help.")
  }
}
