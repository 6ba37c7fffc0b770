/// A script that fills the graph: steps, each headed by a comment that describes it.
///
///     -- empty: SELECT NOT EXISTS (SELECT FROM member)
///     -- step: people; table: member(id, name); rows: :scale * 1000
///     SELECT ...;
///     -- step: counters; run
///     ANALYZE; ...
///     -- step: start here; print
///     SELECT ...;
///
/// A `table` step's rows are loaded by COPY; a `run` step is plain SQL; a `print` step's rows are
/// shown at the end. A header continues in the next comment line if it ends with `;` or `,`.
/// `:scale` and `:seed` are replaced by their integers. A file without headers is one `print` step.
package struct DemoScript: Sendable {
  package let name: String
  /// A query that returns true if the graph is empty.
  package private(set) var emptyCheck: String?
  package private(set) var steps: [Step] = []

  package struct Step: Sendable, Equatable {
    package let label: String
    package let kind: Kind
    package let text: String
    /// The line where its text begins, from 1.
    package let line: Int

    package enum Kind: Sendable, Equatable {
      case load(table: String, columns: [String], rows: String?)
      case run
      case print
    }
  }

  package init(name: String, text: String, scale: Int, seed: Int) throws(SetupError) {
    self.name = name
    let values = ["scale": scale, "seed": seed]
    var header: (text: String, line: Int)?
    var body: [Substring] = []
    var isHeaderOpen = false
    var lineNumber = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      lineNumber += 1
      if let check = Self.content(of: line, after: "empty:") {
        emptyCheck = Self.statement(Self.substitute(values, in: check))
      } else if let start = Self.content(of: line, after: "step:") {
        try add(header, body, values)
        header = (start, lineNumber)
        body = []
        isHeaderOpen = start.hasSuffix(";") || start.hasSuffix(",")
      } else if isHeaderOpen, let more = Self.content(of: line, after: "") {
        header?.text += " " + more
        header?.line = lineNumber
        isHeaderOpen = more.hasSuffix(";") || more.hasSuffix(",")
      } else {
        isHeaderOpen = false
        body.append(line)
      }
    }
    try add(header, body, values)
  }

  private mutating func add(
    _ header: (text: String, line: Int)?, _ lines: [Substring], _ values: [String: Int]
  ) throws(SetupError) {
    let text = Self.statement(
      Self.substitute(values, in: lines.joined(separator: "\n")))
    let hasCode = lines.contains { line in
      let code = line.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
      return !code.isEmpty && !code.hasPrefix("--")
    }
    guard let header else {
      // Before the first header: comments; or the file is one statement.
      if hasCode {
        steps.append(Step(label: name, kind: .print, text: text, line: 1))
      }
      return
    }
    func wrong(_ what: String) -> SetupError {
      SetupError("\(name):\(header.line): \(what)")
    }
    var parts = header.text.split(separator: ";", omittingEmptySubsequences: false)[...]
    let label = Self.trimmed(parts.popFirst() ?? "")
    guard !label.isEmpty else { throw wrong("The step has no label.") }
    guard hasCode else { throw wrong("The step \"\(label)\" has no statement.") }
    var kind: Step.Kind?
    var rows: String?
    for part in parts {
      let part = Self.trimmed(part)
      if part == "run" {
        kind = .run
      } else if part == "print" {
        kind = .print
      } else if part.hasPrefix("rows:") {
        rows = Self.substitute(values, in: Self.trimmed(part.dropFirst(5)))
      } else if part.hasPrefix("table:") {
        let target = Self.trimmed(part.dropFirst(6))
        guard let open = target.firstIndex(of: "("), target.hasSuffix(")") else {
          throw wrong("Expected \"table: name(column, ...)\", found \"\(part)\".")
        }
        let columns = target[target.index(after: open)...].dropLast().split(separator: ",")
        kind = .load(
          table: Self.trimmed(target[..<open]), columns: columns.map(Self.trimmed), rows: nil)
      } else if !part.isEmpty {
        throw wrong("Expected \"table:\", \"rows:\", \"run\" or \"print\", found \"\(part)\".")
      }
    }
    if case .load(let table, let columns, _) = kind {
      guard !table.isEmpty, !columns.isEmpty, !columns.contains("") else {
        throw wrong("The step \"\(label)\" names no table or no column.")
      }
      kind = .load(table: table, columns: columns, rows: rows)
    }
    steps.append(
      Step(label: label, kind: kind ?? .print, text: text, line: header.line + 1))
  }

  /// Returns the text of a comment line after a word.
  private static func content(of line: Substring, after word: String) -> String? {
    let line = trimmed(line)
    guard line.hasPrefix("--") else { return nil }
    let content = trimmed(line.dropFirst(2))
    return content.hasPrefix(word) ? trimmed(content.dropFirst(word.count)) : nil
  }

  /// Returns a statement without the semicolons at its end.
  private static func statement(_ text: String) -> String {
    var text = trimmed(text)[...]
    while text.hasSuffix(";") { text = Substring(trimmed(text.dropLast())) }
    return String(text)
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    var rest = text[...].drop { $0.isWhitespace }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }

  /// Replaces `:name` by numbers; `::` is a cast.
  static func substitute(_ values: [String: Int], in text: String) -> String {
    var result = ""
    var rest = text[...]
    func isWord(_ character: Character) -> Bool {
      character == "_" || character.isLetter || character.isNumber
    }
    while let colon = rest.firstIndex(of: ":") {
      result += rest[..<colon]
      rest = rest[rest.index(after: colon)...]
      let name = rest.prefix(while: isWord)
      if rest.first == ":" {
        result += "::"
        rest = rest.dropFirst()
      } else if let value = values[String(name)] {
        result += value < 0 ? "(\(value))" : String(value)
        rest = rest.dropFirst(name.count)
      } else {
        result += ":"
      }
    }
    return result + rest
  }
}
