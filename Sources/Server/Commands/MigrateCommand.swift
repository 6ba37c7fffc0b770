import DatabaseSetup

/// `sociograph migrate`: the tables and functions of the graph, brought up to date.
package enum MigrateCommand {
  static let specification = CommandSpecification(
    "migrate", "Applies the migrations that a database lacks, in order, once each.",
    options: [
      CommandSpecification.Option(
        "server-role", "ROLE", "let this role serve: read the graph, and note uses of sessions"),
      SettingOptions.database, SettingOptions.data, SettingOptions.sql,
    ])

  static func run(_ options: CommandOptions) throws {
    let folder = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options)
    defer { database.close() }
    let count = try database.migrate(folder)
    print(count == 0 ? "Nothing to apply." : "Applied \(count) migrations.")
    if let role = options.text("server-role") {
      try ServerRole.allow(role, in: database.configuration())
      print("The role \"\(role)\" may serve.")
    }
  }
}
