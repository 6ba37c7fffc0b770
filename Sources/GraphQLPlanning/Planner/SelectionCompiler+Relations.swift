import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

extension SelectionCompiler {
  /// One use of a relation: its rows, before columns are selected.
  struct RelationRows {
    let row: RowBuilder
    let scope: Scope
    var from: [SQLFragment]
    var conditions: [SQLFragment]
    /// The conditions among `conditions` that arguments added.
    let filters: [Filter]
    /// Whether the other conditions use only those columns of `this` that the ordering join has.
    let isOrderedApart: Bool
    /// The table of `this`; nil if elements are in several tables and are found by `edge.id`.
    let group: TypeGroup?
    let groups: [TypeGroup]
    /// The IDs of the elements, if given.
    var ids: SQLFragment?
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
    var length = ListLength.assumed
    if let (source, ids) = identityList(relation, scope) {
      // Counts the IDs of this request. Those of other requests with this plan are counted when
      // they arrive.
      if case .variable = source { length = .ids(source) } else { length = .atMost(ids.count) }
      if ids.count > limits.maximumNodeIDs {
        throw GraphQLError(
          "At most \(limits.maximumNodeIDs) IDs can be requested at once, not \(ids.count).",
          locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
      }
      // A malformed ID has no type: it is treated like an ID that does not exist.
      var tags: Set<Int> = []
      for case .string(let text) in ids {
        if let id = NodeID.decode(text) { tags.insert(NodeID.tag(of: id)) }
      }
      types = types.filter { mapping[$0]?.tag.map(tags.contains) ?? false }
    }
    var limit: Int?
    if storage.definition.argument(named: "limit") != nil {
      limit = try pageSize("limit", field, storage, scope) ?? limits.defaultSize
    }
    if let limit { length = .atMost(limit) }
    let variables: [TemplateVariable: SQLFragment] = [
      .limit: limit.map(statement.size) ?? "NULL"
    ]
    let rows = relationRows(
      types: types, storage, relation, scope, variables: variables, keepsHoles: !item.isNonNull)
    let (shape, expression) = try element(
      of: types, rows, selectionSets: field.selectionSets, keepsHoles: !item.isNonNull)
    let order = order(of: relation, scope)
    var tail: [SQLFragment] = []
    if !order.keys.isEmpty {
      tail.append(orderBy(order, rows.scope, reversed: false))
      // Later items are read completely and divided when they are written.
      let needed = StreamedItems(field.field)?.needed ?? .max
      if needed <= limits.maximumPageSize, needed < limit ?? .max { limit = needed }
    }
    statement.recorder?.note(
      rows.row, in: parent, scope, from: rows.from, conditions: rows.conditions,
      order: order)
    let element = expression ?? rows.row.rowExpression
    let from = rows.from + rows.row.joinClauses
    let text =
      limit.map {
        statement.page(
          element, size: $0, extra: 0, from: from, where: rows.conditions, tail: tail)
      } ?? select(element, from: from, where: rows.conditions, tail: tail)
    return .list(
      column: parent.column(guarded("ARRAY\(text)", tags, scope)), shape,
      itemsNonNull: item.isNonNull, length: length)
  }

  /// Returns the current IDs of a list whose IDs are an argument, such as `nodes(ids:)`.
  private func identityList(
    _ relation: RelationStorage, _ scope: Scope
  ) -> (InputSource, [InputValue])? {
    guard let variable = relation.ids?.soleVariable, variable.count == 1,
      case .scalars(let source, let values)? = scope.arguments.value(variable[0])
    else { return nil }
    return (source, values)
  }

  // MARK: - Rows

  /// Returns the FROM items and conditions of a relation under new aliases.
  ///
  /// - Parameters:
  ///   - keepsHoles: whether an element without a row keeps its place, so that tables are not
  ///     joined but
  ///     queried for each element.
  ///   - isCount: whether neither the order nor its conditions matter.
  func relationRows(
    types: [TypeID], _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope,
    variables: [TemplateVariable: SQLFragment], keepsHoles: Bool = false, isCount: Bool = false
  ) -> RelationRows {
    let groups = groups(of: types, rows: relation.rows)
    let isSingle = groups.count == 1 && groups[0].table != nil && !keepsHoles
    let isTableless = groups.count == 1 && groups[0].table == nil
    let hasEdge = relation.from != nil || relation.ids != nil
    let edgeAlias = hasEdge && isSingle ? statement.alias("e") : nil
    let row: RowBuilder
    if isSingle || isTableless {
      row = RowBuilder(
        alias: statement.alias(), edgeAlias: edgeAlias, mask: mask(of: types, rows: relation.rows),
        rule: groups[0].table?.rule)
    } else {
      let alias = statement.alias("e")
      row = RowBuilder(alias: alias, edgeAlias: alias)
    }
    var target = scope
    target.parent = scope.row
    target.row = row
    target.storage = types.first.flatMap { mapping[$0] }
    target.variables = scope.variables.merging(variables) { _, new in new }
    target.variables[.field] = "\(literal: storage.definition.name)"

    var from: [SQLFragment] = []
    var elementIDs: SQLFragment?
    if let ids = relation.ids {
      let array = TemplateRenderer(mapping: mapping, statement: statement, id: .anyID)
        .render(ids, target)
      elementIDs = array
      from.append(
        "unnest(\(array)) WITH ORDINALITY AS \(name: edgeAlias ?? row.alias)(id, position)")
    } else if let item = relation.from {
      statement.live?.note(
        from: item, as: "edge", where: [relation.condition], target, renderer)
      from.append(aliased(item, alias: edgeAlias ?? row.alias, target, isNoted: false))
    }
    if isSingle, let table = groups[0].table {
      let name = renderer.render(table.name, target, isNoted: false)
      statement.live?.note(
        rows: table, table.name, in: nil, where: [relation.condition], each: isCount ? nil : row,
        target, renderer)
      from.append(
        !hasEdge
          ? "\(name) AS \(name: row.alias)"
          : "JOIN \(name) AS \(name: row.alias) ON \(renderer.render(relation.on, target))")
    }
    if isSingle, !isCount { target.copying = orderingJoin(of: relation, target) }
    let ordered = isCount ? nil : orderCondition(target)
    var conditions =
      (ordered ?? relation.condition.map { behindRule($0, target) }).map { [$0] } ?? []
    if ordered == nil { row.condition = Self.rule(in: relation.condition) }
    let filters = filters(of: storage, target)
    statement.recorder?.note(filters, of: row)
    conditions += filters.map(\.text)
    if let visible = visibilityOfParent(scope) { conditions.append(visible) }
    return RelationRows(
      row: row, scope: target, from: from, conditions: conditions, filters: filters,
      isOrderedApart: target.copying != nil && (ordered != nil || relation.condition == nil),
      group: isSingle || isTableless ? groups[0] : nil, groups: groups, ids: elementIDs)
  }

  /// Returns the table of rows that are read in masked form.
  func mask(of types: [TypeID], rows: SQLTemplate?) -> TableStorage? {
    guard let rows, let table = types.first.flatMap({ mapping[$0]?.table }), table.masked == rows
    else { return nil }
    return table
  }

  /// Returns the condition under which dependents of a masked row exist: the viewer may see the row
  /// itself.
  func visibilityOfParent(_ scope: Scope) -> SQLFragment? {
    guard let row = scope.row, let table = row.mask else { return nil }
    var target = scope
    target.row = nil
    let name = renderer.render(table.name, target, isNoted: false)
    let alias = SQLFragment(name: statement.alias("g"))
    let key = SQLFragment(name: table.key)
    statement.live?.note(
      rows: table, table.name, id: "\(name: row.alias).\(key)", in: row, where: [], each: nil,
      target, renderer)
    return
      "EXISTS (SELECT FROM \(name) AS \(alias) WHERE \(alias).\(key) = \(name: row.alias).\(key))"
  }

  /// Compiles the columns of one element. For elements of several tables, the expression is the
  /// `CASE` itself in lists that keep holes, and otherwise a column of the row.
  func element(
    of types: [TypeID], _ rows: RelationRows, selectionSets: [SelectionSet],
    keepsHoles: Bool = false
  ) throws(GraphQLError) -> (RecordShape, SQLFragment?) {
    var inner = childScope(rows.row)
    inner.parent = nil
    if rows.group != nil {
      let shape = try record(
        of: types, selectionSets: selectionSets, row: rows.row, scope: inner)
      return (shape, nil)
    }
    var target = rows.scope
    target.parent = nil
    target.copying = nil
    if keepsHoles, let parent = rows.scope.parent { target.elements = (parent, rows.ids) }
    guard
      let (text, shape) = try choice(
        selectionSets, rows.groups, id: "\(name: rows.row.alias).id", scope: target,
        isMasked: false)
    else { return (.byTag(column: 0, [:]), keepsHoles ? "NULL::record" : nil) }
    if keepsHoles { return (shape, text) }
    let column = rows.row.column(text)
    return (.nested(column: column, shape, live: rows.row.liveColumns), nil)
  }

  // MARK: - Filters

  struct Filter {
    /// The coordinate of the argument or input field.
    let coordinate: String
    let text: SQLFragment
    let isCounted: Bool
    let among: Int?
    /// Whether it is evaluated along the order: on the ordering join if that has the columns, or on
    /// the row if it needs no other table.
    let isAskedFirst: Bool
    /// Whether it reads neither another table nor a set.
    let isPlain: Bool
    /// The condition on the row, which may have an index for it, if the one on the ordering join
    /// differs.
    let ofRow: SQLFragment?
    /// Whether it is the value of an input with `@filter(of:)`.
    var isOfType = false
    /// Whether it may fail, or take long, for some rows.
    var canFail = false
  }

  /// Returns the conditions that the given arguments add, including input fields.
  func filters(of storage: FieldStorage, _ scope: Scope) -> [Filter] {
    var filters: [Filter] = []
    let isOrdered = if case .relation = storage.kind { true } else { false }
    for (definition, value) in scope.arguments.values {
      guard let value, !value.isNull, !isOrdered || chosenOrder(definition, value) == nil
      else { continue }
      addFilters(definition, scope.place(ofArgument: definition.name), value, scope, &filters)
    }
    return filters.map { $0.canFail && !$0.isOfType ? behindRule($0, scope) : $0 }
  }

  func addFilters(
    _ definition: InputValueDefinition, _ place: InputPlace, _ value: ArgumentValue,
    _ scope: Scope, _ filters: inout [Filter]
  ) {
    let input = schema[definition.type.namedType]
    if mapping.filter(input.id) != nil {
      if let filter = filter(value, input, place, scope) { filters.append(filter) }
      return
    }
    let storage = mapping.condition(of: definition)
    if let storage, storage.isTest, !matches(value, storage.unless) {
      var inner = scope
      inner.value = (definition, value)
      inner.valuePlace = place
      let text = filter(storage, inner)
      let isKept = scope.copying.map(storage.asksOnly) ?? false
      // Without a join that has the order's columns, each step reads a row: too expensive for a
      // condition of a join.
      let isElsewhere =
        !isKept
        && scope.storage?.joins.contains { !$0.copies.isEmpty && storage.asksOnly($0) } ?? false
      let among = isElsewhere ? nil : storage.among
      inner.copying = nil
      filters.append(
        Filter(
          coordinate: place.coordinate, text: text, isCounted: storage.isCounted, among: among,
          isAskedFirst: scope.copying == nil ? storage.asksOnlyTheRow : isKept,
          isPlain: storage.asksNoOther,
          ofRow: isKept && among != nil ? filter(storage, inner) : nil, canFail: storage.canFail))
    }
    addInner(
      input, value, place, wantsAll: storage?.wantsAll ?? false, scope,
      &filters)
  }

  /// Returns the filter that the value of an input with `@filter(of:)` is; nil for an empty one.
  private func filter(
    _ value: ArgumentValue, _ input: TypeDefinition, _ place: InputPlace, _ scope: Scope
  ) -> Filter? {
    var inner = scope
    inner.copying = nil
    guard let condition = rowCondition(value, input, place, inner) else { return nil }
    let isPlain = size(of: value, input).relations == 0
    return Filter(
      coordinate: place.coordinate, text: condition.text, isCounted: false, among: nil,
      isAskedFirst: isPlain && scope.copying == nil, isPlain: isPlain, ofRow: nil, isOfType: true,
      canFail: condition.canFail)
  }

  /// Adds the conditions of an input object; for a list, that one item matches, or that all do.
  private func addInner(
    _ type: TypeDefinition, _ value: ArgumentValue, _ place: InputPlace, wantsAll: Bool,
    _ scope: Scope, _ filters: inout [Filter]
  ) {
    switch value {
    case .object(let members):
      for member in members where !member.value.isNull {
        guard let field = type.inputField(named: member.name) else { continue }
        addFilters(
          field, InputPlace("\(type.name).\(field.name)", place.position), member.value, scope,
          &filters)
      }
    case .list(let items):
      guard mapping.hasConditions(type.id) else { return }
      let items = items.filter { !$0.isNull }.map { item in
        var inner: [Filter] = []
        addInner(type, item, place, wantsAll: wantsAll, scope, &inner)
        return inner
      }
      if wantsAll {
        filters += items.joined()
      } else {
        filters.append(Filter(oneOf: items, coordinate: place.coordinate))
      }
    case .null, .boolean, .enum, .scalar, .scalars, .rows: return
    }
  }

  /// Checks the number of conditions.
  ///
  /// - Throws: an error if the lists of input objects among the arguments add too many conditions
  ///   to a statement.
  func checkConditions(
    _ arguments: FieldArguments, _ field: CollectedField
  ) throws(GraphQLError) {
    var left = limits.maximumListedConditions
    for (definition, value) in arguments.values {
      guard let value, mapping.hasConditions(definition.type.namedType) else { continue }
      count(value, schema[definition.type.namedType], isListed: false, &left)
    }
    guard left < 0 else { return }
    throw GraphQLError(
      "The lists of conditions of one field may have at most \(limits.maximumListedConditions) "
        + "conditions all together.",
      locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
  }

  private func count(
    _ value: ArgumentValue, _ type: TypeDefinition, isListed: Bool, _ left: inout Int
  ) {
    switch value {
    case .object(let members):
      for member in members where !member.value.isNull && left >= 0 {
        guard let field = type.inputField(named: member.name) else { continue }
        if isListed, mapping.condition(of: field) != nil { left -= 1 }
        count(member.value, schema[field.type.namedType], isListed: isListed, &left)
      }
    case .list(let items):
      guard mapping.hasConditions(type.id) else { return }
      for item in items where left >= 0 {
        // One without conditions is a part of the statement, too.
        left -= 1
        count(item, type, isListed: true, &left)
      }
    case .null, .boolean, .enum, .scalar, .scalars, .rows: return
    }
  }

  private func filter(_ storage: WhereStorage, _ scope: Scope) -> SQLFragment {
    guard let membership = storage.membership else {
      return "(\(storage.condition.map { renderer.render($0, scope) } ?? "true"))"
    }
    let member = renderer.render(membership.member, scope)
    let set = renderer.render(membership.set, scope)
    // Under an OR, the set stays a subselect that is hashed once. Alone, PostgreSQL would make it a
    // join and compute it again for each outer row.
    let test: SQLFragment = "(false OR \(member) IN (\(set)))"
    if let condition = storage.condition, condition.mentions(variable: "in") {
      var inner = scope
      inner.variables[.in] = test
      return "(\(renderer.render(condition, inner)))"
    }
    // Nothing is in an empty set: PostgreSQL then looks at no row, where it would go through all of them
    // in vain. (It asks before it begins, as the question does not depend on a row.)
    let known: SQLFragment = "EXISTS (\(set)) AND \(test)"
    guard let condition = storage.condition else { return "(\(known))" }
    return "((\(renderer.render(condition, scope))) AND \(known))"
  }

  private func matches(_ value: ArgumentValue, _ unless: String?) -> Bool {
    switch value {
    case .boolean(let flag): unless == (flag ? "true" : "false")
    case .enum(let name): unless == name
    case .scalar(_, value: .string(let text)): unless == "" && text.isEmpty
    case .null, .scalar, .list, .scalars, .object, .rows: false
    }
  }

  // MARK: - Order

  /// Returns the order that an enum argument chose, or the relation's own.
  func order(of relation: RelationStorage, _ scope: Scope) -> OrderStorage {
    for (definition, value) in scope.arguments.values {
      guard let value else { continue }
      if let chosen = chosenKeys(definition, value, relation) { return chosen }
      guard let chosen = chosenOrder(definition, value) else { continue }
      if let given = chosen.given, let other = chosen.otherwise, !isGiven(given, scope) {
        return mapping.enumValue(named: other, of: definition.type.namedType)?.order ?? chosen
      }
      return chosen
    }
    return relation.order
  }

  /// Throws if the order is that of an argument that is missing.
  func check(_ order: OrderStorage, of field: CollectedField, _ scope: Scope) throws(GraphQLError) {
    guard let given = order.given, order.otherwise == nil, !isGiven(given, scope) else { return }
    throw GraphQLError(
      "This order needs the argument \"\(given)\".",
      locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
  }

  /// Returns whether the argument, or a field of its input object, has a value, and if it filters,
  /// whether the value does.
  private func isGiven(_ path: String, _ scope: Scope) -> Bool {
    let steps = path.split(separator: ".").map(String.init)
    guard let argument = steps.first.flatMap({ scope.arguments[$0] }) else { return false }
    var value = argument.value
    for step in steps.dropFirst() { value = value?[step] }
    guard let value, !value.isNull else { return false }
    return steps.count > 1
      || mapping.condition(of: argument.definition).map { !matches(value, $0.unless) } ?? true
  }

  private func chosenOrder(
    _ definition: InputValueDefinition, _ value: ArgumentValue
  ) -> OrderStorage? {
    guard case .enum(let name) = value else { return nil }
    return mapping.enumValue(named: name, of: definition.type.namedType)?.order
  }

  /// Returns the condition that the order's argument uses instead of the relation's own: an order
  /// that another table keeps is read there.
  private func orderCondition(_ scope: Scope) -> SQLFragment? {
    for (definition, value) in scope.arguments.values {
      guard let value, chosenOrder(definition, value) != nil,
        let storage = mapping.condition(of: definition), !matches(value, storage.unless)
      else { continue }
      var inner = scope
      inner.value = (definition, value)
      return filter(storage, inner)
    }
    return nil
  }

  /// Returns the join that keeps the order of the page, if each row has its counterpart there.
  private func orderingJoin(of relation: RelationStorage, _ scope: Scope) -> JoinStorage? {
    let keys = order(of: relation, scope).keys
    return scope.storage?.joins.first { join in
      join.isRequired && !join.copies.isEmpty
        && keys.contains { $0.expression.mentions(qualifier: join.name) }
    }
  }

  func orderBy(_ order: OrderStorage, _ scope: Scope, reversed: Bool) -> SQLFragment {
    let keys = order.keys.map { key in
      var text = renderer.render(key.expression, scope)
      if key.isDescending != reversed { text.append(" DESC") }
      if let nullsFirst = key.nullsFirst {
        text.append(nullsFirst != reversed ? " NULLS FIRST" : " NULLS LAST")
      }
      return text
    }
    return "ORDER BY \(keys.joined(separator: ", "))"
  }

  /// Returns a page size; nil if the argument is absent or null and the schema has no default.
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
        locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
    }
    return Int(number)
  }
}

extension SelectionCompiler.Filter {
  /// Creates a filter that is satisfied if all conditions of one item are.
  fileprivate init(oneOf items: [[Self]], coordinate: String) {
    let parts = items.map { filters -> SQLFragment in
      if filters.isEmpty { return "true" }
      return filters.count == 1
        ? filters[0].text : "(\(filters.map(\.text).joined(separator: " AND ")))"
    }
    let all = items.joined()
    self.init(
      coordinate: coordinate,
      text: parts.isEmpty ? "false" : "(\(parts.joined(separator: " OR ")))",
      isCounted: false, among: nil, isAskedFirst: all.allSatisfy(\.isAskedFirst),
      isPlain: all.allSatisfy(\.isPlain), ofRow: nil, canFail: all.contains(where: \.canFail))
  }
}
