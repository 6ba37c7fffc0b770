import GraphQLLanguage
import TestSupport
import Testing

/// Expects a document to be printed so, and the print to be printed as itself.
private func expectPrint(
  _ text: String, _ expected: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
  let printed = Printer.print(try Parser.parse(text, limits: .unlimited))
  #expect(printed == expected, sourceLocation: sourceLocation)
  #expect(
    Printer.print(try Parser.parse(printed, limits: .unlimited)) == printed,
    sourceLocation: sourceLocation)
}

@Suite(.blocks) struct PrinterTests {
  @Test func `operations`() throws {
    try expectPrint("query { a }", "{\n  a\n}")
    try expectPrint(
      "query($a:Int=1@b,$c:[T!]!)@d{e}", "query ($a: Int = 1 @b, $c: [T!]!) @d {\n  e\n}")
    try expectPrint(
      "{a:b(c:{d:[1,E,$f]})@g{...H ...@i{j}...on K{l}}} fragment H on M@n{o}",
      """
      {
        a: b(c: {d: [1, E, $f]}) @g {
          ...H
          ... @i {
            j
          }
          ... on K {
            l
          }
        }
      }

      fragment H on M @n {
        o
      }
      """)
  }

  @Test func `descriptions of executable definitions stand on lines of their own`() throws {
    try expectPrint(
      #""d" query("e" $a: Int, $b: Int) { c } """f""" fragment F on T { c }"#,
      """
      "d"
      query (
      "e"
      $a: Int
      $b: Int
      ) {
        c
      }

      \"\"\"f\"\"\"
      fragment F on T {
        c
      }
      """)
  }

  @Test func `arguments longer than 80 columns get lines of their own`() throws {
    let eighty = "{\n  field(argument: \"\(String(repeating: "x", count: 61))\")\n}"
    try expectPrint(eighty, eighty)
    try expectPrint(
      "{ field(argument: \"\(String(repeating: "x", count: 62))\", b: 1) }",
      "{\n  field(\n    argument: \"\(String(repeating: "x", count: 62))\"\n    b: 1\n  )\n}")
  }

  @Test func `block strings follow the indent of their place`() throws {
    try expectPrint(
      "{ a { b(c: \"\"\"one\n  two\n\n  three\"\"\") } }",
      """
      {
        a {
          b(c: \"\"\"
          one
          two
          
          three
          \"\"\")
        }
      }
      """)
    try expectPrint(#"{ a(b: """x\"""y""") }"#, "{\n  a(b: \"\"\"x\\\"\"\"y\"\"\")\n}")
    try expectPrint(
      #"{ a(b: """x\""") }"#.replacing(#"x\"#, with: #"x\ "#), "{\n  a(b: \"\"\"x\\ \"\"\")\n}")
    #expect(Printer.blockString(#"x\"#) == "\"\"\"\nx\\\n\"\"\"")
    #expect(Printer.blockString("x\"") == "\"\"\"\nx\"\n\"\"\"")
    #expect(Printer.blockString("  x") == "\"\"\"  x\"\"\"")
    #expect(Printer.blockString("") == "\"\"\"\"\"\"")
  }

  @Test func `the type system`() throws {
    try expectPrint(
      """
      "s" schema @a{query:Q mutation:M} extend schema{subscription:S}
      type A implements&B&C@d{"e" f(g:Int=1 "h" i:J):K! l(m:[N]):O}
      interface B implements C
      union U=|A|B extend union U=C enum E{"v" V W@x} input I{a:B={c:1}@d} scalar S@t
      directive@d("e" f:Int)repeatable on|FIELD|QUERY directive @e(a: Int = 1) on FIELD
      """,
      """
      "s"
      schema @a {
        query: Q
        mutation: M
      }

      extend schema {
        subscription: S
      }

      type A implements B & C @d {
        "e"
        f(
          g: Int = 1
          "h"
          i: J
        ): K!
        l(m: [N]): O
      }

      interface B implements C

      union U = A | B

      extend union U = C

      enum E {
        "v"
        V
        W @x
      }

      input I {
        a: B = {c: 1} @d
      }

      scalar S @t

      directive @d(
        "e"
        f: Int
      ) repeatable on FIELD | QUERY

      directive @e(a: Int = 1) on FIELD
      """)
  }

  @Test func `strings escape what cannot be seen`() {
    #expect(
      Printer.string("\0\u{8}\t\n\u{B}\u{C}\r\u{1F}\"\\/\u{7F}\u{9F}\u{A0}é😀")
        == "\"\\u0000\\b\\t\\n\\u000B\\f\\r\\u001F\\\"\\\\/\\u007F\\u009F\u{A0}é😀\"")
  }

  @Test func `values and types alone`() throws {
    let value = try Parser.parseValue(Source("[1, -2.50, {a: \"b\"}, null, $c]"))
    #expect(Printer.print(value) == "[1, -2.50, {a: \"b\"}, null, $c]")
    #expect(Printer.print(try Parser.parseType(Source("[[ A ! ]]!"))) == "[[A!]]!")
    #expect(throws: SyntaxError.self) { try Parser.parseConstantValue(Source("$a")) }
    #expect(throws: SyntaxError.self) { try Parser.parseType(Source("A B")) }
    #expect(throws: SyntaxError.self) { try Parser.parseValue(Source("1 2")) }
  }

  @Test func `what can be said in a block string`() {
    for text in ["", "a", "a\nb", "a\n  b", " a\nb", "\t", "a\tb"] where text != "\t" {
      #expect(Printer.isPrintableAsBlockString(text), "\(text.debugDescription)")
    }
    for text in ["\n", "\na", "a\n", " a\n b", "a\rb", "a\u{0}", " ", "a\n "] {
      #expect(!Printer.isPrintableAsBlockString(text), "\(text.debugDescription)")
    }
  }

  @Test func `what is printed is printed as itself`() throws {
    var documents = 0
    for seed in 0..<2_000 {
      var generator = RandomDocument(seed: 7_000_000 + UInt64(seed))
      let source = generator.valid()
      guard let document = try? Parser.parse(source, limits: .unlimited),
        !Self.hasShorthandBehindOthers(document)
      else { continue }
      documents += 1
      let printed = Printer.print(document)
      guard let reread = try? Parser.parse(printed, limits: .unlimited) else {
        Issue.record("\(source.debugDescription) printed as \(printed), which does not parse")
        continue
      }
      let again = Printer.print(reread)
      #expect(again.utf8.elementsEqual(printed.utf8), "\(source.debugDescription)")
    }
    #expect(documents > 1_800)
  }

  /// As in graphql-js, `type A query { b }` is printed with the braces alone, which then are those
  /// of the type.
  private static func hasShorthandBehindOthers(_ document: Document) -> Bool {
    document.definitions.dropFirst().contains { definition in
      guard case .operation(let operation) = definition else { return false }
      return operation.kind == .query && operation.description == nil && operation.name == nil
        && operation.variables.isEmpty && operation.directives.isEmpty
    }
  }
}
