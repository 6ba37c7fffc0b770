import EventLoops

/// Gathers the executions of one request, and sends those of one statement as one batch.
///
/// `StatementBatcher` combines executions of different clients, so it is bound to frequent and short
/// statements. These are of one client, which waits for all of them. So any statement that can be
/// combined is, up to a longer time. Call on the event loop.
package final class StatementGatherer: StatementRunner {
  private static let most: UInt64 = 100
  /// The maximum cost of one batch in PostgreSQL.
  private static let longestTogether: UInt64 = 50_000_000
  /// Larger parameters, in bytes, go alone.
  private static let largestParameters = 4096

  private let runner: any StatementRunner
  /// The runner, if it combines executions.
  private let batcher: StatementBatcher?
  private var gathered: [(statement: BatchableStatement, executions: [StatementExecution])] = []

  package init(_ runner: any StatementRunner) {
    self.runner = runner
    batcher = runner as? StatementBatcher
  }

  /// Gathers an execution until `send`.
  package func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    guard batcher != nil, !statement.isUnbatchable,
      parameters.bytes.count <= Self.largestParameters
    else { return runner.run(statement, parameters, for: client, completion: completion) }
    let execution = StatementExecution(parameters, for: client, at: .now, completion)
    // A request has one document, so its statements are few.
    if let place = gathered.firstIndex(where: { $0.statement === statement }) {
      gathered[place].executions.append(execution)
    } else {
      gathered.append((statement, [execution]))
    }
    return PostgresTicket(execution)
  }

  /// Sends everything gathered.
  package func send() {
    let all = gathered
    gathered = []
    for (statement, executions) in all {
      let cost = max(statement.alone.costNanoseconds(at: .now), 1)
      let most = Int(min(max(Self.longestTogether / cost, 1), Self.most))
      for start in stride(from: 0, to: executions.count, by: most) {
        batcher?.send(
          Array(executions[start..<min(start + most, executions.count)]), of: statement)
      }
    }
  }
}
