import JSON
import TestSupport
import Testing

/// Selection sets without selections, which tell whether there is something.
@Suite(.usesCluster) struct EmptySelectionsTests {
  private static func graph(allows: Bool) throws -> OwnGraph {
    try OwnGraph(
      """
      type Query {
        thing: Thing @reference(where: "this.id = 1")
        none: Thing @reference(where: "this.id = 7")
        things: [Thing!]! @list(orderBy: "this.id")
      }
      type Thing @table(name: "thing") { id: ID! }
      """,
      "CREATE TABLE thing (id bigint PRIMARY KEY); INSERT INTO thing VALUES (1), (2)"
    ) { $0.execution.parserLimits.allowsEmptySelections = allows }
  }

  @Test(arguments: [
    ("{ thing {} }", #"{"data":{"thing":{}}}"#), ("{ none {} }", #"{"data":{"none":null}}"#),
    ("{ things {} }", #"{"data":{"things":[{},{}]}}"#),
    ("{}", #"{"data":{}}"#), ("query Q {}", #"{"data":{}}"#),
    ("{ thing { ...F } } fragment F on Thing {}", #"{"data":{"thing":{}}}"#),
    ("{ thing { ... on Thing {} id } }", #"{"data":{"thing":{"id":"AQ"}}}"#),
    ("{ __schema {} }", #"{"data":{"__schema":{}}}"#),
  ]) func `where they are allowed, what is there is an object`(
    query: String, answer: String
  ) throws {
    #expect(try Self.allowing.get().body(query) == answer)
  }

  private static let allowing = Result { try graph(allows: true) }

  @Test func `a leaf has none, and no server that does not allow them takes one`() throws {
    #expect(
      try Self.allowing.get().server.execute("{ thing { id {} } }").code
        == "GRAPHQL_VALIDATION_FAILED")
    let refused = try Self.graph(allows: false).server.execute("{ thing {} }")
    #expect(refused.code == "GRAPHQL_PARSE_FAILED")
  }
}
