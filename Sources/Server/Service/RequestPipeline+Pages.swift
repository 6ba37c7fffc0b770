import Accounts
import GraphQLTransport
import HTTP

/// What is no operation: the page, the schema's text, and how the server is.
extension RequestPipeline {
  /// The database answers, nobody has said otherwise, and the server is not about to end.
  var isReady: Bool { pool.isAvailable && !isDraining && shared.readiness.isGiven }

  func page(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    switch request.path {
    case "/live": text("live", .ok, exchange)
    case "/ready":
      text(
        isReady ? "ready" : isDraining ? "stopping" : "not ready",
        isReady ? .ok : .serviceUnavailable, exchange)
    case StaticPages.schemaText where shared.introspection == .signedIn:
      schemaText(request, exchange)
    case let path: shared.pages.respond(path, request, exchange)
    }
  }

  private func schemaText(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let refuse = { [self] in
      text(
        "The schema is for those who are signed in.", .unauthorized, exchange,
        headers: [HTTPField("WWW-Authenticate", "Bearer")])
    }
    guard let authorization = request.headerBytes("authorization"),
      let token = SessionToken(authorization: authorization)
    else { return refuse() }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer: shared.pages.respond(StaticPages.schemaText, request, exchange)
      case .unknown: refuse()
      case .failed: text("The database cannot be reached.", .serviceUnavailable, exchange)
      }
    }
  }

  func text(
    _ text: String, _ status: HTTPStatus, _ exchange: HTTPExchange, headers: [HTTPField] = []
  ) {
    exchange.respond(
      status, contentType: "text/plain; charset=utf-8", headers: headers,
      body: Array("\(text)\n".utf8))
  }
}
