import Accounts
import Dispatch
import Foundation
import Glibc
import GraphQLExecution
import GraphQLPlanning
import GraphQLTransport
import HTTP
import Pictures
import Postgres
import StorageChecking

/// A server on its loops, from the moment it answers until it has stopped.
package final class RunningServer: Sendable {
  package struct Settings: Sendable {
    /// The settings of passwords, identity providers and encrypted values.
    package var accounts = AccountInputs.Settings()
    /// The issuers whose signed tokens are accepted in addition to sessions, or nil for none.
    package var tokenIssuers: IdentityProviders?
    /// Port 0 takes a free one.
    package var address = HTTPAddress.tcp(host: "127.0.0.1", port: 0)
    package var loopCount = 1
    /// The database connections of each loop.
    package var pool = PoolSettings(size: 3)
    /// The connections of all loops that mutations run on: at least one for each loop.
    package var writers = 8
    /// The database configuration of mutations; by default that of queries.
    package var writerDatabase: PostgresConfiguration?
    /// The replicas that queries may run on, or nil for none.
    package var replicas: ReplicaSettings?
    /// How what needs a session of its own does: tasks, the outbox. As mutations unless given.
    package var sessionDatabase: PostgresConfiguration?
    /// The timeout of a mutation's field, including the wait for a connection.
    package var mutationTimeout = Duration.seconds(8)
    package var constraintErrors = ConstraintErrors()
    /// Runs the database's background tasks, as far as no other server does.
    package var runsTasks = false
    /// Hands over what waits in the outbox; nil leaves it there.
    package var outbox: Outbox.Settings?
    package var log = ServiceLog.Settings()
    package var logWriter = LogWriter.standardError
    /// Where operators ask for `/metrics`, `/live` and `/ready`; nil counts nothing.
    package var adminAddress: HTTPAddress?
    /// The settings of traces, or nil to send none.
    package var traces: TraceExporter.Settings?
    package var http = HTTPLimits()
    package var tls: TLSContext?
    /// Whether clients may speak HTTP/2.
    package var speaksHTTP2 = true
    package var endpoint = GraphQLEndpoint.Configuration()
    package var execution = ExecutionSettings()
    /// The additional readiness checks.
    package var readiness = Readiness()
    package var trustedProxies = TrustedProxies()
    package var introspection = IntrospectionAccess.all
    /// The rate limits; by default none.
    package var rateLimits: RateLimiter.Settings?
    /// Creates the runner of the operations' statements on an event loop's pool.
    package var statementRunner: @Sendable (PostgresPool) -> any StatementRunner = {
      StatementBatcher($0)
    }
    /// Takes pictures at `/photos`; nil takes none.
    package var pictures: PictureService?
    /// The settings of sockets and streams.
    package var live = LiveSettings()
    /// The connection that receives the changes of tables from PostgreSQL's log; nil if tables report
    /// their changes themselves, or not at all.
    package var changeLog: PostgresConfiguration?
    package var graphiQL = GraphiQLPage.Setting.installed
    /// Whether the published operations are tools at `/mcp`.
    package var servesTools = false
    /// The pages under `/docs`, or nil for none.
    package var site: SitePages?
    /// Clients are shown the plans of their queries at `/explain`, and the page has a pane for it.
    package var explains = false
    /// What GraphiQL's page says of the server.
    package var pageContent = GraphiQLPage.Content()
    /// Spans and metrics have the names of OpenTelemetry's conventions for HTTP and GraphQL as well.
    package var usesConventions = false
    package var serverTiming = ServerTimingAccess.off
    /// The size of the responses that are kept while they are current; 0 keeps none.
    package var answerCacheBytes = 0
    /// The roles that statements of clients run under; nil for that of the database's configuration.
    package var roles: ClientRoles?

    package init() {}
  }

  /// Where it listens, with the port it took.
  package let address: HTTPAddress
  package var adminAddress: HTTPAddress? { admin?.address }
  private let services: [LoopService]
  private let admin: AdminService?
  private let traces: TraceExporter?
  private let tasks: TaskRunner?
  private let outbox: Outbox?
  private let log: ServiceLog
  private let sweeper: PictureSweeper?
  private let commits: (any EventReader)?

  /// Serves the graph a mapping describes from a database that has its tables.
  ///
  /// - Parameter doors: sockets that listen already, for these settings; opened here unless given.
  package init(
    _ mapping: StorageMapping, database: PostgresConfiguration, settings: Settings,
    doors: ListeningSockets? = nil
  ) throws {
    let doors = try doors ?? ListeningSockets(settings)
    var database = database
    var writerDatabase = settings.writerDatabase ?? database
    writerDatabase.isReadOnly = false
    writerDatabase.writes = true
    // The server enforces the time of a mutation, because PostgreSQL starts a new timeout for each
    // statement.
    writerDatabase.statementTimeout = settings.mutationTimeout + .seconds(5)
    var sessionDatabase = settings.sessionDatabase ?? writerDatabase
    sessionDatabase.isReadOnly = false
    sessionDatabase.writes = true
    sessionDatabase.statementTimeout = writerDatabase.statementTimeout
    database.isReadOnly = true
    // One cluster, by whichever way it is reached.
    database.checksHistory = true
    (writerDatabase.history, writerDatabase.checksHistory) = (database.history, true)
    (sessionDatabase.history, sessionDatabase.checksHistory) = (database.history, true)
    var execution = settings.execution
    execution.suggestions = execution.suggestions && settings.introspection == .all
    let log = ServiceLog(settings.log, writer: settings.logWriter)
    var traceSettings = settings.traces
    traceSettings?.usesConventions = settings.usesConventions
    let traces = traceSettings.map { settings in
      TraceExporter(settings) { log.report(.life(.warning("traces: \($0)")), loop: nil) }
    }
    var commitDatabase = database
    if database.pooler != .none {
      // Through a pooler nothing is heard of what others notify.
      commitDatabase.connectionString = sessionDatabase.connectionString
      commitDatabase.pooler = .none
    }
    var replicas = settings.replicas
    for index in replicas?.databases.indices ?? 0..<0 {
      replicas?.databases[index].isReadOnly = true
      // Of one cluster, but each on a timeline of its own while it is behind.
      replicas?.databases[index].history = ServerHistory()
      replicas?.databases[index].checksHistory = true
    }
    try replicas?.readPrimaryFunctions(database)
    if let some = replicas {
      replicas?.states = SharedReplicaStates(
        replicas: some.databases.count, loops: doors.clients.count,
        maximumLag: some.router.maximumLag)
    }
    let writes = WritePositions()
    var commits: (any EventReader)?
    execution.liveCatalog = .silent
    if let changeLog = settings.changeLog {
      commits = try ChangeReader(log: changeLog, database: commitDatabase) {
        log.report(.life(.warning("live: \($0)")), loop: nil)
      }
      execution.liveCatalog = try LiveCatalog.readDecoded(from: commitDatabase)
    } else if !mapping.events.isEmpty {
      commits = try CommitReader(commitDatabase) { writes.count }
      // As the functions are now: what later programs do with them, they say to servers of their own.
      execution.liveCatalog = try? LiveCatalog.read(from: commitDatabase)
      execution.keepsAnswers = settings.answerCacheBytes > 0
    }
    self.commits = commits
    let tools =
      settings.servesTools
      ? PublishedTools(mapping: mapping, documents: settings.endpoint.trustedDocuments) : nil
    if let invalid = tools?.invalid, !invalid.isEmpty {
      log.report(
        .life(
          .warning(
            "\(invalid.count) published documents are not valid, and no tools: "
              + invalid.prefix(5).joined(separator: ", "))), loop: nil)
    }
    var endpoint = settings.endpoint
    endpoint.takesForms = settings.pictures != nil
    let shared = SharedService(
      mapping: mapping, database: database, pool: settings.pool,
      writerDatabase: writerDatabase, writerPool: Self.writerPool(settings, writerDatabase),
      constraintErrors: settings.constraintErrors,
      accounts: AccountInputs(settings.accounts),
      jwtAuthenticator: settings.tokenIssuers.map { JWTAuthenticator($0) },
      runner: settings.statementRunner, execution: execution,
      endpoint: endpoint,
      introspection: settings.introspection, explains: settings.explains,
      serverTiming: settings.serverTiming,
      pages: StaticPages(
        mapping: mapping, graphiQL: settings.graphiQL, content: settings.pageContent,
        explains: settings.explains,
        introspection: settings.introspection, site: settings.site),
      tools: tools,
      protectedResource: ProtectedResource(
        [settings.tokenIssuers, settings.accounts.providers].compactMap(\.self),
        proxies: settings.trustedProxies),
      trustedProxies: settings.trustedProxies,
      rateLimiter: settings.rateLimits.map { RateLimiter($0) }, readiness: settings.readiness,
      pictures: settings.pictures, live: settings.live, commits: commits,
      writes: writes, replicas: replicas,
      answerCacheBytes: settings.changeLog == nil
        ? settings.answerCacheBytes / max(doors.clients.count, 1) : 0,
      roles: settings.roles)
    var http = HTTPServer.Configuration()
    http.limits = settings.http
    if let pictures = settings.pictures {
      http.limits.uploads = HTTPUploadLimits(
        path: PictureEndpoint.path, maximumBodyBytes: pictures.settings.maker.maximumBytes)
      http.limits.uploads?.formPaths = ["/graphql", "/graphql/"]
      http.limits.answer = max(http.limits.answer, pictures.settings.patience + .seconds(15))
    }
    http.uploads = HTTPBufferBudget(maximumBytes: http.limits.maximumUploadedBytes)
    http.budget = HTTPBufferBudget(maximumBytes: http.limits.maximumHeldBytes)
    http.tls = settings.tls
    http.speaksHTTP2 = settings.speaksHTTP2
    http.refusalBody = HTTPRefusal.answer
    http.quota = HTTPSocketQuota(limits: http.limits, proxies: settings.trustedProxies)
    http.commonHeaders = [HTTPField("X-Content-Type-Options", "nosniff")]
    if settings.tls != nil {
      http.commonHeaders.append(HTTPField("Strict-Transport-Security", "max-age=31536000"))
    }
    var services: [LoopService] = []
    address = doors.clients.first?.address ?? settings.address
    for (index, listener) in doors.clients.enumerated() {
      let observer = LoopObserver(
        loop: index, log: log, traces: traces, countsMetrics: settings.adminAddress != nil,
        countsRequests: settings.usesConventions)
      services.append(
        try LoopService(
          index: index, shared: shared, listener: listener, http: http, observer: observer))
    }
    self.services = services
    self.traces = traces
    self.log = log
    let tasks =
      settings.runsTasks
      ? TaskRunner(sessionDatabase) { log.report(.task($0), loop: nil) } : nil
    self.tasks = tasks
    sweeper = settings.pictures.map { [sessionDatabase] pictures in
      PictureSweeper(pictures, database: sessionDatabase) {
        log.report(.picture($0), loop: nil)
      }
    }
    let outbox = settings.outbox.map { settings in
      Outbox(settings, sessionDatabase) { log.report(.outbox($0), loop: nil) }
    }
    self.outbox = outbox
    admin = try doors.operators.map {
      try AdminService(
        $0, services: services, schema: mapping.schema, log: log, traces: traces, tasks: tasks,
        outbox: outbox, budget: http.budget)
    }
    commits?.start()
    for service in services { service.start() }
    tasks?.start()
    outbox?.start()
    admin?.start()
    sweeper?.start()
  }

  /// Connections for one mutation at a time each: it may wait for a row, and nothing is put behind it.
  private static func writerPool(
    _ settings: Settings, _ database: PostgresConfiguration
  ) -> PoolSettings {
    let loops = max(settings.loopCount, 1)
    var pool = PoolSettings(size: max(1, (settings.writers + loops - 1) / loops))
    pool.pipelineDepth = 1
    pool.longPipelineDepth = 1
    if database.isOnThisMachine {
      pool.asynchronousAtOnce = max(1, ProcessInfo.processInfo.activeProcessorCount / loops)
    }
    pool.queueWait = settings.pool.queueWait
    pool.operationDeadline = settings.mutationTimeout
    pool.shortestRoundTrip = settings.pool.shortestRoundTrip
    return pool
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

  /// Calls `completion` once every loop has come to it: never, if one hangs.
  package func askForLife(_ completion: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.loop.execute { group.leave() }
    }
    group.notify(queue: .global(), execute: completion)
  }

  /// Begins draining: `/ready` fails, and sockets and streams are closed one after the other.
  /// Everything else stays as it is.
  ///
  /// - Parameter length: the time until the last one is closed; zero leaves them to `stop`.
  package func announceEnd(over length: Duration = .zero) {
    for service in services { service.announceEnd(over: length) }
  }

  /// Runs `body`, such as a restart of the database, while no statement runs: those that run finish
  /// first, and those that come wait, as long as their operation may take.
  ///
  /// - Parameter patience: how long to wait for those that run.
  package func betweenStatements(_ patience: Duration = .seconds(30), _ body: () -> Void) {
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.pause { group.leave() }
    }
    _ = group.wait(timeout: .now() + patience.timeInterval)
    body()
    for service in services { service.resume() }
  }

  /// Lets requests finish and ends the loops; what is not done after `patience` is cut off.
  ///
  /// - Parameter handsOver: leaves the listening sockets open, because another server has them, too.
  package func stop(patience: Duration = .seconds(15), handsOver: Bool = false) {
    tasks?.stop()
    outbox?.stop()
    let group = DispatchGroup()
    for service in services {
      group.enter()
      service.drain(handsOver: handsOver) { group.leave() }
    }
    if group.wait(timeout: .now() + patience.timeInterval) != .success {
      for service in services { service.cutOff(handsOver: handsOver) }
      _ = group.wait(timeout: .now() + 3)
    }
    sweeper?.stop()
    commits?.stop()
    // Last, so that traces and metrics show the shutdown too.
    traces?.stop()
    admin?.stop(handsOver: handsOver)
    log.flush()
  }

  /// Closes every connection, answered or not; a `stop` under way then ends.
  package func cutOff() {
    for service in services { service.cutOff() }
  }
}

extension Duration {
  package var timeInterval: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
