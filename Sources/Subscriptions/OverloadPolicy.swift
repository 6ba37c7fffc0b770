import EventLoops
import GraphQLResponse

/// The effect of a statement's failure on its stream, and the number of streams that may start at
/// once.
///
/// It is the one place that decides what happens when PostgreSQL is busy or unreachable:
///
/// - A stream that *starts* waits if the server is overloaded, and goes to the head of the queue.
///   Fewer streams may then start at once, and none for 20 ms. If it has waited for `patience`, it
///   fails.
/// - A stream that *serves* its client retries after a pause that doubles, from 100 ms to 2 s, as
///   long as the error says nothing about the stream itself.
/// - Any other error ends the stream.
package struct OverloadPolicy {
  enum Stage {
    case starting(since: Moment)
    /// - Parameter failures: how many statements have failed in a row, this one included.
    case serving(failures: Int)
  }

  enum Verdict: Equatable {
    /// Put the stream at the head of the queue of those that start.
    case requeue
    case retry(after: Duration)
    case fail
  }

  /// The pause before any stream starts after an overload.
  static let rest = Duration.milliseconds(20)

  private let maximum: Int
  private let patience: Duration
  /// The maximum number of streams that start at once: halved by each overload, and raised by one
  /// after each stream that has started.
  private(set) var capacity: Int
  /// The number of streams that are starting.
  private(set) var starting = 0
  private(set) var restsUntil: Moment?

  init(maximum: Int, patience: Duration) {
    self.maximum = max(maximum, 1)
    self.patience = patience
    capacity = self.maximum
  }

  func verdict(on errors: [GraphQLError], of stage: Stage, _ now: Moment) -> Verdict {
    switch stage {
    case .starting(let since):
      let isOverloaded = errors.first?.code == .serviceOverloaded
      return isOverloaded && now < since + patience ? .requeue : .fail
    case .serving(let failures):
      guard Self.isTransient(errors) else { return .fail }
      let pause = Duration.milliseconds(50) * (1 << min(max(failures, 1), 6))
      return .retry(after: min(pause, .seconds(2)))
    }
  }

  /// Whether the first error says nothing about the operation.
  package static func isTransient(_ errors: [GraphQLError]) -> Bool {
    switch errors.first?.code {
    case .databaseUnavailable, .serviceOverloaded, .timeout, .lockTimeout: true
    default: false
    }
  }

  // MARK: Streams that start

  func mayStart(_ now: Moment) -> Bool {
    starting < capacity && (restsUntil.map { $0 <= now } ?? true)
  }

  mutating func start() {
    starting += 1
    restsUntil = nil
  }

  /// A stream no longer starts.
  mutating func end() { starting -= 1 }

  mutating func succeed() {
    end()
    capacity = min(capacity + 1, maximum)
  }

  mutating func overload(_ now: Moment) {
    end()
    capacity = max(capacity / 2, 1)
    if restsUntil.map({ $0 <= now }) ?? true { restsUntil = now + Self.rest }
  }
}
