import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// `explain --analyze` against a real database.
@Suite(.usesCluster) struct ExplainTests {
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

  @Test func `it ends with the slowest nodes and the fields they serve`() throws {
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
    guard case .array(let slowest)? = report["slowest"] else {
      Issue.record("no slowest nodes")
      return
    }
    var fields: Set<String> = []
    for node in slowest {
      if case .string(let field)? = node["field"] { fields.insert(field) }
    }
    let known: Set<String> = [
      "", "user", "user.posts", "user.posts.nodes", "user.posts.nodes.author", "nodes",
    ]
    #expect(!fields.isEmpty && fields.isSubset(of: known), "\(fields)")
  }
}

/// `explain` of a mutation says what would be called, and calls nothing.
@Suite(.usesCluster) struct ExplainMutationTests {
  private static let operation = """
    mutation Try($body: String!) {
      made: createTextPost(input: {body: $body}) { textPost { id author { displayName } } }
      kind: __typename
    }
    """

  private func run(_ options: [String]) throws -> (output: String, posts: [[String?]]) {
    let folder = try TemporaryFolder()
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    let run = try ProgramRun.complete(
      [
        "explain", folder.write("operation.graphql", Self.operation), "--variables",
        folder.write("variables.json", #"{"body": "Hello"}"#), "--analyze", "--database", database,
      ] + options)
    #expect(run.status == 0, "\(run.errors)")
    return (run.output, try session.execute("SELECT count(*) FROM graph.post"))
  }

  @Test func `it shows the call and the plan of the payload's selection, and writes nothing`()
    throws
  {
    let (output, posts) = try run(["--shape"])
    #expect(posts == [["0"]])
    let parts = [
      "# made: Mutation.createTextPost calls\nSELECT set_config('sociograph.viewer', ",
      "set_config('sociograph.result', ",
      "create_text_post(", "# made: its payload is selected in the same transaction\nSELECT ROW(",
      "# made: PostgreSQL's plan of the payload's selection, as the server uses it\n", "rows=",
      "# kind\n-- known without the database\n", "# Output shape of made\ntextPost: ",
      "Nothing was run or written. The statements inside of the functions are not planned.",
    ]
    var rest = output[...]
    for part in parts {
      guard let place = rest.range(of: part) else {
        Issue.record("\(part) is missing in \(output)")
        return
      }
      rest = rest[place.upperBound...]
    }
    #expect(!output.contains("actual time="))
  }

  @Test func `in JSON as well`() throws {
    let (output, posts) = try run(["--format", "json"])
    #expect(posts == [["0"]])
    let report = try JSONParser.parse(Array(output.utf8))
    guard case .array(let fields)? = report["mutation"], fields.count == 1,
      case .array(let plan)? = fields[0]["selectionPlan"]
    else {
      Issue.record("\(output)")
      return
    }
    #expect(fields[0]["field"] == .string("made") && report["isRun"] == .boolean(false))
    #expect(!plan.isEmpty)
  }
}
