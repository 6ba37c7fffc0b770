import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import Testing

/// The schema most tests are about: enough of everything, and nothing more.
let zoo = """
  schema { query: Query mutation: Mutation subscription: Subscription }
  directive @onQuery on QUERY
  directive @tagged(name: String!, kind: Kind, size: Int = 1) repeatable on FIELD
  directive @once on FIELD | VARIABLE_DEFINITION
  scalar Anything
  enum Kind { FURRY FEATHERED SCALY }
  input Filter { kind: Kind, minimum: Int! = 0, tags: [String!], inner: Filter, required: Boolean! }
  input Choice @oneOf { byName: String, byNumber: Int, byFilter: Filter }
  interface Being { name: String, relatives: [Being!] }
  interface Pet implements Being { name: String, relatives: [Being!], owner: Human }
  type Human implements Being { name: String, relatives: [Being!], pets(first: Int! = 10): [Pet!]! }
  type Dog implements Being & Pet {
    name: String, relatives: [Being!], owner: Human, barks: Boolean!, age: Int, nickname: String
    knows(command: String!, times: Int = 1): Boolean
  }
  type Cat implements Being & Pet {
    name: String, relatives: [Being!], owner: Human, purrs: Boolean, age: String, nickname: String
  }
  union DogOrCat = Dog | Cat
  union Anyone = Human | Dog
  type Query {
    dog: Dog, cat: Cat, human(id: ID): Human, pet: Pet, being: Being, either: DogOrCat
    anyone: Anyone
    find(filter: Filter, choice: Choice, choices: [Choice!], kinds: [Kind!], matrix: [[Int]]): [Pet]
    echo(
      int: Int, float: Float, string: String, boolean: Boolean, id: ID, kind: Kind
      anything: Anything, must: Int! = 1
    ): String
  }
  type Mutation { rename(name: String!): Dog }
  type Subscription { born: Pet, died: Pet }
  """

func schema(_ text: String) throws -> Schema {
  do {
    return try SchemaBuilder.build(try Parser.parse(text, limits: .unlimited))
  } catch let error as SchemaErrors {
    Issue.record("\(error.errors.map(\.message))")
    throw error
  }
}

/// Findings as lines, `LINE:COLUMN LINE:COLUMN Rule: message`.
func findings(
  _ document: String, _ sdl: String = zoo, rules: Set<ValidationRule>? = nil,
  suggestions: Bool = true, limits: ValidationLimits = .processOnly
) throws -> [String] {
  let document = try Parser.parse(document, limits: .unlimited)
  return Validator.errors(
    in: document, against: try schema(sdl), rules: rules, suggestions: suggestions, limits: limits
  ).map { error in
    let places = error.locations.map { "\($0.line):\($0.column) " }.joined()
    return "\(places)\(error.rule ?? error.code.rawValue): \(error.message)"
  }
}

func expectValid(
  _ document: String, _ sdl: String = zoo, at location: Testing.SourceLocation = #_sourceLocation
) throws {
  #expect(try findings(document, sdl) == [], sourceLocation: location)
}

/// All findings, in order; the rule's name without `Rule`.
func expectErrors(
  _ document: String, _ expected: [String], _ sdl: String = zoo, only: ValidationRule? = nil,
  at location: Testing.SourceLocation = #_sourceLocation
) throws {
  let found = try findings(document, sdl, rules: only.map { [$0] })
  #expect(
    found == expected.map { $0.replacing(": ", with: "Rule: ", maxReplacements: 1) },
    sourceLocation: location)
}
