import Accounts
import Foundation
import Server

/// `sociograph session create`: creates a token to try the server as a user; `session
/// identity-token`: creates one to sign in with through an identity provider.
enum SessionCommand {
  static let specification = CommandSpecification(
    "session", "Creates a session for a user and prints its token, for a database's owner.",
    operands: "create USER | identity-token PROVIDER NAME",
    options: [
      CommandSpecification.Option(
        "name", "NAME", environment: "SOCIOGRAPH_SESSION_NAME", default: "sociograph session",
        "the name that USER sees the session under")
    ] + SettingOptions.databases,
    notes: """
      The token is shown once: the database stores its hash. Send it as "Authorization: Bearer TOKEN".
      identity-token prints an identity token of NAME at PROVIDER, such as GOOGLE, valid for an hour.
      The server of an embedded database with demo data accepts it, unless it is started with
      --identity-providers.
      """)

  static func run(_ options: CommandOptions) throws {
    let words = options.operands
    if words.first == "identity-token", words.count == 3 {
      return try printIdentityToken(of: words[2], at: words[1], options)
    }
    guard words.first == "create", words.count == 2, let user = words.last else {
      throw UsageError(
        "session needs \"create\" and the name of one USER, or \"identity-token\", a PROVIDER and a NAME."
      )
    }
    let database = try Database.open(options)
    defer { database.close() }
    var configuration = try database.configuration()
    configuration.isReadOnly = false
    let token = try database.withGraph {
      try SessionIssuer.token(
        forUserNamed: user, device: options.text("name") ?? "", in: configuration)
    }
    guard let token else { throw CommandFailure("there is no user \"\(user)\".") }
    Console.print(token.text)
  }

  private static func printIdentityToken(
    of name: String, at provider: String, _ options: CommandOptions
  ) throws {
    if options.isTold("database") {
      throw UsageError(
        "identity-token is for an embedded database; \(options.origin("database")) names another.")
    }
    let file = AccountInputs.Settings.demoKeyFile(options)
    guard let demo = try DemoIdentityProvider(file: file),
      let token = demo.token(
        for: name, at: provider, now: Int64(Date().timeIntervalSince1970))
    else {
      throw CommandFailure(
        "there is no demo identity provider: \"sociograph serve\" makes its key, \(file), with the demo "
          + "data.")
    }
    Console.print(token)
  }
}
