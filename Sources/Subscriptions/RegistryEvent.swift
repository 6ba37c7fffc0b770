import EventLoops
import GraphQLResponse

/// A subscription, a live query, a session that is looked up, or a session that is monitored. The caller gives each a
/// number that is never used again.
package struct StreamID: Hashable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// A statement that the caller executes for a stream, or for several that share it.
package struct StatementID: Hashable, Sendable {
  package let number: UInt64
}

/// An event of an event loop's streams.
package enum RegistryEvent {
  // MARK: The commit reader

  /// The reader sends batches from now on.
  case joined(statisticsResetAt: String?)
  case received(EventBatch)

  // MARK: Clients

  case subscribe(StreamID, SubscriptionSource, from: ResumeToken?)
  case query(StreamID, LiveQuerySource)
  /// Find out whose a session is, for a stream or socket that is to begin.
  ///
  /// - Parameter since: when the client began to wait.
  case resolve(StreamID, since: Moment)
  /// Report the end of a session to the stream or socket that it began.
  case monitor(StreamID, viewer: Int64)
  /// The client wants nothing more.
  case cancel(StreamID)
  /// The client has too much unread.
  case unread(StreamID)

  // MARK: Statements

  case keysRead(StatementID, Result<SubscriptionKeys, StatementFailure>)
  case missedRead(StatementID, Result<MissedEvents, StatementFailure>)
  case executed(StatementID, StatementOutcome)
  case queried(StatementID, StatementOutcome, LiveResult)

  // MARK: Sessions

  case resolved(StreamID, StatementFailure?)
  /// The remaining lifetime of a monitored session if it is not used, or nil if it is unknown.
  case expiryRead(StreamID, Duration?)
  case checked(StreamID, SessionState)
  /// Every session may have ended.
  case sessionsMayHaveEnded

  // MARK: Time

  /// `nextDeadline` has passed.
  case timePassed
  /// All events that arrived together with the one before `takeTurns` were handled.
  case turn
}

package enum SessionState { case valid, over, unknown }

/// The reason for which a socket or stream ends with its session.
package enum SessionEnd {
  /// There is no such session any more.
  case over
  /// The user may do less than before. The client begins again.
  case changed
}

package struct StatementFailure: Error {
  package let errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) { self.errors = errors }
}

/// The outcome of a statement that returns a response.
package enum StatementOutcome {
  case response([UInt8], errors: [GraphQLError])
  case failed([GraphQLError])
}

package struct SubscriptionKeys: Sendable {
  /// The keys, at least one.
  let keys: [Int64]
  let snapshot: PostgresSnapshot

  package init(_ keys: [Int64], _ snapshot: PostgresSnapshot) {
    self.keys = keys
    self.snapshot = snapshot
  }
}

/// The events since a resume token, in the order of their nodes.
package struct MissedEvents: Sendable {
  let events: [CommittedEvent]
  let statisticsResetAt: String?

  package init(_ events: [CommittedEvent], statisticsResetAt: String?) {
    self.events = events
    self.statisticsResetAt = statisticsResetAt
  }
}

/// The properties of a live query's result, in addition to the response.
package struct LiveResult: Sendable {
  let dependencies: Set<Dependency>
  /// The number of objects in the result.
  let objectCount: Int
  /// The time that PostgreSQL took.
  let cost: Duration

  package init(_ dependencies: Set<Dependency>, objectCount: Int, cost: Duration) {
    self.dependencies = dependencies
    self.objectCount = objectCount
    self.cost = cost
  }
}

/// An action for the caller. Actions are performed in order.
package enum RegistryAction {
  /// Join the commit reader, and report `joined`.
  case joinReader
  case leaveReader

  /// Execute the statement that gives a subscription's keys, and report `keysRead`.
  case readKeys(StatementID, StreamID)
  /// Read the events of a topic since a snapshot, and report `missedRead`.
  case readMissed(StatementID, StreamID, topic: String, since: PostgresSnapshot)
  /// Execute the operation of a subscription, and report `executed`.
  case execute(StatementID, StreamID, EventParameters)
  /// Execute a live query, and report `queried`.
  case query(StatementID, StreamID)
  /// No stream needs the statement any more. Its result is ignored.
  case cancel(StatementID)

  /// Send a response, and report `unread` if the client has too much unread.
  ///
  /// - isFollowed: another one is about to follow, and both may be sent together.
  case send(StreamID, [UInt8], ResumeToken?, isFollowed: Bool)
  /// A response with errors was sent.
  case report(StreamID, [GraphQLError])
  /// End the stream with an outcome. It is no longer registered.
  case finish(StreamID, StatementOutcome)
  /// The client is to reconnect. The stream is gone.
  case interrupt(StreamID, reason: String)

  /// Look up a session, and report `resolved`.
  case resolve(StreamID)
  /// A session could not be looked up. The stream is gone.
  case failResolving(StreamID, [GraphQLError])
  /// Read when a monitored session ends, and report `expiryRead`.
  case readExpiry(StreamID)
  /// Find out whether a monitored session still exists, and report `checked`.
  case check(StreamID)
  /// A monitored session has ended, or what its user may do. The stream is gone.
  case endSession(StreamID, SessionEnd)

  /// Report `turn` once what came together with this event has been handled.
  case takeTurns
}

/// The parameters of a subscription's statement.
package struct EventParameters: Equatable, Sendable {
  /// The node of the event.
  package var node: Int64 = 0
  /// The transaction before which the client has received every event.
  package var received: UInt64 = 0
  /// The transaction before which all have ended.
  package var ended: UInt64 = 0
}
