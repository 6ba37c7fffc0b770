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
}
