import GraphQLPlanning
import JSON
import Postgres

/// The tables whose changes PostgreSQL decodes from its log, and the topics under which their changes
/// are reported.
///
/// A change of a row of `album` has the topic `album`; for each column by which rows are found, the
/// topic `album.artist_id` with the value's `LiveKey`; and the topic `album?` if a former value is not
/// in the log. Which columns' former values are, the table's `REPLICA IDENTITY` says.
package struct DecodedTables: Sendable {
  package struct Table: Sendable {
    /// The names of the table and of those that it is a part of.
    package let names: [String]
    /// The columns whose values are keys.
    package let attributes: Set<String>
    /// Whether a former value of one of them is not in the log.
    package let hasUnknown: Bool
  }

  /// The tables by their names with those of their schemas, quoted as needed.
  package let tables: [String: Table]
  let sources: [LiveCatalog.Source]

  package static func topic(_ table: String) -> String { table }
  package static func topic(_ table: String, _ column: String) -> String { "\(table).\(column)" }
  package static func unknownTopic(_ table: String) -> String { "\(table)?" }

  private struct Row {
    let name: String
    let names: [String]
    let columns: Set<String>
    let attributes: Set<String>
    let known: Set<String>
  }

  init(rows: [[String?]]) {
    let rows = rows.compactMap { row in
      row[0].map {
        Row(
          name: $0, names: Self.list(row[1]), columns: Set(Self.list(row[2])),
          attributes: Set(Self.list(row[3])), known: Set(Self.list(row[4])))
      }
    }
    // Names in statements need not say the schema: tables of one name are reported as one.
    var columns: [String: [Row]] = [:]
    for row in rows { for name in row.names { columns[name, default: []].append(row) } }
    let all = columns
    let attributes = all.mapValues { rows in
      Set(rows.flatMap(\.attributes)).filter { column in
        rows.allSatisfy { $0.attributes.contains(column) || !$0.columns.contains(column) }
      }
    }
    tables = Dictionary(
      rows.map { row in
        let own = row.names.reduce(into: Set<String>()) { $0.formUnion(attributes[$1] ?? []) }
          .intersection(row.columns)
        return (
          row.name,
          Table(names: row.names, attributes: own, hasUnknown: !own.isSubset(of: row.known))
        )
      }, uniquingKeysWith: { first, _ in first })
    sources = attributes.sorted { $0.key < $1.key }.flatMap { name, columns in
      [
        LiveCatalog.Source(
          relation: name, attribute: nil, topics: [Self.topic(name)], tags: nil, isNode: false)
      ]
        + columns.sorted().map { column in
          var source = LiveCatalog.Source(
            relation: name, attribute: column, topics: [Self.topic(name, column)], tags: nil,
            isNode: false)
          let isUnknown = (all[name] ?? []).contains { row in
            row.columns.contains(column) && !row.known.contains(column)
          }
          if isUnknown { source.unknownTopic = Self.unknownTopic(name) }
          return source
        }
    }
  }

  private static func list(_ text: String?) -> [String] {
    guard let text, case .array(let items)? = try? JSONParser.parse(Array(text.utf8)) else {
      return []
    }
    return items.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// A query for permanent tables: names, those of what it is a part of, columns, those of keys and
  /// indexes whose text does not depend on settings and is equal if the values are, and those whose
  /// former values are in the log.
  static let query = """
    WITH tables AS (
      SELECT c.oid, c.relname, c.relreplident, n.nspname,
        (SELECT i.indkey::int2[] FROM pg_index i WHERE i.indrelid = c.oid
          AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END) AS identity,
        ARRAY(SELECT unnest(i.indkey::int2[]) FROM pg_index i WHERE i.indrelid = c.oid)
          || ARRAY(SELECT unnest(k.conkey) FROM pg_constraint k
            WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f')) AS keys
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
        AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast'))
    SELECT quote_ident(t.nspname) || '.' || quote_ident(t.relname),
      (WITH RECURSIVE up AS (SELECT t.oid AS oid
          UNION SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid)
        SELECT json_agg(c.relname) FROM up JOIN pg_class c ON c.oid = up.oid),
      json_agg(a.attname), json_agg(a.attname) FILTER (WHERE a.attnum = ANY (t.keys)
        AND (b.typtype = 'e' OR b.oid = ANY ('{int2,int4,int8,oid,uuid,text,varchar,name}'::regtype[]))
        AND NOT EXISTS (SELECT FROM pg_collation o
          WHERE o.oid = a.attcollation AND NOT o.collisdeterministic)),
      json_agg(a.attname) FILTER (WHERE t.relreplident = 'f' OR a.attnum = ANY (t.identity))
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type y ON y.oid = a.atttypid
    JOIN pg_type b ON b.oid = coalesce(nullif(y.typbasetype, 0), y.oid)
    GROUP BY t.oid, t.nspname, t.relname
    """
}
