/// Why a WebSocket is closed: the codes of graphql-transport-ws, and of RFC 6455 where it has none.
package enum SocketClose: Sendable, Equatable {
  case invalidMessage(String)
  case notText
  case unauthorized
  case forbidden
  case subprotocolNotAcceptable
  case initialisationTimeout
  case subscriberExists(id: String)
  case tooManyInitialisations
  case internalError
  case goingAway
  case tryAgainLater(String)

  package var code: UInt16 {
    switch self {
    case .invalidMessage: 4400
    case .notText: 1003
    case .unauthorized: 4401
    case .forbidden: 4403
    case .subprotocolNotAcceptable: 4406
    case .initialisationTimeout: 4408
    case .subscriberExists: 4409
    case .tooManyInitialisations: 4429
    case .internalError: 4500
    case .goingAway: 1001
    case .tryAgainLater: 1013
    }
  }

  package var reason: String {
    switch self {
    case .invalidMessage(let reason), .tryAgainLater(let reason): reason
    case .notText: "Messages must be text."
    case .unauthorized: "Unauthorized"
    case .forbidden: "Forbidden"
    case .subprotocolNotAcceptable: "Subprotocol not acceptable"
    case .initialisationTimeout: "Connection initialisation timeout"
    case .subscriberExists(let id): "Subscriber for \(id) already exists"
    case .tooManyInitialisations: "Too many initialisation requests"
    case .internalError: "Internal server error"
    case .goingAway: "The server is about to end."
    }
  }

  /// The cause and, where there is one, the remedy, as docs/reference/http.md has it.
  package var summary: String {
    switch self {
    case .invalidMessage: "A message is not one of the protocol's."
    case .notText: "A message is binary."
    case .unauthorized: "An operation was sent before `connection_ack`."
    case .forbidden: "The token is not valid, or no longer."
    case .subprotocolNotAcceptable: "`graphql-transport-ws` is not among the protocols offered."
    case .initialisationTimeout: "No `connection_init` was sent within 3 seconds."
    case .subscriberExists: "The operation's ID is that of one in progress."
    case .tooManyInitialisations: "`connection_init` was sent twice."
    case .internalError: "The server failed to authenticate the client; the log has the reason."
    case .goingAway: "The server is shutting down; reconnect."
    case .tryAgainLater: "The client does not read, or the database cannot be reached; reconnect."
    }
  }
}

extension SocketClose: CaseIterable {
  package static let allCases: [SocketClose] = [
    .invalidMessage(""), .notText, .unauthorized, .forbidden, .subprotocolNotAcceptable,
    .initialisationTimeout, .subscriberExists(id: ""), .tooManyInitialisations, .internalError,
    .goingAway, .tryAgainLater(""),
  ]
}
