/// One request's right to be answered: on its loop, now or later, once.
///
/// A small value naming the connection and the request's number on it. Answering a request whose
/// client has gone, or that has been answered, does nothing.
package struct HTTPExchange: @unchecked Sendable {
  // @unchecked: used on the connection's loop only; `respond` checks it.
  let connection: HTTPConnection
  let number: UInt64

  /// Whether somebody still waits for the answer.
  package var isOpen: Bool { connection.isWorking(on: number) }

  /// Whether an answer of so many bytes may be kept for a client that reads slowly. What a socket takes
  /// at once is no burden.
  package func mayHold(_ bytes: Int) -> Bool {
    bytes <= HTTPLimits.smallAnswerBytes || connection.server.budget.admits(bytes)
  }

  /// Names the request: `X-Request-Id` of its answer, also of one that the server gives in the
  /// handler's place.
  package func identify(as requestID: String) {
    guard isOpen else { return }
    connection.requestID = requestID
  }

  /// Calls `work`, on the loop, when the client leaves (or the server closes) before the answer.
  /// Replaces what was set before; forgotten with the answer.
  package func onClose(_ work: @escaping () -> Void) {
    guard isOpen || connection.isStreaming(number) else { return }
    connection.closeHandler = work
  }

  /// Answers with a body that is there already.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [], body: [UInt8]
  ) {
    let isSmall = body.count < 2048
    connection.answer(
      number, status, contentType: contentType, headers: headers, length: body.count,
      body: isSmall ? nil : body
    ) {
      if isSmall { $0.append(contentsOf: body) }
    }
  }

  /// Answers with a body that `write` appends to the connection's own buffer. It must leave alone
  /// what is in the buffer already.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [],
    write: (inout [UInt8]) -> Void
  ) {
    connection.answer(number, status, contentType: contentType, headers: headers, write: write)
  }

  /// Answers a HEAD with the length of the body that a GET would be given.
  package func respond(
    _ status: HTTPStatus = .ok, contentType: String, headers: [HTTPField] = [], length: Int
  ) {
    connection.answer(
      number, status, contentType: contentType, headers: headers, length: length
    ) { _ in }
  }

  /// Answers a client's opening handshake: from then on the connection is a WebSocket.
  ///
  /// - Parameter name: the protocol chosen of those that the client offers, if any is.
  /// - Returns: nil when nobody waits for the answer any more.
  package func upgrade(
    _ handshake: WebSocketHandshake, to name: String?, headers: [HTTPField] = []
  ) -> WebSocket? {
    connection.upgrade(number, headers: handshake.headers(choosing: name) + headers)
  }

  // MARK: Answers in parts

  /// Begins an answer of status 200 whose parts follow, until `end`.
  ///
  /// - Parameter isEndless: parts may follow for as long as the client stays.
  /// - Returns: false when nobody waits for the answer any more.
  package func begin(
    contentType: String, headers: [HTTPField] = [], isEndless: Bool = false
  ) -> Bool {
    connection.beginStream(
      number, contentType: contentType, headers: headers, isEndless: isEndless)
  }

  /// - Parameter isFollowed: another part is about to come: both may be sent together.
  /// - Returns: false when too much waits for the client to read it, and this is not sent.
  package func part(_ bytes: [UInt8], isFollowed: Bool = false) -> Bool {
    connection.streamPart(number, bytes, isFollowed: isFollowed)
  }

  package func end() { connection.endStream(number, stays: true) }

  /// Ends the answer and the connection, as if the client had left.
  package func cutShort() { connection.endStream(number, stays: false) }

  /// Answers without a body.
  package func respond(_ status: HTTPStatus, headers: [HTTPField] = []) {
    connection.answer(number, status, contentType: nil, headers: headers, length: 0) { _ in }
  }
}
