/// Adds the fields that lead from table to table: references by foreign keys, the rows that refer
/// to a row, and the rows on the other side of a table that only connects two.
struct Relationships {
  private let catalog: DraftCatalog
  private(set) var tables: [UInt32: DraftedTable]
  private let history: NameHistory

  /// A foreign key with the name of its field, without what it leads to.
  private struct Link {
    let child: UInt32
    let key: DraftCatalog.ForeignKey
    /// The words that tell it from others to the same table: `billingAddress`.
    let words: Words
    /// Whether a row of the target has at most one row that refers to it.
    let isUnique: Bool
  }

  init(_ catalog: DraftCatalog, _ tables: [UInt32: DraftedTable], _ history: NameHistory) {
    self.catalog = catalog
    self.history = history
    self.tables = tables
  }

  mutating func addAll() {
    let order = catalog.order.filter { tables[$0] != nil }
    for oid in order { addReferences(of: oid) }
    let links = order.flatMap { self.links(of: $0) }
    let byTarget = Dictionary(grouping: links) { $0.key.target }
    for oid in order { addBackward(byTarget[oid] ?? [], to: oid) }
    for oid in order { addManyToMany(over: oid) }
  }

  // MARK: - References

  private mutating func addReferences(of oid: UInt32) {
    guard var table = tables[oid] else { return }
    let relation = table.relation
    let foreignKeys = relation.foreignKeys.filter { tables[$0.target] != nil }
    for key in foreignKeys.filter({ $0.columns.count == 1 })
      + foreignKeys.filter({ $0.columns.count > 1 })
    {
      guard let target = tables[key.target] else { continue }
      let columns = key.columns.compactMap { relation.column($0) }
      guard columns.count == key.columns.count, let last = columns.last else { continue }
      let isOnly = foreignKeys.count { $0.target == key.target } == 1 && key.target != oid
      var candidates: [String] = []
      if columns.count == 1, let words = last.referenceWords { candidates.append(words.camel) }
      let typeWords = Words(target.type)
      if isOnly { candidates.append(typeWords.camel) }
      let by = columns.map { Words($0.name).pascal }.joined(separator: "And")
      candidates.append(typeWords.camel + "By" + by)
      let isNonNull =
        key.isValidated && !target.relation.hasRowSecurity
        && !history.isRuled(target.relation.sqlName) && columns.allSatisfy(\.isNotNull)
      let field = table.named(
        candidates, type: target.type + (isNonNull ? "!" : ""), reference(columns, key, target))
      table.add(field, behind: last.number)
      table.add(
        DraftedTable.Link(
          field: field.name, table: key.target, key: key, isOwn: true, isList: false))
    }
    tables[oid] = table
  }

  private func reference(
    _ columns: [DraftCatalog.Column], _ key: DraftCatalog.ForeignKey, _ target: DraftedTable
  ) -> String {
    if columns.count == 1, let column = columns.first, let own = target.key, own.count == 1,
      own.first?.number == key.targetColumns.first
    {
      return DraftedDirective.text("reference", [("column", column.sqlName)])
    }
    let pairs = zip(key.targetColumns.compactMap { target.relation.column($0) }, columns)
    return DraftedDirective.text(
      "reference",
      [("where", Self.equal(pairs.map { ("this.\($0.sqlName)", "parent.\($1.sqlName)") }))])
  }

  private static func equal(_ pairs: [(String, String)]) -> String {
    pairs.map { "\($0) = \($1)" }.joined(separator: " AND ")
  }

  // MARK: - Backward

  private func links(of oid: UInt32) -> [Link] {
    guard let table = tables[oid] else { return [] }
    return table.relation.foreignKeys.filter { tables[$0.target] != nil }.map { key in
      let isUnique = table.relation.keys.contains { Set($0.columns).isSubset(of: key.columns) }
      return Link(
        child: oid, key: key, words: table.relation.words(of: key), isUnique: isUnique)
    }
  }

  private mutating func addBackward(_ links: [Link], to oid: UInt32) {
    guard var table = tables[oid] else { return }
    for link in links {
      guard let child = link.child == oid ? table : tables[link.child] else { continue }
      let isOnly = links.count { $0.child == link.child } == 1 && link.child != oid
      let words = Words(child.type)
      let short = link.isUnique ? words.camel : words.plural.camel
      let candidates = (isOnly ? [short] : []) + [short + "By" + link.words.pascal]
      let pairs = zip(link.key.columns, link.key.targetColumns).compactMap { own, target in
        child.relation.column(own).flatMap { column in
          table.relation.column(target).map { ("this.\(column.sqlName)", "parent.\($0.sqlName)") }
        }
      }
      let condition = Self.equal(pairs)
      let field: DraftedMember
      if link.isUnique {
        let directive = DraftedDirective.text("reference", [("where", condition)])
        field = table.named(candidates, type: child.type, directive)
      } else {
        let rows = child.rows(where: condition)
        field = table.named(
          candidates, type: rows.type, arguments: rows.arguments, rows.directive)
      }
      table.add(field)
      table.add(
        DraftedTable.Link(
          field: field.name, table: link.child, key: link.key, isOwn: false, isList: !link.isUnique
        ))
    }
    tables[oid] = table
  }

  // MARK: - Many to many

  /// Adds the fields over a table whose key is two foreign keys and that has nothing else but times.
  private mutating func addManyToMany(over oid: UInt32) {
    guard let join = tables[oid],
      join.relation.kind == .table || join.relation.kind == .partitionedTable
    else { return }
    let keys = join.relation.foreignKeys.filter { tables[$0.target]?.key != nil }
    guard join.relation.foreignKeys.count == 2, keys.count == 2, let first = keys.first,
      let second = keys.last, Set(first.columns).isDisjoint(with: second.columns),
      join.relation.keys.contains(where: { Set($0.columns) == Set(first.columns + second.columns) }
      ),
      join.relation.columns.allSatisfy({ column in
        first.columns.contains(column.number) || second.columns.contains(column.number)
          || catalog.isTime(column.type)
      })
    else { return }
    add(from: first, over: join, to: second)
    add(from: second, over: join, to: first)
  }

  private mutating func add(
    from: DraftCatalog.ForeignKey, over join: DraftedTable, to: DraftCatalog.ForeignKey
  ) {
    guard var source = tables[from.target], let target = tables[to.target] else { return }
    func pairs(_ key: DraftCatalog.ForeignKey, _ table: DraftedTable) -> [(
      edge: String, own: String
    )] {
      zip(key.columns, key.targetColumns).compactMap { column, own in
        join.relation.column(column).flatMap { column in
          table.relation.column(own).map { (column.sqlName, $0.sqlName) }
        }
      }
    }
    let role = to.columns.compactMap { join.relation.column($0) }.last
      .map { $0.referenceWords ?? Words($0.name) }
    let plural = Words(target.type).plural.camel
    // Between rows of one table only the roles tell the directions apart.
    let short = from.target == to.target ? role?.plural.camel ?? plural : plural
    let on = Self.equal(pairs(to, target).map { ("this.\($0.own)", "edge.\($0.edge)") })
    let condition = Self.equal(pairs(from, source).map { ("edge.\($0.edge)", "parent.\($0.own)") })
    let directive = DraftedDirective.text(
      "connection",
      [
        ("from", join.relation.sqlName), ("on", on), ("where", condition),
        ("orderBy", target.writtenOrder),
      ])
    source.add(
      source.named(
        [short, short + "By" + join.type], type: "\(target.type)Connection!",
        arguments: target.rowArguments, directive))
    tables[from.target] = source
  }
}

extension DraftCatalog.Relation {
  /// Returns the words of a foreign key's columns without `id` and the like: `billing address`.
  func words(of key: DraftCatalog.ForeignKey) -> Words {
    let words = key.columns.compactMap { column($0) }.map { $0.referenceWords ?? Words($0.name) }
    return Words(
      words.enumerated().flatMap { place, words in (place > 0 ? ["and"] : []) + words.words })
  }
}

extension DraftedTable {
  /// Returns the parts of a field with rows of the table: pages of them, or without a key a bounded
  /// list.
  ///
  /// - Parameter condition: nil for all rows.
  func rows(
    where condition: String?
  ) -> (type: String, arguments: [String], directive: String) {
    guard order != nil else {
      return (
        "[\(type)!]!", rowArguments + ["limit: Int! = 100"],
        DraftedDirective.text("list", [("where", condition)])
      )
    }
    return (
      "\(type)Connection!", rowArguments,
      DraftedDirective.text("connection", [("where", condition), ("orderBy", writtenOrder)])
    )
  }
}
