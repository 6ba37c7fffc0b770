import Foundation
import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import JSON
import Postgres

/// `sociograph explain`: the plan of an operation, and what PostgreSQL makes of it.
package enum ExplainCommand {
  static let specification = CommandSpecification(
    "explain",
    "Prints the plan of an operation: statement, parameters, output shape. FILE may be -, for stdin.",
    operands: "FILE",
    options: [
      CommandSpecification.Option("variables", "FILE", "JSON object of the operation's variables"),
      CommandSpecification.Option("operation", "NAME", "which operation of the document"),
      CommandSpecification.Option(
        "viewer", "NAME", "username of the signed-in user; anonymous without it"),
      CommandSpecification.Option(
        "analyze", nil, "run the statement and print PostgreSQL's own plan with its times"),
      CommandSpecification.Option("format", "FORMAT", default: "text", "text or json"),
      SettingOptions.schema, SettingOptions.database, SettingOptions.data, SettingOptions.sql,
    ])

  private enum Format: String, CaseIterable { case text, json }

  static func run(_ options: CommandOptions) throws {
    guard let file = options.operands.first, options.operands.count == 1 else {
      throw UsageError("explain needs one FILE with a GraphQL document.")
    }
    do {
      try run(file, options)
    } catch let error as GraphQLError {
      // Of a value that no statement can be given, such as a cursor of another list.
      throw failure([error], in: file)
    }
  }

  private static func run(_ file: String, _ options: CommandOptions) throws {
    let format = try options.choice("format", as: Format.self) ?? .text
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    var (operation, took) = try prepare(file, options, mapping)
    let analyzes = try options.isSet("analyze")
    var viewer: Int64 = 0
    var analysis: String?
    if analyzes || options.text("viewer") != nil {
      let database = try Database.open(options)
      defer { database.close() }
      if database.isEmbedded {
        _ = try database.migrate(SettingOptions.shippedFolder("sql", "sql", options))
      }
      let session = try PostgresSession(
        serverLike(database.configuration()))
      if let name = options.text("viewer") { viewer = try find(name, session) }
      if let key = try? database.cursorKey() { operation.cursorKey = key }
      if analyzes { analysis = try analyze(operation, viewer, format, session) }
    }
    let report = ExplainReport(
      operation: operation, viewer: viewer, preparation: took,
      parameterTexts: try operation.parameterTexts(viewer: viewer), analysis: analysis)
    print(format == .json ? report.json : report.text)
  }

  /// Prepares the operation as a server does that has prepared others before, but not this one.
  private static func prepare(
    _ file: String, _ options: CommandOptions, _ mapping: StorageMapping
  ) throws -> (PreparedOperation, Duration) {
    let text = try readFile(file)
    var variables: JSONValue?
    if let path = options.text("variables") {
      do {
        variables = try JSONParser.parse(Array(readFile(path).utf8))
      } catch let error as JSONError {
        throw CommandFailure("\(path): \(error)")
      }
      guard case .object? = variables else {
        throw CommandFailure("\(path): variables must be a JSON object.")
      }
    }
    let request = OperationRequest(
      query: text, operationName: options.text("operation"), variables: variables)
    do {
      // The process' own first time: its code comes from the disk.
      _ = try OperationExecutor(mapping: mapping).prepare(request)
      let executor = OperationExecutor(mapping: mapping)
      let clock = ContinuousClock()
      let began = clock.now
      let operation = try executor.prepare(request)
      return (operation, began.duration(to: clock.now))
    } catch {
      throw failure(error.errors, in: file)
    }
  }

  private static func failure(_ errors: [GraphQLError], in file: String) -> CommandFailure {
    CommandFailure(
      errors.map { error in
        let place = error.locations.first.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): \(error.message)"
      }.joined(separator: "\n"))
  }

  /// The planner settings that the server's own connections have.
  private static func serverLike(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
    var configuration = configuration
    configuration.isReadOnly = true
    configuration.statementTimeout = .seconds(600)
    return configuration
  }

  private static func find(_ name: String, _ session: PostgresSession) throws -> Int64 {
    let rows = try session.execute("SELECT viewer_named($1)", [name])
    guard let text = rows.first?.first ?? nil, let id = Int64(text) else {
      throw CommandFailure("there is no user \"\(name)\".")
    }
    return id
  }

  private static func analyze(
    _ operation: PreparedOperation, _ viewer: Int64, _ format: Format, _ session: PostgresSession
  ) throws -> String? {
    guard let statement = operation.plan.plan.statement else { return nil }
    let rows = try session.execute(
      "EXPLAIN (ANALYZE, BUFFERS, FORMAT \(format.rawValue)) " + statement,
      binding: try operation.parameters(viewer: viewer))
    return rows.map { ($0.first ?? nil) ?? "" }.joined(separator: "\n")
  }

  static func readFile(_ path: String) throws(CommandFailure) -> String {
    // A handle, unlike FileManager, reads pipes too.
    let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    guard let file, let data = try? file.readToEnd() ?? Data() else {
      throw CommandFailure("\"\(path)\" cannot be read.")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// What `explain` prints.
struct ExplainReport {
  let operation: PreparedOperation
  let viewer: Int64
  /// Parsing, validating and planning, with none of it kept from before.
  let preparation: Duration
  let parameterTexts: [String?]
  /// PostgreSQL's own plan, in the format of the report.
  let analysis: String?

  private var plan: Plan { operation.plan.plan }

  private var microseconds: Int64 {
    preparation.components.seconds * 1_000_000
      + preparation.components.attoseconds / 1_000_000_000_000
  }

  var text: String {
    var lines = ["# Statement \(operation.plan.statement?.alone.name ?? "")"]
    lines.append(plan.statement ?? "-- nothing to ask the database")
    lines += ["", "# Parameters"]
    let descriptions = plan.parameterLines(variableNames: operation.variableNames)
    for (description, value) in zip(descriptions, parameterTexts) {
      lines.append(description + (value.map { " = \($0)" } ?? ""))
    }
    lines += ["", "# Output shape"] + plan.shapeLines
    lines += ["", "# Prepared in \(microseconds) µs"]
    if let analysis { lines += ["", "# PostgreSQL's plan", analysis] }
    return lines.joined(separator: "\n")
  }

  var json: String {
    var writer = JSONWriter()
    writer.append("{\"preparedInMicroseconds\":")
    writer.write(microseconds)
    writer.append(",\"name\":")
    writer.write(operation.plan.statement?.alone.name ?? "")
    writer.append(",\"statement\":")
    writer.write(plan.statement ?? "")
    writer.append(",\"parameters\":[")
    for (index, parameter) in plan.parameters.enumerated() {
      writer.append(index > 0 ? ",{\"number\":" : "{\"number\":")
      writer.write(index + 1)
      writer.append(",\"source\":")
      writer.write(parameter.description(operation.variableNames))
      writer.append(",\"value\":")
      if let value = parameterTexts[index] { writer.write(value) } else { writer.writeNull() }
      writer.append("}")
    }
    writer.append("],\"shape\":[")
    for (index, line) in plan.shapeLines.enumerated() {
      if index > 0 { writer.append(",") }
      writer.write(line)
    }
    writer.append("]")
    if let analysis {
      writer.append(",\"analysis\":")
      writer.append(Array(analysis.utf8))
    }
    writer.append("}")
    return String(decoding: writer.finish(), as: UTF8.self)
  }
}
