/// The reason why a request was refused before a handler received it. Each closes its connection.
package enum HTTPRefusal: Error, Sendable, Equatable {
  case malformed(Malformation)
  case requestLineTooLong
  case headersTooLarge
  case bodyTooLarge
  case contentEncodingUnsupported
  case expectationUnknown
  case methodNotAllowed
  case versionUnsupported
  case timeout
  case tooManySockets
  case unanswered
  /// An upload without a credential.
  case unauthenticated
  case tooManyUploads
  /// The server has not started yet.
  case starting

  /// The reason why bytes are not a request, or two parsers could interpret it differently.
  package enum Malformation: Sendable, Equatable {
    case requestLine
    case controlCharacter
    case bareLineEnd
    case foldedHeader
    case headerName
    case syntax
    case contentLength
    case transferEncoding
    case lengthAndTransferEncoding
    case host
    case authorization
    case target
    case chunk
    case trailer
    /// What a proxy says of its client by the PROXY protocol.
    case preamble
  }

  package var status: HTTPStatus {
    switch self {
    case .malformed: .badRequest
    case .requestLineTooLong: .uriTooLong
    case .headersTooLarge: .headersTooLarge
    case .bodyTooLarge: .payloadTooLarge
    case .contentEncodingUnsupported: .unsupportedMediaType
    case .expectationUnknown: .expectationFailed
    case .methodNotAllowed: .methodNotAllowed
    case .versionUnsupported: .versionNotSupported
    case .timeout: .requestTimeout
    case .tooManySockets: .serviceUnavailable
    case .unanswered: .internalServerError
    case .unauthenticated: .unauthorized
    case .tooManyUploads, .starting: .serviceUnavailable
    }
  }

  var headers: [HTTPField] {
    switch self {
    case .methodNotAllowed: [HTTPField("Allow", "GET, HEAD, POST, QUERY, OPTIONS")]
    case .unauthenticated: [HTTPField("WWW-Authenticate", "Bearer")]
    case .tooManyUploads: [HTTPField("Retry-After", "1")]
    case .malformed, .requestLineTooLong, .headersTooLarge, .bodyTooLarge,
      .contentEncodingUnsupported, .expectationUnknown, .versionUnsupported, .timeout,
      .tooManySockets, .unanswered, .starting:
      []
    }
  }

  /// One sentence for the client.
  package var message: String {
    switch self {
    case .malformed(let malformation): malformation.message
    case .requestLineTooLong: "The request line is too long."
    case .headersTooLarge: "The request header is too large."
    case .bodyTooLarge: "The request body is too large."
    case .contentEncodingUnsupported: "Request bodies may not be compressed."
    case .expectationUnknown: "The expectation is not known; only 100-continue is."
    case .methodNotAllowed: "The method is not allowed."
    case .versionUnsupported: "The version of HTTP is not supported; use HTTP/1.1."
    case .timeout: "The request did not arrive in time."
    case .tooManySockets: "Too many connections; try again later."
    case .unanswered: "Internal server error."
    case .unauthenticated: "Sign in to upload: send a session's token as Authorization: Bearer."
    case .tooManyUploads: "Too many concurrent uploads; retry shortly."
    case .starting: "The server is starting; try again shortly."
    }
  }
}

extension HTTPRefusal.Malformation {
  package var message: String {
    switch self {
    case .requestLine: "The request line is malformed."
    case .controlCharacter: "The request header contains a control character."
    case .bareLineEnd: "The request header contains a line that does not end in CR LF."
    case .foldedHeader: "A header field continues on another line."
    case .headerName: "A header field's name is malformed."
    case .syntax: "The request header is malformed."
    case .contentLength: "The Content-Length is malformed or repeated."
    case .transferEncoding: "The Transfer-Encoding must be chunked, once, on HTTP/1.1."
    case .lengthAndTransferEncoding: "Content-Length and Transfer-Encoding exclude each other."
    case .host: "Exactly one valid Host is required."
    case .authorization: "Only one Authorization is allowed."
    case .target: "The request target is malformed."
    case .chunk: "A chunk of the request body is malformed."
    case .trailer: "The trailer of the request body is malformed."
    case .preamble: "The connection does not begin with a PROXY header."
    }
  }
}
