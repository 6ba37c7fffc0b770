import GraphQLValidation
import Testing

struct FieldTests {
  @Test func `a field has to exist, and near names are offered`() throws {
    try expectErrors(
      "{ dog { nme } either { name } }",
      [
        "1:9 FieldsOnCorrectType: Cannot query field \"nme\" on type \"Dog\". Did you mean \"name\" or \"age\"?",
        "1:24 FieldsOnCorrectType: Cannot query field \"name\" on type \"DogOrCat\". Did you mean to use an inline fragment on \"Being\", \"Pet\", \"Cat\", or \"Dog\"?",
      ])
  }

  @Test func `suggestions can be switched off`() throws {
    #expect(
      try findings("{ dog { nme } either { name } dog }", suggestions: false) == [
        "1:9 FieldsOnCorrectTypeRule: Cannot query field \"nme\" on type \"Dog\".",
        "1:24 FieldsOnCorrectTypeRule: Cannot query field \"name\" on type \"DogOrCat\".",
        "1:31 ScalarLeafsRule: Field \"dog\" of type \"Dog\" must have a selection of subfields.",
      ])
  }

  @Test func `leaves have no selections and others do`() throws {
    try expectErrors(
      "{ dog { name { x } } cat }",
      [
        "1:14 ScalarLeafs: Field \"name\" must not have a selection since type \"String\" has no subfields.",
        "1:22 ScalarLeafs: Field \"cat\" of type \"Cat\" must have a selection of subfields. Did you mean \"cat { ... }\"?",
      ])
  }

  @Test func `introspection starts at the query root only`() throws {
    try expectErrors(
      "mutation { __schema { types { name } } }",
      ["1:12 FieldsOnCorrectType: Cannot query field \"__schema\" on type \"Mutation\"."])
  }

  @Test func `arguments are known, unique and given where required`() throws {
    try expectErrors(
      "{ dog { knows(comand: \"sit\", times: 1, times: 2) } }",
      [
        "1:30 1:40 UniqueArgumentNames: There can be only one argument named \"times\".",
        "1:15 KnownArgumentNames: Unknown argument \"comand\" on field \"Dog.knows\". Did you mean \"command\"?",
        "1:9 ProvidedRequiredArguments: Field \"knows\" argument \"command\" of type \"String!\" is required, but it was not provided.",
      ])
  }

  @Test func `directives are known, in place, unique and complete`() throws {
    try expectErrors(
      "query @once { dog { name @nope @once @once @tagged(nam: \"a\") @onQuery } }",
      [
        "1:7 KnownDirectives: Directive \"@once\" may not be used on QUERY.",
        "1:32 1:38 UniqueDirectivesPerLocation: The directive \"@once\" can only be used once at this location.",
        "1:26 KnownDirectives: Unknown directive \"@nope\".",
        "1:52 KnownArgumentNames: Unknown argument \"nam\" on directive \"@tagged\". Did you mean \"name\"?",
        "1:44 ProvidedRequiredArguments: Directive \"@tagged\" argument \"name\" of type \"String!\" is required, but it was not provided.",
        "1:62 KnownDirectives: Directive \"@onQuery\" may not be used on FIELD.",
      ])
    try expectValid("{ dog { name @tagged(name: \"a\") @tagged(name: \"b\") } }")
  }
}
