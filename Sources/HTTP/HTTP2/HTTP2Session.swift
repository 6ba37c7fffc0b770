import CNGHTTP2

/// A client's socket that speaks HTTP/2 (RFC 9113): its streams, each with one request.
///
/// It belongs to its connection's loop. nghttp2 reads and writes frames, compresses heads and keeps
/// the windows of flow control. A response waits in its stream until its client's window has room,
/// and the socket takes it.
@safe final class HTTP2Session: UpgradedProtocol {
  /// The connection; nil once the socket has gone.
  private var connection: HTTPConnection?
  private let handler: HTTPServer.Handler
  private let server: HTTPServer
  let peer: HTTPPeer
  let isSecure: Bool
  private var session: OpaquePointer?
  private var streams: [Int32: HTTP2Stream] = [:]
  /// The streams whose requests are complete, and wait until nghttp2 has returned.
  private var complete: [HTTP2Stream] = []
  private var isReading = false
  private var isDraining = false
  private var idleSince = coarseNow()
  /// The bytes of bodies that are being received, or whose requests are unanswered.
  private var receivedBytes = 0
  private var resets = Allowance(
    maximum: HTTP2Limits.resets, perSecond: HTTP2Limits.resetsPerSecond)
  private var idleFrames = Allowance(
    maximum: HTTP2Limits.idleFrames, perSecond: HTTP2Limits.idleFramesPerSecond)

  /// The fields that were decoded of the current head, and their bytes.
  private var headFields = 0
  private var headBytes = 0
  private var lastStream: Int32 = 0
  private var ignoredHeads = Allowance(
    maximum: HTTP2Limits.ignoredHeadBytes, perSecond: HTTP2Limits.ignoredHeadBytesPerSecond)
  /// Frames about windows and priorities that requests and responses give reason for.
  private var dueFrames = 0
  /// Whether the client has provoked more resets than it may.
  private var isFlood = false

  private(set) var isClosing = false
  var lasts: Bool { streams.values.contains(where: \.isEndless) }

  init?(_ connection: HTTPConnection, _ handler: @escaping HTTPServer.Handler) {
    self.connection = connection
    self.handler = handler
    server = connection.server
    peer = connection.peer
    isSecure = connection.tls != nil
    guard makeSession() else { return nil }
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
        value: HTTP2Limits.streams),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
        value: HTTP2Limits.streamWindow),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
        value: UInt32(clamping: connection.server.limits.maximumHeaderBytes)),
    ]
    guard
      unsafe nghttp2_submit_settings(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0,
      unsafe nghttp2_session_set_local_window_size(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(HTTP2Limits.connectionWindow)) == 0
    else { return nil }
  }

  deinit { unsafe nghttp2_session_del(session) }

  // MARK: What streams ask for

  /// Counts bytes of a body.
  ///
  /// - Returns: false if the connection's requests have too many already.
  func reserve(_ bytes: Int) -> Bool {
    guard receivedBytes + bytes <= max(HTTP2Limits.receivedBytes, server.limits.maximumBodyBytes)
    else { return false }
    receivedBytes += bytes
    return true
  }

  func giveBack(_ bytes: Int) { receivedBytes -= bytes }

  func received(_ stream: HTTP2Stream) { complete.append(stream) }

  func sendContinue(_ stream: Int32) {
    unsafe withFields(Array(":status: 100\r\n".utf8)) { fields in
      _ = unsafe nghttp2_submit_headers(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, fields.baseAddress, fields.count,
        nil)
    }
  }

  /// Responds with a head as it is in HTTP/1.1, whose lines become fields.
  func respond(
    _ stream: Int32, _ head: [UInt8], requestID: String?, length: Int?, hasBody: Bool
  ) {
    // The status line ends the prefix `HTTP/1.1 `, and its code has three digits.
    var lines = Array(":status: ".utf8) + head.dropFirst(9).prefix(3)
    lines.append(static: "\r\n")
    if let start = head.firstIndex(of: 0x0A) { lines += head[(start + 1)...] }
    if let requestID { lines.append(requestID: requestID) }
    if let length {
      lines.append(static: "content-length: ")
      lines.append(decimal: length)
      lines.append(static: "\r\n")
    }
    unsafe withFields(lines) { fields in
      var provider = unsafe nghttp2_data_provider()
      unsafe provider.read_callback = { _, stream, buffer, length, flags, _, user in
        guard let user = unsafe user, let buffer = unsafe buffer, let flags = unsafe flags else {
          return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        let session = unsafe Unmanaged<HTTP2Session>.fromOpaque(user).takeUnretainedValue()
        guard let stream = session.streams[stream] else {
          return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        switch unsafe stream.next(into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
        {
        case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .bytes(let count, let isLast):
          if isLast { unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
          return count
        }
      }
      let code =
        hasBody
        ? unsafe nghttp2_submit_response(
          session, stream, fields.baseAddress, fields.count, &provider)
        : unsafe nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, nil)
      if code != 0 { reset(stream, NGHTTP2_INTERNAL_ERROR) }
    }
    if server.isEnding { goAway() }
    planFlush(isFollowed: false)
  }

  /// Calls `body` with the fields in lines that end in CR LF. Those about one connection of
  /// HTTP/1.1 are left out (RFC 9113, 8.2.2).
  private func withFields(_ lines: [UInt8], _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void) {
    var bytes = lines
    var places: [(name: Range<Int>, value: Range<Int>)] = []
    var start = 0
    while start < bytes.count, let end = bytes[start...].firstIndex(of: 0x0D) {
      // The name of a pseudo field begins with a colon.
      if let colon = bytes[start..<end].dropFirst().firstIndex(of: UInt8(ascii: ":")) {
        for index in start..<colon where bytes[index] &- 0x41 < 26 { bytes[index] |= 0x20 }
        var value = colon + 1
        while value < end, bytes[value] == 0x20 { value += 1 }
        let name = bytes[start..<colon]
        if !name.elementsEqual("connection".utf8), !name.elementsEqual("keep-alive".utf8),
          !name.elementsEqual("transfer-encoding".utf8), !name.elementsEqual("upgrade".utf8)
        {
          places.append((start..<colon, value..<end))
        }
      }
      start = end + 2
    }
    unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      let fields = unsafe places.map { place in
        unsafe nghttp2_nv(
          name: base + place.name.lowerBound, value: base + place.value.lowerBound,
          namelen: place.name.count, valuelen: place.value.count,
          flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
      }
      unsafe fields.withUnsafeBufferPointer { unsafe body($0) }
    }
  }

  /// There are bytes again of a body that had none.
  func resume(_ stream: Int32) { _ = unsafe nghttp2_session_resume_data(session, stream) }

  func cancel(_ stream: Int32) { reset(stream, NGHTTP2_CANCEL) }

  /// The rest of a request that was refused is not read (RFC 9113, 8.1).
  func dropRest(of stream: Int32) { reset(stream, NGHTTP2_NO_ERROR) }

  private func reset(_ stream: Int32, _ code: nghttp2_error_code) {
    _ = unsafe nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    planFlush(isFollowed: false)
  }

  func planFlush(isFollowed: Bool) {
    connection?.planFlush(since: coarseNow(), isFollowed: isFollowed)
  }

  /// Tells the client to send further requests elsewhere; those that it sent are answered.
  private func goAway() {
    guard !isDraining else { return }
    isDraining = true
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    _ = unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
  }

  // MARK: Bytes

  func receive() {
    // A handler that responds does not read.
    guard !isReading, let connection else { return }
    isReading = true
    defer { isReading = false }
    dispatchComplete(connection)
    if complete.isEmpty {
      let start = connection.inputStart
      let end = start + connection.turn.take(bytes: connection.input.count - start)
      let count = unsafe connection.input.withUnsafeBytes { bytes in
        let next = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        return unsafe nghttp2_session_mem_recv(
          session, next.bindMemory(to: UInt8.self).baseAddress, next.count)
      }
      guard count >= 0 else {
        connection.inputStart = connection.input.count
        return refuse()
      }
      connection.inputStart = end
      dispatchComplete(connection)
    }
    // After a handler closed it.
    guard self.connection != nil else { return }
    if !complete.isEmpty || connection.inputStart < connection.input.count {
      connection.continueLater()
    }
    planFlush(isFollowed: false)
  }

  /// Passes complete requests to the handler, as many as the turn has room for.
  private func dispatchComplete(_ connection: HTTPConnection) {
    let streams = complete
    var count = 0
    while count < streams.count, connection.turn.takeStep() {
      streams[count].dispatch(to: handler)
      count += 1
    }
    complete.removeFirst(count)
  }

  /// Ends a connection whose bytes are no HTTP/2, or a flood.
  private func refuse() {
    guard let connection, !isClosing else { return }
    server.report(.requestRefused(.malformed(.syntax), peer: peer))
    _ = unsafe nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
    isClosing = true
    connection.closingReason = .refused
    connection.planFlush(since: coarseNow())
  }

  func fill() -> Bool {
    guard let connection, let session = unsafe session else { return false }
    while connection.unsentBytes < HTTP2Limits.portion {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(session, &bytes)
      // Resets are counted when they are sent.
      if isFlood { refuse() }
      guard count > 0, let bytes = unsafe bytes else {
        if count < 0 { isClosing = true }
        break
      }
      connection.appendOutputBody()
      unsafe connection.output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
    }
    let isOver =
      unsafe nghttp2_session_want_read(session) == 0
      && nghttp2_session_want_write(session) == 0
    if isOver || isClosing || isDraining && streams.isEmpty {
      isClosing = true
      if isDraining, connection.closingReason == .served { connection.closingReason = .shutdown }
      connection.enter(.closing)
    }
    return connection.unsentBytes >= HTTP2Limits.portion
  }

  // MARK: Frames

  private func makeSession() -> Bool {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0,
      unsafe nghttp2_option_new(&options) == 0
    else { return false }
    defer {
      unsafe nghttp2_session_callbacks_del(callbacks)
      unsafe nghttp2_option_del(options)
    }
    unsafe nghttp2_option_set_max_settings(options, 32)
    unsafe nghttp2_option_set_max_outbound_ack(options, HTTP2Limits.unsentAcknowledgements)
    unsafe nghttp2_option_set_no_closed_streams(options, 1)
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let session = unsafe HTTP2Session.of(user), let frame = unsafe frame?.pointee else {
        return 0
      }
      unsafe session.begins(frame)
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameLength, value, valueLength, _, user in
      guard let session = unsafe HTTP2Session.of(user), let frame = unsafe frame?.pointee else {
        return 0
      }
      guard session.admitsField(of: nameLength + valueLength) else {
        return Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
      }
      guard let stream = unsafe session.streams[frame.hd.stream_id] else { return 0 }
      unsafe stream.take(
        field: UnsafeRawBufferPointer(start: name, count: nameLength),
        UnsafeRawBufferPointer(start: value, count: valueLength))
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      _, _, stream, bytes, length, user in
      guard let session = unsafe HTTP2Session.of(user) else { return 0 }
      unsafe session.streams[stream]?.take(
        body: UnsafeRawBufferPointer(start: bytes, count: length))
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let session = unsafe HTTP2Session.of(user), let frame = unsafe frame?.pointee else {
        return 0
      }
      return unsafe session.takes(frame)
    }
    unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, head, user in
      guard let session = unsafe HTTP2Session.of(user), let head = unsafe head?.pointee else {
        return 0
      }
      return session.admits(head)
    }
    unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let session = unsafe HTTP2Session.of(user), let frame = unsafe frame?.pointee else {
        return 0
      }
      unsafe session.sent(frame)
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
      _, stream, _, user in
      guard let session = unsafe HTTP2Session.of(user) else { return 0 }
      session.streams.removeValue(forKey: stream)?.ended()
      if session.streams.isEmpty { session.idleSince = coarseNow() }
      return 0
    }
    let user = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe nghttp2_session_server_new2(&session, callbacks, user, options) == 0
  }

  private static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2Session? {
    unsafe user.map { unsafe Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Counts a frame that has begun, and may be one that nghttp2 ignores.
  ///
  /// - Returns: a code of nghttp2.
  private func admits(_ head: nghttp2_frame_hd) -> Int32 {
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_CONTINUATION.rawValue:
      // The fields of a stream that has ended, or is refused, are decoded, but not told.
      guard streams[head.stream_id] == nil,
        head.stream_id <= lastStream || streams.count >= Int(HTTP2Limits.streams)
      else { return 0 }
      return allow(&ignoredHeads, head.length)
    case NGHTTP2_DATA.rawValue, NGHTTP2_PRIORITY.rawValue, NGHTTP2_RST_STREAM.rawValue,
      NGHTTP2_SETTINGS.rawValue, NGHTTP2_PUSH_PROMISE.rawValue, NGHTTP2_PING.rawValue,
      NGHTTP2_GOAWAY.rawValue:
      return 0
    default:
      // WINDOW_UPDATE, and types that are not known.
      guard dueFrames == 0 else {
        dueFrames -= 1
        return 0
      }
      return allow(&idleFrames)
    }
  }

  /// Counts a decoded field of the current head. A head that is a little too large is answered, and
  /// one of twice that size ends the connection.
  private func admitsField(of bytes: Int) -> Bool {
    headFields += 1
    headBytes += bytes
    return headFields <= 2 * server.limits.maximumHeaderFields
      && headBytes <= 2 * server.limits.maximumHeaderBytes
  }

  /// Counts resets that the client provokes (CVE-2025-8671) like those that it sends.
  private func sent(_ frame: nghttp2_frame) {
    switch unsafe UInt32(frame.hd.type) {
    case NGHTTP2_DATA.rawValue: dueFrames = min(dueFrames + 4, 10_000)
    case NGHTTP2_RST_STREAM.rawValue:
      guard unsafe frame.rst_stream.error_code != NGHTTP2_NO_ERROR.rawValue else { return }
      if !resets.take(at: coarseNow()) { isFlood = true }
    default: break
    }
  }

  private func begins(_ frame: nghttp2_frame) {
    let number = unsafe frame.hd.stream_id
    headFields = 0
    headBytes = 0
    guard unsafe frame.headers.cat == NGHTTP2_HCAT_REQUEST, streams[number] == nil else { return }
    connection?.requestCount += 1
    lastStream = max(lastStream, number)
    dueFrames = min(dueFrames + 2, 10_000)
    streams[number] = HTTP2Stream(number, of: self, server: server)
  }

  /// - Returns: a code of nghttp2.
  private func takes(_ frame: nghttp2_frame) -> Int32 {
    let head = unsafe frame.hd
    let ends = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue:
      guard let stream = streams[head.stream_id] else { return 0 }
      stream.headEnded()
      if ends { stream.requestEnded() }
      if stream.hasTooLargeHead { return allow(&resets) }
    case NGHTTP2_DATA.rawValue:
      if ends { streams[head.stream_id]?.requestEnded() }
      if !ends, head.length == 0 { return allow(&idleFrames) }
    case NGHTTP2_RST_STREAM.rawValue: return allow(&resets)
    case NGHTTP2_PING.rawValue, NGHTTP2_SETTINGS.rawValue, NGHTTP2_PRIORITY.rawValue:
      return allow(&idleFrames)
    default: break
    }
    return 0
  }

  /// Counts a frame that asks for work without a response.
  private func allow(_ allowance: inout Allowance, _ count: Int = 1) -> Int32 {
    allowance.take(count, at: coarseNow()) ? 0 : Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  }

  // MARK: The end

  func checkDeadlines(_ now: UInt64, isCrowded: Bool) {
    for stream in Array(streams.values) { stream.checkDeadlines(now) }
    guard let connection, streams.isEmpty, !isClosing else { return }
    let limits = server.limits
    let idle = isCrowded ? min(limits.idle, limits.crowdedIdle) : limits.idle
    if now > idleSince, now - idleSince > idle.nanoseconds {
      connection.closingReason = .idle
      goAway()
      planFlush(isFollowed: false)
    } else if now > idleSince, now - idleSince > 2_000_000_000, connection.unsentBytes == 0 {
      connection.releaseBuffers()
    }
  }

  func drain() {
    goAway()
    for stream in Array(streams.values) { stream.drain() }
    planFlush(isFollowed: false)
  }

  func ended() {
    connection = nil
    isClosing = true
    let open = streams
    streams = [:]
    for stream in open.values { stream.ended() }
  }
}

/// The limits of one connection of HTTP/2 that HTTP/1.1 has no use for.
package enum HTTP2Limits {
  package static let streams: UInt32 = 100
  /// The bytes that a client may send before it waits for the server: of one body, and of all.
  static let streamWindow: UInt32 = 256 * 1024
  static let connectionWindow: UInt32 = 1024 * 1024
  /// The bytes of all bodies that wait for their ends or their responses.
  package static let receivedBytes = 4 * 1024 * 1024
  /// The bytes that are framed ahead of the socket.
  static let portion = 64 * 1024
  /// Streams that a client ends before their responses (rapid reset, CVE-2023-44487), or makes the
  /// server end.
  package static let resets = 200
  package static let resetsPerSecond = 20
  /// The bytes of heads that are ignored, because their streams have ended or are too many.
  package static let ignoredHeadBytes = 256 * 1024
  package static let ignoredHeadBytesPerSecond = 16 * 1024
  /// PING, SETTINGS, PRIORITY, empty DATA, types that are not known, and WINDOW_UPDATE without a
  /// reason.
  package static let idleFrames = 1_000
  package static let idleFramesPerSecond = 100
  static let unsentAcknowledgements = 100
}
