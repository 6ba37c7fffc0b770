import DatabaseSetup
import Foundation
import GraphQLExecution
import JSON
import Postgres
import Server
import StorageChecking

/// `sociograph test`: runs documents and compares their responses, without a trace in the database.
enum TestCommand {
  static let specification = CommandSpecification(
    "test", "Runs documents for their viewers and compares the responses; changes nothing.",
    operands: "DIR",
    options: [SettingOptions.json, SettingOptions.schema, SettingOptions.sql]
      + SettingOptions.databases
      + SettingOptions.clientRoles,
    notes: """
      DIR has NAME.graphql, and NAME.json with {"viewer", "claims", "operation", "variables",
      "response"} or a list of such steps. "viewer" is a username, "claims" those of a signed token.
      "..." in "response" stands for anything. Each NAME has a transaction that is rolled back.
      setup.sql, if it is there, runs in each of them first. The database's owner is needed.
      Exit status: 0 all responses are as expected, 1 some are not, 2 DIR cannot be read.
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    guard let folder = options.operands.first, options.operands.count == 1 else {
      throw UsageError("test needs one DIR with documents.")
    }
    let tests = try tests(in: folder)
    let setUp = try setUp(in: folder)
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let database = try Database.open(options)
    defer { database.close() }
    if let folder = try SettingOptions.migrations(options) {
      if !database.isShared {
        _ = try database.migrate(folder)
      } else if options.isTold("sql") {
        try check(database, against: folder)
      }
    }
    var execution = ExecutionSettings()
    let session = try PostgresSession(database.planningConfiguration())
    let roles = try SettingOptions.anonymousRole(options).map { anonymous in
      ClientRoles(anonymous: anonymous, names: try ClientRoleCheck(session).names)
    }
    if let key = try? Database.cursorSigner(session) { execution.cursorSigner = key }
    let tester = try database.withGraph {
      try DocumentTester(
        mapping: mapping, database: database.planningConfiguration(), settings: execution,
        setUp: setUp,
        roles: roles)
    }
    defer { tester.stop() }
    let isJSON = try options.isSet("json")
    var results: [JSONValue] = []
    var failed = 0
    for test in tests {
      let differences = try Console.working(test.name) { try tester.run(test) }
      results.append(
        .object([
          JSONValue.Member(name: "name", value: .string(test.name)),
          JSONValue.Member(name: "ok", value: .boolean(differences.isEmpty)),
          JSONValue.Member(name: "differences", value: .array(differences.map { .string($0) })),
        ]))
      if !differences.isEmpty { failed += 1 }
      if isJSON { continue }
      let word =
        differences.isEmpty ? Console.colored("passed", .green) : Console.colored("FAILED", .red)
      Console.print("\(word) \(test.name)")
      for line in differences { Console.print("  \(line)") }
    }
    if isJSON {
      Console.print(
        .object([
          JSONValue.Member(name: "ok", value: .boolean(failed == 0)),
          JSONValue.Member(name: "tests", value: .array(results)),
        ]))
    }
    Console.say("\(tests.count - failed) passed, \(failed) failed")
    return failed == 0 ? 0 : 1
  }

  /// Refuses a folder whose tables or functions are not those of the database: the documents would
  /// be tested with others.
  private static func check(_ database: Database, against folder: String) throws {
    let plan = try Migrations.read(folder).plan(for: database.configuration())
    var lines = plan.lines
    if case .older = plan.functions { lines.append("functions of a later program") }
    guard lines.isEmpty else {
      throw UsageError(
        "the database does not have what \"\(folder)\" has; apply it with sociograph migrate, or leave "
          + "out --sql. It differs in \(lines.prefix(5).joined(separator: ", "))"
          + (lines.count > 5 ? " and \(lines.count - 5) more." : "."))
    }
  }

  /// Returns the tests of a folder in the order of their names.
  private static func tests(in folder: String) throws(UsageError) -> [DocumentTest] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".graphql") }.map { String($0.dropLast(8)) }.sorted()
    } catch {
      throw UsageError("the folder \"\(folder)\" cannot be read.")
    }
    guard !names.isEmpty else { throw UsageError("\"\(folder)\" has no .graphql files.") }
    var tests: [DocumentTest] = []
    for name in names {
      do throws(CommandFailure) {
        let document = try Console.contents(of: "\(folder)/\(name).graphql")
        tests.append(
          try DocumentTest(
            name: name, document: String(decoding: document, as: UTF8.self),
            expectation: Console.contents(of: "\(folder)/\(name).json")))
      } catch {
        throw UsageError(error.description)
      }
    }
    return tests
  }

  private static func setUp(in folder: String) throws -> String? {
    let file = folder + "/setup.sql"
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    return String(decoding: try Console.contents(of: file), as: UTF8.self)
  }
}
