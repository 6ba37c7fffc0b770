import JSON

/// A client's request, independent of its transport, before the document is parsed.
package struct GraphQLRequest: Sendable, Equatable {
  package var identity: RequestIdentity
  /// The document's text, sent with the request or found by its ID.
  package var document: String
  /// The ID under which the operator published the document; nil if it is not published.
  package var trustedID: String?
  package var operationName: String?
  /// The variables, in the order in which they were sent.
  package var variables: [JSONValue.Member]
  package var extensions: [JSONValue.Member]
  /// What errors do to the response around them: as the request says, or else its published document.
  package var onError: ErrorBehavior
  /// The client's `Idempotency-Key`: 1 to 255 printable ASCII characters.
  package var idempotencyKey: String?
  /// Whether only a query may be executed, because the HTTP method must not change anything.
  package var mayOnlyRead: Bool
  /// The format in which the client accepts incremental delivery; nil for complete responses only.
  package var delivery: IncrementalDelivery?
  /// The memo of a request that is expected to repeat with another identity and idempotency key
  /// only.
  package var memo: RequestMemo?

  package init(
    identity: RequestIdentity, document: String, trustedID: String? = nil,
    operationName: String? = nil, variables: [JSONValue.Member] = [],
    extensions: [JSONValue.Member] = [], idempotencyKey: String? = nil, mayOnlyRead: Bool = false,
    onError: ErrorBehavior = .propagate
  ) {
    self.identity = identity
    self.document = document
    self.trustedID = trustedID
    self.operationName = operationName
    self.variables = variables
    self.extensions = extensions
    self.idempotencyKey = idempotencyKey
    self.mayOnlyRead = mayOnlyRead
    self.onError = onError
  }
}

/// The name of a request that is expected to repeat, under which the code that prepares it caches its
/// result. It is valid on one loop.
package struct RequestMemo: Sendable, Hashable {
  /// The place among the loop's memos; another request takes it over when this one is forgotten.
  package let place: Int
  /// The number of the request among all that had a memo.
  package let serial: UInt64

  package init(place: Int, serial: UInt64) {
    self.place = place
    self.serial = serial
  }
}

/// The properties of a request's sender, in addition to the viewer.
package struct ClientIdentity: Sendable, Equatable {
  /// The network address, as the connection or a trusted proxy gives it; the /64 of an IPv6
  /// address.
  package var address = ""
  /// Whether several clients share the address and cannot be distinguished: it is this machine's,
  /// and the request came through no trusted proxy.
  package var isAddressShared = false
  /// The `User-Agent` header.
  package var device: String?
  /// The SHA-256 of the session's token.
  package var sessionHash: [UInt8]?

  package init() {}
}
