import Accounts
import Dispatch
import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLTransport
import HTTP
import Pictures
import Postgres
import Synchronization

/// Everything one loop owns: its clients, its database connections, its caches. Loops share only
/// what never changes.
final class LoopService: @unchecked Sendable {
  // @unchecked: touched on `loop` only, once started.
  let loop: EventLoop
  let pool: PostgresPool
  /// The pool for mutations.
  let writers: PostgresPool
  /// The pool for the commits that flush the log for others.
  let flushes: PostgresPool
  /// Runs queries on replicas; nil without any.
  let replicas: ReplicaRouter?
  let pipeline: RequestPipeline
  let observer: LoopObserver
  /// The register of what clients use, or nil without an address for operators.
  let usages: UsageRegister?
  private let preparer: OperationPreparer
  private var server: HTTPServer?

  init(
    index: Int, shared: SharedService, listener: HTTPListener, http: HTTPServer.Configuration,
    observer: LoopObserver
  ) throws {
    loop = try EventLoop(label: "sociograph.loop.\(index)")
    self.observer = observer
    pool = PostgresPool(
      loop: loop, configuration: shared.database, settings: shared.pool,
      onEvent: { observer.report(.pool($0)) })
    writers = PostgresPool(
      loop: loop, configuration: shared.writerDatabase, settings: shared.writerPool,
      onEvent: { observer.report(.pool($0)) })
    var single = shared.writerPool
    single.size = 1
    flushes = PostgresPool(
      loop: loop, configuration: shared.writerDatabase, settings: single,
      onEvent: { observer.report(.pool($0)) })
    let usages = observer.metrics == nil ? nil : UsageRegister(shared.mapping.schema)
    self.usages = usages
    preparer = OperationPreparer(
      mapping: shared.mapping, settings: shared.execution, usages: usages,
      report: { observer.report(.execution($0)) })
    let ownLoop = loop
    let sessions = SessionResolver(
      pool: pool, ended: shared.endedSessions,
      signed: shared.jwtAuthenticator.map { ($0, ownLoop) },
      report: { observer.report(.session($0)) })
    replicas = Self.router(shared, index, loop, pool, observer)
    var pictures: PictureEndpoint?
    if let service = shared.pictures {
      pictures = PictureEndpoint(
        service, loop: loop, crossOrigin: shared.endpoint.crossOrigin, sessions: sessions,
        readers: pool, writers: writers, report: { observer.report(.picture($0)) })
    }
    let pipeline = RequestPipeline(
      shared: shared, preparer: preparer, sessions: sessions, pool: pool, replicas: replicas,
      pictures: pictures, unsubscribing: UnsubscribeEndpoint(writers: writers),
      mutations: MutationRunner(
        writers: writers,
        groupCommit: GroupCommit(flushes) { [writers] in writers.unfinishedCount },
        mapping: shared.mapping, constraintErrors: shared.constraintErrors,
        settings: shared.execution,
        transformer: PictureInputs(
          LoopAccountInputs(
            shared.accounts, loop: loop, report: { observer.report(.session($0)) }), pictures),
        sessionsEnded: { [ended = shared.endedSessions] in ended.note() },
        makeSecret: { SessionToken().text }), number: index,
      usages: usages, observer: observer)
    self.pipeline = pipeline
    server = HTTPServer(
      loop: loop, listener: listener, configuration: http, report: { observer.report(.http($0)) },
      makeHandler: {
        let known = KnownHead()
        return { request, exchange in pipeline.handle(request, exchange, known) }
      })
  }

  func start() {
    loop.execute { [self] in
      pool.start()
      writers.start()
      flushes.start()
      replicas?.start()
      pipeline.answers?.start()
    }
    server?.start()
  }

  /// Asks the loop; not to be called on it.
  func isReady() -> Bool {
    let answer = Mutex(false)
    let asked = DispatchSemaphore(value: 0)
    loop.execute { [self] in
      answer.withLock { $0 = pool.isAvailable }
      asked.signal()
    }
    asked.wait()
    return answer.withLock { $0 }
  }

  /// Returns the current state of the event loop. Call on it.
  func snapshot() -> LoopSnapshot {
    loop.preconditionOnLoop()
    return LoopSnapshot(
      metrics: observer.metrics ?? LoopMetrics(), pool: pool.statistics,
      writers: writers.statistics, flushes: flushes.statistics, replicas: replicas?.statistics,
      deprecatedUses: usages?.deprecatedUses() ?? [:], documents: preparer.cachedDocuments,
      answers: pipeline.answers?.counts ?? AnswerKeeper.Counts(),
      streams: pipeline.subscriptions.counts,
      isReady: pipeline.isReady,
      isStopping: pipeline.isDraining)
  }

  func announceEnd(over length: Duration = .zero) {
    loop.execute { [self] in pipeline.isDraining = true }
    server?.announceEnd(over: length)
  }

  /// Lets statements finish and holds those that come, until `resume`.
  func pause(_ completion: @escaping @Sendable () -> Void) {
    loop.execute { [self] in pool.pause(whenAtRest: completion) }
  }

  func resume() {
    loop.execute { [self] in pool.resume() }
  }

  private func stopReplicas(_ completion: @escaping @Sendable () -> Void) {
    let end = { [loop] in
      loop.stop()
      completion()
    }
    if let replicas { replicas.stop(whenStopped: end) } else { end() }
  }

  /// Returns what runs queries on replicas, or nil without any.
  private static func router(
    _ shared: SharedService, _ index: Int, _ loop: EventLoop, _ pool: PostgresPool,
    _ observer: LoopObserver
  ) -> ReplicaRouter? {
    guard let settings = shared.replicas, let states = settings.states else { return nil }
    let replicas = settings.databases.map { database in
      let pool = PostgresPool(
        loop: loop, configuration: database, settings: shared.pool,
        onEvent: { event in
          switch event {
          // That it cannot be reached is said once, when it takes no reads any more.
          case .connectFailed, .breakerOpened, .breakerClosed, .closed(_, .lost): break
          default: observer.report(.pool(event))
          }
        })
      return (pool: pool, runner: shared.runner(pool))
    }
    return ReplicaRouter(
      primary: shared.runner(pool), pool: pool, replicas: replicas,
      positions: settings.positions, states: (shared: states, loop: index),
      primaryFunctions: settings.primaryFunctions, settings: settings.router,
      report: { host, change in observer.report(.replica(host: host, change)) })
  }

  /// Closes every connection at once.
  func cutOff(handsOver: Bool = false) { server?.closeAll(handsOver: handsOver) }

  /// Stops accepting, lets requests finish, closes what is left; then `completion`.
  ///
  /// - Parameter handsOver: leaves the listener open, because another server accepts its clients.
  func drain(handsOver: Bool = false, _ completion: @escaping @Sendable () -> Void) {
    if !handsOver { announceEnd() }
    server?.drain(handsOver: handsOver) { [self] in
      loop.execute { [self] in
        pool.stop { [self] in
          writers.stop { [self] in
            flushes.stop { self.stopReplicas(completion) }
          }
        }
      }
    }
  }
}

/// The immutable state that all event loops share.
struct SharedService: Sendable {
  let mapping: StorageMapping
  let database: PostgresConfiguration
  let pool: PoolSettings
  let writerDatabase: PostgresConfiguration
  let writerPool: PoolSettings
  let constraintErrors: ConstraintErrors
  let accounts: AccountInputs
  let endedSessions = EndedSessions()
  /// The authenticator of signed tokens, or nil if only the server's own sessions are accepted.
  let jwtAuthenticator: JWTAuthenticator?
  /// Creates the runner of the operations' statements on an event loop's pool.
  let runner: @Sendable (PostgresPool) -> any StatementRunner
  let execution: ExecutionSettings
  let endpoint: GraphQLEndpoint.Configuration
  let introspection: IntrospectionAccess
  let explains: Bool
  let serverTiming: ServerTimingAccess
  let pages: StaticPages
  /// The published operations as tools, or nil if agents are not served.
  let tools: PublishedTools?
  /// The issuers of tokens for the tools; nil if none is known.
  let protectedResource: ProtectedResource?
  let trustedProxies: TrustedProxies
  /// The rate limiter, or nil without rate limits.
  let rateLimiter: RateLimiter?
  let readiness: Readiness
  let pictures: PictureService?
  let live: LiveSettings
  /// The reader of events, or nil if the graph has none.
  let commits: (any EventReader)?
  let writes: WritePositions
  /// The settings of replicas; nil without any.
  let replicas: ReplicaSettings?
  /// The size of the kept responses of one event loop; 0 keeps none.
  let answerCacheBytes: Int
  /// The roles that statements of clients run under; nil if all run under that of the server.
  let roles: ClientRoles?
}
