import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres
import SQL
import Server
import StorageChecking

/// `sociograph explain`: the plan of an operation, and PostgreSQL's plan of its statement.
enum ExplainCommand {
  static let specification = CommandSpecification(
    "explain",
    "Prints the plan of an operation: its statement and parameters. FILE may be -, for stdin.",
    operands: "FILE",
    sections: [
      CommandSpecification.Section("Options", options),
      CommandSpecification.Section("Budgets", BudgetOptions.all),
    ],
    notes: """
      With --documents there is no FILE. Every operation of the manifest is explained, and its plan
      compared with --budget; --variables then has an object for each operation, by its name.
      Exit status: 0 done, and within the budget; 1 beyond the budget, or a failure; 2 a file cannot
      be read.
      """)

  private static let options =
    [
      CommandSpecification.Option(
        "variables", "FILE",
        "the operation's variables, as a JSON object"),
      CommandSpecification.Option("operation", "NAME", "the name of the operation in the document"),
      CommandSpecification.Option(
        "viewer", "NAME", "the username of the viewer; anonymous without it"),
      TokenClaims.option(
        "a claim of the viewer's signed token; a value that is JSON is taken as JSON"),
      CommandSpecification.Option(
        "analyze", nil,
        "run the statement as a server does, and print PostgreSQL's plan with its times and "
          + "the most expensive fields; of a mutation only the payload's selection is planned"),
      CommandSpecification.Option(
        "shape", nil, "also print how the statement's row becomes the response"),
      CommandSpecification.Option(
        "format", "FORMAT", default: "text", choices: ["text", "json"], "text or json"),
      SettingOptions.schema, SettingOptions.sql,
    ] + SettingOptions.databases + SettingOptions.clientRoles

  private enum Format: String, CaseIterable { case text, json }

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    if options.text("documents") != nil { return try BudgetOptions.run(options) }
    guard options.text("budget") == nil else { throw UsageError("--budget needs --documents.") }
    guard let file = options.operands.first, options.operands.count == 1 else {
      throw UsageError("explain needs one FILE with a GraphQL document.")
    }
    do {
      try run(file, options)
    } catch let error as GraphQLError {
      // For a value that no statement accepts, such as a cursor of another list.
      throw failure([error], in: file)
    }
    return 0
  }

  private static func run(_ file: String, _ options: CommandOptions) throws {
    let format = try options.choice("format", as: Format.self) ?? .text
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let (operation, took) = try prepare(file, options, mapping)
    let analyzes = try options.isSet("analyze")
    let claims = try TokenClaims.read(options)
    operation.claims = claims
    let anonymous = try SettingOptions.anonymousRole(options)
    var viewer: Int64 = claims == nil ? 0 : 1
    var analysis: ExplainReport.Analysis?
    var selectionPlans: [[String]] = []
    if analyzes || options.text("viewer") != nil {
      let database = try Database.open(options)
      defer { database.close() }
      if !database.isShared, let folder = try SettingOptions.migrations(options) {
        _ = try database.migrate(folder)
      }
      let session = try PostgresSession(
        serverLike(database.planningConfiguration()))
      if let name = options.text("viewer") { viewer = try find(name, session) }
      if let anonymous {
        let names = try ClientRoleCheck(session).names
        try take(try ClientRoles(anonymous: anonymous, names: names).role(of: claims), session)
      }
      if let key = try? Database.cursorSigner(session) { operation.cursorSigner = key }
      if analyzes {
        analysis = try analyze(operation, viewer, session)
        selectionPlans = try planSelections(operation, session)
      }
    }
    let report = ExplainReport(
      operation: operation, viewer: viewer, preparation: took,
      parameterTexts: try operation.parameterTexts(viewer: viewer),
      selectionPlans: selectionPlans,
      showsShape: try options.isSet("shape"), analysis: analysis)
    Console.print(format == .json ? report.json : report.text)
  }

  /// Prepares the operation as a running server does that has not prepared it before.
  private static func prepare(
    _ file: String, _ options: CommandOptions, _ mapping: StorageMapping
  ) throws -> (PreparedOperation, Duration) {
    let text = String(decoding: try Console.contents(of: file), as: UTF8.self)
    var variables: [JSONValue.Member] = []
    if let path = options.text("variables") {
      do {
        guard case .object(let members) = try JSONParser.parse(Console.contents(of: path)) else {
          throw CommandFailure("\(path): variables must be a JSON object.")
        }
        variables = members
      } catch let error as JSONError {
        throw CommandFailure("\(path): \(error)")
      }
    }
    let request = GraphQLRequest(
      identity: .random(), document: text, operationName: options.text("operation"),
      variables: variables)
    do {
      // The process' own first time: its code comes from the disk.
      _ = try OperationPreparer(mapping: mapping).prepare(request).get()
      let preparer = OperationPreparer(mapping: mapping)
      let clock = ContinuousClock()
      let began = clock.now
      let operation = try preparer.prepare(request).get()
      return (operation, began.duration(to: clock.now))
    } catch {
      throw failure(error.errors, in: file)
    }
  }

  private static func failure(_ errors: [GraphQLError], in file: String) -> CommandFailure {
    CommandFailure(
      errors.map { error in
        let place = error.locations.first.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): \(error.fullMessage)"
      }.joined(separator: "\n"))
  }

  /// Returns the configuration with the planner settings of the server's connections.
  static func serverLike(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
    var configuration = configuration
    configuration.isReadOnly = true
    configuration.statementTimeout = .seconds(600)
    return configuration
  }

  /// Lets the statements of a session run as those of a client.
  private static func take(_ role: ClientRole, _ session: PostgresSession) throws {
    _ = try session.execute(
      "SELECT set_config('role', $1, false), set_config('request.jwt.claims', $2, false)",
      [role.name, role.claims])
  }

  static func find(_ name: String, _ session: PostgresSession) throws -> Int64 {
    let rows = try session.execute("SELECT \(GraphContract.viewerNamed)($1)", [name])
    guard let text = rows.first?.first ?? nil, let id = Int64(text) else {
      throw CommandFailure("there is no user \"\(name)\".")
    }
    return id
  }

  /// Returns PostgreSQL's plans of the selections of a mutation's payloads, for each of its fields
  /// in order. They are planned without values, as the server's plans serve all values.
  private static func planSelections(
    _ operation: PreparedOperation, _ session: PostgresSession
  ) throws -> [[String]] {
    guard case .mutation(let mutation) = operation.plan.plan else { return [] }
    return try mutation.fields.map { field in
      guard case .call(let call) = field, let selection = call.selection else { return [] }
      let statement = PostgresStatement(
        selection.text, parameterCount: selection.parameters.count)
      try session.prepare(statement)
      let nulls = selection.parameters.map { _ in "NULL" }.joined(separator: ", ")
      let rows = try session.execute(
        "EXPLAIN EXECUTE \(statement.name)" + (nulls.isEmpty ? "" : "(\(nulls))"))
      return rows.compactMap { $0.first ?? nil }
    }
  }

  /// Runs the statement as a server's connections do: prepared, with the plan for all values, its
  /// rows in binary.
  private static func analyze(
    _ operation: PreparedOperation, _ viewer: Int64, _ session: PostgresSession
  ) throws -> ExplainReport.Analysis? {
    guard let statement = operation.plan.statement?.alone else { return nil }
    let parameters = try operation.parameters(viewer: viewer)
    try session.prepare(statement)
    let clock = ContinuousClock()
    var bytes = 0
    let first = try clock.measure { bytes = try session.executePrepared(statement, parameters) }
    let again = try clock.measure { _ = try session.executePrepared(statement, parameters) }
    let literals = try session.literals(of: statement, parameters)
    let arguments = literals.isEmpty ? "" : "(\(literals.joined(separator: ", ")))"
    let rows = try session.execute(
      "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON) EXECUTE \(statement.name)\(arguments)")
    let json = Array(rows.map { ($0.first ?? nil) ?? "" }.joined(separator: "\n").utf8)
    guard
      let plan = StatementAnalysis(
        try JSONParser.parse(json, maximumNesting: 500), shape: operation.plan.plan.shape)
    else { throw CommandFailure("PostgreSQL's plan cannot be read.") }
    return ExplainReport.Analysis(
      first: first, again: again, bytes: bytes, json: json, plan: plan)
  }
}
