import Foundation
import GraphQLExecution
import Postgres
import Server

/// `sociograph test`: runs documents and compares their responses, without a trace in the database.
enum TestCommand {
  static let specification = CommandSpecification(
    "test", "Runs documents for their viewers and compares the responses; changes nothing.",
    operands: "DIR",
    options: [SettingOptions.schema, SettingOptions.sql] + SettingOptions.databases,
    notes: """
      DIR has NAME.graphql, and NAME.json with {"viewer", "operation", "variables", "response"} or a
      list of such steps. "..." in "response" stands for anything. Each NAME has a transaction that
      is rolled back. setup.sql, if it is there, runs in each of them first. The database's owner is
      needed.
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
    if !database.isShared, let folder = try SettingOptions.migrations(options) {
      _ = try database.migrate(folder)
    }
    var execution = ExecutionSettings()
    let session = try PostgresSession(database.configuration())
    if let key = try? Database.cursorSigner(session) { execution.cursorSigner = key }
    let tester = try database.withGraph {
      try DocumentTester(
        mapping: mapping, database: database.configuration(), settings: execution, setUp: setUp)
    }
    defer { tester.stop() }
    var failed = 0
    for test in tests {
      let differences = try tester.run(test)
      Console.print("\(differences.isEmpty ? "passed" : "FAILED") \(test.name)")
      for line in differences { Console.print("  \(line)") }
      if !differences.isEmpty { failed += 1 }
    }
    Console.say("\(tests.count - failed) passed, \(failed) failed")
    return failed == 0 ? 0 : 1
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
