import DatabaseSetup
import Postgres
import Synchronization

/// Runs the database's background tasks while the server serves, on a dedicated thread and
/// connection. Several servers of one database share the work: the first one that finds a task due
/// runs it.
final class TaskRunner: Sendable {
  /// The counters of one task since the start.
  struct Counts: Sendable {
    var ran = 0
    var failed = 0
    var nanoseconds: UInt64 = 0
  }

  /// The interval at which the list of tasks is read.
  private static let reading = Duration.seconds(60)

  private let thread: DatabaseThread
  private let report: @Sendable (TaskEvent) -> Void
  private let counted = Mutex([String: Counts]())

  /// - Parameter configuration: of a role that may call the graph's functions.
  init(_ configuration: PostgresConfiguration, report: @escaping @Sendable (TaskEvent) -> Void) {
    thread = DatabaseThread(name: "tasks", BackgroundTask.configuration(like: configuration))
    self.report = report
  }

  var counts: [String: Counts] { counted.withLock { $0 } }

  func start() {
    var schedule = TaskSchedule()
    var readAgainAt = ContinuousClock.now
    thread.start { [self] (work) throws(PostgresError) in
      if work.isFresh || readAgainAt <= .now {
        schedule.set(try BackgroundTask.all(in: work.session), now: .now)
        readAgainAt = .now + Self.reading
      }
      if let task = schedule.due(now: .now) {
        try run(task, work, &schedule)
        return .now
      }
      return min(schedule.nextDue ?? readAgainAt, readAgainAt)
    }
  }

  /// Cancels what is running and waits for the end of the thread, but not for long.
  func stop() {
    thread.end()
    thread.wait(.seconds(5))
  }

  /// - Throws: when the connection is not to be used again.
  private func run(
    _ task: BackgroundTask, _ work: DatabaseThread.Work, _ schedule: inout TaskSchedule
  ) throws(PostgresError) {
    let began = ContinuousClock.now
    do throws(PostgresError) {
      let wasRun = try work.cancellable { () throws(PostgresError) in
        try task.run(whenDue: true, in: work.session)
      }
      schedule.ran(task, now: .now)
      guard wasRun == true else { return }
      let took = began.duration(to: .now)
      count(task) {
        $0.ran += 1
        $0.nanoseconds &+= took.wholeNanoseconds
      }
      report(.ran(task.name, took: took))
    } catch {
      if thread.isStopped { return }
      if error.kind == .unavailable || error.kind == .lost { throw error }
      let isNew = schedule.failed(task, isRefused: error.kind == .forbidden, now: .now)
      count(task) { $0.failed += 1 }
      if isNew { report(.failed(task.name, error)) }
    }
  }

  private func count(_ task: BackgroundTask, _ change: (inout Counts) -> Void) {
    counted.withLock { change(&$0[task.name, default: Counts()]) }
  }
}

/// An event of the database's background tasks.
package enum TaskEvent: Sendable {
  case ran(String, took: Duration)
  /// A task failed, for the first time since it last succeeded.
  case failed(String, PostgresError)
}
