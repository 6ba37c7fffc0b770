import Dispatch
import Synchronization

/// Runs slow computations away from the loops, a few at a time, the rest waiting in a bounded queue
/// (R19): passwords are hashed here, so that no number of sign-ins holds up anybody else.
///
/// Work runs at low priority. What would have to wait behind too many, or has waited too long when its
/// turn comes, is not done at all.
package final class WorkQueue: Sendable {
  package struct Limits: Sendable {
    package var concurrency = 1
    package var maximumWaiting = 14
    package var maximumWait = Duration.seconds(2)

    package init() {}
  }

  private struct Job: Sendable {
    let submittedAt: ContinuousClock.Instant
    /// False: not to be done.
    let run: @Sendable (Bool) -> Void
  }

  private struct State {
    var running = 0
    var waiting: [Job] = []
  }

  private let limits: Limits
  private let queue: DispatchQueue
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  package init(
    label: String, limits: Limits = Limits(),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.limits = limits
    self.now = now
    queue = DispatchQueue(label: label, qos: .utility, attributes: .concurrent)
  }

  /// Does the work on a thread of its own and hands its result to `completion` there; nil, also on the
  /// caller's thread, when it was not done because too much else is.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value,
    completion: @escaping @Sendable (Value?) -> Void
  ) {
    let job = Job(submittedAt: now()) { isToBeDone in
      completion(isToBeDone ? work() : nil)
    }
    let (isStarted, isRefused) = state.withLock { state in
      if state.running < limits.concurrency {
        state.running += 1
        return (true, false)
      }
      guard state.waiting.count < limits.maximumWaiting else { return (false, true) }
      state.waiting.append(job)
      return (false, false)
    }
    if isStarted { start(job) }
    if isRefused { job.run(false) }
  }

  private func start(_ job: Job) {
    queue.async { [self] in
      job.run(true)
      while let next = nextJob() { next.run(true) }
    }
  }

  /// The next one to be done; the thread is given back when there is none.
  private func nextJob() -> Job? {
    while true {
      let job: Job? = state.withLock { state in
        guard !state.waiting.isEmpty else {
          state.running -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let job else { return nil }
      if job.submittedAt.duration(to: now()) <= limits.maximumWait { return job }
      job.run(false)
    }
  }
}
