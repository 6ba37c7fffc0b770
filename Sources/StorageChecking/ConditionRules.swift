import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema

/// Reports conditions and orders that no statement can contain: their author expects fewer rows, or
/// another order.
struct ConditionRules {
  let mapping: StorageMapping
  private var schema: Schema { mapping.schema }

  var findings: [StorageFinding] {
    let effective = effective
    var findings: [StorageFinding] = []
    var known: Set<Position> = []
    func check(_ definition: InputValueDefinition, _ coordinate: String, _ remedy: String) {
      guard let directive = directive(of: definition), !effective.contains(directive.position),
        known.insert(directive.position).inserted
      else { return }
      findings.append(
        StorageFinding(.error, coordinate, "its @where has no effect, because \(remedy)"))
    }
    for type in schema.types where !type.isBuiltIn {
      for field in type.fields {
        let place = "\(type.name).\(field.name)"
        for argument in field.arguments {
          check(argument, "\(place)(\(argument.name):)", remedy(type, field, argument))
          findings += order(argument, "\(place)(\(argument.name):)", type, field)
        }
      }
      if case .inputObject(let fields, _) = type.kind {
        for field in fields {
          check(
            field, "\(type.name).\(field.name)",
            "no argument of a list, a connection or a reference leads to it; leave the @where out, or "
              + "give such a field an argument of the type \(type.name).")
          findings += innerOrder(field, "\(type.name).\(field.name)")
        }
      }
    }
    return findings
  }

  private func directive(of definition: InputValueDefinition) -> Directive? {
    definition.appliedDirectives.first { $0.name.text == "where" }
  }

  private func remedy(
    _ type: TypeDefinition, _ field: FieldDefinition, _ argument: InputValueDefinition
  ) -> String {
    let storage = mapping[type.id]?.fields[field.name]
    if let storage, storage.readsRows, storage.definition !== field {
      return
        "the interface says where the field is, and its argument has no such @where; write it there, or "
        + "repeat the field's @reference, @connection or @list here."
    }
    return
      "the field reads no rows of its own; use :\(argument.name) in its directive's SQL, or make it a "
      + "@reference, @connection or @list."
  }

  /// The positions of the directives that a statement can contain.
  private var effective: Set<Position> {
    var positions: Set<Position> = []
    var queue: [TypeID] = []
    var known: Set<TypeID> = []
    func reach(_ definition: InputValueDefinition) {
      if let position = directive(of: definition)?.position { positions.insert(position) }
      let type = definition.type.namedType
      if case .inputObject = schema[type].kind, known.insert(type).inserted { queue.append(type) }
    }
    for type in schema.types {
      guard case .object = type.kind, let storage = mapping[type.id] else { continue }
      for field in storage.fields.values where field.readsRows {
        field.definition.arguments.forEach(reach)
      }
    }
    while let type = queue.popLast() {
      if case .inputObject(let fields, _) = schema[type].kind { fields.forEach(reach) }
    }
    return positions
  }

  // MARK: - Orders

  /// Reports an argument that chooses among orders but is a list, or whose field has no order.
  private func order(
    _ argument: InputValueDefinition, _ coordinate: String, _ type: TypeDefinition,
    _ field: FieldDefinition
  ) -> [StorageFinding] {
    guard choosesOrder(argument.type.namedType) else { return [] }
    let isList = if case .list = argument.type.nullable { true } else { false }
    guard isList, case .relation? = mapping[type.id]?.fields[field.name]?.kind else { return [] }
    return [
      StorageFinding(
        .error, coordinate,
        "a list of orders has no effect; write \(schema[argument.type.namedType].name) for its type, with "
          + "one enum value for each order.")
    ]
  }

  private func innerOrder(
    _ field: InputValueDefinition, _ coordinate: String
  ) -> [StorageFinding] {
    guard choosesOrder(field.type.namedType), directive(of: field) == nil else { return [] }
    return [
      StorageFinding(
        .error, coordinate,
        "an order has no effect inside an input; make it an argument of the list or connection itself."
      )
    ]
  }

  /// Returns whether all values of the enum are orders.
  private func choosesOrder(_ type: TypeID) -> Bool {
    guard case .enum(let values) = schema[type].kind else { return false }
    return values.allSatisfy { value in
      value.appliedDirectives.contains { $0.name.text == "orderBy" }
    }
  }
}

extension FieldStorage {
  /// Whether its arguments can filter the rows that it reads.
  fileprivate var readsRows: Bool {
    switch kind {
    case .reference, .relation: true
    case .leaf, .keyID, .values, .embed, .call, .userErrors, .secret, .entities,
      .constant, .none:
      false
    }
  }
}
