import DatabaseSetup
import Foundation
import Server

/// Options that several commands share.
enum SettingOptions {
  static let database = CommandSpecification.Option(
    "database", "URL", environment: "DATABASE_URL",
    shown: "an embedded PostgreSQL", "the PostgreSQL to use, such as postgresql://user@host/name")
  static let data = CommandSpecification.Option(
    "data", "DIR", default: ".sociograph", "the data folder of the embedded PostgreSQL")
  static let programs = CommandSpecification.Option(
    "postgres-programs", "DIR", shown: "the newest version installed",
    "the folder of PostgreSQL's programs, for the embedded PostgreSQL")
  /// The options that select a command's database.
  static let databases = [database, data, programs, namespace]

  static let schema = CommandSpecification.Option(
    "schema", "DIR", shown: shipped, "the folder of the schema's .graphql files")
  static let sql = CommandSpecification.Option(
    "sql", "DIR", shown: shipped, "the folder of the migrations and the demo data")
  private static let shipped = "in this folder, or next to the program"

  /// Whether a command prints one JSON object in place of lines.
  static let json = CommandSpecification.Option(
    "json", nil, "print one JSON object instead of lines")

  /// The options of commands that act as clients, as `serve` has them.
  static let clientRoles = [
    CommandSpecification.Option(
      "roles", "WHOSE", default: "server", choices: ["server", "claims"],
      "the role of PostgreSQL that statements run under: that of the connection, or with claims the "
        + "one that the claim role names"),
    CommandSpecification.Option(
      "anonymous-role", "ROLE", "with --roles claims: the role without the claim"),
  ]

  private enum RoleSource: String, CaseIterable { case server, claims }

  /// Returns the role of clients without the claim; nil if the roles are not those of the claims.
  static func anonymousRole(_ options: CommandOptions) throws(UsageError) -> String? {
    let role = options.text("anonymous-role")
    guard try options.choice("roles", as: RoleSource.self) == .claims else {
      if role == nil { return nil }
      throw UsageError("\(options.origin("anonymous-role")) needs --roles claims as well.")
    }
    guard let role else {
      throw UsageError(
        "\(options.origin("roles")) claims needs --anonymous-role ROLE, the role without the claim."
      )
    }
    return role
  }

  static let photos = CommandSpecification.Option(
    "photos", "DIR", shown: "in --data; none with --database",
    "the folder for uploaded images")

  static let namespace = CommandSpecification.Option(
    "namespace", "LIST", shown: "as the folder of SQL says, else public",
    "the PostgreSQL schema of the tables, then others to search")

  /// Returns the namespaces: as given, otherwise those that the folder of SQL (if present) names,
  /// otherwise `public`, the usual namespace of a schema without SQL files.
  static func namespaces(_ options: CommandOptions) throws -> [String] {
    let told = options.list("namespace")
    if let text = options.text("namespace") {
      guard !told.isEmpty, told.allSatisfy({ !$0.isEmpty && $0.utf8.count < 64 }) else {
        throw UsageError(
          "\(options.origin("namespace")) must list PostgreSQL schemas such as graph or app,public, "
            + "not \"\(text)\".")
      }
      return told
    }
    guard options.text("schema") == nil || options.text("sql") != nil,
      let folder = try? shippedFolder("sql", "sql", options)
    else { return ["public"] }
    return [try Migrations.read(folder).namespace ?? "public"]
  }

  /// Returns a folder that ships with the program: as given, otherwise `./name`, otherwise the one
  /// next to the executable.
  static func shippedFolder(_ name: String, _ option: String, _ options: CommandOptions)
    throws(CommandFailure) -> String
  {
    if let told = options.text(option) { return told }
    for candidate in shippedPlaces(name) where FileManager.default.fileExists(atPath: candidate) {
      return candidate
    }
    throw CommandFailure(
      "no folder \"\(name)\" here or beside the program; name it with --\(option).")
  }

  /// Returns the folder of the migrations; nil for a custom schema without `--sql`: the folder that
  /// ships with the program does not fit its database.
  static func migrations(_ options: CommandOptions) throws(CommandFailure) -> String? {
    if options.text("sql") == nil, options.text("schema") != nil { return nil }
    return try shippedFolder("sql", "sql", options)
  }

  static func shippedPlaces(_ name: String) -> [String] {
    let program = Bundle.main.executablePath ?? ""
    let folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    return [
      name,
      folder.appendingPathComponent("../share/sociograph/\(name)").standardizedFileURL.path,
      // From SwiftPM's .build/<triple>/<configuration>/.
      folder.appendingPathComponent("../../../\(name)").standardizedFileURL.path,
    ]
  }
}
