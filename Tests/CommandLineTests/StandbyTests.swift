import Foundation
import TestSupport
import Testing

/// No place from which libpq takes its options may lead to a standby.
@Suite struct StandbyTests {
  private static let sentence =
    "leads to a standby, whose reads miss what was just written. Write target_session_attrs=read-write, "
    + "or leave it out."

  @Test(arguments: [
    ["--database"], ["--database", "host=localhost", "--writer-database"],
    ["--pooler", "transaction", "--database", "host=localhost", "--direct-database"],
  ])
  func `an option that asks for one is refused`(options: [String]) throws {
    for value in ["standby", "prefer-standby", "read-only"] {
      let url = "postgresql://app@localhost:1/graph?target_session_attrs=\(value)"
      let run = try ProgramRun.complete(["serve", "--listen", "127.0.0.1:0"] + options + [url])
      #expect(run.status != 0)
      #expect(
        run.errors.contains("target_session_attrs=\(value) " + Self.sentence), "\(run.errors)")
    }
  }

  @Test func `the environment and service files are looked at as well`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "services", "[late]\nhost=localhost\nport=1\ntarget_session_attrs=prefer-standby\n")
    func run(_ database: String, _ environment: [String: String]) throws -> String {
      try ProgramRun.complete(
        ["schema", "--check", "--database", database], environment: environment
      ).errors
    }
    let place = "target_session_attrs=prefer-standby, of PGTARGETSESSIONATTRS or a service file, "
    for (database, environment) in [
      ("host=localhost port=1", ["PGTARGETSESSIONATTRS": "prefer-standby"]),
      ("service=late", ["PGSERVICEFILE": file]),
      ("dbname=graph", ["PGSERVICEFILE": file, "PGSERVICE": "late"]),
    ] {
      let errors = try run(database, environment)
      #expect(errors.contains(place + Self.sentence), "\(database) \(environment): \(errors)")
    }
    // What is said in the string wins.
    let errors = try run(
      "host=localhost port=1 target_session_attrs=primary",
      ["PGTARGETSESSIONATTRS": "prefer-standby"])
    #expect(!errors.contains("standby"), "\(errors)")
  }
}
