import GraphQLValidation
import Testing

struct FieldMergingTests {
  private func conflicts(_ document: String) throws -> [String] {
    try findings(document, rules: [.overlappingFieldsCanBeMerged]).map {
      $0.replacing(
        " Use different aliases on the fields to fetch both if this was intentional.", with: ""
      )
      .replacing("OverlappingFieldsCanBeMergedRule: ", with: "")
    }
  }

  @Test(arguments: [
    "{ dog { name name } dog { name } }",
    "{ dog { a: knows(command: \"x\", times: 1) a: knows(times: 1, command: \"x\") } }",
    "{ either { ... on Dog { x: name } ... on Cat { x: nickname } } }",
    "{ either { ... on Dog { x: knows(command: \"a\") } ... on Cat { x: purrs } } }",
    "{ find(filter: {required: true, kind: FURRY}) { name } find(filter: {kind: FURRY, required: true}) { name } }",
    "{ dog { ...F ...F } ...G } fragment F on Dog { name ...F } fragment G on Query { dog { ...F } }",
    "{ pet { ... on Dog { owner { a: name } } ... on Cat { owner { a: name } } } }",
  ])
  func `what means the same can be merged`(document: String) throws {
    // `knows` is nullable, as `purrs` is.
    #expect(try conflicts(document) == [])
  }

  @Test func `different fields and different arguments conflict`() throws {
    #expect(
      try conflicts(
        "{ dog { a: name a: nickname knows(command: \"x\") knows(command: \"y\") knows(command: \"x\", times: 1) } }"
      ) == [
        "1:9 1:17 Fields \"a\" conflict because \"name\" and \"nickname\" are different fields.",
        "1:29 1:49 Fields \"knows\" conflict because they have differing arguments.",
        "1:29 1:69 Fields \"knows\" conflict because they have differing arguments.",
        "1:49 1:69 Fields \"knows\" conflict because they have differing arguments.",
      ])
  }

  @Test func `values of different objects must have one shape`() throws {
    #expect(
      try conflicts(
        "{ either { ... on Dog { a: age b: barks c: __typename } ... on Cat { a: age b: purrs c: name } } }"
      ) == [
        "1:25 1:70 Fields \"a\" conflict because they return conflicting types \"Int\" and \"String\".",
        "1:32 1:77 Fields \"b\" conflict because they return conflicting types \"Boolean!\" and \"Boolean\".",
        "1:41 1:86 Fields \"c\" conflict because they return conflicting types \"String!\" and \"String\".",
      ])
  }

  @Test func `repeated arguments are no conflict of a field with itself`() throws {
    #expect(
      try conflicts("{ dog { ...F } } fragment F on Dog { knows(times: 1, times: 2) ...F }") == [])
  }

  @Test func `conflicts further in name the way`() throws {
    #expect(
      try conflicts(
        "{ dog { owner { x: name } } dog { owner { x: relatives { name } y: name } } dog { owner { y: relatives { name } } } }"
      ) == [
        "1:3 1:9 1:17 1:29 1:35 1:43 Fields \"dog\" conflict because subfields \"owner\" conflict because subfields \"x\" conflict because \"name\" and \"relatives\" are different fields.",
        "1:29 1:35 1:65 1:77 1:83 1:91 Fields \"dog\" conflict because subfields \"owner\" conflict because subfields \"y\" conflict because \"name\" and \"relatives\" are different fields.",
      ])
  }

  @Test func `conflicts are found through fragments in fragments`() throws {
    #expect(
      try conflicts(
        "{ x: dog { name } ...F }\nfragment F on Query { ...G }\nfragment G on Query { ...H }\nfragment H on Query { x: cat { name } }"
      ) == [
        "1:3 4:23 Fields \"x\" conflict because \"dog\" and \"cat\" are different fields."
      ])
    #expect(
      try conflicts(
        "{ dog { ...A } cat { ...B } dog { ...C } }\nfragment A on Dog { x: name }\nfragment B on Cat { x: name }\nfragment C on Dog { x: nickname }"
      ) == [
        "1:3 2:21 1:29 4:21 Fields \"dog\" conflict because subfields \"x\" conflict because \"name\" and \"nickname\" are different fields."
      ])
  }

  @Test func `what only one object type can be is compared with what any can be`() throws {
    #expect(
      try conflicts("{ pet { ... on Dog { x: name } ... on Cat { x: name } x: owner { name } } }")
        .count == 2)
  }
}
