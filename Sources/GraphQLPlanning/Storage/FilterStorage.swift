import GraphQLLanguage
import GraphQLSchema
import SQL

/// The questions that the members of an input with `@filter(of:)` or `@order(of:)` ask of the rows of
/// its type, or those of an input made for `@aggregates(of:)` of groups of them.
package final class FilterStorage: Sendable {
  package enum Member: Sendable {
    case and, or, not
    /// A column, by the operators of the member's type.
    case column(AggregateStorage.Column)
    /// One other object, by its type's filter or order.
    case reference(ReferenceStorage, FieldStorage)
    /// Many other objects, by `some`, `none` and `every`.
    case relation(RelationStorage, FieldStorage)
    /// The number of rows of a group, which has this type.
    case rowCount(TypeReference)
    /// A column, by the aggregates of its values: the fields of the type.
    case aggregates(AggregateStorage.Column, of: TypeID)
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

/// The columns that the members of a type with `@aggregates(of:)` are computed from.
package struct AggregateStorage: Sendable {
  package struct Column: Sendable {
    let template: SQLTemplate
    let type: TypeReference
    /// The type that values are bound as to be compared with it; nil for that of the scalar.
    let parameter: ParameterType?
    /// The collation of patterns; nil for the column's own.
    let collation: String?

    init(_ template: SQLTemplate, _ field: FieldDefinition) {
      self.template = template
      type = field.type
      let directive = field.appliedDirectives.first(named: "column")
      parameter = directive?.string("type").map { .named($0) }
      collation = directive?.string("collation").map(SQLQuoting.written)
    }
  }

  /// The columns by the names of their members.
  let columns: [String: Column]
  /// The cost of reading all rows.
  let cost: Int
}

/// Reads the filters, orders and aggregates of a schema.
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
        members[name] = .column(AggregateStorage.Column(template, definition))
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

  // MARK: - Aggregates

  /// Returns what types with `@aggregates(of:)` are computed from, and adds the inputs for their
  /// groups to the filters and orders.
  mutating func aggregates(
    _ filters: inout [TypeID: FilterStorage], _ orders: inout [TypeID: FilterStorage]
  ) -> [TypeID: AggregateStorage] {
    var found: [TypeID: AggregateStorage] = [:]
    // The groups of connections, by the types of their aggregates.
    var groups: [TypeID: [FieldDefinition]] = [:]
    for connection in schema.types {
      guard let type = connection.field(named: "aggregates")?.type.namedType,
        let field = connection.field(named: "groups")
      else { continue }
      groups[type, default: []].append(field)
    }
    for type in schema.types {
      guard let directive = type.appliedDirectives.first(named: "aggregates"),
        let name = directive.string("of"), case .object = type.kind
      else { continue }
      guard let target = schema.typesByName[name], let storage = types[Int(target.index)] else {
        problems.append("\(type.name): \"\(name)\" in @aggregates(of:) is no object type.")
        continue
      }
      if storage.table == nil {
        problems.append("\(type.name): \(name) has no @table, and @aggregates(of:) needs its rows.")
      }
      var columns: [String: AggregateStorage.Column] = [:]
      var members: [String: FilterStorage.Member] = [:]
      if let count = type.field(named: "count")?.type { members["count"] = .rowCount(count) }
      for field in type.fields where field.name != "count" {
        guard case .leaf(let template, hidden: nil)? = storage.fields[field.name]?.kind,
          let definition = storage.fields[field.name]?.definition
        else {
          problems.append(
            "\(type.name).\(field.name): \(name) has no column \"\(field.name)\"; leave it out.")
          continue
        }
        let column = AggregateStorage.Column(template, definition)
        columns[field.name] = column
        members[field.name] = .aggregates(column, of: field.type.namedType)
      }
      let cost = directive.int("cost") ?? 100
      if !(0...1_000_000).contains(cost) {
        problems.append("\(type.name): the cost in @aggregates is between 0 and 1000000.")
      }
      found[type.id] = AggregateStorage(columns: columns, cost: cost)
      for argument in (groups[type.id] ?? []).flatMap(\.arguments) {
        let input = argument.type.namedType
        switch argument.name {
        case "having":
          let combined = members.merging(["and": .and, "or": .or, "not": .not]) { own, _ in own }
          filters[input] = FilterStorage(target: target, members: combined)
        case "orderBy": orders[input] = FilterStorage(target: target, members: members)
        default: break
        }
      }
    }
    for type in types.compactMap(\.self) {
      for field in type.fields.values.sorted(by: { $0.coordinate < $1.coordinate }) {
        guard case .relation(let relation) = field.kind, relation.isConnection,
          relation.rows != nil || relation.ids != nil,
          let aggregates = schema[field.definition.type.namedType].field(named: "aggregates"),
          found[aggregates.type.namedType] != nil
        else { continue }
        problems.append(
          "\(field.coordinate): @connection with rows or ids has no aggregates; give it a connection type"
            + " of its own, without them.")
      }
    }
    return found
  }
}
