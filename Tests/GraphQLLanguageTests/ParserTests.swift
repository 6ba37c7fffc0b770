import GraphQLLanguage
import Testing

/// Expects one syntax error with these words at this place.
func expectSyntaxError(
  _ text: String, _ message: String, line: Int = 1, column: Int,
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  #expect(sourceLocation: sourceLocation) {
    try Parser.parse(text, limits: .unlimited)
  } throws: { error in
    error as? SyntaxError
      == SyntaxError("Syntax Error: \(message)", at: SourceLocation(line: line, column: column))
  }
}

struct ParserTests {
  @Test func `an operation with all its parts`() throws {
    let document = try Parser.parse(
      """
      "What it does" query Q("how many" $n: [Int!]! = [1] @deprecated, $u: User) @a(b: 1) {
        alias: field(x: $n, y: {z: "s", e: ENUM, f: -1.5e3, n: null, b: true}) @include(if: true) { id }
        ...F @d
        ... on T { id }
        ... @skip(if: false) { id }
      }
      fragment F on T { id }
      """)
    let operation = try #require(document.operations.first)
    #expect(operation.kind == .query)
    #expect(operation.description?.text == "What it does")
    #expect(operation.position.offset == 0)
    #expect(operation.name?.text == "Q")
    #expect(operation.variables.map(\.name.text) == ["n", "u"])
    #expect(operation.variables[0].description?.text == "how many")
    #expect(operation.variables[0].directives.map(\.name.text) == ["deprecated"])
    guard case .nonNull(.list(.nonNull(.named(let name)), _)) = operation.variables[0].type else {
      Issue.record("type of $n is \(operation.variables[0].type)")
      return
    }
    #expect(name.text == "Int")
    #expect(operation.selectionSet.selections.count == 4)
    guard case .field(let field) = operation.selectionSet.selections[0] else {
      Issue.record("the first selection is no field")
      return
    }
    #expect(field.responseName == "alias")
    #expect(field.name.text == "field")
    #expect(field.arguments.map(\.name.text) == ["x", "y"])
    #expect(document.source.location(of: field.position) == SourceLocation(line: 2, column: 3))
    #expect(document.fragments.map(\.name.text) == ["F"])
  }

  @Test func `the first error ends it, in the words of graphql-js`() {
    expectSyntaxError("{", "Expected Name, found <EOF>.", column: 2)
    expectSyntaxError("", "Unexpected <EOF>.", column: 1)
    expectSyntaxError("{ a(b: $c: 1) }", "Expected Name, found \":\".", column: 10)
    expectSyntaxError(
      "query ($a: Int = $b) { c }", "Unexpected variable \"$b\" in constant value.", column: 18)
    expectSyntaxError("fragment on on on { on }", "Unexpected Name \"on\".", column: 10)
    expectSyntaxError("fragment f T { on }", "Expected \"on\", found Name \"T\".", column: 12)
    expectSyntaxError("{ a() }", "Expected Name, found \")\".", column: 5)
    expectSyntaxError(
      "notAnOperation Foo { field }", "Unexpected Name \"notAnOperation\".", column: 1)
    expectSyntaxError("...", "Unexpected \"...\".", column: 1)
    expectSyntaxError("{ \"\"", "Expected Name, found String \"\".", column: 3)
    expectSyntaxError("extend type A", "Unexpected <EOF>.", column: 14)
    expectSyntaxError(
      "enum E { true }", "Name \"true\" is reserved and cannot be used for an enum value.",
      column: 10)
    expectSyntaxError("directive @a on NOWHERE", "Unexpected Name \"NOWHERE\".", column: 17)
    expectSyntaxError(
      "{\n  a\r\n  b\r  'c'\n}",
      "Unexpected single quote character ('), did you mean to use a double quote (\")?", line: 4,
      column: 3)
  }

  @Test func `descriptions stand on definitions only`() {
    expectSyntaxError(
      "\"d\" { a }", "Unexpected description, descriptions are not supported on shorthand queries.",
      column: 1)
    expectSyntaxError(
      "\"d\" extend type A @b",
      "Unexpected description, only GraphQL definitions support descriptions.", column: 1)
    expectSyntaxError("\"d\" 1", "Unexpected Int \"1\".", column: 5)
  }

  @Test func `columns count code points`() {
    expectSyntaxError("{ a(b: \"é😀\") %", "Unexpected character: \"%\".", column: 14)
    expectSyntaxError("\u{FEFF}{ é }", "Unexpected character: U+00E9.", column: 4)
  }

  /// Half a pair, as three bytes each; UTF-8 has none, sources made from JSON may.
  @Test func `half a surrogate pair is an error for what reads it`() {
    func expectError(
      _ before: String, _ half: [UInt8], _ after: String, _ message: String, line: Int = 1,
      column: Int, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
      #expect(
        throws: SyntaxError(
          "Syntax Error: \(message)", at: SourceLocation(line: line, column: column)),
        sourceLocation: sourceLocation
      ) {
        try Parser.parse(Source(Array(before.utf8) + half + Array(after.utf8)))
      }
    }
    let (leading, trailing): ([UInt8], [UInt8]) = ([0xED, 0xA0, 0xBD], [0xED, 0xB8, 0x80])
    expectError("", leading, "", "Invalid character: U+D83D.", column: 1)
    expectError("{ é", leading, "}", "Unexpected character: U+00E9.", column: 3)
    expectError("{ a", trailing, "}", "Invalid character: U+DE00.", column: 4)
    expectError("{ a\n# é", trailing, "\n}", "Invalid character: U+DE00.", line: 2, column: 4)
    expectError(
      "{ a(b: \"é😀", leading, "\") }", "Invalid character within String: U+D83D.", column: 11)
    expectError(
      "{ a(b: \"\"\"x\n ", trailing, "\"\"\") }", "Invalid character within String: U+DE00.",
      line: 2, column: 2)
    // What comes first is what is said.
    expectError(
      "{ a(b: \"\\q", trailing, "\") }", "Invalid character escape sequence: \"\\q\".", column: 9)
    expectError(
      "{ a(b: \"", trailing, "\\q\") }", "Invalid character within String: U+DE00.", column: 9)
    expectError(
      "{ a(b: \"", trailing, "\n\") }", "Invalid character within String: U+DE00.", column: 9)
    expectError("{ a(b: \"", trailing, "", "Invalid character within String: U+DE00.", column: 9)
    expectError(
      "{ a(b: \"\\uD83D", trailing, "\") }", "Invalid Unicode escape sequence: \"\\uD83D\".",
      column: 9)
    expectError(
      "{ a(b: 1.", leading, ") }", "Invalid number, expected digit but got: U+D83D.", column: 10)
    // A pair of them is no character, and what is no half either is not even looked at.
    expectError("{", leading + trailing, "}", "Invalid character: U+D83D.", column: 2)
    expectError("}", [0xED, 0xA0], "", "Invalid UTF-8.", column: 2)
  }

  /// Names and spaces are read eight bytes at a time, the last ones one by one.
  @Test func `names end where they end, wherever that is`() throws {
    for byte in UInt8(0)...0x7F {
      let character = Character(Unicode.Scalar(byte))
      let isPart = character.isLetter || character.isNumber || byte == UInt8(ascii: "_")
      guard isPart || byte == 0x20 || byte == 0x0A || byte == UInt8(ascii: ",") else { continue }
      for length in 1..<20 {
        let (before, after) = (
          String(repeating: "x", count: length), String(repeating: "Z", count: 20 - length)
        )
        for spaces in [0, 1, 7, 8, 9, 17] {
          let text = "{\(String(repeating: " ", count: spaces))\(before)\(character)\(after)}"
          let selections = try Parser.parse(text).operations.first?.selectionSet.selections ?? []
          let names = selections.map {
            if case .field(let field) = $0 { field.name.text } else { "" }
          }
          #expect(names == (isPart ? ["\(before)\(character)\(after)"] : [before, after]))
        }
      }
    }
  }
}
