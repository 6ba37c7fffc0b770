import Foundation
import TestSupport
import Testing

/// `sociograph explain --documents` as a program.
@Suite(.usesCluster) struct BudgetCommandTests {
  @Test func `a budget is recorded, kept, and exceeded`() throws {
    let database = ["--database", try TestCluster.migratedDatabase()]
    let folder = try TemporaryFolder()
    let manifest = try folder.write(
      "manifest.json",
      #"{"a": "query People { users(first: 3) { nodes { id } } }", "#
        + #""b": "query One($id: ID!) { node(id: $id) { id } }", "c": "{ __typename }"}"#)
    let budget = folder.path + "/budget.json"
    let command = ["explain", "--documents", manifest, "--budget", budget] + database
    #expect(try ProgramRun.complete(command).status == 2)
    let recorded = try ProgramRun.complete(command + ["--record"])
    #expect(recorded.status == 0, "\(recorded.errors)")
    #expect(
      recorded.output.contains(/People: s_[0-9a-f]{16}, [0-9]+ pages, [0-9]+ rows/)
        && recorded.output.contains(/One: s_[0-9a-f]{16}, not run, an estimated cost/)
        && recorded.output.contains("c: no statement\n"), "\(recorded.output)")
    let kept = try ProgramRun.complete(command)
    #expect(kept.status == 0 && kept.errors.contains("3 operations, 0 findings"), "\(kept)")
    let text = try String(contentsOfFile: budget, encoding: .utf8)
    _ = try folder.write(
      "budget.json",
      text.replacing("\"indexes\":[]", with: "\"indexes\":[\"lost\"]")
        .replacing("\"indexes\":[\"", with: "\"indexes\":[\"lost\",\""))
    let exceeded = try ProgramRun.complete(command)
    #expect(exceeded.status == 1)
    #expect(exceeded.output.contains("error People: the index lost is gone\n"), "\(exceeded)")
  }

  @Test func `what does not go together is refused`() throws {
    let folder = try TemporaryFolder()
    let manifest = try folder.write("manifest.json", #"{"a": "{ __typename }"}"#)
    for arguments in [
      ["--budget", "x.json", manifest], ["--documents", manifest, manifest],
      ["--documents", manifest, "--record"], ["--documents", folder.path + "/none"],
      ["--documents", manifest, "--budget", manifest],
    ] {
      #expect(try ProgramRun.complete(["explain"] + arguments).status == 2, "\(arguments)")
    }
  }
}
