import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres

/// One query with `@live`, from its first answer to its end.
final class LiveQuery {
  let operation: PreparedOperation
  let response: PreparedResponse
  let plan: LivePlan
  let interval: Duration?
  let viewer: Int64
  let sink: any ResponseSink
  /// Called when it has ended by itself.
  let ended: (OperationResponse) -> Void

  let began = ContinuousClock.now
  /// What it hangs on.
  var keys: Set<LiveQueries.Key> = []
  var isRunning = false
  /// Something was touched since its statement was sent.
  var isDirty = false
  var isWaiting = false
  var hasEnded = false
  /// What was told while its statement ran, whose answer says what it hangs on.
  var heard: [News] = []
  /// What the client has of them.
  var answers: LiveAnswers
  /// It is not run again before.
  var rest = ContinuousClock.now
  var failures = 0
  var ticket: PostgresTicket?
  var timer: LoopTimer?
  var intervalTimer: LoopTimer?

  init(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ plan: LivePlan,
    _ options: LiveOptions, viewer: Int64, sink: any ResponseSink,
    ended: @escaping (OperationResponse) -> Void
  ) {
    self.operation = operation
    self.response = response
    self.plan = plan
    interval = options.interval
    answers = LiveAnswers(asPatches: options.asPatches)
    self.viewer = viewer
    self.sink = sink
    self.ended = ended
  }
}
