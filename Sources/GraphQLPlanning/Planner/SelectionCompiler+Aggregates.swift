import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles the fields `aggregates` and `groups` of connections.
///
/// Each is one more sub-select over the rows that `totalCount` counts, so the connection's filters
/// and the rule of the type's `@table` hold for it. Null is no value, as in SQL.
extension SelectionCompiler {
  /// Compiles a field of a connection that is computed from the rows of all pages.
  ///
  /// - Returns: the value, in a column of `scope.row`, and its cost; nil for any other field.
  func aggregated(
    _ part: CollectedField, of connection: TypeID, _ types: [TypeID], _ storage: FieldStorage,
    _ relation: RelationStorage, _ scope: Scope, onlyForTags tags: [Int]
  ) throws(GraphQLError) -> (value: ValueShape, cost: Int)? {
    guard let own = mapping[connection]?.fields[part.field.name.text], let parent = scope.row else {
      return nil
    }
    let type = own.definition.type.namedType
    if let aggregates = mapping.aggregates(type) {
      let rows = aggregatedRows(types, storage, relation, scope)
      let row = Self.counted(rows)
      let shape = try object(of: type, aggregates, part.selectionSets, row, rows.scope)
      let text = select(
        row.rowExpression, from: rows.from + rows.row.joinClauses, where: rows.conditions)
      return (
        .record(column: parent.column(guarded(text, tags, scope)), .object(shape)), aggregates.cost
      )
    }
    guard let aggregatesType = schema[type].field(named: "aggregates")?.type.namedType,
      let aggregates = mapping.aggregates(aggregatesType)
    else { return nil }
    do {
      var inner = Scope()
      inner.coordinate = own.coordinate
      inner.arguments = try reader.arguments(of: part.field, own.definition)
      let cost = try checkFilters(inner.arguments, part)
      let size = try pageSize("first", part, own, inner) ?? limits.defaultSize
      let rows = aggregatedRows(types, storage, relation, scope)
      let (text, shape) = try groups(
        part, own, (aggregatesType, aggregates), inner, rows, size: size)
      let list = ValueShape.list(
        column: parent.column(guarded("ARRAY\(text)", tags, scope)), .object(shape),
        itemsNonNull: true, length: .atMost(size))
      return (list, aggregates.cost + cost)
    } catch {
      // 6.4.1 Coercing Field Arguments: an error of the field, not of the request.
      return (.refused(error), 0)
    }
  }

  private func aggregatedRows(
    _ types: [TypeID], _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope
  ) -> RelationRows {
    var inner = scope
    // A row is not in the result, but any change of it changes the result.
    inner.isAsked = true
    return relationRows(types: types, storage, relation, inner, variables: [:], isCount: true)
  }

  /// Returns a row of aggregates, which has the number of rows in any case.
  private static func counted(_ rows: RelationRows) -> RowBuilder {
    let row = RowBuilder(alias: rows.row.alias)
    _ = row.column("count(*)")
    return row
  }

  // MARK: - Groups

  private func groups(
    _ part: CollectedField, _ own: FieldStorage, _ aggregates: (type: TypeID, AggregateStorage),
    _ scope: Scope, _ rows: RelationRows, size: Int
  ) throws(GraphQLError) -> (SQLFragment, ObjectShape) {
    let groupType = own.definition.type.namedType
    let row = Self.counted(rows)
    var keys: [String: SQLFragment] = [:]
    var expressions: [SQLFragment] = []
    if let (definition, value) = scope.arguments["by"],
      case .inputObject(let members, _) = schema[definition.type.namedType].kind
    {
      for member in members {
        guard let column = aggregates.1.columns[member.name], let choice = value?[member.name],
          let key = key(choice, column, rows.scope)
        else { continue }
        keys[member.name] = key
        expressions.append(key)
      }
    }
    if expressions.isEmpty {
      throw refusal("The argument \"by\" needs at least one column to group by.", part.field)
    }
    let shape = try fields(of: groupType, part.selectionSets) {
      (field, definition) throws(GraphQLError) -> ValueShape in
      let inner = definition.type.namedType
      guard field.field.name.text == "key" else {
        return .embedded(
          when: nil,
          try object(of: inner, aggregates.1, field.selectionSets, row, rows.scope))
      }
      let key = try fields(of: inner, field.selectionSets) {
        (column, definition) throws(GraphQLError) -> ValueShape in
        let name = column.field.name.text
        guard let text = keys[name] else {
          throw refusal(
            "\"\(name)\" is not one of the columns that \"by\" groups by.", column.field)
        }
        return leaf(text, definition.type, row, nil, rows.scope)
      }
      return .embedded(when: nil, key)
    }
    var tail: [SQLFragment] = ["GROUP BY \(expressions.joined(separator: ", "))"]
    if let (definition, value) = scope.arguments["having"], let value,
      let condition = condition(
        value, schema[definition.type.namedType], scope.place(ofArgument: "having"), rows.scope)
    {
      tail.append("HAVING \(condition.text)")
    }
    var order: [SQLFragment] = []
    if let (definition, value) = scope.arguments["orderBy"], case .list(let items)? = value {
      let input = schema[definition.type.namedType]
      order = items.compactMap { sortKey($0, input, aggregates.type, rows.scope) }
    }
    tail.append("ORDER BY \((order + expressions).joined(separator: ", "))")
    let text = statement.page(
      row.rowExpression, size: size, extra: 0, from: rows.from + rows.row.joinClauses,
      where: rows.conditions, tail: tail)
    return (text, shape)
  }

  private func refusal(_ message: String, _ field: Field) -> GraphQLError {
    GraphQLError(
      message, locations: [reader.source.location(of: field.position)], code: .badUserInput)
  }

  /// Returns what rows are grouped by; nil if not by this column.
  private func key(
    _ choice: ArgumentValue, _ column: AggregateStorage.Column, _ scope: Scope
  ) -> SQLFragment? {
    let text = renderer.render(column.template, scope)
    guard case .enum(let unit) = choice else {
      if case .boolean(true) = choice { return text }
      return nil
    }
    if unit == "VALUE" { return text }
    let name = SQLFragment(name: SQLQuoting.literal(unit.lowercased()))
    switch mapping.parameterType(of: column.type.namedType) {
    case .timestamptz, .instant: return "date_trunc(\(name), \(text), 'UTC')"
    case .date: return unit == "HOUR" ? text : "date_trunc(\(name), (\(text))::timestamp)::date"
    default: return "date_trunc(\(name), \(text))"
    }
  }

  private func sortKey(
    _ value: ArgumentValue, _ input: TypeDefinition, _ aggregates: TypeID, _ scope: Scope
  ) -> SQLFragment? {
    guard case .object(let members) = value, let order = mapping.order(input.id),
      let member = members.first(where: { !$0.value.isNull })
    else { return nil }
    var column: SQLFragment = "count(*)"
    var direction = member.value
    if case .aggregates(let own, let result)? = order.members[member.name] {
      guard case .object(let functions) = member.value,
        let function = functions.first(where: { !$0.value.isNull }),
        let definition = schema[result].field(named: function.name)
      else { return nil }
      direction = function.value
      column = aggregate(function.name, of: own, definition.type, scope)
    }
    guard case .enum(let name) = direction else { return nil }
    return "\(column) \(Self.directions[name] ?? "ASC")"
  }

  private static let directions: [String: SQLFragment] = [
    "ASC": "ASC", "DESC": "DESC", "ASC_NULLS_FIRST": "ASC NULLS FIRST",
    "ASC_NULLS_LAST": "ASC NULLS LAST", "DESC_NULLS_FIRST": "DESC NULLS FIRST",
    "DESC_NULLS_LAST": "DESC NULLS LAST",
  ]

  // MARK: - Aggregates

  private func object(
    of type: TypeID, _ aggregates: AggregateStorage, _ sets: [SelectionSet], _ row: RowBuilder,
    _ scope: Scope
  ) throws(GraphQLError) -> ObjectShape {
    try fields(of: type, sets) { (field, definition) throws(GraphQLError) -> ValueShape in
      guard let column = aggregates.columns[field.field.name.text] else {
        return leaf("count(*)", definition.type, row, nil, scope)
      }
      let values = try fields(of: definition.type.namedType, field.selectionSets) {
        field, definition in
        let name = field.field.name.text
        let text = aggregate(name, of: column, definition.type, scope)
        if name == "sum", mapping.parameterType(of: definition.type.namedType) == .named("int8") {
          // The sum may have more than 64 bits.
          return .leaf(column: row.column("(\(text))::text"), .string)
        }
        return leaf(text, definition.type, row, nil, scope)
      }
      return .embedded(when: nil, values)
    }
  }

  /// Compiles the fields of an object that is part of `row`.
  private func fields(
    of type: TypeID, _ sets: [SelectionSet],
    _ value: (CollectedField, FieldDefinition) throws(GraphQLError) -> ValueShape
  ) throws(GraphQLError) -> ObjectShape {
    var shapes: [FieldShape] = []
    for field in collectFields(of: type, sets) {
      let name = field.field.name.text
      if let marker = DeliveryMarker(field.field) {
        shapes.append(
          FieldShape(field.responseName, isNonNull: false, .marker(marker), coordinate: name))
      } else if name == "__typename" {
        shapes.append(
          FieldShape(
            field.responseName, isNonNull: true,
            .constant(Array("\"\(schema[type].name)\"".utf8)), coordinate: name))
      } else if let definition = schema[type].field(named: name) {
        shapes.append(
          FieldShape(
            field.responseName, isNonNull: definition.type.isNonNull,
            try value(field, definition), coordinate: "\(schema[type].name).\(name)"))
      }
    }
    return ObjectShape(fields: shapes)
  }

  /// Returns an aggregate of a column's values.
  ///
  /// - Parameter result: the type of the field that it is for.
  func aggregate(
    _ name: String, of column: AggregateStorage.Column, _ result: TypeReference, _ scope: Scope
  ) -> SQLFragment {
    let values = comparable(renderer.render(column.template, scope), column.type)
    switch name {
    case "count": return "count(\(values))"
    case "countDistinct": return "count(DISTINCT \(values))"
    case "sum", "avg":
      if mapping.parameterType(of: column.type.namedType) == .float8 {
        return floatingAggregate(name, of: "(\(values))::float8")
      }
      // PostgreSQL's result has a wider type: that of the sum of integers is numeric.
      let text: SQLFragment = "\(name: name)(\(values))"
      return mapping.parameterType(of: result.namedType) == .float8 ? "(\(text))::float8" : text
    case "min", "max": return "\(name: name)(\(values))"
    default: return "NULL"
    }
  }
  /// Returns the sum or average of `float8` values, which does not fail however large they are: a
  /// statement fails as a whole, and an infinite value is an error of its own field.
  ///
  /// PostgreSQL's functions, which are fast, get the values that they cannot overflow with; `avg` also
  /// adds squares. Others are added as `numeric`.
  private func floatingAggregate(_ name: String, of value: SQLFragment) -> SQLFragment {
    let isSmall: SQLFragment = "\(value) BETWEEN -1e140 AND 1e140"
    let large: SQLFragment = "sum((\(value))::numeric) FILTER (WHERE NOT \(isSmall))"
    let small: SQLFragment = "coalesce(sum(\(value)) FILTER (WHERE \(isSmall)), 0)::numeric"
    var total: SQLFragment = "(\(large) + \(small))"
    if name == "avg" { total = "(\(total) / count(\(value)))" }
    return """
      CASE WHEN \(large) IS NULL THEN \(name: name)(\(value)) FILTER (WHERE \(isSmall)) \
      WHEN abs\(total) < 1.797693134862315e308 THEN \(total)::float8 \
      ELSE 'Infinity' END
      """
  }
}
