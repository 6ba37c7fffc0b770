import Foundation
import JSON
import TestSupport
import Testing

/// The commands against a real database.
@Suite struct CommandTests {
  @Test func `migrate applies what is missing, once`() throws {
    let database = try TestCluster.newDatabase()
    let first = try ProgramRun.complete(["migrate", "--database", database])
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.hasPrefix("Applied ") && first.output.hasSuffix(" migrations.\n"))
    let second = try ProgramRun.complete(["migrate"], environment: ["DATABASE_URL": database])
    #expect(second.status == 0)
    #expect(second.output == "Nothing to apply.\n")
  }

  @Test func `a database that cannot be reached is one line and status 1`() throws {
    let run = try ProgramRun.complete(["migrate", "--database", "host=/does/not/exist dbname=x"])
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("sociograph: "))
  }

  @Test func `schema prints what clients see`() throws {
    let run = try ProgramRun.complete(["schema"])
    #expect(run.status == 0)
    #expect(run.output.contains("\ntype User implements Node"))
    #expect(!run.output.contains("@table") && !run.output.contains("@sql"))
  }

  @Test func `schema --check holds the storage directives against the database`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let good = try ProgramRun.complete(["schema", "--check", "--database", database])
    #expect(good.status == 0, "\(good.errors)")
    #expect(good.output == "Every storage directive holds.\n")
    try TestCluster.session(database).execute(
      "ALTER TABLE app_user RENAME username TO name_of_user")
    let bad = try ProgramRun.complete(["schema", "--check", "--database", database])
    #expect(bad.status == 1)
    #expect(bad.errors.contains("User."))
  }

  @Test func `explain prints statement, parameters and output shape`() throws {
    let folder = try TemporaryFolder()
    let operation = try folder.write(
      "operation.graphql", "query($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }")
    let variables = try folder.write("variables.json", #"{"ids": ["AjEB"]}"#)
    let text = try ProgramRun.complete(["explain", operation, "--variables", variables])
    #expect(text.status == 0, "\(text.errors)")
    for part in ["# Statement s_", "SELECT", "# Parameters\n$1", "# Output shape\nnodes"] {
      #expect(text.output.contains(part))
    }
    let json = try ProgramRun.complete(
      ["explain", operation, "--variables", variables, "--format", "json"])
    let report = try JSONParser.parse(Array(json.output.utf8))
    #expect(report["statement"] != nil && report["parameters"] != nil && report["shape"] != nil)

    let analyzed = try ProgramRun.complete([
      "explain", operation, "--variables", variables, "--analyze", "--database",
      try TestCluster.migratedDatabase(),
    ])
    #expect(analyzed.status == 0, "\(analyzed.errors)")
    #expect(analyzed.output.contains("# PostgreSQL's plan"))
    #expect(analyzed.output.contains("actual time="))
  }

  @Test func `explain says what it cannot use`() throws {
    let folder = try TemporaryFolder()
    let nothing = try ProgramRun.complete(["explain", folder.path + "/nothing.graphql"])
    #expect(nothing.status == 1 && nothing.errors.contains("cannot be read"), "\(nothing.errors)")
    let operation = try folder.write("operation.graphql", "{ __typename }")
    let list = try folder.write("list.json", "[1]")
    let variables = try ProgramRun.complete(["explain", operation, "--variables", list])
    #expect(variables.status == 1 && variables.errors.contains("list.json: variables must be"))
    let cursor = try folder.write(
      "cursor.graphql", #"{ users(after: "x") { nodes { id } } }"#)
    let database = ["--database", try TestCluster.migratedDatabase()]
    let analyzed = try ProgramRun.complete(["explain", cursor, "--analyze"] + database)
    #expect(analyzed.status == 1)
    #expect(analyzed.errors.contains("cursor.graphql: The cursor is not"), "\(analyzed.errors)")
    let empty = try ProgramRun.complete(
      ["explain", operation, "--analyze", "--format", "json"] + database)
    #expect(try JSONParser.parse(Array(empty.output.utf8))["shape"] != nil, "\(empty.output)")
  }

  @Test func `explain names the place of a mistake`() throws {
    let folder = try TemporaryFolder()
    let operation = try folder.write("operation.graphql", "{\n  userz { id }\n}")
    let run = try ProgramRun.complete(["explain", operation])
    #expect(run.status == 1)
    #expect(run.errors.contains("operation.graphql:2:3: Cannot query field \"userz\""))
    let viewer = try ProgramRun.complete([
      "explain", try folder.write("good.graphql", "{ __typename }"), "--viewer", "nobody",
      "--database", try TestCluster.migratedDatabase(),
    ])
    #expect(viewer.status == 1 && viewer.errors.contains("nobody"))
  }
}
