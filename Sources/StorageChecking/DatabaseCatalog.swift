import Postgres

/// The types that statements read, according to PostgreSQL's catalogs.
struct DatabaseCatalog {
  struct TypeEntry {
    /// The name as SQL spells it: `character varying`, `mood`.
    let name: String
    let isEnum: Bool
    let isDomain: Bool
    /// The type under a domain.
    let base: PostgresType?
    /// The element type of an array.
    let element: PostgresType?
  }

  /// A table, a view or another relation, by the type of its rows.
  struct Relation {
    /// The name as SQL needs it: `post`, `other."Post"`.
    let name: String
    /// Whether it is a table. The contents of a view's columns are unknown.
    let isTable: Bool
    /// The number of rows at PostgreSQL's last count.
    let rowCount: Double
    var columns: [String: Column] = [:]
    /// The columns of each unique index on all of its rows.
    var uniqueKeys: [[String]] = []
    /// The first column or expression of each index, by the index's name.
    var indexes: [String: String] = [:]
    /// The names of the indexes that contain less than a fifth of the rows.
    var narrowIndexes: Set<String> = []
    var checks: [Check] = []
  }

  struct Column {
    let isNotNull: Bool
    let type: PostgresType
  }

  struct Check {
    let name: String
    let definition: String
    var columns: [String]
  }

  private(set) var types: [PostgresType: TypeEntry] = [:]
  private(set) var labels: [PostgresType: [String]] = [:]
  private(set) var relations: [PostgresType: Relation] = [:]

  func name(of type: PostgresType) -> String { types[type]?.name ?? "\(type.rawValue)" }

  /// Returns the type under any number of domains.
  func base(of type: PostgresType) -> PostgresType {
    var type = type
    // No domain is its own base, but what comes from outside is not to be walked without an end.
    for _ in 0..<32 {
      guard let entry = types[type], entry.isDomain, let base = entry.base else { break }
      type = base
    }
    return type
  }

  // MARK: - Reading

  static func queries(for types: Set<PostgresType>) -> [PipelinedCommand] {
    let list = types.map { String($0.rawValue) }.sorted().joined(separator: ",")
    let rowTypes = "pg_type t WHERE t.oid = ANY ('{\(list)}'::oid[]) AND t.typrelid <> 0"
    return [
      """
      WITH RECURSIVE needed (oid) AS (
        SELECT t.oid FROM pg_type t WHERE t.oid = ANY ('{\(list)}'::oid[])
        UNION
        SELECT a.atttypid FROM pg_attribute a, \(rowTypes)
          AND a.attrelid = t.typrelid AND a.attnum > 0
        UNION
        SELECT u.oid FROM needed n JOIN pg_type t ON t.oid = n.oid
        CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS u (oid)
        WHERE u.oid <> 0
      )
      SELECT t.oid, format_type(t.oid, NULL), t.typtype, t.typbasetype,
        CASE WHEN t.typlen = -1 THEN t.typelem ELSE 0 END
      FROM needed n JOIN pg_type t ON t.oid = n.oid
      """,
      "SELECT e.enumtypid, e.enumlabel FROM pg_enum e ORDER BY e.enumtypid, e.enumsortorder",
      """
      SELECT t.oid, c.oid::regclass, c.relkind IN ('r', 'p', 'm'), c.reltuples
      FROM pg_class c, \(rowTypes) AND c.oid = t.typrelid
      """,
      """
      SELECT t.oid, a.attname, a.attnotnull, a.atttypid
      FROM pg_attribute a, \(rowTypes) AND a.attrelid = t.typrelid AND a.attnum > 0
        AND NOT a.attisdropped
      """,
      """
      SELECT t.oid, i.indexrelid, a.attname
      FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number, \(rowTypes)
        AND i.indrelid = t.typrelid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
        AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
      """,
      """
      SELECT t.oid, k.oid, k.conname, pg_get_constraintdef(k.oid), a.attname
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid
        AND a.attnum = ANY (k.conkey), \(rowTypes) AND k.conrelid = t.typrelid
        AND k.contype = 'c' AND k.convalidated
      ORDER BY k.oid
      """,
      """
      SELECT t.oid, x.relname, pg_get_indexdef(x.oid, 1, true),
        i.indpred IS NOT NULL AND 5 * x.reltuples < r.reltuples
      FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class r ON r.oid = i.indrelid,
        \(rowTypes) AND i.indrelid = t.typrelid
      """,
    ].map { .execute($0) }
  }

  /// - Parameter answers: the results of `queries`, in their order.
  init(_ answers: [Result<PipelinedAnswer, PostgresError>]) throws(PostgresError) {
    var tables: [[[String?]]] = []
    for answer in answers { tables.append(try answer.get().rows) }
    for row in tables[0] {
      guard let type = Self.type(row[0]), let name = row[1] else { continue }
      types[type] = TypeEntry(
        name: name, isEnum: row[2] == "e", isDomain: row[2] == "d", base: Self.type(row[3]),
        element: Self.type(row[4]))
    }
    for row in tables[1] {
      guard let type = Self.type(row[0]), let label = row[1] else { continue }
      labels[type, default: []].append(label)
    }
    for row in tables[2] {
      guard let type = Self.type(row[0]), let name = row[1] else { continue }
      relations[type] = Relation(
        name: name, isTable: row[2] == "t", rowCount: row[3].flatMap { Double($0) } ?? 0)
    }
    for row in tables[3] {
      guard let type = Self.type(row[0]), let name = row[1], let own = Self.type(row[3]) else {
        continue
      }
      relations[type]?.columns[name] = Column(isNotNull: row[2] == "t", type: own)
    }
    var keys: [PostgresType: [String: [String]]] = [:]
    for row in tables[4] {
      guard let type = Self.type(row[0]), let index = row[1], let name = row[2] else { continue }
      keys[type, default: [:]][index, default: []].append(name)
    }
    for (type, keys) in keys { relations[type]?.uniqueKeys = Array(keys.values) }
    for row in tables[5] {
      guard let type = Self.type(row[0]), let name = row[2], let definition = row[3],
        let column = row[4], var relation = relations[type]
      else { continue }
      if let place = relation.checks.firstIndex(where: { $0.name == name }) {
        relation.checks[place].columns.append(column)
      } else {
        relation.checks.append(Check(name: name, definition: definition, columns: [column]))
      }
      relations[type] = relation
    }
    for row in tables[6] {
      guard let type = Self.type(row[0]), let name = row[1], let first = row[2] else { continue }
      relations[type]?.indexes[name] = first
      if row[3] == "t" { relations[type]?.narrowIndexes.insert(name) }
    }
  }

  private static func type(_ text: String?) -> PostgresType? {
    guard let text, let number = UInt32(text), number != 0 else { return nil }
    return PostgresType(rawValue: number)
  }
}
