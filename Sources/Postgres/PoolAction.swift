struct PoolRequestID: Hashable, Sendable {
  let index: Int32
  let generation: UInt32
}

enum PoolRequestKind { case quick, heavy, lease }

/// What to do, in order. Requests and connections by number.
enum PoolAction {
  case connect(Int)
  case close(Int)
  case send(Int32, Int)
  case lease(Int32, Int)
  /// Send a statement that asks nothing.
  case probe(Int32, Int)
  /// Ask the server to stop what the connection is running.
  case cancel(Int)
  /// Note that a request takes far longer than its statement's estimate. Until it ends, other
  /// executions of the statement count as heavy.
  case outran(Int32)
  /// Tell the request's owner; it is over.
  case fail(Int32, PoolFailure)
  indirect case event(PoolEvent)
}

enum PoolFailure: Equatable {
  case refused(PoolShedReason)
  case deadlinePassed
  case lost
}

/// How the server answered, as far as the pool minds.
enum PoolAnswer {
  case final
  case stale
  case cancelled
  /// A conflict with another transaction, or with what a standby replays.
  case conflict
  /// A write met a server that only reads.
  case readOnly
  /// Skipped, because another statement before the same Sync failed.
  case aborted
}

/// The decision about a result. Times are in nanoseconds.
enum PoolVerdict: Equatable {
  /// Hand it over; it took that long.
  case deliver(after: Int64)
  case drop
  /// Put it back in the queue.
  case retry
  /// Put it back in the queue as a heavy request, after it ran that long.
  case retryAsHeavy(after: Int64)
}
