import Foundation
import TestSupport
import Testing

/// `sociograph schema docs` as a program.
@Suite(.blocks) struct SchemaDocsTests {
  @Test func `the graph's site has examples and rights`() throws {
    let folder = try TemporaryFolder()
    let site = folder.path + "/site"
    let run = try ProgramRun.complete([
      "schema", "docs", site, "--examples", "Tests/Fixtures/showcase", "--rights",
      "Tests/Fixtures/roles/mutations.txt",
    ])
    #expect(run.status == 0, "\(run.errors)")
    func page(_ name: String) throws -> String {
      try String(contentsOfFile: "\(site)/\(name)", encoding: .utf8)
    }
    #expect(try page("index.html").contains("href=\"Query.html#viewer\""))
    #expect(try page("Query.html").contains("<summary>Example</summary>"))
    #expect(try page("Mutation.html").contains("<th>anonymous</th>"))
    for arguments in [[], [site, site], [site, "--examples", site + "/none"]] {
      #expect(try ProgramRun.complete(["schema", "docs"] + arguments).status == 2, "\(arguments)")
    }
    let wrong = try folder.write("rights.txt", "deletePost own done\n")
    #expect(try ProgramRun.complete(["schema", "docs", site, "--rights", wrong]).status == 2)
  }
}
