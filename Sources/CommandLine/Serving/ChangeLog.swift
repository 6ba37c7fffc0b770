import GraphQLPlanning
import Postgres
import Server

/// The connection of `--live decoding`, which receives the changes of tables from PostgreSQL's log.
enum ChangeLog {
  /// Returns the configuration of the connection; nil without `--live decoding`.
  ///
  /// - Parameter serving: the configuration of statements, without a pooler.
  /// - Throws: what to do if the server or the role does not let changes be decoded.
  static func configuration(
    _ settings: ServeSettings, _ options: CommandOptions, _ mapping: StorageMapping,
    like serving: PostgresConfiguration
  ) throws -> PostgresConfiguration? {
    guard settings.decodesChanges else { return nil }
    let origin = "\(options.origin("live")) decoding"
    guard mapping.events.isEmpty else {
      throw CommandFailure(
        "\(origin): this graph reports its changes itself; leave the option out.")
    }
    var configuration = serving
    if let url = settings.liveDatabase {
      do {
        configuration.connectionString = try PostgresConfiguration(url).connectionString
      } catch {
        throw UsageError("\(options.origin("live-database")): \(error)")
      }
    }
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let row =
      try session.execute(
        """
        SELECT current_setting('wal_level'), r.rolreplication OR r.rolsuper, r.rolname, current_database(),
          pg_is_in_recovery()
        FROM pg_roles r WHERE r.rolname = current_user
        """
      ).first ?? []
    guard row.count == 5, row[0] == "logical" else {
      throw CommandFailure(
        "\(origin) needs PostgreSQL's log to have what is decoded: ALTER SYSTEM SET wal_level = logical, "
          + "and restart it (it is \(row.first.flatMap(\.self) ?? "unknown")).")
    }
    guard row[1] == "t" else {
      let role = row[2] ?? ""
      throw CommandFailure(
        "\(origin): the role \(role) may not read the log: ALTER ROLE \(role) REPLICATION, or name another "
          + "one with --live-database.")
    }
    guard row[4] == "f" else {
      throw CommandFailure("\(origin) needs the primary; this is a standby.")
    }
    try tryDecoding(session, origin)
    return configuration
  }

  /// Makes a slot and drops it: there may be no free one, or no such plugin. Transactions that are
  /// open for long let it wait, which is no error.
  private static func tryDecoding(_ session: PostgresSession, _ origin: String) throws {
    let name = "sociograph_\(UInt64.random(in: 0 ... .max))"
    do {
      try session.execute(
        "SELECT pg_create_logical_replication_slot('\(name)', 'test_decoding', true)")
      try session.execute("SELECT pg_drop_replication_slot('\(name)')")
    } catch  where ["57014", "55P03"].contains(error.sqlState) {
      Console.warn("\(origin): live queries wait for a transaction that is open")
    } catch {
      throw CommandFailure("\(origin): \(error.message)")
    }
  }
}
