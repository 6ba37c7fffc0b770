import EventLoops
import Glibc
import HTTP
import Synchronization

/// A server on a free port of this machine, with a loop of its own, that notes what it reports.
package final class HTTPServerFixture: Sendable {
  package let server: HTTPServer
  package let loop: EventLoop
  private let noted = Mutex<[HTTPEvent]>([])

  package var events: [HTTPEvent] { noted.withLock { $0 } }

  package var port: UInt16 {
    guard case .tcp(_, let port) = server.address else { return 0 }
    return port
  }

  package init(
    at address: HTTPAddress = .tcp(host: "127.0.0.1", port: 0),
    _ change: (inout HTTPServer.Configuration) -> Void = { _ in },
    handler: @escaping @Sendable (HTTPRequest, HTTPExchange) -> Void = HTTPServerFixture.echo
  ) throws {
    var configuration = HTTPServer.Configuration()
    change(&configuration)
    loop = try EventLoop(label: "test")
    let listener = try HTTPListener.open(address)[0]
    final class Report: Sendable {
      let call = Mutex<(@Sendable (HTTPEvent) -> Void)?>(nil)
    }
    let report = Report()
    server = HTTPServer(loop: loop, listener: listener, configuration: configuration) { event in
      report.call.withLock { $0 }?(event)
    } handler: {
      handler($0, $1)
    }
    report.call.withLock { call in
      call = { [weak self] event in self?.noted.withLock { $0.append(event) } }
    }
    server.start()
  }

  package static func answering(
    _ handler: @escaping @Sendable (HTTPRequest, HTTPExchange) -> Void
  ) throws -> HTTPServerFixture {
    try HTTPServerFixture(handler: handler)
  }

  deinit {
    let loop = loop
    server.drain { loop.stop() }
    server.closeAll()
  }

  /// Answers with the method, path, query and body: `POST /a x=1 hello`.
  package static func echo(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    exchange.respond(contentType: "text/plain; charset=utf-8") { output in
      output.append(contentsOf: "\(request.method) \(request.path) \(request.query) ".utf8)
      output.append(contentsOf: request.body)
    }
  }

  /// Waits, at most a minute, for the server to report something.
  package func sees(_ isIt: (HTTPEvent) -> Bool) -> Bool {
    for _ in 0..<60_000 {
      if events.contains(where: isIt) { return true }
      usleep(10_000)
    }
    return false
  }
}
