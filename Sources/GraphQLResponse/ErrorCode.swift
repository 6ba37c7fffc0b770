/// An `extensions.code` that a client may receive.
///
/// The list is closed, and docs/reference/errors.md is generated from it. A code never gets a second meaning.
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
  case liveUnsupported = "LIVE_UNSUPPORTED"
  case introspectionDisabled = "INTROSPECTION_DISABLED"
  case operationNotSafelisted = "OPERATION_NOT_SAFELISTED"
  case tokenExpired = "TOKEN_EXPIRED"
  case persistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
  case persistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED"
  // The client and its origin.
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
  // Errors of one field during execution, in addition to data.
  case conflict = "CONFLICT"
  case notFound = "NOT_FOUND"
  case lockTimeout = "LOCK_TIMEOUT"
  case rolledBack = "ROLLED_BACK"
  case refused = "REFUSED"
  case resultLimitExceeded = "RESULT_LIMIT_EXCEEDED"
  case valueNotRepresentable = "VALUE_NOT_REPRESENTABLE"

  /// The cause and, where there is one, the remedy, as docs/reference/errors.md has it.
  package var summary: String {
    switch self {
    case .badRequest: "The request is not valid GraphQL over HTTP, or its headers contradict it."
    case .parseFailed: "The document has a syntax error."
    case .validationFailed: "The document is not valid against the schema."
    case .badUserInput:
      "A variable or an argument, which the message names, has a value that is not valid. "
        + "For one field, the error has its path and `data` is present."
    case .operationResolutionFailure:
      "The document has no operation to execute, or none of the name that was given."
    case .documentTooLarge: "The document is larger than `--maximum-document-bytes`."
    case .tokenLimitExceeded: "The document has more tokens than `--maximum-tokens`."
    case .nestingLimitExceeded:
      "Selections, lists, objects or types are nested more than 64 deep, in the document "
        + "or in JSON."
    case .depthLimitExceeded: "Fields are nested deeper than `--maximum-depth`."
    case .aliasLimitExceeded: "The document has more aliases than `--maximum-aliases`."
    case .rootFieldLimitExceeded:
      "The operation has more root fields than `--maximum-root-fields`."
    case .directiveLimitExceeded:
      "More than 5 directives are at one place, or more than 50 in the document."
    case .selectionLimitExceeded:
      "The operation has more selections than `--maximum-selections`, with fragments "
        + "expanded."
    case .introspectionDepthLimitExceeded: "Lists of the schema's fields are nested three deep."
    case .mergeLimitExceeded:
      "The validator needs more than 10,000 comparisons to decide whether fields can be "
        + "merged."
    case .validationErrorLimitExceeded:
      "The document has more than 20 errors; this is the last one reported."
    case .costLimitExceeded:
      "The operation exceeds `--maximum-elements`, `--maximum-cost` or "
        + "`--maximum-response-bytes`."
    case .liveUnsupported:
      "A live query selects a field, which the message names, whose changes are not "
        + "tracked."
    case .introspectionDisabled: "The viewer may not read the schema (`--introspection`)."
    case .operationNotSafelisted: "Only published documents may be sent (`--trusted-level`)."
    case .tokenExpired:
      "The sync token of `changes(since:)` is older than the log, or from an earlier "
        + "version; start again without it. Also, a `Last-Event-ID` can no longer be resumed."
    case .persistedQueryNotFound:
      "The hash or the `documentId` is unknown; send a hash once together with the document."
    case .persistedQueryNotSupported:
      "Persisted queries are disabled (`--persisted-queries`); send the document."
    case .unauthenticated: "The token is malformed, unknown or expired."
    case .forbidden:
      "The object is public, but the viewer may not change it; or the client's role lacks a privilege "
        + "(`--roles`)."
    case .refused:
      "A function or trigger of the database refused the mutation, with the message (`RAISE EXCEPTION`)."
    case .rolledBack:
      "Nothing was written, because another field of a mutation with `@transaction` failed or was refused."
    case .csrfPrevented:
      "The request could come from a page of another site; send the header "
        + "`GraphQL-Require-Preflight`."
    case .originNotAllowed: "The page's origin is not in `--allow-origin`."
    case .methodNotAllowed: "The method is not in `Allow`, or a mutation was sent by GET or QUERY."
    case .notAcceptable: "The server cannot send any type that `Accept` allows."
    case .requestTimeout: "The request took longer than `--header-timeout` or `--body-timeout`."
    case .payloadTooLarge:
      "The body is larger than `--maximum-body-bytes`, or an upload than "
        + "`--maximum-photo-bytes`."
    case .uriTooLong: "The request line is longer than 8 KiB."
    case .unsupportedMediaType: "The body is not `application/json` in UTF-8, or it is encoded."
    case .headersTooLarge:
      "The header is larger than `--maximum-header-bytes`, or has more than 100 fields."
    case .pictureUnreadable:
      "The upload is damaged or incomplete, or decoding it took too many resources."
    case .tooManyPixels: "The upload declares more pixels than `--maximum-photo-pixels`."
    case .idempotencyInProgress: "Another request with the same `Idempotency-Key` is in progress."
    case .idempotencyKeyReused:
      "The `Idempotency-Key` was used with another operation or other variables."
    case .rateLimited:
      "The balance of rate-limit points is too low, or there were too many wrong "
        + "passwords; wait for `Retry-After` seconds."
    case .internalServerError: "The server failed; the log has the reason under the `requestId`."
    case .notImplemented:
      "This server does not provide the field, for instance because it has no subscriptions."
    case .serviceOverloaded:
      "A queue is full, a connection was not free within `--queue-timeout`, or a limit on "
        + "connections or buffered bytes is reached; wait for `Retry-After` seconds."
    case .databaseUnavailable: "PostgreSQL cannot be reached; wait for `Retry-After` seconds."
    case .shuttingDown: "The server is shutting down; wait for `Retry-After` seconds."
    case .outcomeUnknown:
      "The connection broke while the mutation committed; send it again with the same "
        + "`Idempotency-Key`."
    case .timeout:
      "The operation took longer than `--operation-timeout`, `--statement-timeout` or "
        + "`--mutation-timeout`."
    case .conflict: "The mutation conflicted with a concurrent one; retry it."
    case .notFound: "The object does not exist."
    case .lockTimeout: "The rows to change were locked by other mutations for too long; retry it."
    case .resultLimitExceeded:
      "The mutation is committed, but its response exceeds `--maximum-response-bytes`; or "
        + "a list without pages is longer than `--maximum-elements`."
    case .valueNotRepresentable:
      "The stored value is not a value of the field's type: NaN, an infinite number, a year outside "
        + "0 to 9999, an `Int` of more than 32 bits, an array of several dimensions."
    }
  }
}
