import GraphQLSchema
import Testing

/// The layout of graphql-js 16's `printSchema`, to the byte.
struct SchemaPrinterTests {
  private func expectPrinted(
    _ text: String, _ printed: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(
      Array(SchemaPrinter(try schema(text)).print().utf8) == Array(printed.utf8),
      sourceLocation: sourceLocation)
  }

  @Test func `every kind of definition`() throws {
    try expectPrinted(
      #"""
      scalar S @specifiedBy(url: "https://s.example/\"")
      "about @d" directive @d(a: Int = 1, b: [E!]! = A) repeatable on OBJECT | FIELD
      type Query implements A & B @d { a: Int b(
        "first" x: Int = 1 @deprecated
        y: In): String @deprecated(reason: "no \"more\"") }
      interface A implements B { a: Int b(x: Int = 1, y: In): String @deprecated }
      interface B { b(x: Int = 1, y: In): String @deprecated }
      union U = | Query | Other
      type Other { a(b: Int, c: Float = 1e50): ID! @deprecated(reason: "No longer supported") }
      enum E { "first" A "second" B @deprecated C }
      input In @oneOf { a: Int @deprecated b: ID }
      extend type Other { more: S }
      """#,
      #"""
      """about @d"""
      directive @d(a: Int = 1, b: [E!]! = [A]) repeatable on OBJECT | FIELD

      scalar S @specifiedBy(url: "https://s.example/\"")

      type Query implements A & B {
        a: Int
        b(
          """first"""
          x: Int = 1 @deprecated
          y: In
        ): String @deprecated(reason: "no \"more\"")
      }

      interface A implements B {
        a: Int
        b(x: Int = 1, y: In): String @deprecated
      }

      interface B {
        b(x: Int = 1, y: In): String @deprecated
      }

      union U = Query | Other

      type Other {
        a(b: Int, c: Float = 1e+50): ID! @deprecated
        more: S
      }

      enum E {
        """first"""
        A

        """second"""
        B @deprecated
        C
      }

      input In @oneOf {
        a: Int @deprecated
        b: ID
      }
      """#)
  }

  @Test func `the schema definition only when it says something`() throws {
    try expectPrinted(
      "schema { query: Query } type Query { a: Int }", "type Query {\n  a: Int\n}")
    try expectPrinted(
      "\"about\" schema { query: Query } type Query { a: Int }",
      "\"\"\"about\"\"\"\nschema {\n  query: Query\n}\n\ntype Query {\n  a: Int\n}")
    try expectPrinted(
      "schema { mutation: Q query: M } type Q { a: Int } type M { a: Int }",
      "schema {\n  query: M\n  mutation: Q\n}\n\ntype Q {\n  a: Int\n}\n\ntype M {\n  a: Int\n}")
  }

  @Test func `descriptions in the form that gives them back`() throws {
    try expectPrinted(
      #"type Query { "" a: Int "two\nlines" b: Int " lead\n  in" c: Int "tab\u0007" d: Int "end\\" e: Int }"#,
      #"""
      type Query {
        """"""
        a: Int

        """
        two
        lines
        """
        b: Int

        " lead\n  in"
        c: Int

        "tab\u0007"
        d: Int

        """
        end\
        """
        e: Int
      }
      """#)
  }

  @Test func `defaults as they are coerced`() throws {
    try expectPrinted(
      """
      type Query {
        f(a: Float = 1.0, b: Float = 1e21, c: Float = 0.0000001, d: ID = "12", e: ID = "012",
          g: [In] = {}, h: Any = WORD, i: Any = "1", j: String = \"""b"l\""", k: Int = -0): Int
      }
      input In { x: Int = 1 y: E = null z: [In] }
      enum E { A }
      scalar Any
      """,
      #"""
      type Query {
        f(a: Float = 1, b: Float = 1e+21, c: Float = 1e-7, d: ID = 12, e: ID = "012", g: [In] = [{x: 1, y: null}], h: Any = "WORD", i: Any = "1", j: String = "b\"l", k: Int = 0): Int
      }

      input In {
        x: Int = 1
        y: E = null
        z: [In]
      }

      enum E {
        A
      }

      scalar Any
      """#)
  }

  @Test func `own directives can be left out for clients`() throws {
    let schema = try schema(
      "directive @table(name: String!) on OBJECT type Query @table(name: \"q\") { a: Int }")
    #expect(
      SchemaPrinter(schema, includesDirectives: false).print() == "type Query {\n  a: Int\n}")
  }

  @Test func `under onError NULL no type of a field has an exclamation mark`() throws {
    let original = try schema(
      "type Query { a(x: Int!): Int! b: [Int!]! c: [[Int]!] d: [Int] } interface I { a: ID! }")
    let text = SchemaPrinter(original, marksSemanticNonNull: true).print()
    let expected = #"""
      directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION

      type Query {
        a(x: Int!): Int @semanticNonNull
        b: [Int] @semanticNonNull(levels: [0, 1])
        c: [[Int]] @semanticNonNull(levels: [1])
        d: [Int]
      }

      interface I {
        a: ID @semanticNonNull
      }
      """#
    #expect(text.hasSuffix(expected), "\(text)")
    // Interfaces hold as before, as all of their fields change alike.
    #expect(throws: Never.self) { try schema(text) }
  }
}
