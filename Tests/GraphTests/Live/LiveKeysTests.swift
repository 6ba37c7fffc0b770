import Foundation
import GraphQLPlanning
import Postgres
import StorageChecking
import TestSupport
import Testing

/// Tests/Fixtures/live/keys.txt lists the source of each field's changes, or the reason why it
/// cannot be live, so that no field becomes stale or expensive unnoticed.
///
/// `SOCIOGRAPH_UPDATE_FIXTURES=1` writes it again: read the difference before you commit it.
@Suite(.usesCluster) struct LiveKeysTests {
  @Test func `each field of the schema says what tells of its changes, or that nothing does`()
    throws
  {
    let database = try PostgresConfiguration(GraphServer.shared.database)
    let catalog = try #require(try LiveCatalog.read(from: database))
    let found =
      LiveReport(mapping: try GraphServer.mapping.get(), catalog: catalog).lines
      .joined(separator: "\n") + "\n"
    let path = TestCluster.packageFolder + "/Tests/Fixtures/live/keys.txt"
    if ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1" {
      try FileManager.default.createDirectory(
        atPath: TestCluster.packageFolder + "/Tests/Fixtures/live",
        withIntermediateDirectories: true)
      try found.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let known = try String(contentsOfFile: path, encoding: .utf8)
    #expect(found == known)
    #expect(!found.contains("no plan"))
  }
}
