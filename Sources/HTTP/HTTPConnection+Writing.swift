import Glibc

extension HTTPConnection {
  var unsentBytes: Int { output.count + outputBody.count - outputStart }

  /// Appends a response to the unsent bytes; it is written after the current batch of events.
  ///
  /// - Parameter body: bytes of the body that `write` does not append, sent without copying.
  func answer(
    _ exchange: UInt64, _ status: HTTPStatus, contentType: String?, headers: [HTTPField],
    length: Int?, body: [UInt8]?, write: (inout [UInt8]) -> Void
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

  /// Removes the length of the body. HTTP/1.0 has no chunks, so the end of the connection ends the
  /// body.
  private func removeLength() {
    let line = Array("Content-Length: 0\r\n\r\n".utf8)
    guard output.suffix(line.count).elementsEqual(line) else { return }
    output.removeLast(line.count)
    output.append(static: "\r\n")
  }

  /// Appends a part of a streamed response.
  ///
  /// - Returns: false if too much is unsent to buffer this as well.
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

  /// Ends a streamed response.
  ///
  /// - Parameter stays: whether the client has all of it and may send another request. Otherwise
  ///   the observer of the client's leaving is called.
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

  /// Switches to another protocol, to which all further bytes belong.
  func upgrade(_ exchange: UInt64, headers: [HTTPField]) -> WebSocket? {
    server.loop.preconditionOnLoop()
    guard isWorking(on: exchange) else { return nil }
    closeHandler = nil
    append(
      .switchingProtocols, contentType: nil, headers: headers, isHead: false, connection: "Upgrade",
      length: nil
    ) { _ in }
    let socket = WebSocket(self)
    upgraded = socket
    request = HTTPRequest()
    enter(.upgraded)
    planFlush()
    return socket
  }

  /// Sends an error response in place of the handler, and closes the connection.
  func refuse(_ refusal: HTTPRefusal) {
    // Before its head is read, a request has no other sender than the socket's.
    let sender =
      switch state {
      case .body, .working: server.quota.sender(of: request)
      default: peer
      }
    server.report(.requestRefused(refusal, peer: sender))
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

  /// Schedules a flush.
  ///
  /// - Parameters:
  ///   - moment: the time when the unsent bytes were made, if not when the connection entered its
  ///     state.
  ///   - isFollowed: whether more bytes are about to be made, and may be written together with
  ///     these.
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

  /// Writes the unsent bytes. Once all are sent, it closes the connection or continues with waiting
  /// requests.
  func flush() {
    isFlushPlanned = false
    isFlushExpected = false
    if case .closed = state { return }
    var works: Bool
    var mayFollow: Bool
    repeat {
      mayFollow = if case .upgraded = state { upgraded?.fill() ?? false } else { false }
      works = writeOut()
    } while mayFollow && works && unsentBytes == 0
    // The sent part of a response is freed with the rest.
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
      // Decrypted bytes in the buffer cause no event.
      if tls?.hasPending == true { receive(clientClosed: false) }
    default: break
    }
    updateInterest()
  }

  /// Records the number of bytes that this connection buffers for its client.
  func holdBytes(_ count: Int) {
    guard count != heldBytes else { return }
    server.budget.change(from: heldBytes, to: count)
    heldBytes = count
  }

  /// Writes to the socket.
  ///
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
    pace = MinimumReadRate()
    return true
  }

  /// Moves the separate body into the output. Call before appending anything else.
  func appendOutputBody() {
    guard !outputBody.isEmpty else { return }
    output.append(contentsOf: outputBody)
    outputBody = []
  }

  /// Sends to the socket.
  ///
  /// - Returns: the number of bytes that the system took, or a negative number with the reason in
  ///   `errno`.
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

  /// Ends the sending half after the last response, and waits for the client to close as well.
  private func finish() {
    guard !clientHasClosed else {
      close(closingReason)
      return
    }
    tls?.sayGoodbye()
    shutdown(descriptor, Int32(SHUT_WR))
    enter(.lingering)
    lastLingeringByte = stateStart
  }
}
