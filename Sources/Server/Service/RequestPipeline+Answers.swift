import GraphQLExecution
import GraphQLPlanning
import Postgres

/// Queries whose responses are kept while they are current (`--answer-cache`).
extension RequestPipeline {
  func answerKept(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LiveDependencies,
    viewer: Int64, _ flight: RequestInFlight
  ) {
    let known = answers?.response(
      to: operation, viewer: viewer, for: clients(of: flight.caller, viewer: viewer))
    if let known {
      flight.record.times = operation.times
      return flight.finish(known, ifHeldBy: flight.reply)
    }
    let reading = answers?.begin()
    let ticket = queries.run(operation, response, viewer: viewer) { outcome in
      flight.record.times = outcome.times
      reading?.keep(outcome, of: operation, plan, viewer: viewer)
      flight.finish(outcome.response, ifHeldBy: flight.reply)
    }
    if let ticket { flight.goOn(with: .statement(ticket)) }
  }

  /// Notes a write, before its client learns of it. One that begins or ends sessions is a client's
  /// of which it is not known under whose name it comes back.
  func noteWrite(_ operation: PreparedOperation, viewer: Int64, by caller: Caller) {
    guard answers != nil else { return }
    shared.writes.note(
      operation.label.isConfidential ? nil : clients(of: caller, viewer: viewer))
  }

  func clients(of caller: Caller, viewer: Int64) -> [PoolClient] {
    viewer == 0 ? [caller.client] : [.viewer(viewer), caller.client]
  }
}
