import Foundation
import TestSupport
import Testing

@Suite struct CapabilityCoverageTests {
  /// The names of the tests beside this one.
  private func names() throws -> [Substring] {
    let folder = TestCluster.packageFolder + "/Tests/GraphTests/Capabilities"
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasSuffix("Tests.swift") }
      .flatMap { file in
        try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
          .matches(of: /func `([^`]+)`/).map(\.output.1)
      }
  }

  @Test func `every capability that queries alone serve has a test with its id`() throws {
    let ids = try String(
      contentsOfFile: TestCluster.packageFolder + "/Tests/Fixtures/capabilities/query_ids.txt",
      encoding: .utf8
    ).split(separator: "\n")
    #expect(ids.count == 124)
    #expect(Set(ids).count == ids.count)
    let names = try names()
    #expect(ids.filter { id in !names.contains { $0.hasPrefix("\(id):") } } == [])
  }

  @Test func `no capability is tested under the same name twice`() throws {
    let ids = try names().compactMap { $0.firstMatch(of: /^[A-Z0-9]+-[A-Za-z0-9.]+:/)?.output }
    #expect(Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys.sorted() == [])
  }
}
