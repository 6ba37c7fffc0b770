import Foundation
import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema

/// The texts that are measured, here and by graphql-js. All are valid for their schema.
struct Inputs {
  /// By file name.
  let texts: [(name: String, text: String)]

  init(schemaDirectory: String) throws {
    texts = [
      ("domain-schema.graphql", try Self.domainSchema(schemaDirectory)),
      ("large-schema.graphql", Self.largeSchema(types: 1_000)),
      ("introspection.graphql", Self.introspection),
      ("q14.graphql", Self.q14),
      ("q14.variables.json", #"{"kinds": ["PHOTO"], "after": null}"#),
      ("fields400.graphql", Self.fields400),
      ("large400.graphql", Self.large400),
    ]
  }

  subscript(_ name: String) -> String { texts.first { $0.name == name }?.text ?? "" }

  func write(to directory: String) throws {
    for (name, text) in texts {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory).appendingPathComponent(name))
    }
  }

  private static func domainSchema(_ directory: String) throws -> String {
    let files = try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.hasSuffix(".graphql") }.sorted()
    let parts = try files.map { try String(contentsOfFile: directory + "/" + $0, encoding: .utf8) }
    let text = ([StorageDirectives.sdl] + parts).joined(separator: "\n")
    return try Printer.print(
      SchemaCompletion.complete(Parser.parse(Source(text), limits: .unlimited)))
  }

  /// Types that refer to each other, in threes: an interface, an object and an input object.
  private static func largeSchema(types: Int) -> String {
    var text = "type Query {\n"
    let groups = (types + 2) / 3
    for index in 0..<groups { text += "  entity\(index)(filter: Filter\(index)): Entity\(index)\n" }
    text += "}\n"
    for index in 0..<groups {
      let next = (index + 1) % groups
      text += """
        "What entities of kind \(index) have in common."
        interface Common\(index) {
          id: ID!
          name: String!
        }
        "An entity of kind \(index)."
        type Entity\(index) implements Common\(index) {
          id: ID!
          name: String!
          "Counted anew each time."
          size(of: [ID!], first: Int = 10): Int!
          neighbour(filter: Filter\(next)): Entity\(next)
          members: [Common\(next)!]!
        }
        input Filter\(index) {
          name: String
          size: Int = 1
          not: Filter\(next)
        }

        """
    }
    return text
  }

  private static let fields400: String = {
    var text = "query Fields400 {\n"
    for index in 0..<40 {
      text += """
          person\(index): user(by: { username: "person\(index)" }) {
            id
            username
            displayName
            bio
            website
            joinedAt
            home {
              id
              name
            }
          }

        """
    }
    return text + "}\n"
  }()

  private static let large400: String = {
    var text = "query Large400($name: String) {\n"
    for index in 0..<50 {
      text += """
          entity\(index)(filter: { name: $name, size: \(index), not: { name: "none" } }) {
            id
            name
            size(first: 5)
            neighbour {
              id
              size
            }
            members { id }
          }

        """
    }
    return text + "}\n"
  }()

  /// The showcase operation Q14.
  private static let q14 = """
    # Sailor+, GTIO · newest of many followed people · SP-R09, R14, GTIO-8.4a
    query PhotoFeed($kinds: [PostKind!], $after: String) {
      viewer {
        feed(source: PEOPLE, kinds: $kinds, first: 20, after: $after) {
          pageInfo { hasNextPage endCursor }
          nodes {
            __typename
            id
            body
            createdAt
            author { id displayName avatar { url(shape: SQUARE) } }
            photos { url width height }
            location { id name ancestors { name level } }
            reactionCount
            viewerReactions
            commentCount
            comments(last: 2) { nodes { body author { displayName } } }
          }
        }
      }
    }
    """

  /// What tools send to learn a schema.
  private static let introspection = """

    query IntrospectionQuery {
      __schema {
        queryType { name }
        mutationType { name }
        subscriptionType { name }
        types {
          ...FullType
        }
        directives {
          name
          description
          locations
          args {
            ...InputValue
          }
        }
      }
    }

    fragment FullType on __Type {
      kind
      name
      description
      fields(includeDeprecated: true) {
        name
        description
        args {
          ...InputValue
        }
        type {
          ...TypeRef
        }
        isDeprecated
        deprecationReason
      }
      inputFields {
        ...InputValue
      }
      interfaces {
        ...TypeRef
      }
      enumValues(includeDeprecated: true) {
        name
        description
        isDeprecated
        deprecationReason
      }
      possibleTypes {
        ...TypeRef
      }
    }

    fragment InputValue on __InputValue {
      name
      description
      type { ...TypeRef }
      defaultValue
    }

    fragment TypeRef on __Type {
      kind
      name
      ofType {
        kind
        name
        ofType {
          kind
          name
          ofType {
            kind
            name
            ofType {
              kind
              name
              ofType {
                kind
                name
                ofType {
                  kind
                  name
                  ofType {
                    kind
                    name
                  }
                }
              }
            }
          }
        }
      }
    }

    """
}
