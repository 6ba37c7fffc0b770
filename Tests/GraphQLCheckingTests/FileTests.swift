import GraphQLChecking
import Testing

/// `sociograph check` with files.
struct FileTests {
  private func file(_ name: String, _ text: String) -> FileChecker.File {
    FileChecker.File(name: name, bytes: Array(text.utf8))
  }

  private func lines(
    schema: [FileChecker.File] = [], documents: [FileChecker.File] = [], rules: [String]? = nil
  ) -> [String] {
    FileChecker(
      schema: schema, documents: documents, rules: rules.flatMap { RuleNames($0) }
    ).findings().map(\.line)
  }

  @Test func `documents alone are parsed`() {
    #expect(
      lines(documents: [file("a.graphql", "{ a }"), file("b.graphql", "{\n  a(")]) == [
        "b.graphql:2:5: Syntax Error: Expected Name, found <EOF>."
      ])
  }

  @Test func `several schema files are one text, and findings have the file's own lines`() {
    let files = [
      file("query.graphql", "type Query {\n  user: User\n}\n"),
      file("user.graphql", "type User {\n  name: Strin\n}"),
      file("more.graphql", "extend type Query { age: Integr }"),
    ]
    #expect(
      lines(schema: files) == [
        "user.graphql:2:9: Unknown type \"Strin\". Did you mean \"String\"?",
        "more.graphql:1:26: Unknown type \"Integr\". Did you mean \"Int\"?",
      ])
    #expect(
      lines(schema: [file("s", "type A { a: Int }")]) == [
        "s:1:1: Query root type must be provided."
      ])
  }

  @Test func `documents are validated against the schema, each on its own`() {
    let schema = [file("s.graphql", "type Query { a: Int, b(c: Int!): Int }")]
    let documents = [
      file("one.graphql", "query Q { a }"), file("two.graphql", "query Q { b x @y }"),
    ]
    #expect(
      lines(schema: schema, documents: documents) == [
        "two.graphql:1:11: Field \"b\" argument \"c\" of type \"Int!\" is required, but it was not provided.",
        "two.graphql:1:13: Cannot query field \"x\" on type \"Query\". Did you mean \"a\" or \"b\"?",
        "two.graphql:1:15: Unknown directive \"@y\".",
      ])
    #expect(
      lines(schema: schema, documents: documents, rules: ["KnownDirectivesRule"]) == [
        "two.graphql:1:15: Unknown directive \"@y\"."
      ])
  }

  @Test func `JSON names the file`() {
    let findings = FileChecker(
      schema: [], documents: [file("b.graphql", "{")], rules: nil
    ).findings()
    #expect(
      String(decoding: FileChecker.json(findings), as: UTF8.self)
        == #"{"errors":[{"message":"Syntax Error: Expected Name, found <EOF>.","locations":[{"line":1,"column":2}],"extensions":{"file":"b.graphql"}}]}"#
        + "\n")
    #expect(FileChecker.json([]) == Array("{\"errors\":[]}\n".utf8))
  }

  @Test func `rules are known by name`() {
    #expect(RuleNames(["FieldsOnCorrectTypeRule", "TypeSystemRule"]) != nil)
    #expect(RuleNames(["FieldsOnCorrectType"]) == nil)
    #expect(RuleNames.all.first == "ExecutableDefinitionsRule")
    #expect(RuleNames.all.contains("ProvidedRequiredArgumentsOnDirectivesRule"))
  }
}
