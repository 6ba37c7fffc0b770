import GraphQLLanguage
import GraphQLResponse
import GraphQLTransport
import HTTP
import JSON
import Testing

extension GraphQLEndpoint {
  func receive(_ request: HTTPRequest) -> Reception {
    receive(request, head(of: request), as: EndpointTests.identity)
  }
}

/// The handling of HTTP requests, without sockets.
@Suite struct EndpointTests {
  struct Failure: Error {}

  static let identity = RequestIdentity(
    id: "r1", trace: TraceContext(id: TraceID(high: 1, low: 2)))

  static func request(
    _ method: String = "POST", _ target: String = "/graphql", headers: [String] = [],
    body: String = ""
  ) throws -> HTTPRequest {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + headers
    let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
    let text = (lines + length + ["", body]).joined(separator: "\r\n")
    guard let request = try HTTPRequest.parse(Array(text.utf8)) else { throw Failure() }
    return request
  }

  static func post(_ body: String, headers: [String] = []) throws -> HTTPRequest {
    try request(headers: ["Content-Type: application/json"] + headers, body: body)
  }

  static func query(
    _ body: String, type: String? = "application/json", headers: [String] = []
  ) throws -> HTTPRequest {
    try request(
      "QUERY", headers: (type.map { ["Content-Type: \($0)"] } ?? []) + headers, body: body)
  }

  static func endpoint(
    _ change: (inout GraphQLEndpoint.Configuration) throws -> Void = { _ in }
  ) rethrows -> GraphQLEndpoint {
    var configuration = GraphQLEndpoint.Configuration()
    // What the profiles differ in is tested by their names.
    configuration.profile = .auto
    try change(&configuration)
    return GraphQLEndpoint(configuration)
  }

  static func accepted(
    _ reception: GraphQLEndpoint.Reception
  ) throws -> (GraphQLRequest, ResponseFormat) {
    guard case .request(let request, let format) = reception else {
      Issue.record("\(reception)")
      throw Failure()
    }
    return (request, format)
  }

  static func refused(_ reception: GraphQLEndpoint.Reception) throws -> GraphQLAnswer {
    guard case .answer(let answer) = reception else {
      Issue.record("\(reception)")
      throw Failure()
    }
    return answer
  }

  static func code(_ answer: GraphQLAnswer) throws -> String {
    let body = try JSONParser.parse(answer.body)
    guard case .array(let errors)? = body["errors"], case .object = errors.first,
      case .string(let code)? = errors[0]["extensions"]?["code"]
    else { return "" }
    return code
  }

  // MARK: Parameters

  @Test func `all parameters of a POST arrive, unknown ones are ignored`() throws {
    let (request, format) = try Self.accepted(
      Self.endpoint().receive(
        Self.post(
          #"{"query":"q","operationName":"O","variables":{"b":1,"a":[null]},"extensions":{"x":true},"#
            + #""unknown":1}"#)))
    #expect(
      request
        == GraphQLRequest(
          identity: Self.identity, document: "q", operationName: "O",
          variables: [
            .init(name: "b", value: .number("1")), .init(name: "a", value: .array([.null])),
          ], extensions: [.init(name: "x", value: .boolean(true))]))
    #expect(format.mediaType == .json)
  }

  @Test func `behind a head that repeats, each body is its own request`() throws {
    let endpoint = try Self.endpoint()
    let bodies = try [#"{"query":"a"}"#, #"{"query":"b"}"#].map { try Self.post($0) }
    let head = endpoint.head(of: bodies[0])
    var memos: [RequestMemo?] = []
    for place in [0, 0, 0, 1, 1, 0, 1] {
      let document = ["a", "b"][place]
      let (request, _) = try Self.accepted(
        endpoint.receive(bodies[place], head, as: Self.identity))
      #expect(request.document == document)
      memos.append(request.memo)
    }
    // Kept when they came the second time.
    #expect(memos[0] == nil && memos[3] == nil && memos[1] != nil && memos[4] != nil)
    #expect(memos[1] == memos[2] && memos[2] == memos[5] && memos[4] == memos[6])
    #expect(memos[1] != memos[4])
    // Twice as many as are kept have made the server forget these: read again, and known from then on.
    for number in 0..<1_200 {
      for _ in 1...2 {
        let body = #"{"query":"\#(number)"}"#
        _ = try Self.accepted(endpoint.receive(Self.post(body)))
      }
    }
    let (again, _) = try Self.accepted(endpoint.receive(bodies[1], head, as: Self.identity))
    #expect(again.document == "b" && again.memo != memos[4])
  }

  @Test func `a body that repeats is the same request, with what its head says`() throws {
    let endpoint = try Self.endpoint()
    let body = #"{"query":"mutation","variables":{"a":[1]}}"#
    var memo: RequestMemo?
    for number in 1...3 {
      let identity = RequestIdentity(
        id: "r\(number)", trace: TraceContext(id: TraceID(high: 1, low: 2)))
      let http = try Self.post(body, headers: ["Idempotency-Key: key\(number)"])
      var (request, _) = try Self.accepted(
        endpoint.receive(http, endpoint.head(of: http), as: identity))
      // What was prepared for one is there for the next, from the second on.
      #expect((request.memo == nil) == (number == 1))
      #expect(number < 3 || request.memo == memo)
      memo = request.memo
      request.memo = nil
      #expect(
        request
          == GraphQLRequest(
            identity: identity, document: "mutation",
            variables: [.init(name: "a", value: .array([.number("1")]))],
            idempotencyKey: "key\(number)"))
    }
    let (request, _) = try Self.accepted(endpoint.receive(Self.post(body)))
    #expect(request.idempotencyKey == nil)
    let refused = try Self.refused(
      endpoint.receive(Self.post(body, headers: ["Idempotency-Key: ä"])))
    #expect(refused.status == .badRequest)
  }

  @Test func `of more bodies than are remembered each is read as it is`() throws {
    let endpoint = try Self.endpoint()
    for number in Array(0..<2000) + Array((0..<2000).reversed()) + [7, 7, 7] {
      let (request, _) = try Self.accepted(
        endpoint.receive(Self.post(#"{"query":"q\#(number)"}"#)))
      #expect(request.document == "q\(number)")
    }
  }

  @Test func `all parameters of a GET arrive decoded`() throws {
    let (request, _) = try Self.accepted(
      Self.endpoint().receive(
        Self.request(
          "GET",
          "/graphql?query=%7B+a%28b%3A%22%C3%A4%2B%22%29+%7D&operationName=O&variables=%7B%22v%22%3A1%7D"
            + "&extensions=&unknown=%00")))
    #expect(request.document == "{ a(b:\"ä+\") }")
    #expect(request.operationName == "O")
    #expect(request.variables == [.init(name: "v", value: .number("1"))])
    #expect(request.extensions.isEmpty)
    #expect(request.mayOnlyRead)
  }

  @Test func `HEAD is read like GET`() throws {
    let (request, _) = try Self.accepted(
      Self.endpoint().receive(Self.request("HEAD", "/graphql?query=q")))
    #expect(request.mayOnlyRead)
  }

  @Test(arguments: [
    "query=%", "query=%4", "query=%zz", "query=%ff", "query=q&query=q", "query=q&variables=%5B%5D",
    "query=q&variables=%7B", "query=q&extensions=1", "", "operationName=O", "query=",
  ]) func `a URL that does not hold a request gets 400`(query: String) throws {
    let answer = try Self.refused(
      Self.endpoint().receive(Self.request("GET", "/graphql?\(query)")))
    #expect(answer.status == .badRequest)
    #expect(try Self.code(answer) == "BAD_REQUEST")
  }

  @Test(arguments: [
    ("", "BAD_REQUEST"), ("null", "BAD_REQUEST"), ("\"q\"", "BAD_REQUEST"), ("1", "BAD_REQUEST"),
    ("{}", "BAD_REQUEST"), ("{\"query\":null}", "BAD_REQUEST"), ("{\"query\":1}", "BAD_REQUEST"),
    ("[]", "BAD_REQUEST"), ("[{\"query\":\"q\"}]", "BAD_REQUEST"), ("{\"query\"", "BAD_REQUEST"),
    ("{\"query\":\"q\",\"variables\":\"{}\"}", "BAD_REQUEST"),
    ("{\"query\":\"q\"} {}", "BAD_REQUEST"),
    (
      "{\"query\":\"q\",\"variables\":{\"v\":"
        + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}}",
      "NESTING_LIMIT_EXCEEDED"
    ),
    ("{\"query\":\"\(String(repeating: "q", count: 65_537))\"}", "DOCUMENT_TOO_LARGE"),
    (
      "{\"query\":\"q\",\"variables\":{\"v\":\"\(String(repeating: "v", count: 262_144))\"}}",
      "BAD_USER_INPUT"
    ),
  ]) func `a body that does not hold a request gets 400`(body: String, code: String) throws {
    let answer = try Self.refused(Self.endpoint().receive(Self.post(body)))
    #expect(answer.status == .badRequest)
    #expect(try Self.code(answer) == code)
  }

  @Test func `invalid UTF-8 in a body gets 400`() throws {
    var bytes = Array(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"query\":\""
        .utf8)
    bytes += [0xFF] + Array("\"}".utf8)
    let request = try #require(try HTTPRequest.parse(bytes))
    #expect(try Self.refused(Self.endpoint().receive(request)).status == .badRequest)
  }

  // MARK: Methods and media types

  @Test(arguments: ["PUT", "DELETE", "PATCH", "PROPFIND"])
  func `other methods get 405 with Allow`(method: String) throws {
    let answer = try Self.refused(Self.endpoint().receive(Self.request(method)))
    #expect(answer.status == .methodNotAllowed)
    #expect(answer.headers.contains(HTTPField("Allow", "GET, HEAD, POST, QUERY, OPTIONS")))
    #expect(answer.headers.contains(HTTPField("Accept-Query", "application/json")))
    #expect(try Self.code(answer) == "METHOD_NOT_ALLOWED")
  }

  @Test func `a mutation by GET gets 405 and is told to use POST`() throws {
    let endpoint = try Self.endpoint()
    let (_, format) = try Self.accepted(
      endpoint.receive(Self.request("GET", "/graphql?query=mutation%7Ba%7D")))
    let answer = format.answer(
      [GraphQLError("No query.", code: .methodNotAllowed)], requestID: "r1")
    #expect(answer.status == .methodNotAllowed)
    #expect(answer.headers.contains(HTTPField("Allow", "POST")))
  }

  @Test func `OPTIONS without an origin says what is allowed`() throws {
    let answer = try Self.refused(Self.endpoint().receive(Self.request("OPTIONS")))
    #expect(answer.status == .noContent)
    #expect(
      answer.headers == [
        HTTPField("Allow", "GET, HEAD, POST, QUERY, OPTIONS"),
        HTTPField("Accept-Query", "application/json"),
      ])
  }

  // MARK: QUERY

  @Test func `a QUERY is read as a POST, and may only read`() throws {
    let endpoint = Self.endpoint { $0.maximumBatch = 2 }
    let body = #"{"query":"query Q($a: Int) { a }","operationName":"Q","variables":{"a":1}}"#
    let (posted, _) = try Self.accepted(endpoint.receive(Self.post(body)))
    // The third comes from the memory of bodies.
    for _ in 0..<3 {
      let (asked, format) = try Self.accepted(endpoint.receive(Self.query(body)))
      #expect(asked.document == posted.document && asked.variables == posted.variables)
      #expect(asked.operationName == "Q" && asked.mayOnlyRead && !posted.mayOnlyRead)
      #expect(format.mediaType == .json)
    }
    let (again, _) = try Self.accepted(endpoint.receive(Self.post(body)))
    #expect(!again.mayOnlyRead)
    guard case .batch(let requests, _) = try endpoint.receive(Self.query("[\(body),\(body)]"))
    else {
      Issue.record("It is no batch.")
      return
    }
    #expect(requests.count == 2 && requests.allSatisfy(\.mayOnlyRead))
  }

  @Test func `a QUERY needs a body, and JSON`() throws {
    let endpoint = try Self.endpoint()
    let empty = try Self.refused(endpoint.receive(Self.query("")))
    #expect(empty.status == .badRequest)
    for type in [nil, "text/plain", "application/graphql"] {
      let answer = try Self.refused(
        endpoint.receive(Self.query(#"{"query":"{a}"}"#, type: type)))
      #expect(answer.status == .unsupportedMediaType)
    }
  }

  @Test(
    arguments: [
      (nil, ResponseFormat.MediaType.json), ("*/*", .json), ("application/*", .json),
      ("application/json", .json), ("Application/JSON", .json),
      ("application/json; charset=utf-8", .json), ("application/json, text/plain, */*", .json),
      ("application/graphql-response+json", .graphQLResponse),
      ("application/graphql-response+json;charset=\"UTF-8\"", .graphQLResponse),
      ("application/json, application/graphql-response+json", .graphQLResponse),
      ("application/graphql-response+json;q=0.5, application/json;q=0.9", .json),
      (
        "application/graphql-response+json; charset=utf-8, application/json; charset=utf-8",
        .graphQLResponse
      ),
      ("application/json;q=0.8, application/graphql-response+json;q=0.80", .graphQLResponse),
      ("application/graphql-response+json;q=0, */*", .json),
      ("application/graphql-response+json;q=0.001", .graphQLResponse),
      ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", .json),
      ("text/event-stream, application/json", .json),
      (
        "application/graphql-response+json, application/graphql+json, application/json, "
          + "text/event-stream, multipart/mixed", .graphQLResponse
      ),
      (
        "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json",
        .graphQLResponse
      ),
      ("multipart/mixed;boundary=\"graphql,*/*\";subscriptionSpec=1.0,application/json", .json),
      ("nonsense, application/json", .json), ("*/*;q=0.1, application/json;q=0", .graphQLResponse),
    ] as [(String?, ResponseFormat.MediaType)])
  func `the media type of the answer is what the client prefers`(
    accept: String?, mediaType: ResponseFormat.MediaType
  ) throws {
    let headers = accept.map { ["Accept: \($0)"] } ?? []
    let (_, format) = try Self.accepted(
      Self.endpoint().receive(Self.post(#"{"query":"q"}"#, headers: headers)))
    #expect(format.mediaType == mediaType)
  }

  @Test func `several Accept lines are one list`() throws {
    let (_, format) = try Self.accepted(
      Self.endpoint().receive(
        Self.post(
          #"{"query":"q"}"#,
          headers: ["Accept: text/html", "Accept: application/graphql-response+json"])))
    #expect(format.mediaType == .graphQLResponse)
  }

  @Test(arguments: [
    "text/html", "application/xml, text/*", "application/json;q=0", "*/*;q=0",
    "application/json;charset=iso-8859-1", "multipart/mixed", "nonsense",
    "application/json;q=high",
  ]) func `what cannot be served gets 406`(accept: String) throws {
    let answer = try Self.refused(
      Self.endpoint().receive(Self.post(#"{"query":"q"}"#, headers: ["Accept: \(accept)"])))
    #expect(answer.status == .notAcceptable)
    #expect(answer.contentType == "application/json; charset=utf-8")
    #expect(try Self.code(answer) == "NOT_ACCEPTABLE")
  }

  @Test(arguments: [
    "application/json", "application/json; charset=utf-8", "APPLICATION/JSON;charset=UTF-8",
    "application/json;charset=\"utf-8\"", "application/json; profile=x",
  ]) func `JSON bodies in UTF-8 are read`(contentType: String) throws {
    _ = try Self.accepted(
      Self.endpoint().receive(
        Self.request(headers: ["Content-Type: \(contentType)"], body: #"{"query":"q"}"#)))
  }

  @Test(arguments: [
    [], ["Content-Type:"], ["Content-Type: text/plain"], ["Content-Type: application/graphql"],
    ["Content-Type: application/x-www-form-urlencoded"],
    ["Content-Type: multipart/form-data; boundary=a"], ["Content-Type: application/jsonx"],
    ["Content-Type: application/json; charset=iso-8859-1"],
    ["Content-Type: text/plain", "Content-Type: application/json"],
    ["Content-Type: application/json, text/plain"],
  ]) func `other bodies get 415`(headers: [String]) throws {
    let answer = try Self.refused(
      Self.endpoint().receive(Self.request(headers: headers, body: #"{"query":"q"}"#)))
    #expect(answer.status == .unsupportedMediaType)
    #expect(try Self.code(answer) == "UNSUPPORTED_MEDIA_TYPE")
  }

  @Test func `a parameter of a URL that is no JSON is named`() throws {
    let request = try Self.request("GET", "/graphql?query=%7Ba%7D&variables=%7Bn:2%7D")
    guard case .answer(let answer) = try Self.endpoint().receive(request) else { throw Failure() }
    #expect(answer.status == .badRequest)
    #expect(
      String(decoding: answer.body, as: UTF8.self).contains(
        #"The parameter \"variables\": Unexpected \"n\" at byte 1 of JSON."#))
  }

  @Test func `a GET may carry the Content-Type of JSON but no other`() throws {
    _ = try Self.accepted(
      Self.endpoint().receive(
        Self.request("GET", "/?query=q", headers: ["Content-Type: application/json"])))
    let answer = try Self.refused(
      Self.endpoint().receive(
        Self.request("GET", "/?query=q", headers: ["Content-Type: text/plain"])))
    #expect(answer.status == .unsupportedMediaType)
  }

  // MARK: Batches

  @Test func `lists of requests are read where they are allowed, up to their limit`() throws {
    let endpoint = Self.endpoint { $0.maximumBatch = 2 }
    guard
      case .batch(let requests, _) = endpoint.receive(
        try Self.post(#"[{"query":"a"},{"query":"b"}]"#))
    else {
      Issue.record("Not a batch.")
      return
    }
    #expect(requests.map(\.document) == ["a", "b"])
    for body in [
      "[]", "[1]", #"[{"query":"a"},{"query":"b"},{"query":"c"}]"#, #"[[{"query":"a"}]]"#,
      #"[{"query":"a"},{}]"#,
    ] {
      #expect(try Self.refused(endpoint.receive(Self.post(body))).status == .badRequest)
    }
  }

  // MARK: Status codes

  @Test(arguments: [
    (ErrorCode.parseFailed, 400, 200, 400), (.validationFailed, 400, 200, 422),
    (.badUserInput, 400, 200, 422), (.operationResolutionFailure, 400, 200, 422),
    (.depthLimitExceeded, 400, 200, 422), (.unauthenticated, 401, 401, 401),
    (.rateLimited, 429, 429, 429), (.databaseUnavailable, 503, 503, 503),
    (.timeout, 504, 504, 504), (.internalServerError, 500, 500, 500), (.badRequest, 400, 400, 400),
  ]) func `the profile and the media type decide about the status`(
    code: ErrorCode, response: Int, json: Int, draft: Int
  ) {
    func status(
      _ mediaType: ResponseFormat.MediaType, _ profile: ResponseFormat.Profile
    ) -> Int {
      ResponseFormat(mediaType: mediaType, profile: profile).status(notExecuted: code).code
    }
    #expect(status(.graphQLResponse, .audit) == response)
    #expect(status(.json, .audit) == json)
    #expect(status(.graphQLResponse, .edition2026) == draft)
    #expect(status(.json, .edition2026) == draft)
  }

  @Test(arguments: [
    ("null", 422), ("7", 422), ("{}", 422), (#"{"query":1}"#, 422),
    (#"{"query":"q","variables":7}"#, 422), (#"{"query":"q","variables":"{}"}"#, 422),
    (#"{"query":"q","operationName":{}}"#, 422), (#"{"query":"q","extensions":[]}"#, 422),
    (#"{"query":"q","extensions":{"persistedQuery":1}}"#, 422),
    // What cannot be read, or is refused for another reason than what it says.
    ("", 400), (#"{"query""#, 400), (#"[{"query":"q"}]"#, 422), ("[]", 422),
    ("{\"query\":\"\(String(repeating: "q", count: 65_537))\"}", 400),
  ]) func `malformed parameters are 422 in the edition only`(body: String, draft: Int) throws {
    for accept in ["application/json", "application/graphql-response+json"] {
      let request = try Self.post(body, headers: ["Accept: \(accept)"])
      let audited = try Self.refused(Self.endpoint { $0.profile = .audit }.receive(request))
      #expect(audited.status.code == 400)
      let answer = try Self.refused(Self.endpoint { $0.profile = .edition2026 }.receive(request))
      #expect(answer.status.code == draft)
      #expect(answer.body == audited.body)
      #expect(answer.contentType == "application/graphql-response+json; charset=utf-8")
      // Each client has the profile of its media type.
      let auto = try Self.refused(Self.endpoint().receive(request))
      #expect(auto == (accept == "application/json" ? audited : answer))
    }
  }

  @Test(arguments: [
    ("query=q&variables=%5B%5D", 422), ("query=q&extensions=1", 422), ("operationName=O", 422),
    ("query=%zz", 400), ("query=q&variables=%7B", 400), ("query=q&query=q", 400),
  ]) func `so they are in a URL`(query: String, draft: Int) throws {
    let request = try Self.request("GET", "/graphql?\(query)")
    let answer = try Self.refused(Self.endpoint { $0.profile = .edition2026 }.receive(request))
    #expect(answer.status.code == draft)
  }

  @Test
  func `a hash or an ID that is not known is no success in the edition, which is the default`()
    throws
  {
    let hash =
      #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(String(repeating: "0", count: 64))"}}}"#
    for (body, audit) in [(hash, 200), (#"{"documentId":"nothing"}"#, 400)] {
      let request = try Self.post(body, headers: ["Accept: application/json"])
      #expect(try Self.refused(GraphQLEndpoint().receive(request)).status.code == 422)
      #expect(
        try Self.refused(Self.endpoint { $0.profile = .audit }.receive(request)).status.code
          == audit
      )
    }
  }

  @Test func `a client of lines alone gets one line, and sets of variables only who takes several`()
    throws
  {
    let single = try Self.post(#"{"query":"q"}"#, headers: ["Accept: application/jsonl"])
    #expect(
      try Self.accepted(GraphQLEndpoint().receive(single)).1.contentType
        == "application/jsonl; charset=utf-8")
    let sets = #"{"query":"q","variables":[{}]}"#
    for (accept, isTaken) in [
      ("application/jsonl", true), ("application/json", true),
      ("application/graphql-response+json, application/jsonl;q=0.5", true),
      ("application/graphql-response+json", false),
    ] {
      let reception = try GraphQLEndpoint().receive(Self.post(sets, headers: ["Accept: \(accept)"]))
      if case .batch = reception {
        #expect(isTaken, "\(accept)")
      } else {
        #expect(try Self.refused(reception).status.code == 422 && !isTaken, "\(accept)")
      }
    }
  }

  @Test func `partial data is 294 in the edition only`() {
    let audit = ResponseFormat(mediaType: .graphQLResponse)
    let draft = ResponseFormat(mediaType: .graphQLResponse, profile: .edition2026)
    #expect(audit.status(executedWithErrors: true).code == 200)
    #expect(draft.status(executedWithErrors: true).code == 294)
    #expect(draft.status(executedWithErrors: false).code == 200)
  }

  @Test func `codes that promise a header bring it`() {
    let format = ResponseFormat(mediaType: .json)
    func headers(_ code: ErrorCode, retryAfter: Int? = nil) -> [HTTPField] {
      format.answer([GraphQLError("No.", code: code)], requestID: "r1", retryAfter: retryAfter)
        .headers
    }
    #expect(headers(.unauthenticated) == [HTTPField("WWW-Authenticate", "Bearer")])
    #expect(headers(.databaseUnavailable) == [HTTPField("Retry-After", "1")])
    #expect(headers(.rateLimited, retryAfter: 7) == [HTTPField("Retry-After", "7")])
    #expect(headers(.validationFailed).isEmpty)
  }

  @Test func `errors are written with all they know`() {
    let error = GraphQLError(
      "A \"quoted\" word\n.", locations: [SourceLocation(line: 2, column: 3)],
      path: [.name("a"), .index(0)], code: .badUserInput)
    #expect(
      String(
        decoding: JSONWriter.response([error, .fault("B.")], requestID: "r1"), as: UTF8.self)
        == #"{"errors":[{"message":"A \"quoted\" word\n.","locations":[{"line":2,"column":3}],"#
        + #""path":["a",0],"extensions":{"code":"BAD_USER_INPUT","requestId":"r1"}},"#
        + #"{"message":"An unexpected error occurred.","extensions":{"code":"INTERNAL_SERVER_ERROR","requestId":"r1"}}]}"#
    )
  }

  @Test func `what HTTP refuses is told in the same form`() throws {
    let (contentType, requestID, body) = HTTPRefusal.answer(.bodyTooLarge, requestID: "r1")
    #expect(contentType == "application/json; charset=utf-8" && requestID == "r1")
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"errors":[{"message":"The request body is too large.","#
        + #""extensions":{"code":"PAYLOAD_TOO_LARGE","requestId":"r1"}}]}"#)
    let server = try TinyServer()
    let answer = try server.send(
      "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n")
    #expect(answer.status == 413)
    let named = try #require(answer.header("X-Request-Id"))
    #expect(named.utf8.count == 32 && answer.body.contains("\"requestId\":\"\(named)\""))
  }

  @Test func `answers to those who have logged in are not stored`() throws {
    let (_, format) = try Self.accepted(
      Self.endpoint().receive(Self.post(#"{"query":"q"}"#, headers: ["Authorization: Bearer t"])))
    #expect(format.headers.contains(HTTPField("Cache-Control", "no-store")))
  }
}
