import Accounts
import DatabaseSetup
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import Postgres

/// All events of a server, as its modules report them. `ServiceLog`, `LoopMetrics` and
/// `TraceExporter` switch over it without a `default`, so that a new case needs a decision in each
/// of them.
package enum ServerEvent: Sendable {
  /// An event of the process.
  case life(LifeEvent)
  case migration(MigrationEvent)
  /// An event of the database's background tasks.
  case task(TaskEvent)
  /// An event of deliveries from the outbox.
  case outbox(OutboxEvent)
  /// An event of clients' connections, or of requests that no handler received.
  case http(HTTPEvent)
  /// An event of requests that are not operations yet.
  case endpoint(GraphQLEndpoint.Event)
  /// An event of documents and plans.
  case execution(ExecutionEvent)
  case session(SessionResolver.Event)
  /// An event of database connections and statements.
  case pool(PoolEvent)
  /// A replica takes reads from now on, or none any more.
  case replica(host: String, ReplicaStates.Change)
  /// An event of image uploads and downloads.
  case picture(PictureEvent)
  /// A subscription or a live query was sent a response with errors.
  case push(RequestIdentity, [GraphQLError])
  /// An operation has its answer.
  case request(RequestRecord)
}

package enum PictureEvent: Sendable {
  case kept(bytes: Int, RequestIdentity)
  /// A refused upload.
  ///
  /// - Parameter reason: the reason, or nil if its sender receives all of it.
  case refused(ErrorCode, reason: String?, RequestIdentity)
  case served(bytes: Int)
  case notServed(ErrorCode, reason: String?)
  /// The command that decides about pictures did not.
  case notModerated(reason: String)
  /// The number of unused images that were removed.
  case forgotten(Int)
}

/// A message about the process, for operators.
package enum LifeEvent: Sendable {
  /// A step of the start or the shutdown.
  case step(String)
  /// A condition that the operator should change; the server keeps running.
  case warning(String)
  /// The reason for which the process ends, or a part of it does not work.
  case failure(String)
}

/// One operation, from when its request was read to when its answer was handed to the connection.
package final class RequestRecord: @unchecked Sendable {
  // @unchecked: written on its loop only, and by nobody once it was told.
  package let identity: RequestIdentity
  /// The time of the start, of `monotonicNanoseconds()`.
  package let began: UInt64
  package var ended: UInt64 = 0
  package var times = PhaseDurations()
  /// The label, or nil if the request never became an operation.
  package var label: OperationLabel?
  /// The name of its statement on the database's connections.
  package var statement: String?
  package var errors: [GraphQLError] = []
  package var status = HTTPStatus.ok
  package var requestBytes = 0
  package var responseBytes = 0
  /// Whether it lasts until its client disconnects, like a subscription.
  package var lasts = false
  /// Whether the client disconnected before the response.
  package var clientLeft = false
  var timing = Timing.untold
  /// The position of a write, which the client is told; nil without replicas.
  var position: String?
  /// The HTTP request that is this operation's alone; nil of a message of a socket, and in a list.
  var http: HTTPKind?
  /// What the client has of the response; nil for a method without conditions.
  var condition: ResponseCondition?
  /// The coding of a large response; nil if the client accepts none.
  var encoding: AnswerEncoding?
  package let peer: HTTPPeer

  /// The properties of an HTTP request by which requests are told apart in metrics.
  struct HTTPKind: Sendable, Hashable {
    let method: HTTPMethod
    let isSecure: Bool
  }

  /// - Parameter bytes: of the request's body.
  package init(
    _ identity: RequestIdentity, peer: HTTPPeer, bytes: Int = 0,
    began: UInt64 = monotonicNanoseconds()
  ) {
    self.identity = identity
    self.peer = peer
    self.began = began
    requestBytes = bytes
  }

  /// The code of the first error, or nil without errors.
  package var code: ErrorCode? { errors.first?.code }

  package var nanoseconds: UInt64 { ended > began ? ended - began : 0 }

  /// Ends it now, unless it has ended.
  func end() {
    if ended == 0 { ended = monotonicNanoseconds() }
  }
}
