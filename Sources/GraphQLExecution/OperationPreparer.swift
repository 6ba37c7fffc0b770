import GraphQLLanguage
import GraphQLPlanning
import GraphQLResolving
import GraphQLResponse
import GraphQLSchema
import GraphQLValidation

/// Turns requests into operations that can run, on one event loop: it parses, validates and plans,
/// and caches the results.
///
/// It never waits. The kind of a plan selects its runner: `QueryRunner`, `DeliveryRunner`,
/// `MutationRunner`, `SubscriptionRunner`.
package final class OperationPreparer {
  /// The schema without storage directives, against which documents are validated.
  private let clientSchema: Schema
  private let mapping: StorageMapping
  private let planner: Planner
  private let settings: ExecutionSettings
  private let usages: UsageRegister?
  private let report: (ExecutionEvent) -> Void
  /// The maximum size of what a response has of the schema: all of it, once.
  private let maximumIntrospectionBytes: Int
  private var cache: DocumentCache
  private var statements: KnownStatements
  /// The operations of repeated requests, by the index of their memos.
  private var repeated: [RepeatedOperation?] = []

  package init(
    mapping: StorageMapping, settings: ExecutionSettings = ExecutionSettings(),
    usages: UsageRegister? = nil,
    report: @escaping (ExecutionEvent) -> Void = { _ in }
  ) {
    self.mapping = mapping
    self.settings = settings
    self.usages = usages
    self.report = report
    clientSchema = StorageDirectives.clientSchema(of: mapping.schema)
    maximumIntrospectionBytes = max(
      settings.maximumResponseBytes, clientSchema.introspectionSize)
    planner = Planner(mapping: mapping, limits: settings.plannerLimits)
    statements = KnownStatements(settings.statementRecords)
    cache = DocumentCache(
      maximumCount: settings.maximumCachedDocuments, maximumBytes: settings.maximumCachedBytes)
  }

  /// The number of documents that are kept, and their size in bytes.
  package var cachedDocuments: (count: Int, bytes: Int) { (cache.count, cache.cost) }

  /// Prepares a request from what is kept.
  ///
  /// - Returns: nil if something has to be parsed or planned, which takes milliseconds.
  package func known(_ request: GraphQLRequest) -> Preparation? {
    prepare(request, mayWork: false)
  }

  /// Prepares a request, and does the work that this takes.
  package func prepare(_ request: GraphQLRequest) -> Preparation {
    prepare(request, mayWork: true)
      ?? .refused(
        RequestErrors(.fault("An operation was not prepared.")), label: nil, PhaseDurations())
  }

  private func prepare(_ request: GraphQLRequest, mayWork: Bool) -> Preparation? {
    if let memo = request.memo, repeated.indices.contains(memo.place),
      let known = repeated[memo.place], known.serial == memo.serial
    {
      return .ready(PreparedOperation(known.operation, for: request))
    }
    var label: OperationLabel?
    var times = PhaseDurations()
    do throws(RequestErrors) {
      return try prepare(request, mayWork, &label, &times).map { .ready($0) }
    } catch {
      return .refused(error, label: label, times)
    }
  }

  private func prepare(
    _ request: GraphQLRequest, _ mayWork: Bool, _ label: inout OperationLabel?,
    _ times: inout PhaseDurations
  ) throws(RequestErrors) -> PreparedOperation? {
    guard let document = try document(request.document, mayWork, &times) else { return nil }
    let operation: CachedOperation
    do {
      operation = try document.operation(
        named: request.operationName, mapping: mapping, suggestions: settings.suggestions,
        usages: usages)
    } catch {
      throw RequestErrors(error)
    }
    label = operation.label
    if request.mayOnlyRead, operation.operation.kind == .mutation {
      throw RequestErrors(
        GraphQLError(
          "Only queries can be sent by GET or QUERY; use POST.", code: .methodNotAllowed))
    }
    let coerced = try operation.coercion.coerce(.object(request.variables))
    let variables = operation.variableNames.map { coerced[$0] }
    let live = try LiveOptions(operation, coerced, request)
    let plan: PreparedPlan
    let cost: Int
    let introspection: [String: [UInt8]]?
    do throws(GraphQLError) {
      let mode = try mode(of: operation, live, request)
      guard var found = try self.plan(operation, document, variables, mode, mayWork, &times) else {
        return nil
      }
      if live == nil, case .live(_, let dependencies) = found.plan, !dependencies.untracked.isEmpty
      {
        operation.isUntracked = true
        guard
          let single = try self.plan(operation, document, variables, .single, mayWork, &times)
        else { return nil }
        found = single
      }
      plan = found
      if let live, case .live(_, let dependencies) = plan.plan { try live.check(dependencies) }
      cost = try self.cost(of: plan.plan, variables)
      introspection =
        try plan.isIntrospectionVariable
        ? introspect(document.valid, operation.operation, coerced) : nil
    } catch {
      throw RequestErrors(error)
    }
    if request.idempotencyKey != nil, case .mutation(let fields) = plan.kind, fields.count > 1 {
      throw RequestErrors(
        GraphQLError(
          "A request with an Idempotency-Key must have one mutation field, not "
            + "\(fields.count).", code: .badRequest))
    }
    let prepared = PreparedOperation(
      identity: request.identity, times: times, cursorSigner: settings.cursorSigner,
      PreparedOperation.Content(
        label: operation.label, request: operation.operation.kind == .mutation ? request : nil,
        plan: plan, variables: variables, variableNames: operation.variableNames,
        inputs: OperationInputs(
          operation.operation.variables, source: document.valid.document.source),
        introspection: introspection,
        cost: cost, isDeferrable: operation.isDeferrable, live: live,
        onError: request.onError, usage: operation.usage,
        isTransaction: operation.isTransaction))
    if let memo = request.memo { keep(prepared, of: request, as: memo) }
    return prepared
  }

  private func keep(
    _ operation: PreparedOperation, of request: GraphQLRequest, as memo: RequestMemo
  ) {
    while repeated.count <= memo.place { repeated.append(nil) }
    repeated[memo.place] = RepeatedOperation(operation, of: request, as: memo)
  }

  // MARK: - Parse and validate

  private func document(
    _ text: String, _ mayWork: Bool, _ times: inout PhaseDurations
  ) throws(RequestErrors) -> CachedDocument? {
    if let known = cache.document(text) { return known }
    guard mayWork else { return nil }
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

  /// Inserts into the cache, and reports evictions.
  private func keep(_ insert: (inout DocumentCache) -> Void) {
    let before = cache.dropped
    insert(&cache)
    if cache.dropped > before { report(.dropped(documents: cache.dropped - before)) }
  }

  // MARK: - Plan

  private func mode(
    of operation: CachedOperation, _ live: LiveOptions?, _ request: GraphQLRequest
  ) throws(GraphQLError) -> ResponseMode {
    if live != nil {
      guard let catalog = settings.liveCatalog else { throw LiveOptions.unavailable }
      return .live(catalog)
    }
    if operation.isDeferrable, let format = request.delivery { return .incremental(format) }
    guard settings.keepsAnswers, let catalog = settings.liveCatalog, !operation.isUntracked,
      operation.operation.kind == .query, !operation.label.isConfidential
    else { return .single }
    return .live(catalog)
  }

  private func plan(
    _ operation: CachedOperation, _ document: CachedDocument, _ variables: [InputValue?],
    _ mode: ResponseMode, _ mayWork: Bool, _ times: inout PhaseDurations
  ) throws(GraphQLError) -> PreparedPlan? {
    var key: [UInt8] = []
    switch mode {
    case .incremental(.v20220824): key.append(UInt8(ascii: "~"))
    case .incremental(.v02): key.append(UInt8(ascii: "^"))
    case .live: key.append(UInt8(ascii: "!"))
    case .single: break
    }
    operation.choices.appendKey(for: variables, to: &key)
    if let known = operation.plans[key] { return known }
    guard mayWork else { return nil }
    let began = monotonicNanoseconds()
    defer { times.planning = monotonicNanoseconds() &- began }
    let valid = document.valid
    let plan = try planner.plan(
      operation.operation, fragments: valid.fragments, source: valid.document.source,
      variables: variables, mode: mode)
    let isFixed = operation.variableNames.isEmpty
    let hasIntrospection = plan.shape.fields.contains {
      if case .introspection = $0.value { true } else { false }
    }
    let introspection =
      try hasIntrospection && isFixed
      ? introspect(valid, operation.operation, CoercedVariables()) : [:]
    let prepared = PreparedPlan(
      plan, of: operation.label, introspection: introspection,
      isIntrospectionVariable: hasIntrospection && !isFixed, statements: &statements)
    keep { $0.insert(prepared, for: key, of: operation, in: document) }
    report(.planned(operation.label, statement: prepared.statementName))
    return prepared
  }

  /// Returns the maximum cost of an operation.
  private func cost(
    of plan: Plan, _ variables: [InputValue?]
  ) throws(GraphQLError) -> Int {
    var cost = plan.size.fixed.cost
    if !plan.size.isFixed {
      let size = plan.size.size(for: variables)
      try settings.plannerLimits.check(size)
      cost = size.cost
    }
    // The way to what comes later is read again.
    if case .incremental(_, let delivery) = plan {
      for part in delivery.parts { cost += part.plan.size.size(for: variables).cost }
    }
    return cost
  }

  private func introspect(
    _ document: ValidDocument, _ operation: OperationDefinition, _ variables: CoercedVariables
  ) throws(GraphQLError) -> [String: [UInt8]] {
    let result = Executor(
      document, operation, variables: variables,
      limits: ExecutionLimits(maximumBytes: maximumIntrospectionBytes)
    ).executeIntrospection()
    if result.errors.contains(where: { $0.code == .resultLimitExceeded }) {
      throw .responseTooLarge(maximumIntrospectionBytes)
    }
    return Dictionary(
      result.members.map { ($0.responseName, $0.json) }, uniquingKeysWith: { first, _ in first })
  }
}

/// The operation of a request, or the reasons to refuse it.
package enum Preparation {
  case ready(PreparedOperation)
  /// The label is nil if no operation was found; the times are those of the work until then.
  case refused(RequestErrors, label: OperationLabel?, PhaseDurations)

  /// The phases that were run.
  package var times: PhaseDurations {
    switch self {
    case .ready(let operation): operation.times
    case .refused(_, _, let times): times
    }
  }

  /// Returns the operation.
  ///
  /// - Throws: why the request was refused.
  package func get() throws(RequestErrors) -> PreparedOperation {
    switch self {
    case .ready(let operation): return operation
    case .refused(let errors, _, _): throw errors
    }
  }
}
