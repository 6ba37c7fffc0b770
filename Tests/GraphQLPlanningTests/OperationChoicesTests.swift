import JSON
import Testing

@testable import GraphQLPlanning

/// Plans are kept by key: requests with one key must have one plan, whatever else their values are.
@Suite struct OperationChoicesTests {
  private static let query = """
    query($first: Int, $after: String, $name: String, $kinds: [Kind!], $order: Order! = NAME, $with: Boolean! = true, $ids: [ID!]! = []) {
      people(first: $first, after: $after, name: $name, kinds: $kinds, order: $order) { nodes { name @include(if: $with) id } }
      nodes(ids: $ids) { id }
    }
    """

  /// Variables in JSON: those of one line have the same plan, others have not.
  private static let groups: [[String]] = [
    ["{}"],
    [#"{"first": 3}"#, #"{"first": 3, "extra": 1}"#],
    [#"{"first": 4}"#],
    [#"{"name": "anna"}"#, #"{"name": "ben"}"#],
    [#"{"name": ""}"#],
    [#"{"after": "x"}"#, #"{"after": "y"}"#],
    [#"{"kinds": ["GOOD"]}"#, #"{"kinds": "GOOD"}"#],
    [#"{"kinds": ["GOOD", "BAD"]}"#],
    [#"{"kinds": []}"#],
    [#"{"order": "NEWEST"}"#],
    [#"{"with": false}"#],
    [#"{"ids": ["AQE"]}"#, #"{"ids": ["AgE", "AwE"]}"#],
    [#"{"ids": ["AQI"]}"#],
    [#"{"ids": ["AQE", "AQI"]}"#, #"{"ids": ["AQI", "AgE", "AgE"]}"#],
  ]

  private func planned(_ variables: String) throws -> (plan: Plan, key: [UInt8]) {
    try PlanningFixture.planAndKey(Self.query, JSONParser.parse(Array(variables.utf8)))
  }

  @Test func `equal keys have equal plans`() throws {
    var plans: [[UInt8]: String] = [:]
    for variables in Self.groups.flatMap({ $0 }) {
      let (plan, key) = try planned(variables)
      let text = "\(plan.statement?.text ?? "") \(plan.parameters)"
      if let known = plans[key] { #expect(known == text, "\(variables)") }
      plans[key] = text
    }
  }

  @Test func `the tag of an ID by a key is a choice, its values are not`() throws {
    let mapping = try PlanningFixture.mapping(
      """
      type Query { node(id: ID!): Node @reference(id: ":id") }
      interface Node { id: ID! }
      type Film implements Node @tag(id: 300) @table(name: "film") { id: ID! @id }
      type Cast implements Node @tag(id: 2) @table(name: "cast", key: "a, b") { id: ID! @id }
      """)
    func planned(_ tag: Int, _ values: [String]) throws -> (plan: Plan, key: [UInt8]) {
      try PlanningFixture.planAndKey(
        "query($id: ID!) { node(id: $id) { id } }",
        .object([.init(name: "id", value: .string(KeyID.encode(tag, values)))]), in: mapping)
    }
    let first = try planned(2, ["a", "1"])
    #expect(try planned(2, ["b", ""]).key == first.key)
    #expect(try planned(2, ["b"]).key == first.key)
    #expect(try planned(300, ["1"]).key != first.key)
    #expect(try planned(300, ["1"]).key != planned(3, ["1"]).key)
    #expect(try planned(3, ["1"]).key == planned(4, ["1"]).key, "no type has these tags")
    #expect(try planned(3, ["1"]).plan.statement == nil)
  }

  @Test func `values that are only values do not make another plan`() throws {
    for group in Self.groups {
      let statements = try group.map { try planned($0).plan.statement?.text }
      #expect(Set(statements).count == 1, "\(group)")
    }
    let keys = try Self.groups.map { try planned($0[0]).key }
    #expect(Set(keys).count == keys.count)
  }
}
