import EventLoops
import GraphQLExecution
import GraphQLResponse
import Postgres

/// One operation of a client, from the end of its request to its own end.
///
/// It owns the work that runs for the operation, its rate-limit points and its record. The first of
/// these ends it: a response, the end of a stream, or the client's disconnection. Later calls have
/// no effect.
final class RequestInFlight {
  let caller: Caller
  let reply: Reply
  let record: RequestRecord
  /// The points that were taken for preparing it.
  var preparationCost = 0
  /// The points that were taken for running it; nil before, and where none are counted.
  var charge: OperationCharge?
  private var work = Work.none
  private(set) var isOver = false
  private let report: (RequestRecord) -> Void

  /// The work in progress for the operation, beyond the current event batch.
  enum Work {
    case none
    case timer(LoopTimer)
    case statement(PostgresTicket)
    case mutation(MutationRun)
    /// Responses are sent until this ends them.
    case stream(end: () -> Void)

    fileprivate func cancel() {
      switch self {
      // A timer without an owner is cancelled.
      case .none, .timer: break
      case .statement(let ticket): ticket.cancel()
      case .mutation(let run): run.cancel()
      case .stream(let end): end()
      }
    }
  }

  /// - Parameter report: given the record, complete, before the response is sent.
  init(
    from caller: Caller, _ reply: Reply, _ record: RequestRecord,
    report: @escaping (RequestRecord) -> Void
  ) {
    self.caller = caller
    self.reply = reply
    self.record = record
    self.report = report
    reply.onLeave { [self] in end(.left) }
  }

  /// Goes on with other work than before, which is cancelled when the client leaves.
  func goOn(with work: Work) {
    if isOver { return work.cancel() }
    self.work = work
  }

  // MARK: - The end

  /// Ends it with its only response.
  func finish(_ response: OperationResponse) { end(.response(response)) }

  func finish(_ outcome: OperationOutcome) {
    record.times = outcome.times
    finish(outcome.response)
  }

  /// Ends it after responses, or parts of one, that were sent to a sink.
  func finish(_ response: OperationResponse, behind sink: any ResponseSink) {
    end(.stream(response, sink))
  }

  private enum End {
    case response(OperationResponse)
    case stream(OperationResponse, any ResponseSink)
    /// The client disconnected.
    case left
  }

  private func end(_ end: End) {
    guard !isOver else { return }
    isOver = true
    let work = work
    self.work = .none
    switch end {
    case .response(let response):
      settle(response)
      record.note(response)
      let answer = reply.dress(response, record, extensionsStart: charge?.extensionsStart)
      report(record)
      reply.send(
        response, answer, record, hasExtensions: charge?.extensionsStart != nil)
    case .stream(let response, let sink):
      if !record.lasts { settle(response) }
      record.note(response)
      report(record)
      switch response {
      case .executed: sink.complete()
      case .refused(let errors, _): sink.fail(errors, requestID: record.identity.id)
      }
    case .left:
      record.clientLeft = true
      if !record.lasts { abandon() }
      work.cancel()
      report(record)
    }
  }

  /// Settles the points of an operation that was refused after they were taken.
  private func settle(_ response: OperationResponse) {
    guard case .refused(let errors, _) = response else { return }
    switch errors.first?.code.status {
    // An operation that was refused because the server is full spent nothing.
    case .serviceUnavailable?: charge?.cancel()
    default: abandon()
    }
  }

  private func abandon() {
    charge?.abandon(after: monotonicNanoseconds() &- record.began)
  }
}

extension RequestRecord {
  /// Records the parts of a response that logs, metrics and traces report.
  func note(_ response: OperationResponse) {
    switch response {
    case .executed(let body, let errors, _):
      self.errors = errors
      responseBytes += body.count
    case .refused(let errors, _): self.errors = errors
    }
  }
}
