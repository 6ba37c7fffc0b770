import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import JSON

/// The response of an operation that was executed.
package struct ExecutionResult: Sendable {
  /// JSON: an object, or null when an error went up to the root.
  package let data: [UInt8]
  package let errors: [GraphQLError]
}

/// What introspection answers in an operation that also asks for other things.
package struct IntrospectionResult: Sendable {
  package struct Member: Sendable {
    package let responseName: String
    package let json: [UInt8]
    /// The place cannot be null, so the error goes up.
    package let isFailed: Bool
  }

  package let members: [Member]
  package let errors: [GraphQLError]
}

/// What a result may cost. Data nests as deep as fragments let it, and introspection never ends.
package struct ExecutionLimits: Sendable {
  package var maximumDepth: Int
  package var maximumBytes: Int

  package init(maximumDepth: Int = 500, maximumBytes: Int = 64 << 20) {
    self.maximumDepth = maximumDepth
    self.maximumBytes = maximumBytes
  }
}

/// What a resolver gives: data from outside, or a part of the schema.
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
