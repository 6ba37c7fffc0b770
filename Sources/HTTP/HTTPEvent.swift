/// Events of connections, for logs and counters.
package enum HTTPEvent: Sendable {
  case connectionOpened
  case connectionClosed(ClosingReason)
  /// A request was refused before a handler received it.
  case requestRefused(HTTPRefusal, peer: HTTPPeer)
  /// The client disconnected before its request was answered.
  case clientGone
  /// `accept` failed; unless a single connection caused it, the listener pauses for a moment.
  case acceptFailed(code: Int32)
  case handshakeFailed(peer: HTTPPeer)

  package enum ClosingReason: Sendable {
    case served
    case byClient
    case idle
    case refused
    case timeout
    case writeStalled
    case socketError
    case shutdown
  }
}
