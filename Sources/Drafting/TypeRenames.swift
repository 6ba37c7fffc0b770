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
    let found = named("name", of: "table")
    for type in base {
      guard let table = type.syntax.directives.argument("name", of: "table"),
        let name = found[table]?.first, found[table]?.count == 1
      else { continue }
      note(type.name, name)
      // The types of its pages are made from its name.
      guard names[type.name] != nil else { continue }
      for ending in ["Connection", "Edge"] { names[type.name + ending] = name + ending }
    }
  }

  private mutating func matchInputs() {
    for directive in ["filter", "order", "aggregates"] {
      let found = named("of", of: directive)
      for type in base {
        guard let target = type.syntax.directives.argument("of", of: directive) else { continue }
        let others = found[names[target] ?? target] ?? []
        if others.count == 1 { note(type.name, others[0]) }
      }
    }
  }

  /// Returns the person's types by an argument of a directive.
  private func named(_ argument: String, of directive: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    for type in mine {
      guard let text = type.syntax.directives.argument(argument, of: directive) else { continue }
      found[text, default: []].append(type.name)
    }
    return found
  }

  private static func mutations(_ definitions: [SDLText.Definition]) -> [FieldDefinitionSyntax] {
    definitions.filter { $0.name == "Mutation" }.flatMap { definition -> [FieldDefinitionSyntax] in
      guard case .object(_, let fields) = definition.syntax.content else { return [] }
      return fields
    }
  }

  /// Matches the types of fields that write the same rows.
  private mutating func matchWrites() {
    for (directive, argument) in [("insert", "into"), ("update", "of"), ("delete", "of")] {
      var found: [String: [FieldDefinitionSyntax]] = [:]
      for field in Self.mutations(mine) {
        guard let target = field.directives.argument(argument, of: directive) else { continue }
        found[target, default: []].append(field)
      }
      for field in Self.mutations(base) {
        guard let target = field.directives.argument(argument, of: directive),
          let others = found[names[target] ?? target], others.count == 1
        else { continue }
        note(field.type.name, others[0].type.name)
        for argument in field.arguments {
          if let other = others[0].arguments.first(where: { $0.name.text == argument.name.text }) {
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
