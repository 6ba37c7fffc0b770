import GraphQLValidation
import Testing

/// Named by what the incremental delivery proposal says of `@stream`; messages are those of graphql-core 3.3 but for
/// fields that overlap, where equal directives are taken as the proposal has it.
struct StreamTests {
  private static let sdl =
    zoo
      + """
      directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
      directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
      """

  @Test func `lists of queries are streamed wherever they are, also in mutations below the root`()
    throws
  {
    try expectValid(
      """
      query A($late: Boolean!, $count: Int = 3) {
        human { pets @stream(label: "a", initialCount: $count) { relatives @stream(if: $late) { name } } }
        ... @defer(label: "b") { find @stream(if: false, label: null) { ...F } }
      }
      mutation B { rename(name: "x") { relatives @stream(initialCount: 1) { name } } }
      fragment F on Being { relatives @stream(label: "c") { name } }
      """, Self.sdl)
    try expectErrors(
      "{ ... @stream { find { name } } }",
      ["1:7 KnownDirectives: Directive \"@stream\" may not be used on INLINE_FRAGMENT."], Self.sdl)
    try expectErrors(
      "{ find @stream(initialCount: \"1\") { name } }",
      ["1:30 ValuesOfCorrectType: Int cannot represent non-integer value: \"1\""], Self.sdl)
  }

  @Test func `a schema that does not declare it does not know it`() throws {
    try expectErrors(
      "{ find @stream { name } }", ["1:8 KnownDirectives: Unknown directive \"@stream\"."])
  }

  @Test func `only lists are streamed`() throws {
    try expectErrors(
      "{ dog @stream(initialCount: 1) { name @stream } }",
      [
        "1:7 StreamDirectiveOnListField: Stream directive cannot be used on non-list field 'dog' on type 'Query'.",
        "1:39 StreamDirectiveOnListField: Stream directive cannot be used on non-list field 'name' on type 'Dog'.",
      ], Self.sdl)
  }

  @Test func `labels are literals and each is there once, whichever of the two has it`() throws {
    try expectErrors(
      """
      query($l: String) {
        find @stream(label: $l) { name }
        ... @defer(label: "a") { a: find @stream(label: "a") { name } b: find @stream(label: "a") { name } }
      }
      """,
      [
        "2:8 DeferStreamDirectiveLabel: Stream directive label argument must be a static string.",
        "3:7 3:36 DeferStreamDirectiveLabel: Defer/Stream directive label argument must be unique.",
        "3:7 3:73 DeferStreamDirectiveLabel: Defer/Stream directive label argument must be unique.",
      ], Self.sdl)
  }

  @Test func `root fields of mutations and subscriptions are not streamed`() throws {
    let sdl =
      Self.sdl + " extend type Mutation { all: [Dog] } extend type Subscription { each: [Dog] }"
    try expectErrors(
      """
      mutation { ...M }
      fragment M on Mutation { ... { all @stream { name } } }
      """,
      [
        "2:36 DeferStreamDirectiveOnRootField: Stream directive cannot be used on root mutation type 'Mutation'."
      ], sdl)
    try expectErrors(
      "subscription { each @stream(if: false) { name } }",
      [
        "1:21 DeferStreamDirectiveOnRootField: Stream directive cannot be used on root subscription type 'Subscription'."
      ], sdl)
  }

  @Test func `inside of a subscription it can be turned off`() throws {
    let message =
      "Stream directive not supported on subscription operations."
      + " Disable `@stream` by setting the `if` argument to `false`."
    try expectErrors(
      """
      subscription { born { name ...F } }
      fragment F on Pet { relatives @stream(initialCount: 2) { name } }
      """, ["2:31 1:28 DeferStreamDirectiveOnValidOperations: \(message)"], Self.sdl)
    try expectValid(
      """
      subscription($late: Boolean!, $no: Boolean!) {
        born {
          a: relatives @stream(if: false) { name }
          b: relatives @stream(if: $late) { name }
          c: relatives @stream @include(if: $no) { name }
          owner @skip(if: true) { relatives @stream { name } }
        }
      }
      """, Self.sdl)
  }

  @Test func `fields that are merged are streamed alike`() throws {
    try expectValid(
      """
      query($n: Int) {
        find @stream(if: true, initialCount: $n) { name }
        ... { find @stream(initialCount: $n, if: true) { owner { name } } }
        pet { ... on Dog { r: relatives @stream { name } } ... on Cat { r: relatives { name } } }
      }
      """, Self.sdl)
    func conflict(_ positions: String, _ name: String = "find") -> String {
      "\(positions) OverlappingFieldsCanBeMerged: Fields \"\(name)\" conflict because they have differing stream"
        + " directives. Use different aliases on the fields to fetch both if this was intentional."
    }
    try expectErrors(
      "{ find @stream { name } find { name } }", [conflict("1:3 1:25")], Self.sdl)
    try expectErrors(
      "{ find @stream(initialCount: 1) { name } find @stream(initialCount: 2) { name } }",
      [conflict("1:3 1:42")], Self.sdl)
    try expectErrors(
      "{ find @stream(label: \"a\") { name } ...F } fragment F on Query { find @stream(label: \"b\") { name } }",
      [conflict("1:3 1:66")], Self.sdl)
  }
}
