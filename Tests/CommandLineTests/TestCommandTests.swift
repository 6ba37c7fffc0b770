import Foundation
import TestSupport
import Testing

/// `sociograph test` as a program.
@Suite(.usesCluster) struct TestCommandTests {
  @Test func `documents are compared, and a difference is shown`() throws {
    let database = try TestCluster.migratedDatabase()
    let folder = try TemporaryFolder()
    _ = try folder.write(
      "viewer.graphql", "query A { viewer { email } } query B { nothing { id } }")
    _ = try folder.write(
      "viewer.json",
      #"[{"operation": "A", "response": {"errors": [{"message": "...nothing..."}]}}]"#)
    let passed = try ProgramRun.complete(["test", folder.path, "--database", database])
    #expect(passed.status == 0, "\(passed.errors)")
    #expect(passed.output == "passed viewer\n" && passed.errors.hasSuffix("1 passed, 0 failed\n"))

    _ = try folder.write("name.graphql", "{ __typename }")
    _ = try folder.write("name.json", #"{"response": {"data": {"__typename": "Querry"}}}"#)
    let failed = try ProgramRun.complete(["test", folder.path, "--database", database])
    #expect(failed.status == 1)
    #expect(
      failed.output
        == "FAILED name\n  data.__typename: expected \"Querry\", received \"Query\"\npassed viewer\n"
    )
  }

  @Test func `what is missing is said`() throws {
    let database = ["--database", try TestCluster.migratedDatabase()]
    let folder = try TemporaryFolder()
    #expect(try ProgramRun.complete(["test", folder.path] + database).status == 2)
    #expect(try ProgramRun.complete(["test"] + database).status == 2)
    _ = try folder.write("a.graphql", "{ __typename }")
    let alone = try ProgramRun.complete(["test", folder.path] + database)
    #expect(alone.status == 2 && alone.errors.contains("a.json"), "\(alone.errors)")
    _ = try folder.write("a.json", #"{"viewer": "nobody", "response": {"data": {}}}"#)
    let stranger = try ProgramRun.complete(["test", folder.path] + database)
    #expect(stranger.status == 1 && stranger.errors.contains("no user \"nobody\""))
    _ = try folder.write("setup.sql", "SELECT 1; SELECT 1 / 0;")
    let setUp = try ProgramRun.complete(["test", folder.path] + database)
    #expect(setUp.status == 1 && setUp.errors.contains("setup.sql: "), "\(setUp.errors)")
  }

  @Test func `clients with the claims of a token are those that a rule or a policy lets through`()
    throws
  {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    let member = "member_\(UInt32.random(in: 0 ... .max))"
    try session.execute(
      """
      CREATE ROLE \(member);
      CREATE TABLE note (id int PRIMARY KEY, owner text NOT NULL, body text NOT NULL);
      INSERT INTO note VALUES (1, 'ada', 'of Ada'), (2, 'ben', 'of Ben');
      CREATE TABLE paper (id int PRIMARY KEY, owner text NOT NULL);
      INSERT INTO paper VALUES (1, 'ada'), (2, 'ben');
      ALTER TABLE paper ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON paper
        USING (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
      GRANT SELECT ON note, paper TO \(member);
      """)
    defer { _ = try? session.execute("DROP OWNED BY \(member); DROP ROLE \(member)") }
    let folder = try TemporaryFolder()
    let graph = folder.path + "/graph"
    let drafted = try ProgramRun.complete(["draft", graph, "--database", database])
    #expect(drafted.status == 0, "\(drafted.errors)")
    for name in try FileManager.default.contentsOfDirectory(atPath: graph)
    where name.hasSuffix(".graphql") {
      let file = graph + "/" + name
      let text = try String(contentsOfFile: file, encoding: .utf8)
      try text.replacing(
        #"@table(name: "note""#, with: #"@table(name: "note", where: "this.owner = :claim.sub""#
      )
      .write(toFile: file, atomically: true, encoding: .utf8)
    }
    func step(_ claims: String, _ response: String) -> String {
      #"{\#(claims)"response": {"data": \#(response)}}"#
    }
    let tests = try TemporaryFolder()
    _ = try tests.write("notes.graphql", "{ notes(first: 9) { nodes { body } } }")
    _ = try tests.write(
      "notes.json",
      "["
        + [
          step("", #"{"notes": {"nodes": []}}"#),
          step(
            #""claims": {"sub": "ada"}, "#, #"{"notes": {"nodes": [{"body": "of Ada"}]}}"#),
          step(
            #""claims": {"sub": "ben"}, "#, #"{"notes": {"nodes": [{"body": "of Ben"}]}}"#),
        ].joined(separator: ", ") + "]")
    let run = try ProgramRun.complete(
      ["test", tests.path, "--schema", graph, "--database", database])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    // Policies hold for the role that the claims name, and not for the one in front of it.
    let policies = try TemporaryFolder()
    _ = try policies.write("papers.graphql", "{ papers(first: 9) { nodes { owner } } }")
    _ = try policies.write(
      "papers.json",
      "["
        + [
          step(
            #""claims": {"sub": "ada", "role": "\#(member)"}, "#,
            #"{"papers": {"nodes": [{"owner": "ada"}]}}"#),
          step("", #"{"papers": {"nodes": []}}"#),
        ].joined(separator: ", ") + "]")
    let roles = ["--roles", "claims", "--anonymous-role", member]
    let confined = try ProgramRun.complete(
      ["test", policies.path, "--schema", graph, "--database", database] + roles)
    #expect(confined.status == 0, "\(confined.output)\(confined.errors)")
    // The same claims for explain: ada's row alone is found.
    let operation = try folder.write("notes.graphql", "{ notes(first: 9) { nodes { body } } }")
    func explain(_ arguments: [String]) throws -> String {
      let run = try ProgramRun.complete(
        ["explain", operation, "--schema", graph, "--database", database, "--analyze"] + arguments)
      #expect(run.status == 0, "\(run.errors)")
      return run.output
    }
    #expect(try explain(["--claim", "sub=ada"]).contains("ada"))
    #expect(try !explain([]).contains("ada"))
    let wrong = try ProgramRun.complete(
      ["explain", operation, "--schema", graph, "--database", database, "--claim", "ada"])
    #expect(wrong.status == 2 && wrong.errors.contains("such as sub=ada"), "\(wrong.errors)")
  }

  @Test func `the folder of SQL must be that of the database`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute("CREATE TABLE note (id int PRIMARY KEY)")
    let folder = try TemporaryFolder()
    let graph = folder.path + "/graph"
    #expect(try ProgramRun.complete(["draft", graph, "--database", database]).status == 0)
    _ = try folder.write("a.graphql", "{ __typename }")
    _ = try folder.write("a.json", #"{"response": {"data": {"__typename": "Query"}}}"#)
    for name in ["tables", "functions"] {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/sql/" + name, withIntermediateDirectories: true)
    }
    _ = try folder.write("sql/tables/0001_note.sql", "CREATE TABLE other (id int);")
    _ = try folder.write(
      "sql/functions/one.sql", "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';")
    let arguments = ["test", folder.path, "--schema", graph, "--database", database]
    let run = try ProgramRun.complete(arguments + ["--sql", folder.path + "/sql"])
    #expect(run.status == 2)
    #expect(run.errors.contains("functions/one.sql"), "\(run.errors)")
    #expect(try ProgramRun.complete(arguments).status == 0)
  }

  @Test func `PostgreSQL's words are printed where clients get none`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE note (id int PRIMARY KEY, body text);
      INSERT INTO note VALUES (1, 'x');
      """)
    let folder = try TemporaryFolder()
    let graph = folder.path + "/graph"
    #expect(try ProgramRun.complete(["draft", graph, "--database", database]).status == 0)
    _ = try folder.write("a.graphql", "{ notes(first: 1) { nodes { body } } }")
    _ = try folder.write("a.json", #"{"response": {"data": {"notes": {"nodes": []}}}}"#)
    _ = try folder.write("setup.sql", "ALTER TABLE note RENAME body TO gone")
    let run = try ProgramRun.complete(
      ["test", folder.path, "--schema", graph, "--database", database])
    #expect(run.status == 1)
    #expect(run.output.contains("  reason: a statement failed: column "), "\(run.output)")
    #expect(run.output.contains("does not exist (SQLSTATE 42703)"), "\(run.output)")
  }
}
