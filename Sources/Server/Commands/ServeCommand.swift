import DatabaseSetup
import Dispatch
import EventLoops
import Foundation
import GraphQLExecution
import GraphQLTransport
import HTTP
import Postgres

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
    let log = ServiceLog(
      format: try options.choice("log-format", as: ServiceLog.Format.self) ?? .text)
    let mapping = try SchemaFiles.load(
      SettingOptions.shippedFolder("Schema", "schema", options))
    let sql = try SettingOptions.shippedFolder("sql", "sql", options)
    let database = try Database.open(options)
    defer { database.close() }
    _ = try database.migrate(sql)
    let hints = try seedIfEmpty(database, sql)
    let problems = try StorageCheck(mapping: mapping).run(database.configuration())
    guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n")) }
    var configuration = try database.configuration()
    configuration.isReadOnly = true
    let shared = SharedService(
      mapping: mapping, database: configuration, pool: PoolSettings(size: poolSize),
      executor: OperationExecutor.Settings(), endpoint: GraphQLEndpoint(),
      pages: StaticPages(mapping: mapping, graphiQL: nil), log: log)
    var http = HTTPServer.Configuration()
    http.refusalBody = ErrorBody.refusal
    http.quota = HTTPSocketQuota(limits: http.limits)
    let listeners = try HTTPListener.open(address, count: loopCount)
    var services: [LoopService] = []
    for (index, listener) in listeners.enumerated() {
      services.append(
        try LoopService(index: index, shared: shared, listener: listener, http: http))
    }
    for service in services { service.start() }
    for hint in hints { print(hint) }
    announce(services, address)
    waitForSignal()
    stop(services)
  }

  /// The embedded database is never empty: it starts with demo data of scale 1.
  private static func seedIfEmpty(_ database: Database, _ folder: String) throws -> [String] {
    guard database.isEmbedded,
      try Seeder.read(folder + "/demo", scale: 1, seed: 1).isEmpty(database.configuration())
    else { return [] }
    Database.say("loading demo data (scale 1)")
    return try database.seed(folder, scale: 1, seed: 1)
  }

  private static func announce(_ services: [LoopService], _ address: HTTPAddress) {
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

  private static func stop(_ services: [LoopService]) {
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.drain { group.leave() }
    }
    _ = group.wait(timeout: .now() + .seconds(20))
  }
}
