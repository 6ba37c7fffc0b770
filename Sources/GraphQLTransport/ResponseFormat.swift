import GraphQLResponse
import HTTP
import JSON

/// The HTTP form of the response to one request: media type, status codes, headers.
package struct ResponseFormat: Sendable {
  package enum MediaType: Sendable, Equatable {
    /// `application/graphql-response+json`: the status describes the outcome.
    case graphQLResponse
    /// `application/json`: for older clients, which expect 200 for every GraphQL response.
    case json
    /// JSON Lines, of which this is the only one: for clients that accept nothing else.
    case lines(JSONLines)

    package var contentType: String {
      switch self {
      case .lines(let lines): lines.contentType
      case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
      case .json: "application/json; charset=utf-8"
      }
    }
  }

  /// The edition of GraphQL over HTTP that determines status codes.
  package enum Profile: String, Sendable, CaseIterable {
    /// The draft of 2023, which the graphql-http audit suite checks.
    case audit
    /// The edition of September 2026: 422 for malformed parameters and faulty documents, 294 for
    /// partial data.
    case edition2026 = "2026"
  }

  /// The profiles of all clients.
  package enum ProfileChoice: String, Sendable, CaseIterable {
    /// The edition for clients that take its media type, and the audit suite's draft for others.
    case auto
    case audit
    case edition2026 = "2026"

    package func profile(for mediaType: MediaType) -> Profile {
      switch (self, mediaType) {
      case (.audit, _), (.auto, .json), (.auto, .lines): .audit
      case (.edition2026, _), (.auto, .graphQLResponse): .edition2026
      }
    }
  }

  package var mediaType: MediaType
  package var profile: Profile
  /// Headers for CORS and caching, which every response has.
  package var headers: [HTTPField]
  /// The format of responses to a subscription; nil if the client accepts none.
  package var stream: StreamFormat?
  /// The format of incremental delivery; nil if the client accepts none.
  package var parts: StreamFormat?
  /// Whether the client accepts only a stream.
  package var isStreamOnly = false
  /// The name of JSON Lines that the client accepts for several responses; nil if it accepts none.
  package var lines: JSONLines?
  /// The form of the responses to several sets of variables; nil of any other request.
  package var sets: VariableSetsForm?

  package init(mediaType: MediaType, profile: Profile = .audit, headers: [HTTPField] = []) {
    self.mediaType = mediaType
    self.profile = profile
    self.headers = headers
  }

  package var contentType: String { mediaType.contentType }

  /// The status of an executed operation: it has a `data` entry.
  package func status(executedWithErrors hasErrors: Bool) -> HTTPStatus {
    hasErrors && profile == .edition2026 ? HTTPStatus(294) : .ok
  }

  /// Returns the status of a response without data, by its first error's code.
  package func status(notExecuted code: ErrorCode) -> HTTPStatus {
    guard code.isDocumentFailure else { return code.status }
    return switch (profile, mediaType) {
    case (.audit, .json), (.audit, .lines): .ok
    case (.audit, .graphQLResponse): .badRequest
    case (.edition2026, _): code == .parseFailed ? .badRequest : .unprocessableContent
    }
  }

  /// Returns the response to a request that was not executed.
  ///
  /// - Parameters:
  ///   - errors: at least one; the first one's code determines the status.
  ///   - retryAfter: seconds; 1 if the code promises a `Retry-After` and none is given.
  package func answer(
    _ errors: [GraphQLError], requestID: String, retryAfter: Int? = nil
  ) -> GraphQLAnswer {
    let code = errors.first?.code ?? .internalServerError
    let status = status(notExecuted: code)
    return GraphQLAnswer(
      status: status, contentType: contentType(refusedWith: status),
      headers: headers + Self.headers(for: code, retryAfter: retryAfter),
      body: JSONWriter.response(errors, requestID: requestID))
  }

  /// Returns the response to a request that is refused by its HTTP properties.
  package func answer(_ error: TransportError, requestID: String) -> GraphQLAnswer {
    var headers = headers
    switch error {
    case .methodNotAllowed:
      headers += [HTTPField("Allow", GraphQLEndpoint.methods), GraphQLEndpoint.acceptQuery]
    case .persistedQueryNotFound, .persistedQueryNotSupported:
      // Only for this moment; the client tries again with the document.
      headers.append(HTTPField("Cache-Control", "private, no-cache, must-revalidate"))
    default: break
    }
    let status = error.status(profile)
    return GraphQLAnswer(
      status: status, contentType: contentType(refusedWith: status), headers: headers,
      body: JSONWriter.response([error.graphQLError], requestID: requestID))
  }

  /// Returns the type of a response without data. In the edition, one that is no 2xx says even to a
  /// client that takes plain JSON only that it is GraphQL's.
  private func contentType(refusedWith status: HTTPStatus) -> String {
    profile == .edition2026 && !(200..<300).contains(status.code)
      ? MediaType.graphQLResponse.contentType : contentType
  }

  private static func headers(for code: ErrorCode, retryAfter: Int?) -> [HTTPField] {
    switch code {
    case .unauthenticated: [HTTPField("WWW-Authenticate", "Bearer")]
    // For an operation that is not a query.
    case .methodNotAllowed: [HTTPField("Allow", "POST")]
    case .rateLimited, .serviceOverloaded, .databaseUnavailable, .shuttingDown, .outcomeUnknown:
      [HTTPField("Retry-After", String(retryAfter ?? 1))]
    default: retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? []
    }
  }
}

/// A finished response.
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
