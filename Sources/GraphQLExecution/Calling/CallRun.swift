import EventLoops
import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// The run of one field of a mutation that calls a function, from its transforms to its outcome.
///
/// What to do after each try is decided by `CallProgress`; this class does it.
final class CallRun {
  private let runner: MutationRunner
  private let operation: PreparedOperation
  private let call: PreparedCall
  private let binder: ParameterBinder
  private let context: CallContext
  private let completion: (FieldOutcome) -> Void
  private var progress: CallProgress
  /// The password of a request that was done before has been compared.
  private var isCompared = false
  private var ticket: PostgresTicket?
  private var timer: LoopTimer?
  private var isCancelled = false
  /// The number of values that were no reason for a failure.
  private var askedCount = 0
  private var times = PhaseDurations()
  /// The cost of its attempts.
  private var cost = 0

  init(
    _ runner: MutationRunner, _ operation: PreparedOperation, _ call: PreparedCall, viewer: Int64,
    findClient: @escaping () -> ClientIdentity, completion: @escaping (FieldOutcome) -> Void
  ) {
    self.runner = runner
    self.operation = operation
    self.call = call
    self.completion = completion
    let key = call.plan.isOnce ? operation.request.map { RequestKey($0, viewer: viewer) } : nil
    context = CallContext(
      schema: runner.schema, scalarTypes: runner.scalarTypes, key: key, findClient: findClient,
      makeSecret: runner.makeSecret)
    binder = operation.binder(viewer, context)
    progress = CallProgress(
      hasClientKey: key?.isClient ?? false, isUnrepeatable: call.plan.write != nil,
      deadline: runner.writers.deadline(from: .now))
  }

  /// Cancels the field: a call that was not sent is dropped, and a running one is finished.
  func cancel() {
    isCancelled = true
    ticket?.cancel()
  }

  /// Does what is to be done with passwords and credentials, then calls.
  func start() {
    guard !call.plan.transforms.isEmpty else { return perform() }
    guard let transformer = runner.transformer else {
      return finish(.failed([.fault("\(call.plan.coordinate): nobody prepares its inputs.")]))
    }
    collect([]) { [self] tasks in
      transform(tasks, with: transformer) { [self] prepared in
        context.transforms = prepared
        perform()
      }
    }
  }

  // MARK: - In a transaction with others

  var coordinate: String { call.plan.coordinate }
  var mayEndSessions: Bool { call.plan.mayEndSessions }
  var responseName: String { call.plan.frame.responseName }

  /// Whether it is nothing but statements: no password to hash, no request to remember.
  var canShareTransaction: Bool {
    call.plan.transforms.isEmpty && !call.plan.isOnce && !call.plan.makesSecret
      && !call.plan.mayEndOwnSession
  }

  /// Returns the statements of the call, of which the last one has the result.
  func statements() throws(GraphQLError) -> [BoundStatement] {
    try bind([call.call, call.selection])
  }

  private func bind(
    _ statements: [PreparedCall.Statement?]
  ) throws(GraphQLError) -> [BoundStatement] {
    var bound: [BoundStatement] = []
    for statement in statements {
      guard let statement else { continue }
      bound.append(
        BoundStatement(
          statement.statement, try binder.bind(statement.parameters, of: statement.places)))
    }
    return bound
  }

  /// Returns the outcome that the last statement's result is.
  func finalOutcome(of result: borrowing PostgresResult) -> FieldOutcome {
    cost += 10
    var outcome = outcome(of: result)
    outcome.cost = cost
    return outcome
  }

  /// Returns the outcome of a call of which nothing was written because of another one: a user
  /// error, where the payload's have the code.
  func rolledBack(because other: String) -> FieldOutcome {
    let message = "Nothing was written, because \(other) failed or was refused."
    let code = ErrorCode.rolledBack
    let error = UserError(code: code.rawValue, message: message, path: nil)
    return call.plan.refusal.json([error]).map { .value($0) }
      ?? .failed([GraphQLError(message, code: code)])
  }

  /// Finds the outcome of a statement that failed. If a value may be the reason, the database is asked
  /// which one.
  func explain(_ error: PostgresError, completion: @escaping (FieldOutcome) -> Void) {
    func complete(_ outcome: FieldOutcome) {
      var outcome = outcome
      outcome.cost = 10
      completion(outcome)
    }
    if let refused = refusal(error) { return complete(refused) }
    guard error.mayBeOfValue else { return complete(failure(error)) }
    var known: Set<[String]> = []
    let values = Array(
      givenTexts().filter { known.insert([$0.text, $0.type]).inserted }
        .prefix(GivenText.maximumCount))
    // string_data_right_truncation, string_data_length_mismatch
    if ["22001", "22026"].contains(error.sqlState),
      let value = values.first(where: \.hasWrongLength)
    {
      return complete(refused(value, error))
    }
    guard !values.isEmpty else { return complete(failure(error)) }
    let questions = values.map { value in
      BoundStatement(
        PostgresStatement(value.question.text, parameterCount: 1), value.parameters)
    }
    askedCount = operation.role == nil ? 0 : -1
    ticket = runner.writers.run(
      operation.inRole(questions), for: operation.client, commitsAsynchronously: false,
      deadline: runner.writers.deadline(from: .now), part: { [self] _, _ in askedCount += 1 },
      completion: { [self] outcome, took in
        ticket = nil
        times.add(took)
        switch outcome {
        case .failure(let answer)
        where answer.mayBeOfValue && values.indices.contains(askedCount):
          complete(refused(values[askedCount], answer))
        case .failure: complete(failure(error))
        case .success: complete(failureOfRow(error))
        }
      })
  }

  /// Returns the outcome of rows whose values are all of their types, and together are not: a check, a
  /// computed column or a trigger fails over them.
  private func failureOfRow(_ error: PostgresError) -> FieldOutcome {
    guard call.plan.write != nil, error.kind == .invalidValue,
      let json = call.plan.refusal.json([
        UserError(
          code: "INVALID",
          message: "A check, a computed column or a trigger of the table fails over these values.",
          path: nil)
      ])
    else { return failure(error) }
    return .value(json)
  }

  private func givenTexts() -> [GivenText] {
    binder.givenTexts(rows) { table, column in
      runner.constraintErrors.type(of: column, in: table)
    } + binder.givenTexts(call.call.parameters, call.call.places)
      + binder.givenTexts(call.selection?.parameters ?? [], call.selection?.places ?? [])
  }

  /// Returns the outcome of a value that PostgreSQL refuses: a user error, if it is one of a row.
  private func refused(_ value: GivenText, _ error: PostgresError) -> FieldOutcome {
    let problem = value.problem(error.sqlState)
    if let path = value.path,
      let json = call.plan.refusal.json([
        UserError(code: "INVALID", message: problem, path: path)
      ])
    {
      return .value(json)
    }
    var refusal = operation.inputs.error(value.source, of: value.place, problem)
    refusal.reason = error.reasonOfValue
    return .failed([refusal])
  }

  /// Returns the outcome of a value of a row that no parameter can have, as a user error; nil if the
  /// value is not of a row.
  func outcomeOfUnbound() -> FieldOutcome? {
    for row in rows {
      for value in row.values {
        guard let problem = binder.problem(of: value.source, value.type) else { continue }
        let inside = problem.path.map { step in
          switch step {
          case .name(let name): name
          case .index(let index): String(index)
          }
        }
        let error = UserError(
          code: "INVALID", message: problem.message, path: row.path + [value.member] + inside)
        return call.plan.refusal.json([error]).map { .value($0) }
      }
    }
    return nil
  }

  /// The rows that it writes, as the request has them.
  private var rows: [WrittenRow] { call.plan.rows(in: binder.variables) }

  /// The tables that it writes, by their names without namespaces.
  var tables: Set<String> {
    Set(call.plan.rows.map(\.table) + [call.plan.writtenMembers?.table ?? ""])
  }

  // MARK: - Alone

  private func transform(
    _ tasks: [TransformTask], with transformer: any InputTransformer,
    then: @escaping ([TransformedInput]) -> Void
  ) {
    let began = monotonicNanoseconds()
    transformer.transform(tasks, client: context.client) { [self] result in
      times.hashing &+= monotonicNanoseconds() &- began
      guard !isCancelled else { return }
      switch result {
      case .success(let prepared): then(prepared)
      case .failure(let refusal):
        finish(.unserved(refusal.error, retryAfter: refusal.retryAfter))
      }
    }
  }

  /// The tasks, one after the other, as the stored hash of a password has to be asked for.
  private func collect(
    _ tasks: [TransformTask], completion: @escaping ([TransformTask]) -> Void
  ) {
    guard tasks.count < call.plan.transforms.count else { return completion(tasks) }
    let binder = binder
    func text(_ source: InputSource) -> String? {
      if case .string(let text) = binder.value(of: source) { text } else { nil }
    }
    let task: TransformTask
    switch call.plan.transforms[tasks.count] {
    case .newPassword(let source, _): task = .newPassword(text(source))
    case .identityToken(let source, let provider):
      let name: String? =
        if case .enum(let name) = binder.value(of: provider) { name } else { text(provider) }
      task = .identityToken(text(source), provider: name)
    case .sealed(let source): task = .seal(text(source))
    case .picture(let source): task = .picture(text(source))
    case .knownPassword(let source, _):
      guard let password = text(source), let lookup = call.lookups[tasks.count] else {
        return collect(
          tasks + [.knownPassword(nil, stored: nil, account: "")], completion: completion)
      }
      return look(up: lookup) { [self] stored, account in
        collect(
          tasks + [.knownPassword(password, stored: stored, account: account)],
          completion: completion)
      }
    }
    collect(tasks + [task], completion: completion)
  }

  private func look(
    up lookup: PreparedCall.Statement, completion: @escaping (String?, String) -> Void
  ) {
    let statement: BoundStatement
    // All fields that look up the same hash count their guesses together.
    var account = lookup.statement.text
    do throws(GraphQLError) {
      statement = BoundStatement(
        lookup.statement, try binder.bind(lookup.parameters, of: lookup.places))
      for text in try binder.texts(of: lookup.parameters, lookup.places) {
        account += " " + (text ?? "").lowercased()
      }
    } catch {
      return finish(.failed([error]))
    }
    ticket = runner.writers.run(
      operation.inRole([statement]), for: operation.client, commitsAsynchronously: false,
      deadline: progress.deadline
    ) { [self] outcome, took in
      ticket = nil
      times.add(took)
      switch outcome {
      case .success(let result): completion(result.string(row: 0, column: 0), account)
      case .failure(let error): finish(failure(error))
      }
    }
  }

  private func take(_ step: CallProgress.Step) {
    switch step {
    case .perform: perform()
    case .replay: replay()
    case .wait(let time):
      timer = runner.writers.loop.schedule(after: time) { [self] in
        timer = nil
        // A client that has disconnected is not worth another attempt. A call that was sent and
        // lost may have been done.
        guard !isCancelled else { return }
        if progress.isReplaying { replay() } else { perform() }
      }
    case .finish(let end): finish(outcome(of: end))
    }
  }

  /// The function, then the payload's selection, which for some keeps the answer too.
  private func perform() {
    cost += 10
    send([call.call, call.keeping ?? call.selection])
  }

  /// Finishes with the stored response. If none is stored, it selects the payload again.
  private func replay() {
    guard let replay = call.replay else {
      return finish(.failed([.fault("\(call.plan.coordinate): nothing to repeat.")]))
    }
    if !isCompared, compare(replay) { return }
    guard call.again == nil, call.selection != nil, context.key?.isClient == true else {
      return send([replay, call.again, call.selection])
    }
    send([replay]) { [self] result in
      guard result.rowCount == 1, !result.isNull(row: 0, column: 0) else {
        return send([replay, call.selection])
      }
      succeeded(result)
    }
  }

  /// Compares the password of a request that was done before with the hash that its account has
  /// now, then replays.
  ///
  /// - Returns: whether there is such a password.
  private func compare(_ replay: PreparedCall.Statement) -> Bool {
    for (index, input) in call.plan.transforms.enumerated() {
      guard case .newPassword(let source, .some) = input, let lookup = call.lookups[index],
        let transformer = runner.transformer,
        case .string(let password) = binder.value(of: source)
      else { continue }
      send([replay, lookup]) { [self] result in
        // Guesses are counted by request: all that come with its key have one password.
        let account = "\(call.plan.coordinate) \(context.key?.text ?? "")"
        let task = TransformTask.knownPassword(
          password, stored: result.string(row: 0, column: 0), account: account)
        transform([task], with: transformer) { [self] prepared in
          context.transforms.replaceSubrange(index...index, with: prepared)
          isCompared = true
          self.replay()
        }
      }
      return true
    }
    return false
  }

  private func send(
    _ statements: [PreparedCall.Statement?], then: ((borrowing PostgresResult) -> Void)? = nil
  ) {
    // If requests wait for connections, an asynchronous commit frees this one sooner.
    context.flushesLater = runner.writers.isCrowded
    let transaction: [BoundStatement]
    do throws(GraphQLError) {
      transaction = try bind(statements)
    } catch {
      return finish(outcomeOfUnbound() ?? .failed([error]))
    }
    ticket = runner.writers.run(
      operation.inRole(transaction), for: operation.client,
      commitsAsynchronously: context.flushesLater, deadline: progress.deadline
    ) { [self] outcome, took in
      ticket = nil
      times.add(took)
      switch outcome {
      case .success(let result):
        if let then { return then(result) }
        succeeded(result)
      case .failure(let error):
        failed(error)
      }
    }
  }

  private func succeeded(_ result: borrowing PostgresResult) {
    let outcome = outcome(of: result)
    guard context.flushesLater else { return done(outcome) }
    let began = monotonicNanoseconds()
    runner.groupCommit.flush { [self] error in
      times.querying &+= monotonicNanoseconds() &- began
      if let error { failed(error) } else { done(outcome) }
    }
  }

  /// Finishes after the commit is durable.
  private func done(_ outcome: FieldOutcome) {
    guard call.plan.mayEndSessions else { return finish(outcome) }
    runner.sessionsEnded()
    var outcome = outcome
    outcome.mayHaveEndedSession = call.plan.mayEndOwnSession
    finish(outcome)
  }

  private func outcome(of result: borrowing PostgresResult) -> FieldOutcome {
    var frames = RecordFrames()
    swap(&frames, &runner.spareFrames)
    var writer = ResponseWriter(
      call.shape, json: JSONWriter(capacity: operation.plan.expectedBytes), runner.settings,
      frames: frames, secret: call.plan.makesSecret ? context.secret : nil,
      onError: operation.onError)
    do throws(ResponseWriter.Failure) {
      if let column = call.plan.recordColumn {
        try writer.writeData(from: result, column: column)
      } else {
        guard result.rowCount == 1 else { throw .noRecord }
        try writer.writeDataWithoutRecord()
      }
    } catch {
      switch error {
      case .noRecord:
        return .failed([.fault("\(call.plan.coordinate): the selection gave no row.")])
      case .tooLarge:
        return .failed([
          GraphQLError(
            "It is done, but its answer is larger than \(runner.settings.maximumResponseBytes) bytes.",
            code: .resultLimitExceeded)
        ])
      }
    }
    cost += writer.cost
    let errors = writer.errors
    var outcome = FieldOutcome.value(writer.finish(keeping: &runner.spareFrames))
    outcome.errors = errors
    outcome.isReplayed = progress.succeeded() == .finish(.replayed)
    return outcome
  }

  /// The one end of every call that is not cancelled.
  private func finish(_ outcome: FieldOutcome) {
    var outcome = outcome
    outcome.times = times
    outcome.cost = cost
    completion(outcome)
  }

  private func failed(_ error: PostgresError) {
    if let refused = refusal(error) { return finish(refused) }
    let step = progress.failed(error, now: .now, random: &runner.random)
    if step == .finish(.failed) { return explain(error) { [self] in finish($0) } }
    take(step)
  }

  private func failure(_ error: PostgresError) -> FieldOutcome {
    if let refusal = operation.refusal(error) ?? operation.refusalOfClaims(error) {
      return .failed([refusal])
    }
    return FieldOutcome(failure: error, call, operation.inputs)
  }

  /// The payload with what the user caused; nil for any other failure.
  private func refusal(_ error: PostgresError) -> FieldOutcome? {
    guard
      let errors = UserError.raised(error)
        ?? runner.constraintErrors.userError(for: error, in: call.plan.definition, runner.schema)
        .map({ [$0] })
        ?? raised(error).map({ [$0] })
        ?? runner.constraintErrors.writeError(for: error, in: call.plan, binder).map({ [$0] })
    else { return nil }
    if errors.count == 1, errors[0].code == ErrorCode.refused.rawValue,
      call.plan.refusal.messages[errors[0].code] == nil
    {
      return .failed([
        GraphQLError(
          errors[0].message ?? "A function or trigger of the database refused this.",
          code: .refused, reason: error.reason)
      ])
    }
    guard let json = call.plan.refusal.json(errors) else {
      return .failed([
        .fault(
          "\(call.plan.coordinate): \(errors.map(\.code)) has a code that the schema does not know."
        )
      ])
    }
    return .value(json)
  }

  /// Returns what a function or trigger of the user raised; nil for any other failure.
  private func raised(_ error: PostgresError) -> UserError? {
    guard error.isRaised else { return nil }
    return UserError(
      code: ErrorCode.refused.rawValue,
      message: runner.settings.tellsRaisedMessages ? error.message : nil, path: nil,
      constraint: error.constraint)
  }

  private func outcome(of end: CallProgress.End) -> FieldOutcome {
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
          call.plan.write != nil
            ? "Whether this was done is not known. Look before you send it again."
            : "Whether this was done is not known. Send it again with the same Idempotency-Key.",
          code: .outcomeUnknown), retryAfter: .seconds(1))
    }
  }

}
