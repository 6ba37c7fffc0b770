import Accounts
import GraphQLExecution
import GraphQLLanguage
import GraphQLResponse
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
  private let mutations: MutationRunner
  private let endpoint: GraphQLEndpoint
  private let pictures: PictureEndpoint?
  private let observer: LoopObserver
  private var identification: RequestIdentification
  var isDraining = false

  init(
    shared: SharedService, executor: OperationExecutor, sessions: SessionResolver,
    pool: PostgresPool, pictures: PictureEndpoint?, mutations: MutationRunner,
    observer: LoopObserver
  ) {
    self.shared = shared
    self.pictures = pictures
    self.observer = observer
    endpoint = GraphQLEndpoint(shared.endpoint) { observer.report(.endpoint($0)) }
    self.executor = executor
    self.sessions = sessions
    self.pool = pool
    runner = shared.runner(pool)
    self.mutations = mutations
    var generator = SystemRandomNumberGenerator()
    identification = RequestIdentification(
      proxies: shared.trustedProxies, seed: .random(using: &generator))
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let identity = identification.identify(request)
    exchange.identify(as: identity.id)
    guard request.isPath("/graphql") else {
      if let pictures, pictures.handles(request) {
        return pictures.handle(request, exchange, as: identity)
      }
      return page(request, exchange)
    }
    var record = RequestRecord(identity, peer: request.peer)
    record.requestBytes = request.body.count
    switch endpoint.receive(request, as: identity) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(let graphQL, let format):
      answer(graphQL, of: request, record, format, exchange) { $0.send(to: exchange) }
    case .batch(let requests, let format):
      batch(requests, of: request, record, format, exchange)
    }
  }

  private func answer(
    _ request: GraphQLRequest, of http: HTTPRequest, _ record: RequestRecord,
    _ format: ResponseFormat, _ exchange: HTTPExchange,
    completion: @escaping (GraphQLAnswer) -> Void
  ) {
    var record = record
    let operation: PreparedOperation
    do {
      operation = try executor.prepare(request)
    } catch {
      record.label = executor.label
      record.times = executor.times
      return completion(refusal(error.errors, record, format))
    }
    record.label = operation.label
    record.times = operation.times
    record.statement = operation.plan.statementName
    let authorization = http.headerBytes("authorization")
    if shared.introspection.refuses(operation, hasToken: authorization != nil) {
      return completion(refusal([IntrospectionAccess.refusal], record, format))
    }
    let token = authorization.flatMap(SessionToken.init(authorization:))
    let client = operation.isMutation ? client(of: http, token) : nil
    let address = chargedAddress(of: http)
    guard authorization != nil else {
      return charge(address, operation, client, record, 0, format, exchange, completion)
    }
    guard let token else {
      return completion(
        unauthenticated(
          "The Authorization header must be \"Bearer\" and a session token.", record, format))
    }
    if let viewer = sessions.known(token) {
      return charge(address, operation, client, record, viewer, format, exchange, completion)
    }
    sessions.resolve(token) { [self, record] resolution in
      switch resolution {
      case .viewer(let viewer):
        charge(address, operation, client, record, viewer, format, exchange, completion)
      case .unknown:
        completion(
          unauthenticated("The session token is unknown or has expired.", record, format))
      case .failed(let error):
        completion(dress(OperationExecutor.failure(error), record, format))
      }
    }
  }

  /// Whose points an operation takes unless somebody is signed in; nil when nobody's are counted: none
  /// are, or the request comes from this machine and not by a proxy that is believed, so from whoever
  /// runs it or from a proxy that cannot tell its clients apart.
  private func chargedAddress(of request: HTTPRequest) -> HTTPPeer? {
    guard shared.rateLimiter != nil else { return nil }
    if request.peer.isOfThisMachine, !shared.trustedProxies.isSender(of: request) { return nil }
    return shared.trustedProxies.client(of: request).accountable
  }

  /// Takes the operation's points from its client, or refuses it.
  private func charge(
    _ address: HTTPPeer?, _ operation: PreparedOperation, _ client: ClientIdentity?,
    _ record: RequestRecord, _ viewer: Int64, _ format: ResponseFormat, _ exchange: HTTPExchange,
    _ completion: @escaping (GraphQLAnswer) -> Void
  ) {
    guard let address, let limiter = shared.rateLimiter else {
      return run(operation, client, record, viewer, format, exchange, completion)
    }
    let charged = viewer == 0 ? RateLimiter.Client.address(address) : .viewer(viewer)
    guard let rate = limiter.rate(of: charged) else {
      return run(operation, client, record, viewer, format, exchange, completion)
    }
    let cost = operation.cost
    if case .refused(let wait) = limiter.take(cost, from: charged, now: monotonicNanoseconds()) {
      return completion(
        refusal(
          [
            GraphQLError(
              "The operation may cost \(cost), and that is not left of what may be spent now: "
                + "\(rate.maximum) at once, and \(rate.perSecond) a second.", code: .rateLimited)
          ], record, format, retryAfter: wait))
    }
    var operation = operation
    let charge = OperationCharge(requested: cost) { actual in
      let available = limiter.giveBack(
        cost - actual, to: charged, now: monotonicNanoseconds())
      return OperationCharge.Throttle(
        maximum: rate.maximum, available: available, restoreRate: rate.perSecond)
    }
    operation.charge = charge
    run(operation, client, record, viewer, format, exchange) { answer in
      // Of one that was refused for want of room, nothing was spent.
      if answer.status == .serviceUnavailable { charge.cancel() }
      completion(answer)
    }
  }

  private func client(of request: HTTPRequest, _ token: SessionToken?) -> ClientIdentity {
    var client = ClientIdentity()
    client.address = "\(shared.trustedProxies.client(of: request))"
    client.device = request.header("user-agent")
    client.sessionHash = token?.hash
    return client
  }

  /// - Parameters:
  ///   - client: of a mutation.
  ///   - viewer: 0 without an `Authorization` header.
  private func run(
    _ operation: PreparedOperation, _ client: ClientIdentity?, _ record: RequestRecord,
    _ viewer: Int64,
    _ format: ResponseFormat, _ exchange: HTTPExchange,
    _ completion: @escaping (GraphQLAnswer) -> Void
  ) {
    if let client {
      let run = mutations.run(operation, viewer: viewer, client: client) { [self] response in
        var record = record
        record.times = mutations.times
        completion(dress(response, record, format))
      }
      exchange.onClose { [self] in
        run.cancel()
        left(record)
      }
      return
    }
    let ticket = executor.execute(operation, viewer: viewer, on: runner) { [self] response in
      var record = record
      record.times = executor.times
      completion(dress(response, record, format))
    }
    guard let ticket else { return }
    exchange.onClose { [self] in
      ticket.cancel()
      left(record)
    }
  }

  private func left(_ record: RequestRecord) {
    var record = record
    record.clientLeft = true
    end(&record)
  }

  private func batch(
    _ requests: [GraphQLRequest], of http: HTTPRequest, _ record: RequestRecord,
    _ format: ResponseFormat, _ exchange: HTTPExchange
  ) {
    var answers: [[UInt8]?] = Array(repeating: nil, count: requests.count)
    var remaining = requests.count
    for (index, request) in requests.enumerated() {
      answer(request, of: http, record, format, exchange) { answer in
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

  private static let replayed = HTTPField("Idempotency-Replayed", "true")

  private func dress(
    _ response: OperationResponse, _ record: RequestRecord, _ format: ResponseFormat
  ) -> GraphQLAnswer {
    switch response {
    case .executed(let body, let errors, let isReplayed):
      told(
        GraphQLAnswer(
          status: format.status(executedWithErrors: !errors.isEmpty),
          contentType: format.contentType,
          headers: format.headers + (isReplayed ? [Self.replayed] : []), body: body),
        errors, record)
    case .refused(let errors, let retryAfter):
      refusal(errors, record, format, retryAfter: retryAfter)
    }
  }

  private func unauthenticated(
    _ message: String, _ record: RequestRecord, _ format: ResponseFormat
  ) -> GraphQLAnswer {
    refusal([GraphQLError(message, code: .unauthenticated)], record, format)
  }

  private func refusal(
    _ errors: [GraphQLError], _ record: RequestRecord, _ format: ResponseFormat,
    retryAfter: Duration? = nil
  ) -> GraphQLAnswer {
    told(
      format.answer(
        errors, requestID: record.identity.id,
        retryAfter: retryAfter.map { max(1, Int($0.components.seconds) + 1) }), errors, record)
  }

  /// The answer, once those who look were told of it.
  private func told(
    _ answer: GraphQLAnswer, _ errors: [GraphQLError], _ record: RequestRecord
  ) -> GraphQLAnswer {
    var record = record
    record.errors = errors
    record.status = answer.status
    record.responseBytes = answer.body.count
    end(&record)
    return answer
  }

  private func end(_ record: inout RequestRecord) {
    record.ended = monotonicNanoseconds()
    observer.report(.request(record))
  }

  // MARK: - Other pages

  /// The database answers, nobody has said otherwise, and the server is not about to end.
  var isReady: Bool { pool.isAvailable && !isDraining && shared.readiness.isGiven }

  private func page(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    switch request.path {
    case "/live": text("live", .ok, exchange)
    case "/ready":
      text(isReady ? "ready" : "not ready", isReady ? .ok : .serviceUnavailable, exchange)
    case StaticPages.schemaText where shared.introspection == .signedIn:
      schemaText(request, exchange)
    case let path: shared.pages.respond(path, request, exchange)
    }
  }

  private func schemaText(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let refuse = { [self] in
      text(
        "The schema is for those who are signed in.", .unauthorized, exchange,
        headers: [HTTPField("WWW-Authenticate", "Bearer")])
    }
    guard let authorization = request.headerBytes("authorization"),
      let token = SessionToken(authorization: authorization)
    else { return refuse() }
    sessions.resolve(token) { [self] resolution in
      switch resolution {
      case .viewer: shared.pages.respond(StaticPages.schemaText, request, exchange)
      case .unknown: refuse()
      case .failed: text("The database cannot be reached.", .serviceUnavailable, exchange)
      }
    }
  }

  private func text(
    _ text: String, _ status: HTTPStatus, _ exchange: HTTPExchange, headers: [HTTPField] = []
  ) {
    exchange.respond(
      status, contentType: "text/plain; charset=utf-8", headers: headers,
      body: Array("\(text)\n".utf8))
  }
}
