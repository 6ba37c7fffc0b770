import DatabaseSetup
import Dispatch
import Foundation
import HTTP

/// `sociograph serve`: the server, with a PostgreSQL of its own unless it is given one.
package enum ServeCommand {
  static let specification = CommandSpecification(
    "serve", "Serves the graph over HTTP.",
    options: [
      CommandSpecification.Option(
        "listen", "ADDRESS", default: "127.0.0.1:8080", "HOST:PORT or unix:PATH"),
      SettingOptions.database, SettingOptions.data, SettingOptions.schema, SettingOptions.sql,
      CommandSpecification.Option(
        "loops", "N", "event loops (default: one for each core)"),
      CommandSpecification.Option(
        "pool-size", "N", default: "2", "database connections of each loop"),
      CommandSpecification.Option(
        "log-format", "FORMAT", default: "text", "text or json"),
      CommandSpecification.Option(
        "tls-certificate", "FILE", "certificate chain in PEM; serves HTTPS with --tls-key"),
      CommandSpecification.Option("tls-key", "FILE", "private key in PEM"),
    ])

  static func run(_ options: CommandOptions) throws {
    guard let address = HTTPAddress(options.text("listen") ?? "") else {
      throw UsageError(
        "\(options.origin("listen")) must be HOST:PORT or unix:PATH, not \"\(options.text("listen") ?? "")\"."
      )
    }
    let loopCount =
      try options.int("loops", in: 1...64)
      ?? min(ProcessInfo.processInfo.activeProcessorCount, 64)
    let poolSize = try options.int("pool-size", in: 1...64) ?? 2
    let logFormat = try options.choice("log-format", as: ServiceLog.Format.self) ?? .text
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let sql = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options)
    defer { database.close() }
    _ = try database.migrate(sql)
    let hints = try seedIfEmpty(database, sql)
    let problems = try StorageCheck(mapping: mapping).run(database.configuration())
    guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n")) }
    var settings = RunningServer.Settings()
    settings.address = address
    settings.loopCount = loopCount
    settings.poolSize = poolSize
    settings.logFormat = logFormat
    let server = try RunningServer(
      mapping, database: database.configuration(), settings: settings)
    for hint in hints { print(hint) }
    announce(server.address)
    waitForSignal()
    server.stop()
  }

  /// The embedded database is never empty: it starts with demo data of scale 1.
  private static func seedIfEmpty(_ database: Database, _ folder: String) throws -> [String] {
    guard database.isEmbedded,
      try Seeder.read(folder + "/demo", scale: 1, seed: 1).isEmpty(database.configuration())
    else { return [] }
    Database.say("loading demo data (scale 1)")
    return try database.seed(folder, scale: 1, seed: 1)
  }

  private static func announce(_ address: HTTPAddress) {
    switch address {
    case .tcp:
      let url = "http://\(address)"
      print(
        """
        Serving \(url)
        Try: curl -s \(url)/graphql -H 'Content-Type: application/json' -d '{"query":"{ users(first: 3) { nodes { id username } } }"}'
        """)
    case .unix(let path):
      print(
        """
        Serving unix:\(path)
        Try: curl -s --unix-socket \(path) http://localhost/graphql -H 'Content-Type: application/json' -d '{"query":"{ users(first: 3) { nodes { id username } } }"}'
        """)
    }
    fflush(nil)
  }

  /// Returns after SIGINT or SIGTERM.
  private static func waitForSignal() {
    let arrived = DispatchSemaphore(value: 0)
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(
        signal: number, queue: DispatchQueue.global(qos: .userInitiated))
      source.setEventHandler { arrived.signal() }
      source.resume()
      return source
    }
    withExtendedLifetime(sources) { arrived.wait() }
  }
}
