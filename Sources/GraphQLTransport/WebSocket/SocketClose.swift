/// The reason why a WebSocket is closed: the codes of graphql-transport-ws, and of RFC 6455 if it
/// has none.
package enum SocketClose: Sendable, Equatable {
  /// A message that does not follow the protocol.
  case invalidMessage(String)
  /// A message that is not text.
  case notText
  /// An operation before the connection was acknowledged.
  case unauthorized
  /// The client's credential identifies no user, or no longer does.
  case forbidden
  /// The client offers other protocols only.
  case subprotocolNotAcceptable
  case initialisationTimeout
  /// Two operations under one id.
  case subscriberExists(id: String)
  case tooManyInitialisations
  /// An internal error of the server; reconnecting does not help.
  case internalError
  /// The server is about to end.
  case goingAway
  /// The server cannot provide the requested data now, or the client reads too slowly.
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
}
