import Accounts
import EventLoops
import GraphQLExecution
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLTransport
import HTTP
import Postgres
import Synchronization

/// The stages that a request passes through, on one event loop. For HTTP, start reading at
/// `handle`; for one operation, at `answer`, from top to bottom:
///
///     answer -> prepared -> admit * -> charge -> run * -> RequestInFlight.finish
///
/// The stages marked `*` may wait: the first for the session lookup, the second for the statement.
/// A document that is not cached waits for its turn before it is planned. Each stage continues with
/// the next, or finishes the request with a refusal.
final class RequestPipeline {
  let shared: SharedService
  let pool: PostgresPool
  let sessions: SessionResolver
  let endpoint: GraphQLEndpoint
  let subscriptions: SubscriptionDriver
  var identification: RequestIdentification
  var isDraining = false
  private let compressor = AnswerCompressor()
  private let routes: [Route]
  /// What takes the files of requests; nil if the server keeps none.
  let pictures: PictureEndpoint?
  private let preparer: OperationPreparer
  private let preparations: PreparationQueue
  private(set) var queries: QueryRunner
  /// Runs the queries of one request with several sets of variables.
  private var gatheringQueries: QueryRunner
  private let gatherer: StatementGatherer
  /// What answers queries without the database; nil without `--answer-cache`.
  private(set) var answers: AnswerKeeper?
  /// Runs queries on replicas; nil without any.
  let replicas: ReplicaRouter?
  private let deliveries: DeliveryRunner
  private let mutations: MutationRunner
  /// The register of what clients use, or nil without an address for operators.
  private let usages: UsageRegister?
  private let report: (RequestRecord) -> Void
  private let disbelieved: (HTTPPeer) -> Void

  init(
    shared: SharedService, preparer: OperationPreparer, sessions: SessionResolver,
    pool: PostgresPool, replicas: ReplicaRouter?, pictures: PictureEndpoint?,
    unsubscribing: UnsubscribeEndpoint, mutations: MutationRunner, number: Int,
    usages: UsageRegister?, observer: LoopObserver
  ) {
    self.usages = usages
    self.shared = shared
    self.preparer = preparer
    self.sessions = sessions
    self.pool = pool
    self.mutations = mutations
    self.pictures = pictures
    endpoint = GraphQLEndpoint(shared.endpoint) { observer.report(.endpoint($0)) }
    preparations = PreparationQueue(loop: pool.loop, patience: pool.settings.queueWait)
    self.replicas = replicas
    let runner: any StatementRunner = replicas ?? shared.runner(pool)
    queries = QueryRunner(on: runner, roles: pool, settings: shared.execution)
    gatherer = StatementGatherer(runner)
    gatheringQueries = QueryRunner(on: gatherer, roles: pool, settings: shared.execution)
    deliveries = DeliveryRunner(on: pool, settings: shared.execution)
    routes = [Route](
      shared, pictures: pictures, unsubscribing: unsubscribing,
      explainer: shared.explains
        ? OperationExplainer(pool: pool, settings: shared.execution) : nil)
    subscriptions = SubscriptionDriver(
      loop: pool.loop, number: number, reader: shared.commits, sessions: sessions,
      queries: replicas.map { QueryRunner(on: $0.onPrimary, settings: shared.execution) }
        ?? queries, pool: pool, settings: shared.live)
    subscriptions.onErrors = { observer.report(.push($0, $1)) }
    if let commits = shared.commits, shared.answerCacheBytes > 0 {
      answers = AnswerKeeper(
        loop: pool.loop, number: number, reader: commits, positions: shared.writes,
        maximumBytes: shared.answerCacheBytes)
      pictures?.stored = { viewer, client in
        shared.writes.note([.viewer(viewer), client])
        commits.ring()
      }
    }
    if let replicas {
      pictures?.stored = { viewer, client in replicas.wrote([.viewer(viewer), client]) { _ in } }
    }
    var generator = SystemRandomNumberGenerator()
    identification = RequestIdentification(
      proxies: shared.trustedProxies, seed: .random(using: &generator))
    disbelieved = { peer in
      observer.report(
        .life(
          .warning(
            "\(peer) names the clients of its requests, but --trusted-proxies does not list it: they "
              + "count as one client. This is not said again.")))
    }
    report = { record in
      record.end()
      observer.report(.request(record))
    }
  }

  // MARK: - HTTP

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, _ known: KnownHead) {
    let identity = identification.identify(request)
    exchange.identify(as: identity.id)
    let head = head(of: request, known)
    switch head.purpose {
    case .operation where head.format.isForm: receiveForm(request, head, exchange, as: identity)
    case .operation:
      receive(request, head, exchange, as: identity) { format, record in
        .exchange(exchange, format, stream(request, exchange, format, record))
      }
    case .explanation(let explainer):
      receive(request, head, exchange, as: identity) { format, _ in
        .explanation(exchange, format, explainer)
      }
    case .socket: openSocket(request, head, exchange)
    case .pictures(let pictures):
      pictures.handle(request, exchange, as: identity, for: head.caller.client)
    case .unsubscribing(let endpoint):
      endpoint.handle(request, exchange, for: head.caller.client)
    case .tools(let tools): callTool(request, head, tools, exchange, as: identity)
    case .resourceMetadata: describeResource(request, exchange)
    case .liveness: text("live", .ok, exchange)
    case .readiness: readiness(exchange)
    case .schemaText: schemaText(request, head, exchange)
    case .page: shared.pages.respond(request.path, request, head.format.coding, exchange)
    case .forbidden(let reason): text(reason, .forbidden, exchange)
    }
  }

  private func head(of request: HTTPRequest, _ known: KnownHead) -> RequestHead {
    if !request.isNewHead, let head = known.head { return head }
    var purpose = routes.purpose(of: request)
    let isTool = if case .tools = purpose { true } else { false }
    if let reason = endpoint.configuration.crossOrigin.refusal(of: request, isTool: isTool) {
      purpose = .forbidden(reason)
    }
    if shared.trustedProxies.isDisbelieved(request),
      !Self.hasToldOfProxy.exchange(true, ordering: .relaxed)
    {
      disbelieved(request.peer)
    }
    let head = RequestHead(
      purpose, endpoint.head(of: request),
      Caller(
        of: request, proxies: shared.trustedProxies, countsPoints: shared.rateLimiter != nil),
      timing: shared.serverTiming == .off
        ? .untold : shared.serverTiming.timing(isAsked: request.asksForTimings))
    if replicas != nil { head.caller.position = position(request.header("sociograph-position")) }
    known.head = head
    return head
  }

  /// Whether the log says already that a sender named other clients and was not believed.
  private static let hasToldOfProxy = Atomic(false)

  /// Reads operations in an HTTP request, and has them answered.
  private func receive(
    _ request: HTTPRequest, _ head: RequestHead, _ exchange: HTTPExchange,
    as identity: RequestIdentity, reply: (ResponseFormat, RequestRecord) -> Reply
  ) {
    let record = record(of: request, head, identity)
    take(endpoint.receive(request, head.format, as: identity), head, exchange, record, reply: reply)
  }

  func record(
    of request: HTTPRequest, _ head: RequestHead, _ identity: RequestIdentity
  ) -> RequestRecord {
    let record = RequestRecord(identity, peer: head.caller.peer, bytes: request.body.count)
    record.timing = head.timing
    record.http = RequestRecord.HTTPKind(method: request.method, isSecure: request.isSecure)
    if let condition = head.format.condition { record.condition = condition }
    if let coding = head.format.coding {
      record.encoding = AnswerEncoding(coding, by: compressor, for: client(of: head.caller))
    }
    return record
  }

  func take(
    _ reception: GraphQLEndpoint.Reception, _ head: RequestHead, _ exchange: HTTPExchange,
    _ record: RequestRecord, reply: (ResponseFormat, RequestRecord) -> Reply
  ) {
    switch reception {
    case .answer(let answer): answer.send(to: exchange)
    case .request(var operation, let format):
      let reply = reply(format, record)
      operation.delivery = reply.delivery
      answer(operation, begin(reply, from: head.caller, record))
    case .batch(let operations, let format):
      let reply = reply(format, record)
      guard case .exchange = reply else {
        return begin(reply, from: head.caller, record).finish(
          .refused([GraphQLError("One operation is explained at a time.", code: .badRequest)]))
      }
      batch(operations, from: head.caller, record, format, exchange)
    }
  }

  private func batch(
    _ operations: [GraphQLRequest], from caller: Caller, _ record: RequestRecord,
    _ format: ResponseFormat, _ exchange: HTTPExchange
  ) {
    let batch = BatchReply(of: operations.count, as: format, mayHold: exchange.mayHold) {
      body, label in
      var answer = GraphQLAnswer(
        status: .ok, contentType: format.batchContentType, headers: format.headers, body: body)
      record.encoding?.encode(&answer, of: label)
      answer.send(to: exchange)
    }
    exchange.onClose { batch.leave() }
    let flights = operations.indices.map { place in
      let part = RequestRecord(
        record.identity, peer: record.peer, bytes: record.requestBytes, began: record.began)
      return begin(.batch(batch, place: place), from: caller, part)
    }
    if format.sets != nil { return answerSets(operations, flights, batch) }
    for (operation, flight) in zip(operations, flights) { answer(operation, flight) }
  }

  func stream(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ format: ResponseFormat,
    _ record: RequestRecord
  ) -> StreamResponse? {
    guard format.stream != nil || format.parts != nil else { return nil }
    let loop = pool.loop
    return StreamResponse(request, exchange, format, record, heartbeat: shared.live.heartbeat) {
      loop.schedule(after: $0, repeating: $0, $1)
    }
  }

  /// A request that was read; whatever has come this far is finished once, and reported.
  func begin(_ reply: Reply, from caller: Caller, _ record: RequestRecord) -> RequestInFlight {
    RequestInFlight(from: caller, reply, record, report: report)
  }

  // MARK: - The line

  /// Prepares an operation: at once if its document is known, else when it is its client's turn.
  func answer(_ request: GraphQLRequest, _ flight: RequestInFlight) {
    if let known = preparer.known(request) { return prepared(known, flight) }
    let hasRoom = queue(flight) { [self] isInTime in
      guard !flight.isOver else { return false }
      guard isInTime else {
        flight.finish(Self.busy)
        return false
      }
      if let refusal = chargePreparing(request, flight) {
        flight.finish(refusal)
        return false
      }
      let preparation = preparer.prepare(request)
      prepared(preparation, flight)
      return preparation.times.hasPreparing
    }
    if !hasRoom { flight.finish(Self.busy) }
  }

  /// Has a document prepared when it is its client's turn.
  ///
  /// - Returns: whether there was capacity for it.
  func queue(_ flight: RequestInFlight, _ work: @escaping PreparationQueue.Work) -> Bool {
    preparations.add(for: client(of: flight.caller), work)
  }

  /// The client whose share of the server a caller takes before its session is looked up.
  private func client(of caller: Caller) -> PoolClient {
    let viewer = knownViewer(of: caller)
    return viewer == 0 ? caller.client : .viewer(viewer)
  }

  func known(_ request: GraphQLRequest) -> Preparation? { preparer.known(request) }

  func prepare(_ request: GraphQLRequest) -> Preparation { preparer.prepare(request) }

  /// Sends the statements of queries that begin during the work together.
  func together(_ work: () -> Void) {
    swap(&queries, &gatheringQueries)
    work()
    swap(&queries, &gatheringQueries)
    gatherer.send()
  }

  static var busy: OperationResponse {
    .failure(
      PostgresError(.overloaded, message: "Too much waits.", retryAfter: .seconds(1)))
  }

  private func prepared(_ preparation: Preparation, _ flight: RequestInFlight) {
    flight.record.times = preparation.times
    switch preparation {
    case .ready(let operation):
      flight.record.label = operation.label
      flight.record.statement = operation.plan.statementName
      admit(operation, flight)
    case .refused(let errors, let label, _):
      flight.record.label = label
      flight.finish(.refused(errors.errors))
    }
  }

  /// Finds out for whom it is run, and whether they may ask for it.
  private func admit(_ operation: PreparedOperation, _ flight: RequestInFlight) {
    if let refusal = refusal(of: operation, flight) { return flight.finish(refusal) }
    switch flight.caller.credential {
    case .none: charge(operation, viewer: 0, flight)
    case .malformed:
      flight.finish(
        Self.unauthenticated(
          "The Authorization header must be \"Bearer\" and a session token."))
    case .tooLong:
      flight.finish(
        Self.unauthenticated(
          "The bearer token is too long: a session token has at most 512 bytes, a JSON Web Token "
            + "8,192."))
    case .token(let token):
      if let viewer = sessions.known(token) { return charge(operation, viewer, flight) }
      if operation.lasts { return wait(for: token, operation, flight) }
      sessions.resolve(token) { [self] in resolved($0, operation, flight) }
    }
  }

  /// A stream waits to begin while the server is overloaded.
  private func wait(
    for token: SessionToken, _ operation: PreparedOperation, _ flight: RequestInFlight
  ) {
    let since =
      Moment.now - .nanoseconds(Int64(clamping: monotonicNanoseconds() &- flight.record.began))
    let id = subscriptions.resolve(token, since: since) { [self] in
      resolved($0, operation, flight)
    }
    guard subscriptions.isRunning(id) else { return }
    flight.goOn(with: .stream { [subscriptions] in subscriptions.cancel(id) })
  }

  private func resolved(
    _ resolution: SessionResolver.Resolution, _ operation: PreparedOperation,
    _ flight: RequestInFlight
  ) {
    if flight.isOver { return }
    switch resolution {
    case .viewer(let viewer): charge(operation, viewer, flight)
    case .unknown: flight.finish(Self.unknownToken)
    case .failed(let error): flight.finish(.failure(error))
    }
  }

  private func refusal(
    of operation: PreparedOperation, _ flight: RequestInFlight
  ) -> OperationResponse? {
    if case .explanation = flight.reply, operation.plan.explained == nil {
      return .refused([
        GraphQLError(
          "Only queries are explained here, as they are run for it; sociograph explain shows what "
            + "a mutation calls.", code: .badRequest)
      ])
    }
    let hasToken = flight.caller.credential != .none
    return shared.introspection.refuses(operation, hasToken: hasToken)
      ? .refused([IntrospectionAccess.refusal]) : nil
  }

  private func charge(
    _ operation: PreparedOperation, _ viewer: SessionResolver.Viewer, _ flight: RequestInFlight
  ) {
    operation.claims = viewer.claims
    charge(operation, viewer: viewer.id, flight)
  }

  /// Takes the points that it costs, and notes whose share of the connections it takes.
  private func charge(
    _ operation: PreparedOperation, viewer: Int64, _ flight: RequestInFlight
  ) {
    operation.client = viewer == 0 ? flight.caller.client : .viewer(viewer)
    operation.preferences = flight.caller.preferences
    operation.sessionHash = viewer == 0 ? nil : flight.caller.identity.sessionHash
    if let roles = shared.roles {
      do throws(GraphQLError) {
        operation.role = try roles.role(of: operation.claims)
      } catch {
        return flight.finish(.refused([error]))
      }
    }
    flight.record.note(viewer: viewer)
    if let replicas, let position = flight.caller.position, let client = operation.client {
      replicas.note(position, of: client)
    }
    if let refusal = takePoints(for: operation, viewer: viewer, flight) {
      return flight.finish(refusal)
    }
    count(operation, by: flight.caller)
    run(operation, viewer: viewer, flight)
  }

  /// Counts what the operation uses of the schema.
  private func count(_ operation: PreparedOperation, by caller: Caller) {
    guard let usages, let usage = operation.usage else { return }
    let number = caller.programNumber ?? usages.number(of: caller.program)
    caller.programNumber = number
    usages.count(usage, by: number)
  }

  /// Has its plan's runner run it; each finishes the request.
  private func run(_ operation: PreparedOperation, viewer: Int64, _ flight: RequestInFlight) {
    if case .explanation(_, _, let explainer) = flight.reply,
      let response = operation.plan.explained
    {
      return explainer.explain(operation, response, viewer: viewer) { flight.finish($0) }
    }
    switch operation.plan.kind {
    case .query(let response):
      let ticket = queries.run(operation, response, viewer: viewer) { outcome in
        flight.record.times = outcome.times
        flight.finish(outcome.response, ifHeldBy: flight.reply)
      }
      if let ticket { flight.goOn(with: .statement(ticket)) }
    case .incremental(let first, let delivery, let later):
      deliver(operation, first, delivery, later, viewer: viewer, flight)
    case .mutation(let fields):
      let run = mutations.run(
        operation, fields, viewer: viewer, findClient: { flight.caller.identity },
        findViewer: { [self] in findViewer(of: flight.caller, $0) },
        completion: { [self] outcome in
          noteWrite(operation, viewer: viewer, by: flight.caller)
          shared.commits?.ring()
          finish(outcome, of: operation, viewer: viewer, flight)
        })
      flight.goOn(with: .mutation(run))
    case .live(let response, let plan) where operation.live == nil:
      answerKept(operation, response, plan, viewer: viewer, flight)
    case .live(let response, let plan):
      answerLive(operation, response, plan, viewer: viewer, flight)
    case .subscription(let response, let event):
      subscribe(operation, response, event, viewer: viewer, flight)
    }
  }

  private func deliver(
    _ operation: PreparedOperation, _ first: PreparedResponse, _ delivery: DeliveryPlan,
    _ later: [PreparedResponse], viewer: Int64, _ flight: RequestInFlight
  ) {
    guard let sink = flight.reply.partSink else {
      return flight.finish(
        .refused([.fault("A response in parts was planned for a client that takes none.")]))
    }
    let ticket = deliveries.run(operation, first, delivery, later: later, viewer: viewer) {
      [replicas] part in
      let body: [UInt8]
      switch part {
      case .whole(let outcome):
        replicas?.saw(operation.client)
        flight.record.times = outcome.times
        flight.finish(outcome.response, ifHeldBy: flight.reply)
        return true
      case .first(let bytes, let times):
        flight.record.times = times
        body = bytes
      case .next(let bytes), .last(let bytes, _): body = bytes
      }
      guard sink.next(body, to: nil) else {
        sink.interrupt("Too much waits for the client to read it.")
        return false
      }
      if case .last(_, let errors) = part {
        replicas?.saw(operation.client)
        flight.finish(.executed(body: body, errors: errors), behind: sink)
      } else {
        flight.record.responseBytes += body.count
      }
      return true
    }
    if let ticket { flight.goOn(with: .statement(ticket)) }
  }

  /// Finds the current viewer of the caller's credential, or 0 for an anonymous caller.
  private func findViewer(
    of caller: Caller, _ completion: @escaping (Result<Int64, PostgresError>) -> Void
  ) {
    guard case .token(let token) = caller.credential else { return completion(.success(0)) }
    sessions.forget(token)
    sessions.resolve(token) { resolution in
      switch resolution {
      case .viewer(let viewer): completion(.success(viewer.id))
      case .unknown: completion(.success(0))
      case .failed(let error): completion(.failure(error))
      }
    }
  }

  /// Reports a failure of a socket, which is of no operation.
  func report(_ response: OperationResponse, to peer: HTTPPeer) {
    let record = RequestRecord(identification.next(), peer: peer, bytes: 0)
    record.note(response)
    report(record)
  }

  static var unknownToken: OperationResponse {
    unauthenticated("The session token is unknown or has expired.")
  }

  static func unauthenticated(_ message: String) -> OperationResponse {
    .refused([GraphQLError(message, code: .unauthenticated)])
  }
}

extension RequestInFlight {
  private static let unread = GraphQLError(
    "Too many answers wait for clients that do not read them; try again shortly.",
    code: .serviceOverloaded)

  private static let tooMuch = GraphQLError(
    "The answers to all sets of variables are together larger than one answer may be. Send fewer.",
    code: .costLimitExceeded)

  /// Ends it with the response of a query, unless too much waits for clients that do not read.
  func finish(_ response: OperationResponse, ifHeldBy reply: Reply) {
    if case .executed(let body, _, _) = response, !reply.mayHold(body.count) {
      return finish(
        .refused([reply.isFull(for: body.count) ? Self.tooMuch : Self.unread], retryAfter: nil))
    }
    finish(response)
  }
}

extension PreparedPlan {
  /// The response of a query, which may be run to be explained; nil for everything else.
  fileprivate var explained: PreparedResponse? {
    switch kind {
    case .query(let response), .live(let response, _), .incremental(let response, _, _): response
    case .mutation, .subscription: nil
    }
  }
}
