import GraphQLTransport
import HTTP
import JSON
import Synchronization
import Testing

/// Automatic persisted queries, and documents published by the operator.
@Suite struct PersistedDocumentTests {
  private let query = "{ __typename }"
  private var hash: String { PersistedQueries.hash(query) }

  private func body(query: String?, hash: String) -> String {
    let text = query.map { "\"query\":\"\($0)\"," } ?? ""
    return "{\(text)\"extensions\":{\"persistedQuery\":{\"version\":1,\"sha256Hash\":\"\(hash)\"}}}"
  }

  @Test func `the hash is SHA-256 of the text`() {
    #expect(
      PersistedQueries.hash("abc")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      PersistedQueries.hash("{__typename}")
        == "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38")
  }

  @Test func `a hash is unknown until its query was sent along once`() throws {
    let endpoint = try EndpointTests.endpoint()
    let unknown = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(body(query: nil, hash: hash))))
    #expect(unknown.status == .ok)
    #expect(try EndpointTests.code(unknown) == "PERSISTED_QUERY_NOT_FOUND")
    #expect(String(decoding: unknown.body, as: UTF8.self).contains("\"PersistedQueryNotFound\""))
    #expect(unknown.headers.contains { $0.name == "Cache-Control" })
    _ = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body(query: query, hash: hash))))
    let (request, _) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body(query: nil, hash: hash.uppercased()))))
    #expect(request.document == query)
  }

  @Test func `a hash that is not that of its query gets 400 and is not kept`() throws {
    let endpoint = try EndpointTests.endpoint()
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(body(query: "{ other }", hash: hash))))
    #expect(answer.status == .badRequest)
    let after = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(body(query: nil, hash: hash))))
    #expect(try EndpointTests.code(after) == "PERSISTED_QUERY_NOT_FOUND")
  }

  @Test(arguments: [
    #"{"version":2,"sha256Hash":"HASH"}"#, #"{"sha256Hash":"HASH"}"#, #"{"version":1}"#,
    #"{"version":1,"sha256Hash":"short"}"#, #"{"version":1,"sha256Hash":1}"#, "true", "[]",
  ]) func `a malformed persisted query gets 400`(value: String) throws {
    let value = value.replacing("HASH", with: hash)
    let answer = try EndpointTests.refused(
      EndpointTests.endpoint().receive(
        EndpointTests.post("{\"query\":\"q\",\"extensions\":{\"persistedQuery\":\(value)}}")))
    #expect(answer.status == .badRequest)
  }

  @Test func `clients are told when persisted queries are off`() throws {
    let endpoint = EndpointTests.endpoint { $0.persistedQueries = nil }
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(body(query: nil, hash: hash))))
    #expect(try EndpointTests.code(answer) == "PERSISTED_QUERY_NOT_SUPPORTED")
    _ = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body(query: query, hash: hash))))
  }

  @Test func `a persisted query works by GET`() throws {
    let endpoint = try EndpointTests.endpoint()
    _ = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body(query: query, hash: hash))))
    let (request, _) = try EndpointTests.accepted(
      endpoint.receive(
        EndpointTests.request(
          "GET",
          "/?extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22\(hash)%22%7D%7D",
          headers: ["Content-Type: application/json"])))
    #expect(request.document == query)
  }

  @Test func `the least recently used queries leave first`() throws {
    let kept = PersistedQueries(maximumCount: 8, maximumBytes: 1000)
    let endpoint = EndpointTests.endpoint { $0.persistedQueries = kept }
    func send(_ query: String) throws {
      _ = try EndpointTests.accepted(
        endpoint.receive(EndpointTests.post(body(query: query, hash: PersistedQueries.hash(query))))
      )
    }
    func isKnown(_ query: String) throws -> Bool {
      let reception = endpoint.receive(
        try EndpointTests.post(body(query: nil, hash: PersistedQueries.hash(query))))
      if case .request = reception { return true } else { return false }
    }
    for number in 0..<8 { try send("{ a\(number) }") }
    #expect(try isKnown("{ a0 }"))
    try send("{ a8 }")
    #expect(kept.count == 8)
    #expect(try isKnown("{ a0 }"))
    #expect(try !isKnown("{ a1 }"))
    #expect(try isKnown("{ a8 }"))
    let large = "{ \(String(repeating: "a", count: 950)) }"
    try send(large)
    #expect(try isKnown(large))
    let other = "{ \(String(repeating: "b", count: 950)) }"
    try send(other)
    #expect(try isKnown(other))
    #expect(kept.count == 1)
    let tooLarge = "{ \(String(repeating: "a", count: 1000)) }"
    try send(tooLarge)
    #expect(try !isKnown(tooLarge))
  }

  // MARK: Published documents

  private let manifest = #"{"one":"{ a }","2":"query Two { b }"}"#

  private func endpoint(
    _ level: TrustedDocuments.Level,
    report: @escaping @Sendable (GraphQLEndpoint.Event) -> Void = { _ in }
  ) throws -> GraphQLEndpoint {
    var configuration = GraphQLEndpoint.Configuration()
    configuration.trustedDocuments = try TrustedDocuments(manifest: Array(manifest.utf8))
    configuration.trustedLevel = level
    return GraphQLEndpoint(configuration, report: report)
  }

  @Test(arguments: [
    #"{"documentId":"one"}"#, #"{"doc_id":"one"}"#, #"{"id":"one"}"#,
    #"{"documentId":"sha256:one"}"#,
  ]) func `a published document is found by its id at every level`(body: String) throws {
    for level in TrustedDocuments.Level.allCases {
      let (request, _) = try EndpointTests.accepted(
        endpoint(level).receive(EndpointTests.post(body)))
      #expect(request.document == "{ a }")
      #expect(request.trustedID?.hasSuffix("one") == true)
    }
    let (request, _) = try EndpointTests.accepted(
      endpoint(.idOnly).receive(EndpointTests.post(#"{"doc_id":2}"#)))
    #expect(request.document == "query Two { b }")
  }

  @Test func `an unknown id gets 422`() throws {
    for level in TrustedDocuments.Level.allCases {
      let answer = try EndpointTests.refused(
        endpoint(level).receive(EndpointTests.post(#"{"documentId":"three"}"#)))
      #expect(answer.status == .unprocessableContent)
      #expect(try EndpointTests.code(answer) == "PERSISTED_QUERY_NOT_FOUND")
    }
  }

  @Test func `level off and log execute any document, log reports it`() throws {
    let reported = Mutex<[String?]>([])
    let report: @Sendable (GraphQLEndpoint.Event) -> Void = { event in
      if case .documentNotTrusted(let name) = event { reported.withLock { $0.append(name) } }
    }
    for level in [TrustedDocuments.Level.off, .log] {
      let (request, _) = try EndpointTests.accepted(
        endpoint(level, report: report).receive(
          EndpointTests.post(#"{"query":"{ c }","operationName":"C"}"#)))
      #expect(request.trustedID == nil)
    }
    #expect(reported.withLock { $0 } == ["C"])
    let (request, _) = try EndpointTests.accepted(
      endpoint(.log, report: report).receive(EndpointTests.post(#"{"query":"{ a }"}"#)))
    #expect(request.trustedID == "one")
    #expect(reported.withLock { $0.count } == 1)
  }

  @Test func `an allow-list executes published texts and no other`() throws {
    let endpoint = try endpoint(.allowList)
    let (request, _) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(#"{"query":"{ a }"}"#)))
    #expect(request.trustedID == "one")
    for body in [#"{"query":"{ c }"}"#, #"{"query":"{  a }"}"#, body(query: query, hash: hash)] {
      let answer = try EndpointTests.refused(endpoint.receive(EndpointTests.post(body)))
      #expect(answer.status == .badRequest)
      #expect(try EndpointTests.code(answer) == "OPERATION_NOT_SAFELISTED")
    }
  }

  @Test func `id-only executes no text, not even a published one`() throws {
    let answer = try EndpointTests.refused(
      endpoint(.idOnly).receive(EndpointTests.post(#"{"query":"{ a }"}"#)))
    #expect(try EndpointTests.code(answer) == "OPERATION_NOT_SAFELISTED")
    let (request, _) = try EndpointTests.accepted(
      endpoint(.idOnly).receive(EndpointTests.post(#"{"query":"{ c }","documentId":"one"}"#)))
    #expect(request.document == "{ a }")
  }

  @Test func `a manifest of Apollo is read, and its ids serve as persisted hashes`() throws {
    let apollo = """
      {"format":"apollo-persisted-query-manifest","version":1,"operations":[
        {"id":"\(hash)","name":"T","type":"query","body":"\(query)"}]}
      """
    let endpoint = try EndpointTests.endpoint {
      $0.trustedDocuments = try TrustedDocuments(manifest: Array(apollo.utf8))
      $0.trustedLevel = .idOnly
    }
    let (request, _) = try EndpointTests.accepted(
      endpoint.receive(EndpointTests.post(body(query: nil, hash: hash))))
    #expect(request.document == query)
    #expect(request.trustedID == hash)
  }

  @Test(arguments: [
    "", "[]", "{\"a\":1}", "{\"a\":\"\"}", "{\"\":\"{ a }\"}", "{\"format\":\"other\"}",
    "{\"format\":\"apollo-persisted-query-manifest\"}",
    "{\"format\":\"apollo-persisted-query-manifest\",\"operations\":[{\"id\":\"a\"}]}",
    "{\"format\":\"apollo-persisted-query-manifest\",\"operations\":"
      + "[{\"id\":\"a\",\"body\":\"x\"},{\"id\":\"a\",\"body\":\"y\"}]}",
  ]) func `a malformed manifest is refused`(manifest: String) {
    #expect(throws: ManifestError.self) { try TrustedDocuments(manifest: Array(manifest.utf8)) }
  }
}
