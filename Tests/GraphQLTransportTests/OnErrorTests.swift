import GraphQLResponse
import GraphQLTransport
import Testing

/// The request member `onError`, and what a published document says in its place.
@Suite struct OnErrorTests {
  private func behavior(_ endpoint: GraphQLEndpoint, _ body: String) throws -> ErrorBehavior {
    try EndpointTests.accepted(endpoint.receive(EndpointTests.post(body))).0.onError
  }

  @Test func `a request says what errors do, or they propagate`() throws {
    let endpoint = try EndpointTests.endpoint()
    for behavior in ErrorBehavior.allCases {
      let body = #"{"query":"q","onError":"\#(behavior.rawValue)"}"#
      // From the third on it is known by its bytes.
      for _ in 1...3 { #expect(try self.behavior(endpoint, body) == behavior) }
      let (request, _) = try EndpointTests.accepted(
        endpoint.receive(
          EndpointTests.request("GET", "/graphql?query=q&onError=\(behavior.rawValue)")))
      #expect(request.onError == behavior)
    }
    for body in [#"{"query":"q"}"#, #"{"query":"q","onError":null}"#] {
      #expect(try behavior(endpoint, body) == .propagate)
    }
  }

  @Test(arguments: [#""null""#, #""ABORT""#, #""""#, "1", "{}", "true"])
  func `another value is somebody else's, and refused in extensions`(value: String) throws {
    let endpoint = try EndpointTests.endpoint()
    #expect(try behavior(endpoint, #"{"query":"q","onError":\#(value)}"#) == .propagate)
    let answer = try EndpointTests.refused(
      endpoint.receive(
        EndpointTests.post(#"{"query":"q","extensions":{"onError":\#(value)}}"#)))
    #expect(try EndpointTests.code(answer) == "BAD_REQUEST")
    #expect(
      String(decoding: answer.body, as: UTF8.self).contains(
        #"The parameter \"extensions.onError\" must be PROPAGATE, NULL or HALT."#))
  }

  @Test func `extensions say it as well, and name a document`() throws {
    let endpoint = try EndpointTests.endpoint {
      $0.trustedDocuments = try TrustedDocuments(manifest: Array(#"{"one":"{ a }"}"#.utf8))
    }
    #expect(try behavior(endpoint, #"{"query":"q","extensions":{"onError":"HALT"}}"#) == .halt)
    #expect(
      try behavior(
        endpoint, #"{"extensions":{"onError":"HALT","documentId":"one"},"onError":"NULL"}"#)
        == .null)
    let (request, _) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(#"{"extensions":{"documentId":"one"}}"#)))
    #expect(request.document == "{ a }")
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(#"{"query":"q","extensions":{"documentId":7}}"#)))
    #expect(try EndpointTests.code(answer) == "BAD_REQUEST")
  }

  @Test(arguments: [
    #"{"one":{"body":"{ a }","onError":"NULL"},"two":"{ b }"}"#,
    #"{"format":"apollo-persisted-query-manifest","operations":["#
      + #"{"id":"one","body":"{ a }","onError":"NULL"},{"id":"two","body":"{ b }"}]}"#,
  ]) func `a published document may say it, and a request says it again`(manifest: String) throws {
    let endpoint = try EndpointTests.endpoint {
      $0.trustedDocuments = try TrustedDocuments(manifest: Array(manifest.utf8))
      $0.trustedLevel = .allowList
    }
    #expect(try behavior(endpoint, #"{"documentId":"one"}"#) == .null)
    #expect(try behavior(endpoint, #"{"documentId":"sha256:one"}"#) == .null)
    #expect(try behavior(endpoint, #"{"query":"{ a }"}"#) == .null)
    #expect(try behavior(endpoint, #"{"documentId":"one","onError":"HALT"}"#) == .halt)
    #expect(try behavior(endpoint, #"{"documentId":"two"}"#) == .propagate)
  }

  @Test(arguments: [#""onError":"ABORT""#, #""onError":1"#])
  func `a manifest with another value is refused`(member: String) {
    let manifest = #"{"one":{"body":"{ a }",\#(member)}}"#
    #expect(throws: ManifestError.self) { try TrustedDocuments(manifest: Array(manifest.utf8)) }
  }
}
