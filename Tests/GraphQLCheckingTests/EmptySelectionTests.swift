import GraphQLChecking
import JSON
import OracleSupport
import Testing

/// Selection sets without selections, which the edition of September 2026 allows (2.7, 5.3.3, 6.3).
@Suite(.blocks) struct EmptySelectionTests {
  private static let schema = """
    directive @mark on FIELD | INLINE_FRAGMENT | FRAGMENT_SPREAD | FRAGMENT_DEFINITION | QUERY
    type Query { thing(id: Int): Thing  none: Thing  things: [Thing!]!  node: Node  any: Any  name: String }
    type Mutation { add(name: String): Thing }
    type Subscription { added: Thing }
    interface Node { id: ID }
    type Thing implements Node { id: ID  name: String  other: Thing }
    type Place implements Node { id: ID }
    union Any = Thing | Place
    """

  private static let root: JSONValue = {
    func object(_ members: (String, JSONValue)...) -> JSONValue {
      .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
    }
    let thing = object(("__typename", .string("Thing")), ("id", .string("1")), ("other", .null))
    return object(
      ("thing", thing), ("none", .null), ("things", .array([thing, thing])), ("node", thing),
      ("any", thing), ("name", .string("n")), ("add", thing))
  }()

  /// Documents, and whether each is valid.
  private static let documents: [(text: String, isValid: Bool)] = [
    ("{}", true), ("{ }", true), ("{ , }", true), ("{ # nothing\n }", true), ("query {}", true),
    ("query Q {}", true), ("query Q($a: Int) {}", false), ("query Q @mark {}", true),
    ("mutation {}", true), ("mutation { add {} }", true), ("subscription {}", false),
    ("subscription { added {} }", true), ("{ thing {} }", true), ("{ thing(id: 1) {} }", true),
    ("{ thing(id: 1) @mark {} }", true), ("{ a: thing {} b: thing {} }", true),
    ("{ none {} }", true), ("{ things {} }", true), ("{ node {} any {} }", true),
    ("{ thing { other {} } }", true), ("{ thing {} thing { id } }", true),
    ("{ thing { id } thing {} }", true), ("{ thing { ... {} } }", true), ("{ ... {} }", true),
    ("{ ... on Query {} }", true), ("{ ... @include(if: false) {} }", true),
    ("{ thing { ... on Thing {} } }", true), ("{ node { ... on Place {} } }", true),
    ("{ thing { ... on Place {} } }", false), ("{ thing { ... on Nothing {} } }", false),
    ("{ thing { ...F } } fragment F on Thing {}", true), ("{ ...F } fragment F on Query {}", true),
    ("{} fragment F on Thing {}", false), ("{ thing { ...F } } fragment F on Place {}", false),
    ("{ ...F } fragment F on Query { ...F }", false), ("{ name {} }", false),
    ("{ thing { id {} } }", false), ("{ thing }", false), ("{ thing(id: $a) {} }", false),
    ("query A {} query B {}", true), ("query A {} query A {}", false), ("{} query B {}", false),
    ("{ __schema {} }", true), ("{ __type(name: \"Thing\") {} }", true),
    ("{ __typename {} }", false), ("{ a: thing {} a: none {} }", false),
  ]

  @Test(arguments: documents)
  func `each is judged as the edition says`(text: String, isValid: Bool) throws {
    var checker = BatchChecker()
    let answer = try Self.answer(to: text, by: &checker, op: "validate")
    #expect((Self.count(answer["errors"]) == 0) == isValid, "\(answer)")
  }

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `graphql-core judges each the same, and executes those that are valid to the same result`()
    throws
  {
    // Which operation runs, and subscriptions, are not this oracle's.
    let texts = Self.documents.map(\.text)
    let requests = texts.map { text in
      Self.request(text, op: Self.isExecuted(text) ? "execute" : "validate")
    }
    let theirs = try #require(Oracle.graphQLCore).answers(to: requests)
    try #require(theirs.count == texts.count)
    var checker = BatchChecker()
    for (text, theirs) in zip(texts, theirs) {
      let ours = try Self.answer(
        to: text, by: &checker, op: Self.isExecuted(text) ? "execute" : "validate")
      #expect(
        Self.count(ours["errors"]) == Self.count(theirs["errors"]),
        "\(text): \(ours) and \(theirs)")
      // Data that the other has, of what is no introspection.
      if let data = theirs["data"], data != .null { #expect(ours["data"] == data, "\(text)") }
    }
  }

  private static func isExecuted(_ text: String) -> Bool {
    !text.hasPrefix("subscription") && !text.hasPrefix("query A")
  }

  private static func count(_ errors: JSONValue?) -> Int {
    guard case .array(let errors)? = errors else { return 0 }
    return errors.count
  }

  private static func request(_ text: String, op: String) -> JSONValue {
    .object([
      JSONValue.Member(name: "id", value: .string("1")),
      JSONValue.Member(name: "op", value: .string(op)),
      JSONValue.Member(name: "schema", value: .string(schema)),
      JSONValue.Member(name: "document", value: .string(text)),
      JSONValue.Member(name: "root", value: root),
      JSONValue.Member(name: "variables", value: .object([])),
    ])
  }

  private static func answer(
    to text: String, by checker: inout BatchChecker, op: String
  ) throws -> JSONValue {
    var line = JSONWriter()
    line.write(request(text, op: op))
    let answer = try JSONParser.parse(checker.answer(line.finish()) ?? [], maximumNesting: 512)
    return answer["result"] ?? answer
  }
}
