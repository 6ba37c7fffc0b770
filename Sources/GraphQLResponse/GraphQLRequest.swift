import JSON

/// What a client asks for, whatever carried it, before anybody has looked into the document.
package struct GraphQLRequest: Sendable, Equatable {
  package var identity: RequestIdentity
  /// The document's text, sent along or found by its id.
  package var document: String
  /// The id under which the operator has published the document, if it is one of those.
  package var trustedID: String?
  package var operationName: String?
  /// In the order they were sent.
  package var variables: [JSONValue.Member]
  package var extensions: [JSONValue.Member]
  /// The client's `Idempotency-Key`: 1 to 255 printable ASCII characters.
  package var idempotencyKey: String?
  /// It came by a method that must not change anything: nothing but a query may be executed.
  package var mayOnlyRead: Bool
  /// How the client takes parts of the answer that come later; nil when it takes it whole.
  package var delivery: IncrementalDelivery?
  /// Of one that is expected to come again, as it is here but for its identity and its key.
  package var memo: RequestMemo?

  package init(
    identity: RequestIdentity, document: String, trustedID: String? = nil,
    operationName: String? = nil, variables: [JSONValue.Member] = [],
    extensions: [JSONValue.Member] = [], idempotencyKey: String? = nil, mayOnlyRead: Bool = false
  ) {
    self.identity = identity
    self.document = document
    self.trustedID = trustedID
    self.operationName = operationName
    self.variables = variables
    self.extensions = extensions
    self.idempotencyKey = idempotencyKey
    self.mayOnlyRead = mayOnlyRead
  }
}

/// Where whoever prepares a request that comes again leaves what it made of it. Belongs to one loop.
package final class RequestMemo: @unchecked Sendable, Equatable {
  // @unchecked: only touched on the loop.
  package var prepared: AnyObject?

  package init() {}

  package static func == (left: RequestMemo, right: RequestMemo) -> Bool { left === right }
}

/// What is known of whoever sent a request, besides the viewer it acts for.
package struct ClientIdentity: Sendable, Equatable {
  /// The network address, or what a trusted proxy says it is; of IPv6 the /64.
  package var address = ""
  /// Clients share it who cannot be told apart: it is this machine's, and the request came by no
  /// trusted proxy.
  package var isAddressShared = false
  /// How it introduced itself: `User-Agent`.
  package var device: String?
  /// SHA-256 of the session's token.
  package var sessionHash: [UInt8]?

  package init() {}
}
