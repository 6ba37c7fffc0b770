import Dispatch
import Foundation
import Pictures
import Postgres
import SQL

/// Removes images without a user: uploads that were never used, and images of deleted accounts. The
/// graph's function `unknown_uploads` selects them.
///
/// Several servers may do so at the same time. An image that is uploaded again meanwhile counts as
/// new, and stays.
package final class PictureSweeper: Sendable {
  /// The minimum age of an unused image in seconds: the time in which an upload has to be used, and
  /// one more hour.
  package static let age = 25 * 3600

  private let service: PictureService
  private let database: PostgresConfiguration
  private let isStopped = DispatchSemaphore(value: 0)
  private let report: @Sendable (PictureEvent) -> Void

  package init(
    _ service: PictureService, database: PostgresConfiguration,
    report: @escaping @Sendable (PictureEvent) -> Void = { _ in }
  ) {
    self.service = service
    self.database = database
    self.report = report
  }

  /// Sweeps every hour until it is stopped, on a thread of its own.
  func start() {
    let thread = Thread { [self] in
      // Servers that were started together take turns.
      var rest = Double.random(in: 300...3600)
      while isStopped.wait(timeout: .now() + rest) == .timedOut {
        rest = 3600
        do {
          let count = try sweep()
          if count > 0 { report(.forgotten(count)) }
        } catch {
          report(.notServed(.internalServerError, reason: "sweeping: \(error)"))
        }
      }
    }
    thread.name = "pictures"
    thread.start()
  }

  func stop() { isStopped.signal() }

  /// - Returns: how many were removed.
  package func sweep() throws -> Int {
    try service.store.removeDrafts(olderThan: Self.age)
    let names = try service.store.names(olderThan: Self.age)
    guard !names.isEmpty else { return 0 }
    let session = try PostgresSession(database)
    var count = 0
    for start in stride(from: 0, to: names.count, by: 1_000) {
      let some = names[start..<min(start + 1_000, names.count)]
      // Names are digits and letters, a hyphen and a dot: nothing in an array's text has to be quoted.
      let list = "{" + some.map(PictureEndpoint.path(of:)).joined(separator: ",") + "}"
      let unknown = Set(
        try session.execute("SELECT \(GraphContract.unknownUploads)($1::text[])", [list]).compactMap
        { $0[0] })
      for name in some where unknown.contains(PictureEndpoint.path(of: name)) {
        try service.store.remove(name, olderThan: Self.age)
        count += 1
      }
    }
    return count
  }
}
