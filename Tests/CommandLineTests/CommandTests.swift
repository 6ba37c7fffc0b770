import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// The commands against a real database.
@Suite(.usesCluster) struct CommandTests {
  @Test func `migrate applies what is missing, once`() throws {
    let database = try TestCluster.newDatabase()
    let dry = try ProgramRun.complete(["migrate", "--dry-run", "--database", database])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.output.hasPrefix("Would apply:\n  tables/0001_identity.sql\n"))
    #expect(dry.output.contains("\n  functions/user.sql\n"))
    let session = try TestCluster.session(database)
    #expect(try session.execute("SELECT FROM pg_namespace WHERE nspname = 'graph'").isEmpty)
    let first = try ProgramRun.complete(["migrate", "--database", database])
    #expect(first.status == 0, "\(first.errors)")
    #expect(
      first.output.hasPrefix("Applied ")
        && first.output.hasSuffix(" migrations and the functions.\n"))
    #expect(
      try session.execute(
        "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema'")
        == [["graph"]])
    let second = try ProgramRun.complete(["migrate"], environment: ["DATABASE_URL": database])
    #expect(second.status == 0)
    #expect(second.output == "Nothing to apply.\n")
  }

  @Test func `the graph can live in another namespace, and a list of none is refused`() throws {
    let database = try TestCluster.newDatabase()
    let run = try ProgramRun.complete(
      ["migrate", "--database", database, "--namespace", "social,public"])
    #expect(run.status == 0, "\(run.errors)")
    let check = try ProgramRun.complete(
      ["schema", "--check", "--database", database, "--namespace", "social,public"])
    #expect(check.status == 0, "\(check.errors)")
    let none = try ProgramRun.complete(["migrate", "--database", database, "--namespace", ","])
    #expect(none.status == 2)
    #expect(none.errors.contains("--namespace must list PostgreSQL schemas"), "\(none.errors)")
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
    #expect(
      bad.output.hasPrefix("error: Query.user: column this.username does not exist.")
        && bad.output.contains("User.username"), "\(bad.output)")
  }

  @Test func `psql reaches a database without showing its password to the machine`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let options = try PostgresConfiguration.options(of: database)
    let words = options.map { "\($0.name)='\($0.value)'" } + ["password='not to be seen'"]
    let shown = try ProgramRun.complete([
      "psql", "--database", words.joined(separator: " "), "--", "-At", "-c",
      "\\! tr '\\0' ' ' < /proc/$PPID/cmdline", "-c", "SELECT count(*) FROM app_user",
    ])
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains("psql") && shown.output.hasSuffix("0\n"), "\(shown.output)")
    #expect(!shown.output.contains("not to be seen"))
  }

  @Test func `explain prints statement and parameters, and the output shape when asked`() throws {
    let folder = try TemporaryFolder()
    let operation = try folder.write(
      "operation.graphql", "query($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }")
    let variables = try folder.write("variables.json", #"{"ids": ["AjEB"]}"#)
    let call = ["explain", operation, "--variables", variables]
    let text = try ProgramRun.complete(call)
    #expect(text.status == 0, "\(text.errors)")
    for part in ["# Statement s_", "SELECT", "# Parameters\n$1"] {
      #expect(text.output.contains(part))
    }
    #expect(!text.output.contains("# Output shape"))
    #expect(
      try ProgramRun.complete(call + ["--shape"]).output.contains("# Output shape\nnodes"))
    let json = try ProgramRun.complete(call + ["--format", "json"])
    let report = try JSONParser.parse(Array(json.output.utf8))
    #expect(report["statement"] != nil && report["parameters"] != nil && report["shape"] == nil)
    let shape = try ProgramRun.complete(call + ["--format", "json", "--shape"])
    #expect(try JSONParser.parse(Array(shape.output.utf8))["shape"] != nil)
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
    #expect(
      analyzed.errors.contains(
        #"cursor.graphql:1:16: "Query.users(after:)" got an invalid value; The cursor is not"#),
      "\(analyzed.errors)")
    let empty = try ProgramRun.complete(
      ["explain", operation, "--analyze", "--shape", "--format", "json"] + database)
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
