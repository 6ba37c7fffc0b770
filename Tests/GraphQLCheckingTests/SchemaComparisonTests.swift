import GraphQLChecking
import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON
import OracleSupport
import TestSupport
import Testing

/// `sociograph schema diff`: the changes between two schemas.
@Suite(.blocks) struct SchemaComparisonTests {
  private static let count: UInt64 = 1_000

  private func schema(_ text: String) throws -> Schema {
    try SchemaBuilder.build(Parser.parse(text, limits: .unlimited))
  }

  private func lines(
    _ old: String, _ new: String, usage: [String]? = nil, documents: [String]? = nil,
    allowsUnused: Bool = false
  ) throws -> [String] {
    let coordinates = try usage.map { texts in
      Set(try texts.map { try SchemaCoordinate.parse(Source($0)) })
    }
    return try SchemaComparison(
      schema(old), schema(new), usage: coordinates,
      documents: documents?.enumerated().map { ("id\($0.offset)", $0.element) },
      allowsUnused: allowsUnused
    ).findings.map(\.line)
  }

  // MARK: - Changes

  @Test func `a line names severity, coordinate and change, the breaking ones first`() throws {
    let old = """
      type Query { a(x: Int = 1): A  old: E }
      type A { b: Int!  c: [String] }
      enum E { ONE TWO }
      input I { f: Int }
      """
    let new = """
      type Query { a(x: Int = 2, y: I): A  new: E }
      type A { b: Int  c: [String!]! }
      enum E { ONE THREE }
      input I { f: Int, g: Int! }
      type B { x: Int }
      """
    #expect(
      try lines(old, new) == [
        "breaking Query.old Query.old was removed.",
        "breaking A.b A.b changed type from Int! to Int.",
        "breaking E.TWO TWO was removed from enum type E.",
        "breaking I.g A required field g on input type I was added.",
        "dangerous Query.a(x:) Query.a arg x has changed defaultValue from 1 to 2.",
        "dangerous Query.a(y:) An optional arg y on Query.a was added.",
        "dangerous E.THREE THREE was added to enum type E.",
        "safe Query.new Query.new was added.",
        "safe A.c A.c changed type from [String] to [String!]!.",
        "safe B B was added.",
      ])
  }

  @Test func `what has no coordinate is named by what holds it, a line each`() throws {
    let old = """
      type Query { u: U }
      interface N { a: Int }
      type A implements N { a: Int }
      type B { a: Int }
      union U = A | B
      directive @d repeatable on FIELD | QUERY
      """
    let new = """
      type Query { u: U }
      interface N { a: Int }
      type A { a: Int }
      type B implements N { a: Int }
      union U = A
      directive @d(x: Int!) on OBJECT
      """
    #expect(
      try lines(old, new) == [
        "breaking A A no longer implements interface N.",
        "breaking U B was removed from union type U.",
        "breaking @d(x:) A required arg x on directive d was added.",
        "breaking @d Repeatable flag was removed from d.",
        "breaking @d FIELD was removed from d.", "breaking @d QUERY was removed from d.",
        "dangerous B N added to interfaces implemented by B.", "safe @d OBJECT was added to d.",
      ])
  }

  @Test func `a standard scalar that is not referenced anymore is removed`() throws {
    #expect(
      try lines("type Query { a: Int  b: Float }", "type Query { a: Int  b: String }") == [
        "breaking Float Standard scalar Float was removed because it is not referenced anymore.",
        "breaking Query.b Query.b changed type from Float to String.",
      ])
  }

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `graphql-core finds the same breaking and dangerous changes`() throws {
    let releases = (0..<Self.count).map { RandomRelease(seed: $0) }
    let answers = try #require(Oracle.graphQLCore).answers(
      to: releases.map {
        .object([
          .init(name: "op", value: .string("changes")), .init(name: "old", value: .string($0.old)),
          .init(name: "new", value: .string($0.new)),
        ])
      })
    try #require(answers.count == releases.count)
    var different = 0
    var kinds: Set<SchemaChange.Kind> = []
    for (release, answer) in zip(releases, answers) {
      let changes = SchemaChanges.between(try schema(release.old), try schema(release.new))
      kinds.formUnion(changes.map(\.kind))
      for severity in [SchemaChange.Severity.breaking, .dangerous] {
        let ours = changes.filter { $0.kind.severity == severity }
          .map { "\($0.kind.rawValue) \($0.description)" }.sorted()
        guard case .array(let listed)? = answer[severity.rawValue] else {
          Issue.record("\(answer)\n\(release.old)\n\n\(release.new)")
          return
        }
        let theirs = listed.map { pair -> String in
          guard case .array(let parts) = pair, case .string(let type)? = parts.first,
            case .string(let text)? = parts.last
          else { return "" }
          return "\(type) \(text)"
        }.sorted()
        guard ours != theirs else { continue }
        different += 1
        guard different <= 3 else { continue }
        Issue.record("\(release.old)\n\n\(release.new)\nours: \(ours)\ntheirs: \(theirs)")
      }
    }
    #expect(different == 0)
    // Otherwise the pairs would not be worth comparing.
    #expect(kinds == Set(SchemaChange.Kind.allCases))
  }

  // MARK: - Operations

  @Test func `changes of what no operation uses are marked, and may be allowed`() throws {
    let old = "type Query { a: A  b: A } type A { x: Int  y: Int }"
    let new = "type Query { a: A } type A { x: Int }"
    let documents = ["query Feed { a { y } }"]
    #expect(
      try lines(old, new, documents: documents) == [
        "breaking Query.b Query.b was removed. (unused)",
        "breaking A.y A.y was removed. (breaks Feed)",
      ])
    #expect(
      try lines(old, new, usage: ["Query.b"], allowsUnused: true) == [
        "breaking Query.b Query.b was removed.", "safe A.y A.y was removed. (unused)",
      ])
  }

  @Test func `a use through an interface, a variable or a default counts`() throws {
    let old = """
      interface N { id: Int }
      type Query implements N { id: Int  n: N  f(i: I, e: E): Int }
      input I { a: Int  e: E }
      enum E { ONE TWO }
      """
    let new = """
      interface N { other: Int }
      type Query implements N { other: Int  n: N  f(i: I, e: E): Int }
      input I { b: Int }
      enum E { ONE }
      """
    let changes = [
      "breaking N.id", "breaking Query.id", "breaking I.a", "breaking I.e", "breaking E.TWO",
    ]
    func broken(_ document: String) throws -> [String] {
      try lines(old, new, documents: [document], allowsUnused: true)
        .filter { $0.hasPrefix("breaking") }
        .map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    }
    #expect(try broken("{ __typename }") == [])
    #expect(try broken("{ n { id } }") == changes.filter { $0.hasSuffix(".id") })
    #expect(try broken("query($i: I) { f(i: $i) }") == Array(changes.dropFirst(2)))
    #expect(try broken("query($e: E = ONE) { f(e: $e) }") == ["breaking E.TWO"])
    #expect(try broken("{ f(i: {a: 1}) }") == ["breaking I.a"])
    #expect(try broken("{ f(e: ONE) }") == [])
  }

  @Test func `JSON has the witness as a document`() throws {
    let comparison = SchemaComparison(
      try schema("type Query { a: Int b: Int }"), try schema("type Query { b: Int }"),
      documents: [("x", "query A { a }"), ("y", "{ nothing }")])
    #expect(comparison.invalidDocuments == ["y"])
    #expect(
      String(decoding: comparison.json, as: UTF8.self)
        == #"{"format":"sociograph-schema-diff/1","changes":[{"severity":"breaking","#
        + #""type":"FIELD_REMOVED","coordinate":"Query.a","description":"Query.a was removed.","#
        + #""unused":false,"witness":"query A { a }"}]}"# + "\n")
  }

  /// What is allowed as unused must break nothing, and every witness must be one to others as well.
  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `every operation that breaks is explained, and every witness breaks`() throws {
    var requests: [JSONValue] = []
    var broken = 0
    var valid = 0
    for seed in 0..<Self.count / 2 {
      var release = RandomRelease(seed: seed)
      let (old, new) = (try schema(release.old), try schema(release.new))
      for number in 0..<4 {
        let text = release.operation(old, named: "Op\(number)")
        let document = try Parser.parse(text)
        guard Validator.errors(in: document, against: old).isEmpty else { continue }
        valid += 1
        let isBroken = !Validator.errors(in: document, against: new).isEmpty
        let comparison = SchemaComparison(
          old, new, documents: [("id", text)], allowsUnused: true)
        let hasWitness = comparison.findings.contains { $0.witness != nil }
        #expect(hasWitness == isBroken, "\(release.old)\n\n\(release.new)\n\n\(text)")
        guard isBroken else { continue }
        broken += 1
        #expect(comparison.isBreaking, "\(release.old)\n\n\(release.new)\n\n\(text)")
        for schema in [release.old, release.new] {
          requests.append(
            .object([
              .init(name: "op", value: .string("validate")),
              .init(name: "schema", value: .string(schema)),
              .init(name: "document", value: .string(text)),
            ]))
        }
      }
    }
    let answers = try #require(Oracle.graphQLCore).answers(to: requests)
    for (index, answer) in answers.enumerated() {
      #expect((answer["errors"] == .array([])) == index.isMultiple(of: 2), "\(requests[index])")
    }
    #expect(broken > 100 && valid - broken > 100, "\(broken) of \(valid)")
  }
}
