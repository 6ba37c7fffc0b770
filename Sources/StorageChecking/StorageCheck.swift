import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import Postgres

/// Compares a storage mapping with a live database.
///
/// It plans and prepares small operations for each field of each type that can be reached from the
/// query root. It then reads the PostgreSQL types of their results, the keys, constraints and
/// values behind them, and the role's privileges. It also checks that changes are reported
/// (`LiveCheck`). Nothing is changed and no statement of the schema is run: every transaction is
/// read only, and the role needs only the privilege to read.
///
/// Independent statements share a pipeline, so that a check takes a handful of round trips, however
/// large the schema is.
package struct StorageCheck {
  package let mapping: StorageMapping
  /// The number of rows from which on a condition should have an index.
  package var largeTableRows = 100_000
  /// The maximum length of a list without pages.
  package var maximumListRows = PlannerLimits().maximumElements
  /// The number of rows sampled for values outside of an enum.
  package var enumSampleRows = 10_000
  /// Whether clients have roles of their own, so that those decide what may be read.
  package var clientsHaveRoles = false

  package init(mapping: StorageMapping) { self.mapping = mapping }

  /// Runs the check over a separate connection.
  package func run(_ configuration: PostgresConfiguration) throws(PostgresError) -> [StorageFinding]
  {
    var configuration = configuration
    configuration.isReadOnly = true
    return try run(PostgresSession(configuration))
  }

  /// Runs the check.
  ///
  /// - Returns: errors, then warnings; one for each cause.
  /// - Throws: an error only if the database cannot be queried.
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
        .execute(RowSecurity.readers(of: sources)),
      ])
    let catalog = try DatabaseCatalog(catalogAnswers.dropLast(3))
    let secured = try RowSecurity.findings(catalogAnswers[catalogAnswers.count - 3])
    let managed = try ManagedTables.findings(catalogAnswers[catalogAnswers.count - 2])
    let recursions = try RowSecurity.recursions(
      catalogAnswers[catalogAnswers.count - 1], session)

    let rules = SchemaRules(mapping: mapping).findings
    let check = LeafCheck(mapping: mapping, catalog: catalog)
    let leaves = rows.flatMap { check.findings(for: $0) }
    // PostgreSQL's own messages about the same causes are left out.
    let known = (rules + leaves).flatMap(\.operators)
    var findings = managed + recursions + (clientsHaveRoles ? [] : secured) + rules
    findings += statements.findings.filter { finding in
      !known.contains { finding.message.contains("operator does not exist: \($0)") }
    }
    findings += leaves
    let orders = OrderCheck(mapping: mapping, catalog: catalog)
    findings += rows.compactMap { orders.finding(for: $0) }
    let lists = ListCheck(mapping: mapping, catalog: catalog, maximumRows: maximumListRows)
    findings += rows.compactMap { lists.finding(for: $0) }

    let enums = EnumSampling(
      mapping: mapping, catalog: catalog, rows: rows, maximum: enumSampleRows)
    let searches = SearchCheck(catalog: catalog, rows: rows, largeTableRows: largeTableRows)
    let needed = rights.lacksAny && !clientsHaveRoles ? statements.held : []
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
