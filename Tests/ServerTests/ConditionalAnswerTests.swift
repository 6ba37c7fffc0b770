import Foundation
import HTTP
import HTTPTestSupport
import OracleSupport
import TestSupport
import Testing

@testable import Server

/// `ETag` and `If-None-Match`.
@Suite(.usesCluster) struct ConditionalAnswerTests {
  private static let path =
    "/graphql?query=query%20Q%7Busers(first:1)%7Bnodes%7Bid%20username%7D%7D%7D"
  private static let body = #"{"query":"{ users(first: 1) { nodes { id username } } }"}"#

  private func get(
    _ server: TestServer, _ path: String = path, method: String = "GET", headers: String = ""
  ) throws -> RawClient.Answer {
    let client = try RawClient(port: server.port)
    client.send(
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nGraphQL-Require-Preflight: 1\r\n"
        + headers + "\r\n")
    return client.answer(isHead: method == "HEAD")
  }

  private func query(
    _ server: TestServer, method: String = "QUERY", headers: String = ""
  ) throws -> RawClient.Answer {
    try server.send(
      Array(
        ("\(method) /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          + "\(headers)Content-Length: \(Self.body.utf8.count)\r\n\r\n\(Self.body)").utf8))
  }

  private func insert(_ name: String, into server: TestServer) throws {
    try TestCluster.session(server.database).execute(
      """
      INSERT INTO app_user (username, email, display_name, name_key)
      VALUES ($1, $1 || '@example.org', 'Somebody', 'somebody')
      """, [name])
  }

  @Test func `who has the response is told so, until it changes`() throws {
    let server = try TestServer()
    let first = try get(server)
    let tag = try #require(first.header("ETag"))
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 29)
    #expect(first.header("Cache-Control") == "no-cache")
    for field in [tag, "W/\(tag)", "\"a\", \(tag)", "\"a\" ,W/\(tag) ", "*"] {
      for method in ["GET", "HEAD"] {
        let known = try get(server, method: method, headers: "If-None-Match: \(field)\r\n")
        #expect(known.status == 304 && known.header("ETag") == tag && known.body.isEmpty)
        #expect(known.header("Content-Type") == nil && known.header("Content-Length") == nil)
        #expect(known.header("Cache-Control") == "no-cache")
      }
      let asked = try query(server, headers: "If-None-Match: \(field)\r\n")
      #expect(asked.status == 304 && asked.header("ETag") == tag)
    }
    for field in ["\"a\"", tag.dropLast() + "x\"", "W/", "", "\"\""] {
      let answer = try get(server, headers: "If-None-Match: \(field)\r\n")
      #expect(answer.status == 200 && answer.body == first.body && answer.header("ETag") == tag)
    }
    #expect(try get(server, method: "HEAD").header("ETag") == tag)
    try insert("u\(UInt32.random(in: 0 ... .max))", into: server)
    let changed = try get(server, headers: "If-None-Match: \(tag)\r\n")
    #expect(changed.status == 200 && changed.header("ETag") != tag)
    #expect(try query(server).header("ETag") == changed.header("ETag"))
  }

  @Test func `a POST, an error and a secret have none`() throws {
    let server = try TestServer.shared
    #expect(try query(server, method: "POST").header("ETag") == nil)
    #expect(try query(server, method: "POST", headers: "If-None-Match: *\r\n").status == 200)
    for path in ["%7Bnothing%7D", "%7B", "%7Bviewer%7BdataExport%7D%7D"] {
      let answer = try get(server, "/graphql?query=\(path)", headers: "If-None-Match: *\r\n")
      #expect(answer.header("ETag") == nil && answer.status != 304)
    }
  }

  @Test func `a viewer's response is not kept by caches, and its tag is the viewer's`() throws {
    let server = try TestServer(database: TestCluster.migratedDatabase())
    let path = "/graphql?query=%7Bviewer%7Buser%7Busername%7D%7D%7D"
    var tags: Set<String> = []
    for _ in 0..<2 {
      let bearer = "Authorization: Bearer \(try SocketTests.token(server.database))\r\n"
      let answer = try get(server, path, headers: bearer)
      #expect(answer.header("Cache-Control") == "no-store")
      let tag = try #require(answer.header("ETag"))
      tags.insert(tag)
      #expect(
        try get(server, path, headers: bearer + "If-None-Match: \(tag)\r\n").status == 304)
      #expect(try get(server, path, headers: "If-None-Match: \(tag)\r\n").status == 200)
    }
    #expect(tags.count == 2)
  }

  @Test func `the balance of points is not part of the tag`() throws {
    let server = try TestServer {
      $0.rateLimits = RateLimiter.Settings(
        viewer: nil, address: RateLimiter.Rate(maximum: 1_000, perSecond: 1))
      $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? TrustedProxies()
    }
    let proxied = "X-Forwarded-For: 192.0.2.1\r\n"
    let first = try get(server, headers: proxied)
    #expect(first.body.contains("\"throttle\""))
    let tag = try #require(first.header("ETag"))
    #expect(tag.hasPrefix("W/\""))
    let second = try get(server, headers: proxied)
    #expect(second.body != first.body && second.header("ETag") == tag)
    #expect(try get(server, headers: proxied + "If-None-Match: \(tag)\r\n").status == 304)
  }

  @Test func `each media type and coding has a tag of its own, and 304 repeats it`() throws {
    let server = try TestServer.shared
    let path = "/graphql?query=%7B__schema%7Btypes%7Bdescription%7D%7D%7D"
    // The tag of each, and that of the one of its media type which is not coded.
    var tags: [String: (own: String, plain: String)] = [:]
    for type in ["application/json", "application/graphql-response+json"] {
      var plain = ""
      for coding in ["identity", "gzip", "br", "zstd"] {
        let head = "Accept: \(type)\r\nAccept-Encoding: \(coding)\r\n"
        let answer = try get(server, path, headers: head)
        #expect(answer.status == 200)
        #expect(answer.header("Vary") == "Accept, Accept-Encoding")
        #expect(answer.header("Content-Encoding") == (coding == "identity" ? nil : coding))
        let tag = answer.header("ETag") ?? ""
        if coding == "identity" { plain = tag }
        tags[head] = (tag, plain)
      }
    }
    let all = Set(tags.values.map(\.own))
    #expect(all.count == 8 && !all.contains(""))
    for (head, tag) in tags {
      for other in all {
        let answer = try get(server, path, headers: head + "If-None-Match: \(other)\r\n")
        // Whether a response is coded depends on the load, so that one as it is serves as well.
        let isKnown = other == tag.own || other == tag.plain
        #expect(answer.status == (isKnown ? 304 : 200), "\(head) \(other)")
        if answer.status == 304 {
          #expect(answer.header("ETag") == other)
          #expect(answer.header("Vary") == "Accept, Accept-Encoding")
        }
      }
    }
    let refused = try get(server, "/graphql?query=%7B", headers: "Accept: text/plain\r\n")
    #expect(refused.status == 406 && refused.header("Vary") == "Accept, Accept-Encoding")
  }

  @Test func `curl revalidates what it saved, each coding by its own tag`() throws {
    let server = try TestServer.shared
    let folder = try TemporaryFolder()
    func curl(_ arguments: String...) throws -> String {
      let run = try LiveClients.tool(
        "curl",
        [
          "-sS", "--noproxy", "*", "-o", folder.path + "/body", "-w",
          "%{http_code} %{size_download}",
        ]
          + ["-H", "GraphQL-Require-Preflight: 1"] + arguments + [
            "http://127.0.0.1:\(server.port)/graphql?query=%7B__schema%7Btypes%7Bdescription%7D%7D%7D"
          ])
      #expect(run.status == 0, "\(run.output)")
      return run.output
    }
    let tags = folder.path + "/tags"
    #expect(try curl("--compressed", "--etag-save", tags).hasPrefix("200 "))
    #expect(try String(contentsOfFile: tags, encoding: .utf8).hasPrefix("W/\""))
    #expect(try curl("--compressed", "--etag-compare", tags) == "304 0")
    #expect(try curl("--etag-compare", tags).hasPrefix("200 "))
    #expect(try curl("--etag-save", tags).hasPrefix("200 "))
    #expect(try String(contentsOfFile: tags, encoding: .utf8).hasPrefix("\""))
    #expect(try curl("-H", "Accept-Encoding: zstd", "--etag-compare", tags) == "304 0")
  }
}
