import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import OracleSupport
import Testing

/// Texts of some 64 KB made to hurt one rule: the answer costs no more than the text is long.
struct HostileTextTests {
  private static func many(_ count: Int, _ text: (Int) -> String) -> String {
    (0..<count).map(text).joined(separator: " ")
  }

  struct Hostile: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Scale 4 is some 64 KB.
    let text: @Sendable (_ scale: Int) -> String

    init(_ name: String, _ text: @escaping @Sendable (Int) -> String) {
      testDescription = name
      self.text = text
    }
  }

  private static let texts: [Hostile] = [
    Hostile("names near many types") { scale in
      many(625 * scale) { "scalar T\($0)" } + " type Query { "
        + many(625 * scale) { "f\($0): U\($0)" } + " }"
    },
    Hostile("one endless name near another") { scale in
      "type Query { a: \(String(repeating: "a", count: 7_500 * scale)) } "
        + "scalar \(String(repeating: "b", count: 7_500 * scale))"
    },
    Hostile("an interface of many fields that many types lack") { scale in
      "interface I { \(many(1_250 * scale) { "a\($0): Int" }) } "
        + many(200 * scale) { "type T\($0) implements I { a: Int }" }
    },
    Hostile("an interface named many times") { scale in
      "interface I { a: Int } type Query implements "
        + (0..<3_000 * scale).map { _ in "I" }.joined(separator: "&") + " { a: Int }"
    },
    Hostile("a member named many times") { scale in
      "type Query { a: Int } union U = "
        + (0..<2_250 * scale).map { _ in "Query" }.joined(separator: "|")
    },
    Hostile("a long cycle of input objects") { scale in
      "type Query { a(a: A0): Int } "
        + many(750 * scale) { "input A\($0) { a: A\(($0 + 1) % (750 * scale))! }" }
    },
    Hostile("a long chain of defaults") { scale in
      "type Query { a(a: A0): Int } " + many(625 * scale) { "input A\($0) { a: A\($0 + 1) = {} }" }
        + " input A\(625 * scale) { a: Int }"
    },
    Hostile("defaults that double at each step") { scale in
      "type Query { a(a: A0 = {}): Int } "
        + many(225 * scale) { "input A\($0) { a: A\($0 + 1) = {} b: A\($0 + 1) = {} }" }
        + " input A\(225 * scale) { a: Int }"
    },
    Hostile("a list of objects with many defaults") { scale in
      "type Query { a(a: [A] = [\(many(5_000 * scale) { _ in "{}" })]): Int } "
        + "input A { \(many(50 * scale) { "a\($0): Int = 1" }) }"
    },
    Hostile("a long default with many mistakes") { scale in
      "type Query { a(a: A = { \(many(1_250 * scale) { "b\($0): 1" }) }): Int } "
        + "input A { \(many(250 * scale) { "a\($0): Int!" }) }"
    },
    Hostile("a directive of many arguments applied with others") { scale in
      "directive @d(\(many(750 * scale) { "a\($0): Int!" })) on OBJECT "
        + "type Query @d(\(many(750 * scale) { "b\($0): 1" })) { a: Int }"
    },
    Hostile("a long cycle of directives") { scale in
      "type Query { a: Int } "
        + many(300 * scale) {
          "directive @d\($0)(a: Int @d\(($0 + 1) % (300 * scale))) on ARGUMENT_DEFINITION"
        }
    },
  ]

  @Test(arguments: texts)
  func `hostile text costs what it is long`(hostile: Hostile) throws {
    let documents = try [1: 1, 4: 4].mapValues { try parsed(hostile.text($0)) }
    var errors: [GraphQLError] = []
    let factor = try growth { scale in
      errors = SchemaBuilder.check(try #require(documents[scale])).errors
    }
    #expect(!errors.isEmpty)
    #expect(errors.count <= 1_000)
    #expect(factor < 10)
  }
}
