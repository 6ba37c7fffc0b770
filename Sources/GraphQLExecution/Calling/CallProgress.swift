import EventLoops
import Postgres

/// The next step for one field of a mutation, as plain data. The outcome of the last attempt goes
/// in with its time, and the next step comes out. It has no socket, no clock and no random source.
///
///     perform -> finish: done, refused, failed
///        |  '--> wait -> perform       a conflict of transactions; a lost connection
///        '-----> replay -> finish      it was done before, under the same key
///
/// A call that was sent and lost is sent again until its deadline. With an idempotency key it is
/// not done twice, because the transaction that does it claims the key. Fields without a key can be
/// repeated safely.
struct CallProgress {
  typealias Instant = Moment

  enum Step: Equatable {
    case perform
    /// Ask for the answer of the request that has this key.
    case replay
    /// Then what was tried last, again.
    case wait(Duration)
    case finish(End)
  }

  enum End: Equatable {
    /// The last try's result is the answer.
    case done
    /// Done by an earlier request of the same client, whose response is replayed.
    case replayed
    /// The last try's error says why not: nothing of it was done.
    case failed
    case inProgress
    case keyReused
    /// Whether it was done is not known.
    case unknown
  }

  /// Conflicts of transactions are tried three times in all (R28).
  static let maximumConflicts = 2

  /// The client sent the key it is known by.
  let hasClientKey: Bool
  /// A call whose connection was lost is not sent again, as it may have been done.
  let isUnrepeatable: Bool
  let deadline: Instant
  private(set) var isReplaying = false
  private var losses = 0
  private var conflicts = 0
  private var retries = 0

  init(hasClientKey: Bool, isUnrepeatable: Bool = false, deadline: Instant) {
    self.hasClientKey = hasClientKey
    self.isUnrepeatable = isUnrepeatable
    self.deadline = deadline
  }

  /// A try succeeded.
  func succeeded() -> Step {
    .finish(isReplaying && hasClientKey && losses == 0 ? .replayed : .done)
  }

  /// A try failed, and its transaction left nothing behind, unless its connection was lost.
  mutating func failed(
    _ error: PostgresError, now: Instant, random: inout some RandomNumberGenerator
  ) -> Step {
    switch CallCondition(error) {
    case .replay:
      isReplaying = true
      return .replay
    case .inProgress:
      // An attempt of this request that was lost may still run. A request does not wait for another
      // client's attempt.
      return losses == 0 ? .finish(.inProgress) : wait(again: losses, now, &random)
    case .keyReused: return .finish(.keyReused)
    case .other: break
    }
    switch error.kind {
    case .lost:
      losses += 1
      return isUnrepeatable ? .finish(.unknown) : wait(again: losses, now, &random)
    case .unavailable, .overloaded, .aborted:
      // Nothing was sent this time; before, something may have been.
      return losses == 0 && !isReplaying ? .finish(.failed) : wait(again: 4, now, &random)
    case .retry, .lock, .readOnly:
      // Where the server only reads, another connection may lead to the one that writes now.
      conflicts += 1
      guard conflicts <= Self.maximumConflicts else { return end() }
      return wait(.milliseconds(Int.random(in: 10...100, using: &random)), now)
    case .staleStatement, .timeout:
      // A statement that must be prepared again, or a cancel that was meant for another one.
      retries += 1
      guard retries <= (error.kind == .timeout ? 1 : 3), now < deadline else { return end() }
      return isReplaying ? .replay : .perform
    case .constraint where error.sqlState == "23503":
      // A row that it refers to was deleted after the function had checked it. The next attempt
      // does not find it.
      conflicts += 1
      guard conflicts <= Self.maximumConflicts else { return end() }
      return wait(.milliseconds(Int.random(in: 10...100, using: &random)), now)
    case .userRaised, .invalidEncoding, .invalidValue, .constraint, .forbidden, .other:
      return .finish(.failed)
    }
  }

  private func end() -> Step { .finish(losses > 0 || isReplaying ? .unknown : .failed) }

  /// Longer each time, up to half a second.
  private func wait(
    again count: Int, _ now: Instant, _ random: inout some RandomNumberGenerator
  ) -> Step {
    let most = min(500, 25 << min(count, 10))
    return wait(.milliseconds(Int.random(in: most / 2...most, using: &random)), now)
  }

  private func wait(_ time: Duration, _ now: Instant) -> Step {
    now + time < deadline ? .wait(time) : end()
  }
}

/// The conditions that functions of the server and of the graph raise.
enum CallCondition: Equatable {
  /// The request has been done.
  case replay
  case inProgress
  /// The key was used with another body.
  case keyReused
  case other

  init(_ error: PostgresError) {
    switch error.sqlState {
    case "SG208": self = .replay
    case "SG409": self = .inProgress
    case "SG422": self = .keyReused
    default: self = .other
    }
  }
}
