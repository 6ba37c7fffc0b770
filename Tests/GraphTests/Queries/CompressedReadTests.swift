import Foundation
import JSON
import OracleSupport
import TestSupport
import Testing

/// The showcase reads for clients that accept a coding.
@Suite(.usesCluster) struct CompressedReadTests {
  private static let programs = [("zstd", "zstd"), ("br", "brotli"), ("gzip", "gzip")]

  @Test func `showcase answers are a quarter, and the same once decoded`() throws {
    let server = try GraphServer.seeded
    let folder = try TemporaryFolder()
    // Not the one whose token each answer has anew.
    let names = ShowcaseTests.names.filter { !$0.hasPrefix("Q19") }
    for (coding, program) in Self.programs {
      var (plainBytes, codedBytes) = (0, 0)
      for name in names {
        let path = "\(ShowcaseTests.folder)/\(name)"
        let query = try String(contentsOfFile: path + "/operation.graphql", encoding: .utf8)
        let variables = try JSONParser.parse(
          [UInt8](Data(contentsOf: URL(filePath: path + "/variables.json"))))
        let body = JSONValue.object([
          JSONValue.Member(name: "query", value: .string(query)),
          JSONValue.Member(name: "variables", value: variables),
        ])
        func send(_ headers: [(String, String)]) throws -> HTTPClients.Response {
          try server.send(
            "POST", "/graphql",
            headers: headers + [
              ("Content-Type", "application/json"), ("Authorization", "Bearer demo-marisol"),
            ], body: Array("\(body)".utf8))
        }
        let plain = try send([])
        let coded = try send([("Accept-Encoding", coding)])
        #expect(plain.header("Content-Encoding") == nil)
        guard plain.body.count >= 1024 else {
          #expect(coded.header("Content-Encoding") == nil && coded.body == plain.body)
          continue
        }
        #expect(coded.header("Content-Encoding") == coding, "\(name)")
        plainBytes += plain.body.count
        codedBytes += coded.body.count
        let file = folder.path + "/coded"
        try Data(coded.body).write(to: URL(filePath: file))
        let run = try LiveClients.tool("sh", ["-c", "\(program) -dc < \(file) > \(file).decoded"])
        #expect(run.status == 0, "\(name): \(run.output)")
        #expect(try [UInt8](Data(contentsOf: URL(filePath: file + ".decoded"))) == plain.body)
      }
      #expect(
        plainBytes > 100_000 && codedBytes * 4 <= plainBytes,
        "\(coding): \(codedBytes) of \(plainBytes)")
    }
  }
}
