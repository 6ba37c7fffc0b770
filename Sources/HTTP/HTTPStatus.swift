/// A status code with its usual reason phrase (RFC 9110, 15).
package struct HTTPStatus: Sendable, Hashable {
  package let code: Int

  package init(_ code: Int) {
    precondition((100...599).contains(code), "A status code has three digits, from 100 to 599.")
    self.code = code
  }

  package static let switchingProtocols = HTTPStatus(101)
  package static let ok = HTTPStatus(200)
  package static let created = HTTPStatus(201)
  package static let accepted = HTTPStatus(202)
  package static let noContent = HTTPStatus(204)
  package static let partialContent = HTTPStatus(206)
  package static let notModified = HTTPStatus(304)
  package static let badRequest = HTTPStatus(400)
  package static let unauthorized = HTTPStatus(401)
  package static let forbidden = HTTPStatus(403)
  package static let notFound = HTTPStatus(404)
  package static let methodNotAllowed = HTTPStatus(405)
  package static let notAcceptable = HTTPStatus(406)
  package static let requestTimeout = HTTPStatus(408)
  package static let conflict = HTTPStatus(409)
  package static let payloadTooLarge = HTTPStatus(413)
  package static let uriTooLong = HTTPStatus(414)
  package static let unsupportedMediaType = HTTPStatus(415)
  package static let rangeNotSatisfiable = HTTPStatus(416)
  package static let expectationFailed = HTTPStatus(417)
  package static let unprocessableContent = HTTPStatus(422)
  package static let upgradeRequired = HTTPStatus(426)
  package static let tooManyRequests = HTTPStatus(429)
  package static let headersTooLarge = HTTPStatus(431)
  package static let internalServerError = HTTPStatus(500)
  package static let notImplemented = HTTPStatus(501)
  package static let serviceUnavailable = HTTPStatus(503)
  package static let gatewayTimeout = HTTPStatus(504)
  package static let versionNotSupported = HTTPStatus(505)

  /// Whether the status has neither a body nor a length: 1xx, 204 and 304.
  var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

  package var reason: StaticString {
    switch code {
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 294: "Partial Success"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}

/// A header field of a response.
package struct HTTPField: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
