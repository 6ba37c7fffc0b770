import GraphQLLanguage
import SQL

/// The names that an earlier draft gave, so that a new foreign key or table never renames what
/// clients know.
///
/// A type is found again by its table, a field by its column or by what it reads.
package struct NameHistory {
  private var types: [String: String] = [:]
  private var fields: [String: KnownNames] = [:]
  private var tags: [String: Int] = [:]
  private var made: [String: [MadeType: String]] = [:]
  /// The interface of objects with an ID; nil without one.
  private(set) var interface: String?
  /// The tables of which a rule hides rows.
  private var ruledTables: Set<String> = []

  /// Creates an empty history.
  package init() {}

  /// Reads the names of a draft's files.
  ///
  /// - Parameter mine: the files as they are now, which may have rules.
  package init(
    _ texts: [String: String], mine: [String: String] = [:]
  ) throws(DraftFolder.Failure) {
    for (name, text) in mine {
      for definition in try SDLText(name: name, text: text).definitions {
        let directives = definition.syntax.directives
        guard directives.argument("where", of: "table") != nil,
          directives.argument("masked", of: "table") == nil,
          let table = directives.argument("name", of: "table")
        else { continue }
        ruledTables.insert(table)
      }
    }
    for (name, text) in texts {
      for definition in try SDLText(name: name, text: text).definitions {
        let type = definition.syntax
        if let table = type.directives.argument("name", of: "table") {
          types[table] = type.name.text
        }
        noteMade(type)
        if case .interface = type.content { interface = type.name.text }
        tags[type.name.text] = type.directives.number("id", of: "tag")
        guard case .object(_, let members) = type.content else { continue }
        for field in members {
          let key =
            FieldKey.column(
              field.directives.argument("name", of: "column"),
              field.directives.argument("expression", of: "sql"), of: field.directives,
              named: field.name.text)
            ?? FieldKey.other(
              type: field.type.name,
              field.directives.map {
                // Who may write is no part of what a field does.
                Printer.print($0).replacing(WriteFields.closed, with: "")
              })
          fields[type.name.text, default: KnownNames()].add(field.name.text, reading: key)
        }
      }
    }
  }

  /// Forgets the names of what the database calls otherwise than clients do.
  package mutating func forget(_ names: KeptNames, renamedIn catalog: DraftCatalog) {
    for (oid, table) in names.found(in: catalog) {
      guard let relation = catalog.relations[oid], let type = types[table.name.written] else {
        continue
      }
      let columns = table.found(in: relation, isSame: names.isSame(catalog, oid, table))
      for column in relation.columns {
        guard let name = columns[column.number], name.first != column.name else { continue }
        for owner in Array(fields.keys) {
          fields[owner]?.forget { key in
            let isColumn = owner == type && key == FieldKey.column(name.written)
            let result = String(key.prefix { $0 != " " })
            let isOfType = owner == type || [type, type + "Connection"].contains(result)
            return isColumn || isOfType && Self.mentions(name.written, key)
          }
        }
      }
      if table.name.first != relation.name { types[table.name.written] = nil }
    }
  }

  /// Returns whether directives name a column.
  private static func mentions(_ column: String, _ key: String) -> Bool {
    !key.hasPrefix("column ")
      && key.ranges(of: column).contains { range in
        let around = [
          range.lowerBound > key.startIndex ? key[key.index(before: range.lowerBound)] : " ",
          range.upperBound < key.endIndex ? key[range.upperBound] : " ",
        ]
        return !around.contains { $0.isLetter || $0.isNumber || $0 == "_" }
      }
  }

  /// Returns the type of a table.
  func type(of table: String) -> String? { types[ChangedName.earlier(in: table)] }

  /// Returns whether a rule hides rows of a table.
  func isRuled(_ table: String) -> Bool { ruledTables.contains(ChangedName.earlier(in: table)) }

  /// What a type is made for, besides the rows of its table.
  enum MadeType: String {
    case filter, order, aggregates, input, key, changes, payload
  }

  /// Notes the types that are made for the rows of others.
  private mutating func noteMade(_ type: TypeSystemTypeDefinition) {
    for kind in [MadeType.filter, .order, .aggregates] {
      guard let of = type.directives.argument("of", of: kind.rawValue) else { continue }
      made[of, default: [:]][kind] = type.name.text
    }
    guard type.name.text == "Mutation", case .object(_, let fields) = type.content else { return }
    for field in fields {
      guard
        let of = field.directives.argument("into", of: "insert")
          ?? field.directives.argument("of", of: "update")
          ?? field.directives.argument("of", of: "delete")
      else { continue }
      made[of, default: [:]][.payload] = field.type.name
      for argument in field.arguments {
        switch argument.name.text {
        case "input": made[of, default: [:]][.input] = argument.type.name
        case "updateOnConflict": made[of, default: [:]][.key] = argument.type.name
        case "set": made[of, default: [:]][.changes] = argument.type.name
        default: break
        }
      }
    }
  }

  /// Returns the name of a type that is made for the rows of another one.
  func made(_ kind: MadeType, for type: String) -> String? { made[type]?[kind] }

  /// All names of types that are made for the rows of others.
  var madeNames: [String] { made.values.flatMap(\.values) }

  /// Returns the tag of a type.
  func tag(of type: String) -> Int? { tags[type] }

  /// The greatest tag of a type; 0 without one.
  var greatestTag: Int { tags.values.max() ?? 0 }

  /// The names of types that tables had.
  var typeNames: [String] { Array(types.values) }

  /// Returns the names of a type's fields, by what they read.
  func names(of type: String) -> KnownNames { fields[type] ?? KnownNames() }
}

/// What a field reads, as text that is equal in two drafts.
enum FieldKey {
  /// Returns the key of a column.
  static func column(_ name: String) -> String { "column " + ChangedName.earlier(in: name) }

  /// Returns the key of a field of other objects: its type without `!`, and its directives.
  static func other(type: String, _ directives: [String]) -> String {
    type.filter { !"[]!".contains($0) } + " "
      + directives.map(ChangedName.earlier).joined(separator: " ")
  }

  static func of(_ member: DraftedMember) -> String {
    other(type: member.type ?? "", member.directives)
  }

  /// Returns the key of a field that reads a column; nil for one of other objects.
  static func column(
    _ column: String?, _ expression: String?, of directives: [Directive], named name: String
  ) -> String? {
    if let column { return self.column(column) }
    if let expression {
      guard expression.hasPrefix("this.") else { return nil }
      let rest = expression.dropFirst("this.".count)
      return self.column(String(rest.split(separator: "::").first ?? rest))
    }
    // With a type, it is still the column that has the field's name.
    return directives.allSatisfy { $0.name.text == "column" }
      ? self.column(SQLQuoting.snakeCase(name)) : nil
  }
}

extension [Directive] {
  /// Returns an integer argument of a directive.
  fileprivate func number(_ name: String, of directive: String) -> Int? {
    guard let directive = first(where: { $0.name.text == directive }),
      let argument = directive.arguments.first(where: { $0.name.text == name }),
      case .int(let text) = argument.value.content
    else { return nil }
    return Int(text)
  }

  /// Returns a string argument of a directive.
  func argument(_ name: String, of directive: String) -> String? {
    guard let directive = first(where: { $0.name.text == directive }),
      let argument = directive.arguments.first(where: { $0.name.text == name }),
      case .string(let text) = argument.value.content
    else { return nil }
    return text.text
  }
}
