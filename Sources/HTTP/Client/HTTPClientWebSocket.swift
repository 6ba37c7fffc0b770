import CWSLay
import Cryptography

/// A client's side of a WebSocket (RFC 6455), without a socket: bytes that were received go in, messages and
/// bytes to send come out. wslay validates frames, and answers pings.
@safe package final class HTTPClientWebSocket {
  package enum Progress: Sendable, Equatable {
    case going
    /// The server refused the upgrade, with a status; 0 for a response that is malformed.
    case refused(Int)
    /// The WebSocket is closed, or what the server sent is invalid.
    case ended
  }

  /// The bytes to send, which the caller takes.
  private var output: [UInt8]
  private let accept: [UInt8]
  private var head: [UInt8] = []
  /// Whether the server has agreed to the upgrade.
  package private(set) var isOpen = false
  private var context: wslay_event_context_ptr?
  private var feed = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var received: [[UInt8]] = []
  private var isClosed = false

  private static let maximumHeadBytes = 64 * 1024
  private static let maximumMessageBytes: UInt64 = 64 * 1024 * 1024

  /// - Parameters:
  ///   - subprotocol: the protocol to ask for.
  ///   - headers: further lines of the handshake, such as `Name: value`.
  package init(_ target: HTTPTarget, subprotocol: String, headers: [String]) {
    let key = Base64.encode(RandomBytes.make(16))
    accept = Array(WebSocketHandshake.accept(Array(key.utf8)).utf8)
    let lines =
      [
        "GET \(target.path) HTTP/1.1", "Host: \(target.authority)", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
        "Sec-WebSocket-Protocol: \(subprotocol)",
      ] + headers
    output = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  deinit {
    if let context = unsafe context { unsafe wslay_event_context_free(context) }
  }

  /// Takes all bytes that are to be sent.
  package func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// Takes the texts that have arrived.
  package func takeMessages() -> [[UInt8]] {
    defer { received = [] }
    return received
  }

  /// Sends a text; call it only while the WebSocket is open.
  package func send(_ text: [UInt8]) {
    guard isOpen, !isClosed, let context = unsafe context else { return }
    unsafe text.withUnsafeBufferPointer { bytes in
      var message = unsafe wslay_event_msg(
        opcode: UInt8(WSLAY_TEXT_FRAME.rawValue), msg: bytes.baseAddress, msg_length: bytes.count)
      _ = unsafe wslay_event_queue_msg(context, &message)
    }
    _ = unsafe wslay_event_send(context)
  }

  /// Takes bytes that the server sent.
  package func receive(_ bytes: UnsafeRawBufferPointer) -> Progress {
    guard !isClosed else { return .ended }
    guard !isOpen else { return unsafe read(bytes) }
    unsafe head.append(contentsOf: bytes)
    guard let end = endOfHead() else {
      return head.count > Self.maximumHeadBytes ? .refused(0) : .going
    }
    guard agrees(String(decoding: head[..<end], as: UTF8.self)), makeContext() else {
      return .refused(status)
    }
    isOpen = true
    let rest = Array(head[end...])
    head = []
    return unsafe rest.withUnsafeBytes { unsafe read($0) }
  }

  // MARK: The handshake

  private func endOfHead() -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    return head.indices.dropLast(3).first { head[$0..<$0 + 4].elementsEqual(mark) }.map { $0 + 4 }
  }

  /// The status of the head, such as 101; 0 if it has none.
  private var status: Int {
    let line = String(decoding: head.prefix { $0 != 0x0D }, as: UTF8.self)
    let words = line.split(separator: " ")
    guard words.count >= 2, words[0] == "HTTP/1.1" else { return 0 }
    return Int(words[1]) ?? 0
  }

  /// Returns whether the server has agreed, with the proof that it read the key (RFC 6455, 4.1).
  private func agrees(_ text: String) -> Bool {
    guard status == 101 else { return false }
    return text.split(separator: "\r\n").contains { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return parts.count == 2 && parts[0].lowercased() == "sec-websocket-accept"
        && parts[1].drop { $0 == " " }.utf8.elementsEqual(accept)
    }
  }

  // MARK: Frames

  private func read(_ bytes: UnsafeRawBufferPointer) -> Progress {
    guard let context = unsafe context else { return .ended }
    unsafe feed = unsafe bytes
    defer { unsafe feed = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    guard unsafe wslay_event_recv(context) == 0, unsafe wslay_event_send(context) == 0 else {
      isClosed = true
      return .ended
    }
    return isClosed ? .ended : .going
  }

  private func makeContext() -> Bool {
    var callbacks = wslay_event_callbacks()
    unsafe callbacks.recv_callback = { context, buffer, length, _, user in
      guard let user = unsafe user, let buffer = unsafe buffer else { return -1 }
      let client = unsafe Unmanaged<HTTPClientWebSocket>.fromOpaque(user).takeUnretainedValue()
      let count = unsafe min(length, client.feed.count)
      guard count > 0 else {
        unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
        return -1
      }
      unsafe UnsafeMutableRawPointer(buffer).copyMemory(
        from: client.feed.baseAddress ?? UnsafeRawPointer(buffer), byteCount: count)
      unsafe client.feed = unsafe UnsafeRawBufferPointer(rebasing: client.feed.dropFirst(count))
      return count
    }
    unsafe callbacks.send_callback = { _, bytes, length, _, user in
      guard let user = unsafe user else { return -1 }
      let client = unsafe Unmanaged<HTTPClientWebSocket>.fromOpaque(user).takeUnretainedValue()
      unsafe client.output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
      return length
    }
    unsafe callbacks.genmask_callback = { _, buffer, length, _ in
      guard let buffer = unsafe buffer else { return -1 }
      for (place, byte) in RandomBytes.make(length).enumerated() { unsafe buffer[place] = byte }
      return 0
    }
    unsafe callbacks.on_msg_recv_callback = { _, message, user in
      guard let user = unsafe user, let message = unsafe message?.pointee else { return }
      let client = unsafe Unmanaged<HTTPClientWebSocket>.fromOpaque(user).takeUnretainedValue()
      switch unsafe UInt32(message.opcode) {
      case WSLAY_TEXT_FRAME.rawValue:
        let bytes = unsafe UnsafeBufferPointer(start: message.msg, count: message.msg_length)
        client.received.append(unsafe Array(bytes))
      case WSLAY_CONNECTION_CLOSE.rawValue: client.isClosed = true
      default: break
      }
    }
    var made: wslay_event_context_ptr?
    guard
      unsafe wslay_event_context_client_init(
        &made, &callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0,
      let made = unsafe made
    else { return false }
    unsafe wslay_event_config_set_max_recv_msg_length(made, Self.maximumMessageBytes)
    unsafe context = unsafe made
    return true
  }
}
