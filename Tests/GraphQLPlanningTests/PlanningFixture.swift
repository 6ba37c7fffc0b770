import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import JSON

/// A small graph with its storage: text in, plan out.
enum PlanningFixture {
  static let sdl = """
    type Query {
      node(id: ID!): Node @reference(id: ":id")
      nodes(ids: [ID!]!): [Node]!
        @list(ids: ":ids")
      people(name: String @where(condition: "this.name = :value", unless: ""), kinds: [Kind!] @where(condition: "this.kind IN (:value...)"),
        order: Order! = NAME, first: Int = 20, after: String, last: Int, before: String): PersonConnection! @connection
    }
    interface Node { id: ID! }
    type Person implements Node @tag(id: 1) @table(name: "person") {
      id: ID!
      name: String!
      best: Person @reference(column: "best_id")
      pets: [Pet!]! @list(where: "this.owner_id = parent.id", orderBy: "this.id")
      friends(first: Int = 20, after: String): PersonConnection!
        @connection(from: "friendship", on: "this.id = edge.b", where: "edge.a = parent.id", orderBy: "edge.since DESC NULLS LAST, this.id")
    }
    type Pet implements Node @tag(id: 2) @table(name: "pet") { id: ID! name: String! owner: Person! @reference(column: "owner_id") }
    type PersonConnection { nodes: [Person!]! edges: [PersonEdge!]! pageInfo: PageInfo! totalCount: Int! }
    type PersonEdge { node: Person! cursor: String! since: String }
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    enum Kind { GOOD BAD @value(sql: "7") }
    enum Order { NAME @orderBy(by: "this.name, this.id") NEWEST @orderBy(by: "this.born DESC, this.id DESC") }
    """

  static func mapping(_ sdl: String = sdl) throws -> StorageMapping {
    let text = StorageDirectives.sdl + "\n" + sdl
    let document = try Parser.parse(Source(text), limits: .default)
    return try StorageMapping(SchemaBuilder.build(SchemaCompletion.complete(document)))
  }

  static func plan(
    _ query: String, _ variables: JSONValue? = nil, in mapping: StorageMapping? = nil,
    limits: PlannerLimits = PlannerLimits()
  ) throws -> Plan {
    try planAndKey(query, variables, in: mapping, limits: limits).plan
  }

  static func planAndKey(
    _ query: String, _ variables: JSONValue? = nil, in mapping: StorageMapping? = nil,
    limits: PlannerLimits = PlannerLimits()
  ) throws -> (plan: Plan, key: [UInt8]) {
    let mapping = try mapping ?? self.mapping()
    let document = try Parser.parse(Source(query), limits: .default)
    let operation = document.operations[0]
    let fragments = Dictionary(
      document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    let coerced = try VariableCoercion(mapping.schema, operation, source: document.source)
      .coerce(variables)
    let values = operation.variables.map { coerced[$0.name.text] }
    var key: [UInt8] = []
    OperationChoices(operation, fragments: fragments, mapping: mapping)
      .appendKey(for: values, to: &key)
    let plan = try Planner(mapping: mapping, limits: limits).plan(
      operation, fragments: fragments, source: document.source, variables: values)
    return (plan, key)
  }

  static func variableNames(of query: String) throws -> [String] {
    try Parser.parse(Source(query), limits: .default).operations[0].variables.map(\.name.text)
  }
}

extension Plan {
  /// What comes later of the response, if it comes in parts.
  var delivery: DeliveryPlan? {
    if case .incremental(_, let delivery) = self { delivery } else { nil }
  }
}
