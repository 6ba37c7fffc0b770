import Foundation
import Glibc
import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Responses that are sent again without asking PostgreSQL: `--answer-cache`.
  @Suite struct KeptAnswerTests {
    private static let post =
      "query($id: ID!) { node(id: $id) { ... on Post { body commentCount author { username } } } }"

    private func server() throws -> LiveServer { try LiveServer { $0.answerCacheBytes = 8 << 20 } }

    private func sent(_ server: LiveServer) throws -> Int {
      try server.metric("sociograph_kept_responses_sent_total")
    }

    /// Sends a query until it is answered from what is kept.
    private func keep(
      _ query: String, _ variables: JSONValue, _ server: LiveServer, token: String? = nil
    ) throws -> String {
      let before = try sent(server)
      var text = ""
      let isKept = try eventually {
        text = try server.graph.send(query, variables, token: token).text
        return try sent(server) > before
      }
      #expect(isKept)
      return text
    }

    @Test func `a query is answered while nothing of it can be read`() throws {
      let server = try server()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      let known = try keep(Self.post, ["id": post.json], server, token: ann.token)
      #expect(known.contains("words"))
      let lock = try server.lock("post")
      _ = try lock.post(.text, by: ann, "more words")
      let again = try server.graph.send(Self.post, ["id": post.json], token: ann.token)
      #expect(again.text == known)
      // The viewer is not part of what this query reads for a stranger: it has an answer of its own.
      try lock.run("COMMIT")
      #expect(try server.graph.send(Self.post, ["id": post.json]).status == 200)
    }

    @Test func `a client never misses what it wrote, and others see it soon`() throws {
      let server = try server()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let post = try data.post(.text, by: ann, "0")
      _ = try keep(Self.post, ["id": post.json], server, token: ann.token)
      for number in 1...100 {
        try server.graph.mutate(
          "updateTextPost(textPostId: $id, input: {body: $body})", "__typename",
          ["id: ID!": post.json, "body: String!": .string("\(number)")], as: ann)
        let own = try server.graph.send(Self.post, ["id": post.json], token: ann.token)
        #expect(own.contains("\"body\":\"\(number)\""), "\(own.text)")
      }
      #expect(
        try eventually {
          try server.graph.send(Self.post, ["id": post.json], token: bob.token)
            .contains("\"body\":\"100\"")
        })
      // What is written past the server, too.
      _ = try keep(Self.post, ["id": post.json], server, token: bob.token)
      _ = try data.comment(post, by: bob, "a comment")
      #expect(
        try eventually {
          try server.graph.send(Self.post, ["id": post.json], token: bob.token)
            .contains("\"commentCount\":1")
        })
    }

    @Test func `viewers have responses of their own`() throws {
      let server = try server()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let query = "{ viewer { user { username } } }"
      let own = try keep(query, .object([]), server, token: ann.token)
      let other = try keep(query, .object([]), server, token: bob.token)
      #expect(own != other && own.contains(ann.username) && other.contains(bob.username))
      #expect(try server.graph.send(query).text.contains("\"viewer\":null"))
    }

    @Test func `what changes with time, secrets and errors are not kept`() throws {
      let server = try server()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      _ = try keep(Self.post, ["id": post.json], server, token: ann.token)
      let before = try sent(server)
      for query in [
        "{ viewer { dataExport } }", "{ viewer { sessions { createdAt } } }", "{ nothing }",
      ] {
        for _ in 0..<3 { _ = try server.graph.send(query, token: ann.token) }
      }
      #expect(try sent(server) == before)
    }

    @Test func `an unchanged response is 304, without asking either`() throws {
      let server = try server()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann, "words")
      _ = try keep(Self.post, ["id": post.json], server)
      let body = JSONValue.object([
        .init(name: "query", value: .string(Self.post)),
        .init(name: "variables", value: ["id": post.json]),
      ])
      func ask(_ headers: [(String, String)] = []) throws -> HTTPClients.Response {
        try server.graph.send(
          "QUERY", "/graphql", headers: [("Content-Type", "application/json")] + headers,
          body: Array("\(body)".utf8))
      }
      let tag = try #require(try ask().header("ETag"))
      let lock = try server.lock("post")
      _ = try lock.post(.text, by: ann, "more words")
      #expect(try ask([("If-None-Match", tag)]).status == 304)
    }
  }

  /// The showcase with and without kept responses.
  @Suite struct KeptShowcaseTests {
    @Test func `showcase answers are the same from what is kept`() throws {
      let plain = try GraphServer.seeded
      let kept = try LiveServer(database: plain.database) { $0.answerCacheBytes = 32 << 20 }
      var keptCount = 0
      for name in ShowcaseTests.names where !name.hasPrefix("Q19") {
        let path = "\(ShowcaseTests.folder)/\(name)"
        let query = try String(contentsOfFile: path + "/operation.graphql", encoding: .utf8)
        let variables = try JSONParser.parse(
          [UInt8](Data(contentsOf: URL(filePath: path + "/variables.json"))))
        let expected = try plain.send(query, variables, token: "demo-marisol").text
        for _ in 0..<3 {
          let found = try kept.graph.send(query, variables, token: "demo-marisol").text
          #expect(found == expected, "\(name)")
        }
        keptCount = try kept.metric("sociograph_kept_responses_sent_total")
      }
      #expect(keptCount > 10)
    }
  }
}
