import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// `--json`: one object on standard output, for programs; and what people see on a terminal.
@Suite(.usesCluster) struct JSONOutputTests {
  /// A draft of a database of its own.
  private struct Project {
    let database: String
    let session: PostgresSession
    let folder: TemporaryFolder
    var path: String { folder.path + "/graph" }
    /// The check of its schema.
    var check: [String] { ["schema", "--check", "--schema", path, "--database", database] }

    init() throws {
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      folder = try TemporaryFolder()
      try session.execute("CREATE TABLE thing (thing_id int PRIMARY KEY, name text)")
      let draft = try ProgramRun.complete(["draft", path, "--database", database])
      try #require(draft.status == 0, "\(draft.errors)")
    }
  }

  /// Returns the object that a command prints.
  private func object(_ arguments: [String], status: Int32 = 0) throws -> [String: JSONValue] {
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == status, "\(arguments): \(run.output) \(run.errors)")
    guard case .object(let members) = try JSONParser.parse(Array(run.output.utf8)) else {
      throw CocoaError(.formatting)
    }
    return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
  }

  @Test func `commands that check print one JSON object`() throws {
    let project = try Project()
    let (database, folder, path) = (project.database, project.folder, project.path)
    let good = project.check + ["--json"]
    #expect(try object(good)["ok"] == .boolean(true))
    #expect(
      try object(["draft", path, "--check", "--json", "--database", database])["changes"]
        == .array([]))
    try project.session.execute("ALTER TABLE thing DROP name")
    let findings = try object(good, status: 1)
    #expect(findings["ok"] == .boolean(false))
    #expect("\(findings)".contains("Thing.name"), "\(findings)")

    let version = try object(["version", "--json"])
    #expect(version["version"] != nil, "\(version)")
    let tests = folder.path + "/tests"
    try FileManager.default.createDirectory(atPath: tests, withIntermediateDirectories: true)
    _ = try folder.write("tests/type.graphql", "{ __typename }\n")
    _ = try folder.write("tests/type.json", #"{"response": {"data": {"__typename": "Query"}}}"#)
    let tested = try ProgramRun.complete([
      "test", tests, "--json", "--schema", path, "--database", database,
    ])
    #expect(tested.status == 0, "\(tested.output) \(tested.errors)")
    #expect(throws: Never.self) { try JSONParser.parse(Array(tested.output.utf8)) }
    #expect(tested.output.contains("type"), "\(tested.output)")
    let verified = try object(["verify", "--json", "--database", database])
    #expect(verified["differences"] == .array([]), "\(verified)")
    let migrated = try ProgramRun.complete([
      "migrate", "--dry-run", "--json", "--database", database,
      "--sql", TestCluster.packageFolder + "/sql",
    ])
    #expect(migrated.status == 0, "\(migrated.errors)")
    #expect(throws: Never.self) { try JSONParser.parse(Array(migrated.output.utf8)) }
    #expect(migrated.output.contains("0001_identity.sql"), "\(migrated.output)")
  }

  /// What configures the tests does not configure the program.
  private static let clean = #"env -i TERM=xterm PATH="$PATH" HOME="$HOME" "#

  /// Runs a command as in a terminal (script(1) of util-linux), and returns what it shows.
  private func shown(_ arguments: [String], _ environment: String = "") throws -> String {
    let line = ([ProgramRun.executable] + arguments).map { "'\($0)'" }.joined(separator: " ")
    return try command(
      "script", "-qec", Self.clean + "\(environment) \(line)", "/dev/null"
    ).output
  }

  @Test func `findings have colors on a terminal, and none for who wants none`() throws {
    let project = try Project()
    try project.session.execute("ALTER TABLE thing DROP name")
    let check = project.check
    let colored = try shown(check)
    #expect(colored.contains("\u{1B}[31merror:\u{1B}[0m"), "\(colored)")
    let plain = try shown(check, "NO_COLOR=1")
    #expect(plain.contains("error:") && !plain.contains("\u{1B}[31m"), "\(plain)")
    let piped = try ProgramRun.complete(check)
    #expect(piped.output.contains("error:") && !piped.output.contains("\u{1B}"))
  }

  @Test func `a terminal shows what takes long, and for how long`() throws {
    let database = try TestCluster.newDatabase()
    // Who migrates waits for its turn until it is told what the terminal shows.
    let blocker = try TestCluster.session(database)
    try blocker.execute("SELECT pg_advisory_lock(hashtext('sociograph_migration'))")
    let folder = try TemporaryFolder()
    let output = folder.path + "/shown"
    _ = try folder.write("shown", "")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let sql = TestCluster.packageFolder + "/sql"
    let migrate = "'\(ProgramRun.executable)' migrate --sql '\(sql)' --database '\(database)'"
    process.arguments = ["script", "-qec", Self.clean + migrate, "/dev/null"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    #expect(
      eventually {
        (try? String(contentsOfFile: output, encoding: .utf8))?.contains("\u{1B}[Kmigrating, ")
          ?? false
      })
  }
}
