import GraphQLResponse
import HTTP

extension ErrorCode {
  /// The status of a response without data for this reason, to a request that was malformed or
  /// could not be served. `ResponseFormat` determines the status for invalid documents.
  package var status: HTTPStatus {
    switch self {
    case .badRequest, .parseFailed, .validationFailed, .badUserInput, .operationResolutionFailure,
      .documentTooLarge, .tokenLimitExceeded, .nestingLimitExceeded, .depthLimitExceeded,
      .aliasLimitExceeded, .rootFieldLimitExceeded, .directiveLimitExceeded,
      .selectionLimitExceeded, .introspectionDepthLimitExceeded, .mergeLimitExceeded,
      .validationErrorLimitExceeded, .costLimitExceeded, .liveUnsupported,
      .introspectionDisabled, .operationNotSafelisted, .tokenExpired:
      .badRequest
    // Apollo's clients look at the code only behind a 2xx, and then send the document's text.
    case .persistedQueryNotFound, .persistedQueryNotSupported: .ok
    case .unauthenticated: .unauthorized
    case .forbidden, .csrfPrevented, .originNotAllowed: .forbidden
    case .methodNotAllowed: .methodNotAllowed
    case .notAcceptable: .notAcceptable
    case .requestTimeout: .requestTimeout
    case .payloadTooLarge: .payloadTooLarge
    case .uriTooLong: .uriTooLong
    case .unsupportedMediaType: .unsupportedMediaType
    case .headersTooLarge: .headersTooLarge
    case .idempotencyInProgress: .conflict
    case .idempotencyKeyReused, .pictureUnreadable, .tooManyPixels: .unprocessableContent
    case .rateLimited: .tooManyRequests
    case .internalServerError: .internalServerError
    case .notImplemented: .notImplemented
    case .serviceOverloaded, .databaseUnavailable, .shuttingDown, .outcomeUnknown:
      .serviceUnavailable
    case .timeout: .gatewayTimeout
    case .conflict, .notFound, .lockTimeout, .rolledBack, .refused, .resultLimitExceeded,
      .valueNotRepresentable:
      .ok
    }
  }

  /// Whether a well-formed request has a document, an operation or variables that cannot be
  /// executed: the failures over whose status the two HTTP profiles differ.
  package var isDocumentFailure: Bool {
    switch self {
    case .parseFailed, .validationFailed, .badUserInput, .operationResolutionFailure,
      .documentTooLarge, .tokenLimitExceeded, .nestingLimitExceeded, .depthLimitExceeded,
      .aliasLimitExceeded, .rootFieldLimitExceeded, .directiveLimitExceeded,
      .selectionLimitExceeded, .introspectionDepthLimitExceeded, .mergeLimitExceeded,
      .validationErrorLimitExceeded, .costLimitExceeded, .liveUnsupported,
      .introspectionDisabled, .tokenExpired:
      true
    default: false
    }
  }

  /// Creates the code for a refusal by HTTP.
  package init(_ refusal: HTTPRefusal) {
    self =
      switch refusal {
      case .malformed, .expectationUnknown, .versionUnsupported: .badRequest
      case .requestLineTooLong: .uriTooLong
      case .headersTooLarge: .headersTooLarge
      case .bodyTooLarge: .payloadTooLarge
      case .contentEncodingUnsupported: .unsupportedMediaType
      case .methodNotAllowed: .methodNotAllowed
      case .timeout: .requestTimeout
      case .tooManySockets, .tooManyUploads: .serviceOverloaded
      case .unauthenticated: .unauthenticated
      case .unanswered: .internalServerError
      case .starting: .databaseUnavailable
      }
  }
}
