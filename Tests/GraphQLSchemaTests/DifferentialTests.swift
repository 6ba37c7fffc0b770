import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random type systems, put to this module and to others: verdict, messages, places, their order and
/// the printed text must be equal.
///
/// Where the edition of September 2026 asks for more than graphql-js 16, the generator keeps clear of it,
/// or `isBeyond` says so.
@Suite(.blocks) struct DifferentialTests {
  private static let count: UInt64 = 2_000

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `graphql-core finds the same in type systems`() throws {
    try compare(with: try #require(Oracle.graphQLCore), isNewest: true)
  }

  @Test(
    .enabled(
      if: Oracle.graphQLJS != nil,
      "SKIPPED: Node.js with graphql-js 16 is missing; apt-get install node-graphql."))
  func `graphql-js finds the same in type systems`() throws {
    try compare(with: try #require(Oracle.graphQLJS), isNewest: false)
  }

  private func compare(with oracle: Oracle, isNewest: Bool) throws {
    let texts = (0..<Self.count).map { seed in
      var random = RandomTypeSystem(seed: seed)
      return random.text()
    }
    let answers = try oracle.answers(
      to: texts.map {
        .object([
          .init(name: "op", value: .string("schema")), .init(name: "schema", value: .string($0)),
        ])
      })
    try #require(answers.count == texts.count)
    var valid = 0
    var different = 0
    for (text, answer) in zip(texts, answers) {
      let ours = try Self.answer(to: text, isNewest: isNewest)
      if ours["printed"] != nil { valid += 1 }
      guard !Self.isSame(ours, answer, inAnyOrder: isNewest) else { continue }
      different += 1
      guard different <= 3 else { continue }
      Issue.record(
        """
        \(text)
        ours: \(String(decoding: ours.bytes, as: UTF8.self))
        theirs: \(String(decoding: answer.bytes, as: UTF8.self))
        """)
    }
    #expect(different == 0)
    // Otherwise the type systems would not be worth comparing.
    #expect(valid > Int(Self.count) / 20)
    #expect(texts.count - valid > Int(Self.count) / 20)
  }

  private static func isSame(
    _ ours: JSONValue, _ theirs: JSONValue, inAnyOrder: Bool
  ) -> Bool {
    if inAnyOrder, case .array(let mine)? = ours["errors"],
      case .array(let others)? = theirs["errors"]
    {
      func sorted(_ errors: [JSONValue]) -> [String] {
        errors.map { String(decoding: $0.bytes.withOneKindOfQuote, as: UTF8.self) }.sorted()
      }
      return sorted(mine) == sorted(others)
    }
    // Built, but too wrong for the other to look any further.
    if theirs["refused"] != nil { return ours["errors"] != nil }
    // Nothing wrong but what only the newer edition calls so.
    if ours["errors"] == .array([]) { return theirs["printed"] != nil }
    // graphql-js 16 leaves out the schema's definition where a type that is no root has a root's name.
    if !inAnyOrder, case .string(let mine)? = ours["printed"],
      case .string(let others)? = theirs["printed"]
    {
      func shortened(_ text: String) -> String {
        text.replacing("schema {\n  query: Query\n}\n\n", with: "")
      }
      return shortened(mine) == shortened(others)
    }
    return ours.bytes.withOneKindOfQuote == theirs.bytes.withOneKindOfQuote
  }

  private static func answer(to text: String, isNewest: Bool) throws -> JSONValue {
    let check = SchemaBuilder.check(try parsed(text))
    // Without them: whether they are right is a matter for tests of their own.
    let errors = check.errors.filter { !isBeyond($0.message, isNewest) }
    if let schema = check.schema {
      return .object([
        .init(name: "printed", value: .string(SchemaPrinter(schema).print()))
      ])
    }
    return .object([
      .init(name: "errors", value: .array(errors.map { json($0, isNewest) }))
    ])
  }

  /// Returns whether the other does not check for this.
  private static func isBeyond(_ message: String, _ isNewest: Bool) -> Bool {
    if isNewest { return message.hasSuffix("must not reference itself directly or indirectly.") }
    return message.hasPrefix("All root types must be different")
      || message.contains("is not deprecated, so implementation field")
      || message.hasSuffix("must not reference itself directly or indirectly.")
      || message.contains(" cannot be provided a finite value ")
  }

  private static func json(_ error: GraphQLError, _ isNewest: Bool) -> JSONValue {
    var message = error.message
    // The newest has one finding for both kinds of circles.
    if isNewest,
      let circle = message.firstMatch(
        of: /^(?:Cannot reference )?Input Object "?(\w+)"? (?:within itself|cannot be provided)/)
    {
      message = "Input Object \"\(circle.1)\" has no finite value."
    }
    return .object([
      .init(name: "message", value: .string(message)),
      .init(
        name: "locations",
        value: .array(
          error.locations.map {
            .array([.number("\($0.line)"), .number("\($0.column)")])
          })),
    ])
  }
}

extension [UInt8] {
  fileprivate var withOneKindOfQuote: [UInt8] {
    filter { $0 != UInt8(ascii: "\\") }.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 }
  }
}
