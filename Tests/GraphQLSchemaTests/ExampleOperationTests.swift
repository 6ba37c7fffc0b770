import GraphQLLanguage
import Testing

@testable import GraphQLSchema

/// The operation proposed at the first start of a server.
@Suite struct ExampleOperationTests {
  @Test(arguments: [
    ("cat(id: ID!): Cat cats: [Cat!]! ", "{ cats { id name } }"),
    (
      "me: Cat page(first: Int = 20, after: String): CatConnection",
      "{ page(first: 3) { nodes { id name } } }"
    ),
    ("me: Cat old: [Cat] @deprecated", "{ me { id name } }"),
    ("count(of: String): Int", "{ count }"),
    ("cat(id: ID!): Cat", "{ __typename }"),
    ("empty: [Empty!] count: Int", "{ count }"),
  ])
  func `it is of the schema that is served`(fields: String, operation: String) throws {
    let text = """
      type Query { \(fields) }
      type Cat { friend: Cat id: ID! age(in: String!): Int name: String mood: String }
      type Empty { cat: Cat age(in: String!): Int }
      type CatConnection { nodes: [Cat!]! }
      """
    let schema = try SchemaBuilder.build(Parser.parse(Source(text), limits: .default))
    #expect(ExampleOperation(schema).text == operation)
  }
}
