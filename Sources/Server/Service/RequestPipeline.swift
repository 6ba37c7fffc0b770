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
  private let executor: OperationExecutor
  let sessions: SessionResolver
  let pool: PostgresPool
  private let runner: any StatementRunner
  private let mutations: MutationRunner
  /// Nil where nothing is explained to clients.
  private let explainer: OperationExplainer?
  let endpoint: GraphQLEndpoint
  private let pictures: PictureEndpoint?
  private let observer: LoopObserver
  let hub: LiveHub
  var identification: RequestIdentification
  private var preparations = TurnQueue<PoolClient, Preparation>(room: 4_096)
  private var nextPreparation: LoopTimer?
  var isDraining = false

  init(
    shared: SharedService, executor: OperationExecutor, sessions: SessionResolver,
    pool: PostgresPool, pictures: PictureEndpoint?, mutations: MutationRunner, number: Int,
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
    explainer =
      shared.explains ? OperationExplainer(pool: pool, settings: shared.executor) : nil
    hub = LiveHub(
      loop: pool.loop, number: number, reader: shared.news, executor: executor, runner: runner,
      pool: pool, settings: shared.live)
    var generator = SystemRandomNumberGenerator()
    identification = RequestIdentification(
      proxies: shared.trustedProxies, seed: .random(using: &generator))
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let identity = identification.identify(request)
    exchange.identify(as: identity.id)
    if request.isPath("/explain") { return explain(request, exchange, as: identity) }
    guard request.isPath("/graphql") else {
      if let pictures, pictures.handles(request) {
        return pictures.handle(request, exchange, as: identity)
      }
      return page(request, exchange)
    }
    if WebSocketHandshake.isWanted(by: request) { return openSocket(request, exchange) }
    let record = RequestRecord(identity, peer: request.peer, bytes: request.body.count)
    switch endpoint.receive(request, as: identity) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(var graphQL, let format):
      graphQL.delivery = format.parts?.delivery
      let stream = stream(request, exchange, format)
      answer(graphQL, from: .exchange(request, exchange, stream), record) {
        [self] response, record in
        if let stream, stream.hasBegun || format.isStreamOnly {
          send(response, record, to: stream)
        } else {
          dress(response, record, format).send(to: exchange)
        }
      }
    case .batch(let requests, let format):
      batch(requests, of: request, record, format, exchange)
    }
  }

  /// The plan of an operation that is sent as to `/graphql`, on the same line and under its limits.
  private func explain(
    _ request: HTTPRequest, _ exchange: HTTPExchange, as identity: RequestIdentity
  ) {
    guard explainer != nil else {
      return text(
        "Plans are shown where the server runs with --explain-in-page.", .forbidden, exchange)
    }
    let record = RequestRecord(identity, peer: request.peer, bytes: request.body.count)
    switch endpoint.receive(request, as: identity) {
    case .answer(let answer):
      answer.send(to: exchange)
    case .request(let graphQL, let format):
      answer(graphQL, from: .exchange(request, exchange, nil), record) {
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

  /// - Parameter completion: given the response, and all that is known of the operation by then.
  func answer(
    _ request: GraphQLRequest, from caller: Caller, _ record: RequestRecord,
    completion: @escaping Completion
  ) {
    let isDone = prepare(request, mayWork: false, record, completion) {
      go(on: $0, from: caller, record, completion)
    }
    guard !isDone else { return }
    let address = address(of: caller)
    let work = Preparation { [self] isInTime in
      caller.onLeave {}
      guard isInTime else { return completion(Self.busy, record) }
      _ = prepare(request, mayWork: true, record, completion) {
        go(on: $0, from: caller, record, completion)
      }
    }
    var client = address
    if case .token(let token) = caller.credential, let viewer = sessions.known(token) {
      client = .viewer(viewer)
    }
    guard preparations.add(work, for: client) else { return completion(Self.busy, record) }
    caller.onLeave { [self] in
      work.isWanted = false
      left(record)
    }
    planPreparing()
  }

  /// - Returns: whether `then` was called, or the request refused; if not, it would be work.
  private func prepare(
    _ request: GraphQLRequest, mayWork: Bool, _ record: RequestRecord, _ completion: Completion,
    then: (PreparedOperation) -> Void
  ) -> Bool {
    do {
      guard let operation = try executor.prepare(request, mayWork: mayWork) else { return false }
      then(operation)
    } catch {
      var record = record
      record.label = executor.label
      record.times = executor.times
      completion(.refused(error.errors), record)
    }
    return true
  }

  /// A document that nobody has sent before, or not with such variables: milliseconds of work.
  private final class Preparation {
    let since = ContinuousClock.now
    var isWanted = true
    /// Given whether it has not waited too long.
    let run: (_ isInTime: Bool) -> Void

    init(run: @escaping (_ isInTime: Bool) -> Void) { self.run = run }
  }

  /// One at a time, of one client after the other, and as long for those whose documents are known in
  /// between: work of this kind has half of the loop.
  private func planPreparing(after rest: Duration = .zero) {
    guard nextPreparation == nil, preparations.count > 0 else { return }
    nextPreparation = pool.loop.schedule(after: rest) { [weak self] in self?.prepareNext() }
  }

  private func prepareNext() {
    nextPreparation = nil
    let began = ContinuousClock.now
    let before = executor.workCount
    while executor.workCount == before, let next = preparations.next() {
      if next.isWanted { next.run(next.since + pool.settings.queueWait > .now) }
    }
    planPreparing(after: began.duration(to: .now))
  }

  private static var busy: OperationResponse {
    OperationExecutor.failure(
      PostgresError(.overloaded, message: "Too much waits.", retryAfter: .seconds(1)))
  }

  /// Whose share of planning and of connections an operation takes unless somebody is signed in.
  private func address(of caller: Caller) -> PoolClient {
    switch caller {
    case .exchange(let request, _, _): address(of: request)
    case .socket(let session, _): session.origin.address
    }
  }

  func address(of request: HTTPRequest) -> PoolClient {
    let bits = shared.trustedProxies.client(of: request).accountable.bits
    return .address(high: bits.high, low: bits.low)
  }

  private func go(
    on operation: PreparedOperation, from caller: Caller, _ record: RequestRecord,
    _ completion: @escaping Completion
  ) {
    var operation = operation
    operation.client = address(of: caller)
    var record = record
    record.label = operation.label
    record.times = operation.times
    record.statement = operation.plan.statementName
    if caller.wantsExplanation, operation.isMutation || operation.isSubscription {
      return completion(
        .refused([
          GraphQLError(
            "Only queries are explained here, as they are run for it; sociograph explain shows what "
              + "a mutation calls.", code: .badRequest)
        ]), record)
    }
    let credential = caller.credential
    if shared.introspection.refuses(operation, hasToken: credential != .none) {
      return completion(.refused([IntrospectionAccess.refusal]), record)
    }
    let call = Call(
      operation: operation, caller: caller,
      client: operation.isMutation ? client(of: caller, credential) : nil,
      chargedAddress: chargedAddress(of: caller))
    switch credential {
    case .none: charge(call, record, viewer: 0, completion)
    case .malformed:
      completion(
        Self.unauthenticated(
          "The Authorization header must be \"Bearer\" and a session token."), record)
    case .token(let token):
      if let viewer = sessions.known(token) {
        return charge(call, record, viewer: viewer, completion)
      }
      sessions.resolve(token) { [self, record] resolution in
        switch resolution {
        case .viewer(let viewer): charge(call, record, viewer: viewer, completion)
        case .unknown:
          completion(Self.unauthenticated("The session token is unknown or has expired."), record)
        case .failed(let error): completion(OperationExecutor.failure(error), record)
        }
      }
    }
  }

  typealias Completion = (OperationResponse, RequestRecord) -> Void

  /// An operation on its way, once it is known what it is and whose.
  private struct Call {
    let operation: PreparedOperation
    let caller: Caller
    /// Of a mutation.
    let client: ClientIdentity?
    let chargedAddress: HTTPPeer?
  }

  /// Whose points an operation takes unless somebody is signed in; nil when nobody's are counted: none
  /// are, or the request comes from this machine and not by a proxy that is believed, so from whoever
  /// runs it or from a proxy that cannot tell its clients apart.
  private func chargedAddress(of caller: Caller) -> HTTPPeer? {
    switch caller {
    case .exchange(let request, _, _): chargedAddress(of: request)
    case .socket(let session, _): session.origin.chargedAddress
    }
  }

  func chargedAddress(of request: HTTPRequest) -> HTTPPeer? {
    guard shared.rateLimiter != nil else { return nil }
    if request.peer.isOfThisMachine, !shared.trustedProxies.isSender(of: request) { return nil }
    return shared.trustedProxies.client(of: request).accountable
  }

  /// Takes the operation's points from its client, or refuses it.
  private func charge(
    _ call: Call, _ record: RequestRecord, viewer: Int64, _ completion: @escaping Completion
  ) {
    var operation = call.operation
    if viewer != 0 { operation.client = .viewer(viewer) }
    guard let address = call.chargedAddress, let limiter = shared.rateLimiter else {
      return run(operation, call, record, viewer, completion)
    }
    let charged = viewer == 0 ? RateLimiter.Client.address(address) : .viewer(viewer)
    guard let rate = limiter.rate(of: charged) else {
      return run(operation, call, record, viewer, completion)
    }
    let cost = operation.cost
    if case .refused(let wait) = limiter.take(cost, from: charged, now: monotonicNanoseconds()) {
      return completion(
        .refused(
          [
            GraphQLError(
              "The operation may cost \(cost), and that is not left of what may be spent now: "
                + "\(rate.maximum) at once, and \(rate.perSecond) a second.", code: .rateLimited)
          ], retryAfter: wait), record)
    }
    let charge = OperationCharge(requested: cost) { actual in
      let available = limiter.giveBack(
        cost - actual, to: charged, now: monotonicNanoseconds())
      return OperationCharge.Throttle(
        maximum: rate.maximum, available: available, restoreRate: rate.perSecond)
    }
    // What a subscription costs is not known at its beginning: it is taken as a whole.
    if !operation.isSubscription { operation.charge = charge }
    run(operation, call, record, viewer) { response, record in
      // Of one that was refused for want of room, nothing was spent.
      if case .refused(let errors, _) = response, errors.first?.code.status == .serviceUnavailable {
        charge.cancel()
      }
      completion(response, record)
    }
  }

  private func client(of caller: Caller, _ credential: Credential) -> ClientIdentity {
    var client: ClientIdentity
    switch caller {
    case .exchange(let request, _, _): client = self.client(of: request)
    case .socket(let session, _): client = session.origin.client
    }
    if case .token(let token) = credential { client.sessionHash = token.hash }
    return client
  }

  func client(of request: HTTPRequest) -> ClientIdentity {
    var client = ClientIdentity()
    client.address = "\(shared.trustedProxies.client(of: request))"
    client.device = request.header("user-agent")
    return client
  }

  /// - Parameter viewer: 0 without a token.
  private func run(
    _ operation: PreparedOperation, _ call: Call, _ record: RequestRecord, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    if operation.isSubscription { return watch(operation, call, record, viewer, completion) }
    if call.caller.wantsExplanation, let explainer {
      return explainer.explain(operation, viewer: viewer) { completion($0, record) }
    }
    if let client = call.client {
      let run = mutations.run(operation, viewer: viewer, client: client) { [self] response in
        var record = record
        record.times = mutations.times
        shared.news?.ring()
        completion(response, record)
      }
      return call.caller.onLeave { [self] in
        run.cancel()
        left(record)
      }
    }
    if operation.comesInParts, let sink = call.caller.partSink {
      return deliver(operation, call, to: sink, record, viewer, completion)
    }
    let ticket = executor.execute(operation, viewer: viewer, on: runner) { [self] response in
      var record = record
      record.times = executor.times
      completion(held(response, for: call.caller), record)
    }
    guard let ticket else { return }
    call.caller.onLeave { [self] in
      ticket.cancel()
      left(record)
    }
  }

  private func deliver(
    _ operation: PreparedOperation, _ call: Call, to sink: any ResponseSink,
    _ record: RequestRecord, _ viewer: Int64, _ completion: @escaping Completion
  ) {
    var record = record
    let ticket = executor.deliver(operation, viewer: viewer, on: pool) { [self] part in
      switch part {
      case .whole(let response):
        record.times = executor.times
        completion(held(response, for: call.caller), record)
        return true
      case .part(let body):
        if record.responseBytes == 0 { record.times = executor.times }
        record.responseBytes += body.count
        if sink.next(body, from: nil) { return true }
      case .last(let body, let errors):
        record.responseBytes += body.count
        record.errors = errors
        if sink.next(body, from: nil) {
          sink.complete()
          end(&record)
          return true
        }
      }
      sink.interrupt("Too much waits for the client to read it.")
      return false
    }
    guard let ticket else { return }
    call.caller.onLeave { [self] in
      ticket.cancel()
      left(record)
    }
  }

  private func watch(
    _ operation: PreparedOperation, _ call: Call, _ record: RequestRecord, _ viewer: Int64,
    _ completion: @escaping Completion
  ) {
    guard let sink = call.caller.sink else {
      return completion(
        .refused([
          GraphQLError(
            "A subscription is answered over a WebSocket, or to who accepts text/event-stream or "
              + "multipart/mixed;subscriptionSpec=1.0.", code: .notAcceptable)
        ]), record)
    }
    sink.begin()
    let watch = hub.watch(operation, viewer: viewer, from: call.caller.resume, sink: sink) {
      [self] response in
      switch response {
      case .executed: sink.complete()
      case .refused(let errors, _): sink.fail(errors, requestID: record.identity.id)
      }
      tell(record, response)
    }
    guard let watch else {
      return completion(
        .refused([GraphQLError("This server has no subscriptions.", code: .notImplemented)]), record
      )
    }
    if case .ended = watch.state { return }
    call.caller.onLeave { [self] in
      hub.drop(watch)
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
      answer(request, from: .exchange(http, exchange, nil), record) { [self] response, record in
        answers[index] = dress(response, record, format).body
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

  private static func unauthenticated(_ message: String) -> OperationResponse {
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

  /// Tells those who look of an operation that a socket has the answer to.
  func tell(_ record: RequestRecord, _ response: OperationResponse) {
    var record = record
    switch response {
    case .executed(let body, let errors, _):
      record.errors = errors
      record.responseBytes = body.count
    case .refused(let errors, _): record.errors = errors
    }
    end(&record)
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
      _ = stream.next(body, from: nil)
      stream.complete()
    case .refused(let errors, _): stream.fail(errors, requestID: record.identity.id)
    }
  }
}
