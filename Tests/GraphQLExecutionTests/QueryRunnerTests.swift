import GraphQLLanguage
import GraphQLResponse
import JSON
import SQL
import Testing

@testable import GraphQLExecution
@testable import GraphQLPlanning
@testable import Postgres

/// Runs of queries over statements that are answered by hand: no socket, no PostgreSQL.
struct QueryRunnerTests {
  /// Keeps what it is to run until the test answers.
  private final class Statements: StatementRunner {
    private(set) var waiting: [StatementCompletion] = []
    private(set) var clients: [PoolClient?] = []

    func run(
      _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
      completion: @escaping StatementCompletion
    ) -> PostgresTicket? {
      waiting.append(completion)
      clients.append(client)
      return nil
    }

    func answer(_ index: Int, _ values: [[UInt8]], waited: UInt64 = 0, served: UInt64 = 0) {
      waiting[index](
        .success(.fabricated(values)), StatementTimes(waited: waited, served: served))
    }
  }

  private let statements = Statements()
  private let shape = ObjectShape(
    fields: [
      FieldShape(
        key: JSONWriter.key("name"), responseName: "name", isNonNull: false,
        value: .leaf(column: 0, .string), coordinate: "Query.name")
    ], live: [LiveColumn(column: 1, topic: 0)])

  private func runner(maximumBytes: Int = 1_000) -> QueryRunner {
    var settings = ExecutionSettings()
    settings.maximumResponseBytes = maximumBytes
    return QueryRunner(on: statements, settings: settings)
  }

  private func record(_ name: String, key: Int64 = 7) -> [UInt8] {
    BinaryForm.record([.text(name), .int8(key)])
  }

  private func operation(_ plan: ResponsePlan) throws -> (PreparedOperation, PreparedResponse) {
    var known = KnownStatements(StatementRecords())
    let label = OperationLabel(name: nil, kind: .query, document: "")
    let prepared = PreparedPlan(
      .query(plan), of: label, introspection: [:], isIntrospectionVariable: false,
      statements: &known)
    var times = PhaseDurations()
    times.planning = 3
    let operation = PreparedOperation(
      identity: .random(), times: times, cursorSigner: CursorSigner(),
      PreparedOperation.Content(
        label: label, request: nil, plan: prepared, variables: [], variableNames: [],
        inputs: OperationInputs([], source: Source("")), introspection: nil, cost: 1,
        isDeferrable: false, live: nil))
    guard case .query(let response) = prepared.kind else {
      throw GraphQLError("It is no query.", code: .internalServerError)
    }
    return (operation, response)
  }

  private var read: ResponsePlan {
    .read(
      ReadPlan(
        statement: SQLFragment("SELECT ROW('x', 7::bigint)").statement(), parameters: [],
        places: [], shape: shape, size: PlanSize(of: shape, limits: .unlimited)))
  }

  private func body(_ outcome: OperationOutcome?) -> String? {
    guard case .executed(let body, _, _)? = outcome?.response else { return nil }
    return String(decoding: body, as: UTF8.self)
  }

  private func code(_ outcome: OperationOutcome?) -> ErrorCode? {
    guard case .refused(let errors, _)? = outcome?.response else { return nil }
    return errors.first?.code
  }

  @Test func `what needs no statement is answered before the call returns`() throws {
    let constant = ObjectShape(
      fields: [
        FieldShape(
          key: JSONWriter.key("__typename"), responseName: "__typename", isNonNull: true,
          value: .constant(Array("\"Query\"".utf8)), coordinate: "Query.__typename")
      ])
    let (operation, response) = try operation(
      .constant(constant, PlanSize(of: constant, limits: .unlimited)))
    var outcome: OperationOutcome?
    runner().run(operation, response, viewer: 0) { outcome = $0 }
    #expect(statements.waiting.isEmpty)
    #expect(body(outcome) == #"{"data":{"__typename":"Query"}}"#)
    #expect(outcome?.times.querying == 0 && outcome?.times.planning == 3)
    #expect(outcome?.dependencies.isEmpty == true)
  }

  @Test func `each outcome has its own response, times and dependencies, in whatever order`() throws
  {
    let (operation, response) = try operation(read)
    operation.client = .viewer(5)
    let runner = runner()
    var outcomes: [OperationOutcome?] = [nil, nil]
    runner.run(operation, response, viewer: 0) { outcomes[0] = $0 }
    runner.run(operation, response, viewer: 0) { outcomes[1] = $0 }
    #expect(outcomes.allSatisfy { $0 == nil } && statements.clients == [.viewer(5), .viewer(5)])
    statements.answer(1, [record("second", key: 9)], waited: 30, served: 40)
    statements.answer(0, [record("first")], waited: 10, served: 20)
    #expect(body(outcomes[0]) == #"{"data":{"name":"first"}}"#)
    #expect(body(outcomes[1]) == #"{"data":{"name":"second"}}"#)
    #expect(outcomes.map { $0?.times.waiting } == [10, 30])
    #expect(outcomes.map { $0?.times.querying } == [20, 40])
    #expect(outcomes.map { $0?.times.planning } == [3, 3])
    #expect(outcomes[0]?.dependencies == [DependencyKey(topic: 0, id: 7)])
    #expect(outcomes[1]?.dependencies == [DependencyKey(topic: 0, id: 9)])
  }

  @Test func `a statement that failed is a refusal, with what it took`() throws {
    let (operation, response) = try operation(read)
    var outcome: OperationOutcome?
    runner().run(operation, response, viewer: 0) { outcome = $0 }
    statements.waiting[0](
      .failure(PostgresError(.overloaded, message: "full")), StatementTimes(waited: 5, served: 0))
    #expect(code(outcome) == .serviceOverloaded)
    #expect(outcome?.times.waiting == 5)
  }

  @Test(arguments: [0, 2])
  func `a statement that does not return one row is a fault`(count: Int) throws {
    let (operation, response) = try operation(read)
    var outcome: OperationOutcome?
    runner().run(operation, response, viewer: 0) { outcome = $0 }
    statements.answer(0, Array(repeating: record("x"), count: count))
    #expect(code(outcome) == .internalServerError)
  }

  @Test(arguments: [50, 200])
  func `a record and a response may be so large`(length: Int) throws {
    let (operation, response) = try operation(read)
    var outcome: OperationOutcome?
    runner(maximumBytes: 100).run(operation, response, viewer: 0) { outcome = $0 }
    statements.answer(0, [record(String(repeating: "x", count: length))])
    #expect(code(outcome) == (length > 100 ? .costLimitExceeded : nil))
    #expect((body(outcome) != nil) == (length <= 100))
  }
}
