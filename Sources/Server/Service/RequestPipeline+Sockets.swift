import Accounts
import EventLoops
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Postgres

/// What sockets ask of the line: to be opened, whose they are, and records for what comes by them.
extension RequestPipeline {
  func openSocket(_ request: HTTPRequest, _ head: RequestHead, _ exchange: HTTPExchange) {
    guard endpoint.admitsSocket(of: request) else {
      return text("Pages of this origin may not open a socket here.", .forbidden, exchange)
    }
    let handshake: WebSocketHandshake
    do throws(WebSocketHandshake.Refusal) {
      handshake = try WebSocketHandshake(request)
    } catch {
      switch error {
      case .malformed: return text("The opening handshake is malformed.", .badRequest, exchange)
      case .version:
        return text(
          "Only version 13 of WebSocket is spoken here.", .upgradeRequired, exchange,
          headers: [HTTPField("Sec-WebSocket-Version", "13"), HTTPField("Upgrade", "websocket")])
      }
    }
    let isSpoken = handshake.protocols.contains(SocketMessages.name)
    let name = isSpoken ? SocketMessages.name : nil
    guard let socket = exchange.upgrade(handshake, to: name) else { return }
    guard isSpoken else { return socket.close(.subprotocolNotAcceptable) }
    SocketSession(socket, self, peer: request.peer, head.caller).start()
  }

  /// Finds out whether a session is there, for a socket that is to be its own.
  func resolve(
    _ token: SessionToken, completion: @escaping (SessionResolver.Resolution) -> Void
  ) {
    sessions.resolve(token, completion: completion)
  }

  /// How long a session of ours has to live, not at all once it is gone; nil where nobody knows.
  func remaining(of token: SessionToken, completion: @escaping (Duration?) -> Void) {
    sessions.remaining(of: token, completion: completion)
  }

  /// The same as `resolve`, of the database as it is now.
  func resolveAnew(
    _ token: SessionToken, completion: @escaping (SessionResolver.Resolution) -> Void
  ) {
    sessions.forget(token)
    sessions.resolve(token, completion: completion)
  }

  /// A record for an operation that came by a socket, and the operation; or why it is none.
  func receive(
    _ payload: [JSONValue.Member], bytes: Int, from peer: HTTPPeer
  ) -> (RequestRecord, Result<GraphQLRequest, TransportError>) {
    let identity = identification.next()
    let record = RequestRecord(identity, peer: peer, bytes: bytes)
    do throws(TransportError) {
      return (record, .success(try endpoint.request(in: payload, bytes: bytes, as: identity)))
    } catch {
      return (record, .failure(error))
    }
  }

  /// Whether what lasts is begun later, as too much waits for the database now.
  ///
  /// - Parameter moment: of `monotonicNanoseconds()`.
  func mayWait(since moment: UInt64, after error: PostgresError) -> Bool {
    guard case .overloaded = error.kind else { return false }
    return .nanoseconds(Int64(clamping: monotonicNanoseconds() &- moment)) < liveSettings.patience
  }

  /// Not all at once.
  func waitForRoom(_ work: @escaping () -> Void) -> LoopTimer {
    timer(after: .milliseconds(.random(in: 20...200)), work)
  }

  func timer(after delay: Duration, _ work: @escaping () -> Void) -> LoopTimer {
    pool.loop.schedule(after: delay, work)
  }

  var liveSettings: LiveSettings { shared.live }
}
