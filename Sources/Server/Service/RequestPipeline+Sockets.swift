import Accounts
import EventLoops
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Postgres

/// The pipeline's methods for sockets: the handshake, the viewer, and the records of operations.
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
    SocketSession(socket, self, peer: head.caller.peer, head.caller).start()
  }

  /// A record for an operation that came by a socket, and the operation; or why it is none.
  func receive(
    _ payload: [JSONValue.Member], bytes: Int, from peer: HTTPPeer
  ) -> (RequestRecord, Result<GraphQLRequest, TransportError>) {
    let identity = identification.next()
    let record = RequestRecord(identity, peer: peer, bytes: bytes)
    do throws(TransportError) {
      let request = try endpoint.request(in: payload, bytes: bytes, as: identity)
      record.timing = shared.serverTiming.timing(isAsked: request.asksForTimings)
      return (record, .success(request))
    } catch {
      return (record, .failure(error))
    }
  }

  func timer(after delay: Duration, _ work: @escaping () -> Void) -> LoopTimer {
    pool.loop.schedule(after: delay, work)
  }

  var liveSettings: LiveSettings { shared.live }
}
