import GraphQLPlanning
import JSON
import Postgres
import SQL

extension LiveCatalog {
  /// Reads the catalog of a database; nil if its graph does not report changes.
  package static func read(from configuration: PostgresConfiguration) throws(PostgresError)
    -> LiveCatalog?
  {
    try read(from: PostgresSession(configuration))
  }

  /// Reads the catalog of a database whose log tells its changes.
  package static func readDecoded(
    from configuration: PostgresConfiguration
  ) throws(PostgresError) -> LiveCatalog {
    try readDecoded(from: PostgresSession(configuration)).0
  }

  /// Reads the catalog of a database whose log tells its changes, and the tables in it.
  package static func readDecoded(
    from session: PostgresSession
  ) throws(PostgresError) -> (LiveCatalog, DecodedTables) {
    let answers = try session.pipeline(
      [DecodedTables.query, allRelations, volatile, routines(areVisible: false)].map {
        .execute($0)
      })
    let tables = DecodedTables(rows: try answers[0].get().rows)
    return (
      LiveCatalog(
        relations: Set(try answers[1].get().rows.compactMap { $0[0] }),
        routines: routines(try answers[3].get().rows),
        volatile: Set(try answers[2].get().rows.compactMap { $0[0] }), sources: tables.sources,
        hasTextKeys: true), tables
    )
  }

  /// Reads the catalog in one round trip.
  static func read(from session: PostgresSession) throws(PostgresError) -> LiveCatalog? {
    let answers = try session.pipeline(
      [sources, relations, volatile, routines(areVisible: true)].map { .execute($0) })
    var results: [[[String?]]] = []
    for (place, answer) in answers.enumerated() {
      do {
        results.append(try answer.get().rows)
      } catch {
        // There is no such view.
        if place == 0, error.sqlState == "42P01" { return nil }
        throw error
      }
    }
    return LiveCatalog(
      relations: Set(results[1].compactMap { $0[0] }),
      routines: routines(results[3]),
      volatile: Set(results[2].compactMap { $0[0] }),
      sources: results[0].compactMap { row in
        guard let relation = row[0] else { return nil }
        return Source(
          relation: relation, attribute: row[1], topics: list(row[2]).compactMap(\.string),
          tags: row[3] == nil ? nil : list(row[3]).compactMap(\.integer), isNode: row[4] == "t",
          isOwn: row[5] == "t")
      })
  }

  private static func routines(_ rows: [[String?]]) -> [Routine] {
    rows.compactMap { row in
      guard let name = row[0], let text = row[2] else { return nil }
      return Routine(
        name: name, parameters: list(row[1]).map { $0.string ?? "" }, text: text, result: row[3],
        isView: row[4] == "t", isForeign: row[5] == "t", isImmutable: row[6] == "t")
    }
  }

  /// A query for the relations of all schemas: statements may name them with their schemas.
  private static let allRelations = """
    SELECT DISTINCT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p', 'f', 'm')
    AND c.relnamespace <> ALL (ARRAY['pg_catalog', 'information_schema', 'pg_toast']::regnamespace[])
    """

  /// A query for the sources, without the lines without topics, which say that changes are not
  /// reported.
  private static let sources = """
    SELECT s.relation, s.attribute, array_to_json(s.topics), array_to_json(s.tags), s.is_node,
      s.is_own
    FROM \(GraphContract.liveSource) s WHERE s.topics IS NOT NULL
    """

  private static let relations = """
    SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p', 'f', 'm')
    AND pg_table_is_visible(c.oid)
    AND c.relnamespace <> ALL (ARRAY['pg_catalog', 'information_schema']::regnamespace[])
    """

  private static let volatile = """
    SELECT DISTINCT p.proname FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provolatile = 'v'
    """

  /// - Parameter areVisible: whether to leave out those of schemas that are not searched.
  private static func routines(areVisible: Bool) -> String {
    """
    SELECT p.proname, array_to_json(p.proargnames[1:p.pronargs]),
      coalesce(pg_get_function_sqlbody(p.oid), p.prosrc),
      (SELECT c.relname FROM pg_class c
        WHERE c.reltype = p.prorettype AND c.relkind IN ('r', 'p', 'f', 'm')),
      false, l.lanname NOT IN ('sql', 'plpgsql'), p.provolatile = 'i'
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype
      AND \(areVisible ? "pg_function_is_visible(p.oid)" : "true")
      AND p.pronamespace <> ALL (ARRAY['pg_catalog', 'information_schema']::regnamespace[])
    UNION ALL
    SELECT c.relname, NULL, pg_get_viewdef(c.oid), NULL, true, false, false FROM pg_class c
    WHERE c.relkind = 'v' AND \(areVisible ? "pg_table_is_visible(c.oid)" : "true")
      AND c.relnamespace <> ALL (ARRAY['pg_catalog', 'information_schema']::regnamespace[])
    """
  }

  private static func list(_ text: String?) -> [JSONValue] {
    guard let text, case .array(let items)? = try? JSONParser.parse(Array(text.utf8)) else {
      return []
    }
    return items
  }
}

extension JSONValue {
  fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
}
