import GraphQLLanguage
import GraphQLSchema
import Testing

/// Texts of some 64 KB made to hurt one rule: the answer costs no more than the text is long.
struct HostileTextTests {
  private static func many(_ count: Int, _ text: (Int) -> String) -> String {
    (0..<count).map(text).joined(separator: " ")
  }

  struct Hostile: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String

    init(_ name: String, _ text: String) {
      testDescription = name
      self.text = text
    }
  }

  private static let texts: [Hostile] = [
    Hostile(
      "names near many types",
      many(2_500) { "scalar T\($0)" } + " type Query { " + many(2_500) { "f\($0): U\($0)" } + " }"
    ),
    Hostile(
      "one endless name near another",
      "type Query { a: \(String(repeating: "a", count: 30_000)) } "
        + "scalar \(String(repeating: "b", count: 30_000))"
    ),
    Hostile(
      "an interface of many fields that many types lack",
      "interface I { \(many(5_000) { "a\($0): Int" }) } "
        + many(800) { "type T\($0) implements I { a: Int }" }
    ),
    Hostile(
      "an interface named many times",
      "interface I { a: Int } type Query implements "
        + (0..<12_000).map { _ in "I" }.joined(separator: "&") + " { a: Int }"
    ),
    Hostile(
      "a member named many times",
      "type Query { a: Int } union U = " + (0..<9_000).map { _ in "Query" }.joined(separator: "|")
    ),
    Hostile(
      "a long cycle of input objects",
      "type Query { a(a: A0): Int } " + many(3_000) { "input A\($0) { a: A\(($0 + 1) % 3_000)! }" }
    ),
    Hostile(
      "a long chain of defaults",
      "type Query { a(a: A0): Int } " + many(2_500) { "input A\($0) { a: A\($0 + 1) = {} }" }
        + " input A2500 { a: Int }"
    ),
    Hostile(
      "defaults that double at each step",
      "type Query { a(a: A0 = {}): Int } "
        + many(900) { "input A\($0) { a: A\($0 + 1) = {} b: A\($0 + 1) = {} }" }
        + " input A900 { a: Int }"
    ),
    Hostile(
      "a list of objects with many defaults",
      "type Query { a(a: [A] = [\(many(20_000) { _ in "{}" })]): Int } "
        + "input A { \(many(200) { "a\($0): Int = 1" }) }"
    ),
    Hostile(
      "a long default with many mistakes",
      "type Query { a(a: A = { \(many(5_000) { "b\($0): 1" }) }): Int } "
        + "input A { \(many(1_000) { "a\($0): Int!" }) }"
    ),
    Hostile(
      "a directive of many arguments applied with others",
      "directive @d(\(many(3_000) { "a\($0): Int!" })) on OBJECT "
        + "type Query @d(\(many(3_000) { "b\($0): 1" })) { a: Int }"
    ),
    Hostile(
      "a long cycle of directives",
      "type Query { a: Int } "
        + many(1_200) {
          "directive @d\($0)(a: Int @d\(($0 + 1) % 1_200)) on ARGUMENT_DEFINITION"
        }
    ),
  ]

  @Test(arguments: texts)
  func `hostile text is answered in time`(hostile: Hostile) throws {
    let document = try parsed(hostile.text)
    var errors: [GraphQLError] = []
    let time = ContinuousClock().measure { errors = SchemaBuilder.check(document).errors }
    #expect(!errors.isEmpty)
    #expect(errors.count <= 1_000)
    // Optimised it takes some 20 ms; this is a slow build, perhaps on a busy machine.
    #expect(time < .seconds(3), "took \(time)")
  }
}
