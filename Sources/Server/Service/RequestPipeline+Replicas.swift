import GraphQLExecution
import GraphQLResponse
import Postgres

/// Reads on replicas (`--replica-database`): what a client wrote is in what it reads afterwards.
extension RequestPipeline {
  /// The header with which a client carries the position of its last write to other servers.
  static let positionHeader = "Sociograph-Position"

  /// Reads the position that a client brings along; nil if it is not one of these servers'.
  func position(_ text: String?) -> LogPosition? {
    text.flatMap { PositionToken.position($0, shared.execution.cursorSigner) }
  }

  /// Ends a mutation, once the position of its write is known.
  func finish(
    _ outcome: OperationOutcome, of operation: PreparedOperation, viewer: Int64,
    _ flight: RequestInFlight
  ) {
    guard let replicas, !outcome.response.isUnserved else { return flight.finish(outcome) }
    // One that begins or ends sessions is a client's that comes back under another name.
    let clients =
      operation.label.isConfidential ? nil : clients(of: flight.caller, viewer: viewer)
    replicas.wrote(clients) { [self] position in
      flight.record.position = position.map {
        PositionToken.text($0, shared.execution.cursorSigner)
      }
      flight.finish(outcome)
    }
  }
}

extension OperationResponse {
  /// Whether nothing was written, because the database could not be reached or took no more.
  fileprivate var isUnserved: Bool {
    guard case .refused(let errors, _) = self else { return false }
    return !errors.isEmpty
      && errors.allSatisfy { $0.code == .databaseUnavailable || $0.code == .serviceOverloaded }
  }
}
