import GraphQLSchema
import TestSupport
import Testing

/// `__service`, which tells what a server can do besides its schema.
@Suite(.usesCluster) struct ServiceCapabilitiesTests {
  private static func graph(_ capabilities: [ServiceCapability]) throws -> OwnGraph {
    try OwnGraph(
      """
      type Query { thing: Thing @reference(where: "this.id = 1") }
      type Thing @table(name: "thing") { id: ID! }
      """,
      "CREATE TABLE thing (id bigint PRIMARY KEY); INSERT INTO thing VALUES (1)"
    ) { $0.execution.capabilities = capabilities }
  }

  private static let offering = Result { try graph(ServiceCapability.all) }

  @Test(arguments: [
    (
      "{ __service { capabilities { identifier value } } }",
      #"{"data":{"__service":{"capabilities":[{"identifier":"graphql.onError","value":null},{"identifier":"graphql.defaultErrorBehavior","value":"PROPAGATE"}]}}}"#
    ),
    (
      "{ a: __service { __typename capabilities { __typename } } thing { id } }",
      #"{"data":{"a":{"__typename":"__Service","capabilities":[{"__typename":"__Capability"},{"__typename":"__Capability"}]},"thing":{"id":"AQ"}}}"#
    ),
    (
      #"{ __type(name: "__Capability") { kind fields { name type { kind name } } } }"#,
      #"{"data":{"__type":{"kind":"OBJECT","fields":[{"name":"identifier","type":{"kind":"NON_NULL","name":null}},{"name":"value","type":{"kind":"SCALAR","name":"String"}}]}}}"#
    ),
    (
      #"{ __type(name: "Query") { fields { name } } }"#,
      #"{"data":{"__type":{"fields":[{"name":"thing"}]}}}"#
    ),
  ]) func `a server that offers them says which it has`(query: String, answer: String) throws {
    #expect(try Self.offering.get().body(query) == answer)
  }

  @Test(arguments: ["{ thing { __service { __typename } } }", "{ __service }"])
  func `it is a field of the query type, with fields of its own`(query: String) throws {
    #expect(try Self.offering.get().server.execute(query).code == "GRAPHQL_VALIDATION_FAILED")
  }

  @Test func `no other server knows the field or its types`() throws {
    let graph = try Self.graph([])
    #expect(
      try graph.server.execute("{ __service { __typename } }").code == "GRAPHQL_VALIDATION_FAILED")
    #expect(
      try graph.body(#"{ __type(name: "__Service") { name } }"#) == #"{"data":{"__type":null}}"#)
  }
}
