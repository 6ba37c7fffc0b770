import Dispatch
import EventLoops
import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres

/// Explains how PostgreSQL runs a query, to a client that may run it.
///
/// It runs the query's statement as `QueryRunner` does, then once more to measure it, in one
/// transaction. The first run prepares the statement under its name, because PostgreSQL shows a
/// served plan only by that name. The values are sent as parameters into a setting of the
/// transaction, and from there into the second run, so no value becomes SQL. One operation at a
/// time is explained on an event loop.
package final class OperationExplainer {
  private let pool: PostgresPool
  private let maximumBytes: Int
  /// Where PostgreSQL's plan is read, which takes milliseconds.
  private let reading: DispatchQueue
  private var isBusy = false

  package init(pool: PostgresPool, settings: ExecutionSettings) {
    self.pool = pool
    maximumBytes = settings.maximumResponseBytes
    reading = DispatchQueue(label: pool.loop.label + ".explaining")
  }

  /// - Parameters:
  ///   - response: how its response is made, or the first part of it.
  ///   - completion: called on the loop, with the report as the response's body.
  package func explain(
    _ operation: PreparedOperation, _ response: PreparedResponse, viewer: Int64,
    completion: @escaping (OperationResponse) -> Void
  ) {
    let parameters: PostgresParameters
    let texts: [String?]
    do {
      parameters = try operation.parameters(viewer: viewer)
      texts = try operation.parameterTexts(viewer: viewer)
    } catch {
      return completion(.refused([error]))
    }
    let plan = operation.plan.plan
    let report = Explanation(
      statement: plan.statement?.text ?? "",
      parameters: zip(plan.parameters, texts).map { parameter, text in
        (parameter.description(operation.variableNames), text)
      })
    guard case .read(let read) = response.source else {
      return completion(.executed(body: report.json(nil), errors: []))
    }
    let statement = read.plan.statement
    let known = statement.parameters.compactMap { $0.type.map { "\($0)" } }
    let types = known.count == statement.parameters.count ? known : nil
    guard !isBusy else {
      return completion(
        .refused(
          [
            GraphQLError(
              "Another operation is being explained. Try again shortly.", code: .serviceOverloaded)
          ], retryAfter: .seconds(1)))
    }
    isBusy = true
    let run = Run(
      operation: operation, read: read,
      statement: BoundStatement(read.statement.alone, parameters), report: report
    ) { [self] response in
      isBusy = false
      completion(response)
    }
    if let types { measure(run, types) } else { askForTypes(run) }
  }

  private struct Run {
    let operation: PreparedOperation
    let read: PreparedRead
    let statement: BoundStatement
    let report: Explanation
    let completion: (OperationResponse) -> Void
  }

  /// The text that a transaction ends with.
  private func ask(
    _ transaction: [BoundStatement], _ run: Run, then: @escaping (String) -> Void
  ) {
    pool.execute(
      transaction: run.operation.inRole(transaction), for: run.operation.client, isHeavy: true
    ) {
      outcome, _ in
      switch outcome {
      case .success(let result):
        then((result.rowCount == 1 ? result.string(row: 0, column: 0) : nil) ?? "")
      case .failure(let error):
        run.completion(.failure(error, of: run.operation, run.read.plan))
      }
    }
  }

  /// Asks PostgreSQL for the types of sort keys, which are the types of the values that are
  /// compared with them.
  private func askForTypes(_ run: Run) {
    var name = PostgresParameters()
    name.append(run.statement.statement.name)
    ask([run.statement, BoundStatement(Self.parameterTypes, name)], run) { [self] text in
      let types = text.split(separator: "\n").map(String.init)
      guard types.count == run.statement.statement.parameterCount else {
        return run.completion(.refused([.fault("The types of parameters are not known.")]))
      }
      measure(run, types)
    }
  }

  private static let parameterTypes = PostgresStatement(
    """
    SELECT array_to_string(parameter_types::text[], chr(10))
    FROM pg_prepared_statements WHERE name = $1::text
    """, parameterCount: 1, label: StatementLabel(task: "explain"))

  private func measure(_ run: Run, _ types: [String]) {
    ask(Self.transaction(run.statement, types), run) { [self] text in read(text, run) }
  }

  private static func transaction(
    _ statement: BoundStatement, _ types: [String]
  ) -> [BoundStatement] {
    let label = StatementLabel(task: "explain")
    var transaction = [statement]
    var arguments = ""
    if !types.isEmpty {
      let texts = types.enumerated().map { "$\($0 + 1)::\($1)::text" }.joined(separator: ", ")
      transaction.append(
        BoundStatement(
          PostgresStatement(
            "SELECT set_config('\(setting)', jsonb_build_array(\(texts))::text, true)",
            parameterCount: types.count, label: label), statement.parameters))
      let values = types.enumerated().map {
        "(current_setting('\(setting)')::jsonb->>\($0))::\($1)"
      }
      arguments = "(\(values.joined(separator: ", ")))"
    }
    transaction.append(
      BoundStatement(
        PostgresStatement(
          "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON) EXECUTE \(statement.statement.name)\(arguments)",
          parameterCount: 0, label: label), PostgresParameters()))
    return transaction
  }

  private static let setting = "sociograph.explained_values"

  private func read(_ text: String, _ run: Run) {
    guard text.utf8.count <= maximumBytes else {
      return run.completion(
        .refused([
          GraphQLError(
            "PostgreSQL's plan is larger than \(maximumBytes) bytes. Ask for less.",
            code: .costLimitExceeded)
        ]))
    }
    nonisolated(unsafe) let completion = run.completion
    let (loop, shape, report) = (pool.loop, run.read.plan.shape, run.report)
    reading.async {
      let analysis = (try? JSONParser.parse(Array(text.utf8), maximumNesting: 300))
        .flatMap { StatementAnalysis($0, shape: shape) }
      let response: OperationResponse =
        analysis.map { .executed(body: report.json($0), errors: []) }
        ?? .refused([.fault("PostgreSQL's plan cannot be read.")])
      loop.execute { unsafe completion(response) }
    }
  }
}

/// The contents of the page's pane "Plan".
struct Explanation: Sendable {
  let statement: String
  /// Where each comes from, and its value as people write it.
  let parameters: [(source: String, value: String?)]

  /// - Parameter analysis: nil of what asks the database nothing.
  func json(_ analysis: StatementAnalysis?) -> [UInt8] {
    func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
      JSONValue.Member(name: name, value: value)
    }
    func number(_ value: Double) -> JSONValue {
      .number(StatementAnalysis.milliseconds(value))
    }
    let parameters = parameters.enumerated().map { index, parameter in
      JSONValue.object([
        member("number", .number("\(index + 1)")), member("source", .string(parameter.source)),
        member("value", parameter.value.map { .string($0) } ?? .null),
      ])
    }
    let fields = (analysis?.fieldCosts ?? []).map { cost in
      JSONValue.object([
        member("field", .string(cost.field)), member("ownMilliseconds", number(cost.own)),
        member("rows", number(cost.rows)),
      ])
    }
    let nodes = (analysis?.nodes ?? []).map { node in
      JSONValue.object([
        member("depth", .number("\(node.depth)")), member("title", .string(node.title)),
        member("details", .array(node.details.map { .string($0) })),
        member("subplan", node.subplan.map { .string($0) } ?? .null),
        member("field", .string(node.field)), member("totalMilliseconds", number(node.total)),
        member("ownMilliseconds", number(node.own)), member("rows", number(node.rows)),
        member("loops", number(node.loops)),
      ])
    }
    var writer = JSONWriter()
    writer.write(
      .object([
        member("statement", .string(statement)), member("parameters", .array(parameters)),
        member("planningMilliseconds", number(analysis?.planningMilliseconds ?? 0)),
        member("executionMilliseconds", number(analysis?.executionMilliseconds ?? 0)),
        member("fields", .array(fields)), member("nodes", .array(nodes)),
      ]))
    return writer.finish()
  }
}
