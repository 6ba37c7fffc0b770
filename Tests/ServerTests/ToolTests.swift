import Foundation
import GraphQLTransport
import HTTP
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

@testable import Server

/// Published operations as tools of the Model Context Protocol, at `/mcp`.
@Suite(.usesCluster) struct ToolTests {
  private static let manifest = #"""
    {"a": "\"The things.\" query Things($kind: Kind) { things(kind: $kind) { id } }",
     "b": "query One($id: Int!) { thing(id: $id) { id size } }",
     "c": "{ things { id } }", "d": "query Gone { nothing }"}
    """#

  private static func graph(
    _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws -> OwnGraph {
    let documents = try TrustedDocuments(manifest: Array(manifest.utf8))
    return try OwnGraph(
      """
      type Query {
        "All things."
        things(kind: Kind @where(condition: "this.kind = :value")): [Thing!]! @list(orderBy: "this.id")
        thing(id: Int!): Thing @reference(where: "this.id = :id")
      }
      type Thing @table(name: "thing") { id: Int "How large it is." size: Int }
      enum Kind { GOOD BAD }
      """,
      "CREATE TABLE thing (id bigint PRIMARY KEY, size int, kind text); "
        + "INSERT INTO thing VALUES (1, 7, 'GOOD'), (2, NULL, 'BAD');"
    ) {
      $0.servesTools = true
      $0.endpoint.trustedDocuments = documents
      change(&$0)
    }
  }

  private func ask(
    _ server: TestServer, _ body: String, headers: String = "", method: String = "POST"
  ) throws -> RawClient.Answer {
    let head =
      "\(method) /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "Accept: application/json, text/event-stream\r\n\(headers)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n"
    return try server.send(Array((head + body).utf8))
  }

  private func call(_ server: TestServer, _ tool: String, _ arguments: String) throws -> JSONValue {
    let answer = try ask(
      server,
      #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    )
    #expect(answer.status == 200 && answer.header("Content-Type") == "application/json")
    let value = try JSONParser.parse(Array(answer.body.utf8))
    #expect(value["id"] == .number("7"))
    return value
  }

  private func value(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  @Test func `published operations are tools, with their variables as JSON Schema`() throws {
    let graph = try Self.graph()
    let answer = try ask(
      graph.server, #"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#)
    guard case .array(let tools)? = try value(answer.body)["result"]?["tools"] else {
      Issue.record("\(answer.body)")
      return
    }
    func tool(_ name: String) -> JSONValue? { tools.first { $0["name"] == .string(name) } }
    let names = tools.map { "\($0["name"] ?? .null)" }
    #expect(names == [#""search_schema""#, #""Things""#, #""One""#, #""document_c""#])
    #expect(tool("Things")?["description"] == .string("The things."))
    #expect(tool("document_c")?["description"] == .string("All things."))
    #expect(
      tool("One")?["inputSchema"]
        == (try value(
          #"{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false,"required":["id"]}"#
        )))
    #expect(
      tool("Things")?["inputSchema"]
        == (try value(
          ##"{"type":"object","properties":{"kind":{"anyOf":[{"$ref":"#/$defs/Kind"},{"type":"null"}]}},"##
            + #""additionalProperties":false,"$defs":{"Kind":{"type":"string","enum":["GOOD","BAD"]}}}"#
        )))
  }

  @Test func `a tool gives what GraphQL gives, and nothing else can be run`() throws {
    let server = try Self.graph().server
    let one = try call(server, "One", #"{"id": 1}"#)["result"]
    #expect(one?["structuredContent"] == (try value(#"{"data":{"thing":{"id":1,"size":7}}}"#)))
    #expect(one?["isError"] == .boolean(false))
    #expect(
      try call(server, "Things", #"{"kind": "BAD"}"#)["result"]?["structuredContent"]
        == value(#"{"data":{"things":[{"id":2}]}}"#))
    let wrong = try call(server, "One", #"{"id": "x"}"#)["result"]
    #expect(wrong?["isError"] == .boolean(true) && wrong?["structuredContent"]?["errors"] != nil)
    for tool in ["Gone", "{ things { id } }", "c", "a"] {
      #expect(try call(server, tool, "{}")["error"]?["code"] == .number("-32602"), "\(tool)")
    }
    let found = try call(server, "search_schema", #"{"question": "how large is a thing"}"#)
    guard case .array(let results)? = found["result"]?["structuredContent"]?["results"] else {
      Issue.record("\(found)")
      return
    }
    #expect(results.first?["coordinate"] == .string("Thing.size"))
  }

  @Test func `messages that are none are refused, notifications have no answer`() throws {
    let server = try Self.graph().server
    let hello = try ask(
      server,
      #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)
    #expect(try value(hello.body)["result"]?["protocolVersion"] == .string("2025-06-18"))
    let notified = try ask(server, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    #expect(notified.status == 202 && notified.body == "")
    #expect(
      try ask(server, #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).body.contains(#""result":{}"#))
    for (body, code) in [
      ("{", "-32700"), ("[]", "-32600"), ("{}", "-32600"), (#"{"jsonrpc":"2.0","id":1}"#, "-32600"),
      (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "-32600"),
      (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, "-32601"),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, "-32602"),
    ] {
      let answer = try ask(server, body)
      #expect(try value(answer.body)["error"]?["code"] == .number(code), "\(body)")
    }
    #expect(try ask(server, "{}", headers: "Origin: https://evil.example\r\n").status == 403)
    #expect(try ask(server, "", method: "GET").status == 405)
    let other = try TestServer(database: TestCluster.migratedDatabase())
    #expect(try ask(other, "{}").status == 404)
  }

  private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

  @Test func `a page of a listed origin may ask before it calls, and reads the answer`() throws {
    let server = try Self.graph {
      $0.endpoint.crossOrigin.allowedOrigins = ["https://app.example"]
    }.server
    let origin = "Origin: https://app.example\r\n"
    let asked = try ask(
      server, "",
      headers: origin + "Access-Control-Request-Method: POST\r\n"
        + "Access-Control-Request-Headers: content-type,mcp-protocol-version\r\n",
      method: "OPTIONS")
    #expect(asked.status == 204)
    #expect(asked.header("Access-Control-Allow-Origin") == "https://app.example")
    #expect(asked.header("Access-Control-Allow-Methods")?.contains("POST") == true)
    #expect(
      asked.header("Access-Control-Allow-Headers") == "content-type,mcp-protocol-version")
    for (body, status) in [(Self.ping, 200), ("{", 400)] {
      let answer = try ask(server, body, headers: origin)
      #expect(answer.status == status)
      #expect(answer.header("Access-Control-Allow-Origin") == "https://app.example")
    }
    #expect(try ask(server, Self.ping, headers: "Origin: https://evil.example\r\n").status == 403)
    #expect(
      try ask(
        server, "",
        headers: "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n",
        method: "OPTIONS"
      ).status == 403)
  }

  @Test func `a version that the server does not know, and a bearer that is none, are refused`()
    throws
  {
    let server = try Self.graph().server
    for (version, status) in [("2025-06-18", 200), ("2025-11-25", 200), ("1.0", 400), ("", 400)] {
      let answer = try ask(server, Self.ping, headers: "MCP-Protocol-Version: \(version)\r\n")
      #expect(answer.status == status, "\(version)")
    }
    for bearer in ["Bearer nobody's", "Bearer nobody", "Basic abc"] {
      let answer = try ask(server, Self.ping, headers: "Authorization: \(bearer)\r\n")
      #expect(answer.status == 401, "\(bearer)")
      #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
    }
  }

  @Test func `an argument that a tool does not have is refused`() throws {
    let server = try Self.graph().server
    for (tool, arguments) in [
      ("Things", #"{"kind": "BAD", "size": 1}"#), ("document_c", #"{"kind": "BAD"}"#),
      ("search_schema", #"{"question": "size", "limit": 3}"#),
    ] {
      let answer = try call(server, tool, arguments)
      #expect(answer["error"]?["code"] == .number("-32602"), "\(tool)")
    }
  }

  @Test func `a question to the schema has a length, and costs points`() throws {
    let server = try Self.graph().server
    func search(_ question: String, _ server: TestServer) throws -> JSONValue {
      try call(server, "search_schema", #"{"question": "\#(question)"}"#)
    }
    #expect(try search(String(repeating: "size ", count: 100), server)["result"] != nil)
    #expect(
      try search(String(repeating: "size ", count: 101), server)["error"]?["code"]
        == .number("-32602"))
    let limited = try Self.graph {
      $0.rateLimits = RateLimiter.Settings(
        address: RateLimiter.Rate(maximum: 100, perSecond: 1))
      if let proxies = TrustedProxies(["127.0.0.1"]) { $0.trustedProxies = proxies }
    }.server
    var refused: JSONValue?
    for _ in 0..<20 where refused == nil {
      let body =
        #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_schema","#
        + #""arguments":{"question":"how large is a thing"}}}"#
      let answer = try ask(limited, body, headers: "X-Forwarded-For: 203.0.113.7\r\n")
      let result = try value(answer.body)["result"]
      if result?["isError"] == JSONValue.boolean(true) { refused = result }
    }
    guard case .array(let errors)? = refused?["structuredContent"]?["errors"] else {
      Issue.record("No search was refused.")
      return
    }
    #expect(errors.first?["extensions"]?["code"] == .string("RATE_LIMITED"))
  }

  @Test(
    .enabled(
      if: ToolClient.python != nil,
      "SKIPPED: the client of the Model Context Protocol is missing; script/mcp-client installs it."
    ))
  func `a client of the Model Context Protocol finds the tools and calls them`() throws {
    let server = try Self.graph().server
    let folder = try TemporaryFolder()
    let calls = try folder.write(
      "calls",
      "Things {\"kind\": \"GOOD\"}\nOne {\"id\": 2}\nGone {}\nsearch_schema {\"question\": \"size\"}\n"
    )
    let run = try LiveClients.tool(
      "sh",
      [
        "-c", "exec \"$0\" \"$1\" \"$2\" < \"$3\"", try #require(ToolClient.python),
        TestCluster.packageFolder + "/Tests/Clients/tools.py",
        "http://127.0.0.1:\(server.port)/mcp", calls,
      ])
    let lines = try run.output.split(separator: "\n").map { try value(String($0)) }
    try #require(run.status == 0 && lines.count == 5, "\(run.output)")
    #expect(lines[0]["tools"]?["One"]?["type"] == .string("object"))
    #expect(lines[1]["content"] == (try value(#"{"data":{"things":[{"id":1}]}}"#)))
    #expect(lines[2]["content"] == (try value(#"{"data":{"thing":{"id":2,"size":null}}}"#)))
    #expect(lines[3]["refused"] == .string("There is no tool \"Gone\"."))
    #expect(lines[4]["isError"] == .boolean(false))
  }
}

/// The client that script/mcp-client installs.
private enum ToolClient {
  static let python: String? = {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let cache = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? home + "/.cache"
    let python = cache + "/sociograph/mcp-client/bin/python3"
    return FileManager.default.isExecutableFile(atPath: python) ? python : nil
  }()
}
