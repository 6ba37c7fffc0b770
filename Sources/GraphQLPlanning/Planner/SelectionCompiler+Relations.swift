import GraphQLLanguage
import GraphQLSchema
import SQL

extension SelectionCompiler {
  /// One reading of a relation: its rows, before anybody says which columns.
  struct RelationRows {
    let row: RowBuilder
    let scope: Scope
    var from: [String]
    var conditions: [String]
    /// The table of `this`; nil when elements are of several tables and are found by `edge.id`.
    let group: TypeGroup?
    let groups: [TypeGroup]
  }

  // MARK: - Lists

  func list(
    _ field: CollectedField, _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope,
    onlyForTags tags: [Int]
  ) throws(GraphQLError) -> ValueShape {
    guard let parent = scope.row, case .list(let item) = storage.definition.type.nullable else {
      return .constant(Array("[]".utf8))
    }
    var types = schema.possibleTypes[Int(item.namedType.index)]
    if let ids = identityList(relation, scope) {
      if ids.count > limits.maximumNodeIDs {
        throw GraphQLError(
          "At most \(limits.maximumNodeIDs) ids can be asked for at once, not \(ids.count).",
          locations: [reader.source.location(of: field.field.position)], code: "BAD_USER_INPUT")
      }
      var tags: Set<Int> = []
      for id in ids { tags.insert(NodeID.tag(of: try nodeID(id, field.field))) }
      types = types.filter { mapping[$0]?.tag.map(tags.contains) ?? false }
    }
    var limit: Int?
    if storage.definition.argument(named: "first") != nil {
      limit = try pageSize("first", field, storage, scope) ?? limits.defaultSize
    }
    let size = limit.map(String.init) ?? "NULL"
    let words = ["limit": size, "first": size]
    let rows = relationRows(
      types: types, storage, relation, scope, words: words, keepsHoles: !item.isNonNull)
    let (shape, expression) = try element(
      of: types, rows, selectionSets: field.selectionSets, keepsHoles: !item.isNonNull)
    let order = order(of: relation, scope)
    var tail: [String] = []
    if !order.keys.isEmpty { tail.append(orderBy(order, rows.scope, reversed: false)) }
    if let limit { tail.append("LIMIT \(limit)") }
    let text = select(
      expression ?? rows.row.rowExpression, from: rows.from + rows.row.joinClauses,
      where: rows.conditions, tail: tail)
    return .list(
      column: parent.column(guarded("ARRAY" + text, tags, scope)), shape,
      itemsNonNull: item.isNonNull)
  }

  /// The ids of `nodes(ids:)`: a list over several tables whose `from` is one argument unnested.
  private func identityList(_ relation: RelationStorage, _ scope: Scope) -> [InputValue]? {
    guard let name = relation.unnestedArgument,
      case .scalars(_, let values)? = scope.arguments.value(name)
    else { return nil }
    return values
  }

  // MARK: - Rows

  /// The from-items and conditions of a relation under new aliases.
  ///
  /// - Parameter keepsHoles: an element without a row stays in its place, so tables are not joined
  ///   but looked into for each element.
  func relationRows(
    types: [TypeID], _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope,
    words: [String: String], keepsHoles: Bool = false
  ) -> RelationRows {
    let groups = groups(of: types, rows: relation.rows)
    let isSingle = groups.count == 1 && groups[0].table != nil && !keepsHoles
    let isTableless = groups.count == 1 && groups[0].table == nil
    let edgeAlias = relation.from != nil && isSingle ? statement.alias("e") : nil
    let row: RowBuilder
    if isSingle || isTableless {
      row = RowBuilder(
        alias: statement.alias(), edgeAlias: edgeAlias, mask: mask(of: types, rows: relation.rows))
    } else {
      let alias = statement.alias("e")
      row = RowBuilder(alias: alias, edgeAlias: alias)
    }
    var target = scope
    target.parent = scope.row
    target.row = row
    target.storage = types.first.flatMap { mapping[$0] }
    target.words = words
    target.words["field"] = SQLQuoting.literal(storage.definition.name)

    var from: [String] = []
    if let item = relation.from {
      from.append(
        aliased(item, word: "edge", alias: edgeAlias ?? row.alias, target))
    }
    if isSingle, let table = groups[0].table {
      let name = renderer.render(table.name, target)
      from.append(
        relation.from == nil
          ? "\(name) AS \(row.alias)"
          : "JOIN \(name) AS \(row.alias) ON \(renderer.render(relation.on, target))")
    }
    var conditions = relation.condition.map { [renderer.render($0, target)] } ?? []
    conditions += filters(of: storage, target).map(\.text)
    if let visible = visibilityOfParent(scope) { conditions.append(visible) }
    return RelationRows(
      row: row, scope: target, from: from, conditions: conditions,
      group: isSingle || isTableless ? groups[0] : nil, groups: groups)
  }

  /// The table of rows that are read in their masked form.
  func mask(of types: [TypeID], rows: SQLTemplate?) -> TableStorage? {
    guard let rows, let table = types.first.flatMap({ mapping[$0]?.table }), table.masked == rows
    else { return nil }
    return table
  }

  /// What hangs on a masked row is there only for those who may see the row itself.
  func visibilityOfParent(_ scope: Scope) -> String? {
    guard let row = scope.row, let table = row.mask else { return nil }
    var target = scope
    target.row = nil
    let name = renderer.render(table.name, target)
    let alias = statement.alias("g")
    return
      "EXISTS (SELECT FROM \(name) AS \(alias) WHERE \(alias).\(table.key) = \(row.alias).\(table.key))"
  }

  /// The columns of one element. For elements of several tables the expression is the `CASE` itself
  /// in lists that keep holes, and a column of the row elsewhere.
  func element(
    of types: [TypeID], _ rows: RelationRows, selectionSets: [SelectionSet],
    keepsHoles: Bool = false
  ) throws(GraphQLError) -> (RecordShape, String?) {
    var inner = childScope(rows.row)
    inner.parent = nil
    if rows.group != nil {
      let shape = try record(
        of: types, selectionSets: selectionSets, row: rows.row, scope: inner)
      return (shape, nil)
    }
    var target = rows.scope
    target.parent = nil
    let field = CollectedField(responseName: "", nodes: [])
    guard
      let (text, shape) = try choice(
        withSelections: selectionSets, field, rows.groups, id: "\(rows.row.alias).id",
        scope: target)
    else { return (.byTag(column: 0, [:]), keepsHoles ? "NULL::record" : nil) }
    if keepsHoles { return (shape, text) }
    return (.nested(column: rows.row.column(text), shape), nil)
  }

  private func choice(
    withSelections selectionSets: [SelectionSet], _ field: CollectedField, _ groups: [TypeGroup],
    id: String, scope: Scope
  ) throws(GraphQLError) -> (String, RecordShape)? {
    // A list's elements are selected by the selection sets of the connection's `nodes` or `node`.
    let node = Field(
      alias: nil, name: Name(text: "", position: Position(offset: 0)), arguments: [],
      directives: [],
      selectionSet: SelectionSet(
        selections: selectionSets.flatMap(\.selections), position: Position(offset: 0)))
    return try choice(
      CollectedField(responseName: "", nodes: [node]), groups, id: id, scope: scope, isMasked: false
    )
  }

  // MARK: - Filters

  struct Filter {
    let text: String
    let isCounted: Bool
  }

  /// The conditions that the arguments at hand add, input fields included.
  func filters(of storage: FieldStorage, _ scope: Scope) -> [Filter] {
    var filters: [Filter] = []
    for (definition, value) in scope.arguments.values {
      guard let value, !value.isNull else { continue }
      addFilters(definition, value, scope, &filters)
    }
    return filters
  }

  private func addFilters(
    _ definition: InputValueDefinition, _ value: ArgumentValue, _ scope: Scope,
    _ filters: inout [Filter]
  ) {
    if let storage = WhereStorage(definition), !matches(value, storage.unless) {
      var inner = scope
      inner.value = (definition, value)
      filters.append(
        Filter(
          text: "(" + renderer.render(storage.condition, inner) + ")", isCounted: storage.isCounted)
      )
    }
    guard case .object(let members) = value else { return }
    for member in members where !member.value.isNull {
      guard let field = schema[definition.type.namedType].inputField(named: member.name) else {
        continue
      }
      addFilters(field, member.value, scope, &filters)
    }
  }

  private func matches(_ value: ArgumentValue, _ unless: String?) -> Bool {
    switch value {
    case .boolean(let flag): unless == (flag ? "true" : "false")
    case .enum(let name): unless == name
    case .scalar(_, value: .string(let text)): unless == "" && text.isEmpty
    case .null, .scalar, .list, .scalars, .object: false
    }
  }

  // MARK: - Order

  /// The order that an enum argument chose, or the relation's own.
  func order(of relation: RelationStorage, _ scope: Scope) -> OrderStorage {
    for (definition, value) in scope.arguments.values {
      if case .enum(let name)? = value,
        let chosen = schema[definition.type.namedType].enumValue(named: name)?
          .appliedDirectives.first(named: "orderBy")?.string("by")
      {
        return OrderStorage(chosen)
      }
    }
    return relation.order
  }

  func orderBy(_ order: OrderStorage, _ scope: Scope, reversed: Bool) -> String {
    let keys = order.keys.map { key in
      var text = renderer.render(key.expression, scope)
      if key.isDescending != reversed { text += " DESC" }
      if let nullsFirst = key.nullsFirst {
        text += nullsFirst != reversed ? " NULLS FIRST" : " NULLS LAST"
      }
      return text
    }
    return "ORDER BY " + keys.joined(separator: ", ")
  }

  /// Nil when the argument is absent or null and the schema has no default.
  func pageSize(
    _ name: String, _ field: CollectedField, _ storage: FieldStorage, _ scope: Scope
  ) throws(GraphQLError) -> Int? {
    guard case .scalar(_, .int(let number))? = scope.arguments.value(name),
      !scope.arguments.defaulted.contains(name)
    else {
      // Null, too, asks for the default.
      guard case .int(let usual)? = storage.definition.argument(named: name)?.coercedDefault else {
        return nil
      }
      return min(Int(usual), limits.maximumPageSize)
    }
    guard (0...limits.maximumPageSize).contains(Int(number)) else {
      throw GraphQLError(
        "Argument \"\(name)\" must be between 0 and \(limits.maximumPageSize), not \(number).",
        locations: [reader.source.location(of: field.field.position)], code: "BAD_USER_INPUT")
    }
    return Int(number)
  }
}
