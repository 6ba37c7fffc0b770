import GraphQLTransport
import HTTP
import Testing

/// CORS, and requests that another site's page could have forged.
@Suite struct CrossOriginTests {
  private let page = "https://app.example"
  private let body = #"{"query":"q"}"#

  private var endpoint: GraphQLEndpoint {
    EndpointTests.endpoint {
      $0.crossOrigin = CrossOriginPolicy(
        allowedOrigins: [page], allowsCredentials: true, sessionCookie: "__Host-session")
    }
  }

  /// What every response has.
  private static let vary = HTTPField("Vary", "Accept, Accept-Encoding")

  @Test func `without a list nothing is said about origins`() throws {
    let (_, format) = try EndpointTests.accepted(
      EndpointTests.endpoint().receive(
        EndpointTests.post(body, headers: ["Origin: \(page)"])))
    #expect(format.headers == [Self.vary])
  }

  @Test func `a page on the list may read the answer`() throws {
    let (_, format) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body, headers: ["Origin: \(page)"])))
    #expect(format.headers.contains(HTTPField("Access-Control-Allow-Origin", page)))
    #expect(format.headers.contains(HTTPField("Access-Control-Allow-Credentials", "true")))
    #expect(format.headers.contains(HTTPField("Vary", "Origin")))
  }

  @Test(arguments: [
    "https://other.example", "null", "https://app.example.evil.example", "http://app.example",
    "https://app.example:444", "HTTPS://APP.EXAMPLE",
  ]) func `another page may not`(origin: String) throws {
    let (_, format) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body, headers: ["Origin: \(origin)"])))
    #expect(format.headers == [HTTPField("Vary", "Origin"), Self.vary])
    let answer = try EndpointTests.refused(
      endpoint.receive(
        EndpointTests.request(
          "OPTIONS", headers: ["Origin: \(origin)", "Access-Control-Request-Method: POST"])))
    #expect(answer.status == .forbidden)
    #expect(try EndpointTests.code(answer) == "ORIGIN_NOT_ALLOWED")
    #expect(!answer.headers.contains { $0.name.hasPrefix("Access-Control") })
  }

  @Test func `null is no origin even when it is on the list`() throws {
    let endpoint = EndpointTests.endpoint { $0.crossOrigin.allowedOrigins = ["null"] }
    let (_, format) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body, headers: ["Origin: null"])))
    #expect(format.headers == [HTTPField("Vary", "Origin"), Self.vary])
  }

  @Test func `the preflight of a page on the list is granted`() throws {
    let answer = try EndpointTests.refused(
      endpoint.receive(
        EndpointTests.request(
          "OPTIONS",
          headers: [
            "Origin: \(page)", "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: content-type,authorization",
          ])))
    #expect(answer.status == .noContent)
    #expect(answer.headers.contains(HTTPField("Access-Control-Allow-Methods", "GET, POST, QUERY")))
    #expect(
      answer.headers.contains(
        HTTPField("Access-Control-Allow-Headers", "content-type,authorization")))
    #expect(answer.headers.contains(HTTPField("Access-Control-Max-Age", "600")))
  }

  // MARK: Forgery

  private let cookie = "Cookie: a=b; __Host-session=t"

  @Test(arguments: [
    ["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"], [],
    ["Sec-Fetch-Site: same-site", "Origin: https://app.example"], ["Origin: https://app.example"],
    ["Origin: http://localhost"],
  ]) func `a POST with the cookie passes from the own site and from the list`(
    headers: [String]
  ) throws {
    _ = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body, headers: [cookie] + headers)))
  }

  @Test(arguments: [
    ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"],
    ["Sec-Fetch-Site: cross-site", "Origin: https://other.example"],
    ["Origin: https://other.example"], ["Origin: null"], ["Origin: http://localhost:81"],
  ]) func `a POST with the cookie from elsewhere gets 403`(headers: [String]) throws {
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(body, headers: [cookie] + headers)))
    #expect(answer.status == .forbidden)
    #expect(try EndpointTests.code(answer) == "CSRF_PREVENTED")
  }

  @Test func `a QUERY with the cookie is checked like a POST`() throws {
    let own = try EndpointTests.query(body, headers: [cookie, "Sec-Fetch-Site: same-origin"])
    _ = try EndpointTests.accepted(endpoint.receive(own))
    for origin in ["Sec-Fetch-Site: cross-site", "Origin: https://other.example"] {
      let answer = try EndpointTests.refused(
        endpoint.receive(EndpointTests.query(body, headers: [cookie, origin])))
      #expect(try EndpointTests.code(answer) == "CSRF_PREVENTED")
    }
  }

  @Test(arguments: [
    "GraphQL-Require-Preflight: 1", "Apollo-Require-Preflight: true", "X-Apollo-Operation-Name: O",
  ]) func `a GET with the cookie needs a header that no form can send`(header: String) throws {
    _ = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.request("GET", "/?query=q", headers: [cookie, header])))
  }

  @Test(arguments: [[], ["GraphQL-Require-Preflight:"]])
  func `a GET with the cookie and without such a header gets 403`(headers: [String]) throws {
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.request("GET", "/?query=q", headers: [cookie] + headers)))
    #expect(answer.status == .forbidden)
    #expect(try EndpointTests.code(answer) == "CSRF_PREVENTED")
  }

  @Test func `a GET without the cookie needs nothing`() throws {
    _ = try EndpointTests.accepted(
      endpoint.receive(
        EndpointTests.request("GET", "/?query=q", headers: ["Cookie: x__Host-session=t"])))
  }
}
