import Foundation

/// The README as its readers have it: what it says to type is what tests type.
package struct Readme {
  /// Of a section, from its heading to the next of its level.
  package let text: String

  package struct Missing: Error { let section: String }

  /// - Parameter title: of a section of the second level.
  package init(section title: String) throws {
    let file = TestCluster.packageFolder + "/README.md"
    let whole = try String(contentsOfFile: file, encoding: .utf8)
    guard let section = whole.components(separatedBy: "\n## ").first(where: { $0.hasPrefix(title) })
    else { throw Missing(section: title) }
    text = section
  }

  /// Blocks of code in order, without their indentation. Documents of one block, which begin with
  /// `# as`, are blocks of their own.
  package var blocks: [String] {
    var blocks: [[Substring]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("    # as "), blocks.last?.isEmpty == false {
        blocks.append([line.dropFirst(4)])
      } else if line.hasPrefix("    ") {
        blocks[blocks.count - 1].append(line.dropFirst(4))
      } else if line.isEmpty, blocks.last?.isEmpty == false {
        blocks[blocks.count - 1].append(line)
      } else if !line.isEmpty, blocks.last?.isEmpty == false {
        blocks.append([])
      }
    }
    return blocks.map { $0.joined(separator: "\n").trimmingCharacters(in: .newlines) }
      .filter { !$0.isEmpty }
  }

  /// The blocks that are documents, and who sends each.
  package var documents: [(person: String, name: String, text: String)] {
    blocks.compactMap { block in
      guard let person = block.firstMatch(of: /^# as (\w+)\n/)?.1 else { return nil }
      let name = block.firstMatch(of: /\n(?:query|mutation) (\w+)/)?.1 ?? ""
      return (String(person), String(name), block)
    }
  }

  /// The names of the variables that a document declares.
  package static func variables(of document: String) -> [String] {
    document.prefix { $0 != "{" }.matches(of: /\$(\w+): ID!/).map { String($0.1) }
  }
}
