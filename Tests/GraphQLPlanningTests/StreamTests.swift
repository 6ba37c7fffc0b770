import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Testing

/// The plans for the later items of a list.
struct StreamTests {
  private func plan(
    _ query: String, _ variables: String? = nil
  ) throws -> Plan {
    let mapping = try PlanningFixture.mapping()
    let document = try Parser.parse(Source(query), limits: .default)
    let operation = document.operations[0]
    let fragments = Dictionary(
      document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    let coerced = try VariableCoercion(mapping.schema, operation, source: document.source)
      .coerce(value(variables))
    return try Planner(mapping: mapping).plan(
      operation, fragments: fragments, source: document.source,
      variables: operation.variables.map { coerced[$0.name.text] }, mode: .incremental(.v02))
  }

  private func value(_ json: String?) throws -> JSONValue? {
    try json.map { try JSONParser.parse(Array($0.utf8)) }
  }

  private func texts(_ plan: Plan) throws -> (first: String, parts: [String]) {
    (
      try #require(plan.statement?.text),
      (plan.delivery?.parts ?? []).map { $0.plan.statement?.text ?? "" }
    )
  }

  /// The number of rows that the parameters of a plan read.
  private func rowCounts(_ parameters: [PlanParameter]) -> [Int] {
    parameters.compactMap { if case .rowCount(let count, _) = $0 { count } else { nil } }
  }

  @Test
  func `the first statement reads the first items and one more, the later one those behind them`()
    throws
  {
    for list in [
      "nodes @stream(initialCount: 2) { name }", "edges @stream(initialCount: 2) { node { name } }",
    ] {
      let plan = try plan("{ people(first: 20) { \(list) } }")
      let (first, parts) = try texts(plan)
      #expect(first.contains("LIMIT 3)") && rowCounts(plan.parameters).isEmpty)
      #expect(parts.count == 1)
      #expect(parts[0].contains("LIMIT 20)"))
      #expect(parts[0].contains("SELECT page.item FROM page OFFSET $1::bigint LIMIT $2::bigint"))
      #expect(plan.delivery?.parts.map { rowCounts($0.plan.parameters) } == [[2, 18]])
      #expect(plan.delivery?.usages.map(\.firstItem) == [2])
      #expect(plan.delivery?.usages.map(\.depth) == [2])
    }
  }

  @Test
  func
    `counts that differ are the same statements, and of none at once nothing is read but that there are some`()
    throws
  {
    let document =
      "query($n: Int) { people(first: 20) { nodes @stream(initialCount: $n) { name } } }"
    let (four, six) = (try plan(document, #"{"n":5}"#), try plan(document, #"{"n":6}"#))
    #expect(try texts(four) == texts(six))
    #expect(rowCounts(six.parameters) == [7])
    #expect(six.delivery?.parts.map { rowCounts($0.plan.parameters) } == [[6, 14]])
    let none = try texts(plan("{ people(first: 20) { nodes @stream { pets { name } } } }"))
    #expect(none.first.contains("LIMIT 1)") && !none.first.contains("FROM pet"))
    #expect(none.parts[0].contains("FROM pet"))
    #expect(
      try PlanningFixture.planAndKey(document, value(#"{"n":5}"#)).key
        != PlanningFixture.planAndKey(document, value(#"{"n":6}"#)).key)
  }

  @Test func `what is said of the page is of all of it, without what its elements are made of`()
    throws
  {
    let plan = try plan(
      """
      { people(first: 20) { totalCount nodes @stream(initialCount: 1) { pets { name } }
        pageInfo { hasNextPage endCursor } } }
      """)
    let (first, parts) = try texts(plan)
    #expect(first.contains("LIMIT 2)") && first.contains("LIMIT 21)"))
    #expect(first.components(separatedBy: "FROM pet").count == 2)
    #expect(parts.count == 1)
    #expect(!parts[0].contains("LIMIT 21)") && !parts[0].contains("count("))
  }

  @Test func `a list beside one that is not streamed is read whole, and so is a page from its end`()
    throws
  {
    for page in [
      "people(first: 20) { nodes { id } edges @stream(initialCount: 1) { node { name } } }",
      "people(last: 20) { nodes @stream(initialCount: 1) { name } }",
      "people(first: 20) { nodes @stream(initialCount: 20) { name } }",
    ] {
      let (first, parts) = try texts(plan("{ \(page) }"))
      #expect(first.contains("LIMIT 20)"), "\(page)")
      #expect(parts.count == 1, "\(page)")
    }
  }

  @Test func `of a list in an order so many are read first, of its later items all`() throws {
    let (first, parts) = try texts(
      plan(
        "query($p: ID! = \"\(NodeID.encode(257))\") { node(id: $p) { ... on Person { pets @stream(initialCount: 2) { name } } } }"
      ))
    #expect(first.contains("LIMIT 3"))
    #expect(parts.count == 1)
    #expect(!parts[0].contains("LIMIT") && !parts[0].contains("OFFSET"))
  }

  @Test
  func
    `streams in the first items and in the later ones, and fragments in both, are parts of their own`()
    throws
  {
    let plan = try plan(
      """
      { people(first: 3) { nodes @stream(label: "a", initialCount: 1) {
        name pets @stream(label: "b") { name } ... @defer(label: "c") { best { name } }
      } } }
      """)
    let labels = plan.delivery?.usages.map { $0.label ?? "" } ?? []
    #expect(labels.sorted() == ["a", "b", "b", "c", "c"])
    #expect(plan.delivery?.parts.count == 5)
    let later = plan.delivery?.usages.filter { $0.parent != nil } ?? []
    #expect(later.map(\.label) == ["c"])
  }

  @Test func `with too many of them, or none that does, the plan is of the whole`() throws {
    #expect(try plan("{ people { nodes @stream(if: false) { id } } }").delivery == nil)
    func many(_ count: Int) -> String {
      "{ people { "
        + (0..<count).map { "n\($0): nodes @stream { id }" }.joined(separator: " ") + " } }"
    }
    #expect(try plan(many(16)).delivery?.parts.count == 16)
    #expect(try plan(many(17)).delivery == nil)
  }

  @Test func `a count below none is refused, whether or not anything comes later`() throws {
    for (query, variables) in [
      ("{ people { nodes @stream(initialCount: -1) { id } } }", nil),
      ("query($n: Int) { people { edges @stream(initialCount: $n) { cursor } } }", #"{"n":-1}"#),
      ("query($n: Int) { people { edges @stream(initialCount: $n) { cursor } } }", #"{"n":null}"#),
    ] as [(String, String?)] {
      let error = #expect(throws: GraphQLError.self) { try plan(query, variables) }
      #expect(error?.message.hasPrefix("Argument \"initialCount\" must be 0 or more, not ") == true)
      #expect(throws: GraphQLError.self) { try PlanningFixture.plan(query, value(variables)) }
    }
    #expect(throws: Never.self) {
      try plan("{ people { nodes @stream(if: false, initialCount: -1) { id } } }")
    }
  }
}
