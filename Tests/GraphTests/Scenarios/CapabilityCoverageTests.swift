import Foundation
import TestSupport
import Testing

/// Which of the five applications' capabilities have a test: one in this target, under whatever noun, whose name begins
/// with the capability's id, or with several. `ID, read: ...` shows how a capability is read, and leaves what is written
/// to another test.
@Suite(.usesCluster) struct CapabilityCoverageTests {
  /// One line of the fixture: what a client needs, and whose client. (The kinds of operations that serve it come third.)
  private struct Capability {
    let id: String
    let application: String
  }

  private func lines(of fixture: String) throws -> [String] {
    try String(
      contentsOfFile: TestCluster.packageFolder + "/Tests/Fixtures/capabilities/" + fixture,
      encoding: .utf8
    ).split(separator: "\n").map(String.init)
  }

  private func capabilities() throws -> [Capability] {
    try lines(of: "capabilities.tsv").map { line in
      let columns = line.split(separator: "\t").map(String.init)
      try #require(columns.count == 3)
      return Capability(id: columns[0], application: columns[1])
    }
  }

  /// The names of the tests of the graph.
  private func names() throws -> [String] {
    let folder = TestCluster.packageFolder + "/Tests/GraphTests"
    return try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasSuffix("Tests.swift") }
      .flatMap { file in
        try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
          .matches(of: /func `([^`]+)`/).map { String($0.output.1) }
      }
  }

  /// The ids that names of tests begin with, as often as they do.
  private func testedIDs() throws -> [String] {
    try names().flatMap { name -> [String] in
      let ids = name.prefixMatch(of: /((?:[A-Z0-9]+-[A-Za-z0-9.]+(?:, )?)+):/)
      return ids.map { String($0.output.1).components(separatedBy: ", ") } ?? []
    }
  }

  @Test func `every capability has a test with its id`() throws {
    let capabilities = try capabilities()
    let tested = Set(try testedIDs())
    #expect(capabilities.count == 263)
    #expect(Set(capabilities.map(\.id)).count == capabilities.count)
    #expect(tested.subtracting(capabilities.map(\.id)).sorted() == [])

    var table = "Capabilities with a test\n"
    var applications: [String] = []
    for capability in capabilities where !applications.contains(capability.application) {
      applications.append(capability.application)
    }
    for application in applications + ["all"] {
      let own = capabilities.filter { application == "all" || $0.application == application }
      let without = own.filter { !tested.contains($0.id) }
      let name = application.padding(toLength: 12, withPad: " ", startingAt: 0)
      table += "  \(name)\(own.count - without.count) of \(own.count)"
      if application != "all", !without.isEmpty {
        table += "; without: " + without.map(\.id).joined(separator: " ")
      }
      table += "\n"
    }
    print(table)

    #expect(capabilities.map(\.id).filter { !tested.contains($0) } == [])
  }

  @Test func `no capability is tested under the same name twice`() throws {
    let ids = try testedIDs()
    #expect(Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys.sorted() == [])
  }
}
