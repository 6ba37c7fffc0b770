// The whole server but for PostgreSQL: each statement is asked once, and answered with a copy of that
// from then on. What its process spends for a request in user mode is the request path's own time.
//
//   benchmark-requests CONNECTION-STRING PORT      serves until its standard input ends

import EventLoops
import Glibc
import HTTP
import Postgres
import Server

/// Answers in place of a loop's pool.
final class RecordedStatements: StatementRunner {
  private final class Recording {
    let result: PostgresResult
    init(_ result: consuming PostgresResult) { self.result = result }
  }

  private let pool: PostgresPool
  private var recordings: [ObjectIdentifier: (BatchableStatement, Recording)] = [:]
  private var due: [(Recording, StatementCompletion)] = []

  init(_ pool: PostgresPool) { self.pool = pool }

  func run(
    _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
    completion: @escaping StatementCompletion
  ) -> PostgresTicket? {
    guard let (_, known) = recordings[ObjectIdentifier(statement)] else {
      return pool.execute(statement.alone, parameters) { [self] outcome, took in
        switch outcome {
        case .success(let result):
          if let copy = result.copy() {
            recordings[ObjectIdentifier(statement)] = (statement, Recording(copy))
          }
        case .failure: break
        }
        completion(outcome, took)
      }
    }
    due.append((known, completion))
    if due.count == 1 { pool.loop.afterThisBatch { [self] in answer() } }
    return nil
  }

  private func answer() {
    let batch = due
    due.removeAll(keepingCapacity: true)
    for (known, completion) in batch {
      if let copy = known.result.copy() { completion(.success(copy), StatementTimes()) }
    }
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = UInt16(arguments[2]) else {
  print("Usage: benchmark-requests CONNECTION-STRING PORT")
  exit(2)
}
var settings = RunningServer.Settings()
settings.address = .tcp(host: "127.0.0.1", port: port)
settings.statementRunner = { RecordedStatements($0) }
let server = try RunningServer(
  SchemaFiles.load("Schema"), database: PostgresConfiguration(arguments[1]), settings: settings)
guard server.waitUntilReady() else {
  print("benchmark-requests: the database does not answer")
  exit(1)
}
print("ready")
fflush(nil)
while readLine() != nil {}
