import HTTPTestSupport
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

  /// As Apollo's client for Kotlin writes a request: its headers, its members in its order.
  @Test func `the requests of a client that generates code are answered`() throws {
    let body =
      #"{"operationName":"HasThing","variables":{},"query":"query HasThing { thing { } things { __typename } }"}"#
    let server = try Self.graph.get().server
    let head =
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-APOLLO-OPERATION-NAME: HasThing\r\n"
      + "Accept: multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    let answer = try server.send(Array((head + body).utf8))
    #expect(answer.status == 200)
    #expect(answer.header("Content-Type") == "application/graphql-response+json; charset=utf-8")
    #expect(
      answer.body
        == #"{"data":{"thing":{},"things":[{"__typename":"Thing"},{"__typename":"Thing"}]}}"#)
  }

  @Test func `a socket has them, too`() throws {
    let server = try Self.graph.get().server
    let socket = try GraphQLSocket(port: server.port)
    socket.subscribe("1", "{ thing {} none {} }")
    let next = socket.answer("1").first?.payload
    #expect("\(next ?? .null)" == #"{"data":{"thing":{},"none":null}}"#)
  }

  @Test func `a leaf has no selection set, not even an empty one`() throws {
    #expect(
      try Self.graph.get().server.execute("{ thing { id {} } }").code
        == "GRAPHQL_VALIDATION_FAILED")
  }
}
