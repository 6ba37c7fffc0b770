/// What a path takes that is for larger bodies: from whoever shows a credential, which the handler
/// then looks at.
package struct HTTPUploadLimits: Sendable {
  package var path: String
  package var maximumBodyBytes: Int
  package var body: Duration = .seconds(60)

  package init(path: String, maximumBodyBytes: Int) {
    self.path = path
    self.maximumBodyBytes = maximumBodyBytes
  }
}

/// What one client, and all of them together, may take. The defaults are those of the manual.
package struct HTTPLimits: Sendable {
  // Sizes.
  package var maximumRequestLineBytes = 8 * 1024
  package var maximumHeaderBytes = 16 * 1024
  package var maximumHeaderFields = 100
  package var maximumBodyBytes = 1024 * 1024
  /// For one path in place of `maximumBodyBytes` and `body`.
  package var uploads: HTTPUploadLimits?
  /// Of uploads that are being received or worked on, over all loops; beyond it there is 503.
  package var maximumUploadedBytes = 256 * 1024 * 1024
  package var maximumChunkExtensionBytes = 256
  package var maximumTrailerBytes = 4 * 1024
  /// Of requests that wait behind the one being worked on.
  package var maximumPipelinedBytes = 64 * 1024
  /// Beyond this many unsent bytes no further request of the connection is begun.
  package var maximumUnsentBytes = 256 * 1024
  /// Of one message on a WebSocket; beyond it the socket is closed.
  package var maximumMessageBytes = 64 * 1024
  package var maximumRequestsPerConnection = 1000
  /// Of answers that wait for their clients to read, over all loops; beyond it there is 503 for those
  /// that are not small.
  package var maximumHeldBytes = 256 * 1024 * 1024

  // Waits.
  package var tlsHandshake: Duration = .seconds(10)
  /// From the first byte of a request to the end of its header.
  package var header: Duration = .seconds(10)
  package var body: Duration = .seconds(10)
  /// The body's least rate, held against it once `bodyGrace` has passed.
  package var minimumBodyBytesPerSecond = 1024
  package var bodyGrace: Duration = .seconds(2)
  /// Without a single byte accepted by the client.
  package var writeStall: Duration = .seconds(10)
  /// The least rate at which a client takes its answers, held against it once `readGrace` has passed.
  package var minimumReadBytesPerSecond = 4096
  package var readGrace: Duration = .seconds(10)
  package var idle: Duration = .seconds(60)
  /// The same while three quarters of the sockets are open.
  package var crowdedIdle: Duration = .seconds(5)
  /// A request its handler never answered: the last resort, well past the operation's own deadline.
  package var answer: Duration = .seconds(60)
  /// After so long without a word from a WebSocket it is asked whether it is still there.
  package var ping: Duration = .seconds(15)
  /// How long it may take to say so.
  package var pong: Duration = .seconds(10)
  /// While the server ends, a client that says nothing may learn of it for this long: by the answer
  /// to another request.
  package var farewell: Duration = .seconds(1)
  /// After a refusal the client may go on sending for this long, so that it can read the answer.
  package var linger: Duration = .seconds(2)

  // Sockets.
  package var maximumSockets = 10_000
  package var maximumSocketsPerAddress = 200

  static let smallAnswerBytes = 64 * 1024

  package init() {}
}
