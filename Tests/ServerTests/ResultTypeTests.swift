import Postgres
import Server
import TestSupport
import Testing

/// The result of a mutation's function, checked against its payload.
@Suite struct ResultTypeTests {
  private func problems(_ field: String, _ type: String, _ value: String) throws -> [String] {
    let mapping = try OwnGraph.mapping(
      """
      scalar DateTime @scalar(type: "timestamptz")
      scalar Decimal @scalar(type: "numeric")
      type Query { one: Int @sql(expression: "1") }
      type Mutation { make(id: Int!): Made! @call(function: "make(:id)") }
      type Made { \(field) @result userErrors: [UserError!]! @userErrors }
      type UserError { code: Code! message: String! path: [String!] }
      enum Code { NO }
      """)
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      """
      CREATE DOMAIN year AS integer;
      CREATE FUNCTION make(id int) RETURNS \(type) LANGUAGE sql VOLATILE AS 'SELECT \(value)';
      """)
    return try MutationCheck(mapping: mapping).run(session)
  }

  @Test(arguments: [
    ("id: Int", "int4", "id"), ("id: Int", "integer", "id"), ("id: Int", "year", "id::year"),
    ("x: Float", "double precision", "1.5"), ("on: Boolean", "bool", "true"),
    ("at: DateTime", "timestamp with time zone", "now()"), ("name: String", "text", "''a''::text"),
    ("price: Decimal", "numeric", "1.5"), ("ids: [Int!]", "integer[]", "ARRAY[id]"),
  ])
  func `types are compared, and not how they are spelled`(
    field: String, type: String, value: String
  ) throws {
    #expect(try problems(field, type, value) == [])
  }

  @Test func `another type is an error`() throws {
    #expect(
      try problems("id: Int", "bigint", "1::bigint") == [
        "Mutation.make: make(integer) must return integer, not bigint."
      ])
  }
}
