import SQL

/// The fields of the mutation type: insert, update and delete of each table that has a key and that
/// the role may write.
struct WriteFields {
  private struct Types {
    let input: String
    let changes: String
    let key: String
    let payload: String
    /// The inputs of rows inside of those that they refer to, by the names of their foreign keys; empty
    /// without rows inside.
    let inside: [String: String]
  }

  private var types: [UInt32: Types] = [:]
  private var names: NamePool
  private var known: KnownNames
  private(set) var isEmpty = true
  private var isNested = false
  /// Whether clients without a session or a signed token may write.
  private let isForAnonymous: Bool

  /// - Parameters:
  ///   - known: the names of an earlier draft, by what the fields do.
  ///   - isForAnonymous: whether clients without a session or a signed token may write.
  init(names known: KnownNames, isForAnonymous: Bool) {
    self.known = known
    self.isForAnonymous = isForAnonymous
    names = NamePool(reserved: known.all)
  }

  /// Chooses the names of the types that tables need for writing.
  ///
  /// - Parameter nested: whether rows are inserted inside of others.
  mutating func reserve(
    _ tables: [(UInt32, DraftCatalog.Relation)], _ history: NameHistory, nested: Bool,
    _ names: inout TypeNames
  ) {
    isNested = nested
    for (oid, relation) in tables {
      guard let type = names[oid] else { continue }
      var inside: [String: String] = [:]
      for key in nested ? relation.foreignKeys : [] where names[key.target] != nil {
        let name = "\(type)Of\(relation.words(of: key).pascal)"
        inside[key.name] = names.pool.take([name + "Input", name + "RowInput"])
      }
      func name(_ kind: NameHistory.MadeType, _ ending: String) -> String {
        history.made(kind, for: type)
          ?? names.pool.take([type + ending, type + "Row" + ending])
      }
      types[oid] = Types(
        input: name(.input, "Input"), changes: name(.changes, "Changes"), key: name(.key, "Key"),
        payload: name(.payload, "Payload"), inside: inside)
    }
  }

  /// Returns the inputs, the payload and the fields of a table; none if it has no key or may not be
  /// written.
  ///
  /// - Parameter tables: all tables.
  mutating func definitions(
    of table: DraftedTable, _ oid: UInt32, _ tables: [UInt32: DraftedTable]
  ) -> [DraftedDefinition] {
    guard let types = types[oid], let key = table.key, let order = table.order,
      Self.kinds.contains(table.relation.kind)
    else { return [] }
    var result: [DraftedDefinition] = []
    var fields: [DraftedMember] = []
    let plural = Words(table.type).plural.pascal
    let inserted = table.written { $0.isInsertable }
    if Self.isInsertable(table) {
      result.append(
        DraftedDefinition(
          keyword: "input", name: types.input, members: members(of: table, inside: nil, tables)))
      for key in table.relation.foreignKeys {
        guard let name = types.inside[key.name], isInside(table, key, tables) else { continue }
        let members = members(of: table, inside: key, tables)
        if members.isEmpty { continue }
        result.append(DraftedDefinition(keyword: "input", name: name, members: members))
      }
      var arguments = ["input: [\(types.input)!]!"]
      if let keys = keys(of: table, inserted, named: types.key) {
        result.append(keys)
        arguments.append("updateOnConflict: \(types.key)")
      }
      fields.append(
        field(
          "insert" + plural, arguments, types.payload,
          DraftedDirective.text("insert", [("into", table.type)])))
    }
    let filter = table.rowArguments.first.map { $0 + "!" }
    let updated = table.written { $0.isUpdatable }
    if !updated.isEmpty, let filter {
      result.append(
        DraftedDefinition(
          keyword: "input", name: types.changes,
          members: updated.map { $0.member(isRequired: false) }
        ))
      fields.append(
        field(
          "update" + plural, [filter, "set: \(types.changes)!", "atMost: Int! = 1"], types.payload,
          DraftedDirective.text("update", [("of", table.type)])))
    }
    if table.relation.isDeletable, let filter {
      fields.append(
        field(
          "delete" + plural, [filter, "atMost: Int! = 1"], types.payload,
          DraftedDirective.text("delete", [("of", table.type)])))
    }
    guard !fields.isEmpty else { return [] }
    result.append(payload(of: table, key, order, named: types.payload))
    isEmpty = false
    result.append(DraftedDefinition(keyword: "extend type", name: "Mutation", members: fields))
    return result
  }

  // MARK: - Inserts

  private static let kinds: [DraftCatalog.Relation.Kind] = [.table, .partitionedTable]

  /// Returns whether rows of a table can be inserted: each column has a value, given or by default.
  private static func isInsertable(_ table: DraftedTable) -> Bool {
    let inserted = Set(table.written { $0.isInsertable }.map(\.column.number))
    return table.key != nil && kinds.contains(table.relation.kind) && !inserted.isEmpty
      && table.relation.columns.allSatisfy { column in
        !column.isNotNull || column.hasDefault || inserted.contains(column.number)
      }
  }

  /// Returns whether rows of a table can be inserted inside of the row that a foreign key refers to.
  private func isInside(
    _ table: DraftedTable, _ key: DraftCatalog.ForeignKey, _ tables: [UInt32: DraftedTable]
  ) -> Bool {
    guard let target = tables[key.target], Self.isInsertable(table), Self.isInsertable(target)
    else { return false }
    return key.columns.allSatisfy { number in
      table.relation.column(number)?.isInsertable ?? false
    }
  }

  /// Returns the members of an input: the columns, and the rows that are inserted with the row.
  ///
  /// - Parameter key: the foreign key to the row around it, whose columns have their values from there.
  private func members(
    of table: DraftedTable, inside key: DraftCatalog.ForeignKey?, _ tables: [UInt32: DraftedTable]
  ) -> [DraftedMember] {
    var rows: [DraftedMember] = []
    // The columns that have their values from another row: each from one.
    var given = Set(key?.columns ?? [])
    for link in table.links {
      guard !link.isOwn || given.isDisjoint(with: link.key.columns),
        let other = tables[link.table],
        let types = types[link.table],
        let member = link.isOwn
          ? own(link, of: table, other, types, tables)
          : inner(link, of: table, other, types, tables)
      else { continue }
      if link.isOwn { given.formUnion(link.key.columns) }
      rows.append(member)
    }
    let columns = table.written { $0.isInsertable && key?.columns.contains($0.number) != true }
    return columns.map { member in
      member.member(
        isRequired: member.column.isNotNull && !member.column.hasDefault
          && !given.contains(member.column.number))
    } + rows
  }

  /// Returns a member for the row that a foreign key of the table refers to.
  private func own(
    _ link: DraftedTable.Link, of table: DraftedTable, _ other: DraftedTable, _ types: Types,
    _ tables: [UInt32: DraftedTable]
  ) -> DraftedMember? {
    guard isNested, isInside(table, link.key, tables) else { return nil }
    let names = link.key.columns.compactMap { table.columnFields[$0] }.joined(separator: "`, `")
    let set = pairs(link.key, of: table, other).map { "parent.\($0) = this.\($1)" }
    return DraftedMember(
      name: link.field, description: "Instead of `\(names)`: a row that is inserted, too.",
      type: types.input, directives: [insert(into: other, set)])
  }

  /// Returns a member for the rows of another table that refer to the row.
  private func inner(
    _ link: DraftedTable.Link, of table: DraftedTable, _ other: DraftedTable, _ types: Types,
    _ tables: [UInt32: DraftedTable]
  ) -> DraftedMember? {
    guard let input = types.inside[link.key.name], isInside(other, link.key, tables),
      other.written(where: { $0.isInsertable && !link.key.columns.contains($0.number) }).count > 0
    else { return nil }
    let set = pairs(link.key, of: other, table).map { "this.\($0) = parent.\($1)" }
    return DraftedMember(
      name: link.field, type: link.isList ? "[\(input)!]" : input,
      directives: [insert(into: other, set)])
  }

  private func insert(into table: DraftedTable, _ set: [String]) -> String {
    DraftedDirective.text(
      "insert", [("into", table.type), ("set", set.joined(separator: " AND "))])
  }

  /// Returns the columns of a foreign key, and those that they refer to.
  private func pairs(
    _ key: DraftCatalog.ForeignKey, of table: DraftedTable, _ target: DraftedTable
  ) -> [(String, String)] {
    zip(key.columns, key.targetColumns).compactMap { column, other in
      guard let column = table.relation.column(column), let other = target.relation.column(other)
      else { return nil }
      return (column.sqlName, other.sqlName)
    }
  }

  // MARK: - Fields

  /// The argument by which clients without a session or a signed token are refused.
  static let closed = ", anonymous: false"

  private mutating func field(
    _ name: String, _ arguments: [String], _ payload: String, _ directive: String
  ) -> DraftedMember {
    let key = FieldKey.other(type: payload, [directive])
    return DraftedMember(
      name: known.take(key) ?? names.take([name, name + "Rows"]), arguments: arguments,
      type: payload + "!",
      directives: [
        isForAnonymous ? directive : directive.dropLast() + "\(Self.closed))"
      ])
  }

  /// Returns the unique keys whose columns are all given, as values of an enum; nil without one.
  private func keys(
    of table: DraftedTable, _ inserted: [DraftedTable.WrittenColumn], named name: String
  ) -> DraftedDefinition? {
    var values = NamePool(reserved: [])
    var members: [DraftedMember] = []
    var seen: Set<Set<Int>> = []
    // PostgreSQL finds no conflict by a key that is checked at the end of the transaction.
    for key in table.relation.keys
    where key.isImmediate && seen.insert(Set(key.columns)).inserted {
      let columns = key.columns.compactMap { number in
        inserted.first { $0.column.number == number && $0.column.isUpdatable }?.column
      }
      guard columns.count == key.columns.count else { continue }
      let words = columns.map { Words($0.name).words.joined(separator: "_").uppercased() }
      let name = words.joined(separator: "_AND_")
      let list = columns.map(\.sqlName).joined(separator: ", ")
      members.append(
        DraftedMember(
          name: values.take([Words.isName(name) ? name : "KEY_" + name]),
          directives: [DraftedDirective.text("value", [("sql", SQLQuoting.literal(list))])]))
    }
    guard !members.isEmpty, inserted.contains(where: { $0.column.isUpdatable }) else { return nil }
    return DraftedDefinition(
      keyword: "enum", name: name, description: "A unique key, by its columns.", members: members)
  }

  private func payload(
    of table: DraftedTable, _ key: [DraftCatalog.Column], _ order: String, named name: String
  ) -> DraftedDefinition {
    let on = key.map { "this.\($0.sqlName) = edge.\($0.sqlName)" }.joined(separator: " AND ")
    let rows = "jsonb_populate_recordset(NULL::\(table.relation.rowType), (:result.rows)::jsonb)"
    return DraftedDefinition(
      keyword: "type", name: name,
      members: [
        DraftedMember(
          name: "rows",
          description:
            "The rows that were written, or that are gone, as they were; in the order of their key.",
          type: "[\(table.type)!]!",
          directives: [
            DraftedDirective.text("list", [("from", rows), ("on", on), ("orderBy", order)])
          ])
      ] + Self.outcome)
  }

  private static let outcome = [
    DraftedMember(
      name: "count", description: "The number of rows; null if the mutation was refused.",
      type: "Int",
      directives: [DraftedDirective.text("result", [("key", "count")])]),
    DraftedMember(
      name: "userErrors", description: "Why nothing was written; empty if it was.",
      type: "[WriteError!]!", directives: ["@userErrors"]),
  ]

  /// The definitions that all tables share.
  static let common = [
    DraftedDefinition(keyword: "type", name: "Mutation"),
    DraftedDefinition(
      keyword: "directive", name: "@transaction on MUTATION",
      description: "Executes all fields as one transaction: if one is refused, nothing is written."),
    DraftedDefinition(
      keyword: "type", name: "WriteError", description: "Why a mutation was refused.",
      members: [
        DraftedMember(name: "code", type: "WriteErrorCode!"),
        DraftedMember(name: "message", type: "String!"),
        DraftedMember(
          name: "path", description: "The argument, or the member of one, that is the reason.",
          type: "[String!]"),
        DraftedMember(
          name: "constraint", description: "The name of the constraint that is broken, if one is.",
          type: "String"),
      ]),
    DraftedDefinition(
      keyword: "enum", name: "WriteErrorCode",
      members: [
        ("NOT_UNIQUE", "Another row has these values, and they must be unique."),
        ("NOT_FOUND", "The row that this refers to does not exist."),
        ("STILL_REFERENCED", "Other rows refer to a row that would be gone."),
        ("REQUIRED", "A value is needed."),
        ("INVALID", "A rule of the table does not allow these values."),
        ("CONFLICT", "The values conflict with those of another row."),
        ("TOO_MANY", "The filter finds more rows than may be written at once."),
        ("NOT_PERMITTED", "You may not write such a row."),
        ("REFUSED", "A function or trigger of the database refused this."),
        ("ROLLED_BACK", "Another field of the transaction failed or was refused."),
      ].map { DraftedMember(name: $0.0, description: $0.1) }),
  ]
}
