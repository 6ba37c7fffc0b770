/// One request of an HTTP/2 connection and its response (RFC 9113, 8).
final class HTTP2Stream: HTTPResponder {
  let number: Int32
  let server: HTTPServer
  /// The session; nil once the stream has ended.
  private(set) var session: HTTP2Session?

  enum State {
    /// Fields of the head arrive.
    case head
    case body
    /// The request is complete, and its handler is called after the input that was read with it.
    case received
    /// The handler has the request.
    case working
    /// The response is sent in parts, and its end is not known.
    case streaming
    /// The response is complete, and being sent.
    case sending
    case ended
  }

  private(set) var state = State.head
  private var stateStart = coarseNow()

  private var method: [UInt8] = []
  private var path: [UInt8] = []
  private var authority: [UInt8] = []
  private var fieldLines: [UInt8] = []
  private var fieldCount = 0
  private var refusal: HTTPRefusal?
  var hasTooLargeHead: Bool { refusal == .headersTooLarge }
  let request = HTTPRequest()

  /// Whether nothing more of the request follows.
  private(set) var hasWholeRequest = false

  var requestID: String?
  var closeHandler: (() -> Void)?
  private(set) var isEndless = false
  private var countedClient: HTTPPeer?
  private var uploadedBytes = 0
  /// The number of bytes of the body that the session counts.
  private var countedBytes = 0

  /// The bytes of the response's body that were not sent, from `outputStart` on.
  private var output: [UInt8] = []
  private var outputStart = 0
  private var heldBytes = 0
  private var writeStart: UInt64 = 0
  private var pace = MinimumReadRate()
  /// Whether nghttp2 was told that there are no bytes at the moment.
  private var isDeferred = false

  init(_ number: Int32, of session: HTTP2Session, server: HTTPServer) {
    self.number = number
    self.session = session
    self.server = server
  }

  private var pendingBytes: Int { output.count - outputStart }

  private func enter(_ state: State) {
    self.state = state
    stateStart = coarseNow()
  }

  // MARK: The request

  /// Takes a field of the head. nghttp2 has validated names, values and their order; fields of
  /// trailers are dropped.
  func take(field name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    guard case .head = state, refusal == nil else { return }
    fieldCount += 1
    let bytes = fieldLines.count + path.count + name.count + value.count + 4
    guard bytes <= server.limits.maximumHeaderBytes, fieldCount <= server.limits.maximumHeaderFields
    else {
      refusal = .headersTooLarge
      return
    }
    guard unsafe name.first == UInt8(ascii: ":") else {
      // The authority takes its place, and says the same (RFC 9113, 8.3.1).
      if unsafe name.elementsEqual("host".utf8), !authority.isEmpty {
        if unsafe !value.elementsEqual(authority) { refusal = .malformed(.host) }
        return
      }
      unsafe fieldLines.append(contentsOf: name)
      fieldLines.append(static: ": ")
      unsafe fieldLines.append(contentsOf: value)
      fieldLines.append(static: "\r\n")
      return
    }
    if unsafe name.elementsEqual(":method".utf8) {
      method = unsafe Array(value)
    } else if unsafe name.elementsEqual(":path".utf8) {
      path = unsafe Array(value)
    } else if unsafe name.elementsEqual(":authority".utf8) {
      authority = unsafe Array(value)
    }
  }

  /// The head is complete: it is written as one of HTTP/1.1, for one parser and its checks.
  func headEnded() {
    guard case .head = state, let session else { return }
    let words = [method, path, authority]
    guard words.allSatisfy({ $0.allSatisfy { $0 > 0x20 && $0 != 0x7F } }) else {
      return refuse(.malformed(.target))
    }
    request.head = method + [0x20] + path
    request.head.append(static: " HTTP/1.1\r\n")
    if !authority.isEmpty {
      request.head.append(static: "host: ")
      request.head += authority
      request.head.append(static: "\r\n")
    }
    request.head += fieldLines
    request.head.append(static: "\r\n")
    (method, path, authority, fieldLines) = ([], [], [], [])
    request.peer = session.peer
    request.isSecure = session.isSecure
    enter(.body)
    do throws(HTTPRefusal) {
      if let refusal { throw refusal }
      var scanner = HTTPHeadScanner()
      let head = request.head
      guard try scanner.scan(head.span, limits: server.limits) == head.count else {
        throw .malformed(.syntax)
      }
      try request.parseHead(limits: server.limits, places: &server.fieldPlaces)
      try countClient()
      if request.isUpload { try reserveUpload() }
    } catch {
      return refuse(error)
    }
    if request.expectsContinue { session.sendContinue(number) }
  }

  private func countClient() throws(HTTPRefusal) {
    guard let client = server.quota.client(of: request) else { return }
    guard server.quota.take(for: client) else { throw .tooManySockets }
    countedClient = client
  }

  private func reserveUpload() throws(HTTPRefusal) {
    var bytes = request.maximumBodyBytes(server.limits)
    if case .length(let length) = request.framing { bytes = length }
    guard server.uploads.admits(bytes) else { throw .tooManyUploads }
    server.uploads.change(from: 0, to: bytes)
    uploadedBytes = bytes
  }

  func take(body bytes: UnsafeRawBufferPointer) {
    guard case .body = state, let session else { return }
    guard request.body.count + bytes.count <= request.maximumBodyBytes(server.limits) else {
      return refuse(.bodyTooLarge)
    }
    if !request.isUpload {
      guard session.reserve(bytes.count) else { return refuse(.tooManyUploads) }
      countedBytes += bytes.count
    }
    unsafe request.body.append(contentsOf: bytes)
  }

  /// Nothing more of the request follows.
  func requestEnded() {
    hasWholeRequest = true
    guard case .body = state else { return }
    enter(.received)
    session?.received(self)
  }

  func dispatch(to handler: HTTPServer.Handler) {
    guard case .received = state else { return }
    enter(.working)
    handler(request, HTTPExchange(responder: self, number: UInt64(number)))
  }

  // MARK: The response

  func isWorking(on exchange: UInt64) -> Bool {
    if case .working = state { exchange == UInt64(number) } else { false }
  }

  func isStreaming(_ exchange: UInt64) -> Bool {
    if case .streaming = state { exchange == UInt64(number) } else { false }
  }

  func answer(
    _ exchange: UInt64, _ status: HTTPStatus, contentType: String?, headers: [HTTPField],
    length: Int?, body: [UInt8]?, write: (inout [UInt8]) -> Void
  ) {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return }
    closeHandler = nil
    send(
      status, contentType: contentType, headers: headers, length: length, body: body, write: write)
  }

  private func send(
    _ status: HTTPStatus, contentType: String?, headers: [HTTPField], length: Int?,
    body: [UInt8]?, write: (inout [UInt8]) -> Void
  ) {
    endUpload()
    if let body { output = body } else { write(&output) }
    let whole = length ?? output.count
    if request.method == .head || status.forbidsBody { output = [] }
    enter(.sending)
    hold()
    session?.respond(
      number, server.headBytes(status, contentType: contentType, headers: headers),
      requestID: requestID, length: status.forbidsBody ? nil : whole, hasBody: !output.isEmpty)
  }

  func beginStream(
    _ exchange: UInt64, contentType: String, headers: [HTTPField], isEndless: Bool
  ) -> Bool {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return false }
    endUpload()
    self.isEndless = isEndless
    enter(.streaming)
    session?.respond(
      number, server.headBytes(.ok, contentType: contentType, headers: headers),
      requestID: requestID, length: nil, hasBody: true)
    return true
  }

  func streamPart(_ exchange: UInt64, _ bytes: [UInt8], isFollowed: Bool) -> Bool {
    guard isStreaming(exchange), !bytes.isEmpty else { return true }
    guard pendingBytes <= server.limits.maximumUnsentBytes, server.budget.admits(bytes.count) else {
      return false
    }
    // What was sent is dropped, also of a response that always has more.
    if outputStart > 0 { output.removeSubrange(..<outputStart) }
    outputStart = 0
    output += bytes
    hold()
    resume(isFollowed: isFollowed)
    return true
  }

  func endStream(_ exchange: UInt64, stays: Bool) {
    guard isStreaming(exchange) else { return }
    let handler = closeHandler
    closeHandler = nil
    enter(.sending)
    // A content without its end must not look like a whole one.
    if stays { resume(isFollowed: false) } else { session?.cancel(number) }
    if !stays { handler?() }
  }

  /// WebSockets over HTTP/2 (RFC 8441) are not offered.
  func upgrade(_ exchange: UInt64, headers: [HTTPField]) -> WebSocket? { nil }

  private func resume(isFollowed: Bool) {
    if isDeferred {
      isDeferred = false
      session?.resume(number)
    }
    session?.planFlush(isFollowed: isFollowed)
  }

  /// Responds in place of the handler.
  private func refuse(_ refusal: HTTPRefusal) {
    switch state {
    case .streaming, .sending, .ended: return
    case .head, .body, .received, .working: break
    }
    let peer = session?.peer ?? .local
    server.report(
      .requestRefused(refusal, peer: request.isParsed ? server.quota.sender(of: request) : peer))
    let handler = closeHandler
    closeHandler = nil
    let (contentType, requestID, body) = server.configuration.refusalBody(refusal, requestID)
    self.requestID = requestID
    request.forgetBody()
    send(
      refusal.status, contentType: contentType, headers: refusal.headers, length: nil, body: body
    ) { _ in }
    handler?()
  }

  // MARK: Sending the body

  enum Portion {
    case bytes(Int, isLast: Bool)
    case later
  }

  /// Copies the next bytes of the body.
  func next(into buffer: UnsafeMutableRawBufferPointer) -> Portion {
    let count = min(buffer.count, pendingBytes)
    let mayFollow = if case .streaming = state { true } else { false }
    if count == 0, mayFollow {
      isDeferred = true
      return .later
    }
    unsafe output.withUnsafeBytes { bytes in
      unsafe buffer.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[outputStart..<outputStart + count]))
    }
    outputStart += count
    if outputStart == output.count {
      output = []
      outputStart = 0
    }
    hold()
    writeStart = coarseNow()
    pace.took(count, leaving: pendingBytes, at: writeStart)
    return .bytes(count, isLast: pendingBytes == 0 && !mayFollow)
  }

  /// Counts the unsent bytes in the budget.
  private func hold() {
    let count = pendingBytes
    if count == 0 {
      pace = MinimumReadRate()
    } else if heldBytes == 0 {
      writeStart = coarseNow()
      pace.begin(at: writeStart)
    }
    guard count != heldBytes else { return }
    server.budget.change(from: heldBytes, to: count)
    heldBytes = count
  }

  // MARK: The end

  private func endUpload() {
    if uploadedBytes > 0 { server.uploads.change(from: uploadedBytes, to: 0) }
    uploadedBytes = 0
    if countedBytes > 0 { session?.giveBack(countedBytes) }
    countedBytes = 0
  }

  /// The stream is closed, by either side or with its connection.
  func ended() {
    if case .ended = state { return }
    var isServing = false
    switch state {
    case .working, .streaming: isServing = true
    default: break
    }
    let handler = closeHandler
    closeHandler = nil
    endUpload()
    state = .ended
    output = []
    outputStart = 0
    hold()
    if let client = countedClient { server.quota.giveBack(for: client) }
    countedClient = nil
    session = nil
    if isServing { server.report(.clientGone) }
    if isServing { handler?() }
  }

  func checkDeadlines(_ now: UInt64) {
    let limits = server.limits
    func passed(_ limit: Duration, since start: UInt64) -> Bool {
      now > start && now - start > limit.nanoseconds
    }
    if pendingBytes > 0,
      passed(limits.writeStall, since: writeStart)
        || pace.isTooSlow(
          at: now, grace: limits.readGrace, least: limits.minimumReadBytesPerSecond)
    {
      session?.cancel(number)
      return
    }
    switch state {
    case .head: if passed(limits.header, since: stateStart) { refuse(.timeout) }
    case .body:
      let whole = request.isUpload ? limits.uploads?.body ?? limits.body : limits.body
      if passed(whole, since: stateStart) { refuse(.timeout) }
    case .working: if passed(limits.answer, since: stateStart) { refuse(.unanswered) }
    case .sending:
      // The client has read the response by now, or will not.
      if !hasWholeRequest, pendingBytes == 0, passed(limits.linger, since: stateStart) {
        session?.dropRest(of: number)
      }
    case .received, .streaming, .ended: break
    }
  }

  /// Ends a streamed response, because the server ends.
  func drain() { endStream(UInt64(number), stays: false) }
}
