import DatabaseSetup
import Foundation

/// `sociograph psql`: PostgreSQL's own terminal on the database, as its owner.
enum PsqlCommand {
  static let specification = CommandSpecification(
    "psql", "Opens psql on the database, also while a server runs.",
    operands: "[-- ARGUMENT...]", options: SettingOptions.databases,
    notes: """
      Arguments after -- are passed to psql, as in: sociograph psql -- -c 'SELECT 1'.
      The exit status is that of psql.
      """)

  static func run(_ options: CommandOptions) throws -> Int32 {
    let database = try Database.open(options)
    defer { database.close() }
    let (environment, rest) = try database.configuration().inheritance()
    var program = "psql"
    if let own = database.programFolder.map({ $0 + "/psql" }),
      FileManager.default.isExecutableFile(atPath: own)
    {
      program = own
    }
    return try ChildProcess.runInForeground(
      [program] + (rest.isEmpty ? [] : ["--dbname=" + rest]) + options.operands,
      environment: environment)
  }
}
