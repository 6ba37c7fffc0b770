import EventLoops

/// Sends simultaneous executions of one short statement as one batch, so that PostgreSQL starts and
/// ends one execution for all of them.
///
/// Only short, frequent statements are batched. The first execution waits until the event loop has
/// served everything that was ready, when it would be flushed anyway. While PostgreSQL runs as many
/// batches of the statement as `atOnce` allows, it also waits until one of them ends. So batches
/// grow with the load. If a batch fails, each of its executions runs alone: no failure affects
/// another. Call on the event loop.
package final class StatementBatcher: StatementRunner {
  package struct Settings: Sendable {
    /// The number of executions after which a statement is worth a second, batched form.
    package var frequent = 200
    /// Executions in one: with more of them PostgreSQL and this process wait for each other.
    package var most = 8
    /// The maximum cost of one batch in PostgreSQL, because its first execution waits for its last.
    /// It is also the maximum time that an execution waits for a batch to end.
    package var longestTogether = Duration.milliseconds(4)
    /// The number of executions in progress from which further ones wait.
    package var atOnce = 2
    /// Larger parameters, in bytes, go alone.
    package var largestParameters = 4096

    package init() {}
  }

  private let pool: PostgresPool
  private let settings: Settings
  private let longestNanoseconds: UInt64
  /// The statements with waiting executions, each once.
  private(set) var due: [BatchableStatement] = []
  /// Whether the waiting executions are checked after this event batch.
  private var isLooking = false
  /// The closure that the pool calls after a result while executions wait.
  private var look: () -> Void = {}
  /// Ends the wait for what is under way, should it be stuck.
  private var timer: LoopTimer?

  package init(_ pool: PostgresPool, settings: Settings = Settings()) {
    self.pool = pool
    self.settings = settings
    longestNanoseconds = UInt64(max(settings.longestTogether.nanoseconds, 0))
    look = { [weak self] in self?.lookAfterThisBatch() }
  }

  package func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    let most = countTogether(statement)
    guard most > 1, parameters.bytes.count <= settings.largestParameters, !isLone(statement) else {
      return pool.execute(statement.alone, parameters, for: client, completion: completion)
    }
    let execution = StatementExecution(parameters, for: client, at: .now, completion)
    if !statement.isDue {
      statement.isDue = true
      due.append(statement)
    }
    lookAfterThisBatch()
    statement.held.append(execution)
    if statement.held.count >= most { send(statement) }
    return PostgresTicket(execution)
  }

  /// The socket that is served is the last one of its batch, and this the first execution that it
  /// asks for.
  private func isLone(_ statement: BatchableStatement) -> Bool {
    guard pool.loop.isServingLast, statement.held.isEmpty,
      statement.batchOfLone != pool.loop.batch, !isBusy(with: statement)
    else { return false }
    statement.batchOfLone = pool.loop.batch
    return true
  }

  /// Returns the maximum number of executions in one batch, or 1 if batching is not worth it.
  private func countTogether(_ statement: BatchableStatement) -> Int {
    if statement.executionCount < settings.frequent {
      statement.executionCount += 1
      return 1
    }
    if statement.isUnbatchable { return 1 }
    let count = longestNanoseconds / max(statement.alone.costNanoseconds(at: .now), 1)
    return count < UInt64(settings.most) ? Int(count) : settings.most
  }

  /// Returns whether PostgreSQL is busy with a statement. With high latency, most statements in
  /// flight are on the network, not executing.
  private func isBusy(with statement: BatchableStatement) -> Bool {
    statement.underWayCount >= settings.atOnce && !pool.isFar
  }

  private func lookAfterThisBatch() {
    guard !due.isEmpty, !isLooking else { return }
    isLooking = true
    pool.loop.afterThisBatch { [self] in
      isLooking = false
      sendHeld { !self.isBusy(with: $0) }
    }
  }

  private func sendHeld(where isReady: (BatchableStatement) -> Bool) {
    let statements = due
    due.removeAll(keepingCapacity: true)
    for statement in statements {
      statement.isDue = !statement.held.isEmpty && !isReady(statement)
      if statement.isDue {
        due.append(statement)
      } else if !statement.held.isEmpty {
        send(statement)
      }
    }
    pool.whenAnswered = due.isEmpty ? nil : look
    guard !due.isEmpty, timer == nil else { return }
    timer = pool.loop.schedule(after: settings.longestTogether) { [weak self] in
      self?.timer = nil
      self?.sendHeld { _ in true }
    }
  }

  private func send(_ statement: BatchableStatement) {
    if statement.held.count == 1, let only = statement.held.popLast() {
      return sendAlone(only, statement)
    }
    var executions: [StatementExecution] = []
    swap(&executions, &statement.held)
    send(executions, of: statement)
  }

  /// Sends executions of one statement as one batch, or alone where that is not possible.
  func send(_ executions: [StatementExecution], of statement: BatchableStatement) {
    let executions = executions.filter { $0.completion != nil }
    if executions.count == 1 { return sendAlone(executions[0], statement) }
    if statement.batched == nil { statement.isUnbatchable = true }
    guard executions.count > 1, let batched = statement.batched,
      let parameters = PostgresParameters(
        batching: executions.map(\.parameters), as: batched.types)
    else {
      for execution in executions { sendAlone(execution, statement) }
      return
    }
    pool.report(.batched(executions: executions.count))
    let now = Moment.now
    let group = StatementExecutionGroup(executions.count)
    for execution in executions { execution.isSent(in: group, at: now) }
    group.ticket = pool.execute(
      batched.statement, parameters, for: executions.first?.client,
      deadline: executions.first.map { pool.deadline(from: $0.began) }
    ) { [self] outcome, took in
      finish(executions, of: statement, outcome, took)
    }
  }

  private func sendAlone(_ execution: StatementExecution, _ statement: BatchableStatement) {
    guard execution.completion != nil else { return }
    let group = StatementExecutionGroup(1)
    execution.isSent(in: group, at: .now)
    group.ticket = pool.execute(
      statement.alone, execution.parameters, for: execution.client,
      deadline: pool.deadline(from: execution.began)
    ) { outcome, took in
      execution.finish(outcome, took)
    }
  }

  private func finish(
    _ executions: [StatementExecution], of statement: BatchableStatement,
    _ outcome: borrowing PostgresOutcome, _ took: StatementTimes
  ) {
    switch outcome {
    case .success(let result):
      if let places = Self.places(in: result, count: executions.count) {
        for (row, place) in places.enumerated() {
          executions[place].finish(.success(result.row(row)), took)
        }
        return
      }
      statement.isUnbatchable = true
    case .failure(let error):
      switch error.kind {
      case .unavailable, .lost, .overloaded, .readOnly, .staleStatement:
        for execution in executions { execution.finish(.failure(error), took) }
        return
      case .userRaised, .invalidValue, .invalidEncoding:
        // One of them is at fault.
        break
      default:
        // Its text is none that can be batched; or one of them takes too long, and the others have
        // what is left of their time.
        statement.isUnbatchable = true
      }
    }
    for execution in executions { sendAlone(execution, statement) }
  }

  /// Returns the execution that each row belongs to, or nil unless each execution has one row.
  private static func places(in result: borrowing PostgresResult, count: Int) -> [Int]? {
    guard result.rowCount == count, result.columnCount == 2 else { return nil }
    var isTaken = [Bool](repeating: false, count: count)
    var places: [Int] = []
    for row in 0..<count {
      guard let position = result.integer(row: row, column: 1), position >= 1,
        position <= Int64(count), !isTaken[Int(position) - 1]
      else { return nil }
      isTaken[Int(position) - 1] = true
      places.append(Int(position) - 1)
    }
    return places
  }
}

/// An execution that waits, or is in flight in a batch.
final class StatementExecution {
  let parameters: PostgresParameters
  let client: PoolClient?
  let began: Moment
  /// The completion, or nil once it was called or the execution was cancelled.
  private(set) var completion: StatementCompletion?
  private var group: StatementExecutionGroup?
  /// The time in nanoseconds until it was sent last.
  private var held: UInt64 = 0

  init(
    _ parameters: PostgresParameters, for client: PoolClient?, at now: Moment,
    _ completion: @escaping StatementCompletion
  ) {
    self.parameters = parameters
    self.client = client
    began = now
    self.completion = completion
  }

  func isSent(in group: StatementExecutionGroup, at now: Moment) {
    self.group = group
    held = UInt64(max(began.nanoseconds(to: now), 0))
  }

  /// - Parameter took: what the statement took that it was sent in, alone or with others.
  func finish(_ outcome: borrowing PostgresOutcome, _ took: StatementTimes) {
    let completion = completion
    self.completion = nil
    group = nil
    completion?(
      outcome, StatementTimes(waited: took.waited &+ held, served: took.served))
  }

  func cancel() {
    guard completion != nil else { return }
    completion = nil
    group?.leave()
    group = nil
  }
}

/// Executions that are one request of the pool. The request is cancelled when all of them are.
final class StatementExecutionGroup {
  private var remaining: Int
  var ticket: PostgresTicket?

  init(_ count: Int) { remaining = count }

  func leave() {
    remaining -= 1
    if remaining == 0 { ticket?.cancel() }
  }
}
