import Foundation
import TestSupport
import Testing

/// The Markdown files of the repository.
enum DocumentationPages {
  /// Returns the paths of all pages, README.md first.
  static func all() throws -> [String] {
    let folders = ["", "docs", "sql", "Benchmarks"]
    return try folders.flatMap { folder -> [String] in
      let base = TestCluster.packageFolder + "/" + folder
      let names =
        folder == "docs"
        ? try FileManager.default.subpathsOfDirectory(atPath: base)
        : try FileManager.default.contentsOfDirectory(atPath: base)
      return names.filter { $0.hasSuffix(".md") }.map { folder.isEmpty ? $0 : folder + "/" + $0 }
    }.sorted { ($0 == "README.md" ? "" : $0) < ($1 == "README.md" ? "" : $1) }
  }
}

/// Compares the documentation with what it is about: links with files, the table of modules with Package.swift.
@Suite struct DocumentationTests {
  private static let root = TestCluster.packageFolder

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: root + "/" + path, encoding: .utf8)
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
    let pages = try DocumentationPages.all()
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

  @Test func `the README shows lines of the tutorial, and has one page`() throws {
    let readme = try Guide("README.md")
    let tutorial = try Self.text("docs/tutorials/your-own-graph.md").split(separator: "\n")
    let shown = try #require(readme.blocks.first { $0.language == "graphql" })
    for line in shown.text.split(separator: "\n") {
      #expect(tutorial.contains(line), "the tutorial has no line \(line)")
    }
    #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 160)
  }

  @Test func `every path in backticks exists`() throws {
    var paths = 0
    for page in try DocumentationPages.all() where page != "CHANGELOG.md" {
      let text = try Self.text(page)
      let pattern = /`((?:Sources|Tests|Schema|sql|script|docs|docker|Benchmarks)\/[^`\s]+)/
      for match in text.matches(of: pattern) where !match.1.contains(/[*<(]|NNNN|\.\.\./) {
        paths += 1
        #expect(
          FileManager.default.fileExists(atPath: "\(Self.root)/\(match.1)"),
          "\(page): there is no \(match.1)")
      }
    }
    #expect(paths > 50)
  }

  /// The targets of the program with their rows, as Package.swift has them; C targets are row 0.
  static func modules() throws -> [(name: String, row: Int, dependencies: [String])] {
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

  /// The drawing of a query's way has a module a line, `Module  step -> Type`, and the table under it a type to read.
  @Test func `a query's way passes modules of Package.swift, which declare what is drawn`() throws {
    let guide = try Guide("docs/explanation/architecture.md", section: "One query's way")
    let drawing = try #require(guide.blocks.first { $0.language == "text" })
    let modules = try Self.modules()
    var way: [String] = []
    var types: [(type: String, modules: [String])] = []
    for line in drawing.text.components(separatedBy: "\n") {
      guard let match = line.firstMatch(of: /^ *([A-Z]\w+) {2,}\w.*?(?:-> (\w+))?$/) else {
        continue
      }
      way.append(String(match.1))
      if let type = match.2 { types.append((String(type), modules.map(\.name))) }
    }
    #expect(way.count >= 6)
    for line in guide.text.components(separatedBy: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.matches(of: /`(\w+)`/).map { String($0.1) } }
      guard cells.count == 3, !cells[1].isEmpty else { continue }
      for type in cells[2] { types.append((type, cells[1])) }
    }
    #expect(types.count >= 12)
    let names = Set(modules.map(\.name))
    #expect(names.isSuperset(of: way), "\(way)")
    // The server calls each of them, and so passes the value on.
    let server = try #require(modules.first { $0.name == "Server" })
    #expect(Set(server.dependencies).isSuperset(of: way))
    for (type, modules) in types {
      #expect(try modules.contains { try Self.declares($0, type) }, "\(modules) declare no \(type)")
    }
  }

  /// Returns whether a module declares a type of this name.
  private static func declares(_ module: String, _ type: String) throws -> Bool {
    let folder = "\(root)/Sources/\(module)"
    guard FileManager.default.fileExists(atPath: folder) else { return false }
    return try FileManager.default.subpathsOfDirectory(atPath: folder).contains { file in
      guard file.hasSuffix(".swift") else { return false }
      let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
      return text.matches(of: /(?:struct|class|enum|protocol|actor) (\w+)/).contains {
        $0.1 == type
      }
    }
  }

  /// The modules as a graph of Mermaid, a row of modules after the other; an arrow is an import that no other
  /// arrows imply.
  static func drawing() throws -> String {
    let modules = try modules().filter { $0.row > 0 }
    let dependencies = Dictionary(uniqueKeysWithValues: modules.map { ($0.name, $0.dependencies) })
    func reaches(_ module: String, _ other: String) -> Bool {
      (dependencies[module] ?? []).contains { $0 == other || reaches($0, other) }
    }
    var lines = ["```mermaid", "flowchart TD"]
    for row in Set(modules.map(\.row)).sorted(by: >) {
      let names = modules.filter { $0.row == row }.map(\.name).sorted()
      lines.append("  subgraph row\(row)[\" \"]")
      lines += names.map { "    \($0)" }
      lines.append("  end")
      for module in modules.filter({ $0.row == row }).sorted(by: { $0.name < $1.name }) {
        let used = module.dependencies.filter { dependencies[$0] != nil }.sorted()
        for name in used where !used.contains(where: { $0 != name && reaches($0, name) }) {
          lines.append("  \(module.name) --> \(name)")
        }
      }
    }
    return (lines + ["```"]).joined(separator: "\n")
  }
}
