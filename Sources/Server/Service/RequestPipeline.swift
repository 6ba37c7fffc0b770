import Accounts
import GraphQLExecution
import GraphQLLanguage
import HTTP
import JSON
import Postgres

/// The line a request passes through, on one loop: HTTP request, GraphQL request, prepared
/// operation, viewer, statement, response. Read `answer` first.
final class RequestPipeline {
  private let shared: SharedService
  private let executor: OperationExecutor
  private let sessions: SessionResolver
  private let pool: PostgresPool
  var isDraining = false

  init(
    shared: SharedService, executor: OperationExecutor, sessions: SessionResolver,
    pool: PostgresPool
  ) {
    self.shared = shared
    self.executor = executor
    self.sessions = sessions
    self.pool = pool
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    switch request.path {
    case "/graphql": graphQL(request, exchange)
    case "/live":
      exchange.respond(.ok, contentType: "text/plain; charset=utf-8", body: Array("live\n".utf8))
    case "/ready": ready(exchange)
    case let path: shared.pages.respond(path, request, exchange)
    }
  }

  private func ready(_ exchange: HTTPExchange) {
    let isReady = pool.isAvailable && !isDraining
    exchange.respond(
      isReady ? .ok : .serviceUnavailable, contentType: "text/plain; charset=utf-8",
      body: Array((isReady ? "ready\n" : "not ready\n").utf8))
  }

  private func graphQL(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard let json = try? JSONParser.parse(request.body), case .string(let query)? = json["query"]
    else { return exchange.respond(.badRequest) }
    var name: String?
    if case .string(let text)? = json["operationName"] { name = text }
    let operation = OperationRequest(
      query: query, operationName: name, variables: json["variables"])
    let bearer = request.header("authorization")
    answer(operation, bearer: bearer, exchange) { response in
      exchange.respond(.ok, contentType: "application/json; charset=utf-8", body: response.body)
    }
  }

  private func answer(
    _ request: OperationRequest, bearer: String?, _ exchange: HTTPExchange,
    completion: @escaping (OperationResponse) -> Void
  ) {
    let operation: PreparedOperation
    do {
      operation = try executor.prepare(request)
    } catch {
      return completion(OperationExecutor.refusal(error.errors))
    }
    withViewer(bearer, completion) { [executor, pool] viewer in
      let ticket = executor.execute(operation, viewer: viewer, on: pool, completion: completion)
      if let ticket { exchange.onClose { ticket.cancel() } }
    }
  }

  /// The user behind `Authorization: Bearer TOKEN`; 0 without the header.
  private func withViewer(
    _ authorization: String?, _ refuse: @escaping (OperationResponse) -> Void,
    _ proceed: @escaping (Int64) -> Void
  ) {
    guard let authorization else { return proceed(0) }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer",
      let token = SessionToken(bearer: String(parts[1]))
    else {
      return refuse(
        OperationExecutor.refusal([
          GraphQLError(
            "The Authorization header must be \"Bearer\" and a session token.",
            code: "UNAUTHENTICATED")
        ]))
    }
    sessions.resolve(token) { resolution in
      switch resolution {
      case .viewer(let id): proceed(id)
      case .unknown:
        refuse(
          OperationExecutor.refusal([
            GraphQLError(
              "The session token is unknown or has expired.", code: "UNAUTHENTICATED")
          ]))
      case .failed(let error): refuse(OperationExecutor.failure(error))
      }
    }
  }
}
