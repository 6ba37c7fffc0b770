import GraphQLLanguage
import GraphQLResponse

/// The errors because of which a type system was not built, in the order of the reference
/// implementation.
package struct SchemaErrors: Error, Sendable, Equatable {
  package let errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) { self.errors = errors }
}
