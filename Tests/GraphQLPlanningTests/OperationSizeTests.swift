import GraphQLLanguage
import GraphQLResponse
import JSON
import Testing

@testable import GraphQLPlanning

@Suite struct OperationSizeTests {
  @Test(arguments: [
    ("{ __typename }", 0, 0),
    ("{ node(id: \"AQE\") { id } }", 0, 1),
    ("{ people(first: 7) { totalCount } }", 0, 2),
    ("{ people(first: 7) { nodes { name } } }", 7, 9),
    // A cursor is an element even without its node.
    ("{ people(first: 7) { edges { cursor } } }", 7, 9),
    ("{ people(first: 7) { edges { cursor node { id } } } }", 7, 9),
    ("{ people(first: 5) { nodes { friends(first: 3) { nodes { best { id } } } } } }", 20, 47),
    ("{ people(first: 5) { edges { node { friends(first: 3) { edges { since } } } } } }", 20, 32),
    ("{ people { nodes { pets { id } } } }", 220, 262),
    // Of the types an id can be of, the dearest.
    (
      "{ nodes(ids: [\"AQE\", \"AQI\"]) { ... on Person { pets { id } } ... on Pet { owner { id } } } }",
      110, 132
    ),
    ("{ people(first: 0) { nodes { friends { nodes { id } } } } }", 0, 2),
  ])
  func `an operation is as large as its pages`(query: String, elements: Int, cost: Int) throws {
    let plan = try PlanningFixture.plan(query)
    let size = OperationSize(of: plan.shape, limits: PlannerLimits())
    #expect((size.elements, size.cost) == (elements, cost))
  }

  @Test func `last pages backward where first has a default`() throws {
    let query = "query($f: Int, $l: Int) { people(first: $f, last: $l) { nodes { id } } }"
    func page(_ variables: String) throws -> [String] {
      let plan = try PlanningFixture.plan(query, JSONParser.parse(Array(variables.utf8)))
      guard case .connection(let shape)? = plan.shape.fields.first?.value else { return [] }
      return ["\(shape.pageSize)", "\(shape.isBackward)"]
    }
    #expect(try page("{}") == ["20", "false"])
    #expect(try page(#"{"l": 3}"#) == ["3", "true"])
    #expect(try page(#"{"f": 4, "l": null}"#) == ["4", "false"])
    #expect(try page(#"{"f": null, "l": 20}"#) == ["20", "true"])
    #expect(throws: GraphQLError.self) { try page(#"{"f": 1, "l": 1}"#) }
  }

  @Test func `pages within pages do not overflow`() throws {
    var text = "nodes { id }"
    for _ in 0..<11 { text = "edges { node { friends(first: 100) { \(text) } } }" }
    let error = #expect(throws: GraphQLError.self) {
      try PlanningFixture.plan("{ people(first: 100) { \(text) } }")
    }
    #expect(error?.code == .costLimitExceeded)
  }

  @Test func `limits hold to the element and to the point`() throws {
    let query = "{ people(first: 5) { nodes { friends(first: 3) { edges { cursor } } } } }"
    var limits = PlannerLimits()
    limits.maximumElements = 20
    limits.maximumCost = 32
    _ = try PlanningFixture.plan(query, limits: limits)
    limits.maximumElements = 19
    #expect(throws: GraphQLError.self) { try PlanningFixture.plan(query, limits: limits) }
    limits.maximumElements = 20
    limits.maximumCost = 31
    #expect(throws: GraphQLError.self) { try PlanningFixture.plan(query, limits: limits) }
  }

  @Test func `a smaller largest page is also the usual one`() throws {
    var limits = PlannerLimits()
    limits.maximumPageSize = 10
    let plan = try PlanningFixture.plan(
      "{ people { nodes { friends { nodes { id } } } } }", limits: limits)
    #expect(OperationSize(of: plan.shape, limits: limits).elements == 110)
    #expect(throws: GraphQLError.self) {
      try PlanningFixture.plan("{ people(first: 11) { totalCount } }", limits: limits)
    }
  }
}
