import Dispatch
import Foundation
import Postgres

/// A dedicated thread and connection for work that no request waits for. It runs a step, waits
/// until the next one, and reconnects after a lost connection.
final class DatabaseThread: @unchecked Sendable {
  // @unchecked: `session` is touched on its thread only; `state` has a lock.

  /// The input of a step.
  struct Work {
    let session: PostgresSession
    /// The connection is new.
    let isFresh: Bool
    private let thread: DatabaseThread

    fileprivate init(session: PostgresSession, isFresh: Bool, thread: DatabaseThread) {
      self.session = session
      self.isFresh = isFresh
      self.thread = thread
    }

    /// Runs what the thread's end may cancel.
    func cancellable<Result>(
      _ body: () throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result? {
      let mayRun = thread.state.with { state in
        state.running = session
        return !state.isStopped
      }
      defer { thread.state.with { $0.running = nil } }
      return mayRun ? try body() : nil
    }
  }

  /// - Returns: when to do the next.
  typealias Step = (Work) throws(PostgresError) -> ContinuousClock.Instant

  private struct State {
    var isStopped = false
    var running: PostgresSession?
  }

  /// A lock around state that is not `Sendable`.
  private final class Guarded: @unchecked Sendable {
    // @unchecked: `value` is only touched within the lock.
    private let lock = NSLock()
    private var value = State()
    func with<Result>(_ body: (inout State) -> Result) -> Result {
      lock.withLock { body(&value) }
    }
  }

  private let name: String
  private let configuration: PostgresConfiguration
  private let state = Guarded()
  private let isWoken = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private var session: PostgresSession?

  init(name: String, _ configuration: PostgresConfiguration) {
    self.name = name
    self.configuration = configuration
  }

  /// - Parameter step: called on the thread alone.
  func start(_ step: @escaping Step) {
    let onThread = OnThread(step: step)
    let thread = Thread { [self] in run(onThread.step) }
    thread.name = name
    thread.start()
  }

  private struct OnThread: @unchecked Sendable {
    // @unchecked: handed to the thread, and to nobody else.
    let step: Step
  }

  var isStopped: Bool { state.with { $0.isStopped } }

  /// No step begins after it, and what may be cancelled is.
  func end() {
    state.with { state in
      state.isStopped = true
      // Within the lock, so that it is not closed meanwhile.
      state.running?.cancel()
    }
    isWoken.signal()
  }

  /// Waits for the end of the thread, but not for long.
  func wait(_ patience: Duration) { _ = hasEnded.wait(timeout: .now() + patience.timeInterval) }

  private func run(_ step: Step) {
    defer { hasEnded.signal() }
    var rest = Duration.seconds(1)
    while !isStopped {
      do throws(PostgresError) {
        if session?.isOutdated == true { session = nil }
        let isFresh = session == nil
        let session: PostgresSession
        if let known = self.session {
          session = known
        } else {
          session = try PostgresSession(configuration)
          self.session = session
        }
        let next = try step(Work(session: session, isFresh: isFresh, thread: self))
        rest = .seconds(1)
        sleep(until: next)
      } catch {
        // The pools report that the database cannot be reached.
        session = nil
        sleep(until: .now + rest)
        rest = min(rest * 2, .seconds(30))
      }
    }
    session = nil
  }

  private func sleep(until instant: ContinuousClock.Instant) {
    let pause = ContinuousClock.now.duration(to: instant)
    if pause > .zero { _ = isWoken.wait(timeout: .now() + pause.timeInterval) }
  }
}
