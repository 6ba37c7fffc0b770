import GraphQLLanguage
import GraphQLSchema
import SQL

/// Compiles the values of inputs with `@order(of:)` to sort keys.
///
/// A related object's column is a sub-select by its reference, through the rows of its type's
/// `@table`: an object that the viewer may not read is ordered like null. The order is made total by
/// that of the relation, or by the type's key in the direction of the last element.
extension SelectionCompiler {
  /// Returns the order that a list of orders chooses; nil if the argument is none, or is empty.
  func chosenKeys(
    _ definition: InputValueDefinition, _ value: ArgumentValue, _ relation: RelationStorage
  ) -> OrderStorage? {
    let input = schema[definition.type.namedType]
    guard let order = mapping.order(input.id) else { return nil }
    var items = [value]
    if case .list(let list) = value { items = list }
    var keys = items.compactMap { key($0, input, through: []) }
    guard let last = keys.last else { return nil }
    let unique = (mapping[order.target]?.table?.keys ?? []).compactMap {
      try? SQLTemplate("this.\($0)")
    }
    // The relation's own order is total, too; a table's key may not be written.
    let isOwn = !relation.order.keys.isEmpty && relation.order.keys.map(\.expression) != unique
    keys +=
      isOwn
      ? relation.order.keys
      : unique.map {
        SQLSortKey(expression: $0, isDescending: last.isDescending, nullsFirst: nil)
      }
    var known: Set<String> = []
    keys.removeAll { !known.insert($0.expression.source).inserted }
    var storage = OrderStorage(keys: keys)
    storage.isChosen = true
    return storage
  }

  private typealias Step = (reference: ReferenceStorage, table: TableStorage)

  private func key(
    _ value: ArgumentValue, _ input: TypeDefinition, through steps: [Step]
  ) -> SQLSortKey? {
    guard case .object(let members) = value, let order = mapping.order(input.id),
      let member = members.first(where: { !$0.value.isNull }),
      let definition = input.inputField(named: member.name)
    else { return nil }
    switch order.members[member.name] {
    case .column(let own)?:
      guard let column = Self.expression(own.template, through: steps) else { return nil }
      var key = Self.directed(
        column, member.value, isNonNull: steps.isEmpty && own.type.isNonNull)
      key?.textType = mapping.textType(of: own.type.namedType)
      return key
    case .reference(let reference, let field)?:
      let types = schema.possibleTypes[Int(field.definition.type.namedType.index)]
      let groups = groups(of: types, rows: nil)
      guard groups.count == 1, let table = groups[0].table else { return nil }
      return key(
        member.value, schema[definition.type.namedType], through: steps + [(reference, table)])
    case .relation(let relation, let field)?:
      guard let direction = member.value["count"],
        let count = number(of: relation, field),
        let column = Self.expression(count, through: steps)
      else { return nil }
      return Self.directed(column, direction, isNonNull: steps.isEmpty)
    case .rowCount?, .aggregates?, .and?, .or?, .not?, nil: return nil
    }
  }

  /// Returns the order with the types of its keys that are columns of the type, where cursors need them.
  func typed(_ order: OrderStorage, of types: [TypeID]) -> OrderStorage {
    guard let type = types.first, let storage = mapping[type] else { return order }
    var order = order
    for index in order.keys.indices where order.keys[index].textType == nil {
      let source = order.keys[index].expression.source
      let field = storage.type.fields.first { field in
        guard case .leaf(let column, _)? = storage.fields[field.name]?.kind else { return false }
        return column.source == source
      }
      order.keys[index].textType = field.flatMap { mapping.textType(of: $0.type.namedType) }
    }
    return order
  }

  private static func directed(
    _ expression: SQLTemplate, _ value: ArgumentValue, isNonNull: Bool
  ) -> SQLSortKey? {
    guard case .enum(let direction) = value else { return nil }
    let isDescending = direction.hasPrefix("DESC")
    var nullsFirst: Bool? = isDescending
    if direction.hasSuffix("_FIRST") { nullsFirst = true }
    if direction.hasSuffix("_LAST") { nullsFirst = false }
    return SQLSortKey(
      expression: expression, isDescending: isDescending, nullsFirst: isNonNull ? nil : nullsFirst)
  }

  /// Returns the number of objects of a relation of the row; nil if they are in several tables.
  private func number(of relation: RelationStorage, _ field: FieldStorage) -> SQLTemplate? {
    let named = field.definition.type.namedType
    let edge = schema[named].field(named: "edges")?.type.namedType
    let node = edge.flatMap { schema[$0].field(named: "node")?.type.namedType }
    let types = schema.possibleTypes[Int((node ?? named).index)]
    let groups = groups(of: types, rows: nil)
    guard groups.count == 1, let table = groups[0].table else { return nil }
    let names = ["this": "n1", "edge": "n0", "parent": "this"]
    var text = "(SELECT count(*) FROM "
    let rows = "\(table.name.text(renaming: [:])) AS n1"
    if let from = relation.from {
      text +=
        from.text(renaming: names) + (from.namesItsRow ? "" : " AS n0")
        + " JOIN \(rows) ON \(relation.on.text(renaming: names))"
    } else {
      text += rows
    }
    if let condition = relation.condition { text += " WHERE \(condition.text(renaming: names))" }
    return try? SQLTemplate(text + ")")
  }

  /// Returns a column of the object that references lead to.
  private static func expression(
    _ template: SQLTemplate, through steps: [Step]
  ) -> SQLTemplate? {
    guard !steps.isEmpty else { return template }
    var from: [String] = []
    var conditions: [String] = []
    var alias = "this"
    for (index, step) in steps.enumerated() {
      let inner = "o\(index + 1)"
      let names = ["this": inner, "parent": alias]
      from.append("\(step.table.name.text(renaming: [:])) AS \(inner)")
      if let id = step.reference.id {
        conditions.append("\(inner).\(step.table.key) = \(id.text(renaming: names))")
      }
      if let condition = step.reference.condition {
        conditions.append("(\(condition.text(renaming: names)))")
      }
      alias = inner
    }
    let column = template.text(renaming: ["this": alias])
    return try? SQLTemplate(
      "(SELECT \(column) FROM \(from.joined(separator: ", ")) WHERE "
        + "\(conditions.joined(separator: " AND ")) LIMIT 1)")
  }
}
