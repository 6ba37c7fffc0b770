import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

extension SelectionCompiler {
  /// The concrete types of a field whose rows are in one table.
  struct TypeGroup {
    let table: TableStorage?
    var types: [TypeID]
  }

  /// Groups types by table.
  ///
  /// - Parameter rows: the relation that is read in place of the types' own tables.
  func groups(of types: [TypeID], rows: SQLTemplate?) -> [TypeGroup] {
    var groups: [TypeGroup] = []
    for type in types {
      var table = mapping[type]?.table
      if let rows { table = TableStorage(name: rows, masked: nil, keys: table?.keys ?? ["id"]) }
      if let place = groups.firstIndex(where: { $0.table == table }) {
        groups[place].types.append(type)
      } else {
        groups.append(TypeGroup(table: table, types: [type]))
      }
    }
    return groups
  }

  /// Compiles a reference to another object as a scalar sub-select; nil if no row can be it.
  func reference(
    _ field: CollectedField, _ storage: FieldStorage, _ reference: ReferenceStorage, _ scope: Scope
  ) throws(GraphQLError) -> (SQLFragment, RecordShape)? {
    let type = storage.definition.type
    var types = schema.possibleTypes[Int(type.namedType.index)]
    var target = scope
    target.parent = scope.row
    target.row = nil
    // For an object with a list inside, such as changes(limit:).
    _ = try pageSize("limit", field, storage, scope)

    if let from = reference.from {
      let row = RowBuilder(alias: statement.alias())
      target.row = row
      let shape = try record(
        of: types, selectionSets: field.selectionSets, row: row, scope: childScope(row))
      target.row = row
      let item = aliased(from, alias: row.alias, target)
      var conditions = reference.condition.map { [renderer.render($0, target)] } ?? []
      // The joins are those of the object that is read.
      target.storage = types.first.flatMap { mapping[$0] }
      let filters = filters(of: storage, target)
      statement.recorder?.note(filters, of: row)
      conditions += filters.map(\.text)
      statement.recorder?.note(row, in: scope.row, scope, from: [item])
      return (select(row.rowExpression, from: [item] + row.joinClauses, where: conditions), shape)
    }

    var key: (KeyStorage, source: InputSource, place: InputPlace)?
    if let name = reference.id?.soleVariable?.first, reference.id?.soleVariable?.count == 1,
      case .scalar(let source, let value)? = scope.arguments.value(name)
    {
      // The ID determines the table, so its tag is part of the plan's key. What is no ID finds nothing.
      guard case .string(let text) = value else { return nil }
      let tag =
        mapping.hasKeyIDs(types) ? KeyID(text)?.tag : NodeID.decode(text).map { NodeID.tag(of: $0) }
      types = types.filter { mapping[$0]?.tag == tag }
      guard tag != nil, let type = types.first else { return nil }
      if let found = mapping[type]?.key {
        types = [type]
        key = (found, source, scope.place(ofArgument: name))
      }
    }
    let id = key == nil ? reference.id.map { renderer.render($0, target) } : nil
    if let id, let row = scope.row, !row.alias.isEmpty {
      statement.recorder?.note(.key(isNonNull: type.isNonNull), id, reference.id, in: row, scope)
    }
    let isMasked = type.isNonNull && !(readsEvents && scope.row?.alias.isEmpty ?? true)
    let groups = groups(of: types, rows: reference.rows)
    let conditions = { (target: Scope) in
      target.row?.condition = Self.rule(in: reference.condition)
      let filters = filters(of: storage, target)
      if let row = target.row { statement.recorder?.note(filters, of: row) }
      return (reference.condition.map { [behindRule($0, target)] } ?? [])
        + filters.map(\.text)
        + (key.map { key, source, place in equals(key, in: source, target.row, place) } ?? [])
    }
    if groups.count == 1, let group = groups.first {
      return try subselect(
        field.selectionSets, group, id: id, conditions, scope: target, isMasked: isMasked)
    }
    guard let id else { return nil }
    return try choice(
      field.selectionSets, groups, id: id, conditions, scope: target, isMasked: isMasked)
  }

  /// Returns that a row has the key in an ID.
  private func equals(
    _ key: KeyStorage, in source: InputSource, _ row: RowBuilder?, _ place: InputPlace
  ) -> [SQLFragment] {
    guard let row else { return [] }
    return key.columns.enumerated().map { index, column in
      let value = statement.reference(
        .keyValue(source, place: index, count: key.columns.count, as: column.type), of: place)
      return "\(name: row.alias).\(name: column.name) = \(value)"
    }
  }

  /// Returns a `CASE` over the tables that an ID can be in.
  ///
  /// - Parameter conditions: returns additional conditions in the scope of the row that is read.
  func choice(
    _ selectionSets: [SelectionSet], _ groups: [TypeGroup], id: SQLFragment,
    _ conditions: (Scope) -> [SQLFragment] = { _ in [] }, scope: Scope, isMasked: Bool
  ) throws(GraphQLError) -> (SQLFragment, RecordShape)? {
    var text: SQLFragment = "CASE"
    var shapes: [Int: ObjectShape] = [:]
    for group in groups {
      let tags = group.types.compactMap { mapping[$0]?.tag }
      guard !tags.isEmpty,
        let (subselect, shape) = try subselect(
          selectionSets, group, id: id, conditions, scope: scope, isMasked: isMasked,
          tagging: .id)
      else { continue }
      if case .byTag(_, let more) = shape { shapes.merge(more) { first, _ in first } }
      let test: SQLFragment =
        tags.count == 1
        ? "= \(tags[0])" : "IN (\(name: tags.map(String.init).joined(separator: ", ")))"
      text.append("\n  WHEN \(id) & 255 \(test) THEN \(subselect.indented)")
    }
    guard !shapes.isEmpty else { return nil }
    return ("\(text)\nEND", .byTag(column: 0, shapes))
  }

  /// The mark in a record that tells its type from others.
  enum Tagging {
    case none
    /// By the tag of the object's ID.
    case id
    /// By a number, which a column of the row around it has.
    case number(Int, column: SQLFragment)
  }

  func subselect(
    _ selectionSets: [SelectionSet], _ group: TypeGroup, id: SQLFragment?,
    _ conditions: (Scope) -> [SQLFragment],
    scope: Scope, isMasked: Bool, tagging: Tagging = .none
  ) throws(GraphQLError) -> (SQLFragment, RecordShape)? {
    guard let table = group.table else { return nil }
    let mask = isMasked ? table.masked : nil
    let row = RowBuilder(
      alias: statement.alias(),
      mask: mask == nil ? self.mask(of: group.types, rows: table.name) : table,
      rule: mask == nil ? table.rule : nil)
    var target = scope
    target.row = row
    target.storage = mapping[group.types[0]]
    let from = renderer.render(mask ?? table.name, target, isNoted: false)
    statement.live?.note(
      rows: table, mask ?? table.name, id: scope.elements.map { $0.ids } ?? id,
      in: scope.elements?.row ?? scope.row ?? scope.parent, where: [], each: row, target, renderer)
    var found: [SQLFragment] = []
    if let id { found.append("\(name: row.alias).\(name: table.key) = \(id)") }
    found += conditions(target)
    // Nothing says which row: there is none.
    if found.isEmpty { return nil }
    let shape: RecordShape
    var tail: [SQLFragment] = []
    switch tagging {
    case .none:
      shape = try record(
        of: group.types, selectionSets: selectionSets, row: row, scope: childScope(row))
    case .id:
      shape = try taggedRecord(
        of: group.types, selectionSets: selectionSets, row: row, scope: childScope(row))
    case .number(let number, let column):
      let place = row.column(column)
      let object = try object(
        of: group.types[0], selectionSets: selectionSets, row: row, scope: childScope(row))
      shape = .byTag(column: place, [number: object])
      // A key that the schema's owner names may have several rows.
      tail = ["LIMIT 1"]
    }
    statement.recorder?.note(
      row, in: scope.row ?? scope.parent, scope, from: ["\(from) AS \(name: row.alias)"])
    return (
      select(
        row.rowExpression, from: ["\(from) AS \(name: row.alias)"] + row.joinClauses, where: found,
        tail: tail),
      shape
    )
  }

  /// Returns the scope inside a row, which keeps only the row of the field that led to it.
  func childScope(_ row: RowBuilder) -> Scope {
    var scope = Scope()
    scope.row = row
    return scope
  }

  /// Returns a FROM item under an alias, unless it has its own alias with a list of columns.
  func aliased(
    _ from: SQLTemplate, alias: String, _ scope: Scope, isNoted: Bool = true
  ) -> SQLFragment {
    let item = renderer.render(from, scope, isNoted: isNoted)
    return from.namesItsRow ? item : "\(item) AS \(name: alias)"
  }
}
