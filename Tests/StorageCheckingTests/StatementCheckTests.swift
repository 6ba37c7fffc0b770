import TestSupport
import Testing

/// Directives that PostgreSQL cannot make sense of.
@Suite(.usesCluster) struct StatementCheckTests {
  private func findings(_ fields: String, more: String = "") throws -> [String] {
    try CheckedGraph(
      """
      type Query { cats: [Cat!]! @list(orderBy: "this.id") }
      interface Animal @table(name: "cat") {
        id: ID! name: String! @column(name: "nam") mother: Cat @reference(column: "mother_id")
      }
      type Cat implements Animal @tag(id: 7) {
        id: ID! name: String! mother: Cat \(fields)
      }
      \(more)
      """, "CREATE TABLE cat (id bigint PRIMARY KEY, name text, mother_id bigint)"
    ).findings()
  }

  private static let name =
    "error: Animal.name: column this.nam does not exist. Perhaps you meant to reference the column "
    + "\"this.name\"."

  @Test(
    arguments: [
      ("", []),
      (
        #"size: Int @sql(expression: "this.xxxxxxxx")"#,
        [
          "error: Cat.size: column this.xxxxxxxx does not exist. Name one that is there with "
            + "@column(name:), or compute it with @sql(expression:)."
        ]
      ),
      (
        #"a: Cat @reference(column: "xxxxxxxx")"#,
        [
          "error: Cat.a: column parent.xxxxxxxx does not exist. Name one that is there with "
            + "@column(name:), or compute it with @sql(expression:)."
        ]
      ),
      (
        #"a: [Cat!]! @list(rows: "xxxx", orderBy: "this.id") b: [Cat!]! @list(rows: "xxxx", orderBy: "this.id")"#,
        [
          #"error: Cat.a: relation "xxxx" does not exist. Create it, or name one that is there. The "#
            + "same: Cat.b."
        ]
      ),
      (
        "a: [Cat!]!",
        [
          "error: Cat.a: it has no storage; write @reference, @connection, @list or @embed."
        ]
      ),
    ] as [(String, [String])])
  func `is named with its coordinate, in the words of directives, once for each cause`(
    field: String, problems: [String]
  ) throws {
    #expect(Set(try findings(field)) == Set([Self.name] + problems))
  }

  @Test func `what is wrong with the way to a type is not said of its fields`() throws {
    let found = try findings(
      #"dogs: [Dog!]! @list(orderBy: "this.xxxxxxxx")"#,
      more: #"type Dog @table(name: "cat") { id: ID! mother: Cat @reference(column: "mother_id") }"#
    )
    #expect(
      Set(found) == [
        Self.name,
        "error: Cat.dogs: column this.xxxxxxxx does not exist. Name one that is there with "
          + "@column(name:), or compute it with @sql(expression:).",
      ])
  }
}
