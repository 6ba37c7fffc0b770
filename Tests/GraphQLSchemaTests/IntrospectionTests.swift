import GraphQLSchema
import Testing

struct IntrospectionTests {
  private static let text = """
    "about" schema { query: Q }
    type Q implements I { a(x: In = {n: 1}, y: Int @deprecated): [Int!]! b: Int @deprecated(reason: "r") }
    interface I { a(x: In, y: Int): [Int!] }
    union U = Q
    enum E { A B @deprecated }
    input In @oneOf { e: E n: Int @deprecated }
    scalar S @specifiedBy(url: "https://s.example")
    directive @d(a: Int, b: Int @deprecated) repeatable on FIELD | QUERY
    """

  /// A path of fields, written out as its answer: `{"Query"}` stands for a list's names.
  private func text(
    _ schema: Schema, _ start: IntrospectionValue, _ path: String, includeDeprecated: Bool = false
  ) -> String {
    var value = start
    for field in path.split(separator: ".") {
      switch value {
      case .object(let object):
        value = schema.introspect(object, String(field), includeDeprecated: includeDeprecated)
      case .list(let items):
        return items.map {
          text(schema, $0, String(field), includeDeprecated: includeDeprecated)
        }.joined(separator: " ")
      case .null, .boolean, .string: return "nothing to select from"
      }
    }
    switch value {
    case .null: return "null"
    case .boolean(let flag): return "\(flag)"
    case .string(let text): return text
    case .object(let object): return object.typeName
    case .list(let items): return items.map { text(schema, $0, "") }.joined(separator: " ")
    }
  }

  @Test(arguments: [
    ("kind", "OBJECT"), ("name", "Q"), ("description", "null"), ("specifiedByURL", "null"),
    ("fields.name", "a"), ("interfaces.name", "I"), ("possibleTypes", "null"),
    ("enumValues", "null"), ("inputFields", "null"), ("ofType", "null"), ("isOneOf", "null"),
    ("fields.isDeprecated", "false"), ("unknown", "null"),
  ])
  func `an object type`(field: String, answer: String) throws {
    let schema = try schema(Self.text)
    #expect(text(schema, schema.introspect(typeNamed: "Q"), field) == answer)
  }

  @Test func `the schema`() throws {
    let schema = try schema(Self.text)
    let root = IntrospectionValue.object(.schema)
    #expect(text(schema, root, "description") == "about")
    #expect(text(schema, root, "queryType.name") == "Q")
    #expect(text(schema, root, "mutationType") == "null")
    #expect(text(schema, root, "types.name").hasPrefix("Q Int I U E In S Boolean String __Schema"))
    #expect(
      text(schema, root, "directives.name") == "d include skip deprecated specifiedBy oneOf")
    #expect(text(schema, schema.introspect(typeNamed: "Missing"), "") == "null")
  }

  @Test func `the other kinds`() throws {
    let schema = try schema(Self.text)
    func type(_ name: String, _ path: String, _ deprecated: Bool = false) -> String {
      text(schema, schema.introspect(typeNamed: name), path, includeDeprecated: deprecated)
    }
    #expect(type("U", "possibleTypes.name") == "Q")
    #expect(type("I", "possibleTypes.name") == "Q")
    #expect(type("E", "enumValues.name") == "A")
    #expect(type("E", "enumValues.name", true) == "A B")
    #expect(type("E", "enumValues.deprecationReason", true) == "null No longer supported")
    #expect(type("In", "inputFields.name") == "e")
    #expect(type("In", "inputFields.name", true) == "e n")
    #expect(type("In", "isOneOf") == "true")
    #expect(type("S", "specifiedByURL") == "https://s.example")
    #expect(type("Q", "fields.name", true) == "a b")
    #expect(type("__Type", "kind") == "OBJECT")
  }

  @Test func `fields, arguments and wrapped types`() throws {
    let schema = try schema(Self.text)
    guard let field = schema.type(named: "Q")?.field(named: "a"),
      let directive = schema.directivesByName["d"]
    else {
      Issue.record("No Q.a or @d")
      return
    }
    let value = IntrospectionValue.object(.field(field))
    #expect(text(schema, value, "args.name") == "x")
    #expect(text(schema, value, "args.name", includeDeprecated: true) == "x y")
    #expect(text(schema, value, "type.kind") == "NON_NULL")
    #expect(text(schema, value, "type.name") == "null")
    #expect(text(schema, value, "type.ofType.kind") == "LIST")
    #expect(text(schema, value, "type.ofType.ofType.ofType.name") == "Int")
    let applied = IntrospectionValue.object(.directive(directive))
    #expect(text(schema, applied, "isRepeatable") == "true")
    #expect(text(schema, applied, "locations") == "FIELD QUERY")
    #expect(text(schema, applied, "args.name") == "a")
    #expect(text(schema, applied, "args.defaultValue") == "null")
  }

  @Test func `a deprecated directive is told of to those who ask for such`() throws {
    let schema = try schema(
      """
      type Query { a: Int }
      directive @mark on DIRECTIVE_DEFINITION
      directive @old @mark @deprecated(reason: "r") on FIELD
      directive @older on FIELD
      extend directive @older @deprecated
      """)
    let root = IntrospectionValue.object(.schema)
    func all(_ path: String) -> String { text(schema, root, path, includeDeprecated: true) }
    #expect(
      text(schema, root, "directives.name") == "mark include skip deprecated specifiedBy oneOf")
    #expect(all("directives.name") == "mark old older include skip deprecated specifiedBy oneOf")
    #expect(all("directives.isDeprecated") == "false true true false false false false false")
    #expect(
      all("directives.deprecationReason")
        == "null r No longer supported null null null null null")
    #expect(
      all("directives.locations").hasSuffix("ENUM_VALUE DIRECTIVE_DEFINITION SCALAR INPUT_OBJECT"))
  }

  @Test func `clients that know no directives on directives see none where there are none`() throws
  {
    let schema = try schema("type Query { a: Int }")
    #expect(
      !text(schema, .object(.schema), "directives.locations").contains("DIRECTIVE_DEFINITION"))
  }
}
