import GraphQLResponse
import Subscriptions

/// Sends the responses of an operation that may have several.
protocol ResponseSink: AnyObject {
  /// Responses follow until the client leaves.
  func begin()
  /// - Parameters:
  ///   - token: the resume token for a client that reconnects after this response.
  ///   - isFollowed: another one is about to follow, and both may be sent together.
  /// - Returns: false if the client has too much unread.
  func next(_ response: [UInt8], to token: ResumeToken?, isFollowed: Bool) -> Bool
  /// Nothing follows.
  func complete()
  /// Nothing follows, and this is why.
  func fail(_ errors: [GraphQLError], requestID: String)
  /// The client is to reconnect: it reads too slowly, or events for it are lost.
  func interrupt(_ reason: String)
}

extension ResponseSink {
  func next(_ response: [UInt8], to token: ResumeToken?) -> Bool {
    next(response, to: token, isFollowed: false)
  }
}
