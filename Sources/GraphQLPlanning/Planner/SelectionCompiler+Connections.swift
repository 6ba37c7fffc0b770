import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

extension SelectionCompiler.CollectedField {
  /// Returns the field with only this selection.
  fileprivate func selecting(_ part: Self) -> Self {
    let set = SelectionSet(selections: part.nodes.map { .field($0) }, position: field.position)
    return Self(
      responseName: responseName,
      nodes: [
        Field(
          alias: field.alias, name: field.name, arguments: field.arguments, directives: [],
          selectionSet: set)
      ])
  }
}

extension SelectionCompiler {
  /// The requested part of a connection, computed once per connection.
  private struct Page {
    let size: Int
    let isBackward: Bool
    let after: Cursor?
    let before: Cursor?
    let order: OrderStorage
    /// The order's fingerprint in cursors: a cursor for another order is refused.
    let fingerprint: UInt32

    /// The bound on the side where the page starts.
    var start: Cursor? { isBackward ? before : after }

    struct Cursor {
      let source: InputSource
      let place: InputPlace
    }
  }

  /// Compiles a connection: its page as one array column of `row`, its counts and texts as others.
  ///
  /// The array has one element more than the page if `hasNextPage` (or, backward,
  /// `hasPreviousPage`) is selected. Relay Cursor Connections, 4 and 5.
  func connection(
    _ field: CollectedField, _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope,
    onlyForTags tags: [Int]
  ) throws(GraphQLError) -> ConnectionShape {
    guard let parent = scope.row else { throw GraphQLError.fault("A connection needs a row.") }
    let connectionType = storage.definition.type.namedType
    guard let edgesField = schema[connectionType].field(named: "edges"),
      let nodeField = schema[edgesField.type.namedType].field(named: "node")
    else { throw GraphQLError.fault("\(storage.coordinate) is not a connection.") }
    let edgeType = edgesField.type.namedType
    let types = schema.possibleTypes[Int(nodeField.type.namedType.index)]
    let order = typed(order(of: relation, scope), of: types)
    try check(order, of: field, scope)
    let page = try page(field, storage, relation, order, scope)
    let parts = collectFields(of: connectionType, field.selectionSets)

    let selected = { (part: String) -> [String] in
      guard let type = schema[connectionType].field(named: part)?.type.namedType else { return [] }
      return parts.filter { $0.field.name.text == part }
        .flatMap { collectFields(of: type, $0.selectionSets) }.map(\.field.name.text)
    }
    let window = window(of: page, for: parts)
    let isWhole = window == 0..<page.size
    let pageInfo = isWhole ? selected("pageInfo") : []
    let peeks = pageInfo.contains(page.isBackward ? "hasPreviousPage" : "hasNextPage")
    let needsCursors =
      pageInfo.contains("startCursor") || pageInfo.contains("endCursor")
      || selected("edges").contains("cursor")
    let hasElements = parts.contains { ["edges", "nodes"].contains($0.field.name.text) }
    let more = peeks ? 1 : 0
    let limit = window.upperBound + more
    let needsItems =
      limit > window.lowerBound && (hasElements && page.size > 0 || peeks || needsCursors)
    let most = PlannerLimits.usualSize(window.upperBound) + more

    var variables: [TemplateVariable: SQLFragment] = [.limit: "\(most)"]
    for index in order.keys.indices {
      variables[.key(index + 1)] = page.start.map { keyReference($0, index, page) } ?? "NULL"
    }
    let read = relation.read(in: order, fromEnd: page.isBackward)
    var rows = relationRows(types: types, storage, read, scope, variables: variables)
    let isWalkable = isWalkable(rows, read, order)
    let keyColumns =
      needsCursors
      ? order.keys.map { key -> Int in
        let value = renderer.render(key.expression, rows.scope)
        return rows.row.column(key.textType == nil ? value : "(\(value))::text")
      } : []

    var shapes: [ConnectionShape.PartField] = []
    var counted: Count?
    var aggregateCost = 0
    for part in parts {
      _ = try initialCount(part.field)
      if let marker = DeliveryMarker(part.field) {
        shapes.append(
          ConnectionShape.PartField(
            key: [], responseName: part.responseName, isNonNull: false, part: .marker(marker)))
        continue
      }
      let name = part.field.name.text
      let value: ConnectionShape.Part
      switch name {
      case "__typename":
        value = .constant(Array("\"\(schema[connectionType].name)\"".utf8))
      case "nodes":
        value = .nodes(try element(of: types, rows, selectionSets: part.selectionSets).0)
      case "edges":
        value = .edges(
          try edge(of: edgeType, part, types, rows, scope))
      case "pageInfo":
        value = .pageInfo(
          pageInfoFields(part, connectionType),
          of: isWhole
            ? nil
            : try connection(field.selecting(part), storage, relation, scope, onlyForTags: tags))
      case "totalCount":
        let count = counted ?? totalCount(types, storage, relation, scope)
        counted = count
        let text = guarded(count.text, tags, scope)
        if let type = schema[connectionType].field(named: name)?.type {
          statement.recorder?.note(.leaf(.int, type), text, relation.count, in: parent, scope)
        }
        value = .value(
          .leaf(column: parent.column(text), count.limit.map { .count(limit: $0) } ?? .int))
      case "isTotalCountExact":
        let count = counted ?? totalCount(types, storage, relation, scope)
        counted = count
        value =
          count.limit.map {
            .value(
              .leaf(
                column: parent.column(guarded(count.text, tags, scope)), .isCounted(limit: $0)))
          } ?? .constant(Array("true".utf8))
      default:
        if let (found, cost) = try aggregated(
          part, of: connectionType, types, storage, relation, scope, onlyForTags: tags)
        {
          value = .value(found)
          aggregateCost += cost
        } else {
          value = .value(
            try extra(
              name, of: connectionType, types, storage, relation, scope, onlyForTags: tags))
        }
      }
      shapes.append(
        ConnectionShape.PartField(
          key: Array("\"\(part.responseName)\":".utf8), responseName: part.responseName,
          isNonNull: true, part: value, items: StreamedItems(part.field)))
    }

    statement.recorder?.note(
      rows.row, in: parent, scope, from: rows.from, conditions: rows.conditions,
      order: order)
    var itemsColumn: Int?
    if needsItems {
      let beyond = keyset(page, rows.scope)
      let canFail = order.keys.contains { $0.expression.canFail }
      rows.conditions += canFail ? beyond.map { behindRule($0, rows.scope) } : beyond
      let tail =
        order.keys.isEmpty ? [] : [orderBy(order, rows.scope, reversed: page.isBackward)]
      if isWalkable { lookAmongFirst(&rows, tail, limit: most) }
      let text = statement.page(
        rows.row.rowExpression, size: window.upperBound, extra: more,
        skipping: window.lowerBound, from: rows.from + rows.row.joinClauses, where: rows.conditions,
        tail: tail)
      itemsColumn = parent.column(guarded("ARRAY\(text)", tags, scope))
    }
    return ConnectionShape(
      parts: shapes, itemsColumn: itemsColumn, pageSize: page.size, skipped: window.lowerBound,
      isBackward: page.isBackward, hasCursor: page.start != nil, keyColumns: keyColumns,
      order: page.fingerprint, cost: scope.filterCost + aggregateCost)
  }

  /// Returns the range of a page's rows to read: all, unless each of its lists is streamed and has
  /// other items in the initial response than later. From the end of an order, the first ones are
  /// known only together with all.
  private func window(of page: Page, for parts: [CollectedField]) -> Range<Int> {
    let lists = parts.filter { ["edges", "nodes"].contains($0.field.name.text) }
    let streamed = lists.compactMap { StreamedItems($0.field) }
    guard !page.isBackward, streamed.count == lists.count,
      let first = streamed.map(\.range.lowerBound).min(),
      let end = streamed.map(\.needed).max()
    else { return 0..<page.size }
    return (first..<max(first, end)).clamped(to: 0..<page.size)
  }

  // MARK: - The first rows first

  /// Returns whether an argument's condition is to be evaluated along the order, and the order
  /// allows it. The order must be in one table, by its own columns or those of one join.
  private func isWalkable(
    _ rows: RelationRows, _ relation: RelationStorage, _ order: OrderStorage
  ) -> Bool {
    guard walked(rows.filters).contains(where: { $0.among != nil }), relation.from == nil,
      relation.ids == nil, rows.from.count == 1, !order.keys.isEmpty,
      order.keys.allSatisfy({ $0.expression.variables.isEmpty })
    else { return false }
    _ = orderBy(order, rows.scope, reversed: false)
    return rows.row.joinClauses.count == (rows.isOrderedApart ? 1 : 0)
  }

  /// Returns the conditions to evaluate along the order: those that must read each row. If the join
  /// that keeps the order can evaluate all, only those that an argument wants so, and the more
  /// expensive ones.
  private func walked(_ filters: [Filter]) -> [Filter] {
    let looked = filters.filter { !$0.isAskedFirst }
    return looked.isEmpty ? filters.filter { $0.among != nil || !$0.isPlain } : looked
  }

  /// Reads the page from the first rows of the order if enough of them satisfy the conditions,
  /// otherwise from all that do.
  ///
  /// Conditions that hold for many rows are faster to evaluate along the order, those that hold for
  /// few by an index. Only counting at run time tells which. Either way it is one subselect of
  /// whole rows in place of the table.
  ///
  /// If another table has the columns of the order, each step reads a row of the filtered table.
  /// Then only a hundred are read before an index is queried, unless the other table alone can
  /// evaluate the conditions.
  private func lookAmongFirst(_ rows: inout RelationRows, _ order: [SQLFragment], limit: Int) {
    let walked = walked(rows.filters)
    guard let number = walked.compactMap(\.among).max(), let order = order.first else { return }
    let tail: [SQLFragment] = [order, "LIMIT \(limit)"]
    let filters = walked.map(\.text)
    let others = rows.conditions.filter { !filters.contains($0) }
    let alias = SQLFragment(name: rows.row.alias)
    let whole: SQLFragment = "\(alias).*"
    let source = rows.from + rows.row.joinClauses
    /// Returns the rows among the first of the order that satisfy the conditions.
    func walk(_ most: Int, if gate: [SQLFragment]) -> SQLFragment {
      var first: [SQLFragment]
      if let join = rows.scope.copying, let name = rows.row.alias(of: join) {
        var plain = rows.scope
        plain.copying = nil
        let kept = select(
          "*", from: ["\(renderer.render(join.table, plain, isNoted: false)) AS \(name: name)"],
          where: others + gate, tail: [order, "LIMIT \(most)"])
        // OFFSET 0: the row of each step, not all rows that an index gives for the conditions.
        let row = select(
          whole, from: rows.from, where: [renderer.render(join.on, plain)], tail: ["OFFSET 0"])
        first = ["\(kept) AS \(name: name)", "CROSS JOIN LATERAL \(row) AS \(alias)"]
      } else {
        let kept = select(
          whole, from: source, where: others + gate, tail: [order, "LIMIT \(most)"])
        first = ["\(kept) AS \(alias)"]
      }
      return select(whole, from: first, where: filters, tail: tail)
    }
    var stages: [SQLFragment] = []
    var results: [SQLFragment] = []
    var gate: [SQLFragment] = []
    /// Adds a stage, which is sufficient if it has at least, or fewer than, this number of rows.
    func add(
      _ stage: SQLFragment, isDone comparison: SQLFragment, else next: SQLFragment,
      result: (_ stage: SQLFragment, _ gate: [SQLFragment]) -> SQLFragment = {
        select("*", from: [$0], where: $1)
      }
    ) {
      let name = SQLFragment(name: statement.alias("f"))
      stages.append("\(name) AS MATERIALIZED \(stage)")
      let count: SQLFragment = "(SELECT count(*) FROM \(name))"
      results.append(result(name, gate + ["\(count) \(comparison)"]))
      gate.append("\(count) \(next)")
    }
    if rows.scope.copying != nil, walked.contains(where: { !$0.isAskedFirst }) {
      add(walk(100, if: []), isDone: ">= \(limit)", else: "< \(limit)")
      // At most a hundred rows of the index, whatever the other conditions are.
      let indexed = walked.filter { $0.among != nil }.map(\.text)
      let some = select(whole, from: rows.from, where: indexed + gate, tail: ["OFFSET 0"])
      let rest = rows.conditions.filter { !indexed.contains($0) }
      add(
        select("*", from: ["\(some) AS \(alias)"], where: [], tail: ["LIMIT 100"]),
        isDone: "< 100", else: "= 100"
      ) { select(whole, from: ["\($0) AS \(alias)"] + rows.row.joinClauses, where: rest + $1) }
    }
    add(walk(number, if: gate), isDone: ">= \(limit)", else: "< \(limit)")
    let all = rows.conditions + walked.compactMap(\.ofRow) + gate
    results.append(select(whole, from: source, where: all, tail: tail))
    let text: SQLFragment = """
      WITH \(stages.joined(separator: ",\n"))
      \(results.joined(separator: "\nUNION ALL "))
      """
    rows.from = ["(\(text.indented)) AS \(alias)"]
    rows.conditions = []
  }

  // MARK: - Parts

  private func edge(
    of type: TypeID, _ part: CollectedField, _ types: [TypeID], _ rows: RelationRows,
    _ scope: Scope
  ) throws(GraphQLError) -> EdgeShape {
    var shapes: [EdgeShape.PartField] = []
    for member in collectFields(of: type, part.selectionSets) {
      if let marker = DeliveryMarker(member.field) {
        shapes.append(
          EdgeShape.PartField(
            key: [], responseName: member.responseName, isNonNull: false, part: .marker(marker)))
        continue
      }
      let name = member.field.name.text
      let value: EdgeShape.Part
      var isNonNull = true
      switch name {
      case "__typename":
        value = .constant(Array("\"\(schema[type].name)\"".utf8))
      case "cursor": value = .cursor
      case "node":
        value = .node(try element(of: types, rows, selectionSets: member.selectionSets).0)
      default:
        guard let storage = mapping[type]?.fields[name],
          case .leaf(let template, nil) = storage.kind
        else { throw GraphQLError.fault("\(schema[type].name).\(name) has no storage.") }
        var inner = rows.scope
        inner.copying = nil
        inner.coordinate = storage.coordinate
        inner.outerArguments = scope.arguments
        inner.arguments = try reader.arguments(of: member.field, storage.definition)
        isNonNull = storage.definition.type.isNonNull
        value = .field(
          leaf(
            renderer.render(template, inner), storage.definition.type, rows.row, template, inner))
      }
      shapes.append(
        EdgeShape.PartField(
          key: Array("\"\(member.responseName)\":".utf8), responseName: member.responseName,
          isNonNull: isNonNull, part: value))
    }
    return EdgeShape(parts: shapes)
  }

  private func pageInfoFields(
    _ part: CollectedField, _ connectionType: TypeID
  ) -> [PageInfoField] {
    guard let type = schema[connectionType].field(named: "pageInfo")?.type.namedType else {
      return []
    }
    return collectFields(of: type, part.selectionSets).map { member in
      let kind: PageInfoField.Kind
      switch member.field.name.text {
      case "hasNextPage": kind = .hasNextPage
      case "hasPreviousPage": kind = .hasPreviousPage
      case "startCursor": kind = .startCursor
      case "endCursor": kind = .endCursor
      default: kind = .constant(Array("\"\(schema[type].name)\"".utf8))
      }
      return PageInfoField(key: Array("\"\(member.responseName)\":".utf8), kind: kind)
    }
  }

  /// Compiles a field of the connection type itself, such as a heading: an expression over the
  /// parent row.
  private func extra(
    _ name: String, of type: TypeID, _ types: [TypeID], _ storage: FieldStorage,
    _ relation: RelationStorage, _ scope: Scope, onlyForTags tags: [Int]
  ) throws(GraphQLError) -> ValueShape {
    guard let field = mapping[type]?.fields[name], case .leaf(let template, nil) = field.kind,
      let parent = scope.row
    else { throw GraphQLError.fault("\(schema[type].name).\(name) has no storage.") }
    var inner = scope
    inner.parent = scope.row
    inner.outerArguments = scope.arguments
    inner.variables[.field] = "\(literal: storage.definition.name)"
    if template.mentions(variable: "totalCount") {
      let count = totalCount(types, storage, relation, scope)
      inner.variables[.totalCount] =
        count.limit.map { "least(\(count.text), \(Int($0)))" } ?? count.text
    }
    if template.mentions(variable: "count") {
      inner.variables[.count] = storedCount(of: relation, scope)
    }
    inner.coordinate = field.coordinate
    return leaf(
      guarded(renderer.render(template, inner), tags, scope), field.definition.type, parent,
      template, inner)
  }

  private struct Count {
    let text: SQLFragment
    /// The number at which counting stops; nil if the count is always exact.
    let limit: Int32?
  }

  /// Returns the stored count if the directive has one and no other filter applies, otherwise a
  /// count of rows, up to one more than the limit.
  private func totalCount(
    _ types: [TypeID], _ storage: FieldStorage, _ relation: RelationStorage, _ scope: Scope
  ) -> Count {
    var target = scope
    target.parent = scope.row
    if relation.count != nil, filters(of: storage, target).allSatisfy(\.isCounted),
      let count = storedCount(of: relation, scope)
    {
      return Count(text: count, limit: nil)
    }
    guard let limit = limits.maximumCount else {
      let rows = relationRows(
        types: types, storage, relation, scope, variables: [:], isCount: true)
      return Count(
        text: select(
          "count(*)", from: rows.from + rows.row.joinClauses, where: rows.conditions), limit: nil)
    }
    let most: SQLFragment = "\(Int(limit) + 1)"
    let rows = relationRows(
      types: types, storage, relation, scope, variables: [.limit: most], isCount: true)
    let some = select(
      "", from: rows.from + rows.row.joinClauses, where: rows.conditions, tail: ["LIMIT \(most)"])
    let alias = SQLFragment(name: statement.alias("c"))
    return Count(text: select("count(*)", from: ["\(some) AS \(alias)"], where: []), limit: limit)
  }

  private func storedCount(of relation: RelationStorage, _ scope: Scope) -> SQLFragment? {
    guard let count = relation.count else { return nil }
    var target = scope
    target.parent = scope.row
    var text = renderer.render(count, target)
    if relation.hidden != nil, !count.isColumn { text = "(\(text))" }
    text = less(text, relation.hidden, target)
    guard let visible = visibilityOfParent(scope) else { return "(\(text))" }
    return "CASE WHEN \(visible) THEN (\(text)) ELSE 0 END"
  }

  // MARK: - Pages

  private func page(
    _ field: CollectedField, _ storage: FieldStorage, _ relation: RelationStorage,
    _ order: OrderStorage, _ scope: Scope
  ) throws(GraphQLError) -> Page {
    // A default of the schema is not given: `last` alone pages backward all the same.
    let given = { (name: String) in
      scope.arguments.value(name) != nil
        && !scope.arguments.defaulted.contains(name)
    }
    if given("first"), given("last") {
      throw GraphQLError(
        "Give either \"first\" or \"last\", not both.",
        locations: [reader.source.location(of: field.field.position)], code: .badUserInput)
    }
    func cursor(_ name: String) -> Page.Cursor? {
      guard case .scalar(let source, _)? = scope.arguments.value(name) else { return nil }
      return Page.Cursor(source: source, place: scope.place(ofArgument: name))
    }
    let isBackward = given("last")
    let usual = relation.size.map { min($0, limits.maximumPageSize) } ?? limits.defaultSize
    let size = try pageSize(isBackward ? "last" : "first", field, storage, scope) ?? usual
    return Page(
      size: size, isBackward: isBackward, after: cursor("after"), before: cursor("before"),
      order: order, fingerprint: fingerprint(order, storage))
  }

  /// Returns the fingerprint of an order for its cursors: FNV-1a over the field and its sort keys.
  private func fingerprint(_ order: OrderStorage, _ storage: FieldStorage) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for byte in storage.definition.name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    for key in order.keys {
      for byte in key.expression.source.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
      hash = (hash ^ (key.isDescending ? 1 : 2)) &* 16_777_619
      if order.isChosen, key.nullsFirst == !key.isDescending { hash = (hash ^ 4) &* 16_777_619 }
      if key.textType != nil { hash = (hash ^ 8) &* 16_777_619 }
    }
    return hash
  }

  private func keyReference(_ cursor: Page.Cursor, _ index: Int, _ page: Page) -> SQLFragment {
    let key = statement.reference(
      .sortKey(cursor.source, index: index, order: page.fingerprint), of: cursor.place)
    return page.order.keys[index].textType.map { "(\(key)::text)::\(name: $0)" } ?? key
  }

  private func keyset(_ page: Page, _ scope: Scope) -> [SQLFragment] {
    var conditions: [SQLFragment] = []
    if let after = page.after {
      conditions.append(beyond(after, page, scope, reversed: false))
    }
    if let before = page.before {
      conditions.append(beyond(before, page, scope, reversed: true))
    }
    return conditions
  }

  /// Returns the condition for rows strictly after the cursor's in the order, or before it if
  /// reversed.
  private func beyond(
    _ cursor: Page.Cursor, _ page: Page, _ scope: Scope, reversed: Bool
  ) -> SQLFragment {
    let keys = page.order.keys.enumerated().map { index, key in
      (
        expression: renderer.render(key.expression, scope),
        value: keyReference(cursor, index, page), key: key,
        isDescending: key.isDescending != reversed, index: index
      )
    }
    let isUniform =
      keys.allSatisfy { $0.isDescending == keys[0].isDescending && $0.key.nullsFirst == nil }
    if isUniform {
      let comparison: SQLFragment = keys[0].isDescending ? "<" : ">"
      let expressions = keys.map(\.expression).joined(separator: ", ")
      let values = keys.map(\.value).joined(separator: ", ")
      return "(\(expressions)) \(comparison) (\(values))"
    }
    // k1 after c1 OR (k1 = c1 AND (k2 after c2 OR ...)), nulls at their end of the order.
    var text = SQLFragment()
    for key in keys.reversed() {
      let comparison: SQLFragment = key.isDescending ? "<" : ">"
      var after: SQLFragment = "\(key.expression) \(comparison) \(key.value)"
      var equal: SQLFragment = "\(key.expression) = \(key.value)"
      if let nullsFirst = key.key.nullsFirst {
        let isNull = statement.reference(
          .sortKeyIsNull(cursor.source, index: key.index, order: page.fingerprint),
          of: cursor.place)
        after.append(
          nullsFirst != reversed
            ? " OR (\(key.expression) IS NOT NULL AND \(isNull))"
            : " OR (\(key.expression) IS NULL AND NOT \(isNull))")
        equal = "(\(equal) OR (\(key.expression) IS NULL AND \(isNull)))"
      }
      text = text.isEmpty ? "(\(after))" : "(\(after) OR (\(equal) AND \(text)))"
    }
    return text
  }
}
