import EventLoops
import Glibc
import Synchronization

// HTTP from the socket up: bytes in, `HTTPRequest` to a handler, the handler's response out.
//
// An event loop has one `HTTPServer` with its own listening socket, and everything here runs on
// that loop. `HTTPConnection` is a client's socket and the order of its requests. `HTTPHeadScanner`
// and `HTTPRequest.parseHead` parse a header, and `HTTPChunkedBody` a chunked body. A client that
// speaks HTTP/2 or WebSocket leaves its connection's bytes to an `HTTP2Session`, with an
// `HTTP2Stream` for each request, or to a `WebSocket`. The handler gives a request its meaning.

/// The clients of one loop. Once started, a server lives until it is drained or closed.
package final class HTTPServer: @unchecked Sendable {
  // @unchecked: after `init` everything is touched on `loop` only.

  package struct Configuration: Sendable {
    package var limits = HTTPLimits()
    package var tls: TLSContext?
    /// Whether clients may speak HTTP/2.
    package var speaksHTTP2 = true
    /// The quota, shared by the servers of all loops; nil counts this one alone.
    package var quota: HTTPSocketQuota?
    /// The budget of unsent responses, shared by the servers of all loops; nil counts this one
    /// alone.
    package var budget: HTTPBufferBudget?
    /// The budget of uploads, shared by the servers of all loops; nil counts this one alone.
    package var uploads: HTTPBufferBudget?
    /// Headers added to every response.
    package var commonHeaders: [HTTPField] = []
    /// The body of a response that no handler made; the argument is the ID that the handler
    /// assigned to the request, if any.
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
  let budget: HTTPBufferBudget
  let uploads: HTTPBufferBudget
  let makeHandler: () -> Handler
  let report: (HTTPEvent) -> Void
  let commonHeaderBytes: [UInt8]

  private var listener: HTTPListener?
  private var listenerToken: EventLoop.Token?
  private var acceptRest: LoopTimer?
  private var connections: [UInt64: HTTPConnection] = [:]
  private var nextNumber: UInt64 = 1
  private var unflushed: [HTTPConnection] = []
  private var flushing: [HTTPConnection] = []
  /// The connections to which more is about to be written.
  private var unhurried: [HTTPConnection] = []
  private var flushTimer: LoopTimer?
  /// The connections that have had their turn, and have more to process.
  private var unfinished: [HTTPConnection] = []
  private var sweeper: LoopTimer?
  private var whenDrained: (() -> Void)?
  private(set) var isDraining = false
  /// Whether the end was announced. It is set on the announcing thread, so that every response that
  /// begins later sees it.
  private let endIsAnnounced = Atomic(false)
  private var farewellTimer: LoopTimer?
  /// The timer that ends long-lived connections, one after the other.
  private var endTimer: LoopTimer?

  // Buffers that connections borrow while they are served.
  var scratch = [UInt8](repeating: 0, count: 64 * 1024)
  var fieldPlaces = HTTPFieldPlaces()
  private var date = HTTPDateLine()
  private var lastHead = HTTPAnswerHead()

  /// - Parameters:
  ///   - report: called on the loop.
  ///   - makeHandler: returns the handler of a connection, which is called on the loop for each of
  ///     its requests and must not block.
  package init(
    loop: EventLoop, listener: HTTPListener, configuration: Configuration = Configuration(),
    report: @escaping (HTTPEvent) -> Void = { _ in }, makeHandler: @escaping () -> Handler
  ) {
    self.loop = loop
    self.listener = listener
    address = listener.address
    self.configuration = configuration
    limits = configuration.limits
    quota = configuration.quota ?? HTTPSocketQuota(limits: configuration.limits)
    budget =
      configuration.budget
      ?? HTTPBufferBudget(maximumBytes: configuration.limits.maximumHeldBytes)
    uploads =
      configuration.uploads
      ?? HTTPBufferBudget(maximumBytes: configuration.limits.maximumUploadedBytes)
    self.report = report
    self.makeHandler = makeHandler
    commonHeaderBytes = configuration.commonHeaders.reduce(into: []) { $0.append(field: $1) }
  }

  /// Creates a server whose connections share one handler.
  package convenience init(
    loop: EventLoop, listener: HTTPListener, configuration: Configuration = Configuration(),
    report: @escaping (HTTPEvent) -> Void = { _ in }, handler: @escaping Handler
  ) {
    self.init(
      loop: loop, listener: listener, configuration: configuration, report: report,
      makeHandler: { handler })
  }

  /// Starts to accept clients. Call from any thread.
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

  /// Makes every further response say `Connection: close` and end its connection, so that clients
  /// and balancers move on while new connections are still accepted. Call from any thread.
  ///
  /// - Parameter length: the time over which WebSockets and streams are ended, oldest first; zero
  ///   leaves them to `drain`.
  package func announceEnd(over length: Duration = .zero) {
    endIsAnnounced.store(true, ordering: .releasing)
    guard length > .zero else { return }
    loop.execute { [self] in endGradually(over: length) }
  }

  private func endGradually(over length: Duration) {
    guard endTimer == nil, !isDraining else { return }
    var end = ConnectionDraining(over: length)
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

  /// Whether every response ends its connection.
  var isEnding: Bool { endIsAnnounced.load(ordering: .acquiring) }

  /// Stops accepting, lets current requests finish, then closes their connections.
  ///
  /// A connection without a request stays for `HTTPLimits.farewell`, so that its client's next
  /// request gets a response that says so instead of a closed socket. Call from any thread;
  /// `completion` is called on the loop.
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
      // A connection in the middle of a request may have a socket or a stream by the next time.
      farewellTimer = loop.schedule(after: limits.farewell, repeating: limits.farewell) {
        [weak self] in
        guard let self else { return }
        for connection in Array(self.connections.values) { connection.drain() }
      }
      finishDrainingIfEmpty()
    }
  }

  /// Closes every connection at once, answered or not. Call from any thread.
  ///
  /// - Parameter handsOver: leaves the listener open, because another server accepts its clients.
  package func closeAll(handsOver: Bool = false) {
    announceEnd()
    loop.execute { [self] in
      isDraining = true
      stopListening(handsOver: handsOver)
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

  /// Accepts the clients whose connections the system has completed: closing the listener would
  /// reset them.
  private func acceptQueue() {
    for _ in 0...HTTPListener.queueLimit / Self.acceptedAtOnce where !acceptWaiting() { return }
  }

  private static let acceptedAtOnce = 64

  /// Accepts waiting clients.
  ///
  /// - Returns: whether more may be waiting.
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

  /// Pauses accepting when descriptors or memory run out: the waiting client would wake the loop
  /// over and over.
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
    quota.giveBack(connection.socketPeer)
    if connection.peer != connection.socketPeer { quota.giveBack(for: connection.peer.accountable) }
    report(.connectionClosed(reason))
    finishDrainingIfEmpty()
  }

  /// Returns the start of a response's head, up to the fields of the single response: usually that
  /// of the last one.
  func headBytes(_ status: HTTPStatus, contentType: String?, headers: [HTTPField]) -> [UInt8] {
    let isNewSecond = date.refresh()
    if isNewSecond || !lastHead.says(status, contentType: contentType, headers: headers) {
      lastHead = HTTPAnswerHead(
        status, contentType: contentType, headers: headers, date: date.bytes,
        common: commonHeaderBytes)
    }
    return lastHead.bytes
  }

  /// Schedules the connection's flush after the events that are being served now.
  func flushLater(_ connection: HTTPConnection) {
    unflushed.append(connection)
    if unflushed.count == 1 { loop.afterThisBatch(flushAll) }
  }

  /// Schedules the connection's flush a moment later, unless it is flushed before.
  func flushSoon(_ connection: HTTPConnection) {
    guard !connection.isFlushExpected else { return }
    connection.isFlushExpected = true
    unhurried.append(connection)
    guard flushTimer == nil else { return }
    flushTimer = loop.schedule(after: .milliseconds(2)) { [weak self] in self?.flushUnhurried() }
  }

  /// Schedules the rest of the connection's received bytes for the next turn of the loop, after
  /// those of connections that wait already.
  func continueLater(_ connection: HTTPConnection) {
    unfinished.append(connection)
    if unfinished.count == 1 { loop.execute { [self] in continueTurns() } }
  }

  private func continueTurns() {
    let connections = Array(unfinished.prefix(HTTPTurn.connections))
    unfinished.removeFirst(connections.count)
    let areMoreWaiting = !unfinished.isEmpty
    for connection in connections { connection.continueTurn() }
    if areMoreWaiting { loop.execute { [self] in continueTurns() } }
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

  /// Starts to check all deadlines of all connections a few times a second, which is cheaper than a
  /// timer for each.
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
