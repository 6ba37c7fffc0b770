import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import SQL

/// Reports errors of a mapping that do not depend on the database: tags, types without a table,
/// lists where one value is expected.
struct SchemaRules {
  let mapping: StorageMapping
  private var schema: Schema { mapping.schema }

  var findings: [StorageFinding] {
    tags + tables + references + lists + ConditionRules(mapping: mapping).findings
      + ArgumentUses(mapping).problems.map { StorageFinding(.error, $0.coordinate, $0.message) }
  }

  // MARK: - Tags

  /// Findings about tags: the low byte of an ID identifies a type among several.
  private var tags: [StorageFinding] {
    var findings: [StorageFinding] = []
    var leading: [TypeID: String] = [:]
    var order: [TypeID] = []
    for (coordinate, field, _) in storedFields {
      let target = field.definition.type.namedType
      let possible = schema.possibleTypes[Int(target.index)]
      guard schema[target].isAbstract, possible.count > 1 || field.isFoundByID else { continue }
      let keyed = possible.filter { mapping[$0]?.key != nil }
      if !keyed.isEmpty, !field.isFoundByID {
        findings.append(
          StorageFinding(
            .error, coordinate,
            "the objects of \(schema[keyed[0]].name) have IDs by @id, and the type of this field's objects "
              + "is not known from an ID; write @reference(id:) with an argument, or name one type."
          ))
      } else if let other = possible.first(where: { mapping[$0]?.key == nil }), !keyed.isEmpty {
        findings.append(
          StorageFinding(
            .error, schema[other].name,
            "its objects have no ID by @id, unlike those of \(schema[keyed[0]].name), and \(coordinate) "
              + "finds both; write @id on its ID."))
      }
      for type in possible where leading[type] == nil {
        leading[type] = "\(coordinate), \(article(target)) \(schema[target].name)"
        order.append(type)
      }
    }
    var owners: [Int: TypeID] = [:]
    for type in order {
      let name = schema[type].name
      guard let tag = mapping[type]?.tag else {
        findings.append(
          StorageFinding(
            .error, name,
            "it has no tag, and \(leading[type] ?? "") can be it; write @tag(id:) with a number from "
              + "1 to 255 that no other type has, and that is the low byte of its ids."))
        continue
      }
      guard let owner = owners[tag] else {
        owners[tag] = type
        continue
      }
      findings.append(
        StorageFinding(
          .error, name,
          "its tag \(tag) is that of \(schema[owner].name), too, and \(leading[type] ?? "") can be "
            + "either; write @tag(id:) with a number that no other type has."))
    }
    return findings
  }

  private func article(_ type: TypeID) -> String {
    if case .union = schema[type].kind { "of the union" } else { "of the interface" }
  }

  // MARK: - Tables

  private var tables: [StorageFinding] {
    var findings: [StorageFinding] = []
    for (coordinate, field, _) in storedFields where field.readsTable {
      for type in schema.possibleTypes[Int(target(of: field).index)]
      where mapping[type]?.table == nil {
        findings.append(
          StorageFinding(
            .error, schema[type].name,
            "it has no table, and \(coordinate) refers to it; write @table(name:) on it, or rows or "
              + "from on the field."))
      }
    }
    return findings
  }

  // MARK: - References

  /// Findings about references that cannot be null although a rule may hide their object.
  private var references: [StorageFinding] {
    storedFields.flatMap { coordinate, field, _ -> [StorageFinding] in
      guard case .reference(let reference) = field.kind, field.definition.type.isNonNull,
        reference.from == nil, reference.rows == nil
      else { return [] }
      return schema.possibleTypes[Int(field.definition.type.namedType.index)].compactMap { type in
        guard let table = mapping[type]?.table, let rule = table.rule, table.masked == nil else {
          return nil
        }
        let name = schema[type].name
        return StorageFinding(
          .warning, coordinate,
          "it is never null, but the rule \"\(rule.source)\" hides some objects of \(name) from some clients, and "
            + "whatever list contains a reference to one is then null; write \(name) without \"!\", or say in "
            + "@table(masked:) of \(name) what such a reference reads instead.")
      }
    }
  }

  /// Returns the type of a connection's nodes, or the field's own.
  private func target(of field: FieldStorage) -> TypeID {
    let type = field.definition.type.namedType
    guard case .relation(let relation) = field.kind, relation.isConnection,
      let edges = schema[type].field(named: "edges"),
      let node = schema[edges.type.namedType].field(named: "node")
    else { return type }
    return node.type.namedType
  }

  /// Every field that leads to other objects, with its type.
  private var storedFields: [(coordinate: String, field: FieldStorage, type: TypeDefinition)] {
    schema.types.flatMap { type in
      type.fields.compactMap { definition in
        guard let field = mapping[type.id]?.fields[definition.name] else { return nil }
        switch field.kind {
        case .reference, .relation: return ("\(type.name).\(definition.name)", field, type)
        case .leaf, .keyID, .values, .embed, .call, .userErrors, .secret, .entities,
          .constant, .none:
          return nil
        }
      }
    }
  }

  // MARK: - Lists

  /// Findings about lists: `IN (:value)` with a list compares with the list itself.
  private var lists: [StorageFinding] {
    var findings: [StorageFinding] = []
    for type in schema.types where !type.isBuiltIn {
      for field in type.fields {
        for argument in field.arguments {
          check(argument, "\(type.name).\(field.name)(\(argument.name):)", &findings)
        }
      }
      if case .inputObject(let fields, _) = type.kind {
        for field in fields { check(field, "\(type.name).\(field.name)", &findings) }
      }
    }
    return findings
  }

  /// The list operators, for every type that a parameter of a list can have and its likely
  /// counterpart.
  private static let listOperators = ["bigint", "integer", "text", "double precision"].flatMap {
    left in ["bigint[]", "integer[]", "text[]", "double precision[]"].map { "\(left) = \($0)" }
  }

  private func check(
    _ definition: InputValueDefinition, _ coordinate: String, _ findings: inout [StorageFinding]
  ) {
    guard case .list = definition.type.nullable,
      let storage = mapping.condition(of: definition)
    else {
      return
    }
    let isEnum = schema[definition.type.namedType].isEnum
    let pieces = storage.condition?.pieces ?? []
    for (place, piece) in pieces.enumerated() {
      guard case .variable(let path, let isSplice) = piece, path == ["value"] else { continue }
      let word = ":value" + (isSplice ? "..." : "")
      guard !(isEnum && isSplice), place > 0, case .text(let before) = pieces[place - 1],
        before.contains(/(?i)\bIN\s*\(\s*$/)
      else { continue }
      findings.append(
        StorageFinding(
          .error, coordinate,
          "IN (\(word)) is given a list as if it were one value; write "
            + (isEnum ? "IN (:value...)." : "= ANY (:value)."),
          operators: Self.listOperators))
    }
  }
}

extension FieldStorage {
  /// Whether the given ID determines the type that is read, as in `node(id:)` and `nodes(ids:)`.
  var isFoundByID: Bool {
    switch kind {
    case .reference(let reference): reference.id?.soleVariable != nil
    case .leaf, .keyID, .values, .embed, .relation, .call, .userErrors, .secret, .entities,
      .constant, .none:
      false
    }
  }

  /// Whether its rows are those of the type's own table.
  var readsTable: Bool {
    switch kind {
    case .reference(let reference): reference.from == nil && reference.rows == nil
    case .relation(let relation):
      relation.from == nil && relation.ids == nil && relation.rows == nil
    case .leaf, .keyID, .values, .embed, .call, .userErrors, .secret, .entities,
      .constant, .none:
      false
    }
  }
}

extension TypeDefinition {
  var isEnum: Bool { if case .enum = kind { true } else { false } }
}

extension StorageMapping {
  /// Returns the coordinate with the directive of `Type.field`: that of an interface, unless the
  /// type has its own.
  func declaringCoordinate(of coordinate: String) -> String {
    let parts = coordinate.split(separator: ".").map(String.init)
    guard parts.count == 2, let type = schema.typesByName[parts[0]],
      let own = schema[type].field(named: parts[1])
    else { return coordinate }
    let places = own.storagePlaces
    let interface = schema[type].interfaces.first { interface in
      guard let field = schema[interface].field(named: parts[1]) else { return false }
      // The directives of an interface's field count for its types.
      return places.isEmpty ? self[interface]?.table != nil : places == field.storagePlaces
    }
    return interface.map { "\(schema[$0].name).\(parts[1])" } ?? coordinate
  }
}

extension FieldDefinition {
  /// The positions of its storage directives in the schema's text.
  fileprivate var storagePlaces: [Position] {
    appliedDirectives.filter { StorageDirectives.names.contains($0.name.text) }.map(\.position)
  }
}

extension StorageFinding {
  func at(_ coordinate: String) -> StorageFinding {
    StorageFinding(severity, coordinate, message, operators: operators)
  }
}
