/// The outcome of an operation.
package enum OperationResponse: Sendable {
  /// The complete response: `data`, possibly null, and errors, which the body already contains.
  /// `isReplayed` says that it is the response to an earlier request with the same key.
  case executed(body: [UInt8], errors: [GraphQLError], isReplayed: Bool = false)
  /// No `data`: the request was refused before execution, or a dependency did not respond. The
  /// first error's code tells which.
  case refused([GraphQLError], retryAfter: Duration? = nil)
}
