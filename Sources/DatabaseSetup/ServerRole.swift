import Postgres

/// What the roles that `serve` runs under need, and no more (R15). One reads the graph, asks whose a session
/// is and notes that it was used; the other, for mutations, reads the graph and calls its functions, of
/// which those that write do so under their owner's rights. Neither reads what the graph's view `withheld`
/// names: hashes of passwords and tokens, say.
package enum ServerRole {
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
  /// A refusal is an error to PostgreSQL, whose log anybody could fill, and whose details are rows.
  private static let quiet = [
    "ALTER ROLE %I SET log_min_messages = fatal",
    "ALTER ROLE %I SET log_error_verbosity = terse",
  ]
  /// A search's words are nobody's to read in PostgreSQL's log.
  private static let discreet = [
    "ALTER ROLE %I SET log_parameter_max_length = 0",
    "ALTER ROLE %I SET log_parameter_max_length_on_error = 0",
  ]

  /// The functions of the graph that the role that reads calls: those that run under their owner's rights
  /// are executable only where that was granted.
  private static let readFunctions = [
    "viewer_of_session(bytea)", "note_session(bytea)", "rest_of_session(bytea)",
    "photo_audience(bigint, text)",
  ].map { "to_regprocedure('\($0)')" }.joined(separator: ", ")

  /// What else the role that reads needs, where it is there: `GRANT` as formats of the role.
  private static let sessions = """
    SELECT 'GRANT EXECUTE ON FUNCTION ' || replace(f::text, '%', '%%') || ' TO %I'
    FROM unnest(ARRAY[\(readFunctions)]) f WHERE f IS NOT NULL
    UNION ALL SELECT CASE WHEN to_regprocedure('note_session(bytea)') IS NULL
      THEN 'GRANT UPDATE (last_used_at, expires_at) ON session TO %I'
      ELSE 'REVOKE UPDATE (last_used_at, expires_at) ON session FROM %I' END
    WHERE to_regclass('session') IS NOT NULL
    """

  /// What is withheld, and answers that are kept for who asked: of a table a part of which is withheld the
  /// rest is granted, column by column.
  private static let withholding = """
    WITH named AS (
      SELECT to_regclass(quote_ident(w.relation)) AS relation, w.attribute FROM withheld w
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

  package static func exists(_ role: String, in configuration: PostgresConfiguration) throws -> Bool
  {
    try !PostgresSession(configuration).execute(
      "SELECT FROM pg_roles WHERE rolname = $1", [role]
    ).isEmpty
  }

  /// Whether a role lacks the right to call a function that this program calls as the role that reads: an
  /// earlier program granted what it needed itself.
  package static func lacksFunctions(
    _ role: String, in configuration: PostgresConfiguration
  ) throws -> Bool {
    try PostgresSession(configuration).execute(
      """
      SELECT coalesce(bool_or(NOT has_function_privilege($1::name, f::oid, 'EXECUTE')), false)
      FROM unnest(ARRAY[\(readFunctions)]) f WHERE f IS NOT NULL
      """, [role]
    ).first?.first == "t"
  }

  /// Lets a role serve what is in the namespaces of the configuration, also after later migrations.
  ///
  /// - Parameters:
  ///   - isNew: the role is made first; all of it happens or nothing.
  ///   - mutations: it is the one that mutations run under. What they are refused for stays out of
  ///     PostgreSQL's log where a superuser says so.
  package static func allow(
    _ role: String, isNew: Bool = false, mutations: Bool = false,
    in configuration: PostgresConfiguration
  ) throws {
    var configuration = configuration
    configuration.isReadOnly = false
    let session = try PostgresSession(configuration)
    let isThere = try session.execute("SELECT to_regclass('withheld')").first?.first ?? nil != nil
    let withheld =
      try isThere ? session.execute(Self.withholding).compactMap { $0[0] } : []
    let reads = try mutations ? [] : session.execute(Self.sessions).compactMap { $0[0] }
    // Doubled, as what comes of it is a format.
    let namespaces = try session.execute(
      "SELECT replace(quote_ident(unnest(current_schemas(false))), '%', '%%')"
    ).compactMap { $0[0] }
    let isSuperuser =
      try session.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
      .first?.first == "t"
    let statements =
      (isNew ? [creation] : []) + namespaces.flatMap(grants) + withheld + reads
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
