import GraphQLLanguage
import Testing

struct SchemaCoordinateTests {
  @Test(arguments: [
    "User", "User.posts", "User.posts(first:)", "@deprecated", "@deprecated(reason:)", "__Type._a1",
  ])
  func `a coordinate reads back as written`(_ text: String) throws {
    #expect(try SchemaCoordinate.parse(Source(text)).description == text)
  }

  @Test func `its parts`() throws {
    #expect(
      try SchemaCoordinate.parse(Source("A.b(c:)")) == .argument(type: "A", field: "b", name: "c"))
    #expect(try SchemaCoordinate.parse(Source("A.B")) == .member(type: "A", name: "B"))
    #expect(
      try SchemaCoordinate.parse(Source("@a(b:)")) == .directiveArgument(directive: "a", name: "b"))
  }

  @Test(arguments: [
    "", " A", "A ", "A .b", "A.", "A.b.c", "A.b(c)", "A.b(c:", "A.b()", "@", "@a.b", "@a(b: )",
    "A(b:)",
    "1A", "é", "A.b(c:)x", "A\n", "\u{FEFF}A",
  ])
  func `what is none is refused`(_ text: String) {
    #expect(throws: SyntaxError.self) { try SchemaCoordinate.parse(Source(text)) }
  }

  @Test func `messages say what was expected`() {
    #expect(
      throws: SyntaxError(
        "Syntax Error: Expected Name, found <EOF>.", at: SourceLocation(line: 1, column: 3))
    ) { try SchemaCoordinate.parse(Source("A.")) }
    #expect(
      throws: SyntaxError(
        "Syntax Error: Expected <EOF>, found \"(\".",
        at: SourceLocation(line: 1, column: 2))
    ) { try SchemaCoordinate.parse(Source("A(b:)")) }
  }
}
