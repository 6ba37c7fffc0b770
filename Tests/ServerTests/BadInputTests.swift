import JSON
import TestSupport
import Testing

/// Any input gets a clear error, and the server continues.
@Suite(.usesCluster) struct BadInputTests {
  @Test(arguments: [
    (#"{"query": "{ __typename }""#, 400, "BAD_REQUEST"), ("", 400, "BAD_REQUEST"),
    ("null", 400, "BAD_REQUEST"), (#"{"query": 7}"#, 400, "BAD_REQUEST"),
    (#"{"query": "{ __typename }", "variables": [1]}"#, 400, "BAD_REQUEST"),
    (#"[{"query": "{ __typename }"}]"#, 400, "BAD_REQUEST"),
    (String(repeating: "[", count: 1_000), 400, "NESTING_LIMIT_EXCEEDED"),
    (#"{"query": "{ users(first: 1 { id } }"}"#, 400, "GRAPHQL_PARSE_FAILED"),
    (#"{"query": "{ users(first: 1) { nodes { nme } } }"}"#, 400, "GRAPHQL_VALIDATION_FAILED"),
    (#"{"query": "query($n: Int!) { users(first: $n) { totalCount } }"}"#, 400, "BAD_USER_INPUT"),
    (
      #"{"query": "query($n: Int!) { users(first: $n) { totalCount } }", "variables": {"n": 1.5}}"#,
      400, "BAD_USER_INPUT"
    ),
    (
      #"{"query": "query($n: Int!) { users(first: $n) { totalCount } }", "#
        + #""variables": {"n": 99999999999999999999}}"#, 400, "BAD_USER_INPUT"
    ),
    (
      #"{"query": "query A { __typename } query B { __typename }"}"#, 400,
      "OPERATION_RESOLUTION_FAILURE"
    ),
    (
      #"{"query": "query A { __typename }", "operationName": "B"}"#, 400,
      "OPERATION_RESOLUTION_FAILURE"
    ),
    (#"{"query": "\u0000{ __typename }"}"#, 400, "GRAPHQL_PARSE_FAILED"),
  ])
  func `a request that is wrong gets the code of its mistake`(
    body: String, status: Int, code: String
  ) throws {
    let answer = try TestServer.shared.post(Array(body.utf8))
    #expect(answer.status == status, "\(answer.body)")
    #expect(answer.code == code, "\(answer.body)")
  }

  @Test func `bytes that are no UTF-8 are refused`() throws {
    let server = try TestServer.shared
    for bytes: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] {
      let body =
        Array(#"{"query": "{ users(search: \""#.utf8) + bytes
        + Array(#"\") { totalCount } }"}"#.utf8)
      let answer = try server.post(body)
      #expect(answer.status == 400, "\(answer.body)")
    }
  }

  @Test func `a NUL character in a value is the client's mistake`() throws {
    let server = try TestServer.shared
    let literal = try server.execute(#"{ users(search: "a\u0000b", first: 1) { totalCount } }"#)
    #expect(literal.status < 500 && literal.code == "BAD_USER_INPUT", "\(literal.body)")
    let variable = try server.execute(
      "query($s: String) { users(search: $s, first: 1) { totalCount } }",
      .object([JSONValue.Member(name: "s", value: .string("a\0b"))]))
    #expect(variable.status < 500 && variable.code == "BAD_USER_INPUT", "\(variable.body)")
  }

  @Test(arguments: [
    "", "x", "AjEB=", "AAAA", "not an id", "////////////", "-1", "AjEB\u{0}", "🏃",
    String(repeating: "A", count: 10_000),
  ])
  func `an id that is none is a mistake or nobody's, never a failure`(id: String) throws {
    let server = try TestServer.shared
    let variables = JSONValue.object([JSONValue.Member(name: "id", value: .string(id))])
    let answer = try server.execute("query($id: ID!) { node(id: $id) { id } }", variables)
    #expect(answer.status < 500, "\(answer.body)")
    let value = try JSONParser.parse(Array(answer.body.utf8))
    #expect(value["data"]?["node"] == .null || answer.code == "BAD_USER_INPUT", "\(answer.body)")
    let many = try server.execute("query($id: ID!) { nodes(ids: [$id, $id]) { id } }", variables)
    #expect(many.status < 500, "\(many.body)")
  }

  @Test func `an id may be written as an integer`() throws {
    let server = try TestServer.shared
    let whole = try server.execute("{ node(id: 1234) { id } }")
    #expect(whole.body == #"{"data":{"node":null}}"#)
    let negative = try server.execute("{ node(id: -4337) { id } }")
    #expect(negative.body == whole.body)
  }

  @Test func `an id of another type, of nothing or of no type finds nothing`() throws {
    let server = try TestServer.shared
    // 0x0231FF has a tag that no type has; the others, 0x7FFFFFFF01 and 0x7FFFFFFF10, are a user's and
    // an outfit's that no sequence has come to.
    for id in ["f____wE", "AjH_", "f____xA"] {
      let answer = try server.execute(
        "query($id: ID!) { node(id: $id) { id ... on Post { createdAt } } }",
        .object([JSONValue.Member(name: "id", value: .string(id))]))
      #expect(answer.status == 200, "\(id) \(answer.body)")
      #expect(try JSONParser.parse(Array(answer.body.utf8))["data"]?["node"] == .null)
    }
  }

  @Test func `bodies over the limit are refused before they are read`() throws {
    let server = try TestServer { $0.http.maximumBodyBytes = 1_000 }
    let announced = try server.send(
      Array(
        "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1001\r\n\r\n"
          .utf8))
    #expect(announced.status == 413 && announced.code == "PAYLOAD_TOO_LARGE")
    let chunked = try server.send(
      Array(
        ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + String(repeating: " ", count: 1001)
          + "\r\n0\r\n\r\n").utf8))
    #expect(chunked.status == 413)
  }

  @Test func `limits have codes of their own`() throws {
    let server = try TestServer {
      $0.execution.parserLimits.maximumTokens = 20
      $0.execution.validationLimits.aliases = 1
      $0.execution.suggestions = false
    }
    let tokens = String(repeating: "__typename ", count: 30)
    #expect(try server.execute("{ \(tokens) }").code == "TOKEN_LIMIT_EXCEEDED")
    #expect(
      try server.execute("{ a: __typename b: __typename }").code == "ALIAS_LIMIT_EXCEEDED")
    let plain = try server.execute("{ userz }")
    #expect(plain.body.contains("Cannot query field") && !plain.body.contains("Did you mean"))
  }

  @Test func `broken headers and tokens are refused`() throws {
    let server = try TestServer.shared
    for value in ["Bearer", "Bearer \u{1F3C3}", "Basic abc", "Bearer a b", "Bearer unknown"] {
      let answer = try server.execute(
        "{ __typename }", headers: "Authorization: \(value)\r\n")
      #expect(answer.status == 401 && answer.code == "UNAUTHENTICATED", "\(value) \(answer.body)")
      #expect(answer.header("WWW-Authenticate") == "Bearer")
    }
  }

  @Test func `any number of spaces may stand before a token`() throws {
    let answer = try TestServer.shared.execute(
      "{ __typename }", headers: "Authorization: bearer   nobody\r\n")
    #expect(answer.status == 401)
    #expect(answer.body.contains("unknown or has expired"), "\(answer.body)")
  }

  @Test func `a mutation says that it is not built yet`() throws {
    let answer = try TestServer.shared.execute("mutation { __typename }")
    #expect(answer.status < 500 || answer.code == "NOT_IMPLEMENTED", "\(answer.body)")
  }
}
