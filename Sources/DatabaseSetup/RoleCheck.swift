import Postgres
import SQL

/// Compares the privileges of a role with `GraphContract` and with all that `ServerRole` grants. An
/// earlier program may have granted less. An operator may have revoked some.
package struct RoleCheck {
  package struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// Whether a part of the server would fail. Otherwise the role lacks privileges that no
    /// statement of the program itself needs.
    package let isError: Bool
    /// A message of one line.
    package let text: String

    package var description: String { (isError ? "error: " : "warning: ") + text }
  }

  /// The role, or nil for that of the session.
  private let role: String?
  private let caller: ContractEntry.Caller
  /// The namespaces of the graph; the session's search path if empty.
  private let namespaces: [String]
  private let features: Set<ContractEntry.Feature>

  /// - Parameter features: the features that the server is started with.
  package init(
    _ role: String? = nil, as caller: ContractEntry.Caller, in namespaces: [String] = [],
    features: Set<ContractEntry.Feature> = []
  ) {
    self.role = role
    self.caller = caller
    self.namespaces = namespaces
    self.features = features
  }

  /// Reads the catalog and the view `withheld` with three statements, whatever the size of the
  /// graph.
  package func run(_ session: PostgresSession) throws(PostgresError) -> [Finding] {
    let place = try self.place(session)
    guard place.unusable.isEmpty else {
      return place.unusable.map {
        error("the schema \($0)", "use", "nothing of it is found", place)
      }
    }
    var findings = try contract(session, place)
    // A database that `migrate` never saw was granted by hand: what statements need is checked elsewhere.
    guard place.isManaged, caller != .owner else { return findings }
    let named = Set(findings.compactMap { $0.text.split(separator: ": ").first.map(String.init) })
    if let line = try others(session, place, besides: named) { findings.append(line) }
    return findings
  }

  // MARK: - Where

  private struct Place {
    let role: String
    let isManaged: Bool
    /// Whether the session may read `withheld`; nil if there is no such view.
    let mayReadWithheld: Bool?
    let unusable: [String]
  }

  /// The namespaces of the graph by their oids, in the order of the search path. `$1` are their
  /// names, one per line, and `$2` the role; either may be empty.
  private static let path = """
    role AS (SELECT r.oid, r.rolname, r.rolsuper FROM pg_roles r
      WHERE r.rolname = coalesce(nullif($2, '')::name, current_user)
    ), path AS (
      SELECT n.oid, n.nspname, n.nspowner, w.place
      FROM unnest(CASE WHEN $1 = '' THEN current_schemas(false)::text[]
        ELSE string_to_array($1, E'\\n') END) WITH ORDINALITY w (name, place)
      JOIN pg_namespace n ON n.nspname = w.name
    )
    """

  private func ask(
    _ text: String, _ session: PostgresSession
  ) throws(PostgresError) -> [[String?]] {
    try session.execute(
      "WITH \(Self.path)" + text, [namespaces.joined(separator: "\n"), role ?? ""])
  }

  private func place(_ session: PostgresSession) throws(PostgresError) -> Place {
    let rows = try ask(
      """

      SELECT quote_ident(r.rolname),
        EXISTS (SELECT FROM pg_class c JOIN path p ON p.oid = c.relnamespace
          WHERE c.relname = '\(GraphContract.functions)'),
        (SELECT has_table_privilege(c.oid, 'SELECT') FROM pg_class c JOIN path p ON p.oid = c.relnamespace
          WHERE c.relname = '\(GraphContract.withheld)' ORDER BY p.place LIMIT 1),
        (SELECT string_agg(quote_ident(p.nspname), E'\\n' ORDER BY p.place) FROM path p
          WHERE NOT has_schema_privilege(r.oid, p.oid, 'USAGE'))
      FROM role r
      """, session)
    guard let row = rows.first, row.count == 4, let name = row[0] else {
      throw PostgresError(.other, message: "There is no role \"\(role ?? "")\".")
    }
    return Place(
      role: name, isManaged: row[1] == "t", mayReadWithheld: row[2].map { $0 == "t" },
      unusable: row[3]?.split(separator: "\n").map(String.init) ?? [])
  }

  // MARK: - The contract

  private func contract(
    _ session: PostgresSession, _ place: Place
  ) throws(PostgresError) -> [Finding] {
    let entries = GraphContract.entries(for: caller)
    let rows = try ask(
      """
      , found AS (\(entries.enumerated().map(Self.question).joined(separator: " UNION ALL ")))
      SELECT entry, bool_and(is_allowed) FROM found GROUP BY entry ORDER BY entry
      """, session)
    var allowed: [Int: Bool] = [:]
    for row in rows {
      if let entry = row[0].flatMap({ Int($0) }) { allowed[entry] = row[1] == "t" }
    }
    return entries.enumerated().compactMap { index, entry -> Finding? in
      switch allowed[index] {
      case true?: return nil
      case false?:
        let verb =
          switch entry.form {
          case .function: "call"
          case .relation: "read"
          }
        return error(entry.signature, verb, entry.consequence, place)
      case nil:
        guard let feature = entry.requiredBy, features.contains(feature) else { return nil }
        return Finding(
          isError: true,
          text:
            "\(entry.signature): the database has no such function, so that \(entry.consequence). "
            + "Create it as sql/README.md says, or leave out \(feature.rawValue).")
      }
    }
  }

  /// Returns a query for an existing entry: whether the role may use it, or each column of it.
  private static func question(_ index: Int, _ entry: ContractEntry) -> String {
    switch entry.form {
    case .function(let arguments):
      """
      (SELECT \(index) AS entry, has_function_privilege(r.oid, f.oid, 'EXECUTE') AS is_allowed
      FROM pg_proc f JOIN path p ON p.oid = f.pronamespace, role r
      WHERE f.proname = '\(entry)' AND oidvectortypes(f.proargtypes) = '\(arguments.joined(separator: ", "))'
      ORDER BY p.place LIMIT 1)
      """
    case .relation(let columns):
      """
      (SELECT \(index) AS entry, has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT') AS is_allowed
      FROM role r, (SELECT c.oid FROM pg_class c JOIN path p ON p.oid = c.relnamespace
        WHERE c.relname = '\(entry)' ORDER BY p.place LIMIT 1) c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN (\(list(columns))))
      """
    }
  }

  private static func list(_ words: [String]) -> String {
    words.map { "'\($0)'" }.joined(separator: ", ")
  }

  // MARK: - What else is granted

  /// Returns one finding for everything that no statement of the program itself needs.
  ///
  /// - Parameter named: the names that have a separate finding.
  private func others(
    _ session: PostgresSession, _ place: Place, besides named: Set<String>
  ) throws(PostgresError) -> Finding? {
    guard place.mayReadWithheld != false else {
      return warning(["SELECT ON \(GraphContract.withheld)"], place)
    }
    let withheld =
      place.mayReadWithheld == nil
      ? "SELECT NULL::regclass AS relation, NULL::text AS attribute WHERE false"
      : """
      SELECT to_regclass(quote_ident(w.relation)) AS relation, w.attribute
      FROM \(GraphContract.withheld) w
      """
    let routines =
      caller == .writer
      ? """
      UNION ALL SELECT 'EXECUTE ON ' || format('%I(%s)', f.proname, oidvectortypes(f.proargtypes))
      FROM pg_proc f JOIN path p ON p.oid = f.pronamespace, role r
      WHERE NOT has_function_privilege(r.oid, f.oid, 'EXECUTE')
      """ : ""
    let lasting =
      caller == .writer
      ? "('r', 'SELECT', 'TABLES'), ('f', 'EXECUTE', 'ROUTINES')"
      : "('r', 'SELECT', 'TABLES')"
    let rows = try ask(
      """
      , named AS (
        \(withheld)
        UNION ALL SELECT c.oid::regclass, NULL FROM pg_class c JOIN path p ON p.oid = c.relnamespace
        WHERE c.relname LIKE 'sociograph\\_request%'
      )
      SELECT 'SELECT ON ' || quote_ident(c.relname) FROM pg_class c JOIN path p ON p.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped, role r
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND NOT has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')
        AND NOT EXISTS (SELECT FROM named n
          WHERE n.relation = c.oid AND coalesce(n.attribute = a.attname, true))
      GROUP BY c.relname
      \(routines)
      UNION ALL SELECT 'later ' || lower(k.what) || ' in ' || quote_ident(p.nspname)
      FROM path p, role r, (VALUES \(lasting)) k (type, privilege, what)
      WHERE NOT r.rolsuper AND NOT pg_has_role(r.oid, p.nspowner, 'USAGE')
        AND EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = p.oid
          AND c.relname = '\(GraphContract.functions)')
        AND NOT EXISTS (
          SELECT FROM pg_default_acl d, aclexplode(d.defaclacl) x
          WHERE d.defaclnamespace = p.oid AND d.defaclobjtype = k.type::"char"
            AND x.grantee = r.oid AND x.privilege_type = k.privilege)
      ORDER BY 1
      """, session)
    let lacking = rows.compactMap { $0[0] }.filter { line in
      !named.contains { line.hasSuffix(" ON \($0)") }
    }
    return lacking.isEmpty ? nil : warning(lacking, place)
  }

  // MARK: - Words

  private func error(
    _ object: String, _ verb: String, _ consequence: String, _ place: Place
  ) -> Finding {
    Finding(
      isError: true,
      text: "\(object): the role \(place.role) may not \(verb) it, so that \(consequence). "
        + remedy(place))
  }

  private func warning(_ lacking: [String], _ place: Place) -> Finding {
    Finding(
      isError: false,
      text: "the role \(place.role) lacks rights that migrate grants: "
        + lacking.joined(separator: "; ") + ". " + remedy(place))
  }

  private func remedy(_ place: Place) -> String {
    switch caller {
    case .reader: "Run `sociograph migrate --server-role \(place.role)` as the owner of the graph."
    case .writer: "Run `sociograph migrate --writer-role \(place.role)` as the owner of the graph."
    case .owner: "Run the command as the owner of the graph."
    }
  }
}
