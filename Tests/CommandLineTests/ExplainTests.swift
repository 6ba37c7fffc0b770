import JSON
import TestSupport
import Testing

/// `explain --analyze` against a real database.
@Suite struct ExplainTests {
  private static let operation = """
    query Profile($name: String!, $ids: [ID!]!) {
      user(by: {username: $name}) { id posts(first: 3) { nodes { id author { displayName } } } }
      nodes(ids: $ids) { id }
    }
    """

  private func run(_ options: [String]) throws -> String {
    let folder = try TemporaryFolder()
    let run = try ProgramRun.complete(
      [
        "explain", folder.write("operation.graphql", Self.operation), "--variables",
        folder.write("variables.json", #"{"name": "it's", "ids": ["AjEB"]}"#), "--analyze",
        "--database", TestCluster.migratedDatabase(),
      ] + options)
    #expect(run.status == 0, "\(run.errors)")
    return run.output
  }

  @Test func `it ends with the dearest nodes and the fields they serve`() throws {
    let output = try run([])
    let parts = output.split(separator: "# Summary\n")
    #expect(parts.count == 2)
    #expect(parts.first?.contains("actual time=") == true)
    #expect(parts.last?.contains("bytes in binary") == true)
    for line in parts.last?.split(separator: "\n").dropFirst(2) ?? [] {
      #expect(line.contains(" ms ") && line.contains(" %  "), "\(line)")
    }
  }

  /// A plan for bound values has them in its conditions; the one that is served has parameters.
  @Test func `the plan is the one that serves all values`() throws {
    let output = try run([])
    #expect(output.contains("= $1)") || output.contains("= $2)"), "\(output)")
    #expect(!output.contains("'it''s'"), "\(output)")
  }

  @Test func `a nested select is found again as the field it serves`() throws {
    let report = try JSONParser.parse(Array(run(["--format", "json"]).utf8))
    #expect(report["servedInMicroseconds"] != nil && report["rowBytes"] != nil)
    guard case .array(let dearest)? = report["dearest"] else {
      Issue.record("no dearest nodes")
      return
    }
    var fields: Set<String> = []
    for node in dearest {
      if case .string(let field)? = node["field"] { fields.insert(field) }
    }
    let known: Set<String> = [
      "", "user", "user.posts", "user.posts.nodes", "user.posts.nodes.author", "nodes",
    ]
    #expect(!fields.isEmpty && fields.isSubset(of: known), "\(fields)")
  }
}
