import GraphQLPlanning
import GraphQLSchema
import Postgres
import SQL

/// Reports orders of connections and lists that are not total: their sort keys, together with the
/// columns that their conditions fix, contain no unique key. Rows that are equal in such an order
/// appear twice or never when a client pages through them.
///
/// Unique indexes of tables determine that. For functions and sub-selects nothing is known: the
/// last key is then assumed to be unique.
struct OrderCheck {
  let mapping: StorageMapping
  let catalog: DatabaseCatalog

  func finding(for row: DescribedRow) -> StorageFinding? {
    let parts = row.row.coordinate.split(separator: ".").map(String.init)
    guard let order = row.row.order, !order.keys.isEmpty, parts.count == 2,
      let type = mapping.schema.typesByName[parts[0]],
      case .relation(let relation)? = mapping[type]?.fields[parts[1]]?.kind
    else { return nil }
    var fixed = FixedColumns(keys: order.keys.compactMap(\.expression.soleColumn))
    fixed.hold(relation.condition)
    if row.row.sources.contains("edge") { fixed.hold(relation.on) }
    let items = row.row.sources.filter { $0 == "this" || $0 == "edge" }
    // A key that one item determines can determine the next item.
    for _ in items {
      for item in items where isDetermined(item, row, fixed, order) { fixed.determine(item) }
    }
    guard let open = items.first(where: { !fixed.determined.contains($0) }),
      let source = row.source(open), let table = catalog.relations[source],
      // A missing column is a separate error.
      order.keys.allSatisfy({ key in
        guard let (word, name) = key.expression.soleColumn, word == open else { return true }
        return table.columns[name] != nil
      })
    else { return nil }
    let missing =
      table.uniqueKeys.min { $0.count < $1.count }?
      .filter { !fixed.columns.contains(FixedColumns.Column(open, $0)) }
    return StorageFinding(
      relation.isConnection ? .error : .warning, row.row.coordinate,
      "the order \"\(order.text)\" is not total: no unique key of \(table.name) is in it; "
        + (missing.map { keys in
          "end it with \(keys.map { "\(open).\(SQLQuoting.name($0))" }.joined(separator: ", "))."
        } ?? "make a unique index on \(table.name), and end it with its columns."))
  }

  private func isDetermined(
    _ item: String, _ row: DescribedRow, _ fixed: FixedColumns, _ order: OrderStorage
  ) -> Bool {
    guard let source = row.source(item), let table = catalog.relations[source], table.isTable
    else { return true }
    return table.uniqueKeys.contains { key in
      key.allSatisfy { fixed.columns.contains(FixedColumns.Column(item, $0)) }
    }
  }
}

extension OrderStorage {
  /// The order as text.
  var text: String {
    keys.map { key in
      key.expression.source + (key.isDescending ? " DESC" : "")
        + (key.nullsFirst.map { $0 ? " NULLS FIRST" : " NULLS LAST" } ?? "")
    }.joined(separator: ", ")
  }
}

/// The columns in which two rows that are equal in an order agree.
struct FixedColumns {
  struct Column: Hashable {
    let item: String
    let name: String

    init(_ item: String, _ name: String) {
      self.item = item
      self.name = name
    }
  }

  private(set) var columns: Set<Column>
  /// The FROM items of which all columns agree.
  private(set) var determined: Set<String> = []
  private var equal: [(Column, Column)] = []

  init(keys: [(word: String, name: String)]) {
    columns = Set(keys.map { Column($0.word, $0.name) })
  }

  /// Adds the equalities that a condition requires: `edge.owner_id = parent.id AND ...`.
  mutating func hold(_ condition: SQLTemplate?) {
    for (left, right) in condition?.equalities ?? [] {
      switch (Self.column(left), Self.column(right)) {
      case (let left?, let right?): equal.append((left, right))
      case (let column?, nil) where Self.isOutside(right): columns.insert(column)
      case (nil, let column?) where Self.isOutside(left): columns.insert(column)
      default: continue
      }
    }
    spread()
  }

  mutating func determine(_ item: String) {
    guard determined.insert(item).inserted else { return }
    for (left, right) in equal {
      if left.item == item { columns.insert(left) }
      if right.item == item { columns.insert(right) }
    }
    spread()
  }

  private mutating func spread() {
    for _ in equal {
      for (left, right) in equal where columns.contains(left) != columns.contains(right) {
        columns.formUnion([left, right])
      }
    }
  }

  private static func column(_ side: SQLTemplate) -> Column? {
    guard let (word, name) = side.soleColumn, word == "this" || word == "edge" else { return nil }
    return Column(word, name)
  }

  /// Returns whether an expression is the same for every row of the relation.
  private static func isOutside(_ side: SQLTemplate) -> Bool {
    !side.mentions(qualifier: "this") && !side.mentions(qualifier: "edge")
  }
}
