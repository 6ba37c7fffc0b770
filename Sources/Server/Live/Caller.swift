import Accounts
import HTTP
import Postgres

/// Who sends an operation, and whether anybody waits for its answer.
enum Caller {
  /// The stream is there where the client takes one.
  case exchange(HTTPRequest, HTTPExchange, StreamAnswer?)
  case socket(SocketSession, operation: UInt64)

  var credential: Credential {
    switch self {
    case .exchange(let request, _, _): Credential(of: request)
    case .socket(let session, _): session.credential
    }
  }

  /// The plan is asked for instead of the answer.
  var wantsExplanation: Bool {
    if case .exchange(let request, _, _) = self { request.isPath("/explain") } else { false }
  }

  /// Where the responses of a subscription go; nil where there can be one only.
  var sink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, let stream): stream?.takesEvents == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    }
  }

  /// Where the parts of a query's answer go; nil where it is whole.
  var partSink: (any ResponseSink)? {
    switch self {
    case .exchange(_, _, let stream): stream?.takesParts() == true ? stream : nil
    case .socket(let session, let operation): session.sink(of: operation)
    }
  }

  /// What a client that comes back had.
  var resume: PostgresSnapshot? {
    if case .exchange(_, _, let stream) = self { stream?.resume } else { nil }
  }

  /// Whether an answer of so many bytes may be kept for it, should it read slowly.
  func mayHold(_ bytes: Int) -> Bool {
    switch self {
    case .exchange(_, let exchange, _): exchange.mayHold(bytes)
    // A socket that does not read is closed at a limit of its own.
    case .socket: true
    }
  }

  /// Calls `work` when nobody wants the answer any more; replaces what was set before.
  func onLeave(_ work: @escaping () -> Void) {
    switch self {
    case .exchange(_, let exchange, _): exchange.onClose(work)
    case .socket(let session, let operation): session.onLeave(operation, work)
    }
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
