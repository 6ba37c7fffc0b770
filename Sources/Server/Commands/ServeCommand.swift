import DatabaseSetup
import Foundation
import GraphQLPlanning
import HTTP
import Postgres

/// `sociograph serve`: the server, with a PostgreSQL of its own unless it is given one.
package enum ServeCommand {
  static let specification = CommandSpecification(
    "serve", "Serves the graph over HTTP.", sections: ServeSettings.sections)

  static func run(_ options: CommandOptions) throws {
    let settings = try ServeSettings(options)
    Database.logFormat = settings.server.logFormat
    // Tried before anything is started, so that a taken port costs nobody a wait.
    _ = try HTTPListener.open(settings.server.address, count: 1)
    let signals = StopSignals()
    let mapping = try SchemaFiles.load(settings.schema)
    let database = try Database.open(options)
    signals.started { database.close() }
    defer { database.close() }
    do {
      try serve(settings, mapping, database, signals)
    } catch {
      if signals.hasArrived { signals.waitForExit() }
      throw error
    }
  }

  private static func serve(
    _ settings: ServeSettings, _ mapping: StorageMapping, _ database: Database,
    _ signals: StopSignals
  ) throws {
    let migrations = try database.migrate(settings.sql)
    let hints = try seedIfEmpty(database, settings.sql)
    Database.say("checking the schema's storage directives")
    var configuration = try database.servingConfiguration(after: migrations)
    let problems = try StorageCheck(mapping: mapping).run(configuration)
    guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n")) }
    if let warning = try settings.connectionWarning(database.configuration()) {
      Database.say("warning: \(warning)")
    }
    configuration.statementTimeout = settings.statementTimeout
    var running = settings.server
    if let key = try? database.cursorKey() {
      running.executor.cursorKey = key
    } else {
      Database.say("warning: the database keeps no secret; cursors end with this process")
    }
    let server = try RunningServer(mapping, database: configuration, settings: running)
    signals.serve { server.cutOff() }
    if !server.waitUntilReady() { Database.say("warning: the database does not answer yet") }
    for hint in hints { print(hint) }
    announce(server.address, isSecure: settings.server.tls != nil)
    let signal = signals.wait()
    // Whoever balances load asks /ready and sends no more; until then everybody is served. Nobody
    // does that for a server in a terminal.
    server.announceEnd()
    if signal == SIGTERM, settings.shutdownDelay > .zero {
      Database.say("stopping: not ready any more, serving for another \(settings.shutdownDelay)")
      if signals.wait(settings.shutdownDelay) != nil {
        Database.say("stopping: told so twice, no longer waiting")
      }
    }
    Database.say("stopping: finishing what is being worked on")
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

  private static func announce(_ address: HTTPAddress, isSecure: Bool) {
    let scheme = isSecure ? "https" : "http"
    // Who reads JSON is no newcomer.
    guard Database.logFormat == .text else {
      let shown = if case .tcp = address { "\(scheme)://\(address)" } else { "\(address)" }
      return Database.say("serving \(shown)")
    }
    let example =
      "/graphql -H 'Content-Type: application/json' "
      + #"-d '{"query":"{ users(first: 3) { nodes { id username } } }"}'"#
    let insecure = isSecure ? " --insecure" : ""
    switch address {
    case .tcp(let host, let port):
      let shown = HTTPAddress.tcp(host: host.isEmpty ? "127.0.0.1" : host, port: port)
      print("Serving \(scheme)://\(shown)")
      print("Try: curl -s\(insecure) \(scheme)://\(shown)\(example)")
    case .unix(let path):
      print("Serving unix:\(path)")
      print("Try: curl -s\(insecure) --unix-socket \(path) \(scheme)://localhost\(example)")
    }
    fflush(nil)
  }
}
