import JSON
import TestSupport
import Testing

/// `onError` from the request to the response, over PostgreSQL.
@Suite(.usesCluster) struct OnErrorTests {
  private static let graph = Result {
    try OwnGraph(
      """
      type Query { thing: Thing @reference(where: "this.id = 1") }
      type Thing @table(name: "thing") { id: ID! bad: Float! other: Float }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY, bad float8 NOT NULL, other float8 NOT NULL);
      INSERT INTO thing VALUES (1, 'NaN', 'NaN')
      """)
  }

  /// Returns the data, and behind it the paths of the errors.
  private func answer(_ onError: String?) throws -> [String] {
    let member = onError.map { #","onError":"\#($0)""# } ?? ""
    let body = #"{"query":"{ thing { other bad id } }"\#(member)}"#
    let text = try Self.graph.get().server.post(Array(body.utf8)).body
    let answer = try JSONParser.parse(Array(text.utf8))
    var paths: [String] = []
    if case .array(let errors)? = answer["errors"] {
      paths = errors.map { "\($0["path"] ?? .null)" }
    }
    return ["\(answer["data"] ?? .null)"] + paths
  }

  @Test func `an error is handled as the request says`() throws {
    // Twice, as what is prepared for one request is there for the next.
    for _ in 1...3 {
      for propagate in [nil, "PROPAGATE"] {
        #expect(try answer(propagate) == [#"{"thing":null}"#, #"["thing","bad"]"#])
      }
      #expect(
        try answer("NULL") == [
          #"{"thing":{"other":null,"bad":null,"id":"AQ"}}"#, #"["thing","other"]"#,
          #"["thing","bad"]"#,
        ])
      #expect(try answer("HALT") == ["null", #"["thing","other"]"#])
    }
  }
}
