import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres
import Subscriptions

/// One subscription, from its beginning to its end.
final class Watch {
  enum State {
    /// The reader or the database is asked; what is told meanwhile is kept.
    case starting
    case hearing
    case ended
  }

  struct Due {
    let node: Int64
    /// Of the look that found it.
    let snapshot: PostgresSnapshot
    /// Its answer is not shared: the one that was had errors.
    var isAlone = false
  }

  let operation: PreparedOperation
  /// How what is told for an event is made.
  let response: PreparedResponse
  let subscription: PreparedEvent
  var event: EventPlan { subscription.plan }
  let viewer: Int64
  let sink: any ResponseSink
  /// Called when it has ended by itself; with errors, when it failed.
  let ended: (OperationResponse) -> Void

  let began = ContinuousClock.now
  var state = State.starting
  var topics: [News.Topic] = []
  /// What is in it is not told any more; nil once nothing of it can come.
  var since: PostgresSnapshot?
  /// Heard while starting.
  var missed: [NewsBatch] = []
  /// Nodes that are to be told, in order; for a plan that does not read them, any one.
  var queue: [Due] = []
  /// The newest of news that must wait for older transactions.
  var unsettled: UInt64?
  var isQueued = false
  /// Its keys are to be asked for anew once those asked for are there.
  var isStale = false
  /// Of the last response, where equal ones say nothing new; of one that is compared, at first that of its beginning.
  var lastHash: Int?
  /// How often the database has not answered in a row.
  var failures = 0
  /// The statement that it waits for.
  var delivery: LiveDeliveries.Delivery?
  /// Its turn has come to ask for its keys, and it does not hear yet.
  var isAsking = false
  /// Of what is asked about its keys.
  var question: PostgresTicket?
  var retry: LoopTimer?
  /// All that is in it was told to the client, or happened before it came.
  var told: PostgresSnapshot?
  /// Where a client that comes back goes on, until that is looked up.
  var resume: ResumePoint?

  /// What its statement is told of a due.
  func moment(of due: Due) -> EventMoment {
    EventMoment(
      node: due.node, told: Int64(clamping: (told ?? due.snapshot).first),
      ended: Int64(clamping: due.snapshot.first))
  }

  /// What is known of transactions from this one on is so no more.
  func forget(from transaction: UInt64) {
    since = since?.before(transaction)
    told = told?.before(transaction)
    queue = queue.map {
      Due(node: $0.node, snapshot: $0.snapshot.before(transaction), isAlone: $0.isAlone)
    }
  }

  init(
    _ operation: PreparedOperation, _ response: PreparedResponse, _ event: PreparedEvent,
    viewer: Int64, sink: any ResponseSink, ended: @escaping (OperationResponse) -> Void
  ) {
    self.operation = operation
    self.response = response
    subscription = event
    self.viewer = viewer
    self.sink = sink
    self.ended = ended
  }
}
