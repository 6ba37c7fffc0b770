/// The right to respond to one request: on its loop, now or later, once.
///
/// It is a small value that names the connection or stream, and the request's number on it. A response does
/// nothing if the client has gone or the request has been answered.
package struct HTTPExchange: @unchecked Sendable {
  // @unchecked: used on the connection's loop only; `respond` checks it.
  let responder: any HTTPResponder
  let number: UInt64

  /// Whether the client still waits for the response.
  package var isOpen: Bool { responder.isWorking(on: number) }

  /// Returns whether a response of this many bytes may be buffered for a client that reads slowly.
  /// Bytes that a socket takes at once do not count.
  package func mayHold(_ bytes: Int) -> Bool {
    bytes <= HTTPLimits.smallAnswerBytes || responder.server.budget.admits(bytes)
  }

  /// Sets the ID of the request: `X-Request-Id` of its response, also of one that the server sends
  /// in place of the handler.
  package func identify(as requestID: String) {
    guard isOpen else { return }
    responder.requestID = requestID
  }

  /// Calls `work` on the loop if the client disconnects (or the server closes) before the response.
  /// It replaces earlier work, and is dropped with the response.
  package func onClose(_ work: @escaping () -> Void) {
    guard isOpen || responder.isStreaming(number) else { return }
    responder.closeHandler = work
  }

  /// Responds with an existing body.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [], body: [UInt8]
  ) {
    let isSmall = body.count < 2048
    responder.answer(
      number, status, contentType: contentType, headers: headers, length: body.count,
      body: isSmall ? nil : body
    ) {
      if isSmall { $0.append(contentsOf: body) }
    }
  }

  /// Responds with a body that `write` appends to the connection's own buffer. It must not change
  /// bytes that are already in the buffer.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [],
    write: (inout [UInt8]) -> Void
  ) {
    responder.answer(
      number, status, contentType: contentType, headers: headers, length: nil, body: nil,
      write: write)
  }

  /// Responds to a HEAD with the length of the body that a GET would return.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [], length: Int
  ) {
    responder.answer(
      number, status, contentType: contentType, headers: headers, length: length, body: nil
    ) { _ in }
  }

  /// Responds to a client's opening handshake, after which the connection is a WebSocket.
  ///
  /// - Parameter name: the protocol chosen from those that the client offers, if any.
  /// - Returns: nil if the client no longer waits for the response.
  package func upgrade(
    _ handshake: WebSocketHandshake, to name: String?, headers: [HTTPField] = []
  ) -> WebSocket? {
    responder.upgrade(number, headers: handshake.headers(choosing: name) + headers)
  }

  // MARK: Answers in parts

  /// Starts a response of status 200 whose parts follow, until `end`.
  ///
  /// - Parameter isEndless: whether parts may follow for as long as the client stays.
  /// - Returns: false if the client no longer waits for the response.
  package func begin(
    contentType: String, headers: [HTTPField] = [], isEndless: Bool = false
  ) -> Bool {
    responder.beginStream(
      number, contentType: contentType, headers: headers, isEndless: isEndless)
  }

  /// Sends a part of a response.
  ///
  /// - Parameter isFollowed: whether another part is about to come, so that both may be sent
  ///   together.
  /// - Returns: false if too much is unsent; this part is not sent then.
  package func part(_ bytes: [UInt8], isFollowed: Bool = false) -> Bool {
    responder.streamPart(number, bytes, isFollowed: isFollowed)
  }

  package func end() { responder.endStream(number, stays: true) }

  /// Ends the response and the connection, as if the client had disconnected.
  package func cutShort() { responder.endStream(number, stays: false) }

  /// Responds without a body.
  package func respond(_ status: HTTPStatus, headers: [HTTPField] = []) {
    responder.answer(
      number, status, contentType: nil, headers: headers, length: 0, body: nil
    ) { _ in }
  }
}
