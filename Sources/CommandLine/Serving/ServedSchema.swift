import Dispatch
import GraphQLPlanning
import Postgres
import Server
import Synchronization

/// The server of the schema that is served now.
///
/// With `--watch` servers follow one another in one process. The next one takes the listening sockets
/// and all new connections. The one before ends like a server that is stopped: requests finish, and the
/// clients of WebSockets and streams reconnect. Counters and rate limits start from scratch.
final class ServedSchema: Sendable {
  typealias Check =
    @Sendable (StorageMapping) throws -> (PostgresConfiguration, RunningServer.Settings)

  private let state: Mutex<RunningServer>
  private let settings: ServeSettings
  private let doors: ListeningSockets
  private let watcher = Mutex<SchemaWatch?>(nil)
  /// The servers that end.
  private let ending = DispatchGroup()

  init(_ server: RunningServer, _ settings: ServeSettings, _ doors: ListeningSockets) {
    state = Mutex(server)
    self.settings = settings
    self.doors = doors
  }

  var server: RunningServer { state.withLock { $0 } }

  /// Begins to look for changes of the schema's files and of the database.
  ///
  /// - Parameter check: checks a schema, and returns the settings of its server.
  func watch(
    _ configuration: PostgresConfiguration, _ options: CommandOptions, _ check: @escaping Check
  ) {
    let watch = SchemaWatch(settings.schema, configuration)
    let database = options.values.filter { ["database", "namespace"].contains($0.key) }
    watch.start(
      databaseChanged: { [settings] in
        do {
          try DraftCommand.update(settings.schema, database)
        } catch {
          Console.warn("the database has changed, and the schema could not follow: \(error)")
        }
      }, changed: { [self] in follow(check) })
    watcher.withLock { $0 = watch }
    Console.say("watching \(settings.schema) and the database")
  }

  func stopWatching() { watcher.withLock { $0 }?.stop() }

  func waitForEarlierServers() { ending.wait() }

  /// Serves the schema as its files are now, if it holds.
  ///
  /// - Returns: whether that is settled; false without a database.
  private func follow(_ check: Check) -> Bool {
    do {
      let mapping = try settings.readFolders()
      let (configuration, running) = try check(mapping)
      let next = try RunningServer(
        mapping, database: configuration, settings: running, doors: doors)
      if !next.waitUntilReady() { Console.warn("the database does not respond yet") }
      let before = state.withLock { server in
        defer { server = next }
        return server
      }
      DispatchQueue.global().async(group: ending) { before.stop(handsOver: true) }
      Console.say("serving the changed schema")
      return true
    } catch let error as PostgresError where error.kind == .unavailable {
      return false
    } catch {
      Console.warn("the changed schema does not hold; the one before is served: \(error)")
      return true
    }
  }
}
