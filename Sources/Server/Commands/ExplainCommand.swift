import Foundation
import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import GraphQLValidation
import JSON

/// `sociograph explain`: the plan of an operation, without running it.
package enum ExplainCommand {
  static let specification = CommandSpecification(
    "explain",
    "Prints the plan of an operation: its statement, parameters and output shape.",
    operands: "FILE",
    options: [
      CommandSpecification.Option("variables", "FILE", "JSON object of the operation's variables"),
      CommandSpecification.Option("operation", "NAME", "which operation of the document"),
      CommandSpecification.Option(
        "part", "NAME", default: "all", "all, statement, parameters or shape"),
      SettingOptions.schema,
    ])

  static func run(_ options: CommandOptions) throws {
    guard let file = options.operands.first, options.operands.count == 1 else {
      throw UsageError("explain needs one FILE with a GraphQL document.")
    }
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let text = try readFile(file)
    var variables: JSONValue?
    if let path = options.text("variables") {
      variables = try JSONParser.parse(Array(readFile(path).utf8))
    }
    let executor = OperationExecutor(mapping: mapping)
    let prepared: PreparedOperation
    do {
      prepared = try executor.prepare(
        OperationRequest(
          query: text, operationName: options.text("operation"), variables: variables))
    } catch {
      throw CommandFailure(
        error.errors.map { error in
          let place = error.locations.first.map { ":\($0.line):\($0.column)" } ?? ""
          return "\(file)\(place): \(error.message)"
        }.joined(separator: "\n"))
    }
    let plan = prepared.plan.plan
    let part = options.text("part") ?? "all"
    if part == "all" || part == "statement" {
      if part == "all" { print("# Statement") }
      print(plan.statement ?? "-- nothing to ask the database")
    }
    if part == "all" || part == "parameters" {
      if part == "all" { print("\n# Parameters") }
      for line in plan.parameterLines(variableNames: prepared.variableNames) { print(line) }
    }
    if part == "all" || part == "shape" {
      if part == "all" { print("\n# Output shape") }
      for line in plan.shapeLines { print(line) }
    }
  }

  static func readFile(_ path: String) throws(CommandFailure) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure("\"\(path)\" cannot be read.")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
