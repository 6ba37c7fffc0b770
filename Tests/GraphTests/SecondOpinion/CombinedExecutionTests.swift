import EventLoops
import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// Several viewers ask the same at the same moment, and PostgreSQL is asked once for all of them.
@Suite(.usesCluster(isFirst: true)) struct CombinedExecutionTests {
  @Test func `each viewer gets the answer they get alone`() throws {
    let opinions = try SecondOpinion(seed: 99)
    let tokens = [nil] + opinions.viewers.map { Optional("demo-" + $0) }
    let crowd = Crowd(size: 4)
    let server = try GraphServer(database: opinions.server.database, maximumElements: .max) {
      GatheringRunner($0, crowd)
    }
    defer { server.stop() }
    var asked = 0
    var wrong: [String] = []
    while asked < 250, wrong.isEmpty {
      let operation = opinions.next()
      let text = operation.text
      // What depends on the moment is not the same twice.
      if text.contains("token") || text.contains("dataExport") { continue }
      let variables = operation.variableValues
      let viewers = (0..<crowd.size).map { tokens[(asked + $0 * 5) % tokens.count] }
      let alone = try viewers.map { try opinions.server.send(text, variables, token: $0).body }
      let together = Mutex<[[UInt8]]>(viewers.map { _ in [] })
      let group = DispatchGroup()
      for client in viewers.indices {
        group.enter()
        Thread {
          let body = (try? server.send(text, variables, token: viewers[client]))?.body ?? []
          together.withLock { $0[client] = body }
          group.leave()
        }.start()
      }
      group.wait()
      asked += 1
      for (client, body) in together.withLock({ $0 }).enumerated() where body != alone[client] {
        wrong.append(
          """
          \(viewers[client] ?? "anonymous")
          \(text)variables \(variables)
          alone:    \(String(decoding: alone[client], as: UTF8.self).prefix(1500))
          together: \(String(decoding: body, as: UTF8.self).prefix(1500))
          """)
      }
    }
    #expect(wrong.prefix(1) == [])
    let counts = crowd.counts.withLock { $0 }
    print(
      "combined executions: of \(counts.gathered) statements \(counts.combined), \(counts.failed) of them in vain"
    )
    #expect(counts.failed == 0)
    #expect(counts.combined > 150)
  }
}

private final class Crowd: Sendable {
  struct Counts {
    var gathered = 0
    /// Had a combined form.
    var combined = 0
    /// The number of statements whose combined form PostgreSQL refused.
    var failed = 0
  }

  let size: Int
  let counts = Mutex(Counts())

  init(size: Int) { self.size = size }
}

/// Waits until everybody's execution of a statement has come, and runs them in one turn.
private final class GatheringRunner: StatementRunner {
  private let crowd: Crowd
  private let pool: PostgresPool
  private let batcher: StatementBatcher
  private var gathered: [(BatchableStatement, PostgresParameters, StatementCompletion)] = []
  private var patience: LoopTimer?

  init(_ pool: PostgresPool, _ crowd: Crowd) {
    self.crowd = crowd
    self.pool = pool
    var settings = StatementBatcher.Settings()
    settings.frequent = 0
    settings.longestTogether = .seconds(3600)
    settings.largestParameters = .max
    batcher = StatementBatcher(pool, settings: settings)
  }

  func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    gathered.append((statement, parameters, completion))
    if gathered.count == crowd.size {
      release()
    } else if patience == nil {
      // Some were perhaps refused before they came here.
      patience = pool.loop.schedule(after: .seconds(2)) { [weak self] in self?.release() }
    }
    return nil
  }

  private func release() {
    patience = nil
    let executions = gathered
    gathered = []
    var remaining = executions.count
    for (statement, parameters, completion) in executions {
      _ = batcher.run(statement, parameters, for: nil) { [crowd] outcome, took in
        completion(outcome, took)
        remaining -= 1
        guard remaining == 0 else { return }
        crowd.counts.withLock { counts in
          counts.gathered += 1
          guard statement.batched != nil else { return }
          counts.combined += 1
          if statement.isUnbatchable { counts.failed += 1 }
        }
      }
    }
  }
}
