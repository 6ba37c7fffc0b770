import Dispatch
import Foundation
import Synchronization

/// Runs slow computations away from the loops, a few at a time, the rest waiting in a bounded queue
/// (R19): passwords are hashed here, so that no number of sign-ins holds up anybody else.
///
/// Work of different shares takes turns, and a full queue takes work of a share that has less in place
/// of one that has more (`ShareQueue`). What finds no place, or has waited too long when its turn comes,
/// is not done at all.
package final class WorkQueue: Sendable {
  package struct Limits: Sendable {
    package var concurrency = 1
    package var maximumWaiting = 14
    package var maximumWait = Duration.seconds(2)
    /// How long a refusal is kept back, so that clients that try again at once do not take the time of
    /// those who ask for other things.
    package var refusalDelay = Duration.zero
    /// How far the threads, and the processes they start, stand behind the loops, as of `nice`.
    package var niceness: Int32 = 0

    package init() {}
  }

  private struct Job: Sendable {
    let submittedAt: ContinuousClock.Instant
    /// False: not to be done.
    let run: @Sendable (Bool) -> Void
  }

  private struct State {
    var running = 0
    var waiting: ShareQueue<Job>
  }

  private let label: String
  private let limits: Limits
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state: Mutex<State>

  package init(
    label: String, limits: Limits = Limits(),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.label = label
    self.limits = limits
    self.now = now
    state = Mutex(State(waiting: ShareQueue(room: limits.maximumWaiting)))
  }

  /// Does the work on a thread of its own and hands its result to `completion` there; nil, on any thread,
  /// when it was not done because too much else is.
  package func run<Value: Sendable>(
    for share: WorkShare = .common, _ work: @escaping @Sendable () -> Value,
    completion: @escaping @Sendable (Value?) -> Void
  ) {
    let job = Job(submittedAt: now()) { isToBeDone in
      completion(isToBeDone ? work() : nil)
    }
    let (isStarted, refused): (Bool, Job?) = state.withLock { state in
      if state.running < limits.concurrency {
        state.running += 1
        return (true, nil)
      }
      switch state.waiting.add(job, for: share) {
      case .added: return (false, nil)
      case .replaced(let other): return (false, other)
      case .refused: return (false, job)
      }
    }
    if isStarted { start(job) }
    if let refused { refuse(refused) }
  }

  private func refuse(_ job: Job) {
    guard limits.refusalDelay > .zero else { return job.run(false) }
    let seconds = limits.refusalDelay / .seconds(1)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { job.run(false) }
  }

  /// A thread that ends with the work, as priorities of Dispatch's own cannot be told apart on Linux.
  private func start(_ job: Job) {
    let thread = Thread { [self] in
      // This thread alone: on Linux each has a niceness of its own.
      if limits.niceness > 0 { _ = nice(limits.niceness) }
      job.run(true)
      while let next = nextJob() { next.run(true) }
    }
    thread.name = label
    thread.start()
  }

  /// The next one to be done; the thread is given back when there is none.
  private func nextJob() -> Job? {
    while true {
      let job: Job? = state.withLock { state in
        guard let next = state.waiting.next() else {
          state.running -= 1
          return nil
        }
        return next
      }
      guard let job else { return nil }
      if job.submittedAt.duration(to: now()) <= limits.maximumWait { return job }
      job.run(false)
    }
  }
}
