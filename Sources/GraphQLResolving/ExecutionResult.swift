import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import JSON

/// The response of an operation that was executed.
package struct ExecutionResult: Sendable {
  /// The data as JSON: an object, or null if an error propagated to the root.
  package let data: [UInt8]
  package let errors: [GraphQLError]
}

/// The introspection result of an operation that also has other fields.
package struct IntrospectionResult: Sendable {
  package struct Member: Sendable {
    package let responseName: String
    package let json: [UInt8]
    /// Whether an error propagates, because the field cannot be null.
    package let isFailed: Bool
  }

  package let members: [Member]
  package let errors: [GraphQLError]
}

/// The limits of a result. Fragments determine how deep data nests, and introspection is unbounded.
package struct ExecutionLimits: Sendable {
  package var maximumDepth: Int
  package var maximumBytes: Int

  package init(maximumDepth: Int = 500, maximumBytes: Int = 64 << 20) {
    self.maximumDepth = maximumDepth
    self.maximumBytes = maximumBytes
  }
}

/// A value that a resolver returns: external data, or a part of the schema.
enum ResolvedValue {
  case json(JSONValue)
  case introspection(IntrospectionValue)

  var isNull: Bool {
    switch self {
    case .json(.null), .introspection(.null): true
    case .json, .introspection: false
    }
  }

  var items: [ResolvedValue]? {
    switch self {
    case .json(.array(let items)): items.map { .json($0) }
    case .introspection(.list(let items)): items.map { .introspection($0) }
    case .json, .introspection: nil
    }
  }
}
