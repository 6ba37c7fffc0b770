import TestSupport
import Testing

/// Whether orders end with something unique, as the tables' indexes say it.
@Suite(.usesCluster) struct OrderCheckTests {
  private func findings(order: String, unique: String = "") throws -> [String] {
    try CheckedGraph(
      """
      type Query {
        cats(first: Int = 20, after: String): CatConnection! @connection(orderBy: "\(order)")
      }
      type Cat @tag(id: 7) @table(name: "cats()") { id: ID! }
      type CatConnection { nodes: [Cat!]! pageInfo: PageInfo! edges: [CatEdge!]! }
      type CatEdge { node: Cat! cursor: String! }
      """,
      """
      CREATE TABLE cat (id bigint PRIMARY KEY, name text, born date\(unique));
      CREATE FUNCTION cats() RETURNS SETOF cat STABLE LANGUAGE sql AS 'SELECT * FROM cat'
      """
    ).findings()
  }

  @Test(arguments: [
    ("this.born DESC, this.id DESC", ""), ("this.id", ""), ("lower(this.name), this.id", ""),
    ("this.name, this.born", ", UNIQUE (born, name)"),
  ])
  func `an order with a unique key passes`(order: String, unique: String) throws {
    #expect(try findings(order: order, unique: unique) == [])
  }

  @Test(arguments: [
    "this.born", "this.name, this.born DESC NULLS LAST", "this.name, (this.id / 2)",
  ])
  func `an order without one is an error`(order: String) throws {
    #expect(
      try findings(order: order) == [
        "error: Query.cats: the order \"\(order)\" is not total: no unique key of cat is in it; end it "
          + "with this.id."
      ])
  }

  private func friends(
    on: String = "this.id = edge.b", where condition: String, order: String, key: String
  ) throws -> [String] {
    try CheckedGraph(
      """
      type Query { people: [Person!]! @list(orderBy: "this.id") }
      type Person @tag(id: 1) @table(name: "person") {
        id: ID!
        friends(first: Int = 20, after: String): PersonConnection!
          @connection(from: "friendship", on: "\(on)", where: "\(condition)", orderBy: "\(order)")
      }
      type PersonConnection { nodes: [Person!]! edges: [PersonEdge!]! pageInfo: PageInfo! }
      type PersonEdge { node: Person! cursor: String! }
      """,
      """
      CREATE TABLE person (id bigint PRIMARY KEY);
      CREATE TABLE friendship (a bigint, b bigint, kind text, since date, PRIMARY KEY (\(key)))
      """
    ).findings()
  }

  @Test(arguments: [
    ("edge.a = parent.id", "edge.since, this.id", "a, b"),
    ("parent.id = edge.a AND edge.since > now()", "edge.b DESC", "a, b"),
    ("edge.a = parent.id AND edge.kind = 'GOOD'", "edge.b", "a, b, kind"),
    ("edge.a = parent.id", "edge.since, edge.b, edge.kind", "a, b, kind"),
  ])
  func `what a condition holds fixed and what a join makes equal count`(
    condition: String, order: String, key: String
  ) throws {
    #expect(try friends(where: condition, order: order, key: key) == [])
  }

  @Test(arguments: [
    ("edge.a = parent.id", "edge.since, this.id", "a, b, kind", "edge.kind"),
    ("edge.a = parent.id OR edge.kind = 'GOOD'", "edge.b", "a, b", "edge.a"),
    ("edge.a > parent.id", "this.id", "a, b", "edge.a"),
  ])
  func `an edge that can come twice needs its own key in the order`(
    condition: String, order: String, key: String, missing: String
  ) throws {
    #expect(
      try friends(where: condition, order: order, key: key) == [
        "error: Person.friends: the order \"\(order)\" is not total: no unique key of friendship is in "
          + "it; end it with \(missing)."
      ])
  }

  @Test func `each order that an enum offers is looked at`() throws {
    let graph = try CheckedGraph(
      """
      enum CatOrder { OLDEST @orderBy(by: "this.born, this.id") NAME @orderBy(by: "this.name") }
      type Query {
        cats(orderBy: CatOrder! = OLDEST, first: Int = 20, after: String): CatConnection! @connection
      }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      type CatConnection { nodes: [Cat!]! pageInfo: PageInfo! edges: [CatEdge!]! }
      type CatEdge { node: Cat! cursor: String! }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, name text, born date)")
    #expect(
      try graph.findings() == [
        "error: Query.cats: the order \"this.name\" is not total: no unique key of cat is in it; end "
          + "it with this.id."
      ])
  }

  @Test func `of a list it is a warning`() throws {
    let graph = try CheckedGraph(
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.name") }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, name text)")
    #expect(
      try graph.findings() == [
        "warning: Query.cats: the order \"this.name\" is not total: no unique key of cat is in it; end "
          + "it with this.id."
      ])
  }
}
