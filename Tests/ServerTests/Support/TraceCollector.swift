import EventLoops
import HTTP
import JSON
import Synchronization
import TestSupport

/// A collector that takes traces by OTLP over HTTP, and keeps what it was sent.
final class TraceCollector: Sendable {
  struct Post: Sendable {
    let path: String
    let contentType: String?
    /// Those that begin with `x-`.
    let headers: [String: String]
    let body: [UInt8]
  }

  private let posts = Mutex<[Post]>([])
  private let loop: EventLoop
  private let server: HTTPServer
  let port: UInt16

  /// - Parameters:
  ///   - answers: false leaves every request without one.
  ///   - rejected: spans it says it did not take.
  ///   - busyFor: so many requests are answered with 503, and `retryAfter`.
  init(
    answers: Bool = true, status: HTTPStatus = .ok, rejected: Int = 0, busyFor: Int = 0,
    retryAfter: Int = 0
  ) throws {
    loop = try EventLoop(label: "collector")
    nonisolated(unsafe) weak var keeper: TraceCollector?
    guard let listener = try HTTPListener.open(.tcp(host: "127.0.0.1", port: 0)).first,
      case .tcp(_, let port) = listener.address
    else { throw TestServer.Failure(text: "no socket") }
    self.port = port
    nonisolated(unsafe) var held: [HTTPExchange] = []
    server = HTTPServer(
      loop: loop, listener: listener,
      handler: { request, exchange in
        let post = Post(
          path: request.path, contentType: request.header("content-type"),
          headers: Self.ownHeaders(request), body: request.body)
        unsafe keeper?.posts.withLock { $0.append(post) }
        let count = unsafe keeper?.received.count ?? 0
        guard count > busyFor else {
          exchange.respond(
            .serviceUnavailable, headers: [HTTPField("Retry-After", String(retryAfter))])
          return
        }
        guard answers else {
          unsafe held.append(exchange)
          return
        }
        let said = rejected > 0 ? #"{"partialSuccess":{"rejectedSpans":"\#(rejected)"}}"# : "{}"
        exchange.respond(status, contentType: "application/json", body: Array(said.utf8))
      })
    unsafe keeper = self
    server.start()
  }

  private static func ownHeaders(_ request: HTTPRequest) -> [String: String] {
    var headers: [String: String] = [:]
    headers["x-key"] = request.header("x-key")
    headers["x-other"] = request.header("x-other")
    return headers
  }

  deinit {
    server.closeAll()
    loop.stop()
  }

  var received: [Post] { posts.withLock { $0 } }

  /// Waits, for a minute at most, until it was sent a span of this name; all spans so far.
  func spans(through name: String) throws -> [JSONValue] {
    var spans: [JSONValue] = []
    let isThere = try eventually {
      spans = try received.flatMap { post in
        try JSONParser.parse(post.body)["resourceSpans"]?.elements.flatMap {
          $0["scopeSpans"]?.elements.flatMap { $0["spans"]?.elements ?? [] } ?? []
        } ?? []
      }
      return spans.contains { $0["name"] == .string(name) }
    }
    return isThere ? spans : []
  }
}
