import GraphQLValidation
import Testing

/// Named by what the incremental delivery proposal says of `@defer`; messages are those of graphql-core 3.3.
struct DeferTests {
  private static let sdl =
    zoo
    + "directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT"

  @Test
  func `fragments of queries are deferred wherever they are, also in mutations below the root`()
    throws
  {
    try expectValid(
      """
      query A($late: Boolean!) {
        ... @defer(label: "a") { dog { name ...F @defer(if: $late, label: null) } }
        cat { ... on Pet @defer(if: false) { owner { name } } }
      }
      mutation B { rename(name: "x") { ... @defer { name } } }
      fragment F on Dog { ... @defer(label: "b") { barks } }
      """, Self.sdl)
    try expectErrors(
      "{ dog @defer { name } }",
      ["1:7 KnownDirectives: Directive \"@defer\" may not be used on FIELD."], Self.sdl)
  }

  @Test func `a schema that does not declare it does not know it`() throws {
    try expectErrors(
      "{ ... @defer { dog { name } } }", ["1:7 KnownDirectives: Unknown directive \"@defer\"."])
  }

  @Test func `labels are literals and each is there once in the document`() throws {
    try expectErrors(
      """
      query($l: String) {
        ... @defer(label: $l) { dog { name } }
        ... @defer(label: "a") { cat { name ...F @defer(label: "a") } }
      }
      fragment F on Cat { ... @defer(label: "a") { purrs } }
      """,
      [
        "2:7 DeferStreamDirectiveLabel: Defer directive label argument must be a static string.",
        "3:7 3:44 DeferStreamDirectiveLabel: Defer/Stream directive label argument must be unique.",
        "3:7 5:25 DeferStreamDirectiveLabel: Defer/Stream directive label argument must be unique.",
      ], Self.sdl)
  }

  @Test func `root fields of mutations and subscriptions are not deferred`() throws {
    try expectErrors(
      """
      mutation { ...M }
      fragment M on Mutation { ... @defer { rename(name: "x") { name } } }
      """,
      [
        "2:30 DeferStreamDirectiveOnRootField: Defer directive cannot be used on root mutation type 'Mutation'."
      ], Self.sdl)
    try expectErrors(
      "subscription { ... @defer(if: false) { born { name } } }",
      [
        "1:20 DeferStreamDirectiveOnRootField: Defer directive cannot be used on root subscription type 'Subscription'."
      ], Self.sdl)
  }

  @Test func `inside of a subscription it can be turned off`() throws {
    let message =
      "Defer directive not supported on subscription operations."
      + " Disable `@defer` by setting the `if` argument to `false`."
    try expectErrors(
      """
      subscription { born { name ...F } }
      fragment F on Pet { owner { ... @defer { name } } }
      """, ["2:33 1:28 DeferStreamDirectiveOnValidOperations: \(message)"], Self.sdl)
    try expectErrors(
      "subscription { born { ... @defer(if: true) { name } } }",
      ["1:27 DeferStreamDirectiveOnValidOperations: \(message)"], Self.sdl)
    try expectValid(
      """
      subscription($late: Boolean!, $no: Boolean!) {
        born {
          ... @defer(if: false) { name }
          ... @defer(if: $late) { name }
          ... @include(if: $no) { ... @defer { name } }
          owner @skip(if: true) { ... @defer { name } }
        }
      }
      """, Self.sdl)
  }
}
