import Dispatch
import EventLoops
import GraphQLResponse
import GraphQLTransport
import HTTP

/// Serves `/live` and `/ready` while a server starts. It responds 503 with `Retry-After` to other
/// requests.
package final class StartingService: Sendable {
  private let loop: EventLoop
  private let servers: [HTTPServer]

  package init(_ doors: ListeningSockets, tls: TLSContext?) throws {
    let loop = try EventLoop(label: "sociograph.starting")
    self.loop = loop
    var configuration = HTTPServer.Configuration()
    configuration.limits.maximumSockets = 1_000
    configuration.refusalBody = HTTPRefusal.answer
    var forClients = configuration
    forClients.tls = tls
    servers =
      doors.clients.map { listener in
        HTTPServer(loop: loop, listener: listener, configuration: forClients, handler: Self.answer)
      }
      + (doors.operators.map { listener in
        [
          HTTPServer(
            loop: loop, listener: listener, configuration: configuration, handler: Self.answer)
        ]
      } ?? [])
    for server in servers { server.start() }
  }

  /// Hands the sockets over to the server that has started: it accepts all connections after this
  /// call. Connected clients are asked to reconnect. Waits for the event loop.
  package func stop() {
    let loop = loop
    let group = DispatchGroup()
    for server in servers {
      group.enter()
      server.drain(handsOver: true) { group.leave() }
    }
    let hasLeft = DispatchSemaphore(value: 0)
    loop.execute { hasLeft.signal() }
    hasLeft.wait()
    group.notify(queue: .global()) { loop.stop() }
  }

  private static func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let again = [HTTPField("Retry-After", "1")]
    let text = "text/plain; charset=utf-8"
    switch request.path {
    case "/live": exchange.respond(.ok, contentType: text, body: Array("live\n".utf8))
    case "/ready":
      exchange.respond(
        .serviceUnavailable, contentType: text, headers: again, body: Array("starting\n".utf8))
    default:
      let (contentType, requestID, body) = HTTPRefusal.answer(.starting, requestID: nil)
      requestID.map(exchange.identify)
      exchange.respond(.serviceUnavailable, contentType: contentType, headers: again, body: body)
    }
  }
}
