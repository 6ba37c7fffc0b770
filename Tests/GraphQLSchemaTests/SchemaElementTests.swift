import GraphQLLanguage
import GraphQLSchema
import Testing

struct SchemaElementTests {
  private static let text = """
    directive @d(a: Int) on FIELD
    type Query { f(a: Int): Int }
    enum E { A }
    input In { x: Int }
    union U = Query
    """

  private func element(_ coordinate: String) throws -> SchemaElement? {
    try schema(Self.text).element(at: SchemaCoordinate.parse(Source(coordinate)))
  }

  @Test func `coordinates point at elements`() throws {
    guard case .type(let type) = try element("Query") else { throw Missing() }
    #expect(type.name == "Query")
    guard case .field(_, let field) = try element("Query.f") else { throw Missing() }
    #expect(field.name == "f")
    guard case .argument(_, _, let argument) = try element("Query.f(a:)") else { throw Missing() }
    #expect(argument.name == "a")
    guard case .enumValue(_, let value) = try element("E.A") else { throw Missing() }
    #expect(value.name == "A")
    guard case .inputField(_, let input) = try element("In.x") else { throw Missing() }
    #expect(input.name == "x")
    guard case .directive(let directive) = try element("@d") else { throw Missing() }
    #expect(directive.name == "d")
    guard case .directiveArgument(_, let own) = try element("@d(a:)") else { throw Missing() }
    #expect(own.name == "a")
  }

  private struct Missing: Error {}

  @Test(arguments: ["Nothing", "Query.g", "Query.f(b:)", "E.B", "In.y", "@e", "@d(b:)"])
  func `an unknown last name is no element`(coordinate: String) throws {
    #expect(try element(coordinate) == nil)
  }

  @Test(arguments: [
    ("Nothing.f", "Expected \"Nothing\" to be defined as a type in the schema."),
    ("U.f", "Expected \"U\" to be an Enum, Input Object, Object or Interface type."),
    ("In.x(a:)", "Expected \"In\" to be an object type or interface type."),
    ("Query.g(a:)", "Expected \"g\" to exist as a field of type \"Query\" in the schema."),
    ("@e(a:)", "Expected \"e\" to be defined as a directive in the schema."),
  ])
  func `an unknown container is an error`(coordinate: String, message: String) {
    #expect {
      try element(coordinate)
    } throws: {
      ($0 as? SchemaCoordinateError)?.message == message
    }
  }
}
