import GraphQLLanguage
import GraphQLSchema
import SQL

/// What the members of an input with `@filter(of:)` or `@order(of:)` ask of the rows of its type.
package final class FilterStorage: Sendable {
  package enum Member: Sendable {
    case and, or, not
    /// A column, by the operators of the member's type.
    case column(SQLTemplate, TypeReference)
    /// One other object, by its type's filter or order.
    case reference(ReferenceStorage, FieldStorage)
    /// Many other objects, by `some`, `none` and `every`.
    case relation(RelationStorage, FieldStorage)
  }

  /// The type of the rows.
  package let target: TypeID
  /// The members by name. Those that are left out have conditions of their own.
  package let members: [String: Member]

  fileprivate init(target: TypeID, members: [String: Member]) {
    self.target = target
    self.members = members
  }
}

/// Reads the filters and orders of a schema.
struct FilterReader {
  let schema: Schema
  let types: [TypeStorage?]
  var problems: [String] = []

  init(schema: Schema, types: [TypeStorage?]) {
    self.schema = schema
    self.types = types
  }

  /// Returns the inputs with a directive.
  mutating func read(_ directive: String) -> [TypeID: FilterStorage] {
    var found: [TypeID: FilterStorage] = [:]
    for type in schema.types {
      guard let name = type.appliedDirectives.first(named: directive)?.string("of"),
        case .inputObject(let inputs, _) = type.kind
      else { continue }
      guard let target = schema.typesByName[name], let storage = types[Int(target.index)] else {
        problems.append("\(type.name): \"\(name)\" in @\(directive)(of:) is no object type.")
        continue
      }
      if storage.table == nil {
        problems.append(
          "\(type.name): \(name) has no @table, and @\(directive)(of:) needs its rows.")
      }
      found[type.id] = FilterStorage(target: target, members: members(inputs, of: type, storage))
    }
    return found
  }

  private mutating func members(
    _ inputs: [InputValueDefinition], of type: TypeDefinition, _ storage: TypeStorage
  ) -> [String: FilterStorage.Member] {
    var members: [String: FilterStorage.Member] = [:]
    for input in inputs where input.appliedDirectives.first(named: "where") == nil {
      let isOwn = input.type.namedType == type.id
      switch (input.name, storage.fields[input.name]?.kind) {
      case ("and", _) where isOwn: members["and"] = .and
      case ("or", _) where isOwn: members["or"] = .or
      case ("not", _) where isOwn: members["not"] = .not
      case (let name, .leaf(let template, hidden: nil)?):
        guard let definition = storage.fields[name]?.definition else { continue }
        members[name] = .column(template, definition.type)
      case (let name, .reference(let reference)?):
        guard let field = storage.fields[name] else { continue }
        members[name] = .reference(reference, field)
      case (let name, .relation(let relation)?):
        guard let field = storage.fields[name] else { continue }
        members[name] = .relation(relation, field)
      default:
        problems.append(
          "\(type.name).\(input.name): \(storage.type.name) has no field \"\(input.name)\" that can be "
            + "asked; give it a @where, or leave it out.")
      }
    }
    return members
  }
}
