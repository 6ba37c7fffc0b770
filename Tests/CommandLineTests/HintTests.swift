import Foundation
import JSON
import TestSupport
import Testing

/// The commands that `serve` proposes to try, run as printed.
@Suite struct HintTests {
  /// - Returns: the response to the command behind `Try: `.
  private func answer(_ arguments: [String]) throws -> String {
    let run = try ProgramRun(["serve", "--listen", "127.0.0.1:0"] + arguments)
    #expect(run.prints("Try: curl "), "\(run.errors)")
    let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("Try: ") })
    let answer = try command("sh", "-c", String(line.dropFirst(5)))
    run.signal(SIGINT)
    #expect(run.finish() == 0)
    #expect(answer.status == 0)
    return answer.output
  }

  @Test func `it is answered for a graph of one's own`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(
      "cat.graphql",
      """
      type Query {
        cat(name: String! @where(condition: "this.name = :value")): Cat @reference
        cats: [Cat!]! @list(orderBy: "this.id")
      }
      type Cat @table(name: "cat") { mother: Cat @reference(column: "mother_id") name: String! lives: Int! }
      """)
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE cat (id bigint PRIMARY KEY, name text NOT NULL, lives int NOT NULL, mother_id bigint);
      INSERT INTO cat VALUES (1, 'Ada', 9, NULL);
      """)
    #expect(
      try answer(["--schema", folder.path, "--database", database])
        == #"{"data":{"cats":[{"name":"Ada","lives":9}]}}"#)
  }

  @Test func `it is answered for the graph`() throws {
    let text = try answer(["--database", TestCluster.newDatabase(migrated: true)])
    let value = try JSONParser.parse(Array(text.utf8))
    #expect(value["errors"] == nil && value["data"] != nil, "\(text)")
    guard case .object(let fields)? = value["data"] else {
      Issue.record("\(text)")
      return
    }
    #expect(fields.first?.value["nodes"] != nil, "\(text)")
  }
}
