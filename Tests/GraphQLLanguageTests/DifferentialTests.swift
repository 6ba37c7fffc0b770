import GraphQLLanguage
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random and damaged documents, put to this parser and to others: verdict, message, place and
/// printed text must be equal.
@Suite(.blocks) struct DifferentialTests {
  private static let documents: UInt64 = 3_000

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil,
      "SKIPPED: Python with graphql-core 3.3 is missing; script/oracle installs it."))
  func `graphql-core gives the same answers`() throws {
    let oracle = try #require(Oracle.graphQLCore)
    // Python measures lines in code points, graphql-js in UTF-16 units: only of one unit each.
    let sources = Self.sources(describesExecutables: true).map { source in
      source.replacing("😀", with: "é").replacing(#"\uD83D\uDE00"#, with: #"\u00e9"#)
        .replacing(#"\u{1F600}"#, with: #"\u{E9}"#)
    }
    try compare(sources, try oracle.answers(to: sources.map(Self.request))) { ours, theirs in
      guard let message = ours.message, let other = theirs.message else {
        return ours.bytes == theirs.bytes
      }
      // Python quotes names otherwise, and lets numbers in escapes grow beyond 32 bits.
      let escape = "Syntax Error: Invalid Unicode escape sequence"
      return ours["line"] == theirs["line"] && ours["column"] == theirs["column"]
        && (message.withOneKindOfQuote == other.withOneKindOfQuote
          || (message.hasPrefix(escape) && other.hasPrefix(escape))
          // It guesses what was meant by a dot.
          || (message == "Syntax Error: Unexpected character: \".\"."
            && other.contains("did you mean '")))
    }
  }

  @Test(
    .enabled(
      if: Oracle.graphQLJS != nil,
      "SKIPPED: Node.js with graphql-js 16 is missing; apt-get install node-graphql."))
  func `graphql-js gives the same answers, to the letter`() throws {
    let oracle = try #require(Oracle.graphQLJS)
    let sources = Self.sources(describesExecutables: false)
    try compare(sources, try oracle.answers(to: sources.map(Self.request))) { ours, theirs in
      // Byte by byte: Swift's `==` on strings forgives differences in composition.
      if ours.bytes == theirs.bytes || Self.isOfNewerGrammar(theirs) { return true }
      // Damage may have put a description where only the newer grammar allows it, or has other
      // words for it.
      return [
        "Unexpected description", "Expected \"$\", found String",
        "Expected \"$\", found BlockString",
      ].contains { theirs.message?.hasPrefix("Syntax Error: \($0)") ?? false }
        || ours.message?.contains("not supported on shorthand") ?? false
    }
  }

  /// Returns whether damage has put directives on a definition of a directive or `extend` before it, or
  /// has emptied a selection set, which the edition of September 2026 allows.
  private static func isOfNewerGrammar(_ theirs: JSONValue) -> Bool {
    [
      #"Expected "on", found "@""#, #"Unexpected Name "directive""#, #"Expected Name, found "}""#,
    ].contains { theirs.message?.contains($0) ?? false }
  }

  private static func sources(describesExecutables: Bool) -> [String] {
    let valid = (0..<documents).map { seed in
      var document = RandomDocument(seed: seed, describesExecutables: describesExecutables)
      return document.valid()
    }
    let damaged = (0..<2 * documents).map { seed in
      var document = RandomDocument(
        seed: 1_000_000 + seed, describesExecutables: describesExecutables)
      return document.damaged()
    }
    return valid + damaged
  }

  private static func request(_ source: String) -> JSONValue {
    .object([
      .init(name: "op", value: .string("parse")), .init(name: "source", value: .string(source)),
    ])
  }

  private func compare(
    _ sources: [String], _ answers: [JSONValue], isSame: (JSONValue, JSONValue) -> Bool
  ) throws {
    try #require(answers.count == sources.count)
    var accepted = 0
    var differences = 0
    for (source, answer) in zip(sources, answers) {
      let ours = Self.answer(to: source)
      if ours["printed"] != nil { accepted += 1 }
      guard !isSame(ours, answer) else { continue }
      differences += 1
      guard differences <= 5 else { continue }
      Issue.record(
        """
        \(source.debugDescription)
        ours: \(String(decoding: ours.bytes, as: UTF8.self))
        theirs: \(String(decoding: answer.bytes, as: UTF8.self))
        """)
    }
    #expect(differences == 0)
    // Otherwise the documents would not be worth comparing.
    #expect(accepted > Int(Self.documents))
    #expect(sources.count - accepted > Int(Self.documents))
  }

  private static func answer(to source: String) -> JSONValue {
    do throws(SyntaxError) {
      let document = try Parser.parse(source, limits: .unlimited)
      return .object([.init(name: "printed", value: .string(Printer.print(document)))])
    } catch {
      return .object([
        .init(name: "message", value: .string(error.message)),
        .init(name: "line", value: .number("\(error.location.line)")),
        .init(name: "column", value: .number("\(error.location.column)")),
      ])
    }
  }
}

extension JSONValue {
  fileprivate var message: String? {
    guard case .string(let message) = self["message"] else { return nil }
    return message
  }
}

extension String {
  fileprivate var withOneKindOfQuote: [UInt8] {
    utf8.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 }
  }
}
