import GraphQLResponse

/// Where the responses of an operation go that has more than one.
protocol ResponseSink: AnyObject {
  /// Responses follow for as long as the client stays.
  func begin()
  /// - Parameters:
  ///   - point: what who comes back would say.
  ///   - isFollowed: another one is about to come, and both may be sent together.
  /// - Returns: false when too much waits for the client already.
  func next(_ response: [UInt8], to point: ResumePoint?, isFollowed: Bool) -> Bool
  /// Nothing follows.
  func complete()
  /// Nothing follows, and this is why.
  func fail(_ errors: [GraphQLError], requestID: String)
  /// The client is to come back: it reads too slowly, or what it is to be told is lost.
  func interrupt(_ reason: String)
}

extension ResponseSink {
  func next(_ response: [UInt8], to point: ResumePoint?) -> Bool {
    next(response, to: point, isFollowed: false)
  }
}
