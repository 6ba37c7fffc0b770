import EventLoops
import Glibc
import Synchronization

// HTTP/1.1 from the socket up: bytes in, `HTTPRequest` to a handler, the handler's answer out.
//
// A loop has one `HTTPServer` with a listening socket of its own; everything here happens on that
// loop. `HTTPConnection` is a client's socket and the order of its requests, `HTTPHeadScanner` and
// `HTTPRequest.parseHead` judge a head, `HTTPChunkedBody` a chunked body. What a request means is
// left to the handler.

/// The clients of one loop. Lives, once started, until it is drained or closed.
package final class HTTPServer: @unchecked Sendable {
  // @unchecked: after `init` everything is touched on `loop` only.

  package struct Configuration: Sendable {
    package var limits = HTTPLimits()
    package var tls: TLSContext?
    /// Shared by the servers of all loops; nil counts this one alone.
    package var quota: HTTPSocketQuota?
    /// Shared by the servers of all loops; nil counts this one alone.
    package var budget: HTTPAnswerBudget?
    /// Of what is uploaded; shared and counted likewise.
    package var uploads: HTTPAnswerBudget?
    /// Added to every answer.
    package var commonHeaders: [HTTPField] = []
    /// The answer that no handler made, given the name the handler gave to the request, if any.
    package var refusalBody:
      @Sendable (HTTPRefusal, _ requestID: String?) -> (
        contentType: String, requestID: String?, body: [UInt8]
      ) = { ("text/plain; charset=utf-8", $1, Array("\($0.message)\n".utf8)) }

    package init() {}
  }

  package typealias Handler = (HTTPRequest, HTTPExchange) -> Void

  package let loop: EventLoop
  package let address: HTTPAddress
  let configuration: Configuration
  let limits: HTTPLimits
  let quota: HTTPSocketQuota
  let budget: HTTPAnswerBudget
  let uploads: HTTPAnswerBudget
  let handler: Handler
  let report: (HTTPEvent) -> Void
  let commonHeaderBytes: [UInt8]

  private var listener: HTTPListener?
  private var listenerToken: EventLoop.Token?
  private var acceptRest: LoopTimer?
  private var connections: [UInt64: HTTPConnection] = [:]
  private var nextNumber: UInt64 = 1
  private var unflushed: [HTTPConnection] = []
  private var flushing: [HTTPConnection] = []
  /// To which more is about to be written.
  private var unhurried: [HTTPConnection] = []
  private var flushTimer: LoopTimer?
  private var sweeper: LoopTimer?
  private var whenDrained: (() -> Void)?
  private(set) var isDraining = false
  /// Set on whichever thread announces the end, so that no answer that begins after it misses it.
  private let endIsAnnounced = Atomic(false)
  private var farewellTimer: LoopTimer?
  /// Ends what lasts, one after the other.
  private var endTimer: LoopTimer?

  // What connections borrow while they are served.
  var scratch = [UInt8](repeating: 0, count: 64 * 1024)
  var fieldPlaces = HTTPFieldPlaces()
  private var date = HTTPDateLine()
  private var lastHead = HTTPAnswerHead()

  /// - Parameters:
  ///   - report: called on the loop.
  ///   - handler: called on the loop for each request; must not block.
  package init(
    loop: EventLoop, listener: HTTPListener, configuration: Configuration = Configuration(),
    report: @escaping (HTTPEvent) -> Void = { _ in }, handler: @escaping Handler
  ) {
    self.loop = loop
    self.listener = listener
    address = listener.address
    self.configuration = configuration
    limits = configuration.limits
    quota = configuration.quota ?? HTTPSocketQuota(limits: configuration.limits)
    budget =
      configuration.budget
      ?? HTTPAnswerBudget(maximumBytes: configuration.limits.maximumHeldBytes)
    uploads =
      configuration.uploads
      ?? HTTPAnswerBudget(maximumBytes: configuration.limits.maximumUploadedBytes)
    self.report = report
    self.handler = handler
    commonHeaderBytes = configuration.commonHeaders.reduce(into: []) { $0.append(field: $1) }
  }

  /// Begins to accept clients. From any thread.
  package func start() {
    loop.execute { [self] in
      guard let listener, listenerToken == nil else { return }
      do {
        listenerToken = try loop.register(listener.descriptor, for: .readable) { [self] _ in
          acceptWaiting()
        }
      } catch {
        report(.acceptFailed(code: (error as? EventLoopError)?.code ?? 0))
      }
    }
  }

  /// From now on every answer says `Connection: close` and is its connection's last, so that clients
  /// and balancers move on while new connections are still accepted. From any thread.
  ///
  /// - Parameter length: over which WebSockets and streams are ended, the oldest first; nothing leaves them to `drain`.
  package func announceEnd(over length: Duration = .zero) {
    endIsAnnounced.store(true, ordering: .releasing)
    guard length > .zero else { return }
    loop.execute { [self] in endGradually(over: length) }
  }

  private func endGradually(over length: Duration) {
    guard endTimer == nil, !isDraining else { return }
    var end = GradualEnd(over: length)
    let start = ContinuousClock.now
    let pause = max(length / 100, .milliseconds(10))
    endTimer = loop.schedule(after: pause, repeating: pause) { [weak self] in
      guard let self else { return }
      let lasting = self.connections.values.filter(\.lasts)
      let count = end.next(after: start.duration(to: .now), of: lasting.count)
      guard count > 0 else { return }
      for connection in lasting.sorted(by: { $0.number < $1.number }).prefix(count) {
        connection.drain()
      }
    }
  }

  /// Every answer is the last of its connection.
  var isEnding: Bool { endIsAnnounced.load(ordering: .acquiring) }

  /// Stops accepting, lets requests that are being worked on finish, then closes their connections.
  /// A connection without a request stays for `HTTPLimits.farewell`, so that its client's next request
  /// meets an answer that says so and not a closed socket.
  /// From any thread; `completion` is called on the loop.
  ///
  /// - Parameter handsOver: leaves the listener open, because another server accepts its clients.
  package func drain(
    handsOver: Bool = false, _ completion: @escaping @Sendable () -> Void
  ) {
    announceEnd()
    loop.execute { [self] in
      whenDrained = completion
      isDraining = true
      acceptQueue()
      stopListening(handsOver: handsOver)
      // Who was amid a request may have a socket or a stream by the next time.
      farewellTimer = loop.schedule(after: limits.farewell, repeating: limits.farewell) {
        [weak self] in
        guard let self else { return }
        for connection in Array(self.connections.values) { connection.drain() }
      }
      finishDrainingIfEmpty()
    }
  }

  /// Closes every connection at once, answered or not. From any thread.
  package func closeAll() {
    announceEnd()
    loop.execute { [self] in
      isDraining = true
      stopListening()
      for connection in Array(connections.values) { connection.close(.shutdown) }
      finishDrainingIfEmpty()
    }
  }

  private func stopListening(handsOver: Bool = false) {
    acceptRest = nil
    endTimer = nil
    if let listenerToken { loop.unregister(listenerToken) }
    listenerToken = nil
    if !handsOver { listener?.close() }
    listener = nil
  }

  // MARK: Accepting

  /// Accepts the clients whom the system has let in already: closing the listener would reset them.
  private func acceptQueue() {
    for _ in 0...HTTPListener.queueLimit / Self.acceptedAtOnce where !acceptWaiting() { return }
  }

  private static let acceptedAtOnce = 64

  /// Whether more may be waiting.
  @discardableResult
  private func acceptWaiting() -> Bool {
    guard let listener else { return false }
    for _ in 0..<Self.acceptedAtOnce {
      var storage = sockaddr_storage()
      let (descriptor, error) = EventLoop.acceptSocket(from: listener.descriptor, peer: &storage)
      if descriptor >= 0 {
        admit(descriptor, HTTPPeer(storage))
        continue
      }
      switch error {
      case EAGAIN: return false
      case EINTR, ECONNABORTED, EPROTO: continue
      default:
        report(.acceptFailed(code: error))
        restFromAccepting()
        return false
      }
    }
    return true
  }

  /// Out of descriptors or memory: the waiting client would wake the loop without end.
  private func restFromAccepting() {
    guard let listenerToken, acceptRest == nil else { return }
    loop.update(listenerToken, for: [])
    acceptRest = loop.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self else { return }
      self.acceptRest = nil
      if let token = self.listenerToken { self.loop.update(token, for: .readable) }
    }
  }

  private func admit(_ descriptor: Int32, _ peer: HTTPPeer) {
    guard quota.take(peer) else {
      refuseSocket(descriptor, peer)
      return
    }
    var on: Int32 = 1
    if peer != .local {
      _ = unsafe setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    let session = configuration.tls?.session(on: descriptor)
    let number = nextNumber
    nextNumber += 1
    let connection = HTTPConnection(
      server: self, descriptor: descriptor, number: number, peer: peer, tls: session)
    guard configuration.tls == nil || session != nil, connection.register() else {
      Glibc.close(descriptor)
      quota.giveBack(peer)
      return
    }
    connections[number] = connection
    report(.connectionOpened)
    startSweeping()
  }

  private func refuseSocket(_ descriptor: Int32, _ peer: HTTPPeer) {
    report(.requestRefused(.tooManySockets, peer: peer))
    if configuration.tls == nil {
      let (contentType, requestID, body) = configuration.refusalBody(.tooManySockets, nil)
      var answer = Array("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n".utf8)
      answer.append(field: HTTPField("Retry-After", "1"))
      answer.append(field: HTTPField("Content-Type", contentType))
      answer.append(field: HTTPField("Content-Length", String(body.count)))
      if let requestID { answer.append(requestID: requestID) }
      answer.append(contentsOf: "\r\n".utf8)
      answer.append(contentsOf: body)
      _ = unsafe answer.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      shutdown(descriptor, Int32(SHUT_WR))
    }
    Glibc.close(descriptor)
  }

  // MARK: What connections ask for

  func remove(_ connection: HTTPConnection, _ reason: HTTPEvent.ClosingReason) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    quota.giveBack(connection.peer)
    report(.connectionClosed(reason))
    finishDrainingIfEmpty()
  }

  /// What an answer's head begins with, up to what is the answer's own: mostly that of the last one.
  func headBytes(_ status: HTTPStatus, contentType: String?, headers: [HTTPField]) -> [UInt8] {
    let isNewSecond = date.refresh()
    if isNewSecond || !lastHead.says(status, contentType: contentType, headers: headers) {
      lastHead = HTTPAnswerHead(
        status, contentType: contentType, headers: headers, date: date.bytes,
        common: commonHeaderBytes)
    }
    return lastHead.bytes
  }

  /// Has the connection written out after the events that are being served now.
  func flushLater(_ connection: HTTPConnection) {
    unflushed.append(connection)
    if unflushed.count == 1 { loop.afterThisBatch(flushAll) }
  }

  /// Has the connection written out a moment later, if it is not before.
  func flushSoon(_ connection: HTTPConnection) {
    guard !connection.isFlushExpected else { return }
    connection.isFlushExpected = true
    unhurried.append(connection)
    guard flushTimer == nil else { return }
    flushTimer = loop.schedule(after: .milliseconds(2)) { [weak self] in self?.flushUnhurried() }
  }

  private func flushUnhurried() {
    flushTimer = nil
    let connections = unhurried
    unhurried.removeAll(keepingCapacity: connections.count <= 1024)
    for connection in connections where connection.isFlushExpected { connection.flush() }
  }

  private func flushAll() {
    while !unflushed.isEmpty {
      swap(&unflushed, &flushing)
      for connection in flushing { connection.flush() }
      flushing.removeAll(keepingCapacity: true)
    }
  }

  private func finishDrainingIfEmpty() {
    guard isDraining, connections.isEmpty, let completion = whenDrained else { return }
    whenDrained = nil
    farewellTimer = nil
    completion()
  }

  // MARK: Deadlines

  /// All deadlines of all connections are looked at a few times a second: cheaper than a timer each.
  private func startSweeping() {
    guard sweeper == nil else { return }
    let shortest =
      [
        limits.tlsHandshake, limits.header, limits.body, limits.writeStall, limits.idle,
        limits.answer,
        limits.linger,
      ].min() ?? .seconds(1)
    let interval = max(min(shortest / 4, .milliseconds(500)), .milliseconds(10))
    sweeper = loop.schedule(after: interval, repeating: interval) { [weak self] in self?.sweep() }
  }

  private func sweep() {
    if connections.isEmpty {
      sweeper = nil
      return
    }
    let now = coarseNow()
    let isCrowded = quota.isCrowded
    for connection in Array(connections.values) {
      connection.checkDeadlines(now, isCrowded: isCrowded)
    }
  }
}
