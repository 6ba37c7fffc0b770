import Foundation
import GraphQLPlanning
import Postgres
import StorageChecking
import TestSupport
import Testing

/// What tells of changes of each field, or why it cannot be live, is what stands in Tests/Fixtures/live/keys.txt, so that
/// no field becomes stale, or dear, unnoticed. `SOCIOGRAPH_UPDATE_FIXTURES=1` writes it anew: read the difference.
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
