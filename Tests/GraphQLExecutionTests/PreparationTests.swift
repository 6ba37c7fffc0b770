import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Testing

@testable import GraphQLExecution

/// What a request is prepared as, and what is said of one that cannot be.
struct PreparationTests {
  private let preparer: OperationPreparer

  init() throws {
    let sdl =
      StorageDirectives.sdl
        + """

        type Query { things(first: Int): ThingConnection! @connection(orderBy: "this.id") }
        type ThingConnection { nodes: [Thing!]! }
        type Thing @table(name: "thing") @tag(id: 1) { id: ID! name: String }
        """
    preparer = OperationPreparer(
      mapping: try StorageMapping(
        SchemaBuilder.build(Parser.parse(Source(sdl), limits: .default))))
  }

  private func request(_ document: String, operation: String? = nil) -> GraphQLRequest {
    GraphQLRequest(identity: .random(), document: document, operationName: operation)
  }

  @Test func `a refusal says as much of the operation as was found`() {
    let query = "query A { things { nodes { id } } } query B { things { nodes { name } } }"
    guard case .refused(_, let none, let times) = preparer.prepare(request("{ nothing }")) else {
      Issue.record("It was prepared.")
      return
    }
    #expect(none == nil && times.parsing > 0 && times.planning == 0)
    guard case .refused(_, nil, _) = preparer.prepare(request(query, operation: "C")) else {
      Issue.record("It was prepared.")
      return
    }
    guard
      case .refused(_, let label?, _) = preparer.prepare(
        request("query Wide { things(first: 100000) { nodes { id } } }"))
    else {
      Issue.record("It was prepared.")
      return
    }
    #expect(label.name == "Wide" && label.kind == .query)
  }
}
