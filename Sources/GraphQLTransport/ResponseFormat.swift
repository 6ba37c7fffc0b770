import GraphQLResponse
import HTTP
import JSON

/// How the answer to one request is dressed: media type, status codes, headers.
package struct ResponseFormat: Sendable {
  package enum MediaType: Sendable {
    /// `application/graphql-response+json`: the status says what became of the request.
    case graphQLResponse
    /// `application/json`: older clients, who expect 200 for all that is a GraphQL response.
    case json

    package var contentType: String {
      switch self {
      case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
      case .json: "application/json; charset=utf-8"
      }
    }
  }

  /// Which edition of GraphQL over HTTP decides about status codes.
  package enum Profile: String, Sendable, CaseIterable {
    /// That of the graphql-http audit suite, which clients and peers are measured by.
    case audit
    /// The working draft since April 2026: 422 for malformed parameters and faulty documents,
    /// 294 for partial data.
    case draft
  }

  package var mediaType: MediaType
  package var profile: Profile
  /// CORS and caching; to be sent with whatever the answer is.
  package var headers: [HTTPField]
  /// How a subscription is answered, where the client takes any such.
  package var stream: StreamFormat?
  /// How parts of a query's answer are sent that come later, where the client takes them.
  package var parts: StreamFormat?
  /// Nothing but a stream is accepted.
  package var isStreamOnly = false

  package init(mediaType: MediaType, profile: Profile = .audit, headers: [HTTPField] = []) {
    self.mediaType = mediaType
    self.profile = profile
    self.headers = headers
  }

  package var contentType: String { mediaType.contentType }

  /// The status of an executed operation: it has a `data` entry.
  package func status(executedWithErrors hasErrors: Bool) -> HTTPStatus {
    hasErrors && profile == .draft ? HTTPStatus(294) : .ok
  }

  /// The status of an answer without data, by its first error's code.
  package func status(notExecuted code: ErrorCode) -> HTTPStatus {
    guard code.isDocumentFailure else { return code.status }
    return switch (profile, mediaType) {
    case (.audit, .json): .ok
    case (.audit, .graphQLResponse): .badRequest
    case (.draft, _): code == .parseFailed ? .badRequest : .unprocessableContent
    }
  }

  /// The answer to a request that was not executed.
  ///
  /// - Parameters:
  ///   - errors: the first one's code decides about the status.
  ///   - retryAfter: seconds; 1 where the code promises a `Retry-After` and none is given.
  package func answer(
    _ errors: [GraphQLError], requestID: String, retryAfter: Int? = nil
  ) -> GraphQLAnswer {
    let code = errors.first?.code ?? .internalServerError
    return GraphQLAnswer(
      status: status(notExecuted: code), contentType: contentType,
      headers: headers + Self.headers(for: code, retryAfter: retryAfter),
      body: JSONWriter.response(errors, requestID: requestID))
  }

  /// The answer to a request that is refused for what it is on HTTP.
  package func answer(_ error: TransportError, requestID: String) -> GraphQLAnswer {
    var headers = headers
    switch error {
    case .methodNotAllowed: headers.append(HTTPField("Allow", "GET, HEAD, POST, OPTIONS"))
    case .persistedQueryNotFound, .persistedQueryNotSupported:
      // Only for this moment; the client tries again with the document.
      headers.append(HTTPField("Cache-Control", "private, no-cache, must-revalidate"))
    default: break
    }
    return GraphQLAnswer(
      status: error.status(profile), contentType: contentType, headers: headers,
      body: JSONWriter.response([error.graphQLError], requestID: requestID))
  }

  private static func headers(for code: ErrorCode, retryAfter: Int?) -> [HTTPField] {
    switch code {
    case .unauthenticated: [HTTPField("WWW-Authenticate", "Bearer")]
    // Of an operation that is no query.
    case .methodNotAllowed: [HTTPField("Allow", "POST")]
    case .rateLimited, .serviceOverloaded, .databaseUnavailable, .shuttingDown, .outcomeUnknown:
      [HTTPField("Retry-After", String(retryAfter ?? 1))]
    default: retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? []
    }
  }
}

/// A finished answer.
package struct GraphQLAnswer: Sendable, Equatable {
  package var status: HTTPStatus
  package var contentType: String?
  package var headers: [HTTPField]
  package var body: [UInt8]

  package init(
    status: HTTPStatus, contentType: String? = nil, headers: [HTTPField] = [], body: [UInt8] = []
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }

  package func send(to exchange: HTTPExchange) {
    if let contentType {
      exchange.respond(status, contentType: contentType, headers: headers, body: body)
    } else {
      exchange.respond(status, headers: headers)
    }
  }
}
