import GraphQLLanguage
import GraphQLResponse

/// Why a type system was not built: every finding, in the order the reference implementation
/// reports them.
package struct SchemaErrors: Error, Sendable, Equatable {
  package let errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) { self.errors = errors }
}
