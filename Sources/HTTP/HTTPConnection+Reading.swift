import Glibc

extension HTTPConnection {
  private enum Reading {
    case some(Int)
    case nothing
    case ended
    case failed
  }

  /// Reads the bytes that have arrived and processes them.
  ///
  /// One read per event is enough for a plain socket, which reports readiness again. After a client
  /// closed, the socket is read to its end. TLS reads until it needs more from the socket, or has
  /// had its turn.
  func receive(clientClosed: Bool) {
    guard !isContinuing else { return }
    var hasEnded = false
    var readBytes = 0
    reading: while mayRead {
      if case .lingering = state {
        discard()
        return
      }
      compactInput()
      switch readOnce() {
      case .some(let count):
        advance()
        if case .closed = state { return }
        readBytes += count
        if readBytes >= HTTPTurn.readBytes {
          if tls?.hasPending == true { continueLater() }
          return
        }
        let wasFull = count == server.scratch.count
        if !wasFull, tls == nil, !clientClosed { break reading }
      case .nothing: break reading
      case .ended:
        hasEnded = true
        break reading
      case .failed:
        clientLeft(.socketError)
        return
      }
    }
    if isContinuing { return }
    if hasEnded || (clientClosed && !isExpectingMore) { clientLeft(.byClient) }
  }

  /// Whether the socket may still contain the rest of a request.
  private var isExpectingMore: Bool {
    switch state {
    case .handshake, .waiting, .head, .body, .upgraded: mayRead
    case .working, .streaming, .closing, .lingering, .closed: false
    }
  }

  private func readOnce() -> Reading {
    let count: Int
    if let tls {
      switch unsafe server.scratch.withUnsafeMutableBytes({ unsafe tls.read(into: $0) }) {
      case .done(let length): count = length
      case .wantsRead: return .nothing
      case .wantsWrite:
        wantsWritable = true
        return .nothing
      case .closed: return .ended
      case .failed: return .failed
      }
    } else {
      count = unsafe server.scratch.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count == 0 { return .ended }
      if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .failed }
    }
    input.append(contentsOf: server.scratch[..<count])
    return .some(count)
  }

  /// Reads and drops bytes that the client of a refused request is still sending, so that closing
  /// the socket does not destroy the response on its way (RFC 9112, 9.6).
  private func discard() {
    let count = unsafe server.scratch.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    lingeringBytes += max(count, 0)
    lastLingeringByte = coarseNow()
    if count <= 0 || lingeringBytes > server.limits.maximumLingeringBytes { close(closingReason) }
  }
}
