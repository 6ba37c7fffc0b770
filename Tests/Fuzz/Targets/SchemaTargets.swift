import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation

/// Any type system text is built or refused with reasons.
func fuzzSchema(_ bytes: [UInt8]) {
  guard let document = try? Parser.parse(Source(bytes)) else { return }
  let check = SchemaBuilder.check(document)
  expect((check.schema != nil) == check.errors.isEmpty)
}

/// Any document is valid or refused with reasons, for a schema of every kind of type.
func fuzzValidator(_ bytes: [UInt8]) {
  guard let document = try? Parser.parse(Source(bytes)) else { return }
  for limits in [ValidationLimits.processOnly] {
    let errors = Validator.errors(in: document, against: fuzzedSchema, limits: limits)
    for error in errors { expect(!error.message.isEmpty) }
  }
}

private let fuzzedSchema: Schema = {
  do {
    let document = try Parser.parse(
      """
      directive @tag(name: String!, list: [Int!]) repeatable on FIELD | QUERY | FRAGMENT_SPREAD
      directive @once(on: Color) on FIELD | INLINE_FRAGMENT | VARIABLE_DEFINITION
      interface Node { id: ID! }
      interface Named implements Node { id: ID! name(case: Color = RED): String }
      type User implements Node & Named {
        id: ID! name(case: Color = RED): String friends(first: Int = 1, of: [Filter!]): [User!]!
        pet: Pet best: Named score: Float! }
      type Dog implements Node & Named { id: ID! name(case: Color = RED): String barks: Boolean owner: User }
      type Cat implements Node { id: ID! meows: Boolean! owner: [User] }
      union Pet = Dog | Cat
      enum Color { RED GREEN BLUE @deprecated }
      scalar Any
      input Filter { and: [Filter!] color: Color! = RED min: Int max: Float text: String any: Any }
      input Pick @oneOf { id: ID name: String filter: Filter }
      type Query { node(id: ID!): Node user(by: Pick!): User pets(filter: Filter): [Pet!]! a: Query b: Int }
      type Mutation { add(input: Filter!): User remove(ids: [ID!]!): Int }
      type Subscription { added(color: Color): User }
      """, limits: .unlimited)
    return try SchemaBuilder.build(document)
  } catch {
    fatalError("\(error)")
  }
}()
