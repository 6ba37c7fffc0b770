import Postgres

/// The fields of the query type: each table's rows, and one row by each unique key.
struct QueryFields {
  private var names: NamePool
  private var known: KnownNames
  private var ones: [String: String] = [:]
  private var many: [String: String] = [:]

  /// - Parameter known: the names of an earlier draft, by what the fields read.
  init(_ tables: [DraftedTable], names known: KnownNames) {
    self.known = known
    names = NamePool(reserved: known.all)
    for table in tables {
      guard let key = table.key else { continue }
      let field = lookup(named: "", by: key, in: table)
      let name = field.flatMap { self.known.take(FieldKey.of($0)) }
      ones[table.type] = name ?? names.take([Words(table.type).camel])
    }
    for table in tables {
      let words = Words(table.type)
      let rows = table.rows(where: nil)
      many[table.type] =
        self.known.take(FieldKey.other(type: rows.type, [rows.directive]))
        ?? names.take([words.plural.camel, words.camel + "List"])
    }
  }

  /// Returns a name for the field with the row of any table by its ID.
  mutating func takeNode() -> String {
    known.first { $0.hasSuffix(DraftedNode.reference) }
      ?? names.take(["node", "nodeById"])
  }

  mutating func fields(of table: DraftedTable) -> [DraftedMember] {
    var fields: [DraftedMember] = []
    if let one = ones[table.type], let key = table.key {
      if let field = lookup(named: one, by: key, in: table) { fields.append(field) }
      var others = [Set(key.map(\.number))]
      for other in table.relation.keys where !others.contains(Set(other.columns)) {
        others.append(Set(other.columns))
        let columns = other.columns.compactMap { table.relation.column($0) }
        let by = columns.map { Words($0.name).pascal }.joined(separator: "And")
        guard let field = lookup(named: "", by: columns, in: table) else { continue }
        let name = known.take(FieldKey.of(field)) ?? names.take(["\(one)By\(by)"])
        fields.append(field.named(name))
      }
    }
    if let name = many[table.type] {
      let rows = table.rows(where: nil)
      fields.append(
        DraftedMember(
          name: name, arguments: rows.arguments, type: rows.type, directives: [rows.directive]))
    }
    return fields
  }

  /// Returns a field with the row that has these values; nil if a column's values cannot be
  /// arguments.
  private func lookup(
    named name: String, by columns: [DraftCatalog.Column], in table: DraftedTable
  ) -> DraftedMember? {
    var arguments: [String] = []
    var conditions: [String] = []
    for column in columns {
      guard let form = table.form(of: column), form.isArgument,
        let field = table.columnFields[column.number]
      else { return nil }
      let argument =
        Self.meaningful.contains(field) || field.hasPrefix("key") ? field + "Value" : field
      arguments.append("\(argument): \(form.type)!")
      conditions.append(
        "this.\(column.sqlName) = :\(argument)\(form.narrowType.map { "::\($0)" } ?? "")")
    }
    return DraftedMember(
      name: name, arguments: arguments, type: table.type,
      directives: [
        DraftedDirective.text("reference", [("where", conditions.joined(separator: " AND "))])
      ])
  }

  /// The names that have a meaning of their own in templates, or as arguments.
  private static let meaningful: Set<String> = [
    "viewer", "claim", "role", "locale", "app", "sessionHash", "value", "in", "tag", "event",
    "told", "ended",
    "field", "count", "totalCount", "limit", "arguments", "secret", "secretHash", "result",
    "first", "last", "after", "before",
  ]
}

extension DraftCatalog {
  /// Returns whether values of the type are times.
  func isTime(_ type: PostgresType) -> Bool {
    ["timestamptz", "timestamp", "date"].contains(types[type]?.name ?? "")
      && types[type]?.namespace == "pg_catalog"
  }
}
