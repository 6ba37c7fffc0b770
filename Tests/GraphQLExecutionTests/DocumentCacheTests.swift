import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import Postgres
import Testing

@testable import GraphQLExecution

/// However many documents come, and however wide their plans are, what is kept of them is bounded.
@Suite struct DocumentCacheTests {
  private let mapping: StorageMapping

  init() throws {
    let sdl =
      StorageDirectives.sdl
        + """

        type Query { things(first: Int, after: String): ThingConnection! @connection(orderBy: "this.id") }
        type ThingConnection { nodes: [Thing!]! edges: [ThingEdge!]! }
        type ThingEdge { node: Thing! cursor: String! }
        type Thing @table(name: "thing") @tag(id: 1) { id: ID! name: String }
        """
    mapping = try StorageMapping(SchemaBuilder.build(Parser.parse(Source(sdl), limits: .default)))
  }

  private func preparer(bytes: Int, count: Int = 1_000) -> OperationPreparer {
    var settings = ExecutionSettings()
    settings.maximumCachedBytes = bytes
    settings.maximumCachedDocuments = count
    return OperationPreparer(mapping: mapping, settings: settings)
  }

  private func prepare(_ preparer: OperationPreparer, _ query: String) throws -> PreparedPlan {
    try preparer.prepare(GraphQLRequest(identity: .random(), document: query)).get().plan
  }

  @Test func `a document that comes again has the same plan`() throws {
    let preparer = preparer(bytes: 1 << 20)
    let query = "{ things(first: 3) { nodes { id } } }"
    #expect(try prepare(preparer, query) === prepare(preparer, query))
    #expect(try prepare(preparer, query) !== prepare(preparer, query + " "))
  }

  @Test func `a request that comes again is prepared once, as whoever sends it now`() throws {
    let preparer = preparer(bytes: 1 << 20, count: 1)
    let query = "query Q($n: Int) { things(first: $n) { nodes { id } } }"
    var request = GraphQLRequest(
      identity: .random(), document: query, variables: [.init(name: "n", value: .number("3"))])
    request.memo = RequestMemo(place: 3, serial: 1)
    let first = try preparer.prepare(request).get()
    // The document itself is forgotten meanwhile.
    _ = try prepare(preparer, "{ things { nodes { id } } }")
    request.identity = .random()
    let second = try preparer.prepare(request).get()
    #expect(second.plan === first.plan && second.variables == first.variables)
    #expect(second.identity == request.identity && second.identity != first.identity)
    #expect(first.label.document == second.label.document && second.label.name == "Q")
    // What depends on the variables in more than its parameters is worked out each time.
    request.document = "query Q($n: Boolean!) { __schema { types @include(if: $n) { name } } }"
    request.variables = [.init(name: "n", value: .boolean(true))]
    request.memo = RequestMemo(place: 3, serial: 2)
    for wanted in [true, false] {
      request.variables = [.init(name: "n", value: .boolean(wanted))]
      let again = try preparer.prepare(request).get()
      #expect(again.plan !== first.plan && again.variables == [.boolean(wanted)])
    }
  }

  @Test func `page sizes share a few statements, and what is known of them`() throws {
    let preparer = preparer(bytes: 1 << 30)
    var statements: [BatchableStatement] = []
    for size in 1...100 {
      let statement = try prepare(preparer, "{ things(first: \(size)) { nodes { id } } }").statement
      statements.append(try #require(statement))
    }
    #expect(statements[16] === statements[17])
    // One for each usual size, and one for those up to it.
    #expect(Set(statements.map(\.alone.text)).count == 9 + 6)
    #expect(Set(statements.map(ObjectIdentifier.init)).count == 9 + 6)
    let plan = try prepare(preparer, "{ things(first: 17) { nodes { id } } }").plan
    guard case .rowCount(17, _)? = plan.parameters.first, plan.parameters.count == 1 else {
      Issue.record("\(plan.parameters)")
      return
    }
  }

  @Test func `the documents used last stay when the count is reached`() throws {
    let preparer = preparer(bytes: 1 << 30, count: 10)
    let first = try prepare(preparer, "{ things { nodes { id } } }")
    for number in 0..<100 {
      _ = try prepare(preparer, "{ a\(number): things { nodes { id } } }")
      #expect(preparer.cachedDocuments.count <= 10)
      #expect(try prepare(preparer, "{ things { nodes { id } } }") === first)
    }
  }

  @Test func `kept introspection counts`() throws {
    let preparer = preparer(bytes: 1 << 20)
    let query = "{ __schema { types { name fields { name description type { name } } } } }"
    for number in 0..<500 {
      _ = try prepare(preparer, query + String(repeating: " ", count: number))
      #expect(preparer.cachedDocuments.bytes <= 1 << 20)
    }
    #expect(preparer.cachedDocuments.count < 400)
  }

  @Test func `plans count, also those of other operations of the same document`() throws {
    let preparer = preparer(bytes: 200_000)
    let operations = (0..<40).map {
      "query Q\($0)($n: Int!) { things(first: $n) { nodes { id } } }"
    }
    let query = operations.joined(separator: "\n")
    for number in 0..<40 {
      for size in 1...20 {
        _ = try preparer.prepare(
          GraphQLRequest(
            identity: .random(), document: query, operationName: "Q\(number)",
            variables: [.init(name: "n", value: .number("\(size)"))])
        ).get()
      }
      #expect(preparer.cachedDocuments.bytes <= 200_000)
    }
  }
}
