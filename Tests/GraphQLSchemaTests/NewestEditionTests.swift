import Foundation
import GraphQLLanguage
import GraphQLSchema
import JSON
import OracleSupport
import Testing

/// What the working draft has since 2026: directives on directives, and input objects that must have a
/// finite value. graphql-core 3.3 has them too.
@Suite(.blocks) struct NewestEditionTests {
  /// Type systems, and whether each is valid.
  private static let cases: [(text: String, isValid: Bool)] = [
    // Directives on directives.
    ("directive @mark on DIRECTIVE_DEFINITION directive @d @mark on FIELD", true),
    ("directive @d @deprecated on FIELD", true),
    ("directive @d(a: Int) @deprecated(reason: \"r\") repeatable on FIELD | QUERY", true),
    ("directive @d on FIELD extend directive @d @deprecated(reason: \"r\")", true),
    ("directive @mark repeatable on DIRECTIVE_DEFINITION directive @d @mark @mark on FIELD", true),
    ("directive @mark on DIRECTIVE_DEFINITION directive @d @mark @mark on FIELD", false),
    (
      "directive @mark on DIRECTIVE_DEFINITION directive @d @mark on FIELD extend directive @d @mark",
      false
    ),
    ("directive @mark on OBJECT directive @d @mark on FIELD", false),
    ("directive @d @unknown on FIELD", false),
    ("extend directive @unknown @deprecated", false),
    ("directive @mark(a: Int!) on DIRECTIVE_DEFINITION directive @d @mark on FIELD", false),
    ("directive @d(a: Int) @deprecated(reason: 1) on FIELD", false),
    // Finite values.
    ("input A @oneOf { a: A }", false),
    ("input A @oneOf { a: A b: Int }", true),
    ("input A @oneOf { a: [A] }", true),
    ("input A @oneOf { a: [A!] b: A }", true),
    ("input A @oneOf { b: B } input B { a: A! }", false),
    ("input A @oneOf { b: B } input B { a: A }", true),
    ("input A @oneOf { b: B } input B { a: A! } input C { a: A }", false),
    ("input A @oneOf { b: B c: C } input B @oneOf { c: C } input C @oneOf { a: A }", false),
    (
      "input A @oneOf { b: B c: C } input B @oneOf { c: C } input C @oneOf { a: A s: String }", true
    ),
    ("input A @oneOf { b: B c: C } input B { x: Int } input C @oneOf { c: C }", false),
    ("input A { a: A! }", false), ("input A { b: B! } input B { a: A! }", false),
    ("input A { a: A }", true), ("input A { a: [A!]! }", true),
    ("enum E { X } scalar S input A @oneOf { a: A e: E s: S }", true),
  ]

  private static func document(_ text: String) -> String { "type Query { q: Int } \(text)" }

  @Test(arguments: cases)
  func `each is judged as the draft says`(text: String, isValid: Bool) throws {
    let check = SchemaBuilder.check(try Parser.parse(Self.document(text), limits: .unlimited))
    #expect((check.schema != nil) == isValid, "\(check.errors.map(\.message))")
  }

  @Test func `a cycle is told of with its fields`() throws {
    let text = "input First @oneOf { second: Second } input Second { first: First! }"
    let check = SchemaBuilder.check(try Parser.parse(Self.document(text), limits: .unlimited))
    #expect(
      check.errors.map(\.message) == [
        "Input Object First cannot be provided a finite value because it references itself through "
          + "fields: First.second, Second.first."
      ])
    #expect(check.errors.first?.locations.count == 2)
  }

  @Test func `a long chain of types takes no more stack than a short one`() throws {
    let count = 5_000
    let types = (0..<count).map { "input A\($0) @oneOf { next: A\(($0 + 1) % count) }" }
    let text = Self.document(types.joined(separator: "\n"))
    let check = SchemaBuilder.check(try Parser.parse(text, limits: .unlimited))
    #expect(check.schema == nil && check.errors.count == 1)
  }

  @Test func `directives on directives are printed as they are read`() throws {
    for text in [
      "directive @d(a: Int) @mark @deprecated(reason: \"r\") repeatable on FIELD | DIRECTIVE_DEFINITION",
      "extend directive @d @deprecated",
    ] {
      #expect(Printer.print(try Parser.parse(text, limits: .unlimited)) == text)
    }
    for text in ["extend directive @d", "extend directive @d on FIELD", "extend directive"] {
      #expect(throws: SyntaxError.self) { try Parser.parse(text, limits: .unlimited) }
    }
    let schema = try schema(
      "type Query { a: Int } directive @d(a: Int) @deprecated repeatable on FIELD")
    #expect(
      SchemaPrinter(schema).print().hasPrefix(
        "directive @d(a: Int) @deprecated repeatable on FIELD\n"))
  }

  @Test(.enabled(if: LiveClients.python != nil, "script/live-clients installs what this needs"))
  func `graphql-core 3_3 judges and prints the same`() throws {
    let texts = Self.cases.map { Self.document($0.text) }
    let published = SchemaPrinter(
      try schema(publishedText), marksSemanticNonNull: true
    ).print()
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sociograph-edition-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("cases.json")
    let cases = JSONValue.array((texts + [published]).map { .string($0) })
    try Data("\(cases)".utf8).write(to: file)
    let run = try LiveClients.run("edition.py", [file.path])
    #expect(run.status == 0, "\(run.output)")
    let answers = try JSONParser.parse(Array(run.output.utf8))
    guard case .array(let found) = answers, found.count == texts.count + 1 else {
      Issue.record("\(run.output)")
      return
    }
    for (text, answer) in zip(texts, found) {
      // graphql-core 3.3 takes extensions of directives that are not there.
      if text.contains("extend directive @unknown") { continue }
      let check = SchemaBuilder.check(try Parser.parse(text, limits: .unlimited))
      let ours = check.schema.map { JSONValue.string(SchemaPrinter($0).print()) } ?? .null
      #expect(answer == ours, "\(text)")
    }
    // What --semantic-non-null prints is a schema. graphql-core prints no directives of others.
    let unmarked = published.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.hasPrefix("directive ")
        ? $0 : $0.replacing(/\ @semanticNonNull(\(levels: \[[0-9, ]+\]\))?/, with: "")
    }
    #expect(published.contains(" @semanticNonNull(levels: [0, 1])"))
    #expect(found.last == .string(unmarked.joined(separator: "\n")))
  }
}
