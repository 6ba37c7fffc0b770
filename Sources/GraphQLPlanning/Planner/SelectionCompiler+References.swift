import GraphQLLanguage
import GraphQLSchema
import SQL

extension SelectionCompiler {
  /// The concrete types of a field, by the table their rows are in.
  struct TypeGroup {
    let table: TableStorage?
    var types: [TypeID]
  }

  /// - Parameter rows: what is read in place of the types' own table.
  func groups(of types: [TypeID], rows: SQLTemplate?) -> [TypeGroup] {
    var groups: [TypeGroup] = []
    for type in types {
      var table = mapping[type]?.table
      if let rows { table = TableStorage(name: rows, masked: nil, key: table?.key ?? "id") }
      if let place = groups.firstIndex(where: { $0.table == table }) {
        groups[place].types.append(type)
      } else {
        groups.append(TypeGroup(table: table, types: [type]))
      }
    }
    return groups
  }

  /// One other object as a scalar sub-select, or nil when no row can be it.
  func reference(
    _ field: CollectedField, _ storage: FieldStorage, _ reference: ReferenceStorage, _ scope: Scope
  ) throws(GraphQLError) -> (String, RecordShape)? {
    let type = storage.definition.type
    var types = schema.possibleTypes[Int(type.namedType.index)]
    var target = scope
    target.parent = scope.row
    target.row = nil
    // Of an object that holds a list, such as changes(first:).
    _ = try pageSize("first", field, storage, scope)

    if let from = reference.from {
      let row = RowBuilder(alias: statement.alias())
      target.row = row
      let shape = try record(
        of: types, selectionSets: field.selectionSets, row: row, scope: childScope(row))
      target.row = row
      let item = aliased(from, word: "this", alias: row.alias, target)
      let conditions = reference.condition.map { [renderer.render($0, target)] } ?? []
      return (select(row.rowExpression, from: [item] + row.joinClauses, where: conditions), shape)
    }

    if let name = reference.id?.soleVariable?.first, reference.id?.soleVariable?.count == 1,
      case .scalar(_, let value)? = scope.arguments.value(name)
    {
      // The id at hand says which table to read: its tag is part of the plan's key.
      let tag = NodeID.tag(of: try nodeID(value, field.field))
      types = types.filter { mapping[$0]?.tag == tag }
      if types.isEmpty { return nil }
    }
    let id = reference.id.map { renderer.render($0, target) }
    let groups = groups(of: types, rows: reference.rows)
    let conditions = { (target: Scope) in
      (reference.condition.map { [renderer.render($0, target)] } ?? [])
        + filters(of: storage, target).map(\.text)
    }
    if groups.count == 1, let group = groups.first {
      return try subselect(
        field, group, id: id, conditions, scope: target, isMasked: type.isNonNull, isTagged: false)
    }
    guard let id else { return nil }
    return try choice(field, groups, id: id, conditions, scope: target, isMasked: type.isNonNull)
  }

  /// `CASE` over the tables an id can be in.
  ///
  /// - Parameter conditions: what must hold besides, in the scope of the row that is read.
  func choice(
    _ field: CollectedField, _ groups: [TypeGroup], id: String,
    _ conditions: (Scope) -> [String] = { _ in [] }, scope: Scope, isMasked: Bool
  ) throws(GraphQLError) -> (String, RecordShape)? {
    var text = "CASE"
    var shapes: [Int: ObjectShape] = [:]
    for group in groups {
      let tags = group.types.compactMap { mapping[$0]?.tag }
      guard !tags.isEmpty,
        let (subselect, shape) = try subselect(
          field, group, id: id, conditions, scope: scope, isMasked: isMasked, isTagged: true)
      else { continue }
      if case .byTag(_, let more) = shape { shapes.merge(more) { first, _ in first } }
      let test =
        tags.count == 1
        ? "= \(tags[0])" : "IN (\(tags.map(String.init).joined(separator: ", ")))"
      text += "\n  WHEN \(id) & 255 \(test) THEN \(indented(subselect))"
    }
    guard !shapes.isEmpty else { return nil }
    return (text + "\nEND", .byTag(column: 0, shapes))
  }

  private func subselect(
    _ field: CollectedField, _ group: TypeGroup, id: String?, _ conditions: (Scope) -> [String],
    scope: Scope, isMasked: Bool, isTagged: Bool
  ) throws(GraphQLError) -> (String, RecordShape)? {
    guard let table = group.table else { return nil }
    let mask = isMasked ? table.masked : nil
    let row = RowBuilder(
      alias: statement.alias(),
      mask: mask == nil ? self.mask(of: group.types, rows: table.name) : table)
    var target = scope
    target.row = row
    target.storage = mapping[group.types[0]]
    let from = renderer.render(mask ?? table.name, target)
    let found = (id.map { ["\(row.alias).\(table.key) = \($0)"] } ?? []) + conditions(target)
    // Nothing says which row: there is none.
    if found.isEmpty { return nil }
    let shape =
      isTagged
      ? try taggedRecord(
        of: group.types, selectionSets: field.selectionSets, row: row, scope: childScope(row))
      : try record(
        of: group.types, selectionSets: field.selectionSets, row: row, scope: childScope(row))
    return (
      select(
        row.rowExpression, from: ["\(from) AS \(row.alias)"] + row.joinClauses, where: found),
      shape
    )
  }

  /// The scope inside a row: nothing of the field that led to it but its row.
  func childScope(_ row: RowBuilder) -> Scope {
    var scope = Scope()
    scope.row = row
    return scope
  }

  /// A from-item under an alias; text that already says `AS this(...)` or `AS edge(...)` keeps its
  /// column list.
  func aliased(_ from: SQLTemplate, word: String, alias: String, _ scope: Scope) -> String {
    let text = renderer.render(from, scope)
    let source = from.source
    return source.contains("AS this") || source.contains("AS edge") ? text : "\(text) AS \(alias)"
  }

  func nodeID(_ value: InputValue, _ field: Field) throws(GraphQLError) -> Int64 {
    guard case .string(let text) = value, let id = NodeID.decode(text) else {
      let shown = if case .string(let text) = value { text } else { "\(value)" }
      throw GraphQLError(
        "\"\(shown.prefix(40))\" is not an id.",
        locations: [reader.source.location(of: field.position)], code: "BAD_USER_INPUT")
    }
    return id
  }
}
