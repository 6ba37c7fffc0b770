import GraphQLLanguage
import GraphQLPlanning
import GraphQLResolving
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation
import JSON
import Postgres

/// Turns requests into responses on one loop: parse, validate, plan (all kept), bind, run, write.
///
/// Everything but running the statement happens before it returns.
package final class OperationExecutor {
  package struct Settings: Sendable {
    package var parserLimits = ParserLimits.default
    package var validationLimits = ValidationLimits.server
    package var plannerLimits = PlannerLimits()
    package var suggestions = true
    /// Of this loop, with their plans.
    package var maximumCachedDocuments = 1_000
    package var maximumCachedBytes = 32 << 20
    package var cursorSeal = CursorSeal()
    /// Of the statement's record, and of the response that is written from it (R10).
    package var maximumResponseBytes = 8 << 20
    /// Shared by the loops.
    package var statementRecords = StatementRecords()
    /// What live queries are planned by; nil where there are none.
    package var liveCatalog: LiveCatalog?

    package init() {}
  }

  /// Without storage directives; what documents are validated against.
  private let clientSchema: Schema
  private let mapping: StorageMapping
  private let planner: Planner
  let settings: Settings
  private let report: (ExecutionEvent) -> Void
  private var cache: DocumentCache
  private var statements: KnownStatements
  private var spareFrames = RecordFrames()
  /// Of the operation that is being prepared, or whose completion runs.
  package var times = OperationTimes()
  /// How often something was parsed and validated, or planned.
  package private(set) var workCount = 0
  /// Of the live query whose completion runs: what its answer hangs on, besides what its plan says.
  package private(set) var liveKeys: Set<LiveKey> = []
  /// Of the operation that was prepared last, as far as one was found.
  package private(set) var label: OperationLabel?

  package init(
    mapping: StorageMapping, settings: Settings = Settings(),
    report: @escaping (ExecutionEvent) -> Void = { _ in }
  ) {
    self.mapping = mapping
    self.settings = settings
    self.report = report
    clientSchema = StorageDirectives.clientSchema(of: mapping.schema)
    planner = Planner(mapping: mapping, limits: settings.plannerLimits)
    statements = KnownStatements(settings.statementRecords)
    cache = DocumentCache(
      maximumCount: settings.maximumCachedDocuments, maximumBytes: settings.maximumCachedBytes)
  }

  /// How much is kept.
  package var cachedDocuments: (count: Int, bytes: Int) { (cache.count, cache.cost) }

  // MARK: - Before the database

  package func prepare(_ request: GraphQLRequest) throws(RequestErrors) -> PreparedOperation {
    guard let operation = try prepare(request, mayWork: true) else {
      throw RequestErrors(.fault("An operation was not prepared."))
    }
    return operation
  }

  /// - Parameter mayWork: parsing, validating and planning may be done; if not, nil where there is any
  ///   to be done.
  package func prepare(
    _ request: GraphQLRequest, mayWork: Bool
  ) throws(RequestErrors) -> PreparedOperation? {
    times = OperationTimes()
    if let known = request.memo?.prepared as? PreparedRequest {
      label = known.operation.label
      return PreparedOperation(known.operation, for: request)
    }
    label = nil
    guard let document = try document(request.document, mayWork) else { return nil }
    let operation: CachedOperation
    do {
      operation = try document.operation(
        named: request.operationName, mapping: mapping, suggestions: settings.suggestions)
    } catch {
      throw RequestErrors(error)
    }
    label = operation.label
    if request.mayOnlyRead, operation.operation.kind == .mutation {
      throw RequestErrors(
        GraphQLError("Only queries can be sent by GET; use POST.", code: .methodNotAllowed))
    }
    let coerced = try operation.coercion.coerce(.object(request.variables))
    let variables = operation.variableNames.map { coerced[$0] }
    let live = try LiveOptions(operation, coerced, request)
    let delivery = operation.isDeferrable && live == nil ? request.delivery : nil
    var key: [UInt8] = []
    switch delivery {
    case .v20220824: key.append(UInt8(ascii: "~"))
    case .v02: key.append(UInt8(ascii: "^"))
    case nil: if live != nil { key.append(UInt8(ascii: "!")) }
    }
    operation.choices.appendKey(for: variables, to: &key)
    let plan: PreparedPlan
    var cost: Int
    do {
      guard
        let found = try self.plan(
          operation, document, variables, key, delivery, isLive: live != nil, mayWork)
      else {
        return nil
      }
      plan = found
      if let live { try live.check(plan.plan.live) }
      if !plan.plan.size.isFixed {
        let size = plan.plan.size.size(for: variables)
        try settings.plannerLimits.check(size)
        cost = size.cost
      } else {
        cost = plan.plan.size.fixed.cost
      }
      // The way to what comes later is read again.
      for part in plan.parts { cost += part.plan.size.size(for: variables).cost }
    } catch {
      throw RequestErrors(error)
    }
    if request.idempotencyKey != nil, plan.mutation.count > 1 {
      throw RequestErrors(
        GraphQLError(
          "A request with an Idempotency-Key must have one mutation field, not "
            + "\(plan.mutation.count).", code: .badRequest))
    }
    let prepared = PreparedOperation(
      identity: request.identity, times: times, cursorSeal: settings.cursorSeal,
      PreparedOperation.Content(
        label: operation.label, request: plan.mutation.isEmpty ? nil : request, plan: plan,
        variables: variables, variableNames: operation.variableNames,
        inputs: OperationInputs(
          operation.operation.variables, source: document.valid.document.source),
        introspection: plan.isIntrospectionVariable
          ? introspect(document.valid, operation.operation, coerced) : nil,
        cost: cost, isDeferrable: operation.isDeferrable, live: live))
    if let memo = request.memo { memo.prepared = PreparedRequest(prepared, of: request) }
    return prepared
  }

  private func document(
    _ text: String, _ mayWork: Bool
  ) throws(RequestErrors) -> CachedDocument? {
    if let known = cache.document(text) { return known }
    guard mayWork else { return nil }
    workCount &+= 1
    let began = monotonicNanoseconds()
    let parsed: Document
    do {
      defer { times.parsing = monotonicNanoseconds() &- began }
      parsed = try Parser.parse(Source(text), limits: settings.parserLimits)
    } catch {
      throw RequestErrors(GraphQLError(error))
    }
    let valid: ValidDocument
    do {
      defer { times.validating = monotonicNanoseconds() &- began &- times.parsing }
      valid = try Validator.validate(
        parsed, against: clientSchema, suggestions: settings.suggestions,
        limits: settings.validationLimits)
    }
    let document = CachedDocument(valid)
    keep { $0.insert(document, for: text) }
    report(.prepared(bytes: text.utf8.count))
    return document
  }

  private func plan(
    _ operation: CachedOperation, _ document: CachedDocument, _ variables: [InputValue?],
    _ key: [UInt8], _ delivery: IncrementalDelivery?, isLive: Bool, _ mayWork: Bool
  ) throws(GraphQLError) -> PreparedPlan? {
    if let known = operation.plans[key] { return known }
    guard mayWork else { return nil }
    workCount &+= 1
    let began = monotonicNanoseconds()
    defer { times.planning = monotonicNanoseconds() &- began }
    let valid = document.valid
    let plan: Plan
    if let delivery {
      plan = try planner.plan(
        operation.operation, fragments: valid.fragments, source: valid.document.source,
        variables: variables, delivery: delivery)
    } else if isLive {
      guard let catalog = settings.liveCatalog else { throw LiveOptions.unavailable }
      plan = try planner.plan(
        operation.operation, fragments: valid.fragments, source: valid.document.source,
        variables: variables, live: catalog)
    } else {
      plan = try planner.plan(
        operation.operation, fragments: valid.fragments, source: valid.document.source,
        variables: variables)
    }
    let isFixed = operation.variableNames.isEmpty
    let hasIntrospection = plan.shape.fields.contains {
      if case .introspection = $0.value { true } else { false }
    }
    let prepared = PreparedPlan(
      plan, of: operation.label,
      introspection: hasIntrospection && isFixed
        ? introspect(valid, operation.operation, CoercedVariables()) : [:],
      isIntrospectionVariable: hasIntrospection && !isFixed, statements: &statements)
    keep { $0.insert(prepared, for: key, of: operation, in: document) }
    report(.planned(operation.label, statement: prepared.statementName))
    return prepared
  }

  /// Puts something into the cache, and reports what made room for it.
  private func keep(_ insert: (inout DocumentCache) -> Void) {
    let before = cache.dropped
    insert(&cache)
    if cache.dropped > before { report(.dropped(documents: cache.dropped - before)) }
  }

  private func introspect(
    _ document: ValidDocument, _ operation: OperationDefinition, _ variables: CoercedVariables
  ) -> [String: [UInt8]] {
    let result = Executor(document, operation, variables: variables).executeIntrospection()
    return Dictionary(
      result.members.map { ($0.responseName, $0.json) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: - With the database

  /// Runs a prepared operation and answers on the loop.
  ///
  /// - Parameters:
  ///   - viewer: the signed-in user's id; 0 for an anonymous client.
  ///   - event: what a subscription is told of.
  /// - Returns: what cancels the statement when the client leaves; nil when nothing was sent.
  @discardableResult
  package func execute(
    _ operation: PreparedOperation, viewer: Int64, event: EventMoment = EventMoment(),
    on runner: any StatementRunner,
    completion: @escaping (OperationResponse) -> Void
  ) -> PostgresTicket? {
    let plan = operation.plan
    guard !operation.isMutation else {
      completion(.refused([.fault("A mutation was given to what only reads.")]))
      return nil
    }
    times = operation.times
    guard let statement = plan.statement else {
      let began = monotonicNanoseconds()
      let response = write(operation, nothing: ())
      times.writing = monotonicNanoseconds() &- began
      completion(response)
      return nil
    }
    let parameters: PostgresParameters
    do {
      parameters = try operation.parameters(viewer: viewer, event: event)
    } catch {
      completion(.refused([error]))
      return nil
    }
    return runner.run(statement, parameters, for: operation.client) { [self] outcome in
      times = operation.times
      times.waiting = runner.times.waited
      times.asking = runner.times.served
      switch outcome {
      case .success(let result):
        let began = monotonicNanoseconds()
        let response = write(operation, result)
        times.writing = monotonicNanoseconds() &- began
        completion(response)
      case .failure(let error):
        let plan = operation.plan.plan
        completion(
          Self.failure(error, over: plan.parameters, plan.places, operation.inputs))
      }
    }
  }

  /// Runs a prepared operation whose answer comes in parts, all of them of one snapshot.
  ///
  /// - Parameter tell: given the parts of the answer in order, on the loop; false when no more is wanted.
  /// - Returns: what cancels the statements when the client leaves; nil when none was sent.
  package func deliver(
    _ operation: PreparedOperation, viewer: Int64, on pool: PostgresPool,
    tell: @escaping (AnswerPart) -> Bool
  ) -> PostgresTicket? {
    guard let delivery = operation.plan.plan.delivery else {
      _ = tell(.whole(.refused([.fault("An operation was given that does not come in parts.")])))
      return nil
    }
    return DeliveryRun(self, operation, delivery, viewer: viewer, pool, tell: tell).start()
  }

  /// Asks under which keys a subscription is to hear, and from where on.
  ///
  /// - Parameter completion: given the keys, and the snapshot as text; or why nothing can be heard.
  @discardableResult
  package func start(
    _ operation: PreparedOperation, viewer: Int64, on pool: PostgresPool,
    completion: @escaping (Result<(keys: [Int64], snapshot: String), RequestErrors>) -> Void
  ) -> PostgresTicket? {
    guard let event = operation.plan.plan.event, let statement = operation.plan.start else {
      completion(.failure(RequestErrors(.fault("No subscription was given to be started."))))
      return nil
    }
    let parameters: PostgresParameters
    do {
      parameters = try operation.binder(viewer).bind(event.parameters, of: event.places)
    } catch {
      completion(.failure(RequestErrors(error)))
      return nil
    }
    return pool.execute(statement, parameters) { outcome in
      switch outcome {
      case .success(let result):
        var keys: [Int64] = []
        for row in 0..<result.rowCount {
          if let key = result.integer(row: row, column: 0) { keys.append(key) }
        }
        guard !keys.isEmpty, let snapshot = result.string(row: 0, column: 1) else {
          completion(.failure(RequestErrors(Self.nothingToHear(viewer))))
          return
        }
        completion(.success((keys, snapshot)))
      case .failure(let error):
        guard
          case .refused(let errors, _) = Self.failure(
            error, over: event.parameters, event.places, operation.inputs)
        else { return }
        completion(.failure(RequestErrors(errors)))
      }
    }
  }

  private static func nothingToHear(_ viewer: Int64) -> GraphQLError {
    viewer == 0
      ? GraphQLError("Sign in to be told of this.", code: .unauthenticated)
      : GraphQLError("There is nothing that could be told.", code: .notFound)
  }

  private func write(_ operation: PreparedOperation, nothing: Void) -> OperationResponse {
    var writer = begin(operation)
    let empty: [UInt8] = []
    unsafe writer.writeData(empty.span.bytes)
    return finish(writer, operation)
  }

  private func write(_ operation: PreparedOperation, _ result: borrowing PostgresResult)
    -> OperationResponse
  {
    guard result.rowCount == 1 else {
      return Self.failure(PostgresError(.other, message: "A plan's statement gives one row."))
    }
    var writer = begin(operation)
    var isRefused = false
    let isThere: Void? = result.withValue(row: 0, column: 0) { bytes in
      isRefused = bytes.byteCount > settings.maximumResponseBytes
      if !isRefused { writer.writeData(bytes) }
    }
    if isRefused || writer.isTooLarge {
      return .refused([
        GraphQLError(
          "The answer is larger than \(settings.maximumResponseBytes) bytes. Ask for less.",
          code: .costLimitExceeded)
      ])
    }
    if isThere == nil { return Self.failure(PostgresError(.other, message: "No row.")) }
    liveKeys = writer.liveKeys
    return finish(writer, operation)
  }

  func begin(_ operation: PreparedOperation) -> ResponseWriter {
    var frames = RecordFrames()
    swap(&frames, &spareFrames)
    var writer = ResponseWriter(
      operation.plan.shape, json: JSONWriter(capacity: operation.plan.expectedBytes),
      frames: frames, introspection: operation.introspection ?? operation.plan.introspection,
      cursorSeal: settings.cursorSeal, maximumBytes: settings.maximumResponseBytes,
      maximumItems: settings.plannerLimits.maximumElements)
    writer.json.append(#"{"data":"#)
    return writer
  }

  private func finish(
    _ writer: consuming ResponseWriter, _ operation: PreparedOperation
  ) -> OperationResponse {
    let errors = writer.errors
    if !errors.isEmpty {
      writer.json.append(#","errors":"#)
      writer.json.write(errors, requestID: operation.identity.id)
    }
    operation.charge?.write(actual: writer.cost, to: &writer.json)
    writer.json.append(UInt8(ascii: "}"))
    let body = writer.finish(keeping: &spareFrames)
    operation.plan.note(bytes: body.count)
    return .executed(body: body, errors: errors)
  }

  // MARK: - Errors

  /// What a client sees of a statement that failed: a code and a fixed text, never what PostgreSQL
  /// said, but for errors that the graph's own functions raise for it.
  package static func failure(_ error: PostgresError) -> OperationResponse {
    let refusal: GraphQLError
    switch error.kind {
    // The pool reports these by itself, once.
    case .staleStatement, .retry:
      // As often as it may be tried again.
      refusal = GraphQLError(
        "The database is being changed. Try again shortly.", code: .databaseUnavailable,
        reason: error.reason)
    case .unavailable, .lost, .readOnly, .aborted:
      refusal = GraphQLError(
        "The database cannot be reached. Try again shortly.", code: .databaseUnavailable)
    case .overloaded:
      refusal = GraphQLError(
        "The server is busy. Try again shortly.", code: .serviceOverloaded)
    case .timeout:
      refusal = GraphQLError(
        "The operation took too long.", code: .timeout, reason: error.reason)
    case .lock:
      refusal = GraphQLError(
        "The operation waited too long for another one.", code: .lockTimeout, reason: error.reason)
    case .userRaised:
      let code = error.detail.map { ErrorCode(rawValue: $0) } ?? .badUserInput
      refusal =
        code.map { GraphQLError(error.message, code: $0) }
        ?? .fault("A function raised the unknown code \(error.detail ?? ""): \(error.reason)")
    // Of a statement that has no input of the client's.
    case .invalidEncoding, .invalidValue:
      refusal = .fault(error.reason)
    case .constraint, .forbidden, .other:
      refusal = .fault(error.reason)
    }
    return .refused([refusal], retryAfter: error.retryAfter)
  }
}

extension OperationExecutor {
  /// The same of a statement with a client's inputs, which are named where PostgreSQL refuses one:
  /// it does not say which.
  static func failure(
    _ error: PostgresError, over parameters: [PlanParameter], _ places: [InputPlace?],
    _ inputs: OperationInputs
  ) -> OperationResponse {
    switch error.kind {
    case .invalidEncoding, .invalidValue:
      let given = parameters.enumerated().map { index, parameter in
        (parameter, place: places.indices.contains(index) ? places[index] : nil)
      }
      guard
        var refusal = inputs.error(amongst: given, "the graph cannot be asked with it.")
      else { return failure(error) }
      refusal.reason = error.reason
      return .refused([refusal])
    case .unavailable, .lost, .overloaded, .timeout, .retry, .lock, .readOnly, .staleStatement,
      .aborted, .userRaised, .constraint, .forbidden, .other:
      return failure(error)
    }
  }
}

extension PostgresError {
  /// For the log. PostgreSQL's details can name values, and so can its messages about them.
  var reason: String {
    let text =
      switch kind {
      case .invalidValue, .invalidEncoding: "a statement failed over a value"
      default: "a statement failed: " + message
      }
    return text + (sqlState.isEmpty ? "" : " (SQLSTATE \(sqlState))")
  }
}
