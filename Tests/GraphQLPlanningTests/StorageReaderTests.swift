import Testing

@testable import GraphQLPlanning

@Suite struct StorageReaderTests {
  @Test(arguments: [
    ("type Thing @tag(id: 0) { id: ID! }", "Thing: a tag is between 1 and 255, not 0."),
    ("type Thing @tag(id: 256) { id: ID! }", "Thing: a tag is between 1 and 255, not 256."),
  ])
  func `a directive that does not fit names its place`(type: String, problem: String) throws {
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping("type Query { thing: Thing @reference(id: \"1\") }\n" + type)
    }
    #expect(error?.problems == [problem])
  }

  @Test func `a reference needs something that says which row`() throws {
    let things = "type Thing @tag(id: 1) @table(name: \"thing\") { id: ID! }\n"
    let by = "input By @oneOf { id: ID @where(condition: \"this.id = :value\"), other: Int }\n"
    _ = try PlanningFixture.mapping(
      "type Query { thing(by: By!): Thing @reference }\n" + by + things)
    let error = #expect(throws: StorageErrors.self) {
      try PlanningFixture.mapping("type Query { thing(first: Int): Thing @reference }\n" + things)
    }
    #expect(error?.problems.count == 1)
  }
}
