import Dispatch
import Glibc
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
    /// The database connections of each loop.
    package var pool = PoolSettings(size: 2)
    package var logFormat = ServiceLog.Format.text
    package var http = HTTPLimits()
    package var tls: TLSContext?
    package var endpoint = GraphQLEndpoint.Configuration()
    package var executor = OperationExecutor.Settings()
    package var trustedProxies = TrustedProxies()
    package var introspection = IntrospectionAccess.all
    /// What runs the operations' statements on each loop's pool.
    package var statementRunner: @Sendable (PostgresPool) -> any StatementRunner = {
      StatementCombiner($0)
    }
    var graphiQL = GraphiQLPage.Setting.installed

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
    let log = ServiceLog(format: settings.logFormat)
    let shared = SharedService(
      mapping: mapping, database: database, pool: settings.pool,
      runner: settings.statementRunner, executor: settings.executor,
      endpoint: GraphQLEndpoint(settings.endpoint) { log.report($0) },
      introspection: settings.introspection,
      pages: StaticPages(mapping: mapping, graphiQL: settings.graphiQL), log: log)
    var http = HTTPServer.Configuration()
    http.limits = settings.http
    http.tls = settings.tls
    http.refusalBody = ErrorBody.refusal
    http.quota = HTTPSocketQuota(limits: http.limits, proxies: settings.trustedProxies)
    http.commonHeaders = [HTTPField("X-Content-Type-Options", "nosniff")]
    if settings.tls != nil {
      http.commonHeaders.append(HTTPField("Strict-Transport-Security", "max-age=31536000"))
    }
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

  /// Waits until every loop has a connection to the database; false when that takes too long.
  package func waitUntilReady(_ patience: Duration = .seconds(5)) -> Bool {
    let deadline = ContinuousClock.now + patience
    while !services.allSatisfy({ $0.isReady() }) {
      guard ContinuousClock.now < deadline else { return false }
      usleep(2_000)
    }
    return true
  }

  /// From now on `/ready` says no, and everything else is as before.
  package func announceEnd() {
    for service in services { service.announceEnd() }
  }

  /// Lets requests finish and ends the loops; what is not done after `patience` is cut off.
  package func stop(patience: Duration = .seconds(15)) {
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.drain { group.leave() }
    }
    if group.wait(timeout: .now() + patience.timeInterval) == .success { return }
    cutOff()
    _ = group.wait(timeout: .now() + 3)
  }

  /// Closes every connection, answered or not; a `stop` under way then ends.
  package func cutOff() {
    for service in services { service.cutOff() }
  }
}

extension Duration {
  var timeInterval: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
