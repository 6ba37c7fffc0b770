import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Testing

/// The split of an operation for incremental delivery.
struct DeferTests {
  private func plan(
    _ query: String, _ format: IncrementalDelivery = .v02, maximumCost: Int? = nil
  ) throws -> Plan {
    let document = try Parser.parse(Source(query), limits: .default)
    let fragments = Dictionary(
      document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    var limits = PlannerLimits()
    limits.maximumCost = maximumCost ?? limits.maximumCost
    return try Planner(mapping: PlanningFixture.mapping(), limits: limits).plan(
      document.operations[0], fragments: fragments, source: document.source, variables: [],
      mode: .incremental(format))
  }

  private func texts(_ plan: Plan) -> [String] {
    (plan.delivery?.parts ?? []).map { $0.plan.statement?.text ?? "" }
  }

  @Test func `the first statement reads nothing of what comes later, the later one only that`()
    throws
  {
    let plan = try plan("{ people(first: 2) { nodes { id ... @defer { best { name } } } } }")
    let first = try #require(plan.statement?.text)
    #expect(first.contains(".id") && !first.contains("best_id"))
    #expect(texts(plan).count == 1)
    #expect(texts(plan)[0].contains("best_id"))
    #expect(plan.delivery?.usages.map(\.depth) == [3])
  }

  @Test func `fields of the same fragments are one part, wherever they are`() throws {
    let plan = try plan(
      """
      { people(first: 2) { nodes {
        ... @defer(label: "a") { name best { name } }
        ... @defer(label: "b") { name best { id } }
      } } }
      """)
    let usages = try #require(plan.delivery?.parts.map(\.usages))
    // Those that both have say where those of each are.
    #expect(usages.count == 3)
    #expect(usages.first == [0, 1])
    #expect(Set(usages.dropFirst()) == [[0], [1]])
  }

  @Test func `in the format of 2022 each fragment has all of its fields`() throws {
    let plan = try plan(
      """
      { people(first: 2) { nodes { name
        ... @defer(label: "a") { name }
        ... @defer(label: "b") { name best { id } }
      } } }
      """, .v20220824)
    #expect(plan.delivery?.parts.map(\.usages) == [[0], [1]])
    #expect(texts(plan).allSatisfy { $0.contains(".name") })
  }

  @Test
  func `with nothing left to come, or more kinds than are worth it, the plan is of the whole`()
    throws
  {
    #expect(try plan("{ people { nodes { id ... @defer { id } } } }").delivery == nil)
    #expect(try plan("{ people { nodes { id ... @defer(if: false) { name } } } }").delivery == nil)
    func many(_ count: Int) -> String {
      "{ people { nodes { "
        + (0..<count).map { "... @defer { n\($0): name }" }.joined(separator: " ") + " } } }"
    }
    #expect(try plan(many(16)).delivery?.parts.count == 16)
    #expect(try plan(many(17)).delivery == nil)
  }

  @Test func `it may cost what the whole may`() throws {
    let text = "{ people(first: 10) { nodes { ... @defer { pets { name } } } } }"
    let whole = try PlanningFixture.plan(text).size.fixed
    #expect(try plan(text, maximumCost: whole.cost).size.fixed == whole)
    #expect(throws: GraphQLError.self) { try plan(text, maximumCost: whole.cost - 1) }
  }
}
