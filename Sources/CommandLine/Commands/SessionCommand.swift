import Accounts
import Server

/// `sociograph session create`: a token to try the server with, as somebody.
enum SessionCommand {
  static let specification = CommandSpecification(
    "session", "Makes a session for a user and prints its token, for a database's owner.",
    operands: "create USER",
    options: [
      CommandSpecification.Option(
        "name", "NAME", environment: "SOCIOGRAPH_SESSION_NAME", default: "sociograph session",
        "what USER sees the session under")
    ] + SettingOptions.databases,
    notes: """
      The token is shown once: the database keeps its hash. It goes behind "Authorization: Bearer".
      """)

  static func run(_ options: CommandOptions) throws {
    guard options.operands.first == "create", options.operands.count == 2,
      let user = options.operands.last
    else { throw UsageError("session needs \"create\" and the name of one USER.") }
    let database = try Database.open(options)
    defer { database.close() }
    var configuration = try database.configuration()
    configuration.isReadOnly = false
    guard
      let token = try SessionIssue.token(
        forUserNamed: user, device: options.text("name") ?? "", in: configuration)
    else { throw CommandFailure("there is no user \"\(user)\".") }
    Console.print(token.text)
  }
}
