import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// What a client is sent of an answer that may come in parts.
package enum AnswerPart {
  /// All of it: nothing comes later, or nothing can be had.
  case whole(OperationResponse)
  /// Of several, not the last.
  case part([UInt8])
  /// With the errors of all of them.
  case last([UInt8], errors: [GraphQLError])
}

/// One operation whose answer comes in parts: a statement for each, all sent at once, and each part told when it is
/// there.
final class DeliveryRun {
  private let executor: OperationExecutor
  private let operation: PreparedOperation
  private let viewer: Int64
  private let pool: PostgresPool
  private let tell: (AnswerPart) -> Bool
  private let plan: PreparedPlan
  private var state: DeliveryState
  /// What is awaited: 0 is the first part.
  private var step = 0
  private var isOver = false
  private var ticket: PostgresTicket?
  private var cost = 0
  private var bytesLeft: Int

  init(
    _ executor: OperationExecutor, _ operation: PreparedOperation, _ delivery: DeliveryPlan,
    viewer: Int64, _ pool: PostgresPool, tell: @escaping (AnswerPart) -> Bool
  ) {
    self.executor = executor
    self.operation = operation
    self.viewer = viewer
    self.pool = pool
    self.tell = tell
    plan = operation.plan
    state = DeliveryState(delivery, requestID: operation.identity.id)
    bytesLeft = executor.settings.maximumResponseBytes
  }

  func start() -> PostgresTicket? {
    executor.times = operation.times
    var statements: [BoundStatement] = []
    do {
      if let statement = plan.statement {
        statements.append(try bound(statement, plan.plan))
      }
      for part in plan.parts {
        if let statement = part.statement { statements.append(try bound(statement, part.plan)) }
      }
    } catch {
      _ = tell(.whole(.refused([error])))
      return nil
    }
    skip()
    guard !isOver, !statements.isEmpty else { return nil }
    ticket = pool.execute(
      inOneSnapshot: statements, for: operation.client,
      part: { [self] in receive($0) },
      completion: { [self] outcome in
        switch outcome {
        case .success(let result): receive(result)
        case .failure(let error): fail(error)
        }
      })
    return ticket
  }

  private func bound(
    _ statement: CombinableStatement, _ plan: Plan
  ) throws(GraphQLError) -> BoundStatement {
    BoundStatement(
      statement.alone, try operation.binder(viewer).bind(plan.parameters, of: plan.places))
  }

  /// The statement of the next part.
  private var statement: CombinableStatement? {
    step == 0 ? plan.statement : plan.parts[step - 1].statement
  }

  /// Takes the parts that have nothing to ask.
  private func skip() {
    let nothing: [UInt8] = []
    while !isOver, step <= plan.parts.count, statement == nil {
      unsafe take(nothing.span.bytes)
    }
  }

  private func receive(_ result: borrowing PostgresResult) {
    guard !isOver else { return }
    if step == 0 {
      executor.times = operation.times
      executor.times.waiting = pool.times.waited
      executor.times.asking = pool.times.served
    }
    let isThere: Void? =
      result.rowCount == 1 ? result.withValue(row: 0, column: 0) { take($0) } : nil
    if isThere == nil {
      return fail(PostgresError(.other, message: "A plan's statement gives one row."))
    }
    skip()
  }

  private func take(_ bytes: RawSpan) {
    let began = monotonicNanoseconds()
    if step == 0 {
      begin(bytes)
      executor.times.writing = monotonicNanoseconds() &- began
    } else {
      proceed(bytes)
    }
    step += 1
  }

  // MARK: - Parts

  private func begin(_ bytes: RawSpan) {
    guard bytes.byteCount <= bytesLeft else { return refuse(tooLarge) }
    var writer = executor.begin(operation)
    writer.writeData(bytes)
    guard !writer.isTooLarge else { return refuse(tooLarge) }
    cost = writer.cost
    state.begin(writer.notes)
    let errors = writer.errors
    if !errors.isEmpty {
      writer.json.append(#","errors":"#)
      writer.json.write(errors, requestID: operation.identity.id)
    }
    bytesLeft -= writer.json.count
    state.writeBeginning(to: &writer.json)
    guard state.isPending else {
      isOver = true
      operation.charge?.write(actual: cost, to: &writer.json)
      writer.json.append(UInt8(ascii: "}"))
      _ = tell(.whole(.executed(body: writer.json.take(), errors: errors)))
      return
    }
    writer.json.append(UInt8(ascii: "}"))
    operation.plan.note(bytes: writer.json.count)
    send(.part(writer.json.take()))
  }

  private func proceed(_ bytes: RawSpan) {
    let part = step - 1
    var writer = ResponseWriter(
      plan.parts[part].shape, json: JSONWriter(),
      introspection: operation.introspection ?? plan.introspection,
      cursorSeal: executor.settings.cursorSeal, maximumBytes: bytesLeft,
      maximumItems: executor.settings.plannerLimits.maximumElements)
    let entries = bytes.byteCount > bytesLeft ? [] : writer.writeEntries(bytes)
    cost += writer.cost
    if bytes.byteCount > bytesLeft || writer.isTooLarge {
      state.fail(from: part, tooLarge)
      ticket?.cancel()
      return end(part)
    }
    bytesLeft -= writer.json.count
    state.receive(part, entries, in: writer.json.take())
    guard let json = state.next(after: part) else { return }
    if state.isPending {
      var json = json
      json.append(UInt8(ascii: "}"))
      send(.part(json.finish()))
    } else {
      end(json)
    }
  }

  private var tooLarge: GraphQLError {
    GraphQLError(
      "The answer is larger than \(executor.settings.maximumResponseBytes) bytes. Ask for less.",
      code: .costLimitExceeded)
  }

  private func send(_ part: AnswerPart) {
    if tell(part) { return }
    isOver = true
    ticket?.cancel()
  }

  private func refuse(_ error: GraphQLError) {
    isOver = true
    ticket?.cancel()
    _ = tell(.whole(.refused([error])))
  }

  /// Says of all that is still awaited that it does not come.
  private func end(_ part: Int) {
    guard let json = state.next(after: part) else { return }
    end(json)
  }

  private func end(_ json: JSONWriter) {
    isOver = true
    var json = json
    operation.charge?.write(actual: cost, to: &json)
    json.append(UInt8(ascii: "}"))
    _ = tell(.last(json.finish(), errors: state.errors))
  }

  private func fail(_ error: PostgresError) {
    guard !isOver else { return }
    let failed = step == 0 ? plan.plan : plan.parts[step - 1].plan
    let response = OperationExecutor.failure(
      error, over: failed.parameters, failed.places, operation.inputs)
    guard step > 0 else {
      isOver = true
      _ = tell(.whole(response))
      return
    }
    guard case .refused(let errors, _) = response, let error = errors.first else { return }
    state.fail(from: step - 1, error)
    end(step - 1)
  }
}
