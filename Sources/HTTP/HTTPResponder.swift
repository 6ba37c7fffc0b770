/// What an exchange responds through: a connection of HTTP/1.1, or a stream of one of HTTP/2.
///
/// `exchange` is the number of the request. A call for another one than the current does nothing.
protocol HTTPResponder: AnyObject {
  var server: HTTPServer { get }
  /// The ID that the handler assigned to the current request.
  var requestID: String? { get set }
  /// The handler's work if the client disconnects before the response.
  var closeHandler: (() -> Void)? { get set }

  func isWorking(on exchange: UInt64) -> Bool
  func isStreaming(_ exchange: UInt64) -> Bool

  /// Responds.
  ///
  /// - Parameters:
  ///   - length: the length of the body if it is known before `write`.
  ///   - body: bytes of the body that `write` does not append.
  func answer(
    _ exchange: UInt64, _ status: HTTPStatus, contentType: String?, headers: [HTTPField],
    length: Int?, body: [UInt8]?, write: (inout [UInt8]) -> Void)

  func beginStream(
    _ exchange: UInt64, contentType: String, headers: [HTTPField], isEndless: Bool
  ) -> Bool

  /// Appends a part of a streamed response.
  ///
  /// - Returns: false if too much is unsent to buffer this as well.
  func streamPart(_ exchange: UInt64, _ bytes: [UInt8], isFollowed: Bool) -> Bool

  /// Ends a streamed response.
  ///
  /// - Parameter stays: whether the client has all of it and may send another request. Otherwise
  ///   the observer of the client's leaving is called.
  func endStream(_ exchange: UInt64, stays: Bool)

  /// Switches to another protocol, to which all further bytes belong; nil where none can follow.
  func upgrade(_ exchange: UInt64, headers: [HTTPField]) -> WebSocket?
}

/// A protocol that follows HTTP/1.1 on its connection, and to which all further bytes belong.
protocol UpgradedProtocol: AnyObject {
  /// Whether either side has ended it.
  var isClosing: Bool { get }
  /// Whether only the client or the server can end its current use.
  var lasts: Bool { get }
  /// Processes the connection's input.
  func receive()
  /// Appends to the connection's output what waits for room there.
  ///
  /// - Returns: whether more waits.
  func fill() -> Bool
  func checkDeadlines(_ now: UInt64, isCrowded: Bool)
  /// Ends, because the server does.
  func drain()
  /// Releases the connection, which was closed.
  func ended()
}
