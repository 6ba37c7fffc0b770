import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

/// The audit suite of GraphQL over HTTP against the real server.
@Suite(.usesCluster) struct HTTPProtocolTests {
  @Test(arguments: Audit.all) func `audit of GraphQL over HTTP`(audit: Audit) throws {
    let answer = try TestServer.shared.send(Array(audit.request.utf8))
    #expect(audit.statuses.contains(answer.status), "\(answer.head)\(answer.body)")
    if let type = audit.contentType {
      #expect(answer.header("Content-Type") == "\(type); charset=utf-8")
    }
    guard audit.body != .anything else { return }
    guard case .object(let members) = try JSONParser.parse(Array(answer.body.utf8)) else {
      Issue.record("The answer is no object.")
      return
    }
    #expect(members.map(\.name) == (audit.body == .withoutErrors ? ["data"] : ["errors"]))
  }

  @Test func `a mutation by GET is refused before anything else is asked of it`() throws {
    let target = "/graphql?query=mutation%7BsignOut%7BuserErrors%7Bcode%7D%7D%7D"
    let answer = try TestServer.shared.send(
      Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
    #expect(answer.status == 405)
    #expect(answer.header("Allow") == "POST")
  }

  @Test func `curl asks by QUERY what it asks by POST, and changes nothing`() throws {
    let server = try TestServer.shared
    func curl(_ arguments: String...) throws -> String {
      let run = try LiveClients.tool(
        "curl",
        ["-sS", "--noproxy", "*", "-w", " %{http_code}", "-H", "Content-Type: application/json"]
          + arguments + ["http://127.0.0.1:\(server.port)/graphql"])
      #expect(run.status == 0)
      return run.output
    }
    let read =
      #"{"query":"query Q($n: Int) { users(first: $n) { nodes { id } } }","variables":{"n":1}}"#
    let posted = try curl("-X", "POST", "-d", read)
    #expect(posted.hasSuffix(" 200"))
    for _ in 0..<3 { #expect(try curl("-X", "QUERY", "-d", read) == posted) }
    let write = #"{"query":"mutation { signOut { userErrors { code } } }"}"#
    for _ in 0..<3 {
      #expect(try curl("-X", "QUERY", "-d", write).contains("METHOD_NOT_ALLOWED"))
    }
    #expect(try curl("-X", "POST", "-d", write).hasSuffix(" 200"))
    #expect(try curl("-X", "QUERY", "-d", write).hasSuffix(" 405"))
    let options = try curl("-i", "-X", "OPTIONS")
    #expect(options.contains("Accept-Query: application/json\r\n"))
  }

  @Test func `by its media type a client has the draft's statuses, or the audit's`() throws {
    let server = try TestServer { $0.endpoint.profile = .auto }
    #expect(try server.execute("{ nothing }").status == 422)
    #expect(try server.execute("{").status == 400)
    let body = #"{"query":"{ nothing }"}"#
    let legacy = try server.send(
      Array(
        """
        POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Accept: application/json\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
        """.utf8))
    #expect(legacy.status == 200)
    #expect(legacy.header("Content-Type") == "application/json; charset=utf-8")
  }

  @Test func `a page of an allowed origin may read, others may not`() throws {
    let server = try TestServer { $0.endpoint.crossOrigin.allowedOrigins = ["https://a.example"] }
    let allowed = try server.execute("{ __typename }", headers: "Origin: https://a.example\r\n")
    #expect(allowed.header("Access-Control-Allow-Origin") == "https://a.example")
    #expect(allowed.header("Vary") == "Origin")
    let other = try server.execute("{ __typename }", headers: "Origin: https://b.example\r\n")
    #expect(other.header("Access-Control-Allow-Origin") == nil)
  }
}
