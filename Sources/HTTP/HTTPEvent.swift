/// What happens on the connections, for a log or a counter to take note of.
package enum HTTPEvent: Sendable {
  case connectionOpened
  case connectionClosed(ClosingReason)
  /// A request was answered with an error before any handler saw it.
  case requestRefused(HTTPRefusal, peer: HTTPPeer)
  /// The client left while its request was being worked on.
  case clientGone
  /// `accept` failed; unless it was one connection's fault the listener rests for a moment.
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
