import Accounts
import Foundation
import Server

/// `sociograph session create`: creates a token to try the server as a user; `session
/// identity-token`: creates one to sign in with through an identity provider; `session sign`: one
/// with claims, as an issuer of `--jwt-keys` signs it.
enum SessionCommand {
  static let specification = CommandSpecification(
    "session",
    "Creates a session for a user and prints its token, for a database's owner; or signs a token.",
    operands: "create USER | identity-token PROVIDER NAME | sign [ISSUER]",
    options: [
      CommandSpecification.Option(
        "name", "NAME", environment: "SOCIOGRAPH_SESSION_NAME", default: "sociograph session",
        "the name that USER sees the session under"),
      CommandSpecification.Option(
        "jwt-keys", "FILE",
        "with sign: the file of serve's --jwt-keys, with a secret or a private key of the issuer"),
      TokenClaims.option(
        "with sign: a claim of the token; a value that is JSON is taken as JSON"),
      CommandSpecification.Option(
        "lasting", "TIME", default: "60min", "with sign: the time until the token ends"),
    ] + SettingOptions.databases,
    notes: """
      The token is shown once: the database stores its hash. Send it as "Authorization: Bearer TOKEN".
      identity-token prints an identity token of NAME at PROVIDER, such as GOOGLE, valid for an hour.
      The server of an embedded database with demo data accepts it, unless it is started with
      --identity-providers.
      sign prints a token of the claims, for tests of a server with the same --jwt-keys. ISSUER may be
      left out if the file has one that can sign.
      """)

  static func run(_ options: CommandOptions) throws {
    let words = options.operands
    if words.first == "identity-token", words.count == 3 {
      return try printIdentityToken(of: words[2], at: words[1], options)
    }
    if words.first == "sign", words.count <= 2 {
      return try sign(words.dropFirst().first, options)
    }
    guard words.first == "create", words.count == 2, let user = words.last else {
      throw UsageError(
        "session needs \"create\" and the name of one USER, \"identity-token\", a PROVIDER and a NAME, or "
          + "\"sign\"."
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

  private static func sign(_ name: String?, _ options: CommandOptions) throws {
    guard let file = options.text("jwt-keys") else {
      throw UsageError("sign needs --jwt-keys FILE, whose issuer has a secret or a private key.")
    }
    guard let claims = try TokenClaims.read(options), claims["sub"] != nil else {
      throw UsageError("sign needs --claim sub=NAME, and may have others.")
    }
    let life =
      try options.duration("lasting", in: .seconds(1)...(.seconds(86_400))) ?? .seconds(3600)
    let signers = try TokenSigner.read(file)
    let chosen = signers.filter { name == nil || $0.name == name }
    guard let signer = chosen.first, chosen.count == 1 else {
      let known = signers.map(\.name).joined(separator: ", ")
      throw UsageError(
        signers.isEmpty
          ? "\(file): no issuer has a secret, or a private key of P-256 in its keys; who only verifies "
            + "tokens cannot sign them."
          : "name the issuer to sign as: \(known).")
    }
    Console.print(try signer.token(claims, lasting: life))
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
