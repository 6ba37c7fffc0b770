import Foundation
import TestSupport
import Testing

/// The map in `docs/testing.md`, compared with the folders and suites of the tests.
@Suite struct TestMapTests {
  private static let root = TestCluster.packageFolder

  private static func page() throws -> String {
    try String(contentsOfFile: root + "/docs/testing.md", encoding: .utf8)
  }

  private static func folders(in path: String) throws -> Set<String> {
    let base = URL(fileURLWithPath: root + "/" + path)
    let entries = try FileManager.default.contentsOfDirectory(
      at: base, includingPropertiesForKeys: [.isDirectoryKey])
    return Set(
      try entries.filter {
        try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
          && !$0.lastPathComponent.hasPrefix("_")
      }.map(\.lastPathComponent))
  }

  /// The names in backticks in the first column of the table under a heading.
  private static func rows(under heading: String) throws -> [String] {
    let sections = try page().components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix(heading + "\n") })
    return section.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\| `([^`]+)` \|/).map { String($0.output.1) }
    }
  }

  @Test func `every folder of the graph's tests has a row, and every row a folder`() throws {
    let rows = try Self.rows(under: "The graph")
    #expect(Set(rows).count == rows.count)
    #expect(try Set(rows) == Self.folders(in: "Tests/GraphTests"))
  }

  @Test func `every target has a row, and the page names the other folders of tests`() throws {
    let folders = try Self.folders(in: "Tests")
    let rows = try Self.rows(under: "Targets")
    #expect(Set(rows).count == rows.count)
    #expect(Set(rows) == folders.filter { $0.hasSuffix("Tests") })
    let page = try Self.page()
    #expect(folders.filter { !page.contains("`\($0)`") } == [])
  }

  @Test func `every path, script and filter on the page is of something there`() throws {
    let page = try Self.page()
    let paths = page.matches(of: /(?:Tests|script|docs|Sources)\/[A-Za-z\/-]+/).map {
      String($0.output)
    }
    #expect(paths.count > 10)
    #expect(
      paths.filter { !FileManager.default.fileExists(atPath: Self.root + "/" + $0) } == [])

    let tests = Self.root + "/Tests"
    let names = try FileManager.default.subpathsOfDirectory(atPath: tests)
    let filters = page.matches(of: /--filter '?([^'`]+)/).flatMap { match in
      match.output.1.split(separator: "\\|").map { part in
        part.filter { $0 != "^" && $0 != "\\" }.replacing(".", with: "/")
      }
    }
    #expect(filters.count > 10)
    // `GraphTests.Event` stands for suites of that target that begin so, wherever they are filed.
    #expect(
      filters.filter { filter in
        let parts = filter.split(separator: "/")
        return !names.contains { name in
          guard parts.count > 1 else { return name.contains(filter) }
          return name.hasPrefix(parts[0] + "/") && name.contains("/" + parts[1])
        }
      } == [])
  }
}
