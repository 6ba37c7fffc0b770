import Testing

/// Input types of any form are made up to be probed, and what their conditions say is checked.
@Suite struct InputProbesTests {
  private static let table = "CREATE TABLE cat (id bigint PRIMARY KEY, name text, size int)"

  private func graph(_ arguments: String, _ inputs: String) throws -> CheckedGraph {
    try CheckedGraph(
      """
      type Query { cats(\(arguments)): [Cat!]! @list(orderBy: "this.id") }
      type Cat @table(name: "cat") { name: String }
      \(inputs)
      """, Self.table)
  }

  @Test func `an input type that has itself is checked like any other`() throws {
    let inputs = """
      input Fits {
        name: String @where(condition: "this.name = :value")
        or: [Fits!] not: Fits other: Other
      }
      input Other @oneOf { fits: Fits other: [Other!] size: Int @where(condition: "this.SIZE = :value") }
      """
    #expect(try graph("fits: Fits", inputs).findings() == [])
    let wrong = inputs.replacing("this.SIZE", with: "this.sise")
    #expect(
      try graph("fits: Fits", wrong).findings() == [
        "error: Query.cats: column this.sise does not exist. Perhaps you meant to reference the "
          + #"column "this.size"."#
      ])
  }

  @Test func `twenty input types that all have each other are checked`() throws {
    let names = (0..<20).map { "In\($0)" }
    let inputs = names.map { name in
      "input \(name) { size: Int @where(condition: \"this.size = :value\") "
        + names.map { "\($0.lowercased()): \($0)" }.joined(separator: " ") + " }"
    }.joined(separator: "\n")
    #expect(try graph("fits: In0", inputs).findings() == [])
    let wrong = inputs.replacing(
      #"input In19 { size: Int @where(condition: "this.size"#,
      with: #"input In19 { size: Int @where(condition: "this.sise"#)
    #expect(try graph("fits: In0", wrong).findings().count == 1)
  }
}
