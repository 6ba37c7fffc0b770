import Foundation
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

extension LiveTests {
  /// Streams to clients that accept a coding, read by httpx.
  @Suite struct CompressedStreamTests {
    private static let document =
      "query($id: ID!) { post(id: $id) { body ... @defer(label: \"L\") { comments(first: 9) { nodes { body } } } } }"

    private func request(_ body: JSONValue, _ headers: [String: String]) throws -> String {
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("sociograph-compressed-\(UUID().uuidString).json")
      let members = headers.map { JSONValue.Member(name: $0.key, value: .string($0.value)) }
      let text = JSONValue.object([
        JSONValue.Member(name: "body", value: body),
        JSONValue.Member(name: "headers", value: .object(members)),
      ])
      try Data("\(text)".utf8).write(to: file)
      return file.path
    }

    private func url(_ server: LiveServer) -> String {
      "http://127.0.0.1:\(server.graph.port)/graphql"
    }

    @Test(
      .enabled(
        if: LiveClients.python != nil, "httpx is not installed; script/live-clients does it."),
      arguments: [
        ("gzip", "text/event-stream"), ("br", "multipart/mixed;incrementalSpec=v0.2"),
        ("zstd", "text/event-stream"), ("zstd", "multipart/mixed;incrementalSpec=v0.2"),
      ])
    func `each part can be read before the next is there`(_ coding: String, _ accept: String)
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words that come first")
      let lock = try server.lock("comment")
      _ = try lock.comment(post, by: ann, "words that come later")
      let file = try request(
        .object([
          JSONValue.Member(name: "query", value: .string(Self.document)),
          JSONValue.Member(
            name: "variables",
            value: .object([JSONValue.Member(name: "id", value: post.json)])),
        ]), ["accept": accept])
      defer { try? FileManager.default.removeItem(atPath: file) }
      let client = try LiveClients.start("compressed.py", [url(server), coding, file])
      // It comes while the table cannot be read.
      client.wait(for: "words that come first")
      try server.waitForWaiting(1, "comment")
      try lock.run("COMMIT")
      let (status, output) = client.finish()
      #expect(status == 0, "\(output)")
      #expect(output.hasPrefix("\(coding) Accept, Accept-Encoding\n"), "\(output)")
      #expect(output.contains(#""hasNext":false"#), "\(output)")
      #expect(
        output.hasSuffix(accept.hasPrefix("text") ? "event: complete\ndata:\n\n" : "--\r\n"),
        "\(output)")
    }

    @Test(
      .enabled(
        if: LiveClients.python != nil, "httpx is not installed; script/live-clients does it."))
    func `events and heartbeats of a subscription are compressed`() throws {
      let server = try LiveServer { $0.live.heartbeat = .milliseconds(20) }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      let file = try request(
        .object([
          JSONValue.Member(
            name: "query",
            value: .string(
              "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }")),
          JSONValue.Member(
            name: "variables",
            value: .object([JSONValue.Member(name: "id", value: post.json)])),
        ]), ["accept": "text/event-stream"])
      defer { try? FileManager.default.removeItem(atPath: file) }
      let client = try LiveClients.start("compressed.py", [url(server), "br", file])
      client.wait(for: ":\n\n:\n\n")
      try server.waitForHearing(1)
      _ = try data.comment(post, by: ann, "the comment's words")
      client.wait(for: "the comment's words")
      server.graph.stop(patience: .zero)
      #expect(client.finish().output.contains("event: next"))
    }
  }
}
