import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Subscriptions

/// Operations with several responses: subscriptions and live queries. A stream lasts until the
/// server ends it, its client disconnects, or its session ends.
extension RequestPipeline {
  func subscribe(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    viewer: Int64, _ flight: RequestInFlight
  ) {
    let unavailable = GraphQLError("This server has no subscriptions.", code: .notImplemented)
    stream("A subscription", or: unavailable, viewer, flight) { [subscriptions] sink, ended in
      subscriptions.subscribe(
        operation, response, event, viewer: viewer, from: flight.reply.resume, to: sink,
        ended: ended)
    }
  }

  func answerLive(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LiveDependencies,
    viewer: Int64,
    _ flight: RequestInFlight
  ) {
    stream("A live query", or: LiveOptions.unavailable, viewer, flight) {
      [subscriptions] sink, ended in
      subscriptions.query(operation, response, plan, viewer: viewer, to: sink, ended: ended)
    }
  }

  /// Begins a stream.
  ///
  /// - Parameter start: begins the stream with its sink and a closure for its end on the server's
  ///   side. It returns nil if it cannot begin; the client then receives `unavailable`.
  private func stream(
    _ what: String, or unavailable: GraphQLError, _ viewer: Int64, _ flight: RequestInFlight,
    start: (any ResponseSink, @escaping (OperationResponse) -> Void) -> StreamID?
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
    let monitor = SessionMonitor(subscriptions)
    let ended = { (response: OperationResponse) in
      monitor.stop()
      flight.finish(response, behind: sink)
    }
    guard let stream = start(sink, ended) else { return flight.finish(.refused([unavailable])) }
    guard subscriptions.isRunning(stream), !flight.isOver else { return }
    flight.record.lasts = true
    sink.begin()
    flight.goOn(
      with: .stream { [subscriptions] in
        monitor.stop()
        subscriptions.cancel(stream)
      })
    // A socket monitors its session itself.
    guard case .exchange = flight.reply, case .token(let token) = flight.caller.credential else {
      return
    }
    monitor.start(token, of: viewer) { [subscriptions] end in
      switch end {
      case .over:
        subscriptions.cancel(stream)
        ended(Self.unauthenticated("The session is over."))
      case .changed: sink.interrupt("What you may do has changed; begin again.")
      }
    }
  }
}
