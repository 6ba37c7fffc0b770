import Accounts
import GraphQLExecution
import GraphQLLanguage
import GraphQLTransport
import HTTP
import JSON
import Postgres

/// The line a request passes through, on one loop: HTTP request, GraphQL request, prepared
/// operation, viewer, statement, response. Start reading at `answer`.
final class RequestPipeline {
  private let shared: SharedService
  private let executor: OperationExecutor
  private let sessions: SessionResolver
  private let pool: PostgresPool
  private let runner: any StatementRunner
  private var requestIDs: RequestIDs
  var isDraining = false

  init(
    shared: SharedService, executor: OperationExecutor, sessions: SessionResolver,
    pool: PostgresPool, loop: Int
  ) {
    self.shared = shared
    self.executor = executor
    self.sessions = sessions
    self.pool = pool
    runner = shared.runner(pool)
    requestIDs = RequestIDs(loop: loop)
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard request.isPath("/graphql") else { return page(request, exchange) }
    let bearer = request.headerBytes("authorization")
    switch shared.endpoint.receive(request, requestID: requestIDs.next()) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(let graphQL, let format):
      answer(graphQL, bearer, format, exchange) { $0.send(to: exchange) }
    case .batch(let requests, let format):
      batch(requests, bearer, format, exchange)
    }
  }

  private func answer(
    _ request: GraphQLRequest, _ authorization: ArraySlice<UInt8>?, _ format: ResponseFormat,
    _ exchange: HTTPExchange, completion: @escaping (GraphQLAnswer) -> Void
  ) {
    let operation: PreparedOperation
    do {
      operation = try executor.prepare(
        OperationRequest(
          query: request.document, operationName: request.operationName,
          variables: .object(request.variables), mayOnlyRead: request.mayOnlyRead))
    } catch {
      return completion(
        error.isWriteRefused
          ? shared.endpoint.mutationByGet(format, requestID: requestIDs.next())
          : refusal(error.errors, format))
    }
    if shared.introspection.refuses(operation, hasToken: authorization != nil) {
      return completion(refusal([IntrospectionAccess.refusal], format))
    }
    guard let authorization else { return run(operation, 0, format, exchange, completion) }
    guard let token = SessionToken(authorization: authorization) else {
      return completion(
        unauthenticated(
          "The Authorization header must be \"Bearer\" and a session token.", format))
    }
    if let viewer = sessions.known(token) {
      return run(operation, viewer, format, exchange, completion)
    }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer(let viewer): run(operation, viewer, format, exchange, completion)
      case .unknown:
        completion(unauthenticated("The session token is unknown or has expired.", format))
      case .failed(let error): completion(dress(OperationExecutor.failure(error), format))
      }
    }
  }

  /// - Parameter viewer: 0 without an `Authorization` header.
  private func run(
    _ operation: PreparedOperation, _ viewer: Int64, _ format: ResponseFormat,
    _ exchange: HTTPExchange, _ completion: @escaping (GraphQLAnswer) -> Void
  ) {
    let ticket = executor.execute(operation, viewer: viewer, on: runner) { [self] response in
      completion(dress(response, format))
    }
    if let ticket { exchange.onClose { ticket.cancel() } }
  }

  private func batch(
    _ requests: [GraphQLRequest], _ authorization: ArraySlice<UInt8>?, _ format: ResponseFormat,
    _ exchange: HTTPExchange
  ) {
    var answers: [[UInt8]?] = Array(repeating: nil, count: requests.count)
    var remaining = requests.count
    for (index, request) in requests.enumerated() {
      answer(request, authorization, format, exchange) { answer in
        answers[index] = answer.body
        remaining -= 1
        guard remaining == 0 else { return }
        let body = [UInt8](answers.map { $0 ?? [] }.joined(separator: ",".utf8))
        exchange.respond(
          .ok, contentType: format.contentType, headers: format.headers,
          body: [UInt8(ascii: "[")] + body + [UInt8(ascii: "]")])
      }
    }
  }

  // MARK: - Answers

  private func dress(_ response: OperationResponse, _ format: ResponseFormat) -> GraphQLAnswer {
    switch response {
    case .executed(let body, let hasErrors):
      GraphQLAnswer(
        status: format.status(executedWithErrors: hasErrors), contentType: format.contentType,
        headers: format.headers, body: body)
    case .refused(let errors, let retryAfter, let reason):
      refusal(errors, format, retryAfter: retryAfter, because: reason)
    }
  }

  private func unauthenticated(_ message: String, _ format: ResponseFormat) -> GraphQLAnswer {
    refusal([GraphQLError(message, code: ErrorCode.unauthenticated.rawValue)], format)
  }

  private func refusal(
    _ errors: [GraphQLError], _ format: ResponseFormat, retryAfter: Duration? = nil,
    because reason: PostgresError? = nil
  ) -> GraphQLAnswer {
    let requestID = requestIDs.next()
    if let reason { shared.log.report(reason, requestID: requestID) }
    return format.answer(
      errors, requestID: requestID,
      retryAfter: retryAfter.map { max(1, Int($0.components.seconds) + 1) })
  }

  // MARK: - Other pages

  private func page(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    switch request.path {
    case "/live": text("live", .ok, exchange)
    case "/ready":
      let isReady = pool.isAvailable && !isDraining
      text(isReady ? "ready" : "not ready", isReady ? .ok : .serviceUnavailable, exchange)
    case let path: shared.pages.respond(path, request, exchange)
    }
  }

  private func text(_ text: String, _ status: HTTPStatus, _ exchange: HTTPExchange) {
    exchange.respond(
      status, contentType: "text/plain; charset=utf-8", body: Array("\(text)\n".utf8))
  }
}

/// Names for requests that are answered with an error: unique in the process, made on demand.
struct RequestIDs {
  private let prefix: String
  private var count: UInt64 = 0

  init(loop: Int) {
    prefix = String(UInt32.random(in: .min ... .max), radix: 36) + "-\(loop)-"
  }

  mutating func next() -> String {
    count &+= 1
    return prefix + String(count, radix: 36)
  }
}
