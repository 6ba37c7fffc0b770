import HTTP

/// The web pages that may use the server: CORS, and the defense against forged requests if a cookie
/// authenticates the user.
package struct CrossOriginPolicy: Sendable {
  /// The origins exactly as browsers send them: `https://app.example`. Empty by default; `null`
  /// never matches.
  package var allowedOrigins: Set<String> = []
  /// Whether those pages may send cookies.
  package var allowsCredentials = false
  /// The cookie that authenticates; nil if only `Authorization` does, which no page of another site
  /// can make a browser send.
  package var sessionCookie: String?

  /// The names by which the server is reached; nil serves any.
  package var hosts: ServedHosts?
  /// Whether pages of this machine's own servers may use it, at any port: for a demo.
  package var allowsLocalhost = false

  package init(
    allowedOrigins: Set<String> = [], allowsCredentials: Bool = false, sessionCookie: String? = nil
  ) {
    self.allowedOrigins = allowedOrigins
    self.allowsCredentials = allowsCredentials
    self.sessionCookie = sessionCookie
  }

  func allows(_ origin: String) -> Bool {
    origin != "null" && allowedOrigins.contains(origin)
      || allowsLocalhost && Self.isLocalhost(origin)
  }

  private static func isLocalhost(_ origin: String) -> Bool {
    ["http://localhost", "http://127.0.0.1", "http://[::1]"].contains { server in
      guard origin.hasPrefix(server) else { return false }
      let port = origin.dropFirst(server.count)
      return port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil
    }
  }

  /// Returns why the request is not served by the name that it has.
  ///
  /// - Parameter isTool: whether it is for the tools, which programs of this machine call.
  package func refusal(of request: HTTPRequest, isTool: Bool) -> String? {
    guard let hosts, hosts.isOnLoopback || isTool, let name = hosts.strangeName(of: request)
    else { return nil }
    return "The server is not known as \(name); name it by --public-url or --allow-origin."
  }

  /// Returns the headers of a response to this request. Pages that are not listed get none.
  package func headers(for request: HTTPRequest) -> [HTTPField] {
    guard !allowedOrigins.isEmpty || allowsLocalhost else { return [] }
    let vary = HTTPField("Vary", "Origin")
    guard let origin = request.header("origin"), allows(origin) else { return [vary] }
    var headers = [
      vary, HTTPField("Access-Control-Allow-Origin", origin),
      HTTPField(
        "Access-Control-Expose-Headers",
        "X-Request-Id, Retry-After, Idempotency-Replayed, ETag, Server-Timing, Sociograph-Position, "
          + "WWW-Authenticate"),
    ]
    if allowsCredentials { headers.append(HTTPField("Access-Control-Allow-Credentials", "true")) }
    return headers
  }

  /// Returns the response to OPTIONS: permission for a listed page, 403 for another, and the
  /// allowed methods for clients that send no origin.
  package func preflight(_ request: HTTPRequest, path methods: String) throws(TransportError)
    -> GraphQLAnswer
  {
    guard let origin = request.header("origin"), request.hasHeader("access-control-request-method")
    else {
      return GraphQLAnswer(status: .noContent, headers: [HTTPField("Allow", methods)])
    }
    guard allows(origin) else { throw .originNotAllowed }
    var headers = self.headers(for: request)
    headers.append(HTTPField("Access-Control-Allow-Methods", "GET, POST, QUERY"))
    if let wanted = request.header("access-control-request-headers"), Self.isNameList(wanted) {
      headers.append(HTTPField("Access-Control-Allow-Headers", wanted))
    }
    headers.append(HTTPField("Access-Control-Max-Age", "600"))
    return GraphQLAnswer(status: .noContent, headers: headers)
  }

  private static func isNameList(_ text: String) -> Bool {
    text.utf8.count <= 1024
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: ","), UInt8(ascii: " "):
          true
        default: false
        }
      }
  }

  /// Refuses requests that a page of another site could have made the user's browser send with the
  /// cookie.
  func checkForgery(_ request: HTTPRequest, isTrustedDocument: Bool) throws(TransportError) {
    guard let sessionCookie, Self.hasCookie(sessionCookie, request) else { return }
    if let site = request.header("sec-fetch-site") {
      guard site == "same-origin" || site == "none" || isFromAllowedOrigin(request) else {
        throw .csrf
      }
    } else if let origin = request.header("origin") {
      guard allows(origin) || Self.isOwn(origin, request) else { throw .csrf }
    }
    // A body of application/json cannot be sent across sites without asking first; a GET can.
    guard request.method == .get || request.method == .head else { return }
    guard isTrustedDocument || Self.hasPreflightHeader(request) else { throw .csrf }
  }

  /// Returns whether the request may open a WebSocket, or call a tool. Browsers do not ask before they open one to
  /// another site.
  package func admitsSocket(of request: HTTPRequest) -> Bool {
    guard let origin = request.header("origin") else { return true }
    return allows(origin) || Self.isOwn(origin, request)
  }

  private func isFromAllowedOrigin(_ request: HTTPRequest) -> Bool {
    request.header("origin").map(allows) ?? false
  }

  private static func isOwn(_ origin: String, _ request: HTTPRequest) -> Bool {
    guard let host = request.header("host") else { return false }
    return origin == "https://\(host)" || (!request.isSecure && origin == "http://\(host)")
  }

  private static func hasPreflightHeader(_ request: HTTPRequest) -> Bool {
    request.headerBytes("graphql-require-preflight").map { !$0.isEmpty } ?? false
      || request.headerBytes("apollo-require-preflight").map { !$0.isEmpty } ?? false
      || request.headerBytes("x-apollo-operation-name").map { !$0.isEmpty } ?? false
  }

  private static func hasCookie(_ name: String, _ request: HTTPRequest) -> Bool {
    guard let cookies = request.headerList("cookie") else { return false }
    return cookies.split(whereSeparator: { $0 == ";" || $0 == "," }).contains { cookie in
      cookie.drop { $0 == " " }.hasPrefix("\(name)=")
    }
  }
}
