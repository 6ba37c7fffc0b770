import Dispatch
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Sockets are ended one after the other while the server is about to end.
@Suite(.blocks) struct ConnectionDrainingTests {
  @Test func `at each moment as large a part is gone as has passed of the time`() {
    var end = ConnectionDraining(over: .seconds(8))
    var open = 10_000
    for second in 0...8 {
      open -= end.next(after: .seconds(second), of: open)
      #expect(open == 10_000 - 1_250 * second)
    }
  }

  @Test func `of a few each has its moment`() {
    var end = ConnectionDraining(over: .seconds(6))
    let gone = (0...6).map { end.next(after: .seconds($0), of: 3 - end.count) }
    #expect(gone == [0, 1, 0, 1, 0, 1, 0])
  }

  @Test func `who leaves alone is nobody to be ended, and who comes meanwhile has a part`() {
    var end = ConnectionDraining(over: .seconds(8))
    #expect(end.next(after: .seconds(2), of: 100) == 25)
    // 35 of the 75 have left.
    #expect(end.next(after: .seconds(4), of: 40) == 8)
    #expect(end.next(after: .seconds(4), of: 0) == 0)
    // 67 have come.
    #expect(end.next(after: .seconds(6), of: 67) == 42)
    #expect(end.next(after: .seconds(9), of: 25) == 25)
  }

  /// Touched on the loop only.
  private final class Sockets: @unchecked Sendable {
    private var all: [WebSocket] = []

    func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
      guard let handshake = try? WebSocketHandshake(request) else {
        return exchange.respond(contentType: "text/plain", body: [])
      }
      guard let socket = exchange.upgrade(handshake, to: nil) else { return }
      socket.onMessage = { [unowned socket] message in
        if case .text(let text) = message { _ = socket.send(text) }
      }
      all.append(socket)
    }

    /// In the order in which they came.
    var areClosing: [Bool] { all.map(\.isClosing) }
  }

  @Test func `until its moment has come a socket is served, and so is who comes anew`() throws {
    let sockets = Sockets()
    let fixture = try HTTPServerFixture.answering { sockets.answer($0, $1) }
    let clients = try (0..<4).map { _ in try WebSocketClient(port: fixture.port) }
    fixture.server.announceEnd(over: .seconds(3600))
    for client in clients + [try WebSocketClient(port: fixture.port)] {
      client.send("here")
      #expect(client.next() == .text("here"))
    }
  }

  @Test func `the oldest are ended first, by 1001, and others are served on`() throws {
    let sockets = Sockets()
    let fixture = try HTTPServerFixture.answering { sockets.answer($0, $1) }
    let clients = try (0..<8).map { _ in try WebSocketClient(port: fixture.port) }
    fixture.server.announceEnd(over: .milliseconds(200))
    let seen = Mutex<[Bool]>([])
    repeat {
      let isSeen = DispatchSemaphore(value: 0)
      fixture.loop.execute {
        seen.withLock { $0 = sockets.areClosing }
        isSeen.signal()
      }
      isSeen.wait()
      let areClosing = seen.withLock { $0 }
      #expect(areClosing.drop { $0 }.allSatisfy { !$0 })
    } while !seen.withLock { $0.allSatisfy { $0 } }
    for client in clients { #expect(client.closeCode() == 1001) }
    let other = try RawClient(port: fixture.port)
    other.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let answer = other.answer()
    #expect(answer.status == 200)
    #expect(answer.header("Connection") == "close")
  }
}
