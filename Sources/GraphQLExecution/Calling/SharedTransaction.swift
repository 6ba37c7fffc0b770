import GraphQLPlanning
import GraphQLResponse
import Postgres

/// The fields of a mutation with `@transaction`: all of them in one transaction, which each sees the
/// effects of those before it in. If one fails or is refused, nothing is written.
final class SharedTransaction {
  static let directive = "transaction"

  private let runner: MutationRunner
  private let operation: PreparedOperation
  private let calls: [CallRun]
  private let completion: ([FieldOutcome]) -> Void
  /// The call of each statement, and whether its result is the call's.
  private var statements: [(call: Int, isResult: Bool)] = []
  /// The number of results so far.
  private var answered = 0
  private var outcomes: [FieldOutcome?]
  private var ticket: PostgresTicket?

  /// - Parameter calls: the calls of the fields, in order, which are not started.
  init(
    _ runner: MutationRunner, _ operation: PreparedOperation, _ calls: [CallRun],
    completion: @escaping ([FieldOutcome]) -> Void
  ) {
    self.runner = runner
    self.operation = operation
    self.calls = calls
    self.completion = completion
    outcomes = calls.map { _ in nil }
  }

  /// Removes it from the queue. Once it runs, it is finished.
  func cancel() { ticket?.cancel() }

  func start() {
    var transaction: [BoundStatement] = []
    for (index, call) in calls.enumerated() {
      guard call.canShareTransaction else {
        return fail(
          at: index,
          .failed([
            GraphQLError(
              "\(call.coordinate) cannot be part of a transaction with other fields.",
              code: .badUserInput)
          ]))
      }
      do throws(GraphQLError) {
        let bound = try call.statements()
        transaction += bound
        statements += bound.indices.map { (index, $0 == bound.endIndex - 1) }
      } catch {
        return fail(at: index, call.outcomeOfUnbound() ?? .failed([error]))
      }
    }
    if operation.role != nil { statements.insert((0, false), at: 0) }
    ticket = runner.writers.run(
      operation.inRole(transaction), for: operation.client, commitsAsynchronously: false,
      deadline: runner.writers.deadline(from: .now), part: { [self] result, _ in take(result) },
      completion: { [self] outcome, took in finish(outcome, took) })
  }

  private func finish(_ outcome: borrowing PostgresOutcome, _ took: StatementTimes) {
    ticket = nil
    switch outcome {
    case .success(let result):
      take(result)
      var done = outcomes.map { $0 ?? .failed([.fault("A field has no result.")]) }
      if !done.isEmpty { done[0].times.add(took) }
      if calls.contains(where: \.mayEndSessions) { runner.sessionsEnded() }
      completion(done)
    case .failure(let error):
      guard error.kind != .lost, answered < statements.count else {
        return completion(calls.map { _ in .unserved(Self.unknown, retryAfter: .seconds(1)) })
      }
      let index = culprit(of: error)
      calls[index].explain(error) { [self] outcome in
        // It is no field's fault that there is no database, or no time.
        if outcome.isUnserved { return completion(calls.map { _ in outcome }) }
        fail(at: index, outcome)
      }
    }
  }

  /// Returns the call that an error is of. A deferred constraint fails behind the last one, and is
  /// told by the last that writes its table.
  private func culprit(of error: PostgresError) -> Int {
    let index = statements[answered].call
    guard error.kind == .constraint, answered == statements.count - 1, let table = error.table,
      !calls[index].tables.contains(table)
    else { return index }
    return calls.lastIndex { $0.tables.contains(table) } ?? index
  }

  private func take(_ result: borrowing PostgresResult) {
    defer { answered += 1 }
    guard answered < statements.count, statements[answered].isResult else { return }
    let index = statements[answered].call
    outcomes[index] = calls[index].finalOutcome(of: result)
  }

  /// Nothing was written, because of one call.
  private func fail(at index: Int, _ outcome: FieldOutcome) {
    let name = calls[index].responseName
    completion(calls.indices.map { $0 == index ? outcome : calls[$0].rolledBack(because: name) })
  }

  private static var unknown: GraphQLError {
    GraphQLError(
      "Whether this was done is not known. Look before you send it again.", code: .outcomeUnknown)
  }
}
