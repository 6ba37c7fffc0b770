import GraphQLPlanning
import GraphQLSchema
import Server
import StorageChecking

/// `sociograph schema`: what clients see, as SDL; or whether its storage directives hold.
enum SchemaCommand {
  static let specification = CommandSpecification(
    "schema", "Prints the schema as clients see it, or checks its storage with --check.",
    options: [
      CommandSpecification.Option(
        "check", nil, "hold every storage directive against the live database, changing nothing"),
      SettingOptions.schema, SettingOptions.sql,
    ] + SettingOptions.databases)

  static func run(_ options: CommandOptions) throws {
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    guard try options.isSet("check") else {
      Console.print(SchemaPrinter(StorageDirectives.clientSchema(of: mapping.schema)).print())
      return
    }
    let database = try Database.open(options)
    defer { database.close() }
    let findings = try StorageCheck(mapping: mapping).run(database.configuration())
    for finding in findings { Console.print("\(finding)") }
    let problems = try MutationCheck(mapping: mapping).run(database.configuration())
    for problem in problems { Console.print(problem) }
    let errors = findings.count { $0.severity == .error } + problems.count
    let warnings = findings.count + problems.count - errors
    guard errors == 0 else {
      throw CommandFailure(
        "the schema does not fit its database (errors: \(errors), warnings: \(warnings)).")
    }
    Console.print("Every storage directive holds.")
  }
}
