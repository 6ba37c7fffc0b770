/// The limits of a path for larger bodies. It takes only requests with a credential, which the
/// handler verifies.
package struct HTTPUploadLimits: Sendable {
  package var path: String
  /// The paths to which a body of `multipart/form-data` is an upload, too.
  package var formPaths: [String] = []
  package var maximumBodyBytes: Int
  package var body: Duration = .seconds(60)

  package init(path: String, maximumBodyBytes: Int) {
    self.path = path
    self.maximumBodyBytes = maximumBodyBytes
  }
}

/// The limits for one client, and for all of them together. The defaults are those of the manual.
package struct HTTPLimits: Sendable {
  // Sizes.
  package var maximumRequestLineBytes = 8 * 1024
  package var maximumHeaderBytes = 16 * 1024
  package var maximumHeaderFields = 100
  package var maximumBodyBytes = 1024 * 1024
  /// The limits of uploads, in place of `maximumBodyBytes` and `body`; nil for none.
  package var uploads: HTTPUploadLimits?
  /// The maximum number of bytes of uploads being received or processed, over all loops; beyond it
  /// the server responds 503.
  package var maximumUploadedBytes = 256 * 1024 * 1024
  package var maximumChunkExtensionBytes = 256
  package var maximumTrailerBytes = 4 * 1024
  /// The maximum number of bytes of pipelined requests that wait for the current one.
  package var maximumPipelinedBytes = 64 * 1024
  /// The number of unsent bytes beyond which no further request of the connection begins.
  package var maximumUnsentBytes = 256 * 1024
  /// The maximum size of one message on a WebSocket, in bytes; beyond it the socket is closed.
  package var maximumMessageBytes = 64 * 1024
  package var maximumRequestsPerConnection = 1000
  /// The maximum number of bytes of unsent responses, over all loops; beyond it the server responds
  /// 503 in place of responses that are not small.
  package var maximumHeldBytes = 256 * 1024 * 1024

  // Waits.
  package var tlsHandshake: Duration = .seconds(10)
  /// The time from the first byte of a request to the end of its header.
  package var header: Duration = .seconds(10)
  package var body: Duration = .seconds(10)
  /// The minimum rate of a body, which applies after `bodyGrace`.
  package var minimumBodyBytesPerSecond = 1024
  package var bodyGrace: Duration = .seconds(2)
  /// The time without a single byte accepted by the client.
  package var writeStall: Duration = .seconds(10)
  /// The minimum rate at which a client reads responses, which applies after `readGrace`.
  package var minimumReadBytesPerSecond = 4096
  package var readGrace: Duration = .seconds(10)
  package var idle: Duration = .seconds(60)
  /// The idle time while three quarters of the connections are open.
  package var crowdedIdle: Duration = .seconds(5)
  /// The time after which a request that its handler did not answer ends: the last resort, well
  /// after the operation's own deadline.
  package var answer: Duration = .seconds(60)
  /// The time without data from a WebSocket after which the server sends a ping.
  package var ping: Duration = .seconds(15)
  /// The time to respond to a ping.
  package var pong: Duration = .seconds(10)
  /// The time for which an idle connection stays open while the server ends, so that its client
  /// learns of it by the response to another request.
  package var farewell: Duration = .seconds(1)
  /// The silence after which a connection is closed whose client goes on sending after a refusal.
  /// Until then what it sends is read and dropped, for no longer than a body may take, so that the
  /// client gets to read the response.
  package var linger: Duration = .seconds(2)
  package var maximumLingeringBytes = 64 * 1024 * 1024

  // Sockets.
  package var maximumSockets = 10_000
  package var maximumSocketsPerAddress = 200

  static let smallAnswerBytes = 64 * 1024

  package init() {}
}
