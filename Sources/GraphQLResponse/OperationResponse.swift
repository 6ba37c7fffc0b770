/// What became of an operation.
package enum OperationResponse: Sendable {
  /// The whole response: `data`, perhaps null, perhaps beside errors, which are in it already.
  /// `isReplayed`: it is the answer to an earlier request with the same key.
  case executed(body: [UInt8], errors: [GraphQLError], isReplayed: Bool = false)
  /// There is no `data`: refused before execution, or what had to be asked did not answer. The first
  /// error's code says which.
  case refused([GraphQLError], retryAfter: Duration? = nil)
}
