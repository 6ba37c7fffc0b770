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
  /// 0 for nobody, which it becomes when a field ends the session.
  private var viewer: Int64
  private let findClient: () -> ClientIdentity
  private let findViewer: FindViewer
  private let completion: (OperationOutcome) -> Void
  private var outcomes: [FieldOutcome] = []
  private var state = State.between
  private var times: PhaseDurations
  /// What its fields did cost.
  private var cost = 0

  private enum State {
    case between
    case calling(CallRun)
    /// It is not known whom further calls would act for: what each of them is answered.
    case blocked(FieldOutcome)
    /// Nobody waits for the response any more.
    case cancelled
  }

  init(
    _ runner: MutationRunner, _ operation: PreparedOperation, _ fields: [PreparedField],
    viewer: Int64, findClient: @escaping () -> ClientIdentity, findViewer: @escaping FindViewer,
    completion: @escaping (OperationOutcome) -> Void
  ) {
    self.runner = runner
    self.operation = operation
    self.fields = fields
    self.viewer = viewer
    self.findClient = findClient
    self.findViewer = findViewer
    self.completion = completion
    times = operation.times
  }

  /// Nobody waits for the response any more.
  package func cancel() {
    if case .calling(let call) = state { call.cancel() }
    state = .cancelled
  }

  func start() { next() }

  private func next() {
    while outcomes.count < fields.count {
      switch (fields[outcomes.count], state) {
      case (_, .cancelled): return
      case (.constant(_, let json), _): outcomes.append(.value(json))
      case (.refused(_, let error), _): outcomes.append(.failed([error]))
      case (.call, .blocked(let outcome)): outcomes.append(outcome)
      case (.call(let call), .between), (.call(let call), .calling): return run(call)
      }
    }
    finish()
  }

  private func run(_ call: PreparedCall) {
    let findClient = { [findClient, viewer] in
      var client = findClient()
      if viewer == 0 { client.sessionHash = nil }
      return client
    }
    let run = CallRun(runner, operation, call, viewer: viewer, findClient: findClient) {
      [self] outcome in returned(outcome)
    }
    state = .calling(run)
    run.start()
  }

  private func returned(_ outcome: FieldOutcome) {
    times.add(outcome.times)
    cost += outcome.cost
    outcomes.append(outcome)
    if case .cancelled = state { return }
    state = .between
    guard outcome.mayHaveEndedSession, viewer != 0, outcomes.count < fields.count else {
      return next()
    }
    findViewerAnew()
  }

  /// The fields behind one that may have ended the session act for whom a new request would act, or
  /// for nobody.
  private func findViewerAnew() {
    findViewer { [self] result in
      if case .cancelled = state { return }
      switch result {
      case .success(let found): viewer = found
      case .failure(let error): state = .blocked(.obstacle(error))
      }
      next()
    }
  }

  private func finish() {
    // With nothing to show, what kept the server from answering decides about the status.
    if let first = outcomes.first(where: { $0.isUnserved }),
      outcomes.allSatisfy({ $0.isUnserved })
    {
      return complete(.refused(outcomes.flatMap(\.errors), retryAfter: first.retryAfter))
    }
    var errors: [GraphQLError] = []
    var isNull = false
    var json = JSONWriter(capacity: operation.plan.expectedBytes)
    json.append(#"{"data":"#)
    let start = json.count
    json.append(UInt8(ascii: "{"))
    for (index, (field, outcome)) in zip(fields, outcomes).enumerated() {
      let frame = field.frame
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json.append(frame.key)
      json.append(outcome.json)
      for error in outcome.errors {
        var error = error
        error.path = [.name(frame.responseName)] + (error.path ?? [])
        errors.append(error)
      }
      // 6.4.4: a null where none may be is the whole mutation's; the other fields were run all the
      // same.
      if frame.isNonNull, outcome.isNull { isNull = true }
    }
    json.append(UInt8(ascii: "}"))
    if isNull {
      json.truncate(to: start)
      json.writeNull()
    }
    if !errors.isEmpty {
      json.append(#","errors":"#)
      json.write(errors, requestID: operation.identity.id)
    }
    operation.charge?.write(actual: cost, to: &json)
    json.append(UInt8(ascii: "}"))
    let body = json.finish()
    operation.plan.note(bytes: body.count)
    complete(
      .executed(body: body, errors: errors, isReplayed: outcomes.contains { $0.isReplayed }))
  }

  private func complete(_ response: OperationResponse) {
    completion(OperationOutcome(response, times))
  }
}
