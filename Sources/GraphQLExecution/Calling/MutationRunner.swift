import EventLoops
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Postgres

/// Runs mutations on one loop: their root fields in order, each in a transaction of its own over the
/// loop's connections that may write.
///
/// These belong to the loop as those that read do: no lock and no change of thread, and the queue is
/// in the pool, with its limits. A few for each loop are as good as a few for all, as none of them waits
/// for the disk while others wait for it (`CommitFlusher`).
package final class MutationRunner {
  package let writers: PostgresPool
  let flusher: CommitFlusher
  let schema: Schema
  let scalarTypes: [TypeID: ParameterType]
  let constraintErrors: ConstraintErrors
  let cursorSeal: CursorSeal
  let maximumResponseBytes: Int
  let maximumItems: Int
  let makeSecret: () -> String
  let preparer: (any InputPreparer)?
  let sessionsEnded: () -> Void
  fileprivate var random = SystemRandomNumberGenerator()
  fileprivate var spareFrames = RecordFrames()
  /// Of the mutation whose completion runs now; writing is not told apart.
  package fileprivate(set) var times = OperationTimes()

  /// - Parameter makeSecret: a token that nobody can guess, for `@secret`.
  package init(
    writers: PostgresPool, flusher: CommitFlusher, mapping: StorageMapping,
    constraintErrors: ConstraintErrors, settings: OperationExecutor.Settings,
    preparer: (any InputPreparer)? = nil,
    sessionsEnded: @escaping () -> Void = {},
    makeSecret: @escaping () -> String = { RequestKey.randomToken() }
  ) {
    self.preparer = preparer
    self.sessionsEnded = sessionsEnded
    self.writers = writers
    self.flusher = flusher
    schema = mapping.schema
    scalarTypes = mapping.scalarTypes
    self.constraintErrors = constraintErrors
    cursorSeal = settings.cursorSeal
    maximumResponseBytes = settings.maximumResponseBytes
    maximumItems = settings.plannerLimits.maximumElements
    self.makeSecret = makeSecret
  }

  /// - Parameters:
  ///   - findClient: who sends it, which functions may ask for and by which guesses are counted.
  ///   - findViewer: whom it acts for now, 0 for nobody: asked between two fields of which the first may
  ///     have ended the session.
  /// - Returns: what ends it when the client leaves: fields that wait are not run, and the one that
  ///   runs is finished.
  package func run(
    _ operation: PreparedOperation, viewer: Int64, findClient: @escaping () -> ClientIdentity,
    findViewer: @escaping MutationRun.FindViewer,
    completion: @escaping (OperationResponse) -> Void
  ) -> MutationRun {
    let run = MutationRun(
      self, operation, viewer: viewer, findClient: findClient, findViewer: findViewer,
      completion: completion)
    run.start()
    return run
  }
}

/// One mutation on its way through its fields.
package final class MutationRun {
  package typealias FindViewer = (_ completion: @escaping (Result<Int64, PostgresError>) -> Void)
    -> Void

  private let runner: MutationRunner
  private let operation: PreparedOperation
  /// 0 for nobody, which it becomes when a field ends the session.
  private var viewer: Int64
  private let findClient: () -> ClientIdentity
  private let findViewer: FindViewer
  /// What every further call answers when it is not known whom it would act for.
  private var obstacle: FieldAnswer?
  private let fields: [PreparedField]
  private let completion: (OperationResponse) -> Void
  private var answers: [FieldAnswer] = []
  private var ticket: PostgresTicket?
  private var timer: LoopTimer?
  private var isCancelled = false
  private var times: OperationTimes
  /// What its fields did cost.
  private var cost = 0

  init(
    _ runner: MutationRunner, _ operation: PreparedOperation, viewer: Int64,
    findClient: @escaping () -> ClientIdentity, findViewer: @escaping FindViewer,
    completion: @escaping (OperationResponse) -> Void
  ) {
    self.findViewer = findViewer
    self.runner = runner
    self.operation = operation
    self.viewer = viewer
    self.findClient = findClient
    self.completion = completion
    times = operation.times
    fields = operation.plan.mutation
  }

  /// Nobody waits for the answer any more.
  package func cancel() {
    isCancelled = true
    ticket?.cancel()
  }

  fileprivate func start() { next() }

  private func next() {
    while answers.count < fields.count, !isCancelled {
      switch fields[answers.count] {
      case .other(.constant(_, let json)): answers.append(.value(json))
      case .other(.refused(_, let error)): answers.append(.failed([error]))
      case .other(.call): answers.append(.failed([.fault("A call was not prepared.")]))
      case .call(let call):
        guard let obstacle else { return prepare(call, begin(call)) }
        answers.append(obstacle)
      }
    }
    if !isCancelled { finish() }
  }

  private func answered(_ answer: FieldAnswer) {
    answers.append(answer)
    next()
  }

  // MARK: - One field

  /// What one field's tries share.
  private final class Attempt {
    var progress: CallProgress
    let binder: ParameterBinder
    let context: CallContext
    /// The password of a request that was done before has been compared.
    var isCompared = false

    init(_ progress: CallProgress, _ binder: ParameterBinder, _ context: CallContext) {
      self.progress = progress
      self.binder = binder
      self.context = context
    }
  }

  private func begin(_ call: PreparedCall) -> Attempt {
    let key =
      call.plan.isOnce ? operation.request.map { RequestKey($0, viewer: viewer) } : nil
    let context = CallContext(
      schema: runner.schema, scalarTypes: runner.scalarTypes, key: key,
      findClient: { [findClient, viewer] in
        var client = findClient()
        if viewer == 0 { client.sessionHash = nil }
        return client
      }, makeSecret: runner.makeSecret)
    return Attempt(
      CallProgress(
        hasClientKey: key?.isClient ?? false,
        deadline: runner.writers.deadline(from: .now)),
      operation.binder(viewer, context), context)
  }

  /// Does what is to be done with passwords and credentials, then calls.
  private func prepare(_ call: PreparedCall, _ attempt: Attempt) {
    guard !call.plan.preparations.isEmpty else { return perform(call, attempt) }
    guard let preparer = runner.preparer else {
      return answered(.failed([.fault("\(call.plan.coordinate): nobody prepares its inputs.")]))
    }
    collect(call, attempt, []) { [self] tasks in
      prepare(tasks, with: preparer, attempt) { [self] prepared in
        attempt.context.preparations = prepared
        perform(call, attempt)
      }
    }
  }

  private func prepare(
    _ tasks: [PreparationTask], with preparer: any InputPreparer, _ attempt: Attempt,
    then: @escaping ([PreparedInput]) -> Void
  ) {
    let began = monotonicNanoseconds()
    preparer.prepare(tasks, client: attempt.context.client) { [self] result in
      times.preparing &+= monotonicNanoseconds() &- began
      guard !isCancelled else { return }
      switch result {
      case .success(let prepared): then(prepared)
      case .failure(let refusal):
        answered(.unserved(refusal.error, retryAfter: refusal.retryAfter))
      }
    }
  }

  /// The tasks, one after the other, as the stored hash of a password has to be asked for.
  private func collect(
    _ call: PreparedCall, _ attempt: Attempt, _ tasks: [PreparationTask],
    completion: @escaping ([PreparationTask]) -> Void
  ) {
    guard tasks.count < call.plan.preparations.count else { return completion(tasks) }
    let binder = attempt.binder
    func text(_ source: InputSource) -> String? {
      if case .string(let text) = binder.value(of: source) { text } else { nil }
    }
    let task: PreparationTask
    switch call.plan.preparations[tasks.count] {
    case .newPassword(let source, _): task = .newPassword(text(source))
    case .identityToken(let source, let provider):
      let name: String? =
        if case .enum(let name) = binder.value(of: provider) { name } else { text(provider) }
      task = .identityToken(text(source), provider: name)
    case .sealed(let source): task = .seal(text(source))
    case .knownPassword(let source, _):
      guard let password = text(source), let lookup = call.lookups[tasks.count] else {
        return collect(
          call, attempt, tasks + [.knownPassword(nil, stored: nil, account: "")],
          completion: completion)
      }
      return look(up: lookup, call, attempt) { [self] stored, account in
        collect(
          call, attempt, tasks + [.knownPassword(password, stored: stored, account: account)],
          completion: completion)
      }
    }
    collect(call, attempt, tasks + [task], completion: completion)
  }

  private func look(
    up lookup: PreparedCall.Statement, _ call: PreparedCall, _ attempt: Attempt,
    completion: @escaping (String?, String) -> Void
  ) {
    let statement: BoundStatement
    // All fields that look up the same hash count their guesses together.
    var account = lookup.statement.text
    do throws(GraphQLError) {
      statement = BoundStatement(
        lookup.statement, try attempt.binder.bind(lookup.parameters, of: lookup.places))
      for text in try attempt.binder.texts(of: lookup.parameters, lookup.places) {
        account += " " + (text ?? "").lowercased()
      }
    } catch {
      return answered(.failed([error]))
    }
    ticket = runner.writers.execute(
      transaction: [statement], for: operation.client, deadline: attempt.progress.deadline
    ) { [self] outcome in
      ticket = nil
      noteTimes()
      switch outcome {
      case .success(let result): completion(result.string(row: 0, column: 0), account)
      case .failure(let error): answered(failure(error, call))
      }
    }
  }

  /// What the statement took whose outcome is told now.
  private func noteTimes() {
    times.waiting &+= runner.writers.times.waited
    times.asking &+= runner.writers.times.served
  }

  private func take(_ step: CallProgress.Step, _ call: PreparedCall, _ attempt: Attempt) {
    switch step {
    case .perform: perform(call, attempt)
    case .replay: replay(call, attempt)
    case .wait(let time):
      timer = runner.writers.loop.schedule(after: time) { [self] in
        timer = nil
        // Who has left is not worth another try; what was sent and lost may have been done.
        guard !isCancelled else { return }
        if attempt.progress.isReplaying { replay(call, attempt) } else { perform(call, attempt) }
      }
    case .finish(let end): answered(answer(to: end, call))
    }
  }

  /// The function, then the payload's selection, which for some keeps the answer too.
  private func perform(_ call: PreparedCall, _ attempt: Attempt) {
    cost += 10
    send([call.call, call.keeping ?? call.selection], call, attempt)
  }

  /// The answer that was kept; where none is, the selection is made anew.
  private func replay(_ call: PreparedCall, _ attempt: Attempt) {
    guard let replay = call.replay else {
      return answered(.failed([.fault("\(call.plan.coordinate): nothing to repeat.")]))
    }
    if !attempt.isCompared, compare(call, attempt, replay) { return }
    guard call.again == nil, call.selection != nil, attempt.context.key?.isClient == true else {
      return send([replay, call.again, call.selection], call, attempt)
    }
    send([replay], call, attempt) { [self] result in
      guard result.rowCount == 1, !result.isNull(row: 0, column: 0) else {
        return send([replay, call.selection], call, attempt)
      }
      succeeded(result, call, attempt)
    }
  }

  /// Compares the password of a request that was done before with the hash that its account has
  /// now, then replays.
  ///
  /// - Returns: whether there is such a password.
  private func compare(
    _ call: PreparedCall, _ attempt: Attempt, _ replay: PreparedCall.Statement
  ) -> Bool {
    for (index, preparation) in call.plan.preparations.enumerated() {
      guard case .newPassword(let source, .some) = preparation, let lookup = call.lookups[index],
        let preparer = runner.preparer,
        case .string(let password) = attempt.binder.value(of: source)
      else { continue }
      send([replay, lookup], call, attempt) { [self] result in
        // Guesses are counted by request: all that come with its key have one password.
        let account = "\(call.plan.coordinate) \(attempt.context.key?.text ?? "")"
        let task = PreparationTask.knownPassword(
          password, stored: result.string(row: 0, column: 0), account: account)
        prepare([task], with: preparer, attempt) { [self] prepared in
          attempt.context.preparations.replaceSubrange(index...index, with: prepared)
          attempt.isCompared = true
          self.replay(call, attempt)
        }
      }
      return true
    }
    return false
  }

  private func send(
    _ statements: [PreparedCall.Statement?], _ call: PreparedCall, _ attempt: Attempt,
    then: ((borrowing PostgresResult) -> Void)? = nil
  ) {
    // Who waits for a connection anyway leaves it sooner to the next.
    attempt.context.flushesLater = runner.writers.isCrowded
    var transaction: [BoundStatement] = []
    do throws(GraphQLError) {
      for statement in statements {
        guard let statement else { continue }
        transaction.append(
          BoundStatement(
            statement.statement,
            try attempt.binder.bind(statement.parameters, of: statement.places)))
      }
    } catch {
      return answered(.failed([error]))
    }
    ticket = runner.writers.execute(
      transaction: transaction, for: operation.client,
      commitsAsynchronously: attempt.context.flushesLater, deadline: attempt.progress.deadline
    ) { [self] outcome in
      ticket = nil
      noteTimes()
      switch outcome {
      case .success(let result):
        if let then { return then(result) }
        succeeded(result, call, attempt)
      case .failure(let error):
        failed(error, call, attempt)
      }
    }
  }

  private func succeeded(
    _ result: borrowing PostgresResult, _ call: PreparedCall, _ attempt: Attempt
  ) {
    let answer = answer(with: result, call, attempt)
    guard attempt.context.flushesLater else { return done(answer, call) }
    let began = monotonicNanoseconds()
    runner.flusher.flush { [self] error in
      times.asking &+= monotonicNanoseconds() &- began
      if let error { failed(error, call, attempt) } else { done(answer, call) }
    }
  }

  /// It is committed, and lasts.
  private func done(_ answer: FieldAnswer, _ call: PreparedCall) {
    guard call.plan.mayEndSessions else { return answered(answer) }
    runner.sessionsEnded()
    guard viewer != 0, answers.count + 1 < fields.count else { return answered(answer) }
    // The fields behind it act for whom a new request would act, or for nobody.
    findViewer { [self] result in
      guard !isCancelled else { return }
      switch result {
      case .success(let found): viewer = found
      case .failure(let error): obstacle = .obstacle(error)
      }
      answered(answer)
    }
  }

  private func answer(
    with result: borrowing PostgresResult, _ call: PreparedCall, _ attempt: Attempt
  ) -> FieldAnswer {
    let hasRecord = call.selection != nil
    guard result.rowCount == 1, !hasRecord || !result.isNull(row: 0, column: 0) else {
      return .failed([.fault("\(call.plan.coordinate): the selection gave no row.")])
    }
    var frames = RecordFrames()
    swap(&frames, &runner.spareFrames)
    var writer = ResponseWriter(
      call.shape, json: JSONWriter(capacity: operation.plan.expectedBytes), frames: frames,
      cursorSeal: runner.cursorSeal,
      secret: call.plan.makesSecret ? attempt.context.secret : nil,
      maximumBytes: runner.maximumResponseBytes, maximumItems: runner.maximumItems)
    var isTooLarge = false
    if hasRecord {
      result.withValue(row: 0, column: 0) { bytes in
        isTooLarge = bytes.byteCount > runner.maximumResponseBytes
        if !isTooLarge { writer.writeData(bytes) }
      }
    } else {
      let empty: [UInt8] = []
      unsafe writer.writeData(empty.span.bytes)
    }
    if isTooLarge || writer.isTooLarge {
      return .failed([
        GraphQLError(
          "It is done, but its answer is larger than \(runner.maximumResponseBytes) bytes.",
          code: .resultLimitExceeded)
      ])
    }
    cost += writer.cost
    let errors = writer.errors
    var answer = FieldAnswer.value(writer.finish(keeping: &runner.spareFrames))
    answer.errors = errors
    answer.isReplayed = attempt.progress.succeeded() == .finish(.replayed)
    return answer
  }

  private func failed(_ error: PostgresError, _ call: PreparedCall, _ attempt: Attempt) {
    if let refused = refusal(error, call) { return answered(refused) }
    let step = attempt.progress.failed(error, now: .now, random: &runner.random)
    if step == .finish(.failed) { return answered(failure(error, call)) }
    take(step, call, attempt)
  }

  private func failure(_ error: PostgresError, _ call: PreparedCall) -> FieldAnswer {
    FieldAnswer(failure: error, call, operation.inputs)
  }

  /// The payload with what the user caused; nil for any other failure.
  private func refusal(_ error: PostgresError, _ call: PreparedCall) -> FieldAnswer? {
    guard
      let errors = UserError.raised(error)
        ?? runner.constraintErrors.userError(for: error, in: call.plan.definition, runner.schema)
        .map({ [$0] })
    else { return nil }
    guard let json = call.plan.refusal.json(errors) else {
      return .failed([
        .fault(
          "\(call.plan.coordinate): \(errors.map(\.code)) has a code that the schema does not know."
        )
      ])
    }
    return .value(json)
  }

  private func answer(to end: CallProgress.End, _ call: PreparedCall) -> FieldAnswer {
    switch end {
    case .done, .replayed, .failed:
      return .failed([.fault("\(call.plan.coordinate): it ended without an answer.")])
    case .inProgress:
      return .unserved(
        GraphQLError(
          "A request with this Idempotency-Key is being worked on. Send it again shortly.",
          code: .idempotencyInProgress))
    case .keyReused:
      return .unserved(
        GraphQLError(
          "This Idempotency-Key was used with another operation or other variables. Take a new one.",
          code: .idempotencyKeyReused))
    case .unknown:
      return .unserved(
        GraphQLError(
          "Whether this was done is not known. Send it again with the same Idempotency-Key.",
          code: .outcomeUnknown), retryAfter: .seconds(1))
    }
  }

  // MARK: - The answer

  private func finish() {
    runner.times = times
    // With nothing to show, what kept the server from answering decides about the status.
    if let first = answers.first(where: { $0.isUnserved }),
      answers.allSatisfy({ $0.isUnserved })
    {
      return completion(.refused(answers.flatMap(\.errors), retryAfter: first.retryAfter))
    }
    var errors: [GraphQLError] = []
    var isNull = false
    var json = JSONWriter(capacity: operation.plan.expectedBytes)
    json.append(#"{"data":"#)
    let start = json.count
    json.append(UInt8(ascii: "{"))
    for (index, (field, answer)) in zip(operation.plan.plan.mutation, answers).enumerated() {
      let frame = field.frame
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json.append(frame.key)
      json.append(answer.json)
      for error in answer.errors {
        var error = error
        error.path = [.name(frame.responseName)] + (error.path ?? [])
        errors.append(error)
      }
      // 6.4.4: a null where none may be is the whole mutation's; the other fields were run all the
      // same.
      if frame.isNonNull, answer.isNull { isNull = true }
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
    completion(
      .executed(body: body, errors: errors, isReplayed: answers.contains { $0.isReplayed }))
  }
}

/// What one field came to.
private struct FieldAnswer {
  var json: [UInt8]
  /// Their paths begin inside the field.
  var errors: [GraphQLError] = []
  /// The server could not do it: no database, no time, or not twice.
  var isUnserved = false
  var retryAfter: Duration?
  var isReplayed = false

  var isNull: Bool { json == Self.null }

  private static let null = Array("null".utf8)

  static func value(_ json: [UInt8]) -> FieldAnswer { FieldAnswer(json: json) }

  static func failed(_ errors: [GraphQLError]) -> FieldAnswer {
    FieldAnswer(json: null, errors: errors)
  }

  /// The database does not say who is signed in.
  static func obstacle(_ error: PostgresError) -> FieldAnswer {
    guard case .refused(let errors, let retryAfter) = OperationExecutor.failure(error),
      let first = errors.first
    else { return .failed([.fault("\(error)")]) }
    return .unserved(first, retryAfter: retryAfter)
  }

  static func unserved(_ error: GraphQLError, retryAfter: Duration? = nil) -> FieldAnswer {
    FieldAnswer(json: null, errors: [error], isUnserved: true, retryAfter: retryAfter)
  }

  private init(
    json: [UInt8], errors: [GraphQLError] = [], isUnserved: Bool = false,
    retryAfter: Duration? = nil
  ) {
    self.json = json
    self.errors = errors
    self.isUnserved = isUnserved
    self.retryAfter = retryAfter
  }

  /// Nothing of it was done.
  init(failure error: PostgresError, _ call: PreparedCall, _ inputs: OperationInputs) {
    let plan = call.plan
    switch error.kind {
    case .retry:
      self = .failed([
        GraphQLError("Others changed the same. Try again.", code: .conflict)
      ])
    case .constraint:
      self = .failed([
        .fault(
          "\(plan.coordinate): the constraint \(error.constraint ?? "?") of "
            + "\(error.table ?? "?") is in no user error.")
      ])
    default:
      guard
        case .refused(let errors, let retryAfter) = OperationExecutor.failure(
          error, over: call.call.parameters + (call.selection?.parameters ?? []),
          call.call.places + (call.selection?.places ?? []), inputs)
      else {
        self = .failed([.fault("\(error)")])
        return
      }
      self.init(json: Self.null, errors: errors, retryAfter: retryAfter)
      switch error.kind {
      case .unavailable, .lost, .overloaded, .timeout, .readOnly, .aborted: isUnserved = true
      default: isUnserved = false
      }
    }
  }
}
