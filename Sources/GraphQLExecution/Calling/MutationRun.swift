import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// One mutation on its way through its fields.
package final class MutationRun {
  package typealias FindViewer = (_ completion: @escaping (Result<Int64, PostgresError>) -> Void)
    -> Void

  private let runner: MutationRunner
  private let operation: PreparedOperation
  private let fields: [PreparedField]
  private let findClient: () -> ClientIdentity
  private let findViewer: FindViewer
  private let completion: (OperationOutcome) -> Void
  private var progress: MutationProgress
  private var call: CallRun?
  private var transaction: SharedTransaction?
  /// The outcomes of calls in one transaction, in order; nil if each has its own.
  private var shared: ArraySlice<FieldOutcome>?
  private var times: PhaseDurations
  /// The cost of its fields.
  private var cost = 0

  init(
    _ runner: MutationRunner, _ operation: PreparedOperation, _ fields: [PreparedField],
    viewer: Int64, findClient: @escaping () -> ClientIdentity, findViewer: @escaping FindViewer,
    completion: @escaping (OperationOutcome) -> Void
  ) {
    self.runner = runner
    self.operation = operation
    // Who signs in by a field is still a stranger to the fields of the same operation.
    let isAnonymous = viewer == 0 && operation.claims == nil
    let fields = isAnonymous ? fields.map(\.forAnonymous) : fields
    self.fields = fields
    self.findClient = findClient
    self.findViewer = findViewer
    self.completion = completion
    times = operation.times
    progress = MutationProgress(
      fields.map(\.progressField), viewer: viewer, haltsOnError: operation.onError == .halt)
  }

  /// The client has disconnected.
  package func cancel() {
    call?.cancel()
    transaction?.cancel()
    progress.cancel()
  }

  func start() {
    let prepared = fields.compactMap { if case .call(let call) = $0 { call } else { nil } }
    guard operation.isTransaction, fields.count > 1 else { return take(progress.start()) }
    let calls = prepared.map { callRun($0) { _ in } }
    for case .refused(let frame, _) in fields {
      shared = calls.map { $0.rolledBack(because: frame.responseName) }[...]
      return take(progress.start())
    }
    let transaction = SharedTransaction(runner, operation, calls) {
      [self] outcomes in
      self.transaction = nil
      shared = outcomes[...]
      take(progress.start())
    }
    self.transaction = transaction
    transaction.start()
  }

  private func take(_ step: MutationProgress.Step) {
    switch step {
    case .call(let index):
      guard case .call(let prepared) = fields[index] else { return }
      run(prepared)
    case .findViewer:
      findViewer { [self] result in take(progress.viewerFound(result)) }
    case .finish: finish()
    case .nothing: break
    }
  }

  private func run(_ prepared: PreparedCall) {
    if let outcome = shared?.popFirst() { return returned(outcome) }
    let run = callRun(prepared) { [self] outcome in
      call = nil
      returned(outcome)
    }
    call = run
    run.start()
  }

  private func callRun(
    _ prepared: PreparedCall, _ completion: @escaping (FieldOutcome) -> Void
  ) -> CallRun {
    let viewer = progress.viewer
    let findClient = { [findClient] in
      var client = findClient()
      if viewer == 0 { client.sessionHash = nil }
      return client
    }
    return CallRun(
      runner, operation, prepared, viewer: viewer, findClient: findClient, completion: completion)
  }

  private func returned(_ outcome: FieldOutcome) {
    times.add(outcome.times)
    cost += outcome.cost
    take(progress.returned(outcome))
  }

  private func finish() {
    if let refusal = progress.refusal { return complete(refusal) }
    let outcomes = progress.outcomes
    var errors: [GraphQLError] = []
    /// The errors of the field by which the whole mutation is null.
    var cause: [GraphQLError]?
    var json = JSONWriter(capacity: operation.plan.expectedBytes)
    json.append(#"{"data":"#)
    let start = json.count
    json.append(UInt8(ascii: "{"))
    for (index, (field, outcome)) in zip(fields, outcomes).enumerated() {
      let frame = field.frame
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json.append(frame.key)
      json.append(outcome.json)
      let own = outcome.errors.map { error in
        var error = error
        error.path = [.name(frame.responseName)] + (error.path ?? [])
        return error
      }
      errors += own
      if cause == nil, ends(frame, outcome) { cause = own }
    }
    json.append(UInt8(ascii: "}"))
    if let cause {
      errors = cause
      json.truncate(to: start)
      json.writeNull()
    }
    if !errors.isEmpty {
      json.append(#","errors":"#)
      json.write(errors, requestID: operation.identity.id)
    }
    operation.settle(actual: cost, in: &json)
    json.append(UInt8(ascii: "}"))
    let body = json.finish()
    operation.plan.note(bytes: body.count)
    complete(
      .executed(body: body, errors: errors, isReplayed: outcomes.contains { $0.isReplayed }))
  }

  /// Whether the whole mutation is null by the outcome of a field.
  private func ends(_ frame: FieldFrame, _ outcome: FieldOutcome) -> Bool {
    switch operation.onError {
    // 6.4.4: a null where none may be is the whole mutation's; the other fields were run all the
    // same.
    case .propagate: frame.isNonNull && outcome.isNull
    case .null: false
    case .halt: !outcome.errors.isEmpty
    }
  }

  private func complete(_ response: OperationResponse) {
    completion(OperationOutcome(response, times))
  }
}

extension PreparedField {
  /// The field for a client without a session and without a signed token.
  fileprivate var forAnonymous: PreparedField {
    guard case .call(let call) = self, call.plan.refusesAnonymous else { return self }
    return .refused(
      call.plan.frame,
      GraphQLError(
        "Sign in to use \"\(call.plan.coordinate)\": send a token as Authorization: Bearer.",
        code: .unauthenticated))
  }

  fileprivate var progressField: MutationProgress.Field {
    switch self {
    case .constant(_, let json): .known(.value(json))
    case .refused(_, let error): .known(.failed([error]))
    case .call: .call
    }
  }
}
