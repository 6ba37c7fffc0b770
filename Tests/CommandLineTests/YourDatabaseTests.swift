import Foundation
import HTTPTestSupport
import JSON
import TestSupport
import Testing

/// docs/tutorials/your-database.md, word for word: each file is written, each command run, each document sent.
@Suite(.usesCluster) struct YourDatabaseTests {
  private static let page = "docs/tutorials/your-database.md"

  /// A folder in which the page's commands run, with a database of the tests' cluster in place of `shop`.
  private struct Shop {
    let folder: TemporaryFolder
    let environment: [String: String]
    private let name = "shop_\(UInt32.random(in: 0 ... .max))"

    init() throws {
      folder = try TemporaryFolder()
      let parts = try TestCluster.connectionString().split(separator: " ")
      func value(_ name: String) -> String {
        parts.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) } ?? ""
      }
      environment = [
        "PGHOST": value("host").trimmingCharacters(in: ["'"]), "PGUSER": value("user"),
        "PGPORT": value("port"), "SOCIOGRAPH_LISTEN": "127.0.0.1:0",
      ].filter { !$0.value.isEmpty }
    }

    func local(_ text: String) -> String {
      let programs = (ProgramRun.executable as NSString).deletingLastPathComponent
      let settings = environment.map { "\($0)='\($1)'" }.joined(separator: " ")
      let own = text.replacing("createdb shop", with: "createdb \(name)")
        .replacing("psql -q shop", with: "psql -q \(name)")
        .replacing("postgresql:///shop", with: "postgresql:///\(name)")
      // Which test reports its times is nothing that the program knows.
      return """
        cd \(folder.path); unset SOCIOGRAPH_TEST_TIMES
        export LC_ALL=C PATH=\(programs):$PATH \(settings)
        \(own)
        """
    }
  }

  @Test func `every file, command and document of the page does what the page says`() throws {
    let shop = try Shop()
    let guide = try Guide(Self.page)
    var port: UInt16?
    var running: Process?
    defer { running?.terminate() }
    var documents = 0
    for (place, block) in guide.blocks.enumerated() {
      let at = "\(Self.page):\(block.line)"
      switch block.language {
      case "sql" where block.isExecuted: _ = try shop.folder.write("shop.sql", block.text + "\n")
      case "graphql" where !block.isExecuted:
        let file = try String(
          contentsOfFile: shop.folder.path + "/graph/product.graphql", encoding: .utf8)
        // Behind it are the mutations, which the page uses.
        #expect(file.hasPrefix(block.text + "\n"), "\(at)")
      case "graphql":
        let shown = guide.blocks[place + 1]
        try #require(shown.language == "json")
        let answer = try DraftComparison.send(block.text, try #require(port))
        let expected = try JSONParser.parse(Array(shown.text.utf8))
        #expect(answer == expected, "\(at)")
        documents += 1
      case "console" where block.words.contains("background"):
        let output = shop.folder.path + "/output"
        running = try Process.run(
          URL(filePath: "/bin/sh"),
          arguments: ["-c", "exec > \(output)\n" + shop.local("exec " + block.commands[0].text)])
        func text() -> String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
        try #require(eventually { text().contains("Serving http://") })
        port = text().firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#).flatMap {
          UInt16($0.1)
        }
      case "console" where block.isExecuted:
        for step in block.commands {
          let text = step.text.replacing("127.0.0.1:8080", with: "127.0.0.1:\(port ?? 0)")
          let run = try command("sh", "-c", shop.local(text))
          #expect(run.status == 0, "\(at): \(run.output)")
          let parts = step.output.components(separatedBy: "...")
          let printed = run.output.trimmingCharacters(in: .newlines)
          let isSame =
            parts.count == 1
            ? printed == step.output
            : printed.hasPrefix(parts[0]) && printed.hasSuffix(parts[1])
          #expect(isSame, "\(at) prints: \(printed)")
        }
      default: continue
      }
    }
    #expect(documents >= 1)
  }
}
