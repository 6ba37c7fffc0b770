import CPostgreSQL

/// One of several commands that are sent together.
package enum PipelinedCommand: Sendable {
  /// Parsed and analyzed, not run: what columns its rows would have.
  case describe(String)
  case execute(String)

  fileprivate var text: String {
    switch self {
    case .describe(let text), .execute(let text): text
    }
  }
}

/// The result of one pipelined command.
package struct PipelinedAnswer: Sendable {
  package let columns: [PostgresType]
  /// The rows as text. Empty for a command that was only described.
  package let rows: [[String?]]
}

extension PostgresSession {
  /// Runs any number of commands in one round trip, each in a transaction of its own: one that fails
  /// stops none behind it. Parameters have no values, so that a command to be run must not have any.
  ///
  /// - Throws: only when the connection is lost.
  package func pipeline(
    _ commands: [PipelinedCommand]
  ) throws(PostgresError) -> [Result<PipelinedAnswer, PostgresError>] {
    for command in commands { try refuseNUL(command.text) }
    let handle = unsafe library.handle
    guard unsafe PQenterPipelineMode(handle) == 1 else {
      throw unsafe PostgresError(connection: handle)
    }
    // While libpq cannot send, it reads, so results never block the server.
    for command in commands { try send(command) }
    var answers: [Result<PipelinedAnswer, PostgresError>] = []
    answers.reserveCapacity(commands.count)
    for _ in commands { answers.append(try nextAnswer()) }
    guard unsafe PQexitPipelineMode(handle) == 1 else {
      throw unsafe PostgresError(connection: handle)
    }
    return answers
  }

  private func send(_ command: PipelinedCommand) throws(PostgresError) {
    let handle = unsafe library.handle
    let isSent =
      switch command {
      case .describe(let text):
        unsafe PQsendPrepare(handle, "", text, 0, nil) == 1
          && PQsendDescribePrepared(handle, "") == 1
      case .execute(let text):
        unsafe PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0) == 1
      }
    guard isSent, unsafe PQpipelineSync(handle) == 1 else {
      throw unsafe PostgresError(connection: handle)
    }
  }

  /// All results up to the Sync behind a command.
  private func nextAnswer() throws(PostgresError) -> Result<PipelinedAnswer, PostgresError> {
    var columns: [PostgresType] = []
    var rows: [[String?]] = []
    var failure: PostgresError?
    var nothing = 0
    // Between the results of two messages there is one nil; two mean that nothing more comes.
    while nothing < 2 {
      guard let result = unsafe PQgetResult(library.handle) else {
        nothing += 1
        continue
      }
      nothing = 0
      let status = unsafe PQresultStatus(result)
      switch status {
      case PGRES_PIPELINE_SYNC:
        unsafe PQclear(result)
        return failure.map { .failure($0) }
          ?? .success(PipelinedAnswer(columns: columns, rows: rows))
      case PGRES_PIPELINE_ABORTED: unsafe PQclear(result)
      default:
        columns = unsafe (0..<PQnfields(result)).map { column in
          unsafe PostgresType(rawValue: PQftype(result, column))
        }
        do {
          rows = try unsafe self.rows(result)
        } catch {
          failure = failure ?? error
        }
      }
      guard unsafe PQstatus(library.handle) == CONNECTION_OK else { break }
    }
    throw unsafe failure ?? PostgresError(connection: library.handle)
  }
}
