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
    case .column(let template, let type)?:
      guard case .enum(let direction) = member.value,
        let expression = Self.expression(template, through: steps)
      else { return nil }
      let isDescending = direction.hasPrefix("DESC")
      var nullsFirst: Bool? = isDescending
      if direction.hasSuffix("_FIRST") { nullsFirst = true }
      if direction.hasSuffix("_LAST") { nullsFirst = false }
      if steps.isEmpty, type.isNonNull { nullsFirst = nil }
      return SQLSortKey(
        expression: expression, isDescending: isDescending, nullsFirst: nullsFirst)
    case .reference(let reference, let field)?:
      let types = schema.possibleTypes[Int(field.definition.type.namedType.index)]
      let groups = groups(of: types, rows: nil)
      guard groups.count == 1, let table = groups[0].table else { return nil }
      return key(
        member.value, schema[definition.type.namedType], through: steps + [(reference, table)])
    case .relation?, .rowCount?, .aggregates?, .and?, .or?, .not?, nil: return nil
    }
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
