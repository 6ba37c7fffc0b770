import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import OracleSupport
import Testing

struct LimitTests {
  private func code(_ document: String) throws -> [String] {
    Validator.errors(
      in: try Parser.parse(document, limits: .unlimited), against: try schema(zoo), limits: .server
    ).map(\.code.rawValue)
  }

  private func nested(_ depth: Int) -> String {
    "{ human " + String(repeating: "{ pets { owner ", count: depth) + "{ name }"
      + String(repeating: " } }", count: depth) + " }"
  }

  @Test func `each limit has its code`() throws {
    #expect(try code(nested(9)) == [])
    #expect(try code(nested(10)) == ["DEPTH_LIMIT_EXCEEDED"])
    let aliases = (0...30).map { "a\($0): name " }.joined()
    #expect(try code("{ dog { \(aliases) } }") == ["ALIAS_LIMIT_EXCEEDED"])
    #expect(
      try code("{ " + (0...10).map { "a\($0): dog { name } b\($0): cat { name } " }.joined() + "}")
        == ["ROOT_FIELD_LIMIT_EXCEEDED"])
    func mutation(_ count: Int) -> String {
      "mutation { " + (0..<count).map { "a\($0): rename(name: \"\") { name } " }.joined() + "}"
    }
    #expect(try code(mutation(20)) == [])
    #expect(try code(mutation(21)) == ["ROOT_FIELD_LIMIT_EXCEEDED"])
    #expect(
      try code("{ dog { name " + String(repeating: "@tagged(name: \"\") ", count: 6) + "} }")
        == ["DIRECTIVE_LIMIT_EXCEEDED"])
    #expect(
      try code("{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }")
        == ["INTROSPECTION_DEPTH_LIMIT_EXCEEDED"])
  }

  @Test func `fragments hide nothing`() throws {
    var document = "{ ...F0 }"
    for index in 0..<20 {
      document += " fragment F\(index) on Query { ...F\(index + 1) ...F\(index + 1) }"
    }
    #expect(
      try code(document + " fragment F20 on Query { dog { name } }")
        .contains { $0 == "ROOT_FIELD_LIMIT_EXCEEDED" })
    let deep = (0..<14).map {
      "fragment D\($0) on Human { pets { owner { ...D\($0 + 1) } } } "
    }.joined()
    #expect(
      try code("{ human { ...D0 } } \(deep) fragment D14 on Human { name }")
        == ["DEPTH_LIMIT_EXCEEDED"])
  }

  @Test func `the standard introspection query passes`() throws {
    #expect(
      try code(
        """
        { __schema { queryType { name } types { ...T } directives { name args { ...I } } } }
        fragment T on __Type { kind name fields(includeDeprecated: true) { name args { ...I } type { ...R } }
          inputFields { ...I } interfaces { ...R } enumValues { name } possibleTypes { ...R } }
        fragment I on __InputValue { name type { ...R } defaultValue }
        fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
          ofType { kind name ofType { kind name ofType { kind name ofType { kind } } } } } } } }
        """) == [])
  }

  @Test func `at most twenty findings are reported to strangers`() throws {
    let found = try code("{ dog {" + (1...30).map { " nope\($0)" }.joined() + " } }")
    #expect(found.count == 21)
    #expect(found.last == "VALIDATION_ERROR_LIMIT_EXCEEDED")
  }
}

/// Documents of up to 64 KB made to hurt one rule each: the answer costs no more than the text is
/// long.
struct HostileDocumentTests {
  struct Hostile: CustomTestStringConvertible, Sendable {
    let testDescription: String
    private let part: @Sendable (Int) -> String
    private let head: String
    private let tail: @Sendable (Int) -> String

    init(
      _ name: String, _ part: @escaping @Sendable (Int) -> String, _ head: String,
      tail: @escaping @Sendable (_ scale: Int) -> String
    ) {
      testDescription = name
      self.part = part
      self.head = head
      self.tail = tail
    }

    init(
      _ name: String, _ part: @escaping @Sendable (Int) -> String, _ head: String, _ tail: String
    ) {
      self.init(name, part, head, tail: { _ in tail })
    }

    /// Returns a text of 16 KB per unit of scale.
    func text(_ scale: Int) -> String {
      let tail = tail(scale)
      var text = head
      var index = 0
      while text.utf8.count + tail.utf8.count < scale * 16_000 - 64 {
        text += part(index)
        index += 1
      }
      return text + tail
    }
  }

  private static let documents: [Hostile] = [
    Hostile("one field", { _ in "name " }, "{dog{", "}}"),
    Hostile("one object", { _ in "dog{name}" }, "{", "}"),
    Hostile("aliases", { "a\($0):name " }, "{dog{", "}}"),
    Hostile("conflicts", { "a:knows(command:\"\($0)\")" }, "{dog{", "}}"),
    Hostile("nested conflicts", { "dog{owner{x:pets(first:\($0)){name}}}" }, "{", "}"),
    Hostile("undefined variables", { "a\($0):echo(int:$v\($0))" }, "{", "}"),
    Hostile("unused variables", { "$v\($0):Int " }, "query(", "){__typename}"),
    Hostile("unknown fields", { "nam\($0) " }, "{dog{", "}}"),
    Hostile("unknown arguments", { "x\($0):1 " }, "{dog{knows(", ")}}"),
    Hostile("repeated arguments", { _ in "x:1 " }, "{dog{knows(", ")}}"),
    Hostile("unknown directives", { "@x\($0) " }, "{dog{name ", "}}"),
    Hostile("repeated directives", { _ in "@once " }, "{dog{name ", "}}"),
    Hostile("repeated input fields", { _ in "kind:FURRY " }, "{find(filter:{", "}){name}}"),
    Hostile("operations", { _ in "query A{__typename}" }, "", ""),
    Hostile(
      "a chain of fragments",
      { "fragment F\($0) on Dog{...F\($0 + 1) name}" }, "{dog{...F0}}", ""
    ),
    Hostile(
      "fragments twice over",
      { "fragment F\($0) on Human{pets{owner{...F\($0 + 1)}}relatives{...F\($0 + 1)}}" },
      "{human{...F0}}", ""
    ),
    Hostile(
      "a ring of fragments",
      { "fragment F\($0) on Dog{...F\($0 + 1) ...F0}" }, "{dog{...F0}}", ""
    ),
    Hostile(
      "a fragment in many places", { "a\($0):dog{b:name ...F}" }, "{",
      tail: { scale in
        "}fragment F on Dog{" + (0..<500 * scale).map { "c\($0):name " }.joined() + "}"
      }),
    Hostile(
      "one fragment, many operations", { "query A\($0)($a:Int){...F}" }, "",
      tail: { scale in
        "fragment F on Query{" + (0..<250 * scale).map { "b\($0):echo(int:$a)" }.joined() + "}"
      }),
    Hostile("impossible spreads", { _ in "...on Cat{name}" }, "{dog{", "}}"),
    Hostile(
      "objects of two types",
      { $0 % 2 == 0 ? "...on Dog{owner{name}}" : "...on Cat{owner{name}}owner{name}" }, "{pet{",
      "}}"
    ),
  ]

  @Test(arguments: documents)
  func `a hostile document costs what it is long`(hostile: Hostile) throws {
    let schema = try schema(zoo)
    let documents = try [1: 1, 4: 4].mapValues {
      try Parser.parse(hostile.text($0), limits: .unlimited)
    }
    let factor = try growth { scale in
      _ = Validator.errors(in: try #require(documents[scale]), against: schema)
    }
    #expect(factor < 10)
  }

  /// Validates a document with fields of many object types next to many of their interface.
  private func manyTypes(_ count: Int, inside: (Int) -> String) throws -> [GraphQLError] {
    let types = (0..<count).map { "type T\($0) implements N { a: N }" }.joined(separator: " ")
    let schema = try schema("type Query { n: N } interface N { a: N } \(types)")
    let objects = (0..<count).map { "... on T\($0) { a { a { __typename } } }" }.joined()
    let abstract = (0..<count).map { "a { a { \(inside($0)) } } " }.joined()
    let document = try Parser.parse("{ n { \(objects) \(abstract) } }", limits: .unlimited)
    return Validator.errors(in: document, against: schema)
  }

  @Test func `what says the same again is merged once`() throws {
    #expect(try manyTypes(1_000) { _ in "__typename" }.isEmpty)
    let errors = try manyTypes(1_000) { $0 == 999 ? "__typename: a { __typename }" : "__typename" }
    #expect(errors.contains { $0.message.contains("\"__typename\" conflict because") })
    #expect(errors.allSatisfy { $0.code != .mergeLimitExceeded })
  }
}
