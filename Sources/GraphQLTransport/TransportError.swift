import GraphQLResponse
import HTTP
import JSON

/// The reason why an HTTP request is not a GraphQL request that can be executed.
package enum TransportError: Error, Sendable, Equatable {
  case methodNotAllowed
  case notAcceptable
  case contentType
  case charset
  case emptyBody
  /// A malformed `multipart/form-data`, with the reason.
  case form(String)
  /// Invalid JSON in the body, or in the parameter of a URL.
  case json(JSONError, parameter: String?)
  case notAnObject
  case parameter(String, expected: String)
  case repeatedParameter(String)
  case urlEncoding
  case missingQuery
  case documentTooLarge(maximumBytes: Int)
  case variablesTooLarge(maximumBytes: Int)
  case batchingDisabled
  case batchTooLarge(maximum: Int)
  case tooManyVariableSets(maximum: Int)
  case emptyBatch
  case batchNesting
  case idempotencyKeyMalformed
  case idempotencyKeyOfBatch
  case csrf
  case originNotAllowed
  case persistedQueryNotFound
  case persistedQueryNotSupported
  case persistedQueryMalformed
  case persistedQueryHashMismatch
  case documentIDUnknown
  case operationNotSafelisted
  case documentTextNotAllowed

  package var code: ErrorCode {
    switch self {
    case .methodNotAllowed: .methodNotAllowed
    case .notAcceptable: .notAcceptable
    case .contentType, .charset: .unsupportedMediaType
    case .json(let error, _):
      if case .nestedDeeperThan = error.reason { .nestingLimitExceeded } else { .badRequest }
    case .emptyBody, .form, .notAnObject, .parameter, .repeatedParameter, .urlEncoding,
      .missingQuery,
      .batchingDisabled, .batchTooLarge, .tooManyVariableSets, .emptyBatch, .batchNesting,
      .persistedQueryMalformed,
      .persistedQueryHashMismatch, .idempotencyKeyMalformed, .idempotencyKeyOfBatch:
      .badRequest
    case .documentTooLarge: .documentTooLarge
    case .variablesTooLarge: .badUserInput
    case .csrf: .csrfPrevented
    case .originNotAllowed: .originNotAllowed
    case .persistedQueryNotFound: .persistedQueryNotFound
    case .persistedQueryNotSupported: .persistedQueryNotSupported
    case .documentIDUnknown: .persistedQueryNotFound
    case .operationNotSafelisted, .documentTextNotAllowed: .operationNotSafelisted
    }
  }

  package func status(_ profile: ResponseFormat.Profile) -> HTTPStatus {
    if profile == .edition2026, isUnprocessable { return .unprocessableContent }
    // Only the handshake of automatic persisted queries counted on a 2xx.
    return self == .documentIDUnknown ? .badRequest : code.status
  }

  /// Whether parameters have wrong types, or a required one is missing: on a WebSocket such a
  /// message closes the socket.
  package var isMalformedMessage: Bool {
    switch self {
    case .parameter, .missingQuery: true
    default: false
    }
  }

  /// Whether the request could be read but has no valid GraphQL parameters: the edition of 2026
  /// distinguishes these (422) from requests that cannot be read (400). Nor has a response without
  /// data a status 2xx there, such as that of a hash which is not known yet.
  private var isUnprocessable: Bool {
    switch self {
    case .notAnObject, .parameter, .missingQuery, .emptyBatch, .batchNesting, .batchingDisabled,
      .batchTooLarge, .tooManyVariableSets, .persistedQueryNotFound, .persistedQueryNotSupported,
      .documentIDUnknown, .persistedQueryMalformed, .persistedQueryHashMismatch,
      .variablesTooLarge:
      true
    case .methodNotAllowed, .notAcceptable, .contentType, .charset, .emptyBody, .form, .json,
      .repeatedParameter, .urlEncoding, .documentTooLarge, .idempotencyKeyMalformed,
      .idempotencyKeyOfBatch, .csrf, .originNotAllowed, .operationNotSafelisted,
      .documentTextNotAllowed:
      false
    }
  }

  package var message: String {
    switch self {
    case .methodNotAllowed: "Use POST, or GET or QUERY for queries."
    case .notAcceptable:
      "Accept must allow application/graphql-response+json or application/json."
    case .contentType: "The Content-Type must be application/json."
    case .charset: "The charset must be utf-8."
    case .emptyBody: "The request has no body; expected a JSON object with \"query\"."
    case .form(let reason): "The form with files cannot be read: \(reason)."
    case .json(let error, nil): error.description
    case .json(let error, let parameter?): "The parameter \"\(parameter)\": \(error)"
    case .notAnObject: "The request body must be a JSON object."
    case .parameter(let name, let expected): "The parameter \"\(name)\" must be \(expected)."
    case .repeatedParameter(let name): "The parameter \"\(name)\" is given twice."
    case .urlEncoding: "The URL's query is not well encoded."
    case .missingQuery: "The parameter \"query\" is missing."
    case .documentTooLarge(let maximum): "The document is larger than \(maximum) bytes."
    case .variablesTooLarge(let maximum): "The variables are larger than \(maximum) bytes."
    case .batchingDisabled: "Several requests in one body are not allowed here."
    case .batchTooLarge(let maximum): "At most \(maximum) requests may be in one body."
    case .tooManyVariableSets(let maximum):
      "At most \(maximum) sets of variables may be in one request."
    case .emptyBatch: "The list of requests is empty."
    case .batchNesting: "Each entry of the list must be a JSON object."
    case .idempotencyKeyMalformed:
      "The Idempotency-Key must be 1 to 255 printable ASCII characters, given once."
    case .idempotencyKeyOfBatch: "An Idempotency-Key must belong to one request, not to a list."
    case .csrf:
      "The request could come from another site; send a GraphQL-Require-Preflight header."
    case .originNotAllowed:
      "Pages of this origin may not use the server; --allow-origin lists those that may."
    // Apollo's clients compare these two texts.
    case .persistedQueryNotFound: "PersistedQueryNotFound"
    case .persistedQueryNotSupported: "PersistedQueryNotSupported"
    case .persistedQueryMalformed:
      "\"extensions.persistedQuery\" must have version 1 and a sha256Hash."
    case .persistedQueryHashMismatch: "The sha256Hash is not that of the query."
    case .documentIDUnknown: "No document is known by this id."
    case .operationNotSafelisted: "Only published documents may be sent."
    case .documentTextNotAllowed: "Documents must be named by their id."
    }
  }

  package var graphQLError: GraphQLError { GraphQLError(message, code: code) }

  /// Parses JSON, and converts its error.
  static func parse(
    _ bytes: [UInt8], parameter: String? = nil, maximumNesting: Int
  ) throws(TransportError) -> JSONValue {
    do throws(JSONError) {
      return try JSONParser.parse(bytes, maximumNesting: maximumNesting)
    } catch {
      throw .json(error, parameter: parameter)
    }
  }
}
