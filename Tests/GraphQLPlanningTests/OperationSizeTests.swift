import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
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
      22, 28
    ),
    ("{ people(first: 0) { nodes { friends { nodes { id } } } } }", 0, 2),
  ])
  func `an operation is as large as its pages`(query: String, elements: Int, cost: Int) throws {
    let size = try PlanningFixture.plan(query).size
    #expect(size.isFixed)
    #expect((size.fixed.elements, size.fixed.cost) == (elements, cost))
  }

  @Test func `ids that are given count as many as they are, whichever request made the plan`()
    throws
  {
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Person { best { id } } } }"
    let size = try PlanningFixture.plan(query, JSONParser.parse(Array(#"{"ids": ["AQE"]}"#.utf8)))
      .size
    #expect(!size.isFixed)
    for count in [0, 1, 2, 100] {
      let ids = InputValue.list(Array(repeating: .string("AQE"), count: count))
      let found = size.size(for: [ids])
      #expect((found.elements, found.cost) == (count, 2 + 2 * count))
    }
    #expect(size.size(for: [nil]).cost == 2 && size.size(for: []).cost == 2)
  }

  @Test func `a list counts as many as it may have`() throws {
    let sdl = """
      type Query {
        some(limit: Int! = 20): [Pet!]! @list(orderBy: "this.id")
        all: [Pet!]! @list(orderBy: "this.id")
      }
      type Pet @tag(id: 2) @table(name: "pet") { id: ID! }
      """
    let mapping = try PlanningFixture.mapping(sdl)
    func cost(_ query: String) throws -> Int {
      try PlanningFixture.plan(query, in: mapping).size.fixed.cost
    }
    #expect(try cost("{ some { id } }") == 22)
    #expect(try cost("{ some(limit: 100) { id } }") == 102)
    // Nobody says how many these are.
    #expect(try cost("{ all { id } }") == 12)
  }

  @Test func `response names count as often as they can come`() throws {
    let alias = String(repeating: "a", count: 1000)
    func bytes(_ query: String) throws -> Int {
      try PlanningFixture.plan(query, limits: .unlimited).size.fixed.nameBytes
    }
    let short = try bytes("{ people(first: 10) { nodes { friends(first: 10) { nodes { id } } } } }")
    let long = try bytes(
      "{ people(first: 10) { nodes { friends(first: 10) { nodes { \(alias): id } } } } }")
    #expect(long - short == 100 * 998)
    let error = #expect(throws: GraphQLError.self) {
      try PlanningFixture.plan(
        "{ people(first: 90) { nodes { friends(first: 100) { nodes { \(alias): id } } } } }")
    }
    #expect(error?.code == .costLimitExceeded)
    #expect(error?.message.contains("names") == true, "\(error?.message ?? "")")
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
    #expect(plan.size.fixed.elements == 110)
    #expect(throws: GraphQLError.self) {
      try PlanningFixture.plan("{ people(first: 11) { totalCount } }", limits: limits)
    }
  }
}
