import Postgres
import SQL

/// Grants the roles of `serve` the privileges that they need, and no others. The reader reads the
/// graph and calls the functions that `GraphContract` lists for it. The writer, for mutations,
/// reads the graph and calls all of its functions; those that write run with the privileges of
/// their owner. Neither reads the columns that the graph's view `withheld` names, such as hashes of
/// passwords and tokens.
package enum ServerRole {
  /// The roles of an embedded database.
  package static let reader = "sociograph_server"
  package static let writer = "sociograph_writer"

  private static let creation = "CREATE ROLE %I LOGIN"
  private static func grants(in namespace: String) -> [String] {
    [
      "GRANT USAGE ON SCHEMA \(namespace) TO %I",
      "GRANT SELECT ON ALL TABLES IN SCHEMA \(namespace) TO %I",
      "ALTER DEFAULT PRIVILEGES IN SCHEMA \(namespace) GRANT SELECT ON TABLES TO %I",
    ]
  }
  private static func calls(in namespace: String) -> [String] {
    [
      "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA \(namespace) TO %I",
      "ALTER DEFAULT PRIVILEGES IN SCHEMA \(namespace) GRANT EXECUTE ON ROUTINES TO %I",
    ]
  }
  /// Settings that keep refusals out of PostgreSQL's log. To PostgreSQL a refusal is an error, so
  /// that any client could fill the log, and its details contain rows.
  private static let quiet = [
    "ALTER ROLE %I SET log_min_messages = fatal",
    "ALTER ROLE %I SET log_error_verbosity = terse",
  ]
  /// Settings that keep the words of a search out of PostgreSQL's log.
  private static let discreet = [
    "ALTER ROLE %I SET log_parameter_max_length = 0",
    "ALTER ROLE %I SET log_parameter_max_length_on_error = 0",
  ]

  /// Returns the privileges that the contract lists for a role, if the objects exist: `GRANT`s as
  /// formats of the role.
  private static func contract(of caller: ContractEntry.Caller) -> String {
    GraphContract.entries(for: caller).compactMap { entry -> String? in
      switch entry.form {
      case .function:
        return """
          SELECT 'GRANT EXECUTE ON FUNCTION ' || replace(f::text, '%', '%%') || ' TO %I'
          FROM to_regprocedure('\(entry.signature)') f WHERE f IS NOT NULL
          """
      // With all that is not withheld.
      case .relation: return nil
      }
    }.joined(separator: " UNION ALL ")
  }

  /// A query for the withheld tables, and for responses stored for their requesters. If a table is
  /// partly withheld, its other columns are granted one by one.
  private static let withholding = """
    WITH named AS (
      SELECT to_regclass(quote_ident(w.relation)) AS relation, w.attribute FROM \(GraphContract.withheld) w
      UNION ALL SELECT c.oid::regclass, NULL FROM pg_class c
      WHERE c.relname LIKE 'sociograph\\_request%' AND c.relkind IN ('r', 'p')
        AND c.relnamespace = to_regnamespace(quote_ident(current_schema))
    ), kept AS (
      SELECT n.relation, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
      FROM (SELECT DISTINCT relation FROM named WHERE attribute IS NOT NULL) n
        JOIN pg_attribute a ON a.attrelid = n.relation AND a.attnum > 0 AND NOT a.attisdropped
      WHERE a.attname NOT IN (SELECT w.attribute FROM named w WHERE w.relation = n.relation)
      GROUP BY n.relation
    )
    SELECT replace(text, '%', '%%') || ' %I' FROM (
      SELECT DISTINCT 1 AS place, 'REVOKE SELECT ON ' || n.relation || ' FROM' AS text FROM named n
      UNION ALL SELECT 2, 'GRANT SELECT (' || k.columns || ') ON ' || k.relation || ' TO' FROM kept k
    ) s WHERE text IS NOT NULL ORDER BY place
    """

  /// Returns `REVOKE`s, as formats of the role, of all columns that the role `$1` may update. Earlier programs let it
  /// update some columns of sessions.
  private static let earlierUpdates = """
    SELECT replace(
      format('REVOKE UPDATE (%s) ON %s', string_agg(quote_ident(a.attname), ', '), c.oid::regclass),
      '%', '%%') || ' FROM %I'
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      CROSS JOIN LATERAL aclexplode(a.attacl) x JOIN pg_roles r ON r.oid = x.grantee
    WHERE r.rolname = $1 AND x.privilege_type = 'UPDATE'
      AND c.relnamespace::regnamespace::text = ANY (
        SELECT quote_ident(unnest(current_schemas(false))))
    GROUP BY c.oid
    """

  package static func exists(_ role: String, in configuration: PostgresConfiguration) throws -> Bool
  {
    try !PostgresSession(configuration).execute(
      "SELECT FROM pg_roles WHERE rolname = $1", [role]
    ).isEmpty
  }

  /// Grants a role the privileges to serve the namespaces of the configuration, also after later
  /// migrations.
  ///
  /// - Parameters:
  ///   - isNew: whether to create the role; all of it happens or nothing.
  ///   - mutations: whether it is the role of mutations. A superuser's grant also keeps their
  ///     refusals out of
  ///     PostgreSQL's log.
  package static func allow(
    _ role: String, isNew: Bool = false, mutations: Bool = false,
    in configuration: PostgresConfiguration
  ) throws {
    var configuration = configuration
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let withheld =
      try session.contract().has(GraphContract.withheld)
      ? session.execute(Self.withholding).compactMap { $0[0] } : []
    let contract = try session.execute(Self.contract(of: mutations ? .writer : .reader))
      .compactMap { $0[0] }
    let earlier =
      try mutations ? [] : session.execute(Self.earlierUpdates, [role]).compactMap { $0[0] }
    // Doubled, as what comes of it is a format.
    let namespaces = try session.execute(
      "SELECT replace(quote_ident(unnest(current_schemas(false))), '%', '%%')"
    ).compactMap { $0[0] }
    let isSuperuser =
      try session.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
      .first?.first == "t"
    let statements =
      (isNew ? [creation] : []) + namespaces.flatMap(grants) + withheld + earlier + contract
      + (mutations ? namespaces.flatMap(calls) + (isSuperuser ? quiet : []) : [])
      + (isSuperuser ? discreet : [])
    try session.transaction {
      for statement in statements {
        let rows = try session.execute("SELECT format($1, $2::text)", [statement, role])
        if let text = rows.first?.first ?? nil { try session.execute(text) }
      }
    }
  }
}
