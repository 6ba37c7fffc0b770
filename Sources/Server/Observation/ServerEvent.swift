import Accounts
import DatabaseSetup
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import Postgres

/// All that happens in a server, as those tell it who do it. Those who look (`ServiceLog`,
/// `LoopMetrics`, `TraceExporter`) switch over it without a `default`, so that whoever adds a case
/// decides for each of them.
package enum ServerEvent: Sendable {
  /// Of the process.
  case life(LifeEvent)
  case migration(MigrationEvent)
  /// Of what the database wants done from time to time.
  case task(TaskEvent)
  /// Of what is handed to whoever delivers it.
  case outbox(OutboxEvent)
  /// Of clients' connections, and of requests that no handler saw.
  case http(HTTPEvent)
  /// Of requests before they are operations.
  case endpoint(GraphQLEndpoint.Event)
  /// Of documents and plans.
  case execution(ExecutionEvent)
  case session(SessionResolver.Event)
  /// Of database connections and statements.
  case pool(PoolEvent)
  /// Of pictures that are sent and asked for.
  case picture(PictureEvent)
  /// A subscription or a live query was sent a response with errors.
  case push(RequestIdentity, [GraphQLError])
  /// An operation has its answer.
  case request(RequestRecord)
}

package enum PictureEvent: Sendable {
  case kept(bytes: Int, RequestIdentity)
  /// - Parameter reason: more than its sender is told; nil when that is all.
  case refused(ErrorCode, reason: String?, RequestIdentity)
  case served(bytes: Int)
  case notServed(ErrorCode, reason: String?)
  /// The command that decides about pictures did not.
  case notModerated(reason: String)
  /// Nobody used them.
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
  /// Of `monotonicNanoseconds()`.
  package let began: UInt64
  package var ended: UInt64 = 0
  package var times = PhaseDurations()
  /// Nil when it never became an operation: refused, or with a document that is none.
  package var label: OperationLabel?
  /// The name of its statement on the database's connections.
  package var statement: String?
  package var errors: [GraphQLError] = []
  package var status = HTTPStatus.ok
  package var requestBytes = 0
  package var responseBytes = 0
  /// It is answered until its client leaves, however long that is.
  package var lasts = false
  /// It went before the answer came; there is none.
  package var clientLeft = false
  package let peer: HTTPPeer

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

  /// Of the first error; nil without one.
  package var code: ErrorCode? { errors.first?.code }

  package var nanoseconds: UInt64 { ended > began ? ended - began : 0 }
}
