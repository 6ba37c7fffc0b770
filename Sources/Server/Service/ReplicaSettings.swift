import Postgres

/// The replicas that queries may run on.
package struct ReplicaSettings: Sendable {
  /// The configuration of each.
  package var databases: [PostgresConfiguration]
  package var router = ReplicaRouter.Settings()
  let positions = ReadPositions()
  /// What the event loops share; nil before the start.
  var states: SharedReplicaStates?
  /// The names of functions that only the primary can run.
  var primaryFunctions: Set<String> = []

  package init(_ databases: [PostgresConfiguration]) { self.databases = databases }

  /// Reads which functions depend on what only a primary has: its running transactions and its log.
  /// A standby lists no running transactions, so a snapshot of one would lose what they commit.
  mutating func readPrimaryFunctions(_ configuration: PostgresConfiguration) throws {
    let rows = try PostgresSession(configuration).execute(
      """
      WITH RECURSIVE candidate AS (
        SELECT p.oid, p.proname, p.prosrc FROM pg_proc p
        WHERE p.pronamespace IN (
          SELECT n.oid FROM pg_namespace n WHERE n.nspname = ANY (current_schemas(false)))
          AND p.prokind = 'f' AND p.prolang NOT IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('c', 'internal'))),
      bound AS (
        SELECT c.oid, c.proname FROM candidate c
        WHERE c.prosrc ~ '\\m(\(Self.builtIn.joined(separator: "|")))\\M'
        UNION
        SELECT c.oid, c.proname FROM candidate c JOIN bound b ON c.prosrc ~ ('\\m' || b.proname || '\\M'))
      SELECT DISTINCT proname FROM bound
      """)
    primaryFunctions = Set(rows.compactMap(\.first).compactMap { $0 }).union(Self.builtIn)
  }

  private static let builtIn = [
    "pg_current_snapshot", "pg_current_xact_id", "pg_current_xact_id_if_assigned",
    "pg_xact_status", "txid_current", "txid_current_snapshot", "txid_current_if_assigned",
    "txid_status", "pg_current_wal_lsn", "pg_current_wal_flush_lsn", "pg_current_wal_insert_lsn",
    "nextval", "setval", "pg_notify", "pg_advisory_lock", "pg_advisory_xact_lock",
    "pg_try_advisory_lock", "pg_try_advisory_xact_lock",
  ]
}
