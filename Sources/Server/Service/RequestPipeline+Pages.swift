import Accounts
import GraphQLTransport
import HTTP

/// The pages that are not operations: the schema's text and the health checks.
extension RequestPipeline {
  /// Whether the database responds, no additional check fails, and the server is not draining.
  var isReady: Bool { pool.isAvailable && !isDraining && shared.readiness.isGiven }

  func readiness(_ exchange: HTTPExchange) {
    text(
      isReady ? "ready" : isDraining ? "stopping" : "not ready",
      isReady ? .ok : .serviceUnavailable, exchange)
  }

  func schemaText(_ request: HTTPRequest, _ head: RequestHead, _ exchange: HTTPExchange) {
    let refuse = { [self] in
      text(
        "The schema is for those who are signed in.", .unauthorized, exchange,
        headers: [HTTPField("WWW-Authenticate", "Bearer")])
    }
    guard case .token(let token) = head.caller.credential else { return refuse() }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer:
        shared.pages.respond(StaticPages.schemaText, request, head.format.coding, exchange)
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
