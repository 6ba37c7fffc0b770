import DatabaseSetup
import JSON
import SQL
import Server

/// `sociograph migrate`: applies the tables and functions of the graph.
enum MigrateCommand {
  static let specification = CommandSpecification(
    "migrate", "Brings the tables and functions of a database up to date.",
    options: [
      CommandSpecification.Option(
        "dry-run", nil, "print what would be applied, and change nothing"),
      CommandSpecification.Option(
        "json", nil, "with --dry-run: print one JSON object instead of lines"),
      CommandSpecification.Option(
        "server-role", "ROLE", "let this role serve: read the graph, and record uses of sessions"),
      CommandSpecification.Option(
        "writer-role", "ROLE",
        "let mutations run under this role: read the graph, and call its functions"),
      SettingOptions.sql,
    ] + SettingOptions.databases)

  static func run(_ options: CommandOptions) throws {
    let folder = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options, creates: true)
    defer { database.close() }
    if try options.isSet("dry-run") {
      let plan = try Migrations.read(folder).plan(for: database.configuration(), putBack: true)
      if let remark = plan.remark { Console.say(remark) }
      if try options.isSet("json") {
        Console.print(
          .object([
            JSONValue.Member(name: "isPending", value: .boolean(plan.isPending)),
            JSONValue.Member(
              name: "files", value: .array(plan.isPending ? plan.lines.map { .string($0) } : [])),
          ]))
        return
      }
      Console.print(
        plan.isPending
          ? "Would apply:" + plan.lines.map { "\n  \($0)" }.joined() : "Nothing to apply.")
      return
    }
    if try options.isSet("json") { throw UsageError("--json of migrate needs --dry-run.") }
    let outcome = try Console.working("migrating") {
      try database.migrate(folder, putBack: true)
    }
    Console.print(Self.text(outcome))
    try check(nil, .owner, database)
    if database.isEmbedded {
      _ = try database.servingConfiguration(after: outcome)
      try check(ServerRole.reader, .reader, database)
      _ = try database.writingConfiguration(options, after: outcome)
      try check(ServerRole.writer, .writer, database)
    }
    if let role = options.text("server-role") {
      try ServerRole.allow(role, in: database.configuration())
      try check(role, .reader, database)
      Console.print("The role \"\(role)\" may serve.")
    }
    if let role = options.text("writer-role") {
      try ServerRole.allow(role, mutations: true, in: database.configuration())
      try check(role, .writer, database)
      Console.print("Mutations may run under the role \"\(role)\".")
    }
  }

  /// Checks the granted privileges: the owner that grants may own only a part of the graph.
  private static func check(
    _ role: String?, _ caller: ContractEntry.Caller, _ database: Database
  ) throws {
    let findings = try database.lacking(role, caller)
    for warning in findings where !warning.isError { Console.warn(warning.text) }
    let errors = findings.filter(\.isError)
    guard errors.isEmpty else {
      throw CommandFailure(errors.map(\.description).joined(separator: "\n"))
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
