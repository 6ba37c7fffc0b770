import Server

/// A manual page in the macros of man(7), from the specification that also serves parsing and
/// `--help`.
struct ManualPage {
  private var lines: [String] = []

  /// Creates the page sociograph(1), which lists the commands.
  init(commands: [CommandSpecification]) {
    head("sociograph", "a GraphQL server over PostgreSQL")
    lines += [".SH SYNOPSIS", ".B sociograph", ".I COMMAND", "[\\fIOPTION\\fR]..."]
    lines.append(".SH COMMANDS")
    for command in commands {
      lines += [".TP", ".BR sociograph\\-\(Self.escaped(command.name)) (1)"]
      lines.append(Self.line(command.summary))
    }
    tail(seeAlso: commands.map { "sociograph-" + $0.name })
  }

  /// Creates the page of one command.
  init(_ command: CommandSpecification) {
    let first = command.summary.prefix(1).lowercased()
    let summary = first + command.summary.dropFirst().drop(suffix: ".")
    head("sociograph-" + command.name, summary)
    lines += [".SH SYNOPSIS", ".B sociograph \(Self.escaped(command.name))", "[\\fIOPTION\\fR]..."]
    if !command.operands.isEmpty { lines.append(Self.line(command.operands)) }
    lines += [".SH DESCRIPTION", Self.line(command.summary)]
    for note in command.notes.split(separator: "\n") {
      if note.hasPrefix(" ") {
        lines += [".br", Self.line(String(note.drop { $0 == " " }))]
      } else {
        lines.append(Self.line(String(note)))
      }
    }
    if !command.options.isEmpty { lines.append(".SH OPTIONS") }
    for section in command.sections {
      if command.sections.count > 1 { lines.append(".SS \(Self.escaped(section.title))") }
      for option in section.options {
        let value = option.placeholder.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
        lines += [".TP", "\\fB\\-\\-\(Self.escaped(option.name))\\fR\(value)"]
        lines.append(Self.line(option.summary + "."))
        lines.append(
          Self.line("Default: \(option.shownDefault). Environment: \(option.environment)."))
      }
    }
    tail(seeAlso: ["sociograph"])
  }

  /// The page as text.
  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func head(_ name: String, _ summary: String) {
    lines = [
      ".TH \(Self.escaped(name.uppercased())) 1 \(serverVersionDate) \"sociograph \(serverVersion)\"",
      ".SH NAME", "\(Self.escaped(name)) \\- \(Self.escaped(summary))",
    ]
  }

  private mutating func tail(seeAlso pages: [String]) {
    lines += [
      ".SH EXIT STATUS", ".TP", "0", "The command succeeded.", ".TP", "1", "The command failed.",
      ".TP", "2", "The command line is wrong.", ".SH SEE ALSO",
    ]
    for (index, page) in pages.enumerated() {
      lines.append(".BR \(Self.escaped(page)) (1)\(index == pages.count - 1 ? "" : ",")")
    }
  }

  /// Returns a line of text, never a macro, whatever it begins with.
  private static func line(_ text: String) -> String {
    let escaped = escaped(text)
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }
}

extension Substring {
  fileprivate func drop(suffix: String) -> Substring {
    hasSuffix(suffix) ? dropLast(suffix.count) : self
  }
}
