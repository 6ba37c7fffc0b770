import TestSupport
import Testing

/// `sociograph schema search` as a program.
@Suite(.blocks) struct SchemaSearchCommandTests {
  @Test func `a search prints coordinates with their types and descriptions`() throws {
    let run = try ProgramRun.complete(["schema", "search", "how", "do", "I", "log", "out?"])
    #expect(run.status == 0 && run.output.contains("Mutation.signOut: "), "\(run)")
    let json = try ProgramRun.complete(["schema", "search", "followers", "--json"])
    #expect(json.output.contains(#"{"coordinate":"User.followers","type":""#), "\(json)")
    #expect(try ProgramRun.complete(["schema", "search"]).status == 2)
  }
}
