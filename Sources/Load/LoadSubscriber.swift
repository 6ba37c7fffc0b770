import EventLoops
import HTTP
import JSON

/// One subscription of a run, over a WebSocket of its own (graphql-transport-ws). It is used on the loop only.
final class LoadSubscriber {
  /// What is asked for, and how its events are told apart.
  struct Plan: Sendable {
    /// The number of the subscription among those of the mix.
    let subscription: Int
    /// The `subscribe` message.
    let message: [UInt8]
    /// The payload of `connection_init`.
    let greeting: [UInt8]
    /// Lines such as `Name: value`.
    let headers: [String]
    /// The path of the text in `data`.
    let match: [String]
  }

  enum Event {
    /// The server has taken the subscription.
    case ready
    /// The text of an event that has one.
    case text(String)
    /// The WebSocket or the subscription has ended.
    case ended(String)
  }

  private enum Phase { case connecting, upgrading, greeting, subscribing, open, closed }

  let plan: Plan
  private let socket: HTTPClientSocket
  private let loop: EventLoop
  private let frames: HTTPClientWebSocket
  private let handler: (LoadSubscriber, Event, Moment) -> Void
  private var phase = Phase.connecting
  private var token: EventLoop.Token?
  private var unsent: [UInt8] = []
  private var interest: SocketReadiness = .writable
  private var patience: LoopTimer?
  private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

  /// How long a server may take to answer the ping after `subscribe`, which many do not answer.
  private static let pongPatience: Duration = .seconds(1)
  private static let maximumNesting = 512

  init(
    _ plan: Plan, target: HTTPTarget, socket: HTTPClientSocket, on loop: EventLoop,
    handler: @escaping (LoadSubscriber, Event, Moment) -> Void
  ) {
    self.plan = plan
    self.socket = socket
    self.loop = loop
    self.handler = handler
    frames = HTTPClientWebSocket(
      target, subprotocol: "graphql-transport-ws", headers: plan.headers)
  }

  func begin() throws {
    token = try loop.register(socket.descriptor, for: .writable) { [weak self] readiness in
      self?.serve(readiness)
    }
  }

  func close() {
    phase = .closed
    patience = nil
    if let token { loop.unregister(token) }
    token = nil
    socket.close()
  }

  private func end(_ reason: String) {
    guard phase != .closed else { return }
    close()
    handler(self, .ended(reason), .now)
  }

  // MARK: The socket

  private func serve(_ readiness: SocketReadiness) {
    switch phase {
    case .closed: return
    case .connecting: connect()
    case .upgrading, .greeting, .subscribing, .open:
      if !unsent.isEmpty { write() }
      read()
    }
  }

  private func wait(for readiness: SocketReadiness) {
    guard let token, interest != readiness else { return }
    interest = readiness
    loop.update(token, for: readiness)
  }

  private func connect() {
    switch socket.connect() {
    case .done:
      phase = .upgrading
      write()
    case .wantsRead: wait(for: .readable)
    case .wantsWrite: wait(for: .writable)
    case .closed, .failed: end("the connection was refused")
    }
  }

  private func write() {
    unsent += frames.takeOutput()
    while !unsent.isEmpty {
      let outcome = unsafe unsent.withUnsafeBytes { unsafe socket.write($0) }
      switch outcome {
      case .done(let count): unsent.removeFirst(count)
      case .wantsRead: return wait(for: .readable)
      case .wantsWrite: return wait(for: [.readable, .writable])
      case .closed, .failed: return end("the server ended the connection")
      }
    }
    wait(for: .readable)
  }

  private func read() {
    while phase != .closed {
      var progress = HTTPClientWebSocket.Progress.going
      let outcome = unsafe buffer.withUnsafeMutableBytes { bytes -> HTTPClientSocket.Outcome in
        let outcome = unsafe socket.read(into: bytes)
        if case .done(let count) = outcome {
          progress = unsafe frames.receive(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        return outcome
      }
      switch outcome {
      case .done: take(progress, at: .now)
      case .wantsRead: return
      case .wantsWrite: return wait(for: [.readable, .writable])
      case .closed, .failed: return end("the server ended the connection")
      }
    }
  }

  // MARK: Messages

  private func take(_ progress: HTTPClientWebSocket.Progress, at moment: Moment) {
    if case .refused(let status) = progress {
      return end("the server answered \(status) rather than open a WebSocket")
    }
    if frames.isOpen, phase == .upgrading {
      phase = .greeting
      frames.send(plan.greeting)
    }
    for message in frames.takeMessages() where phase != .closed { take(message, moment) }
    if progress == .ended { return end("the server ended the WebSocket") }
    if phase != .closed { write() }
  }

  private func take(_ message: [UInt8], _ moment: Moment) {
    guard let message = try? JSONParser.parse(message, maximumNesting: Self.maximumNesting) else {
      return end("the server sent a message that is not JSON")
    }
    switch (message["type"]?.text, phase) {
    case ("connection_ack", .greeting):
      phase = .subscribing
      frames.send(plan.message)
      // Its answer comes after the server has read the subscription.
      frames.send(Array(#"{"type":"ping"}"#.utf8))
      patience = loop.schedule(after: Self.pongPatience) { [weak self] in self?.open(.now) }
    case ("pong", _): open(moment)
    case ("ping", _): frames.send(Array(#"{"type":"pong"}"#.utf8))
    case ("next", _): next(message["payload"] ?? .null, moment)
    case ("error", _):
      let error = message["payload"]?.elements?.first ?? .null
      end("the server refused the subscription: \(error["message"]?.text ?? "an error")")
    case ("complete", _): end("the server completed the subscription")
    default: break
    }
  }

  private func open(_ moment: Moment) {
    guard phase == .subscribing else { return }
    phase = .open
    patience = nil
    handler(self, .ready, moment)
  }

  private func next(_ payload: JSONValue, _ moment: Moment) {
    var value = payload["data"]
    for step in plan.match { value = value?[step] }
    if let text = value?.text { handler(self, .text(text), moment) }
  }
}
