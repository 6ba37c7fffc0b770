import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// Runs what has one statement and one response, on one loop: a query, a live query each time, and a
/// subscription for each event. Bind, run, write.
package final class QueryRunner {
  private let statements: any StatementRunner
  /// Runs the statements of clients with roles, each alone.
  private let pool: PostgresPool?
  private let settings: ExecutionSettings
  private var spareFrames = RecordFrames()

  /// - Parameters:
  ///   - statements: what runs the statements.
  ///   - pool: what runs those of clients with roles; nil if there are no such clients.
  package init(
    on statements: any StatementRunner, roles pool: PostgresPool? = nil,
    settings: ExecutionSettings
  ) {
    self.statements = statements
    self.pool = pool
    self.settings = settings
  }

  /// - Parameters:
  ///   - response: how the operation's response is made.
  ///   - viewer: the signed-in user's id; 0 for an anonymous client.
  ///   - event: the event that a subscription is sent.
  ///   - completion: called once, on the loop: at once if there is nothing to ask.
  /// - Returns: what cancels the statement when the client leaves; nil if nothing was sent.
  @discardableResult
  package func run(
    _ operation: PreparedOperation, _ response: PreparedResponse, viewer: Int64,
    event: EventMoment = EventMoment(), completion: @escaping (OperationOutcome) -> Void
  ) -> PostgresTicket? {
    let read: PreparedRead
    switch response.source {
    case .constant:
      completion(writeConstant(operation, response))
      return nil
    case .read(let found): read = found
    }
    let parameters: PostgresParameters
    do {
      parameters = try operation.binder(viewer, event).bind(
        read.plan.parameters, of: read.plan.places)
    } catch {
      completion(OperationOutcome(.refused([error]), operation.times))
      return nil
    }
    let done: StatementCompletion = { [self] outcome, took in
      var times = operation.times
      times.add(took)
      switch outcome {
      case .success(let result):
        completion(write(operation, response, result, times))
      case .failure(let error):
        let binder = operation.binder(viewer, event)
        guard error.mayBeOfValue else {
          return completion(OperationOutcome(.failure(error, of: operation, read.plan), times))
        }
        explain(
          error, operation, read.plan,
          binder.givenTexts(read.plan.parameters, read.plan.places)
            .prefix(Self.maximumQuestions), times, completion)
      }
    }
    guard let role = operation.role else {
      return statements.run(
        read.statement, parameters, for: operation.client, completion: done)
    }
    guard let pool else {
      completion(OperationOutcome(.refused([.fault("Nothing runs under roles.")]), operation.times))
      return nil
    }
    return pool.execute(
      read.statement.alone(as: role), parameters, for: operation.client, as: role, completion: done)
  }

  /// The number of values that are asked for at most, one after the other.
  private static let maximumQuestions = 16

  /// Asks which value a statement failed over, and completes with its error.
  private func explain(
    _ error: PostgresError, _ operation: PreparedOperation, _ plan: ReadPlan,
    _ values: ArraySlice<GivenText>, _ times: PhaseDurations,
    _ completion: @escaping (OperationOutcome) -> Void
  ) {
    guard let value = values.first else {
      return completion(OperationOutcome(.failure(error, of: operation, plan), times))
    }
    _ = statements.run(
      BatchableStatement(value.question), value.parameters, for: operation.client
    ) { [self] outcome, took in
      var times = times
      times.add(took)
      switch outcome {
      case .failure(let answer) where answer.mayBeOfValue:
        var refusal = operation.inputs.error(
          value.source, of: value.place, value.problem(answer.sqlState))
        refusal.reason = answer.reasonOfValue
        completion(OperationOutcome(.refused([refusal]), times))
      case .failure: explain(error, operation, plan, values.dropFirst(), times, completion)
      case .success: explain(error, operation, plan, values.dropFirst(), times, completion)
      }
    }
  }

  private func write(
    _ operation: PreparedOperation, _ response: PreparedResponse,
    _ result: borrowing PostgresResult, _ times: PhaseDurations
  ) -> OperationOutcome {
    let began = monotonicNanoseconds()
    var writer = begin(operation, response)
    do throws(ResponseWriter.Failure) {
      try writer.writeData(from: result)
    } catch {
      return OperationOutcome(.refused(error, settings), times)
    }
    return finish(writer, operation, times, since: began)
  }

  private func writeConstant(
    _ operation: PreparedOperation, _ response: PreparedResponse
  ) -> OperationOutcome {
    let began = monotonicNanoseconds()
    var writer = begin(operation, response)
    do throws(ResponseWriter.Failure) {
      try writer.writeDataWithoutRecord()
    } catch {
      return OperationOutcome(.refused(error, settings), operation.times)
    }
    return finish(writer, operation, operation.times, since: began)
  }

  private func begin(
    _ operation: PreparedOperation, _ response: PreparedResponse
  ) -> ResponseWriter {
    var frames = RecordFrames()
    swap(&frames, &spareFrames)
    return ResponseWriter(operation, response.shape, settings, frames: frames)
  }

  private func finish(
    _ writer: consuming ResponseWriter, _ operation: PreparedOperation, _ times: PhaseDurations,
    since began: UInt64
  ) -> OperationOutcome {
    let errors = writer.errors
    if !errors.isEmpty {
      writer.json.append(#","errors":"#)
      writer.json.write(errors, requestID: operation.identity.id)
    }
    operation.settle(actual: writer.cost, in: &writer.json)
    writer.json.append(UInt8(ascii: "}"))
    let dependencies = writer.dependencies
    let cost = writer.cost
    let body = writer.finish(keeping: &spareFrames)
    operation.plan.note(bytes: body.count)
    var times = times
    times.writing = monotonicNanoseconds() &- began
    return OperationOutcome(
      .executed(body: body, errors: errors), times, dependencies: dependencies, cost: cost)
  }
}

extension OperationResponse {
  static func refused(
    _ failure: ResponseWriter.Failure, _ settings: ExecutionSettings
  ) -> OperationResponse {
    switch failure {
    case .noRecord:
      .failure(PostgresError(.other, message: "A plan's statement gives one row."))
    case .tooLarge: .refused([.responseTooLarge(settings.maximumResponseBytes)])
    }
  }
}

extension GraphQLError {
  static func responseTooLarge(_ maximumBytes: Int) -> GraphQLError {
    GraphQLError(
      "The answer is larger than \(maximumBytes) bytes. Ask for less.",
      code: .costLimitExceeded)
  }
}
