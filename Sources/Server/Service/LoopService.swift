import Accounts
import Dispatch
import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLTransport
import HTTP
import Postgres
import Synchronization

/// Everything one loop owns: its clients, its database connections, its caches. Loops share only
/// what never changes.
final class LoopService: @unchecked Sendable {
  // @unchecked: touched on `loop` only, once started.
  let loop: EventLoop
  let pool: PostgresPool
  let pipeline: RequestPipeline
  private var server: HTTPServer?

  init(
    index: Int, shared: SharedService, listener: HTTPListener, http: HTTPServer.Configuration
  ) throws {
    loop = try EventLoop(label: "sociograph.loop.\(index)")
    let log = shared.log
    pool = PostgresPool(
      loop: loop, configuration: shared.database, settings: shared.pool,
      onEvent: { log.report($0, loop: index) })
    let executor = OperationExecutor(
      mapping: shared.mapping, settings: shared.executor)
    let pipeline = RequestPipeline(
      shared: shared, executor: executor, sessions: SessionResolver(pool: pool), pool: pool,
      loop: index)
    self.pipeline = pipeline
    server = HTTPServer(
      loop: loop, listener: listener, configuration: http, report: { log.report($0) },
      handler: { request, exchange in pipeline.handle(request, exchange) })
  }

  func start() {
    loop.execute { [self] in pool.start() }
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

  func announceEnd() {
    loop.execute { [self] in pipeline.isDraining = true }
  }

  /// Closes every connection at once.
  func cutOff() { server?.closeAll() }

  /// Stops accepting, lets requests finish, closes what is left; then `completion`.
  func drain(_ completion: @escaping @Sendable () -> Void) {
    announceEnd()
    server?.drain { [self] in
      loop.execute { [self] in
        pool.stop {
          self.loop.stop()
          completion()
        }
      }
    }
  }
}

/// What all loops read and none changes.
struct SharedService: Sendable {
  let mapping: StorageMapping
  let database: PostgresConfiguration
  let pool: PoolSettings
  /// What runs the operations' statements, given the loop's pool.
  let runner: @Sendable (PostgresPool) -> any StatementRunner
  let executor: OperationExecutor.Settings
  let endpoint: GraphQLEndpoint
  let introspection: IntrospectionAccess
  let pages: StaticPages
  let log: ServiceLog
}
