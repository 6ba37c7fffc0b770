import GraphQLResponse
import GraphQLTransport
import HTTP

extension RequestPipeline {
  /// Receives a request with files: they become photos of the viewer, whose IDs stand for them.
  func receiveForm(
    _ request: HTTPRequest, _ head: RequestHead, _ exchange: HTTPExchange,
    as identity: RequestIdentity
  ) {
    let record = record(of: request, head, identity)
    func reply(_ format: ResponseFormat) -> Reply {
      .exchange(exchange, format, stream(request, exchange, format, record))
    }
    func refuse(_ response: OperationResponse) {
      begin(reply(head.format.format), from: head.caller, record).finish(response)
    }
    guard let pictures, case .token(let token) = head.caller.credential else {
      return refuse(Self.unauthenticated("Files are taken with a session token."))
    }
    sessions.resolve(token) { [self] resolution in
      let viewer: Int64
      switch resolution {
      case .viewer(let found): viewer = found.id
      case .unknown: return refuse(Self.unknownToken)
      case .failed(let error): return refuse(.failure(error))
      }
      // Nobody else has the server read a form.
      let form: UploadForm
      switch endpoint.form(in: request, head.format, as: identity) {
      case .success(let read): form = read
      case .failure(let refused): return refused.answer.send(to: exchange)
      }
      pictures.attach(form, of: viewer, .viewer(viewer), as: identity) { [self] result in
        switch result {
        case .success(let ids):
          let reception = endpoint.receive(form, with: ids, head.format, as: identity)
          take(reception, head, exchange, record) { format, _ in reply(format) }
        case .failure(let refused):
          refuse(.refused([refused.error], retryAfter: refused.retryAfter))
        }
      }
    }
  }
}
