import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// A part of a response with incremental delivery.
package enum AnswerPart {
  /// All of it: nothing comes later, or nothing can be had.
  case whole(OperationOutcome)
  /// The initial response, with its durations.
  case first([UInt8], PhaseDurations)
  /// Another one, not the last.
  case next([UInt8])
  /// The last response, with the errors of all of them.
  case last([UInt8], errors: [GraphQLError])
}

/// Runs queries whose response comes in parts, on one loop.
package struct DeliveryRunner {
  private let pool: PostgresPool
  private let settings: ExecutionSettings

  package init(on pool: PostgresPool, settings: ExecutionSettings) {
    self.pool = pool
    self.settings = settings
  }

  /// Runs a prepared operation with incremental delivery. All parts are of one snapshot.
  ///
  /// - Parameters:
  ///   - first: the initial part.
  ///   - later: the later parts, in order.
  ///   - tell: called on the event loop with the parts of the response in order. It returns false
  ///     to stop.
  /// - Returns: a ticket that cancels the statements when the client disconnects, or nil if none
  ///   was sent.
  package func run(
    _ operation: PreparedOperation, _ first: PreparedResponse, _ delivery: DeliveryPlan,
    later: [PreparedResponse], viewer: Int64, tell: @escaping (AnswerPart) -> Bool
  ) -> PostgresTicket? {
    DeliveryRun(
      operation, first, delivery, later: later, viewer: viewer, pool, settings, tell: tell
    ).start()
  }
}

/// One operation with incremental delivery. Each part has a statement. All statements are sent at
/// once, and each part is delivered when its result arrives.
final class DeliveryRun {
  private let settings: ExecutionSettings
  private let operation: PreparedOperation
  private let first: PreparedResponse
  private let later: [PreparedResponse]
  private let viewer: Int64
  private let pool: PostgresPool
  private let tell: (AnswerPart) -> Bool
  private var state: DeliveryState
  /// The number of the awaited part: 0 is the initial one.
  private var step = 0
  private var isOver = false
  /// Whether the next result is that of setting the role.
  private var isSettingRole = false
  private var ticket: PostgresTicket?
  private var cost = 0
  private var bytesLeft: Int
  /// The durations of the initial part.
  private var times: PhaseDurations

  init(
    _ operation: PreparedOperation, _ first: PreparedResponse, _ delivery: DeliveryPlan,
    later: [PreparedResponse], viewer: Int64, _ pool: PostgresPool, _ settings: ExecutionSettings,
    tell: @escaping (AnswerPart) -> Bool
  ) {
    self.settings = settings
    self.operation = operation
    self.first = first
    self.later = later
    self.viewer = viewer
    self.pool = pool
    self.tell = tell
    state = DeliveryState(delivery, requestID: operation.identity.id)
    bytesLeft = settings.maximumResponseBytes + operation.introspectionBytes
    times = operation.times
  }

  func start() -> PostgresTicket? {
    var statements: [BoundStatement] = []
    do throws(GraphQLError) {
      for part in [first] + later {
        guard case .read(let read) = part.source else { continue }
        statements.append(
          BoundStatement(
            read.statement.alone,
            try operation.binder(viewer).bind(read.plan.parameters, of: read.plan.places)))
      }
    } catch {
      refuse(error)
      return nil
    }
    skip()
    guard !isOver, !statements.isEmpty else { return nil }
    isSettingRole = operation.role != nil
    ticket = pool.execute(
      inOneSnapshot: operation.inRole(statements), for: operation.client,
      part: { [self] result, took in receive(result, took) },
      completion: { [self] outcome, took in
        switch outcome {
        case .success(let result): receive(result, took)
        case .failure(let error):
          note(took)
          fail(error)
        }
      })
    return ticket
  }

  /// The awaited part.
  private var awaited: PreparedResponse { step == 0 ? first : later[step - 1] }

  /// Takes the parts that have nothing to ask.
  private func skip() {
    let nothing: [UInt8] = []
    while !isOver, step <= later.count, case .constant = awaited.source {
      unsafe take(nothing.span.bytes)
    }
  }

  private func receive(_ result: borrowing PostgresResult, _ took: StatementTimes) {
    guard !isOver else { return }
    if isSettingRole {
      isSettingRole = false
      return
    }
    note(took)
    let isThere: Void? =
      result.rowCount == 1 ? result.withValue(row: 0, column: 0) { take($0) } : nil
    if isThere == nil {
      return fail(PostgresError(.other, message: "A plan's statement gives one row."))
    }
    skip()
  }

  private func note(_ took: StatementTimes) {
    if step == 0 { times.add(took) }
  }

  private func take(_ bytes: RawSpan) {
    if step == 0 {
      begin(bytes)
    } else {
      proceed(bytes)
    }
    step += 1
  }

  // MARK: - Parts

  private func begin(_ bytes: RawSpan) {
    let began = monotonicNanoseconds()
    var writer = ResponseWriter(operation, first.shape, settings, frames: RecordFrames())
    writer.writeData(bytes)
    guard !writer.isTooLarge else {
      return refuse(.responseTooLarge(settings.maximumResponseBytes))
    }
    cost = writer.cost
    state.begin(writer.notes)
    let errors = writer.errors
    if !errors.isEmpty {
      writer.json.append(#","errors":"#)
      writer.json.write(errors, requestID: operation.identity.id)
    }
    bytesLeft -= writer.json.count
    state.writeBeginning(to: &writer.json)
    times.writing = monotonicNanoseconds() &- began
    guard state.isPending else {
      operation.settle(actual: cost, in: &writer.json)
      writer.json.append(UInt8(ascii: "}"))
      whole(.executed(body: writer.json.take(), errors: errors))
      return
    }
    writer.json.append(UInt8(ascii: "}"))
    operation.plan.note(bytes: writer.json.count)
    send(.first(writer.json.take(), times))
  }

  private func proceed(_ bytes: RawSpan) {
    let part = step - 1
    var writer = ResponseWriter(
      later[part].shape, json: JSONWriter(),
      introspection: operation.introspection ?? operation.plan.introspection,
      cursorSigner: settings.cursorSigner, maximumBytes: bytesLeft,
      maximumItems: settings.plannerLimits.maximumElements, onError: operation.onError)
    let entries = writer.writeEntries(bytes)
    cost += writer.cost
    if writer.isTooLarge {
      state.fail(from: part, .responseTooLarge(settings.maximumResponseBytes))
      ticket?.cancel()
      return end(part)
    }
    bytesLeft -= writer.json.count
    state.receive(part, entries, in: writer.json.take())
    guard let json = state.next(after: part) else { return }
    if state.isPending {
      var json = json
      json.append(UInt8(ascii: "}"))
      send(.next(json.finish()))
    } else {
      end(json)
    }
  }

  private func send(_ part: AnswerPart) {
    if tell(part) { return }
    isOver = true
    ticket?.cancel()
  }

  private func refuse(_ error: GraphQLError) {
    ticket?.cancel()
    whole(.refused([error]))
  }

  private func whole(_ response: OperationResponse) {
    isOver = true
    _ = tell(.whole(OperationOutcome(response, times)))
  }

  /// Says of all that is still awaited that it does not come.
  private func end(_ part: Int) {
    guard let json = state.next(after: part) else { return }
    end(json)
  }

  private func end(_ json: JSONWriter) {
    isOver = true
    var json = json
    operation.settle(actual: cost, in: &json)
    json.append(UInt8(ascii: "}"))
    _ = tell(.last(json.finish(), errors: state.errors))
  }

  private func fail(_ error: PostgresError) {
    guard !isOver else { return }
    let failed = awaited.read?.plan
    let response =
      operation.refusal(error).map { .refused([$0]) }
      ?? OperationResponse.failure(
        error, over: failed?.parameters ?? [], failed?.places ?? [], operation.inputs)
    guard step > 0 else {
      return whole(response)
    }
    guard case .refused(let errors, _) = response, let error = errors.first else { return }
    state.fail(from: step - 1, error)
    end(step - 1)
  }
}
