import Foundation

/// Options that several commands share.
enum SettingOptions {
  static let database = CommandSpecification.Option(
    "database", "URL", environment: "DATABASE_URL",
    "PostgreSQL to use, as postgresql://user@host/name; without it an embedded one is run")
  static let data = CommandSpecification.Option(
    "data", "DIR", default: ".sociograph", "where the embedded PostgreSQL keeps its data")
  static let schema = CommandSpecification.Option(
    "schema", "DIR", "folder of the schema's .graphql files (found beside the program or here)")
  static let sql = CommandSpecification.Option(
    "sql", "DIR", "folder of the migrations and demo data (found beside the program or here)")

  /// A folder that ships with the program: as told, or `./name`, or beside the executable.
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

  static func shippedPlaces(_ name: String) -> [String] {
    let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
    let folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    return [
      name,
      folder.appendingPathComponent("../share/sociograph/\(name)").standardizedFileURL.path,
      // From SwiftPM's .build/<triple>/<configuration>/.
      folder.appendingPathComponent("../../../\(name)").standardizedFileURL.path,
    ]
  }
}
