import DatabaseSetup
import GraphQLPlanning
import GraphQLSchema
import JSON
import Postgres
import SQL
import Server
import StorageChecking

/// `sociograph schema`: prints the schema that clients see as SDL, checks its storage directives, or
/// compares two versions.
enum SchemaCommand {
  static let specification = CommandSpecification(
    "schema",
    "Prints the schema as clients see it, compares it with its database (--check), or two versions.",
    operands: "[diff OLD NEW | search WORDS... | docs DIR]",
    sections: [
      CommandSpecification.Section(
        "Options",
        [
          CommandSpecification.Option(
            "check", nil, "check every storage directive against the database, without changing it"),
          CommandSpecification.Option(
            "json", nil, "with --check: print one JSON object instead of lines"),
          CommandSpecification.Option(
            "semantic-non-null", nil,
            "print types of fields as they are under onError: NULL, with @semanticNonNull"),
          CommandSpecification.Option(
            "subgraph", "FORM", choices: SubgraphSchema.Form.allCases.map(\.rawValue),
            "print it as a part of a larger graph: federation, of Apollo, or composite, of the "
              + "GraphQL foundation"),
          SettingOptions.schema, SettingOptions.sql,
        ] + SettingOptions.databases),
      SchemaDiff.section, SchemaDocs.section,
    ],
    notes: """
      diff prints a line "breaking|dangerous|safe COORDINATE DESCRIPTION" for each change. OLD and NEW
      are files of SDL, or folders as --schema takes. search prints the fields, types, input fields
      and enum values that a question is about, the best first. docs writes a static site.
      Exit status of diff: 0 nothing is breaking, 1 a change is breaking, 2 a file cannot be read.
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    switch options.operands.first {
    case "diff": return try SchemaDiff.run(Array(options.operands.dropFirst()), options)
    case "search":
      try SchemaSearchCommand.run(Array(options.operands.dropFirst()), options)
      return 0
    case "docs":
      try SchemaDocs.run(Array(options.operands.dropFirst()), options)
      return 0
    case let other?:
      throw UsageError("unexpected argument \"\(other)\"; see sociograph schema --help.")
    case nil:
      try printOrCheck(options)
      return 0
    }
  }

  private static func printOrCheck(_ options: CommandOptions) throws {
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    if let form = try options.choice("subgraph", as: SubgraphSchema.Form.self) {
      return Console.print(SubgraphSchema.text(of: mapping, as: form))
    }
    guard try options.isSet("check") else {
      Console.print(
        SchemaPrinter(
          StorageDirectives.clientSchema(of: mapping.schema),
          marksSemanticNonNull: try options.isSet("semantic-non-null")
        ).print())
      return
    }
    let database = try Database.open(options)
    defer { database.close() }
    // Pending migrations cause most of the findings that follow.
    let pending = try pending(database, options)
    let isJSON = try options.isSet("json")
    func tell(_ line: String) { if !isJSON { Console.print(finding: line) } }
    for line in pending { tell(line) }
    let rights = try rights(database)
    for finding in rights { tell("\(finding)") }
    let findings = try Console.working("checking the storage") {
      try StorageCheck(mapping: mapping).run(database.planningConfiguration())
    }
    for finding in findings { tell("\(finding)") }
    let problems = try Console.working("checking the mutations") {
      try MutationCheck(mapping: mapping).findings(
        PostgresSession(database.planningConfiguration()))
    }
    for problem in problems { tell("\(problem.coordinate): \(problem.message)") }
    if isJSON { Console.print(report(pending, rights, findings + problems)) }
    let errors =
      findings.count { $0.severity == .error } + problems.count + min(pending.count, 1)
      + rights.count(where: \.isError)
    let warnings =
      findings.count { $0.severity == .warning } + rights.count { !$0.isError }
    guard errors == 0 else {
      throw CommandFailure(
        "the schema does not fit its database (errors: \(errors), warnings: \(warnings)).")
    }
    if !isJSON { Console.print("Every storage directive holds.") }
  }

  /// Returns all findings; those of privileges and of migrations have no coordinate.
  private static func report(
    _ pending: [String], _ rights: [RoleCheck.Finding], _ findings: [StorageFinding]
  ) -> JSONValue {
    func entry(_ severity: String, _ coordinate: String?, _ message: String) -> JSONValue {
      .object([
        JSONValue.Member(name: "severity", value: .string(severity)),
        JSONValue.Member(name: "coordinate", value: coordinate.map { .string($0) } ?? .null),
        JSONValue.Member(name: "message", value: .string(message)),
      ])
    }
    let entries =
      (pending.isEmpty ? [] : [entry("error", nil, pending.joined(separator: "\n"))])
      + rights.map { entry($0.isError ? "error" : "warning", nil, $0.text) }
      + findings.map { entry($0.severity.rawValue, $0.coordinate, $0.message) }
    let isGood =
      pending.isEmpty && !rights.contains(where: \.isError)
      && !findings.contains { $0.severity == .error }
    return .object([
      JSONValue.Member(name: "ok", value: .boolean(isGood)),
      JSONValue.Member(name: "findings", value: .array(entries)),
    ])
  }

  /// Returns the privileges that the roles of an embedded database lack, or else the session's
  /// role.
  private static func rights(_ database: Database) throws -> [RoleCheck.Finding] {
    guard database.isEmbedded else {
      let findings = try database.lacking(nil, .reader) + database.lacking(nil, .writer)
      // Both lack the schema, or a table.
      return findings.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
    return try [(ServerRole.reader, .reader), (ServerRole.writer, .writer)].flatMap {
      (role: String, caller: ContractEntry.Caller) in
      // A folder that was never served from has none.
      try ServerRole.exists(role, in: database.configuration())
        ? database.lacking(role, caller) : []
    }
  }

  /// Returns the pending migrations, and the command to run; empty if there are none.
  private static func pending(
    _ database: Database, _ options: CommandOptions
  ) throws -> [String] {
    guard let folder = try SettingOptions.migrations(options) else { return [] }
    let plan: MigrationPlan
    do {
      plan = try Migrations.read(folder).plan(for: database.configuration())
    } catch let error as SetupError {
      return ["error: \(error)"]
    }
    if let remark = plan.remark { Console.say(remark) }
    guard plan.isPending else { return [] }
    let lines = plan.lines
    let command =
      database.isEmbedded
      ? "start `sociograph serve` or run `sociograph migrate`"
      : "run `sociograph migrate --database URL` as the owner of the graph"
    return [
      "error: the database is behind this program by \(lines.count) files: \(command). The "
        + "findings below may come from that:"
    ] + lines.map { "  \($0)" }
  }
}
