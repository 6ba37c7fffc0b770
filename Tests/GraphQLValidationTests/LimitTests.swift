import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import Testing

struct LimitTests {
  private func code(_ document: String) throws -> [String?] {
    Validator.errors(
      in: try Parser.parse(document, limits: .unlimited), against: try schema(zoo), limits: .server
    ).map(\.code)
  }

  private func nested(_ depth: Int) -> String {
    "{ human " + String(repeating: "{ pets { owner ", count: depth) + "{ name }"
      + String(repeating: " } }", count: depth) + " }"
  }

  @Test func `each limit has its code`() throws {
    #expect(try code(nested(5)) == [])
    #expect(try code(nested(6)) == ["DEPTH_LIMIT_EXCEEDED"])
    let aliases = (0...30).map { "a\($0): name " }.joined()
    #expect(try code("{ dog { \(aliases) } }") == ["ALIAS_LIMIT_EXCEEDED"])
    #expect(
      try code("{ " + (0...10).map { "a\($0): dog { name } b\($0): cat { name } " }.joined() + "}")
        == ["ROOT_FIELD_LIMIT_EXCEEDED"])
    #expect(
      try code(
        "mutation { " + (0...5).map { "a\($0): rename(name: \"\") { name } " }.joined() + "}")
        == ["ROOT_FIELD_LIMIT_EXCEEDED"])
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

/// Documents of 64 KB made to hurt one rule each.
struct HostileDocumentTests {
  private static let size = 64_000

  private static func repeated(_ part: (Int) -> String, _ head: String, _ tail: String) -> String {
    var text = head
    var index = 0
    while text.utf8.count < size - tail.utf8.count - 64 {
      text += part(index)
      index += 1
    }
    return text + tail
  }

  private static let documents: [(String, String)] = [
    ("one field", repeated({ _ in "name " }, "{dog{", "}}")),
    ("one object", repeated({ _ in "dog{name}" }, "{", "}")),
    ("aliases", repeated({ "a\($0):name " }, "{dog{", "}}")),
    ("conflicts", repeated({ "a:knows(command:\"\($0)\")" }, "{dog{", "}}")),
    ("nested conflicts", repeated({ "dog{owner{x:pets(first:\($0)){name}}}" }, "{", "}")),
    ("undefined variables", repeated({ "a\($0):echo(int:$v\($0))" }, "{", "}")),
    ("unused variables", repeated({ "$v\($0):Int " }, "query(", "){__typename}")),
    ("unknown fields", repeated({ "nam\($0) " }, "{dog{", "}}")),
    ("unknown arguments", repeated({ "x\($0):1 " }, "{dog{knows(", ")}}")),
    ("repeated arguments", repeated({ _ in "x:1 " }, "{dog{knows(", ")}}")),
    ("unknown directives", repeated({ "@x\($0) " }, "{dog{name ", "}}")),
    ("repeated directives", repeated({ _ in "@once " }, "{dog{name ", "}}")),
    ("repeated input fields", repeated({ _ in "kind:FURRY " }, "{find(filter:{", "}){name}}")),
    ("operations", repeated({ _ in "query A{__typename}" }, "", "")),
    (
      "a chain of fragments",
      repeated({ "fragment F\($0) on Dog{...F\($0 + 1) name}" }, "{dog{...F0}}", "")
    ),
    (
      "fragments twice over",
      repeated(
        { "fragment F\($0) on Human{pets{owner{...F\($0 + 1)}}relatives{...F\($0 + 1)}}" },
        "{human{...F0}}", "")
    ),
    (
      "a ring of fragments",
      repeated({ "fragment F\($0) on Dog{...F\($0 + 1) ...F0}" }, "{dog{...F0}}", "")
    ),
    (
      "a fragment in many places",
      repeated(
        { "a\($0):dog{b:name ...F}" }, "{",
        "}fragment F on Dog{" + (0..<2_000).map { "c\($0):name " }.joined() + "}")
    ),
    (
      "one fragment, many operations",
      repeated(
        { "query A\($0)($a:Int){...F}" }, "",
        "fragment F on Query{" + (0..<1_000).map { "b\($0):echo(int:$a)" }.joined() + "}")
    ),
    ("impossible spreads", repeated({ _ in "...on Cat{name}" }, "{dog{", "}}")),
    (
      "objects of many types",
      repeated(
        { $0 % 2 == 0 ? "...on Dog{owner{name}}" : "...on Cat{owner{name}}owner{name}" }, "{pet{",
        "}}")
    ),
  ]

  @Test(arguments: documents.indices)
  func `a hostile document is answered quickly`(index: Int) throws {
    let (name, text) = Self.documents[index]
    let document = try Parser.parse(text, limits: .unlimited)
    let schema = try schema(zoo)
    let clock = ContinuousClock()
    let times = (0..<3).map { _ in
      clock.measure { _ = Validator.errors(in: document, against: schema) }
    }
    // 20 ms when compiled for speed; this build is for debugging, on a machine shared by others.
    #expect(times.min() ?? .zero < .milliseconds(600), "\(name)")
  }
}
