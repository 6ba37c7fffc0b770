import Dispatch
import GraphQLExecution
import GraphQLPlanning
import GraphQLTransport
import HTTP
import Postgres

/// A server on its loops, from the moment it answers until it has stopped.
package final class RunningServer: Sendable {
  package struct Settings: Sendable {
    /// Port 0 takes a free one.
    package var address = HTTPAddress.tcp(host: "127.0.0.1", port: 0)
    package var loopCount = 1
    /// Database connections of each loop.
    package var poolSize = 2
    package var logFormat = ServiceLog.Format.text

    package init() {}
  }

  /// Where it listens, with the port it took.
  package let address: HTTPAddress
  private let services: [LoopService]

  /// Serves the graph a mapping describes from a database that has its tables.
  package init(
    _ mapping: StorageMapping, database: PostgresConfiguration, settings: Settings
  ) throws {
    var database = database
    database.isReadOnly = true
    let shared = SharedService(
      mapping: mapping, database: database, pool: PoolSettings(size: settings.poolSize),
      executor: OperationExecutor.Settings(), endpoint: GraphQLEndpoint(),
      pages: StaticPages(mapping: mapping, graphiQL: nil),
      log: ServiceLog(format: settings.logFormat))
    var http = HTTPServer.Configuration()
    http.refusalBody = ErrorBody.refusal
    http.quota = HTTPSocketQuota(limits: http.limits)
    var services: [LoopService] = []
    let listeners = try HTTPListener.open(settings.address, count: settings.loopCount)
    address = listeners.first?.address ?? settings.address
    for (index, listener) in listeners.enumerated() {
      services.append(
        try LoopService(index: index, shared: shared, listener: listener, http: http))
    }
    self.services = services
    for service in services { service.start() }
  }

  /// Lets requests finish and ends the loops; waits for that, but not forever.
  package func stop() {
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.drain { group.leave() }
    }
    _ = group.wait(timeout: .now() + .seconds(20))
  }
}
