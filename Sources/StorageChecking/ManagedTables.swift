import Postgres

/// Reports tables that Citus stores elsewhere. Functions that return rows read the empty tables
/// that it leaves behind, so responses would lack rows without an error, and such a database is
/// refused.
enum ManagedTables {
  /// Returns the query.
  ///
  /// - Parameter types: the types of the rows that are read.
  static func query(for types: Set<PostgresType>) -> String {
    let list = types.map { String($0.rawValue) }.sorted().joined(separator: ",")
    return """
      SELECT m.logicalrelid::regclass
      FROM pg_catalog.pg_dist_partition m
      WHERE pg_table_is_visible(m.logicalrelid) OR m.logicalrelid IN (
        SELECT t.typrelid FROM pg_type t WHERE t.oid = ANY ('{\(list)}'::oid[]))
      ORDER BY 1
      """
  }

  static func findings(
    _ answer: Result<PipelinedAnswer, PostgresError>
  ) throws(PostgresError) -> [StorageFinding] {
    let names: [String]
    do {
      names = try answer.get().rows.compactMap(\.first).compactMap(\.self)
    } catch {
      // No such table: no Citus.
      if error.sqlState == "42P01" { return [] }
      throw error
    }
    guard let first = names.first else { return [] }
    let others = names.count > 1 ? " (and \(names.count - 1) more)" : ""
    return [
      StorageFinding(
        .error, first,
        "Citus manages this table\(others), and statements that read it through functions would "
          + "find it empty; serve a database whose tables are its own, or undistribute_table them.")
    ]
  }
}
