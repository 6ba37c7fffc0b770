import EventLoops
import Glibc

/// A client's socket: its requests in order, one at a time, and its unsent bytes.
///
/// Requests that the client pipelines wait in `input` until the request before them is answered. If
/// too much waits or is unsent, the socket is not read any further.
final class HTTPConnection: HTTPResponder {
  let server: HTTPServer
  let descriptor: Int32
  let number: UInt64
  /// The other end of the socket, which is counted.
  let socketPeer: HTTPPeer
  /// The client: the same, or the one that a proxy names before the client's first byte. That one is
  /// counted, too.
  private(set) var peer: HTTPPeer
  /// The bytes that were read of a proxy's words about its client; nil if no more are expected.
  private var preamble: [UInt8]?
  let tls: TLSSession?
  var closeHandler: (() -> Void)?
  /// What the connection was upgraded to.
  var upgraded: (any UpgradedProtocol)?

  enum State {
    case handshake
    /// No request has begun.
    case waiting
    case head
    case body
    /// The handler has the request.
    case working
    /// The response is sent in parts, and its end is not known.
    case streaming
    /// The bytes belong to `upgraded`.
    case upgraded
    /// The last response is being written.
    case closing
    /// Everything is written; the client may still be sending.
    case lingering
    case closed
  }

  var state: State
  /// The time since which the connection is in its state, or has been trying to write.
  var stateStart: UInt64
  var writeStart: UInt64 = 0
  var pace = MinimumReadRate()

  var input: [UInt8] = []
  var inputStart = 0
  private var scanner = HTTPHeadScanner()
  private var chunked = HTTPChunkedBody()
  private let handler: HTTPServer.Handler
  var request = HTTPRequest()
  var exchangeNumber: UInt64 = 0
  /// The ID that the handler assigned to the current request.
  var requestID: String?
  var requestCount = 0
  private var isAdvancing = false
  var turn = HTTPTurn()
  /// Whether received bytes wait for the next turn of the loop.
  private(set) var isContinuing = false

  var output: [UInt8] = []
  /// The end of the unsent bytes: a large body stays where its handler made it.
  var outputBody: [UInt8] = []
  /// The number of bytes of both that are sent.
  var outputStart = 0
  /// The number of bytes counted in the budget.
  var heldBytes = 0
  /// The client that the current request counts toward, if it came through a proxy.
  private var countedClient: HTTPPeer?
  /// The number of bytes reserved for the current upload.
  private var uploadedBytes = 0
  var isFlushPlanned = false
  /// Whether a flush follows soon, unless one is scheduled before.
  var isFlushExpected = false
  var closingReason = HTTPEvent.ClosingReason.served
  var clientHasClosed = false
  var lingeringBytes = 0
  /// When the client last sent bytes that were dropped.
  var lastLingeringByte: UInt64 = 0
  /// Whether the streamed response ends only with its client or with the server.
  var isEndless = false

  private var token: EventLoop.Token?
  private var interest: EventLoop.Readiness = [.readable, .peerClosed]
  var wantsWritable = false

  init(
    server: HTTPServer, descriptor: Int32, number: UInt64, peer: HTTPPeer, tls: TLSSession?
  ) {
    self.server = server
    self.descriptor = descriptor
    self.number = number
    self.socketPeer = peer
    self.peer = peer
    preamble = server.quota.beginsWithClient(peer) ? [] : nil
    self.tls = tls
    handler = server.makeHandler()
    state = tls == nil && preamble == nil ? .waiting : .handshake
    stateStart = coarseNow()
  }

  func register() -> Bool {
    // The loop keeps the connection alive until it is unregistered.
    token = try? server.loop.register(descriptor, for: interest) { [self] in ready($0) }
    return token != nil
  }

  func isWorking(on exchange: UInt64) -> Bool {
    if case .working = state { exchange == exchangeNumber } else { false }
  }

  func isStreaming(_ exchange: UInt64) -> Bool {
    if case .streaming = state { exchange == exchangeNumber } else { false }
  }

  /// Whether only the client or the server can end the connection's current use.
  var lasts: Bool {
    switch state {
    case .upgraded: upgraded?.lasts == true
    case .streaming: isEndless
    default: false
    }
  }

  func enter(_ state: State) {
    self.state = state
    stateStart = coarseNow()
  }

  // MARK: Events

  private func ready(_ readiness: EventLoop.Readiness) {
    if !isContinuing { turn = HTTPTurn() }
    if readiness.contains(.error) || readiness.contains(.hungUp) {
      clientLeft(.socketError)
      if case .closed = state { return }
    }
    if readiness.contains(.writable) { flush() }
    if case .handshake = state {
      guard shakeHands() else { return }
    }
    if readiness.contains(.readable) || readiness.contains(.peerClosed) {
      receive(clientClosed: readiness.contains(.peerClosed))
    }
    updateInterest()
  }

  private func shakeHands() -> Bool {
    if preamble != nil, !readPreamble() { return false }
    guard let tls else {
      enter(.waiting)
      return true
    }
    switch tls.handshake() {
    case .done:
      wantsWritable = false
      enter(.waiting)
      if tls.speaksHTTP2 { beginHTTP2() }
      return true
    case .wantsRead:
      wantsWritable = false
    case .wantsWrite:
      wantsWritable = true
    case .closed, .failed:
      server.report(.handshakeFailed(peer: peer))
      close(.socketError)
      return false
    }
    updateInterest()
    return false
  }

  /// Reads what the proxy says of its client, and no byte more.
  private func readPreamble() -> Bool {
    guard let known = preamble else { return true }
    let room = min(ProxyPreamble.maximumBytes - known.count, server.scratch.count)
    func receive(_ count: Int, _ flags: Int) -> Int {
      unsafe server.scratch.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, min(count, $0.count), Int32(flags))
      }
    }
    let seen = receive(room, MSG_PEEK)
    if seen < 0, errno == EAGAIN || errno == EINTR { return false }
    guard seen > 0 else {
      clientLeft(.byClient)
      return false
    }
    let bytes = known + server.scratch[..<seen]
    switch ProxyPreamble.read(bytes) {
    case .incomplete where bytes.count < ProxyPreamble.maximumBytes:
      // All of it belongs to the preamble, and would wake the loop again.
      preamble = known + server.scratch[..<max(receive(seen, 0), 0)]
      return false
    case .complete(let count, let client):
      guard receive(count - known.count, 0) == count - known.count else { break }
      preamble = nil
      guard let client, client != socketPeer else { return true }
      guard server.quota.take(for: client.accountable) else {
        server.report(.requestRefused(.tooManySockets, peer: client))
        close(.refused)
        return false
      }
      peer = client
      return true
    case .incomplete, .malformed: break
    }
    server.report(.requestRefused(.malformed(.preamble), peer: socketPeer))
    close(.refused)
    return false
  }

  func updateInterest() {
    guard let token else { return }
    var wanted = EventLoop.Readiness(rawValue: 0)
    if !clientHasClosed {
      wanted.insert(.peerClosed)
      if mayRead { wanted.insert(.readable) }
    }
    if wantsWritable { wanted.insert(.writable) }
    guard wanted != interest else { return }
    interest = wanted
    server.loop.update(token, for: wanted)
  }

  /// Whether there is capacity for more bytes of the client.
  var mayRead: Bool {
    guard !isContinuing else { return false }
    return switch state {
    case .handshake, .head, .body, .lingering: true
    case .waiting, .upgraded:
      unsentBytes <= server.limits.maximumUnsentBytes
    case .working, .streaming: input.count - inputStart < server.limits.maximumPipelinedBytes
    case .closing, .closed: false
    }
  }

  // MARK: Requests

  /// Processes received bytes, until more are needed or a handler is working.
  func advance() {
    // A response inside of the handler calls this method again. The loop below continues with it.
    // What the last turn left waits for the next one, also when a response is written meanwhile.
    guard !isAdvancing, !isContinuing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    do throws(HTTPRefusal) {
      while try advanceOnce() {}
    } catch {
      refuse(error)
    }
  }

  /// Leaves the rest of the received bytes to the next turn of the loop.
  func continueLater() {
    guard !isContinuing else { return }
    isContinuing = true
    server.continueLater(self)
  }

  /// Processes what the last turn left.
  func continueTurn() {
    isContinuing = false
    if case .closed = state { return }
    turn = HTTPTurn()
    advance()
    if case .closed = state { return }
    // The socket reports what it has, but not what TLS has taken from it.
    if tls != nil { receive(clientClosed: false) }
    updateInterest()
  }

  private func advanceOnce() throws(HTTPRefusal) -> Bool {
    switch state {
    case .waiting:
      guard unsentBytes <= server.limits.maximumUnsentBytes else { return false }
      skipEmptyLine()
      guard inputStart < input.count else {
        forgetInput()
        return false
      }
      guard turn.takeStep() else {
        continueLater()
        return false
      }
      if isKnownUniquelyReferenced(&request), request.isHead(of: input, from: inputStart) {
        request.forgetBody()
        request.isNewHead = false
        inputStart += request.head.count
        try beginBody()
        return true
      }
      scanner = HTTPHeadScanner()
      enter(.head)
      return true
    case .head:
      if requestCount == 0, mayBeHTTP2 {
        guard input.count - inputStart >= Self.preface.utf8CodeUnitCount else { return false }
        beginHTTP2()
        return true
      }
      guard let end = try scanHead() else { return false }
      try beginRequest(headBytes: end)
      return true
    case .body:
      return try takeBody()
    case .upgraded:
      upgraded?.receive()
      if inputStart == input.count { forgetInput() }
      return false
    case .handshake, .working, .streaming, .closing, .lingering, .closed:
      return false
    }
  }

  private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\n"

  /// Whether all bytes that are there begin HTTP/2, by a client that knows that the server speaks
  /// it (RFC 9113, 3.3 and 3.4).
  private var mayBeHTTP2: Bool {
    guard server.configuration.speaksHTTP2, tls == nil else { return false }
    return Self.preface.withUTF8Buffer { preface in
      unsafe zip(input[inputStart...], preface).allSatisfy { $0 == $1 }
    }
  }

  private func beginHTTP2() {
    guard let session = HTTP2Session(self, handler) else { return close(.socketError) }
    upgraded = session
    enter(.upgraded)
    session.receive()
  }

  private func scanHead() throws(HTTPRefusal) -> Int? {
    let input = input
    return try scanner.scan(
      input.span.extracting(droppingFirst: inputStart), limits: server.limits)
  }

  /// Skips the empty line that some clients send after a body (RFC 9112, 2.2).
  private func skipEmptyLine() {
    if inputStart + 1 < input.count, input[inputStart] == 0x0D, input[inputStart + 1] == 0x0A {
      inputStart += 2
    }
  }

  private func beginRequest(headBytes: Int) throws(HTTPRefusal) {
    if isKnownUniquelyReferenced(&request) { request.reset() } else { request = HTTPRequest() }
    request.head.append(contentsOf: input[inputStart..<inputStart + headBytes])
    inputStart += headBytes
    request.peer = peer
    request.isSecure = tls != nil
    try request.parseHead(limits: server.limits, places: &server.fieldPlaces)
    try beginBody()
  }

  private func beginBody() throws(HTTPRefusal) {
    requestID = nil
    requestCount += 1
    try countClient()
    switch request.framing {
    case .none, .length(0):
      dispatch()
      return
    case .length(let length):
      request.body.reserveCapacity(min(length, 64 * 1024))
    case .chunked:
      chunked = HTTPChunkedBody(maximumBytes: request.maximumBodyBytes(server.limits))
    }
    if request.isUpload { try reserveUpload() }
    enter(.body)
    if request.expectsContinue, inputStart == input.count {
      appendOutputBody()
      output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
      planFlush()
    }
  }

  private func countClient() throws(HTTPRefusal) {
    forgetClient()
    guard let client = server.quota.client(of: request) else { return }
    guard server.quota.take(for: client) else { throw .tooManySockets }
    countedClient = client
  }

  /// Stops counting the proxy's client, whose response was sent or never will be.
  func forgetClient() {
    guard let client = countedClient else { return }
    server.quota.giveBack(for: client)
    countedClient = nil
  }

  /// Counts the whole upload, received or not, until the response.
  private func reserveUpload() throws(HTTPRefusal) {
    var bytes = request.maximumBodyBytes(server.limits)
    if case .length(let length) = request.framing { bytes = length }
    guard server.uploads.admits(bytes) else { throw .tooManyUploads }
    server.uploads.change(from: uploadedBytes, to: bytes)
    uploadedBytes = bytes
  }

  func endUpload() {
    guard uploadedBytes > 0 else { return }
    server.uploads.change(from: uploadedBytes, to: 0)
    uploadedBytes = 0
  }

  private func takeBody() throws(HTTPRefusal) -> Bool {
    let isComplete: Bool
    if case .length(let length) = request.framing {
      let taken = min(length - request.body.count, input.count - inputStart)
      request.body.append(contentsOf: input[inputStart..<inputStart + taken])
      inputStart += taken
      isComplete = request.body.count == length
    } else {
      inputStart = try chunked.decode(
        input, from: inputStart, into: &request.body, limits: server.limits)
      isComplete = chunked.isComplete
    }
    if inputStart == input.count { forgetInput() }
    if isComplete { dispatch() }
    return isComplete
  }

  private func dispatch() {
    exchangeNumber += 1
    enter(.working)
    handler(request, HTTPExchange(responder: self, number: exchangeNumber))
  }

  private func forgetInput() {
    input.removeAll(keepingCapacity: input.capacity <= 16 * 1024)
    inputStart = 0
  }

  /// Drops consumed bytes, before more are appended.
  func compactInput() {
    guard inputStart > 0 else { return }
    if inputStart == input.count {
      forgetInput()
    } else {
      input.removeSubrange(..<inputStart)
      inputStart = 0
    }
  }

  // MARK: The end

  /// Ends the connection, because the client cannot or does not want to receive the response any
  /// more.
  func clientLeft(_ reason: HTTPEvent.ClosingReason) {
    clientHasClosed = true
    switch state {
    case .working where reason == .byClient:
      // The client may have closed only its sending half. A complete close shows as a reset, or
      // when the response is written.
      break
    case .working, .streaming:
      server.report(.clientGone)
      close(.byClient)
    case .lingering: close(closingReason)
    case .upgraded where upgraded?.isClosing != true: close(reason)
    case .closed: break
    default:
      if unsentBytes > 0, reason == .byClient {
        // It may have closed only its sending half.
        closingReason = .byClient
        enter(.closing)
      } else {
        close(reason)
      }
    }
  }

  func drain() {
    switch state {
    case .handshake: close(.shutdown)
    case .waiting where unsentBytes == 0 && inputStart == input.count: close(.shutdown)
    case .waiting where inputStart == input.count:
      closingReason = .shutdown
      enter(.closing)
    case .streaming:
      closingReason = .shutdown
      endStream(exchangeNumber, stays: false)
    case .upgraded: upgraded?.drain()
    default: break
    }
  }

  func close(_ reason: HTTPEvent.ClosingReason) {
    if case .closed = state { return }
    let isServing = isWorking(on: exchangeNumber) || isStreaming(exchangeNumber)
    let handler = isServing ? closeHandler : nil
    closeHandler = nil
    let owner = upgraded
    upgraded = nil
    state = .closed
    holdBytes(0)
    forgetClient()
    endUpload()
    if let token { server.loop.unregister(token) }
    token = nil
    Glibc.close(descriptor)
    server.remove(self, reason)
    handler?()
    owner?.ended()
  }

  /// Closes the connection without sending the unsent bytes.
  func reset(_ reason: HTTPEvent.ClosingReason) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(reason)
  }

  func checkDeadlines(_ now: UInt64, isCrowded: Bool) {
    let limits = server.limits
    if unsentBytes > 0,
      passed(limits.writeStall, since: writeStart, now)
        || pace.isTooSlow(
          at: now, grace: limits.readGrace, least: limits.minimumReadBytesPerSecond)
    {
      reset(.writeStalled)
      return
    }
    switch state {
    case .handshake: if passed(limits.tlsHandshake, since: stateStart, now) { close(.timeout) }
    case .waiting:
      guard unsentBytes == 0 else { return }
      let idle = isCrowded ? min(limits.idle, limits.crowdedIdle) : limits.idle
      if passed(idle, since: stateStart, now) {
        close(.idle)
      } else if passed(.seconds(2), since: stateStart, now) {
        releaseBuffers()
      }
    case .head: if passed(limits.header, since: stateStart, now) { refuse(.timeout) }
    case .body: if bodyIsLate(now) { refuse(.timeout) }
    case .working: if passed(limits.answer, since: stateStart, now) { refuse(.unanswered) }
    case .upgraded: upgraded?.checkDeadlines(now, isCrowded: isCrowded)
    case .streaming:
      if unsentBytes == 0, passed(.seconds(2), since: stateStart, now), output.capacity > 0 {
        output = []
      }
    case .closing, .closed: break
    case .lingering:
      if passed(limits.linger, since: lastLingeringByte, now)
        || passed(bodyLimit, since: stateStart, now)
      {
        close(closingReason)
      }
    }
  }

  /// Releases the buffers of an idle client. Thousands of clients may be idle.
  func releaseBuffers() {
    if input.isEmpty, input.capacity > 0 { input = [] }
    if output.isEmpty, output.capacity > 0 { output = [] }
    if request.head.capacity > 0 { request = HTTPRequest() }
  }

  private func passed(_ limit: Duration, since start: UInt64, _ now: UInt64) -> Bool {
    now > start && now - start > limit.nanoseconds
  }

  /// The time from the first to the last byte of the request's body.
  private var bodyLimit: Duration {
    let limits = server.limits
    return request.isUpload ? limits.uploads?.body ?? limits.body : limits.body
  }

  private func bodyIsLate(_ now: UInt64) -> Bool {
    let limits = server.limits
    if passed(bodyLimit, since: stateStart, now) { return true }
    guard passed(limits.bodyGrace, since: stateStart, now) else { return false }
    let milliseconds = Int((now - stateStart) / 1_000_000)
    return request.body.count < limits.minimumBodyBytesPerSecond * milliseconds / 1000
  }
}
