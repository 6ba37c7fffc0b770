import Foundation
import GraphQLExecution
import GraphQLPlanning
import JSON
import Postgres
import Server

/// `sociograph explain --documents`: the plans of all published operations, and their budget.
enum BudgetOptions {
  static let all = [
    option("documents", "MANIFEST", "explain every operation of a manifest of trusted documents"),
    option("budget", "FILE", "compare with what --record wrote to this file"),
    option("record", nil, "write --budget in place of comparing with it"),
    option(
      "tolerance", "PERCENT", default: "20",
      "the percentage by which an operation's pages of shared buffers may grow"),
    option(
      "scan-rows", "N", default: "1000",
      "the rows from which on a new sequential scan of a table is an error"),
  ]

  private static func option(
    _ name: String, _ placeholder: String?, default fallback: String? = nil, _ summary: String
  ) -> CommandSpecification.Option {
    CommandSpecification.Option(
      name, placeholder,
      environment: "SOCIOGRAPH_EXPLAIN_"
        + name.uppercased().split(separator: "-").joined(separator: "_"),
      default: fallback, summary)
  }

  /// - Returns: the exit code: 1 if an operation is beyond its budget.
  static func run(_ options: CommandOptions) throws -> Int32 {
    guard options.operands.isEmpty else {
      throw UsageError("explain takes FILE or --documents, not both.")
    }
    let documents = try SchemaDiff.documents(options.text("documents") ?? "")
    let records = try options.isSet("record")
    let file = options.text("budget")
    guard !records || file != nil else { throw UsageError("--record needs --budget.") }
    let budget = records ? nil : try file.map { try read($0) }
    var limits = BudgetCheck.Limits()
    limits.tolerance = try options.int("tolerance", in: 0...10_000) ?? limits.tolerance
    limits.scannedRows = try options.int("scan-rows", in: 0...1_000_000_000) ?? limits.scannedRows
    let variables = try options.text("variables").map { try self.variables($0) } ?? [:]
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let database = try Database.open(options)
    defer { database.close() }
    let recorder = try recorder(database, mapping, variables, options)
    let now = try database.withGraph { try recorder.record(documents) }
    for operation in now.operations { Console.print(lines(of: operation)) }
    if let file, records {
      try LoadFiles.write(now.json, to: file)
      return 0
    }
    guard let budget else { return 0 }
    let check = BudgetCheck(
      now, against: budget, missing: try recorder.missingIndexes(of: budget), limits: limits)
    for finding in check.findings { Console.print(finding.line) }
    Console.say("\(now.operations.count) operations, \(check.findings.count) findings")
    return check.isExceeded ? 1 : 0
  }

  private static func recorder(
    _ database: Database, _ mapping: StorageMapping,
    _ variables: [String: [JSONValue.Member]], _ options: CommandOptions
  ) throws -> BudgetRecorder {
    if !database.isShared, let folder = try SettingOptions.migrations(options) {
      _ = try database.migrate(folder)
    }
    let session = try PostgresSession(
      ExplainCommand.serverLike(database.planningConfiguration()))
    let viewer = try options.text("viewer").map { try ExplainCommand.find($0, session) } ?? 0
    var settings = ExecutionSettings()
    if let key = try? Database.cursorSigner(session) { settings.cursorSigner = key }
    return BudgetRecorder(
      mapping: mapping, session: session, settings: settings, viewer: viewer, variables: variables)
  }

  private static func read(_ file: String) throws(UsageError) -> OperationBudget {
    do throws(CommandFailure) {
      return try OperationBudget(json: Console.contents(of: file))
    } catch {
      throw UsageError("\(file): \(error.description)")
    }
  }

  private static func variables(_ file: String) throws(UsageError) -> [String: [JSONValue.Member]] {
    let value: JSONValue
    do {
      value = try JSONParser.parse(Console.contents(of: file))
    } catch {
      throw UsageError("\(file): \(error)")
    }
    guard case .object(let operations) = value else {
      throw UsageError("\(file): expected an object of variables for each operation.")
    }
    var variables: [String: [JSONValue.Member]] = [:]
    for operation in operations {
      guard case .object(let members) = operation.value else {
        throw UsageError("\(file): the variables of \(operation.name) must be a JSON object.")
      }
      variables[operation.name] = members
    }
    return variables
  }

  /// Returns a line for each statement: its name, what it took, and its most expensive fields.
  private static func lines(of operation: OperationBudget.Operation) -> String {
    guard !operation.statements.isEmpty else { return "\(operation.name): no statement" }
    return operation.statements.map { statement in
      let part = statement.part.isEmpty ? "" : " (\(statement.part))"
      let took =
        if let buffers = statement.buffers, let rows = statement.rows {
          "\(buffers) pages, \(rows) rows"
        } else {
          "not run, an estimated cost of \(statement.cost)"
        }
      let fields = statement.fields.map { "\($0.shownField) \($0.pages)" }
      return "\(operation.name)\(part): \(statement.name), \(took)"
        + (fields.isEmpty ? "" : "; \(fields.joined(separator: ", "))")
    }.joined(separator: "\n")
  }
}
