import Glibc

extension HTTPConnection {
  var unsentBytes: Int { output.count + outputBody.count - outputStart }

  /// Puts an answer behind what is unsent; it is written after the current batch of events.
  ///
  /// - Parameter body: what is not written by `write`, sent from where it is.
  func answer(
    _ exchange: UInt64, _ status: HTTPStatus, contentType: String?, headers: [HTTPField],
    length: Int? = nil, body: [UInt8]? = nil, write: (inout [UInt8]) -> Void
  ) {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return }
    closeHandler = nil
    endUpload()
    let stays =
      request.keepsAlive && requestCount < server.limits.maximumRequestsPerConnection
      && !server.isEnding && !(clientHasClosed && inputStart == input.count)
    append(
      status, contentType: contentType, headers: headers, isHead: request.method == .head,
      connection: stays ? (request.minorVersion == 0 ? "keep-alive" : nil) : "close",
      length: length, write: write)
    if let body, request.method != .head, !status.forbidsBody { outputBody = body }
    if !stays { closingReason = server.isEnding ? .shutdown : .served }
    enter(stays ? .waiting : .closing)
    planFlush()
  }

  // MARK: Answers in parts

  func beginStream(
    _ exchange: UInt64, contentType: String, headers: [HTTPField], isEndless: Bool
  ) -> Bool {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return false }
    endUpload()
    self.isEndless = isEndless
    append(
      .ok, contentType: contentType, headers: headers, isHead: false,
      connection: request.minorVersion == 0 ? "close" : nil, length: 0,
      isChunked: request.minorVersion > 0
    ) { _ in }
    if request.minorVersion == 0 { removeLength() }
    enter(.streaming)
    planFlush()
    return true
  }

  /// HTTP/1.0 knows no chunks: the connection's end is the body's.
  private func removeLength() {
    let line = Array("Content-Length: 0\r\n\r\n".utf8)
    guard output.suffix(line.count).elementsEqual(line) else { return }
    output.removeLast(line.count)
    output.append(static: "\r\n")
  }

  /// - Returns: false when too much is unsent to keep this as well.
  func streamPart(_ exchange: UInt64, _ bytes: [UInt8], isFollowed: Bool) -> Bool {
    guard isStreaming(exchange), !bytes.isEmpty else { return true }
    guard unsentBytes <= server.limits.maximumUnsentBytes, server.budget.admits(bytes.count) else {
      return false
    }
    if request.minorVersion > 0 {
      output.append(contentsOf: String(bytes.count, radix: 16).utf8)
      output.append(static: "\r\n")
    }
    output.append(contentsOf: bytes)
    if request.minorVersion > 0 { output.append(static: "\r\n") }
    enter(.streaming)
    planFlush(isFollowed: isFollowed)
    return true
  }

  /// - Parameter stays: the client has all of it, and may send another request; else who listens for its leaving is told.
  func endStream(_ exchange: UInt64, stays: Bool) {
    guard isStreaming(exchange) else { return }
    let handler = closeHandler
    closeHandler = nil
    if request.minorVersion > 0 { output.append(static: "0\r\n\r\n") }
    let remains = stays && request.keepsAlive && request.minorVersion > 0 && !server.isEnding
    enter(remains ? .waiting : .closing)
    planFlush()
    if !stays { handler?() }
  }

  /// Says yes to another protocol, which what comes from now on belongs to.
  func upgrade(_ exchange: UInt64, headers: [HTTPField]) -> WebSocket? {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return nil }
    closeHandler = nil
    append(
      .switchingProtocols, contentType: nil, headers: headers, isHead: false, connection: "Upgrade",
      length: nil
    ) { _ in }
    let socket = WebSocket(self)
    webSocket = socket
    request = HTTPRequest()
    enter(.upgraded)
    planFlush()
    return socket
  }

  /// Answers in the handler's place, and for the last time.
  func refuse(_ refusal: HTTPRefusal) {
    server.report(.requestRefused(refusal, peer: peer))
    endUpload()
    if case .working = state {
      let handler = closeHandler
      closeHandler = nil
      enter(.closing)
      handler?()
    }
    let (contentType, requestID, body) = server.configuration.refusalBody(refusal, requestID)
    self.requestID = requestID
    append(
      refusal.status, contentType: contentType,
      headers: refusal.headers,
      isHead: false, connection: "close", length: body.count
    ) { $0.append(contentsOf: body) }
    closingReason = refusal == .timeout ? .timeout : .refused
    enter(.closing)
    planFlush()
  }

  /// - Parameters:
  ///   - moment: when what is unsent was made, if not as the connection came into its state.
  ///   - isFollowed: more is about to be made, and may be written with it.
  func planFlush(since moment: UInt64? = nil, isFollowed: Bool = false) {
    let moment = moment ?? stateStart
    if unsentBytes > 0, !wantsWritable { writeStart = moment }
    pace.begin(at: moment)
    guard !isFlushPlanned else { return }
    guard !isFollowed else { return server.flushSoon(self) }
    isFlushPlanned = true
    server.flushLater(self)
  }

  private func append(
    _ status: HTTPStatus, contentType: String?, headers: [HTTPField], isHead: Bool,
    connection: StaticString?, length: Int?, isChunked: Bool = false,
    write: (inout [UInt8]) -> Void
  ) {
    appendOutputBody()
    output.append(contentsOf: server.headBytes(status, contentType: contentType, headers: headers))
    if let requestID { output.append(requestID: requestID) }
    if let connection {
      output.append(static: "Connection: ")
      output.append(static: connection)
      output.append(static: "\r\n")
    }
    guard !status.forbidsBody else {
      output.append(static: "\r\n")
      return
    }
    if isChunked {
      output.append(static: "Transfer-Encoding: chunked\r\n\r\n")
      return
    }
    if let length {
      output.append(static: "Content-Length: ")
      output.append(decimal: length)
      output.append(static: "\r\n\r\n")
      if !isHead { write(&output) }
      return
    }
    // The length is known only after the body is written: leave room for it.
    output.append(static: "Content-Length:           \r\n\r\n")
    let bodyStart = output.count
    write(&output)
    let written = output.count - bodyStart
    output.write(decimal: written, endingAt: bodyStart - 4)
    if isHead { output.removeLast(written) }
  }

  /// Writes what there is; once all is out, ends the connection or goes on with requests that wait.
  func flush() {
    isFlushPlanned = false
    isFlushExpected = false
    if case .closed = state { return }
    let works = writeOut()
    // What was sent of an answer is let go of with the rest of it.
    holdBytes(unsentBytes > 0 ? output.count + outputBody.count : 0)
    guard works else {
      clientLeft(.socketError)
      return
    }
    switch state {
    case .closing where unsentBytes == 0:
      forgetClient()
      finish()
    case .waiting, .upgraded:
      if unsentBytes == 0, case .waiting = state { forgetClient() }
      if inputStart < input.count { advance() }
      // Decrypted bytes wake nobody.
      if tls?.hasPending == true { receive(clientClosed: false) }
    default: break
    }
    updateInterest()
  }

  /// Counts what this connection keeps for its client.
  func holdBytes(_ count: Int) {
    guard count != heldBytes else { return }
    server.budget.change(from: heldBytes, to: count)
    heldBytes = count
  }

  /// - Returns: whether the socket still works.
  private func writeOut() -> Bool {
    if case .handshake = state { return true }
    wantsWritable = false
    while unsentBytes > 0 {
      let written: Int
      if let tls {
        appendOutputBody()
        let outcome = unsafe output.withUnsafeBytes {
          unsafe tls.write(UnsafeRawBufferPointer(rebasing: $0[outputStart...]))
        }
        switch outcome {
        case .done(let count): written = count
        case .wantsWrite:
          wantsWritable = true
          return true
        case .wantsRead: return true
        case .closed, .failed: return false
        }
      } else {
        written = sendOutput()
        if written < 0 {
          guard errno == EAGAIN || errno == EINTR else { return false }
          wantsWritable = true
          return true
        }
      }
      outputStart += written
      if unsentBytes > 0 {
        writeStart = coarseNow()
        pace.took(written, leaving: unsentBytes, at: writeStart)
      }
    }
    output.removeAll(keepingCapacity: output.capacity <= 64 * 1024)
    outputBody = []
    outputStart = 0
    pace = ReadingPace()
    return true
  }

  /// Before anything is put behind it.
  func appendOutputBody() {
    guard !outputBody.isEmpty else { return }
    output.append(contentsOf: outputBody)
    outputBody = []
  }

  /// - Returns: how much the system took; less than none when it took nothing, for the reason in `errno`.
  private func sendOutput() -> Int {
    unsafe output.withUnsafeBytes { output in
      unsafe outputBody.withUnsafeBytes { body in
        let head = unsafe UnsafeMutableRawBufferPointer(
          mutating: UnsafeRawBufferPointer(rebasing: output[min(outputStart, output.count)...]))
        if outputBody.isEmpty {
          return unsafe send(descriptor, head.baseAddress, head.count, Int32(MSG_NOSIGNAL))
        }
        let rest = unsafe UnsafeMutableRawBufferPointer(
          mutating: UnsafeRawBufferPointer(rebasing: body[max(outputStart - output.count, 0)...]))
        return unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
          unsafe parts.initializeElement(
            at: 0, to: iovec(iov_base: head.baseAddress, iov_len: head.count))
          unsafe parts.initializeElement(
            at: 1, to: iovec(iov_base: rest.baseAddress, iov_len: rest.count))
          var message = unsafe msghdr()
          unsafe message.msg_iov = parts.baseAddress
          unsafe message.msg_iovlen = parts.count
          return unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
        }
      }
    }
  }

  /// The last answer is out: say so, and wait for the client to close as well.
  private func finish() {
    guard !clientHasClosed else {
      close(closingReason)
      return
    }
    tls?.sayGoodbye()
    shutdown(descriptor, Int32(SHUT_WR))
    enter(.lingering)
  }
}
