import GraphQLValidation
import Testing

struct FragmentTests {
  @Test func `fragments are known, used and named once`() throws {
    try expectErrors(
      "{ ...Gone ...A }\nfragment A on Query { dog { name } }\nfragment A on Query { cat { name } }\nfragment B on Query { ...A }",
      [
        "1:6 KnownFragmentNames: Unknown fragment \"Gone\".",
        "2:10 3:10 UniqueFragmentNames: There can be only one fragment named \"A\".",
        "4:1 NoUnusedFragments: Fragment \"B\" is never used.",
      ])
  }

  @Test func `conditions are known composite types`() throws {
    try expectErrors(
      "{ ... on Kind { x } ... on Nope { x } dog { ...F } }\nfragment F on Filter { kind }",
      [
        "1:10 FragmentsOnCompositeTypes: Fragment cannot condition on non composite type \"Kind\".",
        "1:28 KnownTypeNames: Unknown type \"Nope\".",
        "2:15 FragmentsOnCompositeTypes: Fragment \"F\" cannot condition on non composite type \"Filter\".",
      ])
  }

  @Test func `a spread has to be possible`() throws {
    try expectValid(
      "{ pet { ... on Being { name } ... on DogOrCat { __typename } ... on Anyone { __typename } } }"
    )
    try expectErrors(
      "{ dog { ... on Cat { purrs } ...F } human { ... on Pet { owner { name } } } }\nfragment F on Human { name }",
      [
        "1:9 PossibleFragmentSpreads: Fragment cannot be spread here as objects of type \"Dog\" can never be of type \"Cat\".",
        "1:30 PossibleFragmentSpreads: Fragment \"F\" cannot be spread here as objects of type \"Dog\" can never be of type \"Human\".",
        "1:45 PossibleFragmentSpreads: Fragment cannot be spread here as objects of type \"Human\" can never be of type \"Pet\".",
      ])
  }

  @Test func `cycles are reported with their way`() throws {
    try expectErrors(
      """
      { dog { ...A } }
      fragment A on Dog { ...A ...B }
      fragment B on Dog { owner { pets { ...C } } }
      fragment C on Dog { ...A ...B }
      """,
      [
        "2:21 NoFragmentCycles: Cannot spread fragment \"A\" within itself.",
        "2:26 3:36 4:21 NoFragmentCycles: Cannot spread fragment \"A\" within itself via \"B\", \"C\".",
        "3:36 4:26 NoFragmentCycles: Cannot spread fragment \"B\" within itself via \"C\".",
      ], only: .noFragmentCycles)
  }
}
