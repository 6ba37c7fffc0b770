import Accounts
import EventLoops
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
  let shared: SharedService
  private let preparer: OperationPreparer
  let sessions: SessionResolver
  let pool: PostgresPool
  private let queries: QueryRunner
  private let deliveries: DeliveryRunner
  private let mutations: MutationRunner
  /// Nil where nothing is explained to clients.
  private let explainer: OperationExplainer?
  let endpoint: GraphQLEndpoint
  private let pictures: PictureEndpoint?
  private let observer: LoopObserver
  let hub: LiveHub
  var identification: RequestIdentification
  private var preparations = TurnQueue<PoolClient, QueuedPreparation>(room: 4_096)
  private var nextPreparation: LoopTimer?
  var isDraining = false

  init(
    shared: SharedService, preparer: OperationPreparer, sessions: SessionResolver,
    pool: PostgresPool, pictures: PictureEndpoint?, mutations: MutationRunner, number: Int,
    observer: LoopObserver
  ) {
    self.shared = shared
    self.pictures = pictures
    self.observer = observer
    endpoint = GraphQLEndpoint(shared.endpoint) { observer.report(.endpoint($0)) }
    self.preparer = preparer
    self.sessions = sessions
    self.pool = pool
    queries = QueryRunner(on: shared.runner(pool), settings: shared.execution)
    deliveries = DeliveryRunner(on: pool, settings: shared.execution)
    self.mutations = mutations
    explainer =
      shared.explains ? OperationExplainer(pool: pool, settings: shared.execution) : nil
    let hub = LiveHub(
      loop: pool.loop, number: number, reader: shared.news, runner: queries, pool: pool,
      settings: shared.live)
    hub.onErrors = { observer.report(.push($0, $1)) }
    self.hub = hub
    var generator = SystemRandomNumberGenerator()
    identification = RequestIdentification(
      proxies: shared.trustedProxies, seed: .random(using: &generator))
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let identity = identification.identify(request)
    exchange.identify(as: identity.id)
    let head = head(of: request)
    switch head.target {
    case .operation: break
    case .explanation: return explain(request, head, exchange, as: identity)
    case .socket: return openSocket(request, exchange)
    case .other:
      if let pictures, pictures.handles(request) {
        return pictures.handle(request, exchange, as: identity, for: head.client)
      }
      return page(request, exchange)
    }
    let record = RequestRecord(identity, peer: request.peer, bytes: request.body.count)
    switch endpoint.receive(request, head.format, as: identity) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(var graphQL, let format):
      graphQL.delivery = format.parts?.delivery
      let stream = stream(request, exchange, format)
      answer(graphQL, from: .exchange(request, head, exchange, stream), record) {
        [self] response, record in
        if let stream, stream.hasBegun || format.isStreamOnly {
          send(response, record, to: stream)
        } else {
          dress(response, record, format).send(to: exchange)
        }
      }
    case .batch(let requests, let format):
      batch(requests, of: request, head, record, format, exchange)
    }
  }

  /// The plan of an operation that is sent as to `/graphql`, on the same line and under its limits.
  private func explain(
    _ request: HTTPRequest, _ head: RequestHead, _ exchange: HTTPExchange,
    as identity: RequestIdentity
  ) {
    guard explainer != nil else {
      return text(
        "Plans are shown where the server runs with --explain-in-page.", .forbidden, exchange)
    }
    let record = RequestRecord(identity, peer: request.peer, bytes: request.body.count)
    switch endpoint.receive(request, head.format, as: identity) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(let graphQL, let format):
      answer(graphQL, from: .exchange(request, head, exchange, nil), record) {
        [self] response, record in
        var answer = dress(response, record, format)
        if case .executed = response { answer.contentType = "application/json; charset=utf-8" }
        answer.send(to: exchange)
      }
    case .batch(_, let format):
      refusal(
        [GraphQLError("One operation is explained at a time.", code: .badRequest)], record, format
      ).send(to: exchange)
    }
  }

  /// Read once, as long as the client repeats it.
  func head(of request: HTTPRequest) -> RequestHead {
    if let known = request.reading as? RequestHead { return known }
    let head = RequestHead(
      RequestHead.Target(request), format: endpoint.head(of: request),
      credential: Credential(of: request), client: client(of: request),
      chargedAddress: chargedAddress(of: request))
    request.reading = head
    return head
  }

  /// - Parameter completion: given the response, and all that is known of the operation by then.
  func answer(
    _ request: GraphQLRequest, from caller: Caller, _ record: RequestRecord,
    completion: @escaping Completion
  ) {
    if let known = preparer.known(request) {
      return prepared(known, from: caller, preparationCost: 0, record, completion)
    }
    let work = QueuedPreparation { [self] isInTime in
      caller.onLeave {}
      guard isInTime else {
        completion(Self.busy, record)
        return false
      }
      if let refusal = refusalOfPreparing(request, from: caller) {
        completion(refusal, record)
        return false
      }
      let preparation = preparer.prepare(request)
      prepared(
        preparation, from: caller, preparationCost: Self.preparationCost(of: request), record,
        completion)
      return preparation.times.hasPreparing
    }
    let viewer = knownViewer(of: caller)
    let client = viewer == 0 ? caller.client : .viewer(viewer)
    guard preparations.add(work, for: client) else { return completion(Self.busy, record) }
    caller.onLeave { [self] in
      work.isWanted = false
      left(record)
    }
    planPreparing()
  }

  private func prepared(
    _ preparation: Preparation, from caller: Caller, preparationCost: Int, _ record: RequestRecord,
    _ completion: @escaping Completion
  ) {
    switch preparation {
    case .ready(let operation):
      go(Call(operation, from: caller, preparationCost: preparationCost, record, completion))
    case .refused(let errors, let label, let times):
      record.label = label
      record.times = times
      completion(.refused(errors.errors), record)
    }
  }

  /// A document that nobody has sent before, or not with such variables: milliseconds of work.
  private final class QueuedPreparation {
    let since = ContinuousClock.now
    var isWanted = true
    /// Given whether it has not waited too long; says whether it was work.
    let run: (_ isInTime: Bool) -> Bool

    init(run: @escaping (_ isInTime: Bool) -> Bool) { self.run = run }
  }

  /// One at a time, of one client after the other, and as long for those whose documents are known in
  /// between: work of this kind has half of the loop.
  private func planPreparing(after rest: Duration = .zero) {
    guard nextPreparation == nil, preparations.count > 0 else { return }
    nextPreparation = pool.loop.schedule(after: rest) { self.prepareNext() }
  }

  private func prepareNext() {
    nextPreparation = nil
    let began = ContinuousClock.now
    while let next = preparations.next() {
      if next.isWanted, next.run(next.since + pool.settings.queueWait > .now) { break }
    }
    planPreparing(after: began.duration(to: .now))
  }

  private static var busy: OperationResponse {
    .failure(
      PostgresError(.overloaded, message: "Too much waits.", retryAfter: .seconds(1)))
  }

  typealias Completion = (OperationResponse, RequestRecord) -> Void

  /// An operation on its way, once it is known what it is.
  final class Call {
    let operation: PreparedOperation
    let caller: Caller
    /// The points that were taken for preparing it.
    let preparationCost: Int
    let record: RequestRecord
    let completion: Completion

    init(
      _ operation: PreparedOperation, from caller: Caller, preparationCost: Int = 0,
      _ record: RequestRecord, _ completion: @escaping Completion
    ) {
      self.operation = operation
      self.caller = caller
      self.preparationCost = preparationCost
      self.record = record
      self.completion = completion
      record.label = operation.label
      record.times = operation.times
      record.statement = operation.plan.statementName
    }

    /// It is answered until its client leaves.
    var lasts: Bool {
      switch operation.plan.kind {
      case .subscription, .live: true
      case .query, .incremental, .mutation: false
      }
    }

    func end(_ response: OperationResponse) { completion(response, record) }
  }

  private func go(_ call: Call) {
    let credential = call.caller.credential
    if call.caller.wantsExplanation, Self.explained(call.operation.plan) == nil {
      return call.end(
        .refused([
          GraphQLError(
            "Only queries are explained here, as they are run for it; sociograph explain shows what "
              + "a mutation calls.", code: .badRequest)
        ]))
    }
    if shared.introspection.refuses(call.operation, hasToken: credential != .none) {
      return call.end(.refused([IntrospectionAccess.refusal]))
    }
    switch credential {
    case .none: charge(call, viewer: 0)
    case .malformed:
      call.end(
        Self.unauthenticated(
          "The Authorization header must be \"Bearer\" and a session token."))
    case .token(let token):
      if let viewer = sessions.known(token) { return charge(call, viewer: viewer) }
      sessions.resolve(token) { [self] resolution in
        switch resolution {
        case .viewer(let viewer): charge(call, viewer: viewer)
        case .unknown:
          call.end(Self.unauthenticated("The session token is unknown or has expired."))
        case .failed(let error) where call.lasts && mayWait(since: call.record.began, after: error):
          let wait = waitForRoom { [self] in go(call) }
          call.caller.onLeave { [self] in
            _ = wait
            left(call.record)
          }
        case .failed(let error): call.end(.failure(error))
        }
      }
    }
  }

  func run(_ call: Call, _ viewer: Int64, _ completion: @escaping Completion) {
    let operation = call.operation
    if call.caller.wantsExplanation, let explainer, let response = Self.explained(operation.plan) {
      return explainer.explain(operation, response, viewer: viewer) {
        completion($0, call.record)
      }
    }
    switch operation.plan.kind {
    case .query(let response): query(call, response, viewer, completion)
    case .live(let response, let plan):
      keepAnswering(operation, response, plan, from: call.caller, call.record, viewer, completion)
    case .incremental(let first, let delivery, let later):
      guard let sink = call.caller.partSink else {
        return completion(
          .refused([.fault("A response in parts was planned for a client that takes none.")]),
          call.record)
      }
      let ticket = deliveries.run(
        operation, first, delivery, later: later, viewer: viewer
      ) { [self] part in
        send(part, to: sink, call, completion)
      }
      cancel(ticket, onLeave: call)
    case .mutation(let fields): mutate(call, fields, viewer, completion)
    case .subscription(let response, let event):
      watch(operation, response, event, from: call.caller, call.record, viewer, completion)
    }
  }

  /// How the response to a query is made that may be explained; nil of what is not run to be explained.
  private static func explained(_ plan: PreparedPlan) -> PreparedResponse? {
    switch plan.kind {
    case .query(let response), .live(let response, _), .incremental(let response, _, _): response
    case .mutation, .subscription: nil
    }
  }

  private func query(
    _ call: Call, _ response: PreparedResponse, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    let ticket = queries.run(call.operation, response, viewer: viewer) { [self] outcome in
      call.record.times = outcome.times
      completion(held(outcome.response, for: call.caller), call.record)
    }
    cancel(ticket, onLeave: call)
  }

  private func cancel(_ ticket: PostgresTicket?, onLeave call: Call) {
    guard let ticket else { return }
    call.caller.onLeave { [self] in
      ticket.cancel()
      left(call.record)
    }
  }

  /// - Returns: false when no more is wanted.
  private func send(
    _ part: AnswerPart, to sink: any ResponseSink, _ call: Call, _ completion: Completion
  ) -> Bool {
    let record = call.record
    switch part {
    case .whole(let outcome):
      record.times = outcome.times
      completion(held(outcome.response, for: call.caller), record)
      return true
    case .first(let body, let times):
      record.times = times
      record.responseBytes += body.count
      if sink.next(body, to: nil) { return true }
    case .next(let body):
      record.responseBytes += body.count
      if sink.next(body, to: nil) { return true }
    case .last(let body, let errors):
      record.responseBytes += body.count
      record.errors = errors
      if sink.next(body, to: nil) {
        sink.complete()
        end(record)
        return true
      }
    }
    sink.interrupt("Too much waits for the client to read it.")
    return false
  }

  private func mutate(
    _ call: Call, _ fields: [PreparedField], _ viewer: Int64, _ completion: @escaping Completion
  ) {
    let run = mutations.run(
      call.operation, fields, viewer: viewer,
      findClient: { [self] in identity(of: call.caller) },
      findViewer: { [self] completion in findViewer(of: call.caller, completion) },
      completion: { [self] outcome in
        call.record.times = outcome.times
        shared.news?.ring()
        completion(outcome.response, call.record)
      })
    call.caller.onLeave { [self] in
      run.cancel()
      left(call.record)
    }
  }

  /// Whom the caller's credential stands for now; 0 for nobody.
  private func findViewer(
    of caller: Caller, _ completion: @escaping (Result<Int64, PostgresError>) -> Void
  ) {
    guard case .token(let token) = caller.credential else { return completion(.success(0)) }
    sessions.forget(token)
    sessions.resolve(token) { resolution in
      switch resolution {
      case .viewer(let viewer): completion(.success(viewer))
      case .unknown: completion(.success(0))
      case .failed(let error): completion(.failure(error))
      }
    }
  }

  func left(_ record: RequestRecord) {
    record.clientLeft = true
    end(record)
  }

  private func batch(
    _ requests: [GraphQLRequest], of http: HTTPRequest, _ head: RequestHead,
    _ record: RequestRecord, _ format: ResponseFormat, _ exchange: HTTPExchange
  ) {
    var answers: [[UInt8]?] = Array(repeating: nil, count: requests.count)
    var remaining = requests.count
    for (index, request) in requests.enumerated() {
      let part = RequestRecord(
        record.identity, peer: record.peer, bytes: record.requestBytes, began: record.began)
      answer(request, from: .exchange(http, head, exchange, nil), part) {
        [self] response, part in
        answers[index] = dress(response, part, format).body
        remaining -= 1
        guard remaining == 0 else { return }
        let body = [UInt8](answers.map { $0 ?? [] }.joined(separator: ",".utf8))
        exchange.respond(
          .ok, contentType: format.contentType, headers: format.headers,
          body: [UInt8(ascii: "[")] + body + [UInt8(ascii: "]")])
      }
    }
  }

  // MARK: - Clients

  /// Whose share of planning and of connections an operation takes unless somebody is signed in.
  private func client(of request: HTTPRequest) -> PoolClient {
    let bits = shared.trustedProxies.client(of: request).accountable.bits
    return .address(high: bits.high, low: bits.low)
  }

  /// Whose points an operation takes unless somebody is signed in; nil when nobody's are counted: none
  /// are, or the request comes from this machine and not by a proxy that is believed, so from whoever
  /// runs it or from a proxy that cannot tell its clients apart.
  private func chargedAddress(of request: HTTPRequest) -> HTTPPeer? {
    guard shared.rateLimiter != nil, !isAddressShared(by: request) else { return nil }
    return shared.trustedProxies.client(of: request).accountable
  }

  /// Whether the request comes from this machine and not by a proxy that is believed.
  private func isAddressShared(by request: HTTPRequest) -> Bool {
    request.peer.isOfThisMachine && !shared.trustedProxies.isSender(of: request)
  }

  private func identity(of caller: Caller) -> ClientIdentity {
    var client: ClientIdentity
    switch caller {
    case .exchange(let request, _, _, _): client = identity(of: request)
    case .socket(let session, _): client = session.origin.client
    }
    if case .token(let token) = caller.credential { client.sessionHash = token.hash }
    return client
  }

  func identity(of request: HTTPRequest) -> ClientIdentity {
    var client = ClientIdentity()
    client.address = "\(shared.trustedProxies.client(of: request).accountable)"
    client.isAddressShared = isAddressShared(by: request)
    client.device = request.header("user-agent")
    return client
  }

  // MARK: - Answers

  private static let answersHeld = GraphQLError(
    "Too many answers wait for clients that do not read them; try again shortly.",
    code: .serviceOverloaded)

  /// The response, unless too much waits for clients that do not read.
  private func held(_ response: OperationResponse, for caller: Caller) -> OperationResponse {
    guard case .executed(let body, _, _) = response, !caller.mayHold(body.count) else {
      return response
    }
    return .refused([Self.answersHeld], retryAfter: nil)
  }

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

  static func unauthenticated(_ message: String) -> OperationResponse {
    .refused([GraphQLError(message, code: .unauthenticated)])
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
    record.errors = errors
    record.status = answer.status
    record.responseBytes = answer.body.count
    end(record)
    return answer
  }

  private func end(_ record: RequestRecord) {
    record.ended = monotonicNanoseconds()
    observer.report(.request(record))
  }

  /// Tells those who look of an operation that a socket has the answer to.
  func tell(_ record: RequestRecord, _ response: OperationResponse) {
    switch response {
    case .executed(let body, let errors, _):
      record.errors = errors
      record.responseBytes = body.count
    case .refused(let errors, _): record.errors = errors
    }
    end(record)
  }

  // MARK: - Streams

  private func stream(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ format: ResponseFormat
  ) -> StreamAnswer? {
    guard format.stream != nil || format.parts != nil else { return nil }
    let loop = pool.loop
    return StreamAnswer(request, exchange, format, heartbeat: shared.live.heartbeat) {
      loop.schedule(after: $0, repeating: $0, $1)
    }
  }

  private func send(
    _ response: OperationResponse, _ record: RequestRecord, to stream: StreamAnswer
  ) {
    tell(record, response)
    switch response {
    case .executed(let body, _, _):
      _ = stream.next(body, to: nil)
      stream.complete()
    case .refused(let errors, _): stream.fail(errors, requestID: record.identity.id)
    }
  }
}
