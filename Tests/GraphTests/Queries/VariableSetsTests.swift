import Foundation
import JSON
import OracleSupport
import TestSupport
import Testing

/// Several sets of variables in one request, on the graph.
@Suite(.usesCluster) struct VariableSetsTests {
  private func sets(
    _ server: GraphServer, _ query: String, _ sets: [JSONValue], as person: Person
  ) throws -> [JSONValue] {
    let body = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(query)),
      JSONValue.Member(name: "variables", value: .array(sets)),
    ])
    let response = try server.send(
      "POST", "/graphql",
      headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(person.token)")],
      body: Array("\(body)".utf8))
    return try JSONParser.parse(response.body).array ?? []
  }

  @Test func `mutations run in the order of their sets, and each once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let ann = try data.person()
    let post = try data.post(.text, by: try data.person())
    let responses = try sets(
      server,
      """
      mutation($body: String!, $post: ID!) {
        addComment(subjectId: $post, body: $body) { comment { body } userErrors { code } }
      }
      """, (1...5).map { ["body": .string("words \($0)"), "post": post.json] }, as: ann)
    let bodies = responses.map { $0.at("data.addComment.comment.body")?.string }
    #expect(bodies == (1...5).map { "words \($0)" }, "\(responses)")
    let rows = try data.run(
      "SELECT body FROM comment WHERE subject_id = $1 ORDER BY id", [post.number])
    #expect(rows.map { $0[0] } == (1...5).map { "words \($0)" })
  }

  @Test(.enabled(if: LiveClients.python != nil, "script/live-clients installs what this needs"))
  func `httpx has the same responses as for each set alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let ann = try data.person()
    let posts = try (0..<40).map { try data.post(.text, by: ann, "words \($0)") }
    let variables: [JSONValue] =
      posts.map { ["id": $0.json, "isLong": .boolean($0.number % 2 == 0)] }
      + [["id": "none", "isLong": true], ["id": 7, "isLong": "no"], [:]]
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("sociograph-sets-\(UUID().uuidString).json")
    let query = """
      query($id: ID!, $isLong: Boolean!) {
        post(id: $id) { id body author { username @include(if: $isLong) displayName } }
      }
      """
    let document: JSONValue = ["query": .string(query), "sets": .array(variables)]
    try Data("\(document)".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let run = try LiveClients.run(
      "sets.py", ["http://127.0.0.1:\(server.port)/graphql", ann.token, file.path])
    #expect(run.status == 0 && run.output == "43 sets, 0 differ\n", "\(run.output)")
  }
}
