import Foundation

/// A page of the documentation, or a section of one: its text and its fenced blocks.
///
/// Tests execute the blocks as they stand on the page, so that what a reader types is what was tested.
package struct Guide {
  /// A fenced block.
  package struct Block {
    /// The first word of the info string, such as `graphql`.
    package let language: String
    /// The other words of the info string; `text` says that the block is not executed.
    package let words: [String]
    /// The content, without the indentation of the fence.
    package let text: String
    /// The line of the opening fence in its file, counted from 1.
    package let line: Int

    package var isExecuted: Bool { !words.contains("text") }

    /// The user whose token goes with a document, from its first line `# as NAME`.
    package var person: String? {
      text.firstMatch(of: /^# as (\w+)\n/).map { String($0.1) }
    }

    /// The name of a document's operation, or an empty text if it has none.
    package var operationName: String {
      text.firstMatch(of: /(?:^|\n)(?:query|mutation|subscription) (\w+)/).map { String($0.1) }
        ?? ""
    }

    /// The names of the ID variables that a document declares.
    package var variables: [String] {
      text.prefix { $0 != "{" }.matches(of: /\$(\w+): ID!/).map { String($0.1) }
    }

    /// The commands of a console block, each after `$ `, with the lines that it prints.
    ///
    /// A command continues on the next line after a backslash and within single quotes.
    package var commands: [(text: String, output: String)] {
      var commands: [(text: String, output: String)] = []
      var isOpen = false
      for line in text.components(separatedBy: "\n") {
        if isOpen {
          commands[commands.count - 1].text += "\n" + line
        } else if line.hasPrefix("$ ") {
          commands.append((String(line.dropFirst(2)), ""))
        } else if let last = commands.indices.last {
          commands[last].output += (commands[last].output.isEmpty ? "" : "\n") + line
          continue
        }
        let command = commands.last?.text ?? ""
        isOpen = command.hasSuffix("\\") || !command.count(where: { $0 == "'" }).isMultiple(of: 2)
      }
      return commands
    }
  }

  /// What a test looked for and did not find.
  package struct Missing: Error, CustomStringConvertible {
    package let description: String
  }

  /// From the heading, if a section was asked for, to the next heading of its level or a higher one.
  package let text: String
  package let blocks: [Block]

  /// - Parameters:
  ///   - file: the path in the repository.
  ///   - title: a heading of any level, or nil for the whole page.
  /// - Throws: `Missing`, which names the file and the section.
  package init(_ file: String, section title: String? = nil) throws {
    let path = TestCluster.packageFolder + "/" + file
    guard let whole = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw Missing(description: "no file \(file)")
    }
    let lines = whole.components(separatedBy: "\n")
    guard let range = Self.range(of: title, in: lines) else {
      throw Missing(description: "\(file): no section \"\(title ?? "")\"")
    }
    text = lines[range].joined(separator: "\n")
    blocks = Self.blocks(of: lines, in: range)
  }

  /// The blocks of a language that are executed.
  package func blocks(of language: String) -> [Block] {
    blocks.filter { $0.language == language && $0.isExecuted }
  }

  private static func isFence(_ line: String) -> Bool {
    line.drop { $0 == " " }.hasPrefix("```")
  }

  private static func range(of title: String?, in lines: [String]) -> Range<Int>? {
    guard let title else { return lines.indices }
    var isFenced = false
    var start: (line: Int, level: Int)?
    for (number, line) in lines.enumerated() {
      if isFence(line) { isFenced.toggle() }
      guard !isFenced, line.hasPrefix("#") else { continue }
      let level = line.prefix { $0 == "#" }.count
      if let start, level <= start.level { return start.line..<number }
      if start == nil, line.dropFirst(level) == " " + title { start = (number, level) }
    }
    return start.map { $0.line..<lines.count }
  }

  private static func blocks(of lines: [String], in range: Range<Int>) -> [Block] {
    var blocks: [Block] = []
    var open: (number: Int, indentation: Int, words: [Substring])?
    for number in range where isFence(lines[number]) {
      guard let fence = open else {
        let words = lines[number].drop { $0 == " " }.dropFirst(3).split(separator: " ")
        open = (number, lines[number].prefix { $0 == " " }.count, words)
        continue
      }
      let content = lines[(fence.number + 1)..<number].map { $0.dropFirst(fence.indentation) }
      blocks.append(
        Block(
          language: fence.words.first.map(String.init) ?? "",
          words: fence.words.dropFirst().map(String.init),
          text: content.joined(separator: "\n"), line: fence.number + 1))
      open = nil
    }
    return blocks
  }
}
