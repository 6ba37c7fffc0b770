import Accounts
import GraphQLTransport
import HTTP
import Postgres

/// Who sends an operation, and whether anybody waits for its answer.
enum Caller {
  /// The stream is there where the client takes one.
  case exchange(HTTPRequest, RequestHead, HTTPExchange, StreamAnswer?)
  case socket(SocketSession, operation: UInt64)

  var credential: Credential {
    switch self {
    case .exchange(_, let head, _, _): head.credential
    case .socket(let session, _): session.credential
    }
  }

  /// The plan is asked for instead of the answer.
  var wantsExplanation: Bool {
    if case .exchange(_, let head, _, _) = self { head.target == .explanation } else { false }
  }

  /// Whose share an operation takes unless somebody is signed in.
  var client: PoolClient {
    switch self {
    case .exchange(_, let head, _, _): head.client
    case .socket(let session, _): session.origin.address
    }
  }

  /// Whose points it takes then; nil where nobody's are counted.
  var chargedAddress: HTTPPeer? {
    switch self {
    case .exchange(_, let head, _, _): head.chargedAddress
    case .socket(let session, _): session.origin.chargedAddress
    }
  }

  /// Where the responses of a subscription go; nil where there can be one only.
  var sink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, _, let stream): stream?.takesEvents == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    }
  }

  /// Where the parts of a query's answer go; nil where it is whole.
  var partSink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, _, let stream): stream?.takesParts() == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    }
  }

  /// What a client that comes back had.
  var resume: ResumePoint? {
    if case .exchange(_, _, _, let stream) = self { stream?.resume } else { nil }
  }

  /// Whether an answer of so many bytes may be kept for it, should it read slowly.
  func mayHold(_ bytes: Int) -> Bool {
    switch self {
    case .exchange(_, _, let exchange, _): exchange.mayHold(bytes)
    // A socket that does not read is closed at a limit of its own.
    case .socket: true
    }
  }

  /// Nobody wants an answer any more.
  var hasLeft: Bool {
    switch self {
    case .exchange(_, _, let exchange, _): !exchange.isOpen
    case .socket(let session, let operation): !session.isRunning(operation)
    }
  }

  /// Calls `work` when nobody wants the answer any more; replaces what was set before.
  func onLeave(_ work: @escaping () -> Void) {
    switch self {
    case .exchange(_, _, let exchange, _): exchange.onClose(work)
    case .socket(let session, let operation): session.onLeave(operation, work)
    }
  }
}

/// What the head of a request says to the line, and to those it asks.
final class RequestHead {
  /// What is asked for.
  enum Target {
    case operation
    case explanation
    case socket
    case other

    init(_ request: HTTPRequest) {
      if request.isPath("/graphql") {
        self = WebSocketHandshake.isWanted(by: request) ? .socket : .operation
      } else {
        self = request.isPath("/explain") ? .explanation : .other
      }
    }
  }

  let target: Target
  let format: GraphQLEndpoint.Head
  let credential: Credential
  /// Whose share an operation takes unless somebody is signed in.
  let client: PoolClient
  /// Whose points it takes then; nil where nobody's are counted.
  let chargedAddress: HTTPPeer?

  init(
    _ target: Target, format: GraphQLEndpoint.Head, credential: Credential, client: PoolClient,
    chargedAddress: HTTPPeer?
  ) {
    self.target = target
    self.format = format
    self.credential = credential
    self.client = client
    self.chargedAddress = chargedAddress
  }
}

/// What a client shows for who it is.
enum Credential: Equatable {
  case none
  /// Something that cannot be a token.
  case malformed
  case token(SessionToken)

  init(of request: HTTPRequest) {
    guard let value = request.headerBytes("authorization") else {
      self = .none
      return
    }
    self = SessionToken(authorization: value).map { .token($0) } ?? .malformed
  }

  /// From the text that stands in the header.
  init(authorization text: String) {
    self = SessionToken(authorization: Array(text.utf8)[...]).map { .token($0) } ?? .malformed
  }
}
