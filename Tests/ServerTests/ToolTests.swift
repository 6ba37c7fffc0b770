import Accounts
import Foundation
import GraphQLTransport
import HTTP
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing
import TokenSupport

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

  // MARK: - The revision 2026-07-28

  private static let meta =
    #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
    + #""io.modelcontextprotocol/clientCapabilities":{}}"#

  /// Sends a request of the revision, with the headers that it needs.
  private func askCurrent(
    _ server: TestServer, _ method: String, _ parameters: String = "", named: String? = nil,
    headers: String = ""
  ) throws -> RawClient.Answer {
    try ask(
      server,
      #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":{\#(parameters)\#(Self.meta)}}"#,
      headers: "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: \(method)\r\n"
        + (named.map { "Mcp-Name: \($0)\r\n" } ?? "") + headers)
  }

  @Test func `each request says all by itself, and each result that it is complete`() throws {
    let server = try Self.graph().server
    let discovered = try value(askCurrent(server, "server/discover").body)["result"]
    #expect(
      discovered?["supportedVersions"]
        == (try value(#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]"#)))
    #expect(discovered?["capabilities"] == (try value(#"{"tools":{}}"#)))
    let listed = try value(askCurrent(server, "tools/list").body)["result"]
    for result in [discovered, listed] {
      #expect(result?["ttlMs"] == .number("60000") && result?["cacheScope"] == .string("public"))
    }
    let called = try value(
      askCurrent(
        server, "tools/call", #""name":"One","arguments":{"id":1},"#, named: "=?base64?T25l?="
      ).body)["result"]
    #expect(called?["structuredContent"] == (try value(#"{"data":{"thing":{"id":1,"size":7}}}"#)))
    for result in [discovered, listed, called] {
      #expect(result?["resultType"] == .string("complete"))
      #expect(
        result?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] == .string("sociograph"))
    }
    // What the revisions before have looks as it did.
    let before = try value(ask(server, #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).body)
    #expect(before["result"]?.names == ["tools"])
  }

  @Test func `a request of the revision that is not one is refused by its kind`() throws {
    let server = try Self.graph().server
    let version = "MCP-Protocol-Version: 2026-07-28\r\n"
    let method = "Mcp-Method: tools/list\r\n"
    func list(_ meta: String) -> String {
      #"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{\#(meta)}}"#
    }
    let other = Self.meta.replacing("2026-07-28", with: "2027-01-01")
    let cases: [(body: String, headers: String, status: Int, code: String)] = [
      ("{", version, 400, "-32700"), ("[]", version, 400, "-32600"),
      (#"{"jsonrpc":"2.0","id":7,"result":{}}"#, version, 400, "-32600"),
      (list(""), version + method, 400, "-32602"),
      (
        list(#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#),
        version + method, 400, "-32602"
      ),
      (list(Self.meta), method, 400, "-32020"), (list(Self.meta), version, 400, "-32020"),
      (list(Self.meta), version + "Mcp-Method: Tools/list\r\n", 400, "-32020"),
      (list(Self.meta), version + method + method, 400, "-32020"),
      (list(Self.meta), "MCP-Protocol-Version: 2025-11-25\r\n" + method, 400, "-32020"),
      (list(other), version.replacing("2026-07-28", with: "2027-01-01") + method, 400, "-32022"),
    ]
    for (body, headers, status, code) in cases {
      let answer = try ask(server, body, headers: headers)
      #expect(answer.status == status, "\(body) \(headers)")
      #expect(try value(answer.body)["error"]?["code"] == .number(code), "\(body) \(headers)")
    }
    let unknown = try ask(
      server, list(other),
      headers: version.replacing("2026-07-28", with: "2027-01-01") + method)
    let data = try value(unknown.body)["error"]?["data"]
    #expect(data?["requested"] == .string("2027-01-01") && data?["supported"]?.elements.count == 4)
    for gone in ["initialize", "ping", "logging/setLevel", "subscriptions/listen"] {
      let answer = try askCurrent(server, gone)
      #expect(answer.status == 404, "\(gone)")
      #expect(try value(answer.body)["error"]?["code"] == .number("-32601"))
    }
    let call = try askCurrent(server, "tools/call", #""name":"One","#, named: "Two")
    #expect(try value(call.body)["error"]?["code"] == .number("-32020"))
    let nobody = try askCurrent(server, "tools/call", #""name":"Gone","#, named: "Gone")
    #expect(nobody.status == 400)
    #expect(try value(nobody.body)["error"]?["code"] == .number("-32602"))
    let note = try ask(
      server, #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, headers: version)
    #expect(note.status == 202)
  }

  // MARK: - Where to get a token

  private static let secret = "a secret of thirty-two bytes or more, for tests"

  /// A graph in which a token is needed to write.
  private static func guarded(
    issuer: String, _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws -> (graph: OwnGraph, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    let key = try folder.write("key", secret)
    let keys = try folder.write(
      "jwt.json", #"{"ID": {"issuer": "\#(issuer)", "audience": "graph", "secret": "\#(key)"}}"#)
    let issuers = try IdentityProviders(file: keys, allowsSecrets: true)
    let documents = try TrustedDocuments(
      manifest: Array(
        #"{"a": "mutation Add($id: Int!) { insertThings(input: [{id: $id}]) { count } }"}"#.utf8))
    let graph = try OwnGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { id: Int! }
      input ThingInput { id: Int! }
      type WriteError { code: String! message: String! path: [String!] }
      type Payload { count: Int @result(key: "count") userErrors: [WriteError!]! @userErrors }
      type Mutation {
        insertThings(input: [ThingInput!]!): Payload! @insert(into: "Thing", anonymous: false)
      }
      """, "CREATE TABLE thing (id int PRIMARY KEY)"
    ) {
      $0.servesTools = true
      $0.endpoint.trustedDocuments = documents
      $0.tokenIssuers = issuers
      change(&$0)
    }
    return (graph, folder)
  }

  @Test func `a 401 says where the issuers of tokens are named`() throws {
    let (graph, _) = try Self.guarded(issuer: "https://id.example") {
      $0.endpoint.crossOrigin.allowedOrigins = ["https://app.example"]
    }
    let server = graph.server
    let call = try askCurrent(
      server, "tools/call", #""name":"Add","arguments":{"id":1},"#, named: "Add",
      headers: "Origin: https://app.example\r\n")
    #expect(call.status == 401)
    let place = "http://localhost/.well-known/oauth-protected-resource/mcp"
    #expect(call.header("WWW-Authenticate") == "Bearer resource_metadata=\"\(place)\"")
    #expect(
      call.header("Access-Control-Expose-Headers")?.contains("WWW-Authenticate") == true)
    let wrong = try ask(server, Self.ping, headers: "Authorization: Bearer nobody's\r\n")
    #expect(
      wrong.header("WWW-Authenticate")
        == "Bearer error=\"invalid_token\", resource_metadata=\"\(place)\"")
    func metadata(_ path: String, _ headers: String = "Host: localhost\r\n") throws
      -> RawClient.Answer
    {
      try server.send(Array("GET \(path) HTTP/1.1\r\n\(headers)\r\n".utf8))
    }
    for (path, resource) in [("/mcp", "http://localhost/mcp"), ("", "http://localhost")] {
      let answer = try metadata("/.well-known/oauth-protected-resource" + path)
      let document = try value(answer.body)
      #expect(answer.header("Access-Control-Allow-Origin") == "*")
      #expect(document["resource"] == .string(resource))
      #expect(document["authorization_servers"] == .array([.string("https://id.example")]))
    }
    #expect(try metadata("/.well-known/oauth-protected-resource/other").status == 404)
    let plain = try Self.graph().server
    let none = try plain.send(
      Array(
        "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(none.status == 404)
  }

  // MARK: - The client of others

  private static func runClient(
    _ server: TestServer, _ mode: String, token: String = "", _ calls: String,
    issuerPort: UInt16 = 0
  ) throws -> [JSONValue] {
    let folder = try TemporaryFolder()
    let run = try LiveClients.tool(
      "sh",
      [
        "-c", "ISSUER_PORT=\(issuerPort) exec \"$0\" \"$1\" \"$2\" \"$3\" \"$4\" < \"$5\"",
        try #require(ToolClient.python), TestCluster.packageFolder + "/Tests/Clients/tools.py",
        "http://127.0.0.1:\(server.port)/mcp", mode, token, folder.write("calls", calls),
      ])
    #expect(run.status == 0, "\(run.output)")
    return try run.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
  }

  @Test(.mcpClient, arguments: ["2026-07-28", "auto", "legacy"])
  func `a client of the Model Context Protocol finds the tools and calls them`(
    mode: String
  ) throws {
    let lines = try Self.runClient(
      try Self.graph().server, mode,
      """
      Things {"kind": "GOOD"}
      One {"id": 2}
      Gone {}
      search_schema {"question": "size"}

      """)
    try #require(lines.count == 5, "\(lines)")
    #expect(lines[0]["tools"]?["One"]?["type"] == .string("object"))
    #expect(lines[1]["content"] == (try value(#"{"data":{"things":[{"id":1}]}}"#)))
    #expect(lines[2]["content"] == (try value(#"{"data":{"thing":{"id":2,"size":null}}}"#)))
    #expect(lines[3]["refused"] == .string("There is no tool \"Gone\"."))
    #expect(lines[4]["isError"] == .boolean(false))
  }

  @Test(
    .enabled(
      if: (try? LiveClients.tool("chromium", ["--version"]))?.status == 0,
      "SKIPPED: Chromium is not installed; script/setup test does it."))
  func `a page of a listed origin calls tools in a browser, and reads where to get a token`() throws
  {
    let page = try Self.graph().server
    let (graph, _) = try Self.guarded(issuer: "https://id.example") {
      $0.endpoint.crossOrigin.allowedOrigins = ["http://127.0.0.1:\(page.port)"]
    }
    func look(_ server: TestServer) throws -> JSONValue {
      let run = try LiveClients.run(
        "tools_page.py",
        ["http://127.0.0.1:\(page.port)/live", "http://127.0.0.1:\(server.port)/mcp"])
      #expect(run.status == 0, "\(run.output)")
      return try value(run.output)
    }
    let seen = try look(graph.server)
    #expect(seen["names"] == (try value(#"["search_schema","Add"]"#)), "\(seen)")
    #expect(seen["status"] == .number("401"))
    #expect(seen["metadata"]?["authorization_servers"] == (try value(#"["https://id.example"]"#)))
    // Of another server, whose list has no such origin, it reads nothing.
    let (other, _) = try Self.guarded(issuer: "https://id.example")
    #expect(try look(other.server)["failed"] != nil)
  }

  @Test(.mcpClient) func `a client without a token signs in by itself`() throws {
    // A port may be taken by another program: then another one is.
    for _ in 0..<10 {
      let port = UInt16.random(in: 20_000...29_999)
      let issuer = "http://127.0.0.1:\(port)"
      let (graph, _) = try Self.guarded(issuer: issuer)
      let end = Int64(Date().timeIntervalSince1970) + 3600
      let token = TokenSigner(.shared(Self.secret)).sign(
        #"{"iss": "\#(issuer)", "aud": "graph", "sub": "1", "exp": \#(end)}"#)
      let lines = try Self.runClient(
        graph.server, "sign-in", token: token, "Add {\"id\": 5}\n", issuerPort: port)
      if lines.first?["taken"] != nil { continue }
      try #require(lines.count == 2, "\(lines)")
      #expect(lines[1]["content"] == (try value(#"{"data":{"insertThings":{"count":1}}}"#)))
      #expect(try graph.value("SELECT string_agg(id::text, ',') FROM thing") == "5")
      return
    }
    Issue.record("No port is free.")
  }
}

extension Trait where Self == ConditionTrait {
  fileprivate static var mcpClient: Self {
    .enabled(
      if: ToolClient.python != nil,
      "SKIPPED: the client of the Model Context Protocol is missing; script/mcp-client installs it."
    )
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
