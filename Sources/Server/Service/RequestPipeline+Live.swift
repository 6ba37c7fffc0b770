import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse

/// What has more than one response: subscriptions, and queries that are answered again. It lasts until it
/// ends by itself, its client leaves or its session is over.
extension RequestPipeline {
  func watch(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    viewer: Int64, _ flight: RequestInFlight
  ) {
    let unavailable = GraphQLError("This server has no subscriptions.", code: .notImplemented)
    stream("A subscription", or: unavailable, viewer, flight) { [hub] sink, ended in
      let watch = hub.watch(
        operation, response, event, viewer: viewer, from: flight.reply.resume, sink: sink,
        ended: ended)
      return watch.map { watch in { hub.drop(watch) } }
    }
  }

  func keepAnswering(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LivePlan, viewer: Int64,
    _ flight: RequestInFlight
  ) {
    stream("A live query", or: LiveOptions.unavailable, viewer, flight) { [hub] sink, ended in
      let query = hub.keepAnswering(
        operation, response, plan, viewer: viewer, sink: sink, ended: ended)
      return query.map { query in { hub.drop(query) } }
    }
  }

  /// - Parameter start: given where the responses go, and what to call when it has ended by itself. Gives what
  ///   ends it otherwise; nil where there is nothing to begin, for which the client is told `unavailable`.
  private func stream(
    _ what: String, or unavailable: GraphQLError, _ viewer: Int64, _ flight: RequestInFlight,
    start: (any ResponseSink, @escaping (OperationResponse) -> Void) -> (() -> Void)?
  ) {
    guard !flight.isOver else { return }
    guard let sink = flight.reply.sink else {
      return flight.finish(
        .refused([
          GraphQLError(
            "\(what) is answered over a WebSocket, or to who accepts text/event-stream or "
              + "multipart/mixed;subscriptionSpec=1.0.", code: .notAcceptable)
        ]))
    }
    let session = session(of: flight, viewer)
    let ended = { (response: OperationResponse) in
      session?.stop()
      flight.finish(response, behind: sink)
    }
    guard let drop = start(sink, ended) else { return flight.finish(.refused([unavailable])) }
    if flight.isOver { return }
    flight.record.lasts = true
    sink.begin()
    flight.goOn(
      with: .stream {
        session?.stop()
        drop()
      })
    session?.start {
      drop()
      ended(Self.unauthenticated("The session is over."))
    }
  }

  /// A socket sees to its session itself.
  private func session(of flight: RequestInFlight, _ viewer: Int64) -> SessionWatch? {
    guard case .exchange = flight.reply, case .token(let token) = flight.caller.credential else {
      return nil
    }
    return SessionWatch(token, of: viewer, self)
  }
}
