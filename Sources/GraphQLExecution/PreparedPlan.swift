import GraphQLPlanning
import Postgres
import SQL

/// A plan with the statements that connections prepare under their names.
package final class PreparedPlan {
  package let plan: Plan
  package let kind: Kind
  /// The answers of `__schema` and `__type` by response name, worked out once.
  let introspection: [String: [UInt8]]
  /// Whether introspection fields read variables, so that they are resolved for each request.
  let isIntrospectionVariable: Bool
  /// The initial size of response buffers, in bytes: that of the last responses.
  private(set) var expectedBytes = 1024

  /// The kind of the plan, with what its runner needs.
  package enum Kind {
    case query(PreparedResponse)
    case live(PreparedResponse, LiveDependencies)
    case incremental(PreparedResponse, DeliveryPlan, later: [PreparedResponse])
    case mutation([PreparedField])
    case subscription(PreparedResponse, PreparedEvent)
  }

  init(
    _ plan: Plan, of label: OperationLabel, introspection: [String: [UInt8]],
    isIntrospectionVariable: Bool, statements: inout KnownStatements
  ) {
    self.plan = plan
    self.isIntrospectionVariable = isIntrospectionVariable
    self.introspection = introspection
    let label = StatementLabel(operation: label.name, document: label.document)
    let expected = Self.expectedNanoseconds(plan.size.fixed.cost)
    let records = statements.records
    func prepare(_ response: ResponsePlan, isLater: Bool = false) -> PreparedResponse {
      PreparedResponse(response, isLater: isLater) { statement in
        statements.statement(statement.text) {
          BatchableStatement(
            statement, label: label, expectedNanoseconds: expected,
            record: records.record(of: statement.text))
        }
      }
    }
    switch plan {
    case .query(let response): kind = .query(prepare(response))
    case .live(let response, let live): kind = .live(prepare(response), live)
    case .incremental(let first, let delivery):
      kind = .incremental(
        prepare(first), delivery, later: delivery.parts.map { prepare($0.plan, isLater: true) })
    case .mutation(let mutation):
      kind = .mutation(mutation.fields.map { PreparedField($0, label: label) })
    case .subscription(let response, let event):
      kind = .subscription(prepare(response), PreparedEvent(event, label: label))
    }
  }

  /// Returns the expected duration of a statement before its first execution, in nanoseconds: 100
  /// µs for each point, up to that of a heavy statement. So an unmeasured statement does not count
  /// as a quick one.
  static func expectedNanoseconds(_ cost: Int) -> UInt64 {
    UInt64(min(max(cost, 3), 100_000)) * 100_000
  }

  /// The mean cost of the last responses, in rate-limit points; nil before the first response.
  private var meanCost: Double?

  /// The expected cost of a response, in rate-limit points. Before the first response it is that of
  /// a page of the usual size.
  var expectedCost: Int { meanCost.map { Int($0.rounded(.up)) } ?? Self.unknownCost }

  private static let unknownCost = 22

  /// Notes that a response had this cost.
  func note(cost: Int) {
    let mean = meanCost ?? Double(cost)
    meanCost = mean + (Double(cost) - mean) / 4
  }

  /// Notes that a response, or its first part, had this size.
  func note(bytes: Int) { expectedBytes = max(bytes + bytes / 8, expectedBytes / 2) }

  /// The statement of the response, or of its first part.
  package var statement: BatchableStatement? {
    switch kind {
    case .query(let response), .live(let response, _), .incremental(let response, _, _),
      .subscription(let response, _):
      response.read?.statement
    case .mutation: nil
    }
  }

  /// The name that connections prepare it under; of a mutation, that of the first function it calls.
  package var statementName: String? {
    if case .mutation(let fields) = kind {
      for case .call(let call) in fields { return call.call.statement.name }
    }
    return statement?.alone.name
  }

  /// The estimated memory in bytes. Each statement is stored in the plan, in its own text, in the
  /// text for libpq and possibly in its batched form. The output shape takes less than the
  /// statement, in either form.
  package var cost: Int {
    let statements =
      switch kind {
      case .query(let response), .live(let response, _), .subscription(let response, _):
        response.cost
      case .incremental(let first, _, let later):
        later.reduce(first.cost) { $0 + 1024 + $1.cost }
      case .mutation(let fields): fields.reduce(0) { $0 + $1.cost }
      }
    return statements + introspection.values.reduce(1024) { $0 + $1.count }
  }
}

/// How one response is made, or one of its parts: the statement, and the shape that the writer walks.
package final class PreparedResponse {
  let source: Source
  let shape: ShapeProgram

  enum Source {
    /// Nothing has to be asked.
    case constant
    case read(PreparedRead)
  }

  fileprivate init(
    _ plan: ResponsePlan, isLater: Bool, prepare: (SQLStatement) -> BatchableStatement
  ) {
    shape = ShapeProgram(plan.shape, isLater: isLater)
    switch plan {
    case .constant: source = .constant
    case .read(let read): source = .read(PreparedRead(read, prepare(read.statement)))
    }
  }

  var read: PreparedRead? {
    if case .read(let read) = source { read } else { nil }
  }

  fileprivate var cost: Int { 7 * (read?.plan.statement.text.utf8.count ?? 0) }
}

/// A statement that reads, and where its parameters come from.
final class PreparedRead {
  let plan: ReadPlan
  let statement: BatchableStatement

  fileprivate init(_ plan: ReadPlan, _ statement: BatchableStatement) {
    self.plan = plan
    self.statement = statement
  }
}

/// The events of a subscription, and the statement that is run as it begins.
package final class PreparedEvent {
  package let plan: EventPlan
  let start: PostgresStatement

  fileprivate init(_ plan: EventPlan, label: StatementLabel) {
    self.plan = plan
    start = PostgresStatement(
      plan.start.text, parameterCount: plan.parameters.count, label: label)
  }
}
