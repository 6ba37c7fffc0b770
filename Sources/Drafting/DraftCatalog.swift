import Postgres
import SQL

/// The relations to draft, as PostgreSQL's catalogs describe them. They are tables and views with
/// their columns, keys and foreign keys, as far as a role may read them.
///
/// The catalog is read in one round trip. Nothing is changed, and the role needs only USAGE and SELECT.
package struct DraftCatalog: Sendable {
  package struct Relation: Sendable {
    package enum Kind: String, Sendable {
      case table = "r"
      case partitionedTable = "p"
      case view = "v"
      case materializedView = "m"
      case foreignTable = "f"
    }

    let namespace: String
    /// The name in the catalog, or the one that clients know.
    fileprivate(set) var name: String
    /// The name as statements write it: `film`, `sales."Order"`. A `ChangedName` after a renaming.
    fileprivate(set) var sqlName: String
    /// The type of its rows as casts write it: that of a table `date` is not `date`.
    let rowType: String
    let kind: Kind
    let comment: String?
    let hasRowSecurity: Bool
    /// Whether it can be read: a materialized view has no rows before its first REFRESH.
    let isPopulated: Bool
    /// Whether the role may delete rows, and update one of their columns, which locks need.
    let isDeletable: Bool
    var columns: [Column] = []
    /// The unique keys on all rows, by columns; the primary key first.
    var keys: [Key] = []
    var foreignKeys: [ForeignKey] = []

    func column(_ number: Int) -> Column? { columns.first { $0.number == number } }
  }

  package struct Column: Sendable {
    let number: Int
    /// The name in the catalog, or the one that clients know.
    fileprivate(set) var name: String
    /// The name as statements write it. A `ChangedName` after a renaming.
    fileprivate(set) var sqlName: String
    let type: PostgresType
    let dimensions: Int
    let isNotNull: Bool
    let comment: String?
    /// Whether a new row has a value if none is given: a default or, perhaps, that of a trigger
    /// before the insert.
    let hasDefault: Bool
    /// Whether the role may give a value to a new row, and to one that is there.
    let isInsertable: Bool
    let isUpdatable: Bool
    /// Whether PostgreSQL may refuse patterns for it, as its collation is not deterministic.
    let hasLooseCollation: Bool
  }

  package struct Key: Sendable {
    let isPrimary: Bool
    let columns: [Int]
    /// Whether rows with nulls can be equal in it.
    let areNullsDistinct: Bool
    /// Whether it is checked for each row; false for a key that is DEFERRABLE.
    let isImmediate: Bool
  }

  package struct ForeignKey: Sendable {
    let name: String
    let columns: [Int]
    let target: UInt32
    let targetColumns: [Int]
    let isValidated: Bool
  }

  package struct TypeEntry: Sendable {
    package enum Kind: String, Sendable {
      case base = "b"
      case composite = "c"
      case domain = "d"
      case `enum` = "e"
      case pseudo = "p"
      case range = "r"
      case multirange = "m"
    }

    let name: String
    let namespace: String
    /// The name as casts write it: `uuid`, `inventory."Size"`.
    let sqlName: String
    let kind: Kind
    let base: PostgresType?
    let element: PostgresType?
    let comment: String?
    /// Whether values are in the order of an operator `<` that the search path finds. Those of enums
    /// and ranges are PostgreSQL's own.
    let isSorted: Bool
    /// Whether its values have a binary form, which cursors have.
    let isSent: Bool
  }

  package private(set) var relations: [UInt32: Relation] = [:]
  /// The relations in the order of their namespaces and names.
  package private(set) var order: [UInt32] = []
  private(set) var types: [PostgresType: TypeEntry] = [:]
  private(set) var labels: [PostgresType: [String]] = [:]
  /// The namespaces with tables that were not asked for.
  package private(set) var otherNamespaces: [String] = []
  /// The identity of the database: that of its cluster, and its number there; empty if it is not known.
  private(set) var database = ""

  // MARK: - Reading

  /// Reads the relations of namespaces.
  ///
  /// - Parameters:
  ///   - namespaces: the namespaces, in the order in which they give away short names.
  ///   - selection: the relations to draft, by name.
  ///   - role: the role that will read them; nil for that of the session.
  package static func read(
    _ session: PostgresSession, namespaces: [String], selection: TableSelection, role: String?
  ) throws(PostgresError) -> DraftCatalog {
    let queries = CatalogQueries(namespaces: namespaces, role: role)
    let answers = try session.pipeline(queries.all.map { .execute($0) })
    var tables: [[[String?]]] = []
    for (place, answer) in answers.enumerated() {
      // A role may be forbidden to know the cluster. Then no renaming is followed.
      let isOptional = place == answers.count - 1
      tables.append(isOptional ? (try? answer.get().rows) ?? [] : try answer.get().rows)
    }
    var catalog = DraftCatalog()
    guard tables.count == queries.all.count else { return catalog }
    catalog.addRelations(tables[0], selection)
    catalog.addColumns(tables[1])
    catalog.addTypes(tables[2])
    for row in tables[3] {
      guard let type = Self.type(row[0]), let label = row[1] else { continue }
      catalog.labels[type, default: []].append(label)
    }
    catalog.addKeys(tables[4])
    catalog.addForeignKeys(tables[5])
    catalog.otherNamespaces = tables[6].compactMap { $0[0] }
    catalog.database = tables[7].first?.first.flatMap(\.self) ?? ""
    return catalog
  }

  /// Gives tables and columns the names by which clients know them.
  package mutating func keep(_ names: KeptNames) {
    for (oid, table) in names.found(in: self) {
      guard var relation = relations[oid] else { continue }
      let columns = table.found(in: relation, isSame: names.isSame(self, oid, table))
      (relation.name, relation.sqlName) = table.name.kept(relation.sqlName)
      for place in relation.columns.indices {
        guard let name = columns[relation.columns[place].number] else { continue }
        (relation.columns[place].name, relation.columns[place].sqlName) =
          name.kept(relation.columns[place].sqlName)
      }
      relations[oid] = relation
    }
  }

  private mutating func addRelations(_ rows: [[String?]], _ selection: TableSelection) {
    for row in rows {
      guard let oid = row[0].flatMap({ UInt32($0) }), let namespace = row[1], let name = row[2],
        let kind = row[3].flatMap({ Relation.Kind(rawValue: $0) }), let sqlName = row[4],
        selection.has(name, in: namespace)
      else { continue }
      order.append(oid)
      relations[oid] = Relation(
        namespace: namespace, name: name, sqlName: sqlName, rowType: row[9] ?? sqlName, kind: kind,
        comment: row[5],
        hasRowSecurity: row[6] == "t", isPopulated: row[7] == "t", isDeletable: row[8] == "t")
    }
  }

  private mutating func addColumns(_ rows: [[String?]]) {
    for row in rows {
      guard let oid = row[0].flatMap({ UInt32($0) }), let number = row[1].flatMap({ Int($0) }),
        let name = row[2], let type = Self.type(row[3])
      else { continue }
      relations[oid]?.columns.append(
        Column(
          number: number, name: name, sqlName: SQLQuoting.name(name), type: type,
          dimensions: row[4].flatMap { Int($0) } ?? 0,
          isNotNull: row[5] == "t", comment: row[6], hasDefault: row[7] == "t",
          isInsertable: row[8] == "t", isUpdatable: row[9] == "t",
          hasLooseCollation: row[10] == "t"))
    }
  }

  private mutating func addTypes(_ rows: [[String?]]) {
    for row in rows {
      guard let type = Self.type(row[0]), let name = row[1], let namespace = row[2],
        let sqlName = row[3], let kind = row[4].flatMap({ TypeEntry.Kind(rawValue: $0) })
      else { continue }
      types[type] = TypeEntry(
        name: name, namespace: namespace, sqlName: sqlName, kind: kind, base: Self.type(row[5]),
        element: Self.type(row[6]), comment: row[7], isSorted: row[8] == "t", isSent: row[9] == "t")
    }
  }

  private mutating func addKeys(_ rows: [[String?]]) {
    for row in rows {
      guard let oid = row[0].flatMap({ UInt32($0) }), let relation = relations[oid] else {
        continue
      }
      let columns = Self.numbers(row[1])
      // A key with a column that the role may not read is none.
      guard !columns.isEmpty, columns.allSatisfy({ relation.column($0) != nil }) else { continue }
      relations[oid]?.keys.append(
        Key(
          isPrimary: row[2] == "t", columns: columns, areNullsDistinct: row[3] != "t",
          isImmediate: row[4] == "t"))
    }
  }

  private mutating func addForeignKeys(_ rows: [[String?]]) {
    for row in rows {
      guard let oid = row[0].flatMap({ UInt32($0) }), let relation = relations[oid],
        let name = row[1], let targetID = row[3].flatMap({ UInt32($0) }),
        let target = relations[targetID]
      else { continue }
      let columns = Self.numbers(row[2])
      let targets = Self.numbers(row[4])
      guard !columns.isEmpty, columns.count == targets.count,
        columns.allSatisfy({ relation.column($0) != nil }),
        targets.allSatisfy({ target.column($0) != nil })
      else { continue }
      relations[oid]?.foreignKeys.append(
        ForeignKey(
          name: name, columns: columns, target: targetID, targetColumns: targets,
          isValidated: row[5] == "t"))
    }
  }

  private static func numbers(_ text: String?) -> [Int] {
    (text ?? "").split(separator: ",").compactMap { Int($0) }
  }

  private static func type(_ text: String?) -> PostgresType? {
    guard let text, let number = UInt32(text), number != 0 else { return nil }
    return PostgresType(rawValue: number)
  }
}

/// Patterns of table names, such as `film*,!*_old`: the last one that fits a name decides.
package struct TableSelection: Sendable {
  private let patterns: [(text: [UInt8], isExcluded: Bool)]

  /// Creates a selection; of everything, if the list is empty or begins with an exclusion.
  package init(_ list: [String]) {
    patterns = list.map { item in
      item.hasPrefix("!") ? (Array(item.dropFirst().utf8), true) : (Array(item.utf8), false)
    }
  }

  /// Returns whether a table is selected, by its name or by its name with its namespace.
  func has(_ name: String, in namespace: String) -> Bool {
    var isSelected = patterns.first?.isExcluded ?? true
    for pattern in patterns
    where Self.fits(name, pattern.text) || Self.fits("\(namespace).\(name)", pattern.text) {
      isSelected = !pattern.isExcluded
    }
    return isSelected
  }

  /// Returns whether a text fits a pattern, in which `*` stands for any text. The time is at most
  /// the product of their lengths.
  private static func fits(_ text: String, _ pattern: [UInt8]) -> Bool {
    let text = Array(text.utf8)
    var place = 0
    var next = 0
    var retry: (place: Int, next: Int)?
    while place < text.count {
      if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
        retry = (place, next)
        next += 1
      } else if next < pattern.count, pattern[next] == text[place] {
        place += 1
        next += 1
      } else if let last = retry {
        retry = (last.place + 1, last.next)
        place = last.place + 1
        next = last.next + 1
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
