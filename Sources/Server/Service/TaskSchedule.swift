import DatabaseSetup

/// When which background task is to be run: plain data, without a clock of its own.
///
/// A task is due when it becomes known, and again a period after it was run. One that failed waits
/// longer, so that neither database nor log is filled with what does not work.
struct TaskSchedule {
  typealias Instant = ContinuousClock.Instant

  private struct Entry {
    let task: BackgroundTask
    var dueAt: Instant
    var hasFailed = false
  }

  static let restAfterFailure = Duration.seconds(10)
  /// The time until the next attempt after the role lacked a privilege, which an operator has to
  /// grant.
  static let restAfterRefusal = Duration.seconds(3600)

  private var entries: [String: Entry] = [:]

  /// The tasks that there are now; those that are known stay due when they were.
  mutating func set(_ tasks: [BackgroundTask], now: Instant) {
    var next: [String: Entry] = [:]
    for task in tasks {
      if let known = entries[task.name] {
        // With a shorter period it is due earlier.
        next[task.name] = Entry(
          task: task, dueAt: known.hasFailed ? known.dueAt : min(known.dueAt, now + task.period),
          hasFailed: known.hasFailed)
      } else {
        next[task.name] = Entry(task: task, dueAt: now)
      }
    }
    entries = next
  }

  /// The task that has been due the longest; nil when none is.
  func due(now: Instant) -> BackgroundTask? {
    guard let first = first, first.dueAt <= now else { return nil }
    return first.task
  }

  var nextDue: Instant? { first?.dueAt }

  private var first: Entry? {
    entries.values.min { ($0.dueAt, $0.task.name) < ($1.dueAt, $1.task.name) }
  }

  mutating func ran(_ task: BackgroundTask, now: Instant) {
    entries[task.name]?.dueAt = now + task.period
    entries[task.name]?.hasFailed = false
  }

  /// - Returns: whether it had not failed the time before.
  mutating func failed(_ task: BackgroundTask, isRefused: Bool, now: Instant) -> Bool {
    let rest = isRefused ? Self.restAfterRefusal : Self.restAfterFailure
    let isNew = entries[task.name]?.hasFailed == false
    entries[task.name]?.dueAt = now + max(task.period, rest)
    entries[task.name]?.hasFailed = true
    return isNew
  }
}
