import GraphQLLanguage

/// One file of a draft: the definitions of a table, or the enums and scalars of all.
package struct DraftedFile: Sendable, Equatable {
  /// The name, with its ending.
  package let name: String
  package var definitions: [DraftedDefinition]

  package init(name: String, definitions: [DraftedDefinition]) {
    self.name = name
    self.definitions = definitions
  }

  package var text: String { definitions.map(\.text).joined(separator: "\n") }
}

/// A type, or an extension of the query type, with its members a line each.
package struct DraftedDefinition: Sendable, Equatable {
  /// The words before the name: `type`, `extend type`, `enum`, `input` or `scalar`.
  let keyword: String
  package let name: String
  var description: String?
  var interfaces: [String] = []
  var directives: [String] = []
  package var members: [DraftedMember] = []

  var isExtension: Bool { keyword.hasPrefix("extend ") }

  /// The type whose rows it aggregates; nil for any other definition.
  var aggregated: String? {
    let directive = directives.first { $0.hasPrefix("@aggregates(of: \"") }
    return directive?.split(separator: "\"").dropFirst().first.map(String.init)
  }

  package var text: String {
    let implements = interfaces.isEmpty ? [] : ["implements", interfaces.joined(separator: " & ")]
    let directives = directives.map(ChangedName.now)
    let head = ([keyword, name] + implements + directives).joined(separator: " ")
    let body =
      members.isEmpty ? "" : " {\n" + members.map { $0.text(indented: "  ") }.joined() + "}"
    return DraftedDescription.text(description, indented: "") + head + body + "\n"
  }
}

/// A field, an input field or an enum value.
package struct DraftedMember: Sendable, Equatable {
  package private(set) var name: String
  var description: String?
  /// The arguments with their types.
  var arguments: [String] = []
  /// The type; nil for an enum value.
  var type: String?
  var directives: [String] = []

  private static let maximumColumns = 116

  func named(_ name: String) -> DraftedMember {
    var copy = self
    copy.name = name
    return copy
  }

  func text(indented indent: String) -> String {
    var line =
      name + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
      + (type.map { ": \($0)" } ?? "")
    for directive in directives.map(ChangedName.now) {
      let isLong = indent.count + line.count + 1 + directive.count > Self.maximumColumns
      line += isLong ? "\n\(indent)  \(directive)" : " \(directive)"
    }
    return DraftedDescription.text(description, indented: indent) + "\(indent)\(line)\n"
  }
}

/// Descriptions from comments in the database.
enum DraftedDescription {
  /// Returns what a comment says, without the lines that instruct another program (`@omit`).
  static func text(ofComment comment: String?) -> String? {
    guard let comment else { return nil }
    let lines = comment.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { String($0.reversed().drop(while: \.isWhitespace).reversed()) }
      .filter { !$0.drop(while: \.isWhitespace).hasPrefix("@") }
    let kept = lines.drop(while: \.isEmpty).reversed().drop(while: \.isEmpty).reversed()
    let text = kept.joined(separator: "\n")
    return text.isEmpty ? nil : text
  }

  /// Returns a description in SDL, with a line feed behind; empty without one.
  static func text(_ description: String?, indented indent: String) -> String {
    guard let description else { return "" }
    guard description.contains("\n"), Printer.isPrintableAsBlockString(description) else {
      return indent + Printer.string(description) + "\n"
    }
    return Printer.blockString(description).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { $0.isEmpty ? "\n" : "\(indent)\($0)\n" }.joined()
  }
}

/// The directives of a draft as SDL.
enum DraftedDirective {
  /// Returns a directive with string arguments; those without a value are left out.
  static func text(_ name: String, _ arguments: [(name: String, value: String?)] = []) -> String {
    let given = arguments.compactMap { argument in
      argument.value.map { "\(argument.name): \(Printer.string($0))" }
    }
    return "@\(name)" + (given.isEmpty ? "" : "(\(given.joined(separator: ", ")))")
  }
}
