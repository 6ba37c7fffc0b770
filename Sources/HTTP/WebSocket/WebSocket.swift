import CWSLay

/// A client's socket after its upgrade to WebSocket (RFC 6455): complete messages in and out.
///
/// It belongs to its connection's loop. wslay validates received frames, and answers control
/// frames. Its state of 8 KiB exists only during a message and while the socket closes, because
/// thousands of sockets are idle most of the time. Other messages are framed here.
@safe package final class WebSocket: UpgradedProtocol {
  package enum Message: Sendable, Equatable {
    /// A text, whose UTF-8 was validated.
    case text([UInt8])
    case binary
  }

  /// The connection; nil once the socket has gone.
  private var connection: HTTPConnection?
  private var context: wslay_event_context_ptr?
  /// The bytes that wslay may read: complete frames of the connection's input, during a call.
  private var feed = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var received: [Message] = []
  /// Whether the last data frame was not the last of its message.
  private var isInMessage = false
  private var isDelivering = false
  private var idleFrames = Allowance(
    maximum: HTTP2Limits.idleFrames, perSecond: HTTP2Limits.idleFramesPerSecond)
  /// The time since which a ping is unanswered; 0 if none is.
  private var askedSince: UInt64 = 0

  /// Whether either side has closed the WebSocket.
  package private(set) var isClosing = false
  /// Called on the loop; must not block.
  package var onMessage: ((Message) -> Void)?
  /// Called on the loop, once, when nothing can be sent any more: as soon as either side has
  /// closed.
  package var onClose: (() -> Void)?

  init(_ connection: HTTPConnection) { self.connection = connection }

  deinit { release() }

  // MARK: Sending

  /// The number of bytes that the client has not taken.
  package var unsentBytes: Int { connection?.unsentBytes ?? 0 }

  /// Sends a text message; nothing once the socket is closing.
  ///
  /// - Parameter isFollowed: whether another message is about to be sent, so that both may be
  ///   together.
  /// - Returns: false if too much is unsent; this message is not sent then.
  package func send(_ text: [UInt8], isFollowed: Bool = false) -> Bool {
    guard let connection, !isClosing else { return true }
    guard connection.unsentBytes <= connection.server.limits.maximumUnsentBytes,
      connection.server.budget.admits(text.count)
    else { return false }
    write(WSLAY_TEXT_FRAME, text, isFollowed: isFollowed)
    return true
  }

  /// Closes the WebSocket with a code and a reason. The client then has a moment to close, too.
  ///
  /// - Parameter reason: a text of which the first 123 bytes are sent.
  package func close(_ code: UInt16, _ reason: String) {
    guard connection != nil, !isClosing, let context = unsafe ready() else { return }
    isClosing = true
    var bytes = Array(reason.utf8.prefix(123))
    // No part of a character.
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    _ = unsafe wslay_event_queue_close(context, code, bytes, bytes.count)
    connection?.enter(.upgraded)
    flushFrames()
    end()
  }

  private func end() {
    isClosing = true
    let handler = onClose
    onClose = nil
    onMessage = nil
    handler?()
  }

  /// Writes a message as one frame (RFC 6455, 5.2).
  private func write(_ opcode: wslay_opcode, _ payload: [UInt8], isFollowed: Bool = false) {
    guard let connection else { return }
    let length = payload.count
    connection.output.append(0x80 | UInt8(opcode.rawValue))
    switch length {
    case ...125: connection.output.append(UInt8(length))
    case ...65_535:
      connection.output += [126, UInt8(length >> 8), UInt8(length & 0xFF)]
    default:
      connection.output.append(127)
      for shift in stride(from: 56, through: 0, by: -8) {
        connection.output.append(UInt8(length >> shift & 0xFF))
      }
    }
    connection.output += payload
    // The client may not have said anything for long.
    connection.planFlush(since: coarseNow(), isFollowed: isFollowed)
  }

  /// Passes queued frames to the connection, and ends it when both sides have closed.
  private func flushFrames() {
    guard let connection, let context = unsafe context else { return }
    guard unsafe wslay_event_send(context) == 0 else { return connection.close(.socketError) }
    connection.planFlush()
    if unsafe wslay_event_get_close_sent(context) != 0 { isClosing = true }
    if unsafe wslay_event_want_read(context) == 0, unsafe wslay_event_want_write(context) == 0 {
      connection.closingReason = .served
      connection.enter(.closing)
    }
  }

  // MARK: Receiving

  /// Processes the complete frames that have arrived.
  func receive() {
    // A handler that sends calls this method again.
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    askedSince = 0
    while let connection, case .upgraded = connection.state {
      let limits = connection.server.limits
      switch WebSocketFrame.end(
        in: connection.input, from: connection.inputStart,
        maximumPayload: limits.maximumMessageBytes)
      {
      case .unknown: return
      case .refused(let code): return refuse(connection, code)
      case .known(let length):
        guard connection.turn.takeStep() else { return connection.continueLater() }
        guard admits(connection.input[connection.inputStart], length) else {
          return refuse(connection, 1008)
        }
        connection.enter(.upgraded)
        guard judge(connection, length) else { return refuse(connection, 1002) }
        connection.inputStart += length
      }
      let messages = received
      received.removeAll()
      for message in messages where !isClosing { onMessage?(message) }
      flushFrames()
      if isClosing { end() } else if !isInMessage { release() }
    }
  }

  /// Counts a frame that asks for work without a message: a ping, a pong, or an empty part.
  private func admits(_ first: UInt8, _ length: Int) -> Bool {
    let isControl = first & 0x08 != 0
    let isEmptyPart = first & 0x80 == 0 && length <= 6
    guard isControl || isEmptyPart else { return true }
    return idleFrames.take(at: coarseNow())
  }

  /// Releases wslay's state.
  private func release() {
    guard let context = unsafe context else { return }
    unsafe wslay_event_context_free(context)
    unsafe self.context = nil
  }

  private func judge(_ connection: HTTPConnection, _ length: Int) -> Bool {
    guard let context = unsafe ready() else { return false }
    return unsafe connection.input.withUnsafeBytes { bytes in
      unsafe feed = unsafe UnsafeRawBufferPointer(
        rebasing: bytes[connection.inputStart..<connection.inputStart + length])
      defer { unsafe feed = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
      return unsafe wslay_event_recv(context) == 0
    }
  }

  /// Closes the WebSocket because of a frame that is invalid. If wslay found that, it reports it
  /// without a code.
  private func refuse(_ connection: HTTPConnection, _ code: UInt16) {
    release()
    let reason =
      switch code {
      case 1008: "Too many frames without a message"
      case 1009: "Message too big"
      default: "Protocol error"
      }
    if !isClosing { close(code, reason) }
    connection.closingReason = .refused
    connection.enter(.closing)
    connection.planFlush()
  }

  // MARK: Time

  var lasts: Bool { !isClosing }

  /// Messages are written when they are sent.
  func fill() -> Bool { false }

  func drain() { close(1001, "The server is about to end.") }

  func checkDeadlines(_ now: UInt64, isCrowded: Bool) {
    guard let connection else { return }
    let limits = connection.server.limits
    let silence = now > connection.stateStart ? now - connection.stateStart : 0
    if isClosing {
      if silence > limits.linger.nanoseconds { connection.close(.served) }
    } else if askedSince > 0 {
      if now > askedSince, now - askedSince > limits.pong.nanoseconds { connection.reset(.timeout) }
    } else if silence > limits.ping.nanoseconds {
      askedSince = now
      write(WSLAY_PING, [])
    } else if silence > 2_000_000_000, !isInMessage, connection.unsentBytes == 0 {
      connection.releaseBuffers()
    }
  }

  /// Releases the connection, which was closed.
  func ended() {
    guard connection != nil else { return }
    connection = nil
    end()
  }

  // MARK: wslay

  private func ready() -> wslay_event_context_ptr? {
    if let context = unsafe context { return unsafe context }
    var callbacks = wslay_event_callbacks()
    unsafe callbacks.recv_callback = { context, buffer, length, _, user in
      guard let user = unsafe user, let buffer = unsafe buffer else { return -1 }
      let socket = unsafe Unmanaged<WebSocket>.fromOpaque(user).takeUnretainedValue()
      let count = unsafe min(length, socket.feed.count)
      guard count > 0 else {
        unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
        return -1
      }
      unsafe UnsafeMutableRawPointer(buffer).copyMemory(
        from: socket.feed.baseAddress ?? UnsafeRawPointer(buffer), byteCount: count)
      unsafe socket.feed = unsafe UnsafeRawBufferPointer(rebasing: socket.feed.dropFirst(count))
      return count
    }
    unsafe callbacks.send_callback = { _, bytes, length, _, user in
      guard let user = unsafe user else { return -1 }
      let socket = unsafe Unmanaged<WebSocket>.fromOpaque(user).takeUnretainedValue()
      unsafe socket.connection?.output.append(
        contentsOf: UnsafeBufferPointer(start: bytes, count: length))
      return length
    }
    unsafe callbacks.on_frame_recv_start_callback = { _, frame, user in
      guard let user = unsafe user, let frame = unsafe frame?.pointee else { return }
      let socket = unsafe Unmanaged<WebSocket>.fromOpaque(user).takeUnretainedValue()
      if frame.opcode & 8 == 0 { socket.isInMessage = frame.fin == 0 }
    }
    unsafe callbacks.on_msg_recv_callback = { _, message, user in
      guard let user = unsafe user, let message = unsafe message?.pointee else { return }
      let socket = unsafe Unmanaged<WebSocket>.fromOpaque(user).takeUnretainedValue()
      switch unsafe UInt32(message.opcode) {
      case WSLAY_TEXT_FRAME.rawValue:
        let bytes = unsafe UnsafeBufferPointer(start: message.msg, count: message.msg_length)
        socket.received.append(.text(unsafe Array(bytes)))
      case WSLAY_BINARY_FRAME.rawValue: socket.received.append(.binary)
      case WSLAY_CONNECTION_CLOSE.rawValue: socket.isClosing = true
      default: break
      }
    }
    var made: wslay_event_context_ptr?
    guard
      unsafe wslay_event_context_server_init(
        &made, &callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0,
      let made = unsafe made
    else { return nil }
    unsafe wslay_event_config_set_max_recv_msg_length(
      made, UInt64(max(connection?.server.limits.maximumMessageBytes ?? 0, 0)))
    unsafe context = unsafe made
    return unsafe made
  }
}

/// The end of a client's frame (RFC 6455, 5.2): wslay gets complete ones.
enum WebSocketFrame {
  enum End: Equatable {
    /// The frame is incomplete.
    case unknown
    /// The number of bytes from the frame's start.
    case known(Int)
    /// The frame is too large or invalid; the code to close with.
    case refused(UInt16)
  }

  static func end(in bytes: [UInt8], from start: Int, maximumPayload: Int) -> End {
    let available = bytes.count - start
    guard available >= 2 else { return .unknown }
    let opcode = bytes[start] & 0x0F
    var payload = Int(bytes[start + 1] & 0x7F)
    // A close has a code, of two bytes, or nothing.
    if opcode & 0x08 != 0, payload > 125 || opcode == 8 && payload == 1 { return .refused(1002) }
    let digits = payload == 127 ? 8 : payload == 126 ? 2 : 0
    let header = 2 + digits + (bytes[start + 1] & 0x80 == 0 ? 0 : 4)
    guard available >= header else { return .unknown }
    if digits > 0 {
      payload = 0
      for byte in bytes[start + 2..<start + 2 + digits] {
        guard payload < 1 << 48 else { return .refused(1009) }
        payload = payload << 8 | Int(byte)
      }
    }
    if payload > maximumPayload { return .refused(1009) }
    return available >= header + payload ? .known(header + payload) : .unknown
  }
}
