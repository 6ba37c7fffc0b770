import DatabaseSetup

/// `sociograph migrate`: the tables and functions of the graph, brought up to date.
enum MigrateCommand {
  static let specification = CommandSpecification(
    "migrate", "Brings the tables and functions of a database up to date.",
    options: [
      CommandSpecification.Option(
        "dry-run", nil, "say what would be applied, and change nothing"),
      CommandSpecification.Option(
        "server-role", "ROLE", "let this role serve: read the graph, and note uses of sessions"),
      CommandSpecification.Option(
        "writer-role", "ROLE",
        "let mutations run under this role: read the graph, call its functions"),
      SettingOptions.sql,
    ] + SettingOptions.databases)

  static func run(_ options: CommandOptions) throws {
    let folder = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options)
    defer { database.close() }
    if try options.isSet("dry-run") {
      let plan = try Migrations.read(folder).plan(for: database.configuration(), putBack: true)
      if let remark = plan.remark { Console.say(remark) }
      Console.print(
        plan.isPending
          ? "Would apply:" + plan.lines.map { "\n  \($0)" }.joined() : "Nothing to apply.")
      return
    }
    let outcome = try database.migrate(folder, putBack: true)
    Console.print(Self.text(outcome))
    if !outcome.isEmpty, database.isEmbedded {
      _ = try database.servingConfiguration(after: outcome)
    }
    if let role = options.text("server-role") {
      try ServerRole.allow(role, in: database.configuration())
      Console.print("The role \"\(role)\" may serve.")
    }
    if let role = options.text("writer-role") {
      try ServerRole.allow(role, mutations: true, in: database.configuration())
      Console.print("Mutations may run under the role \"\(role)\".")
    }
  }

  private static func text(_ outcome: Migrations.Outcome) -> String {
    var parts: [String] = []
    if outcome.tables > 0 {
      parts.append("\(outcome.tables) migration\(outcome.tables == 1 ? "" : "s")")
    }
    if outcome.functions { parts.append("the functions") }
    return parts.isEmpty ? "Nothing to apply." : "Applied \(parts.joined(separator: " and "))."
  }
}
