import GraphQLPlanning
import GraphQLSchema

/// `sociograph schema`: what clients see, as SDL; or whether its storage directives hold.
package enum SchemaCommand {
  static let specification = CommandSpecification(
    "schema", "Prints the schema as clients see it, or checks its storage with --check.",
    options: [
      CommandSpecification.Option(
        "check", nil, "hold every storage directive against the live database"),
      SettingOptions.schema, SettingOptions.database, SettingOptions.data, SettingOptions.sql,
    ])

  static func run(_ options: CommandOptions) throws {
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    guard try options.isSet("check") else {
      print(SchemaPrinter(StorageDirectives.clientSchema(of: mapping.schema)).print())
      return
    }
    let folder = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options)
    defer { database.close() }
    _ = try database.migrate(folder)
    let problems = try StorageCheck(mapping: mapping).run(database.configuration())
    guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n")) }
    print("Every storage directive holds.")
  }
}
