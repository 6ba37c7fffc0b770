import DatabaseSetup
import Dispatch
import Foundation
import Postgres
import Synchronization

/// Runs the database's background tasks while the server serves, on a thread and a connection of its
/// own. Several servers of one database share the work: whoever comes when a task is due runs it.
final class TaskRunner: @unchecked Sendable {
  // @unchecked: `session` and `schedule` are touched on its thread only; `cancellable` is behind its lock.

  /// Of one task since the start.
  struct Counts: Sendable {
    var ran = 0
    var failed = 0
    var nanoseconds: UInt64 = 0
  }

  private struct State {
    var isStopped = false
    /// What a stop has to cancel.
    var running: PostgresSession?
    var counts: [String: Counts] = [:]
  }

  /// How often the list of tasks is read.
  private static let reading = Duration.seconds(60)

  private let configuration: PostgresConfiguration
  private let report: @Sendable (TaskEvent) -> Void
  private let state = Guarded(State())
  private let isWoken = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private var session: PostgresSession?
  private var schedule = TaskSchedule()
  private var readAgainAt = ContinuousClock.now

  /// A lock around what is not `Sendable` by itself.
  private final class Guarded: @unchecked Sendable {
    // @unchecked: `value` is only touched within the lock.
    private let lock = NSLock()
    private var value: State
    init(_ value: State) { self.value = value }
    func with<Result>(_ body: (inout State) -> Result) -> Result {
      lock.withLock { body(&value) }
    }
  }

  /// - Parameter configuration: of a role that may call the graph's functions.
  init(_ configuration: PostgresConfiguration, report: @escaping @Sendable (TaskEvent) -> Void) {
    self.configuration = BackgroundTask.configuration(like: configuration)
    self.report = report
  }

  func start() {
    let thread = Thread { [self] in run() }
    thread.name = "tasks"
    thread.start()
  }

  var counts: [String: Counts] { state.with { $0.counts } }

  /// Cancels what is running and waits for the end of the thread, but not for long.
  func stop() {
    state.with { state in
      state.isStopped = true
      // Not beyond the lock, so that it is not closed meanwhile.
      state.running?.cancel()
    }
    isWoken.signal()
    _ = hasEnded.wait(timeout: .now() + 5)
  }

  private var isStopped: Bool { state.with { $0.isStopped } }

  private func run() {
    defer { hasEnded.signal() }
    var rest = Duration.seconds(1)
    while !isStopped {
      do throws(PostgresError) {
        try connect()
        rest = .seconds(1)
        try readTasks()
        if let task = schedule.due(now: .now) {
          try run(task)
        } else {
          wait(until: min(schedule.nextDue ?? readAgainAt, readAgainAt))
        }
      } catch {
        // The pools tell of a database that cannot be reached.
        session = nil
        wait(until: .now + rest)
        rest = min(rest * 2, .seconds(30))
      }
    }
    session = nil
  }

  private func connect() throws(PostgresError) {
    if session == nil {
      session = try PostgresSession(configuration)
      readAgainAt = .now
    }
  }

  private func readTasks() throws(PostgresError) {
    guard let session, readAgainAt <= .now else { return }
    schedule.set(try BackgroundTask.all(in: session), now: .now)
    readAgainAt = .now + Self.reading
  }

  private func wait(until instant: ContinuousClock.Instant) {
    let pause = ContinuousClock.now.duration(to: instant)
    if pause > .zero { _ = isWoken.wait(timeout: .now() + pause.timeInterval) }
  }

  /// - Throws: when the connection is not to be used again.
  private func run(_ task: BackgroundTask) throws(PostgresError) {
    guard let session else { return }
    let mayRun = state.with { state in
      state.running = session
      return !state.isStopped
    }
    defer { state.with { $0.running = nil } }
    guard mayRun else { return }
    let began = ContinuousClock.now
    do throws(PostgresError) {
      let wasRun = try task.run(whenDue: true, in: session)
      schedule.ran(task, now: .now)
      guard wasRun else { return }
      let took = began.duration(to: .now)
      count(task) {
        $0.ran += 1
        $0.nanoseconds &+= took.wholeNanoseconds
      }
      report(.ran(task.name, took: took))
    } catch {
      if isStopped { return }
      if error.kind == .unavailable || error.kind == .lost { throw error }
      let isNew = schedule.failed(task, isRefused: error.kind == .forbidden, now: .now)
      count(task) { $0.failed += 1 }
      if isNew { report(.failed(task.name, error)) }
    }
  }

  private func count(_ task: BackgroundTask, _ change: (inout Counts) -> Void) {
    state.with { change(&$0.counts[task.name, default: Counts()]) }
  }
}

/// Of the database's background tasks.
package enum TaskEvent: Sendable {
  case ran(String, took: Duration)
  /// For the first time since it last worked.
  case failed(String, PostgresError)
}
