/// The pool's relation to its database: whether it connects, and how it treats requests that find
/// no connection.
///
///                    connectFailed, brokeAtOnce        connectFailed, the threshold reached
///     serving ---------------------> recovering(n) ------------------------------> broken(n)
///        ^  ^------- connected ------------'                                           |
///        |  ^------- connected --------------------------------------------------------'
///        |                        pause
///        |        serving, recovering, broken ---> paused
///        '------------------- resume ----------------'
///
///     stop: each of them ---> stopping, for good
///
/// |            | connects           | a request without a connection                     |
/// |------------|--------------------|----------------------------------------------------|
/// | serving    | at once            | waits                                              |
/// | recovering | one after another  | waits                                              |
/// | broken     | one after another  | is refused, unless an attempt is under way         |
/// | paused     | no                 | waits until `resume`                               |
/// | stopping   | no                 | is refused                                         |
enum PoolCondition: Equatable {
  case serving
  /// The last attempts failed, so many in a row; other connections may be there.
  case recovering(failures: Int)
  /// The breaker is open: so many attempts in a row failed, and no connection is left.
  case broken(failures: Int)
  case paused
  case stopping

  /// The number of consecutive failed attempts that affect the next attempt.
  var failures: Int {
    switch self {
    case .recovering(let failures), .broken(let failures): failures
    case .serving, .paused, .stopping: 0
    }
  }

  var mayConnect: Bool {
    switch self {
    case .serving, .recovering, .broken: true
    case .paused, .stopping: false
    }
  }

  var isBroken: Bool {
    if case .broken = self { true } else { false }
  }

  /// Why a connection that is there is to be closed; nil if it may stay.
  var closeReason: PoolCloseReason? {
    switch self {
    case .serving, .recovering, .broken: nil
    case .paused: .paused
    case .stopping: .shutDown
    }
  }

  // MARK: Transitions

  /// - Parameter isLast: no connection is left.
  mutating func connectFailed(isLast: Bool, threshold: Int) {
    switch self {
    case .serving, .recovering:
      let failures = failures + 1
      self =
        isLast && failures >= threshold
        ? .broken(failures: failures) : .recovering(failures: failures)
    case .broken(let failures): self = .broken(failures: failures + 1)
    case .paused, .stopping: break
    }
  }

  /// A connection broke as soon as it was there.
  mutating func brokeAtOnce() {
    switch self {
    case .serving, .recovering: self = .recovering(failures: failures + 1)
    case .broken(let failures): self = .broken(failures: failures + 1)
    case .paused, .stopping: break
    }
  }

  mutating func connected() {
    switch self {
    case .serving, .recovering, .broken: self = .serving
    case .paused, .stopping: break
    }
  }

  /// - Returns: whether it is paused from now on, and was not before.
  mutating func pause() -> Bool {
    switch self {
    case .serving, .recovering, .broken:
      self = .paused
      return true
    case .paused, .stopping: return false
    }
  }

  /// - Returns: whether it serves again.
  mutating func resume() -> Bool {
    switch self {
    case .paused:
      self = .serving
      return true
    case .serving, .recovering, .broken, .stopping: return false
    }
  }

  mutating func stop() { self = .stopping }
}
