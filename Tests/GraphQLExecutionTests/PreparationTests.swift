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

        directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
        directive @live(if: Boolean! = true, interval: Int) on QUERY
        type Query { things(first: Int, after: String): ThingConnection! @connection(orderBy: "this.id") }
        type ThingConnection { nodes: [Thing!]! edges: [ThingEdge!]! }
        type ThingEdge { node: Thing! cursor: String! }
        type Thing @table(name: "thing") @tag(id: 1) { id: ID! name: String }
        """
    preparer = OperationPreparer(
      mapping: try StorageMapping(
        SchemaBuilder.build(Parser.parse(Source(sdl), limits: .default))))
  }

  private func request(_ document: String, operation: String? = nil) -> GraphQLRequest {
    GraphQLRequest(identity: .random(), document: document, operationName: operation)
  }

  @Test func `a new document is work, and one that is known is not`() throws {
    let query = "query Q { things { nodes { id } } }"
    guard case nil = preparer.known(request(query)) else {
      Issue.record("It was known.")
      return
    }
    let first = preparer.prepare(request(query))
    let plan = try first.get().plan
    #expect(first.times.hasPreparing && first.times.validating > 0)
    let second = try #require(preparer.known(request(query)))
    #expect(!second.times.hasPreparing && second.times == OperationTimes())
    #expect(try second.get().plan === plan)
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

  @Test func `the kind of a plan follows from the operation and from how the client takes it`()
    throws
  {
    var request = request("{ things { nodes { id ... @defer { name } } } }")
    guard case .query = try preparer.prepare(request).get().plan.kind else {
      Issue.record("It is no query.")
      return
    }
    request.delivery = .v02
    guard
      case .incremental(_, let delivery, let later) = try preparer.prepare(request).get().plan.kind
    else {
      Issue.record("It does not come in parts.")
      return
    }
    #expect(later.count == 1 && delivery.parts.count == 1)
    #expect(throws: RequestErrors.self) {
      try preparer.prepare(self.request("query @live { things { nodes { id } } }")).get()
    }
  }
}
