import GraphQLTransport
import HTTP
import Testing

/// The names by which a server is reached, and pages that made their own name lead to it.
@Suite struct ServedHostsTests {
  private let urls = ["https://api.example/graph", "https://app.example:8443"]

  private func request(host: String) throws -> HTTPRequest {
    try #require(
      try HTTPRequest.parse(Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)))
  }

  private func policy(_ listen: String) throws -> CrossOriginPolicy {
    var policy = CrossOriginPolicy()
    policy.hosts = ServedHosts(at: try #require(HTTPAddress(listen)), named: urls)
    return policy
  }

  @Test(arguments: [
    "localhost", "localhost:8080", "LOCALHOST", "page.localhost:8080", "127.0.0.1:8080",
    "[::1]:8080",
    "192.0.2.7", "api.example", "API.example.", "app.example:1", "",
  ]) func `its own names and every address are served`(host: String) throws {
    let policy = try policy("127.0.0.1:8080")
    #expect(policy.refusal(of: try request(host: host), isTool: true) == nil)
  }

  @Test(arguments: [
    "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080", "example",
    "xlocalhost",
    "evil.example:127.0.0.1",
  ]) func `another name is refused on loopback, and for tools everywhere`(host: String) throws {
    let request = try request(host: host)
    for listen in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"] {
      let refusal = try policy(listen).refusal(of: request, isTool: false)
      #expect(refusal?.contains("--public-url") == true)
    }
    for listen in ["*:8080", "192.0.2.7:8080", "unix:/run/x"] {
      #expect(try policy(listen).refusal(of: request, isTool: false) == nil)
      #expect(try policy(listen).refusal(of: request, isTool: true) != nil)
    }
  }

  @Test func `pages of this machine may use a demo, and others may not`() throws {
    let endpoint = EndpointTests.endpoint { $0.crossOrigin.allowsLocalhost = true }
    for (origin, isAllowed) in [
      ("http://localhost:3000", true), ("http://127.0.0.1:5173", true), ("http://localhost", true),
      ("http://localhost.evil.example", false), ("http://localhost:x", false),
      ("https://evil.example", false), ("null", false),
    ] {
      let answer = try EndpointTests.refused(
        endpoint.receive(
          EndpointTests.request(
            "OPTIONS", headers: ["Origin: \(origin)", "Access-Control-Request-Method: POST"])))
      #expect(answer.status == (isAllowed ? .noContent : .forbidden), "\(origin)")
    }
  }

  @Test func `a mark before the body is skipped`() throws {
    let (request, _) = try EndpointTests.accepted(
      EndpointTests.endpoint().receive(EndpointTests.post("\u{FEFF}{\"query\":\"{ a }\"}")))
    #expect(request.document == "{ a }")
  }
}
