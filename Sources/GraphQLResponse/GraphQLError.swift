import GraphQLLanguage

// The response: what a request is, and what becomes of it, as plain values and their JSON.
//
// Chapter 7 of the specification (September 2025). Everything above speaks of requests, errors and
// answers in these words; how HTTP carries them is decided in GraphQLTransport.

/// One entry of `errors`.
///
/// GraphQL September 2025, 7.1.2 Errors.
package struct GraphQLError: Error, Sendable, Equatable {
  /// The message for the client.
  package var message: String
  package var locations: [SourceLocation]
  package var path: [PathSegment]?
  /// The validation rule that found the error, by the name that all engines share
  /// (`NoUnusedVariables`).
  package var rule: String?
  /// The value of `extensions.code`.
  package var code: ErrorCode
  /// The message for the log, under the request's ID, which the client does not get. It contains no
  /// values.
  package var reason: String?

  package init(
    _ message: String, locations: [SourceLocation] = [], path: [PathSegment]? = nil,
    rule: String? = nil, code: ErrorCode, reason: String? = nil
  ) {
    self.message = message
    self.locations = locations
    self.path = path
    self.rule = rule
    self.code = code
    self.reason = reason
  }

  /// Returns an internal error: the client gets a generic message, and the log the reason.
  package static func fault(
    _ reason: String, locations: [SourceLocation] = [], path: [PathSegment]? = nil
  ) -> GraphQLError {
    GraphQLError(
      "An unexpected error occurred.", locations: locations, path: path,
      code: .internalServerError, reason: reason)
  }

  /// Returns an error about a value that the field's type does not have: an execution error of the
  /// field, which is also logged.
  ///
  /// GraphQL September 2025, 6.4.3 Value Completion.
  package static func notRepresentable(_ message: String) -> GraphQLError {
    GraphQLError(message, path: [], code: .valueNotRepresentable, reason: message)
  }

  package init(_ error: SyntaxError) {
    let code: ErrorCode =
      switch error.cause {
      case .syntax: .parseFailed
      case .tooManyBytes: .documentTooLarge
      case .tooManyTokens: .tokenLimitExceeded
      case .nestedTooDeep: .nestingLimitExceeded
      }
    self.init(error.message, locations: [error.location], code: code)
  }

  /// Whether the error is logged: the client gets less than is known, or the request timed out.
  package var isFault: Bool { reason != nil || code == .internalServerError || code == .timeout }

  /// The full message, for operators only, never for clients.
  package var fullMessage: String { reason ?? message }
}

/// One step of a response path: a response name or an index from 0.
package enum PathSegment: Sendable, Hashable {
  case name(String)
  case index(Int)
}

extension [PathSegment] {
  /// The path as an expression: `.friends[0].name`.
  package var accessText: String {
    map {
      switch $0 {
      case .name(let name): ".\(name)"
      case .index(let index): "[\(index)]"
      }
    }.joined()
  }
}

/// Errors before execution: the response has no `data`.
package struct RequestErrors: Error, Sendable, Equatable {
  /// At least one error. The first one's code determines the status of the response.
  package let errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) { self.errors = errors }
  package init(_ error: GraphQLError) { errors = [error] }
}
