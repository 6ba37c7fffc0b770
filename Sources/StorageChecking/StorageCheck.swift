import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import Postgres

/// Holds a storage mapping against a live database.
///
/// Small operations for each field of each type that can be reached from the query root are planned
/// and prepared; PostgreSQL is asked for the types of what they read, for the keys, constraints and
/// values behind it, and for the role's rights; and who watches must be told (`LiveCheck`). Nothing is changed and no statement of the schema is
/// run: every transaction is read only, and the role needs no right but to read.
///
/// What can be asked together is asked in one pipeline, so that a check takes a handful of round
/// trips, however large the schema is.
package struct StorageCheck {
  package let mapping: StorageMapping
  /// From how many rows on a condition should have an index.
  package var largeTableRows = 100_000
  /// How long a list without pages may be.
  package var maximumListRows = PlannerLimits().maximumElements
  /// How many rows are looked at for values outside of an enum.
  package var enumLookRows = 10_000

  package init(mapping: StorageMapping) { self.mapping = mapping }

  /// Over a connection of its own.
  package func run(_ configuration: PostgresConfiguration) throws(PostgresError) -> [StorageFinding]
  {
    var configuration = configuration
    configuration.isReadOnly = true
    return try run(PostgresSession(configuration))
  }

  /// - Returns: errors, then warnings; one for each cause.
  /// - Throws: only when the database cannot be asked.
  package func run(_ session: PostgresSession) throws(PostgresError) -> [StorageFinding] {
    let probes = StorageProbes(mapping: mapping).groups.map { PlannedProbes($0, mapping) }
    let first = [.execute(Self.readOnly), .execute(RoleRights.query)] + probes.map(\.command)
    var answers = try session.pipeline(first)[...]
    _ = try answers.removeFirst().get()
    let rights = RoleRights(try answers.removeFirst().get().rows)

    let statements = try StatementCheck(mapping: mapping).run(probes, Array(answers), session)
    let rows = try DescribedRow.describe(statements.plans, session)
    var sources = Set(rows.flatMap(\.columns))
    sources.remove(.record)
    let catalogAnswers = try session.pipeline(
      DatabaseCatalog.queries(for: sources) + [
        .execute(RowSecurity.query(for: sources)), .execute(ManagedTables.query(for: sources)),
      ])
    let catalog = try DatabaseCatalog(catalogAnswers.dropLast(2))
    let secured = try RowSecurity.findings(catalogAnswers[catalogAnswers.count - 2])
    let managed = try ManagedTables.findings(catalogAnswers[catalogAnswers.count - 1])

    let rules = SchemaRules(mapping: mapping).findings
    let check = LeafCheck(mapping: mapping, catalog: catalog)
    let leaves = rows.flatMap { check.findings(for: $0) }
    // What PostgreSQL says of the same causes in its own words is left out.
    let known = (rules + leaves).flatMap(\.operators)
    var findings = managed + secured + rules
    findings += statements.findings.filter { finding in
      !known.contains { finding.message.contains("operator does not exist: \($0)") }
    }
    findings += leaves
    let orders = OrderCheck(mapping: mapping, catalog: catalog)
    findings += rows.compactMap { orders.finding(for: $0) }
    let lists = ListCheck(mapping: mapping, catalog: catalog, maximumRows: maximumListRows)
    findings += rows.compactMap { lists.finding(for: $0) }

    let enums = EnumLook(mapping: mapping, catalog: catalog, rows: rows, maximum: enumLookRows)
    let searches = SearchCheck(catalog: catalog, rows: rows, largeTableRows: largeTableRows)
    let needed = rights.lacksAny ? statements.held : []
    var last = try session.pipeline(
      enums.commands + searches.commands + RoleRights.commands(for: needed))[...]
    findings += enums.findings(Array(last.prefix(enums.commands.count)))
    last = last.dropFirst(enums.commands.count)
    findings += searches.findings(Array(last.prefix(searches.commands.count)))
    last = last.dropFirst(searches.commands.count)
    findings += rights.findings(Array(last), for: needed)
    findings += try LiveCheck(mapping, session).findings()
    return findings.map { $0.at(mapping.declaringCoordinate(of: $0.coordinate)) }.collapsed()
  }

  private static let readOnly = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
}
