import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse

/// What has more than one answer: subscriptions, and queries that are answered again. It lasts until it ends by itself,
/// its client leaves or its session is over.
extension RequestPipeline {
  func watch(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    from caller: Caller, _ record: RequestRecord, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    let unavailable = GraphQLError("This server has no subscriptions.", code: .notImplemented)
    stream("A subscription", or: unavailable, to: caller, record, viewer, completion) {
      [hub] sink, ended in
      let watch = hub.watch(
        operation, response, event, viewer: viewer, from: caller.resume, sink: sink, ended: ended)
      guard let watch else { return nil }
      return Streaming(hasEnded: watch.state == .ended) { hub.drop(watch) }
    }
  }

  func keepAnswering(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LivePlan,
    from caller: Caller, _ record: RequestRecord, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    stream("A live query", or: LiveOptions.unavailable, to: caller, record, viewer, completion) {
      [hub] sink, ended in
      let query = hub.keepAnswering(
        operation, response, plan, viewer: viewer, sink: sink, ended: ended)
      guard let query else { return nil }
      return Streaming(hasEnded: query.hasEnded) { hub.drop(query) }
    }
  }

  private struct Streaming {
    /// It ended as it began.
    let hasEnded: Bool
    let drop: () -> Void
  }

  /// - Parameter start: given where the answers go, and what to call when it has ended by itself; gives nil where there
  ///   is nothing to begin, for which the client is told `unavailable`.
  private func stream(
    _ what: String, or unavailable: GraphQLError, to caller: Caller, _ record: RequestRecord,
    _ viewer: Int64, _ completion: @escaping Completion,
    start: (any ResponseSink, @escaping (OperationResponse) -> Void) -> Streaming?
  ) {
    guard let sink = caller.sink else {
      return completion(
        .refused([
          GraphQLError(
            "\(what) is answered over a WebSocket, or to who accepts text/event-stream or "
              + "multipart/mixed;subscriptionSpec=1.0.", code: .notAcceptable)
        ]), record)
    }
    guard !caller.hasLeft else { return left(record) }
    let session = session(of: caller, viewer)
    let ended = { [self] (response: OperationResponse) in
      session?.stop()
      switch response {
      case .executed: sink.complete()
      case .refused(let errors, _): sink.fail(errors, requestID: record.identity.id)
      }
      tell(record, response)
    }
    guard let streaming = start(sink, ended) else {
      return completion(.refused([unavailable]), record)
    }
    if streaming.hasEnded { return }
    record.lasts = true
    sink.begin()
    caller.onLeave { [self] in
      session?.stop()
      streaming.drop()
      left(record)
    }
    session?.start {
      streaming.drop()
      ended(Self.unauthenticated("The session is over."))
    }
  }

  /// A socket sees to its session itself.
  private func session(of caller: Caller, _ viewer: Int64) -> SessionWatch? {
    guard case .exchange = caller, case .token(let token) = caller.credential else { return nil }
    return SessionWatch(token, of: viewer, self)
  }
}
