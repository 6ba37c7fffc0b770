import DatabaseSetup
import Postgres

/// `sociograph maintain`: runs the background tasks of `serve` once, now.
enum MaintainCommand {
  static let specification = CommandSpecification(
    "maintain", "Runs the background tasks of a database once, each in its own transaction.",
    options: SettingOptions.databases,
    notes: """
      Servers run them periodically unless started with --tasks off.
      Exit status: 0 each was run or is being run, 1 one of them failed.
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    let database = try Database.open(options)
    defer { database.close() }
    let session = try PostgresSession(BackgroundTask.configuration(like: database.configuration()))
    var status: Int32 = 0
    for task in try database.withGraph({ try BackgroundTask.required(in: session) }) {
      do {
        let clock = ContinuousClock()
        var wasRun = false
        let took = try clock.measure { wasRun = try task.run(whenDue: false, in: session) }
        let (seconds, attoseconds) = took.components
        Console.print(
          wasRun
            ? "\(task.name): done in \(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
            : "\(task.name): skipped; another server is running it")
      } catch let error as PostgresError where error.kind != .unavailable {
        Console.say("\(task.name) failed: \(error)", .error)
        status = 1
      }
    }
    return status
  }
}
