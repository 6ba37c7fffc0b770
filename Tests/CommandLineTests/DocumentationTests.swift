import Foundation
import TestSupport
import Testing

/// Compares the documentation with what it is about: links with files, the table of modules with Package.swift.
@Suite struct DocumentationTests {
  private static let root = TestCluster.packageFolder

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: root + "/" + path, encoding: .utf8)
  }

  /// The Markdown files of the repository, by their paths in it.
  private static func pages() throws -> [String] {
    let folders = ["", "docs", "sql", "Benchmarks"]
    return try folders.flatMap { folder -> [String] in
      let base = root + "/" + folder
      let names =
        folder == "docs"
        ? try FileManager.default.subpathsOfDirectory(atPath: base)
        : try FileManager.default.contentsOfDirectory(atPath: base)
      return names.filter { $0.hasSuffix(".md") }.map { folder.isEmpty ? $0 : folder + "/" + $0 }
    }.sorted()
  }

  /// The anchors that GitHub makes of a page's headings.
  private static func anchors(of page: String) -> Set<String> {
    let headings = page.split(separator: "\n").filter { $0.hasPrefix("#") }
    return Set(
      headings.map { heading in
        String(
          heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            .replacing(" ", with: "-")
            .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
      })
  }

  @Test func `every relative link leads to a file, and to a heading of it`() throws {
    let pages = try Self.pages()
    #expect(pages.contains("README.md") && pages.contains("docs/decisions/README.md"))
    var links = 0
    for page in pages {
      let folder = page.split(separator: "/").dropLast().joined(separator: "/")
      for match in try Self.text(page).matches(of: /\]\(([^)\s]+)\)/)
      where !match.1.contains("://") && !match.1.hasPrefix("mailto:") {
        links += 1
        let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = NSString(
          string: parts[0].isEmpty ? page : folder.isEmpty ? "\(parts[0])" : "\(folder)/\(parts[0])"
        ).standardizingPath
        guard FileManager.default.fileExists(atPath: Self.root + "/" + target) else {
          Issue.record("\(page): nothing at \(match.1)")
          continue
        }
        if parts.count == 2 {
          let anchors = Self.anchors(of: try Self.text(target))
          #expect(anchors.contains(String(parts[1])), "\(page): no heading for \(match.1)")
        }
      }
    }
    #expect(links > 30)
  }

  /// The targets of the program with their rows, as Package.swift has them; C targets are row 0.
  private static func modules() throws -> [(name: String, row: Int, dependencies: [String])] {
    let package = try text("Package.swift")
    let targets = try #require(package.range(of: "  targets: [")).upperBound
    let end = try #require(package.range(of: "// Not part of the product.")).lowerBound
    let pattern =
      #/\/\/ (\d+)\n|(?:module|arget|Library)\(\s*(?:name: )?"(\w+)"(?:,\s*(?:dependencies: )?\[([^\]]*)\])?/#
    var row = 0
    var modules: [(name: String, row: Int, dependencies: [String])] = []
    for match in package[targets..<end].matches(of: pattern) {
      if let number = match.1 { row = Int(number) ?? 0 }
      guard let name = match.2 else { continue }
      let dependencies = (match.3 ?? "").matches(of: #/"(\w+)"/#).map { String($0.1) }
      modules.append((String(name), row, dependencies))
    }
    return modules
  }

  @Test func `the table of modules has the rows of Package.swift, and every import points down`()
    throws
  {
    let modules = try Self.modules()
    let rows = Dictionary(uniqueKeysWithValues: modules.map { ($0.name, $0.row) })
    #expect(rows["sociograph"] == 10 && rows["JSON"] == 1 && rows["COpenSSL"] == 0, "\(rows)")
    var imports = 0
    for module in modules {
      for dependency in module.dependencies {
        let row = try #require(rows[dependency], "\(module.name) depends on \(dependency)")
        #expect(row < module.row, "\(module.name) depends on \(dependency) of row \(row)")
        imports += 1
      }
    }
    #expect(imports > 100)
    var shown: [String: Int] = [:]
    for line in try Self.text("docs/explanation/architecture.md").split(separator: "\n") {
      guard let match = line.firstMatch(of: /^\| (\d+) \| ([^|]+) \|/), let row = Int(match.1)
      else {
        continue
      }
      for name in match.2.matches(of: /`(\w+)`/) { shown[String(name.1)] = row }
    }
    #expect(shown == rows)
  }
}
