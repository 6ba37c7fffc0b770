import Dispatch
import Foundation
import Synchronization

/// A queue that runs slow computations off the event loops, a few at a time. Passwords are hashed
/// here, so that sign-ins do not delay other requests.
///
/// Shares take turns, and a full queue evicts work of a share that has more in favor of one that
/// has less (`ShareQueue`). Work that is evicted, refused, or has waited too long does not run at
/// all.
package final class WorkQueue: Sendable {
  package struct Limits: Sendable {
    package var concurrency = 1
    /// The maximum concurrency of one client's work.
    package var maximumRunningOfClient = Int.max
    package var maximumWaiting = 14
    package var maximumWait = Duration.seconds(2)
    /// The time by which a refusal is delayed, so that clients that retry at once do not take the
    /// time of other requests.
    package var refusalDelay = Duration.zero
    /// The priority of the threads and the processes that they start, below the event loops', as in
    /// `nice`.
    package var niceness: Int32 = 0

    package init() {}
  }

  private struct Job: Sendable {
    let submittedAt: ContinuousClock.Instant
    /// Runs the work, or reports the refusal if the argument is false.
    let run: @Sendable (Bool) -> Void
  }

  private struct State {
    var running = 0
    /// The running jobs of each client that has any.
    var runningOfClients: [String: Int] = [:]
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

  /// Runs the work on a dedicated thread, and passes its result to `completion` there. If the work
  /// was refused, it calls `completion` with nil, on any thread.
  package func run<Value: Sendable>(
    for share: WorkShare = .common, _ work: @escaping @Sendable () -> Value,
    completion: @escaping @Sendable (Value?) -> Void
  ) {
    let job = Job(submittedAt: now()) { isToBeDone in
      completion(isToBeDone ? work() : nil)
    }
    let (isStarted, refused): (Bool, Job?) = state.withLock { state in
      if state.running < limits.concurrency, hasShare(share.client, in: state) {
        state.running += 1
        state.runningOfClients[share.client, default: 0] += 1
        return (true, nil)
      }
      switch state.waiting.add(job, for: share) {
      case .added: return (false, nil)
      case .replaced(let other): return (false, other)
      case .refused: return (false, job)
      }
    }
    if isStarted { start(job, of: share.client) }
    if let refused { refuse(refused) }
  }

  private func hasShare(_ client: String, in state: State) -> Bool {
    state.runningOfClients[client, default: 0] < limits.maximumRunningOfClient
  }

  private func refuse(_ job: Job) {
    guard limits.refusalDelay > .zero else { return job.run(false) }
    let seconds = limits.refusalDelay / .seconds(1)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { job.run(false) }
  }

  /// Starts a thread that ends when no work is left. Priorities of Dispatch's own threads cannot be
  /// distinguished on Linux.
  private func start(_ job: Job, of client: String) {
    let thread = Thread { [self] in
      // Affects this thread only: on Linux, each thread has its own niceness.
      if limits.niceness > 0 { _ = nice(limits.niceness) }
      var (job, client) = (job, client)
      job.run(true)
      while let next = nextJob(after: client) {
        (job, client) = next
        job.run(true)
      }
    }
    thread.name = label
    thread.start()
  }

  /// Returns the next job to run and its client, or nil if none is left that may run, and the thread
  /// has to end. A job that may not run yet is taken when one of its client ends.
  ///
  /// - Parameter ended: the client of the job that ended.
  private func nextJob(after ended: String) -> (Job, client: String)? {
    var ended = ended
    while true {
      let next = state.withLock { state -> (Job, client: String)? in
        let left = state.runningOfClients[ended, default: 1] - 1
        state.runningOfClients[ended] = left > 0 ? left : nil
        let running = state.runningOfClients
        let next = state.waiting.next {
          running[$0, default: 0] < limits.maximumRunningOfClient
        }
        guard let next else {
          state.running -= 1
          return nil
        }
        state.runningOfClients[next.client, default: 0] += 1
        return next
      }
      guard let next else { return nil }
      if next.0.submittedAt.duration(to: now()) <= limits.maximumWait { return next }
      next.0.run(false)
      ended = next.client
    }
  }
}
