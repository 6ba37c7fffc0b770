import JSON
import TestSupport
import Testing

/// Selection sets without selections, which tell whether there is something.
@Suite(.usesCluster) struct EmptySelectionsTests {
  private static let graph = Result {
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
    )
  }

  @Test(arguments: [
    ("{ thing {} }", #"{"data":{"thing":{}}}"#), ("{ none {} }", #"{"data":{"none":null}}"#),
    ("{ things {} }", #"{"data":{"things":[{},{}]}}"#),
    ("{}", #"{"data":{}}"#), ("query Q {}", #"{"data":{}}"#),
    ("{ thing { ...F } } fragment F on Thing {}", #"{"data":{"thing":{}}}"#),
    ("{ thing { ... on Thing {} id } }", #"{"data":{"thing":{"id":"AQ"}}}"#),
    ("{ __schema {} }", #"{"data":{"__schema":{}}}"#),
  ]) func `an empty selection of what is there is an empty object`(
    query: String, answer: String
  ) throws {
    #expect(try Self.graph.get().body(query) == answer)
  }

  @Test func `a leaf has no selection set, not even an empty one`() throws {
    #expect(
      try Self.graph.get().server.execute("{ thing { id {} } }").code
        == "GRAPHQL_VALIDATION_FAILED")
  }
}
