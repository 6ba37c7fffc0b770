/// Every `extensions.code` that a client may see.
///
/// The list is closed and documented; a code never changes its meaning.
package enum ErrorCode: String, Sendable, CaseIterable {
  // Refused before execution.
  case badRequest = "BAD_REQUEST"
  case parseFailed = "GRAPHQL_PARSE_FAILED"
  case validationFailed = "GRAPHQL_VALIDATION_FAILED"
  case badUserInput = "BAD_USER_INPUT"
  case operationResolutionFailure = "OPERATION_RESOLUTION_FAILURE"
  case documentTooLarge = "DOCUMENT_TOO_LARGE"
  case tokenLimitExceeded = "TOKEN_LIMIT_EXCEEDED"
  case nestingLimitExceeded = "NESTING_LIMIT_EXCEEDED"
  case depthLimitExceeded = "DEPTH_LIMIT_EXCEEDED"
  case aliasLimitExceeded = "ALIAS_LIMIT_EXCEEDED"
  case rootFieldLimitExceeded = "ROOT_FIELD_LIMIT_EXCEEDED"
  case directiveLimitExceeded = "DIRECTIVE_LIMIT_EXCEEDED"
  case selectionLimitExceeded = "SELECTION_LIMIT_EXCEEDED"
  case introspectionDepthLimitExceeded = "INTROSPECTION_DEPTH_LIMIT_EXCEEDED"
  case mergeLimitExceeded = "MERGE_LIMIT_EXCEEDED"
  case validationErrorLimitExceeded = "VALIDATION_ERROR_LIMIT_EXCEEDED"
  case costLimitExceeded = "COST_LIMIT_EXCEEDED"
  /// A live query depends on something whose changes are not tracked.
  case liveUnsupported = "LIVE_UNSUPPORTED"
  case introspectionDisabled = "INTROSPECTION_DISABLED"
  case operationNotSafelisted = "OPERATION_NOT_SAFELISTED"
  /// The token of `changes(since:)` has expired; start from scratch.
  case tokenExpired = "TOKEN_EXPIRED"
  case persistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
  case persistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED"
  // Who asks, and from where.
  case unauthenticated = "UNAUTHENTICATED"
  case forbidden = "FORBIDDEN"
  case csrfPrevented = "CSRF_PREVENTED"
  case originNotAllowed = "ORIGIN_NOT_ALLOWED"
  // HTTP.
  case methodNotAllowed = "METHOD_NOT_ALLOWED"
  case notAcceptable = "NOT_ACCEPTABLE"
  case requestTimeout = "REQUEST_TIMEOUT"
  case payloadTooLarge = "PAYLOAD_TOO_LARGE"
  case uriTooLong = "URI_TOO_LONG"
  case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
  case headersTooLarge = "HEADERS_TOO_LARGE"
  // Uploads.
  case pictureUnreadable = "PICTURE_UNREADABLE"
  case tooManyPixels = "TOO_MANY_PIXELS"
  // Idempotency keys.
  case idempotencyInProgress = "IDEMPOTENCY_IN_PROGRESS"
  case idempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED"
  // The server.
  case rateLimited = "RATE_LIMITED"
  case internalServerError = "INTERNAL_SERVER_ERROR"
  case notImplemented = "NOT_IMPLEMENTED"
  case serviceOverloaded = "SERVICE_OVERLOADED"
  case databaseUnavailable = "DATABASE_UNAVAILABLE"
  case shuttingDown = "SHUTTING_DOWN"
  case outcomeUnknown = "OUTCOME_UNKNOWN"
  case timeout = "TIMEOUT"
  // During execution: of one field, beside data.
  case conflict = "CONFLICT"
  case notFound = "NOT_FOUND"
  case lockTimeout = "LOCK_TIMEOUT"
  case resultLimitExceeded = "RESULT_LIMIT_EXCEEDED"
  /// The stored value is not a value of the field's type.
  case valueNotRepresentable = "VALUE_NOT_REPRESENTABLE"
}
