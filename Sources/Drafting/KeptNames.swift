import SQL

/// The names by which clients know tables and columns: those they had when they were first drafted.
///
/// A draft keeps them in `.drafted/names`, with the numbers by which PostgreSQL knows tables and
/// columns. So a table or column that the database renames keeps its name for clients.
package struct KeptNames: Sendable, Equatable {
  struct Name: Sendable, Equatable {
    /// The name as statements wrote it in the last draft.
    var written: String
    /// The name in the catalog when the table or column was first drafted.
    var first: String

    /// Returns the name for clients, and the one that is written.
    func kept(_ now: String) -> (name: String, sqlName: String) {
      guard now != written else { return (first, now) }
      return ChangedName.text(earlier: written, now: now).map { (first, $0) } ?? (first, now)
    }
  }

  struct Table: Sendable, Equatable {
    var name: Name
    /// The columns by their numbers.
    var columns: [Int: Name] = [:]
  }

  /// The identity of the database: that of its cluster, and its number there.
  private(set) var database: String
  private(set) var tables: [UInt32: Table] = [:]

  /// Reads what a draft kept. Lines that are none are skipped.
  package init(text: String) {
    database = ""
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "\t").map(String.init)
      if parts.count == 2, parts[0] == "database" { database = parts[1] }
      guard parts.count == 4, let oid = UInt32(parts[0]), let number = Int(parts[1]) else {
        continue
      }
      let name = Name(written: parts[2], first: parts[3])
      if number == 0 {
        tables[oid] = Table(name: name)
      } else {
        tables[oid]?.columns[number] = name
      }
    }
  }

  /// The names of a catalog.
  package init(_ catalog: DraftCatalog) {
    database = catalog.database
    tables = catalog.relations.mapValues { relation in
      Table(
        name: Name(written: ChangedName.now(in: relation.sqlName), first: relation.name),
        columns: Dictionary(
          relation.columns.map { column in
            let written = ChangedName.now(in: column.sqlName)
            return (column.number, Name(written: written, first: column.name))
          }
        ) { first, _ in first })
    }
  }

  /// A line for each table and column: the numbers of both, the name that is written, the first name.
  package var text: String {
    var lines = ["database\t\(database)"]
    func add(_ oid: UInt32, _ number: Int, _ name: Name) {
      // A name with a tab or an end of line is not kept.
      guard !(name.written + name.first).contains(where: { $0 == "\t" || $0.isNewline }) else {
        return
      }
      lines.append("\(oid)\t\(number)\t\(name.written)\t\(name.first)")
    }
    for (oid, table) in tables.sorted(by: { $0.key < $1.key }) {
      add(oid, 0, table.name)
      for (number, name) in table.columns.sorted(by: { $0.key < $1.key }) { add(oid, number, name) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns whether other names have to be kept, though the draft is the same. A copy of the database,
  /// which only has other numbers, is no reason.
  package func isOutdated(by other: KeptNames) -> Bool {
    tables.isEmpty || database == other.database && self != other
  }

  // MARK: - Lookups

  /// Returns whether a table is the one that was drafted, not only one of its name.
  func isSame(_ catalog: DraftCatalog, _ oid: UInt32, _ table: Table) -> Bool {
    database == catalog.database && !database.isEmpty && tables[oid] == table
  }

  /// Returns what was kept of each table of a catalog, by its number now.
  ///
  /// A table under a new name is the old one only in the same database, if the old name is gone, the
  /// new one was not there, and a third of its columns are as they were.
  func found(in catalog: DraftCatalog) -> [UInt32: Table] {
    let byName = Dictionary(tables.values.map { ($0.name.written, $0) }) { first, _ in first }
    let written = Set(catalog.relations.values.map(\.sqlName))
    var found: [UInt32: Table] = [:]
    for (oid, relation) in catalog.relations {
      if let table = byName[relation.sqlName] {
        found[oid] = table
        continue
      }
      guard database == catalog.database, !database.isEmpty, let table = tables[oid],
        !written.contains(table.name.written)
      else { continue }
      let same = relation.columns.count { table.columns[$0.number]?.written == $0.sqlName }
      if same * 3 >= table.columns.count { found[oid] = table }
    }
    return found
  }
}

extension KeptNames.Table {
  /// Returns what was kept of each column of a table, by its number now.
  ///
  /// - Parameter isSame: whether the table is the one that was drafted, not only one of its name.
  func found(in relation: DraftCatalog.Relation, isSame: Bool) -> [Int: KeptNames.Name] {
    let byName = Dictionary(columns.values.map { ($0.written, $0) }) { first, _ in first }
    let written = Set(relation.columns.map(\.sqlName))
    var found: [Int: KeptNames.Name] = [:]
    for column in relation.columns {
      if let name = byName[column.sqlName] {
        found[column.number] = name
      } else if isSame, let name = columns[column.number], !written.contains(name.written) {
        found[column.number] = name
      }
    }
    return found
  }
}

/// A name in the text of a draft that PostgreSQL has changed: the earlier one finds what was drafted,
/// the one of now is written.
enum ChangedName {
  // Of private use: a name that has one of them is not followed.
  private static let start: Unicode.Scalar = "\u{F0000}"
  private static let middle: Unicode.Scalar = "\u{F0001}"
  private static let end: Unicode.Scalar = "\u{F0002}"

  /// Returns a name that is written as `now`; nil if it cannot be told from text.
  static func text(earlier: String, now: String) -> String? {
    let isPlain = !(earlier + now).unicodeScalars.contains { (start...end).contains($0) }
    return isPlain ? "\(start)\(earlier)\(middle)\(now)\(end)" : nil
  }

  /// Returns a text with the earlier names.
  static func earlier(in text: String) -> String { resolved(text) { String($0.1) } }

  /// Returns a text with the names of now.
  static func now(in text: String) -> String { resolved(text) { String($0.2) } }

  private static func resolved(
    _ text: String, _ name: (Regex<(Substring, Substring, Substring)>.Match) -> String
  ) -> String {
    guard text.unicodeScalars.contains(start) else { return text }
    return text.replacing(
      #/\x{F0000}([^\x{F0000}-\x{F0002}]*)\x{F0001}([^\x{F0000}-\x{F0002}]*)\x{F0002}/#, with: name)
  }
}
