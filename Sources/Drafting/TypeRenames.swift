import GraphQLLanguage

/// The types that a person has renamed in drafted files, by their names in the draft.
///
/// A type is found again by its table, an input by what it filters, sorts or writes.
struct TypeRenames {
  private(set) var names: [String: String] = [:]
  private let base: [SDLText.Definition]
  private let mine: [SDLText.Definition]
  private let known: Set<String>
  private let own: Set<String>

  /// Compares what was last drafted with the person's files.
  init(base: [String: String], mine: [String: String]) throws(DraftFolder.Failure) {
    self.base = try Self.definitions(base)
    self.mine = try Self.definitions(mine)
    known = Set(self.base.map(\.name))
    own = Set(self.mine.map(\.name))
    matchTables()
    matchInputs()
    matchWrites()
  }

  private static func definitions(
    _ texts: [String: String]
  ) throws(DraftFolder.Failure) -> [SDLText.Definition] {
    var definitions: [SDLText.Definition] = []
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      definitions += try SDLText(name: name, text: text).definitions
    }
    return definitions
  }

  private mutating func note(_ old: String, _ new: String) {
    if old != new, !own.contains(old), !known.contains(new), names[old] == nil { names[old] = new }
  }

  private mutating func matchTables() {
    for type in base {
      guard let table = type.syntax.directives.argument("name", of: "table") else { continue }
      let found = mine.filter { $0.syntax.directives.argument("name", of: "table") == table }
      guard found.count == 1 else { continue }
      note(type.name, found[0].name)
      // The types of its pages are made from its name.
      guard let name = names[type.name] else { continue }
      for ending in ["Connection", "Edge"] { names[type.name + ending] = name + ending }
    }
  }

  private mutating func matchInputs() {
    for type in base {
      for directive in ["filter", "order", "aggregates"] {
        guard let target = type.syntax.directives.argument("of", of: directive) else { continue }
        let found = mine.filter {
          $0.syntax.directives.argument("of", of: directive) == names[target] ?? target
        }
        if found.count == 1 { note(type.name, found[0].name) }
      }
    }
  }

  private static func mutations(_ definitions: [SDLText.Definition]) -> [FieldDefinitionSyntax] {
    definitions.filter { $0.name == "Mutation" }.flatMap { definition -> [FieldDefinitionSyntax] in
      guard case .object(_, let fields) = definition.syntax.content else { return [] }
      return fields
    }
  }

  /// Matches the types of fields that write the same rows.
  private mutating func matchWrites() {
    let others = Self.mutations(mine)
    for field in Self.mutations(base) {
      for (directive, argument) in [("insert", "into"), ("update", "of"), ("delete", "of")] {
        guard let target = field.directives.argument(argument, of: directive) else { continue }
        let found = others.filter {
          $0.directives.argument(argument, of: directive) == names[target] ?? target
        }
        guard found.count == 1 else { continue }
        note(field.type.name, found[0].type.name)
        for argument in field.arguments {
          if let other = found[0].arguments.first(where: { $0.name.text == argument.name.text }) {
            note(argument.type.name, other.type.name)
          }
        }
      }
    }
  }

  /// Returns drafted texts with the person's names.
  func applied(to texts: [String: String]) -> [String: String] {
    if names.isEmpty { return texts }
    return texts.mapValues { text in
      // Types stand behind these; enum values and fields do not.
      text.replacing(#/((?:: |\[|& |implements |\b(?:type|input|enum) |(?:of|into): "))(\w+)/#) {
        match in String(match.1) + (names[String(match.2)] ?? String(match.2))
      }
    }
  }
}
