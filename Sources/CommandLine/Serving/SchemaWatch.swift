import Foundation
import Glibc
import Postgres
import StorageChecking
import Synchronization

/// Looks each second whether the files of a schema, or the catalog of its database, have changed
/// (`serve --watch`).
final class SchemaWatch: Sendable {
  private let folder: String
  private let configuration: PostgresConfiguration
  private let isStopped = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  private static let pause: useconds_t = 1_000_000
  /// Schemas are read by recursion.
  private static let stackBytes = 64 << 20

  /// - Parameter folder: the folder of the schema's files.
  init(_ folder: String, _ configuration: PostgresConfiguration) {
    self.folder = folder
    self.configuration = configuration
  }

  /// Begins to look, on a thread that calls both closures.
  ///
  /// - Parameters:
  ///   - databaseChanged: called first if the catalog has changed; it may change the files.
  ///   - changed: called after a change; returns false to be called again a second later.
  func start(
    databaseChanged: @escaping @Sendable () -> Void, changed: @escaping @Sendable () -> Bool
  ) {
    let files = files()
    let session = try? PostgresSession(configuration)
    let catalog = session.flatMap { try? CatalogFingerprint.read($0) }
    let thread = Thread { [self] in
      look(files, catalog, databaseChanged, changed)
      hasEnded.signal()
    }
    thread.stackSize = Self.stackBytes
    thread.start()
  }

  /// Waits until nothing is called any more.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    hasEnded.wait()
  }

  private func look(
    _ files: [String], _ catalog: String?, _ databaseChanged: () -> Void, _ changed: () -> Bool
  ) {
    var known = (files: files, catalog: catalog)
    var session: PostgresSession?
    while wait() {
      // Without a database there is nothing to compare; the files wait for it, too.
      if session == nil { session = try? PostgresSession(configuration) }
      guard let connected = session, let catalog = try? CatalogFingerprint.read(connected) else {
        session = nil
        continue
      }
      if catalog != known.catalog, known.catalog != nil { databaseChanged() }
      let files = self.files()
      guard files != known.files || catalog != known.catalog else { continue }
      if changed() { known = (files, catalog) }
    }
  }

  /// Waits for the next look.
  ///
  /// - Returns: whether there is one.
  private func wait() -> Bool {
    for _ in 0..<20 {
      if isStopped.load(ordering: .acquiring) { return false }
      usleep(Self.pause / 20)
    }
    return !isStopped.load(ordering: .acquiring)
  }

  /// Returns a line for each file of SDL, which differs when the file does.
  private func files() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".graphql") }.sorted().map { name in
      var status = stat()
      guard unsafe stat("\(folder)/\(name)", &status) == 0 else { return name }
      let changed = status.st_mtim
      return "\(name) \(status.st_ino) \(status.st_size) \(changed.tv_sec).\(changed.tv_nsec)"
    }
  }
}
