import GraphQLExecution
import GraphQLResponse

/// Queries that are answered again.
extension RequestPipeline {
  func keepAnswering(
    _ operation: PreparedOperation, from caller: Caller, _ record: RequestRecord, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    guard let sink = caller.sink else {
      return completion(
        .refused([
          GraphQLError(
            "A live query is answered over a WebSocket, or to who accepts text/event-stream or "
              + "multipart/mixed;subscriptionSpec=1.0.", code: .notAcceptable)
        ]), record)
    }
    let query = hub.keepAnswering(operation, viewer: viewer, sink: sink) { [self] response in
      switch response {
      case .executed: sink.complete()
      case .refused(let errors, _): sink.fail(errors, requestID: record.identity.id)
      }
      tell(record, response)
    }
    guard let query else {
      return completion(.refused([LiveOptions.unavailable]), record)
    }
    if query.hasEnded { return }
    sink.begin()
    caller.onLeave { [self] in
      hub.drop(query)
      left(record)
    }
  }
}
