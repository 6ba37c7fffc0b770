import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Testing

/// Requests whose `variables` are a list.
@Suite struct VariableSetsTests {
  private func batch(
    _ body: String, headers: [String] = [], endpoint: GraphQLEndpoint? = nil
  ) throws -> ([GraphQLRequest], ResponseFormat) {
    let endpoint = try endpoint ?? EndpointTests.endpoint()
    let reception = try endpoint.receive(EndpointTests.post(body, headers: headers))
    guard case .batch(let requests, let format) = reception else {
      Issue.record("\(reception)")
      throw EndpointTests.Failure()
    }
    return (requests, format)
  }

  @Test func `each set is a request, alike but for its variables`() throws {
    let (requests, format) = try batch(
      #"{"query":"q","operationName":"O","onError":"NULL","variables":[{"a":1},{},{"a":[2]}]}"#)
    #expect(
      requests.map { "\(JSONValue.object($0.variables))" } == [#"{"a":1}"#, "{}", #"{"a":[2]}"#])
    #expect(requests.allSatisfy { $0.document == "q" && $0.operationName == "O" })
    #expect(requests.allSatisfy { $0.onError == .null && $0.identity == EndpointTests.identity })
    #expect(format.sets == .list && format.batchContentType == "application/json; charset=utf-8")
  }

  @Test(arguments: [
    ("application/jsonl", "application/jsonl"),
    ("application/graphql-response+json, application/jsonl", "application/jsonl"),
    (
      "application/graphql-response+jsonl;q=0.9, application/jsonl;q=0.8",
      "application/graphql-response+jsonl"
    ),
    ("application/graphql+jsonl; charset=utf-8", "application/graphql+jsonl"),
  ]) func `a client that names JSON Lines has it, by the name it likes best`(
    accept: String, expected: String
  ) throws {
    let (_, format) = try batch(
      #"{"query":"q","variables":[{}]}"#, headers: ["Accept: \(accept)"])
    #expect(format.batchContentType == expected + "; charset=utf-8")
    // A single set is a single response.
    let (_, single) = try EndpointTests.accepted(
      EndpointTests.endpoint().receive(
        EndpointTests.post(#"{"query":"q","variables":{}}"#, headers: ["Accept: \(accept)"])))
    #expect(single.sets == nil && !single.isStreamOnly)
  }

  @Test(arguments: ["application/jsonl;q=0, application/json", "application/json", "*/*"])
  func `others have a list`(accept: String) throws {
    let (_, format) = try batch(
      #"{"query":"q","variables":[{}]}"#, headers: ["Accept: \(accept)"])
    #expect(format.sets == .list)
  }

  @Test(arguments: ["[]", "[1]", "[null]", "[[{}]]", #"[{},"x"]"#])
  func `a list of anything but objects is refused`(variables: String) throws {
    let answer = try EndpointTests.refused(
      EndpointTests.endpoint().receive(
        EndpointTests.post(#"{"query":"q","variables":\#(variables)}"#)))
    #expect(answer.status == .badRequest)
    #expect(try EndpointTests.code(answer) == "BAD_REQUEST")
  }

  @Test func `there are no more sets than are allowed, and none by other ways`() throws {
    let endpoint = EndpointTests.endpoint {
      $0.maximumVariableSets = 2
      $0.maximumBatch = 2
    }
    let two = #"{"query":"q","variables":[{},{}]}"#
    #expect(try batch(two, endpoint: endpoint).0.count == 2)
    let none = EndpointTests.endpoint { $0.maximumVariableSets = 0 }
    #expect(try EndpointTests.refused(none.receive(EndpointTests.post(two))).status == .badRequest)
    let refused: [(String, [String])] = [
      (#"{"query":"q","variables":[{},{},{}]}"#, []), ("[\(two)]", []),
      (two, ["Idempotency-Key: k"]),
    ]
    for (body, headers) in refused {
      let answer = try EndpointTests.refused(
        endpoint.receive(EndpointTests.post(body, headers: headers)))
      #expect(answer.status == .badRequest, "\(body)")
    }
    let url = try EndpointTests.request("GET", "/graphql?query=q&variables=%5B%7B%7D%5D")
    #expect(try EndpointTests.refused(endpoint.receive(url)).status == .badRequest)
    #expect(throws: TransportError.self) {
      try endpoint.request(
        in: [
          JSONValue.Member(name: "query", value: .string("q")),
          JSONValue.Member(name: "variables", value: .array([.object([])])),
        ], bytes: 40, as: EndpointTests.identity)
    }
  }

  @Test func `each set may be as large as the variables of one request`() throws {
    let endpoint = EndpointTests.endpoint { $0.maximumVariablesBytes = 100 }
    let set = "{\"a\":\"\(String(repeating: "x", count: 80))\"}"
    #expect(
      try batch(#"{"query":"q","variables":[\#(set),\#(set)]}"#, endpoint: endpoint).0.count == 2)
    let large = "{\"a\":\"\(String(repeating: "x", count: 101))\"}"
    let answer = try EndpointTests.refused(
      endpoint.receive(EndpointTests.post(#"{"query":"q","variables":[{},\#(large)]}"#)))
    #expect(try EndpointTests.code(answer) == "BAD_USER_INPUT")
  }
}
