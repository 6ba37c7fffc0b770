import Foundation
import GraphQLLanguage
import GraphQLPlanning
import OracleSupport
import TestSupport
import Testing

@testable import Server

/// What a client receives that accepts a coding, asked for by curl and decoded by the coding's own
/// program.
@Suite(.usesCluster) struct CompressedAnswerTests {
  private static let large = #"{"query":"{ __schema { types { name description } } }"}"#
  private static let programs = ["gzip": "gzip", "br": "brotli", "zstd": "zstd"]

  private struct Answer {
    let status: String
    let headers: [String: [String]]
    let body: Data

    func header(_ name: String) -> String? { headers[name]?.joined(separator: ", ") }

    /// The body as its coding's own program decodes it; nil if that fails.
    func decoded(in folder: TemporaryFolder) throws -> Data? {
      guard let program = CompressedAnswerTests.programs[header("content-encoding") ?? ""] else {
        return nil
      }
      let path = folder.path + "/coded"
      try body.write(to: URL(filePath: path))
      let run = try LiveClients.tool(
        "sh", ["-c", "\(program) -dc < \(path) > \(path).decoded"])
      guard run.status == 0 else { return nil }
      return try Data(contentsOf: URL(filePath: path + ".decoded"))
    }
  }

  private func curl(
    _ server: TestServer, _ path: String, _ arguments: [String], in folder: TemporaryFolder
  ) throws -> Answer {
    let (head, body) = (folder.path + "/head", folder.path + "/body")
    try? FileManager.default.removeItem(atPath: body)
    let run = try LiveClients.tool(
      "curl",
      ["-sS", "--noproxy", "*", "-D", head, "-o", body] + arguments
        + ["http://127.0.0.1:\(server.port)\(path)"])
    try #require(run.status == 0, "\(run.output)")
    let lines = try String(contentsOfFile: head, encoding: .utf8).split(separator: "\r\n")
    var headers: [String: [String]] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased(), default: []].append(
        String(parts[1].drop { $0 == " " }))
    }
    return Answer(
      status: String(lines.first?.split(separator: " ").dropFirst().first ?? ""), headers: headers,
      body: FileManager.default.contents(atPath: body) ?? Data())
  }

  private func post(
    _ server: TestServer, _ json: String, _ arguments: [String] = [], in folder: TemporaryFolder
  ) throws -> Answer {
    try curl(
      server, "/graphql", ["-H", "Content-Type: application/json", "-d", json] + arguments,
      in: folder)
  }

  /// What every response has, in whatever coding it is.
  private static let vary = "Accept, Accept-Encoding"

  @Test(arguments: ["gzip", "br", "zstd"])
  func `a large answer comes in the coding that is accepted`(_ coding: String) throws {
    let server = try TestServer.shared
    let folder = try TemporaryFolder()
    let plain = try post(server, Self.large, in: folder)
    #expect(plain.header("content-encoding") == nil && plain.header("vary") == Self.vary)
    let coded = try post(server, Self.large, ["-H", "Accept-Encoding: \(coding)"], in: folder)
    #expect(coded.status == "200" && coded.header("content-encoding") == coding)
    #expect(coded.header("vary") == Self.vary)
    #expect(coded.header("content-length") == String(coded.body.count))
    #expect(coded.body.count * 3 < plain.body.count)
    #expect(try coded.decoded(in: folder) == plain.body)
    // curl decodes it, too; and by GET.
    let accepts = ["--compressed", "-H", "Accept-Encoding: \(coding)"]
    #expect(try post(server, Self.large, accepts, in: folder).body == plain.body)
    let got = try curl(
      server, "/graphql",
      accepts + [
        "-G", "-H", "GraphQL-Require-Preflight: 1", "--data-urlencode",
        "query={ __schema { types { name description } } }",
      ], in: folder)
    #expect(got.header("content-encoding") == coding && got.body == plain.body)
    // Not one length says what is in it.
    let lengths = try (0..<12).map { _ in
      try post(server, Self.large, ["-H", "Accept-Encoding: \(coding)"], in: folder).body.count
    }
    #expect(Set(lengths).count > 1)
  }

  @Test func `small answers, and those of a server that is told not to, are not compressed`() throws
  {
    let folder = try TemporaryFolder()
    let accepts = ["-H", "Accept-Encoding: gzip, br, zstd"]
    let small = try post(
      TestServer.shared, #"{"query":"{ __typename }"}"#, accepts, in: folder)
    #expect(small.header("content-encoding") == nil && small.header("vary") == Self.vary)
    let server = try TestServer { $0.endpoint.compresses = false }
    let large = try post(server, Self.large, accepts, in: folder)
    #expect(large.header("content-encoding") == nil && large.header("vary") == Self.vary)
    #expect(try curl(server, "/schema.graphql", accepts, in: folder).body.count > 1_024)
  }

  @Test func `a list of answers is compressed, unless one of them is confidential`() throws {
    let server = try TestServer { $0.endpoint.maximumBatch = 3 }
    let folder = try TemporaryFolder()
    let accepts = ["-H", "Accept-Encoding: gzip"]
    let list = "[\(Self.large),\(Self.large)]"
    let plain = try post(server, list, in: folder)
    let coded = try post(server, list, accepts, in: folder)
    #expect(coded.header("content-encoding") == "gzip")
    #expect(try coded.decoded(in: folder) == plain.body)
    let secret = #"{"query":"{ viewer { dataExport } }"}"#
    for list in ["[\(secret),\(Self.large)]", "[\(Self.large),\(secret)]"] {
      let answer = try post(server, list, accepts, in: folder)
      #expect(answer.header("content-encoding") == nil && answer.body.count > 1_024)
    }
  }

  @Test func `pages are compressed once, in the background`() throws {
    let server = try TestServer()
    let folder = try TemporaryFolder()
    let plain = try curl(server, "/schema.graphql", [], in: folder)
    #expect(plain.header("vary") == "Accept-Encoding")
    for coding in ["gzip", "br", "zstd"] {
      let accepts = ["-H", "Accept-Encoding: \(coding)"]
      var lengths: Set<Int> = []
      let isCoded = try eventually {
        let page = try curl(server, "/schema.graphql", accepts, in: folder)
        guard page.header("content-encoding") == coding else {
          #expect(page.body == plain.body)
          return false
        }
        #expect(page.body.count * 4 < plain.body.count)
        #expect(try page.decoded(in: folder) == plain.body)
        lengths.insert(page.body.count)
        return true
      }
      #expect(isCoded)
      let head = try curl(server, "/schema.graphql", accepts + ["--head"], in: folder)
      #expect(
        head.header("content-length").flatMap { Int($0) }.map { lengths.contains($0) } == true)
    }
  }

  @Test(arguments: [
    ("{ viewer { dataExport } }", true), ("{ viewer { user { id } } }", false),
    ("{ viewer { ... on Viewer { x: dataExport } } }", true),
    (
      "query Q { ...A } fragment A on Query { viewer { ...B } } fragment B on Viewer { dataExport }",
      true
    ),
    (#"mutation { signIn(username: "a", password: "b") { token } }"#, true),
    (#"mutation { signIn(username: "a", password: "b") { session { expiresAt } } }"#, false),
    ("{ changes { token } }", false), ("{ node(id: \"1\") { id } }", false),
    ("{ __schema { types { name } } }", false),
  ])
  func `operations with secrets in their answers are known`(_ text: String, _ isIt: Bool) throws {
    let document = try Parser.parse(text)
    let fragments = Dictionary(
      document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    let operation = try #require(document.operations.first)
    #expect(try TestServer.mapping.get().isConfidential(operation, fragments: fragments) == isIt)
  }
}
