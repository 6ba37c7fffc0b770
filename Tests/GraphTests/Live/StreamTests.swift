import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

extension LiveTests {
  /// Subscriptions over HTTP: graphql-sse's distinct connections, and Apollo's multipart.
  @Suite struct StreamTests {
    private static let comments = "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }"

    /// The bytes of the next chunk; empty at the end.
    private func chunk(_ client: RawClient) throws -> String {
      var line = ""
      while !line.hasSuffix("\r\n") {
        guard let byte = client.bytes(1) else { throw GraphTestFailure("the stream broke") }
        line += String(decoding: byte, as: UTF8.self)
      }
      // One character, CR LF.
      guard let length = Int(line.dropLast(), radix: 16), let bytes = client.bytes(length + 2)
      else {
        throw GraphTestFailure("no chunk: \(line)")
      }
      return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }

    /// The next chunk that is no sign of life.
    private func part(_ client: RawClient) throws -> String {
      while true {
        let chunk = try chunk(client)
        if chunk != ":\n\n", !chunk.contains("\r\n\r\n{}\r\n") { return chunk }
      }
    }

    @Test func `a stream of events says at once that it is there, then each event, then its end`()
      throws
    {
      let server = try LiveServer { $0.live.heartbeat = .milliseconds(100) }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let client = try server.open(
        accept: "text/event-stream",
        "subscription($id: ID!) { nodeChanged(id: $id) { ... on Post { body } } }",
        ["id": post.json])
      let head = client.answer(isHead: true)
      #expect(head.status == 200)
      #expect(head.header("Content-Type") == "text/event-stream; charset=utf-8")
      #expect(head.header("Cache-Control") == "no-cache")
      #expect(head.header("X-Accel-Buffering") == "no")
      #expect(try chunk(client) == ":\n\n")
      // A sign of life, without anything happening.
      #expect(try chunk(client) == ":\n\n")
      try server.waitForHearing(1)
      try data.run("UPDATE post SET body = 'new words' WHERE id = $1", [post.number])
      let event = try part(client)
      #expect(event.hasPrefix("event: next\nid: "))
      #expect(event.hasSuffix("\ndata: {\"data\":{\"nodeChanged\":{\"body\":\"new words\"}}}\n\n"))
      try data.run("DELETE FROM post WHERE id = $1", [post.number])
      #expect(try part(client).hasSuffix("\ndata: {\"data\":{\"nodeChanged\":null}}\n\n"))
      #expect(try part(client) == "event: complete\ndata:\n\n")
      #expect(try chunk(client) == "")
      try server.waitForHearing(0)
      // The connection serves on.
      client.send("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(client.answer().status == 200)
    }

    @Test func `queries, refusals and faulty documents come as events to who takes nothing else`()
      throws
    {
      let server = try LiveServer()
      for (document, data) in [
        ("{ __typename }", #"{"data":{"__typename":"Query"}}"#),
        ("{ nothing }", #"{"errors":[{"message":"Cannot query field"#),
        ("subscription { notificationAdded { id } }", #"{"errors":[{"message":"Sign in"#),
      ] {
        let client = try server.open(accept: "text/event-stream", document)
        #expect(client.answer(isHead: true).status == 200)
        #expect(try chunk(client) == ":\n\n")
        let text = try chunk(client)
        #expect(text.contains("data: " + data), "\(text)")
        let rest = text.contains("event: complete") ? "" : try chunk(client)
        #expect((text + rest).hasSuffix("event: complete\ndata:\n\n"))
        #expect(try chunk(client) == "")
      }
      let broken = try RawClient(port: server.graph.port)
      broken.send(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          + "Accept: text/event-stream\r\nContent-Length: 1\r\n\r\n{")
      #expect(broken.answer().status == 400)
    }

    private func id(_ event: String) -> String {
      event.split(separator: "\n").first { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        ?? ""
    }

    private func body(_ event: String) -> String {
      event.split(separator: "\"").suffix(2).first.map(String.init) ?? ""
    }

    @Test func `who leaves amid what happened at once hears the rest of it, then what is new`()
      throws
    {
      let server = try LiveServer()
      let (data, late) = (try server.graph.data(), try server.graph.data())
      let ann = try data.person()
      func open(_ headers: String = "") throws -> RawClient {
        let client = try server.open(
          accept: "text/event-stream", "subscription { postAdded { body } }", headers: headers)
        #expect(client.answer(isHead: true).status == 200)
        try server.waitForHearing(1)
        return client
      }
      var client = try open()
      // Made first, so that it would be told first if it were told with the others.
      try late.run("BEGIN")
      _ = try late.post(.text, by: ann, "late")
      try data.run("BEGIN")
      for text in ["one", "two", "three"] { _ = try data.post(.text, by: ann, text) }
      try data.run("COMMIT")
      var told: [String] = []
      for round in 0..<2 {
        let event = try part(client)
        told.append(body(event))
        client.finishSending()
        try server.waitForHearing(0)
        if round == 0 { try late.run("COMMIT") }
        client = try open("Last-Event-ID: \(id(event))\r\n")
      }
      for _ in 0..<2 { told.append(body(try part(client))) }
      #expect(told == ["one", "two", "three", "late"])
    }

    @Test func `who comes back says what was told last, and hears what came after it`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      var last = ""
      var told: [String] = []
      for round in 0..<3 {
        let client = try server.open(
          accept: "text/event-stream", Self.comments, ["id": post.json],
          headers: last.isEmpty ? "" : "Last-Event-ID: \(last)\r\n")
        #expect(client.answer(isHead: true).status == 200)
        try server.waitForHearing(1)
        _ = try data.comment(post, by: ann, "here \(round)")
        for _ in 0..<(round == 0 ? 1 : 3) {
          let event = try part(client)
          told.append(body(event))
          last = id(event)
        }
        // Nobody hears what comes next, for now.
        client.finishSending()
        try server.waitForHearing(0)
        _ = try data.comment(post, by: ann, "away \(round) a")
        _ = try data.comment(post, by: ann, "away \(round) b")
      }
      #expect(
        told == [
          "here 0", "away 0 a", "away 0 b", "here 1", "away 1 a", "away 1 b", "here 2",
        ])
      for _ in 0..<3 { try data.run("SELECT forget_touches('0')") }
      let refused = try server.open(
        accept: "text/event-stream", Self.comments, ["id": post.json],
        headers: "Last-Event-ID: \(last)\r\n")
      _ = refused.answer(isHead: true)
      #expect(try part(refused).contains("TOKEN_EXPIRED"))
    }

    @Test(arguments: [
      "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
      #"application/json, multipart/mixed; subscriptionSpec="1.0""#,
      "MULTIPART/MIXED;subscriptionspec=1.0",
    ])
    func `each part of a multipart answer carries the delimiter behind it`(_ accept: String) throws
    {
      let server = try LiveServer { $0.live.heartbeat = .milliseconds(100) }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let client = try server.open(
        accept: accept,
        "subscription($id: ID!) { nodeChanged(id: $id) { ... on Post { body } } }",
        ["id": post.json])
      let head = client.answer(isHead: true)
      #expect(head.status == 200)
      #expect(
        head.header("Content-Type") == "multipart/mixed;boundary=graphql;subscriptionSpec=1.0")
      let start = "\r\ncontent-type: application/json\r\n\r\n"
      #expect(try chunk(client) == "\r\n--graphql\(start){}\r\n--graphql")
      #expect(try chunk(client) == "\(start){}\r\n--graphql")
      try server.waitForHearing(1)
      try data.run("UPDATE post SET body = 'new words' WHERE id = $1", [post.number])
      #expect(
        try part(client)
          == start + #"{"payload":{"data":{"nodeChanged":{"body":"new words"}}}}"# + "\r\n--graphql"
      )
      try data.run("DELETE FROM post WHERE id = $1", [post.number])
      #expect(
        try part(client) == start + #"{"payload":{"data":{"nodeChanged":null}}}"# + "\r\n--graphql")
      #expect(try part(client) == "--\r\n")
      #expect(try chunk(client) == "")
    }

    @Test func `a query is answered plainly to who takes a stream as well`() throws {
      let server = try LiveServer()
      for accept in [
        "application/graphql-response+json, application/json, text/event-stream, multipart/mixed",
        "multipart/mixed;subscriptionSpec=1.0,application/json",
      ] {
        let client = try server.open(accept: accept, "{ __typename }")
        #expect(client.answer().body == #"{"data":{"__typename":"Query"}}"#)
      }
    }

    @Test(arguments: [
      "DELETE FROM session WHERE user_id = $1",
      "UPDATE session SET expires_at = now() WHERE user_id = $1",
      "UPDATE session SET expires_at = now() + interval '300 milliseconds' WHERE user_id = $1",
      nil,
    ])
    func `streams end with their session, however that ends, and say so`(_ end: String?) throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let subscription = "subscription { notificationAdded { id } }"
      let live = "query @live { viewer { unreadNotificationCount } }"
      /// A stream of each kind.
      func open(_ person: Person) throws -> [RawClient] {
        try ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"].flatMap { accept in
          try [subscription, live].map { document in
            let client = try server.open(
              accept: accept, document, headers: "Authorization: Bearer \(person.token)\r\n")
            #expect(client.answer(isHead: true).status == 200)
            if document == live { #expect(try part(client).contains(#"Count":0"#)) }
            return client
          }
        }
      }
      let (hers, his) = (try open(ann), try open(bob))
      try server.waitForHearing(4)
      if let end {
        try data.run(end, [ann.key.number])
      } else {
        try server.graph.mutate("signOut", "__typename", as: ann)
      }
      for client in hers {
        let last = try part(client)
        #expect(last.contains(#""message":"The session is over.""#))
        #expect(last.contains(#""code":"UNAUTHENTICATED""#))
        #expect(last.hasSuffix("event: complete\ndata:\n\n") || last.hasSuffix("--\r\n"))
        #expect(try chunk(client) == "")
      }
      // The other's go on, until he leaves.
      try server.graph.mutate(
        "followUsers(userIds: $ids)", "__typename", ["ids: [ID!]!": [bob.json]], as: data.person())
      for (place, client) in his.enumerated() {
        #expect(try part(client).contains(place % 2 == 0 ? #""id":""# : #"Count":1"#))
        client.finishSending()
      }
      try server.waitForHearing(0)
      try server.wait("sociograph_live_queries", 0)
    }

    @Test func `who leaves while it is looked up who it is leaves nothing behind`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      func open(_ person: Person) throws -> RawClient {
        try server.open(
          accept: "text/event-stream", "subscription { notificationAdded { id } }",
          headers: "Authorization: Bearer \(person.token)\r\n")
      }
      let sockets = try server.metric("sociograph_http_connections")
      let lock = try server.lock("session")
      var leaving: RawClient? = try open(ann)
      try server.waitForWaiting(1, "viewer_of_session")
      leaving?.reset()
      leaving = nil
      try server.wait("sociograph_http_connections", sockets)
      try lock.run("COMMIT")
      let staying = try open(bob)
      #expect(staying.answer(isHead: true).status == 200)
      try server.waitForHearing(1)
    }

    @Test(.enabled(if: LiveClients.python != nil, "run script/live-clients first"))
    func `gql, aiohttp and httpx-sse hear of comments`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let run = try LiveClients.start(
        "subscriptions.py", ["localhost:\(server.graph.port)", post.wire, ann.token])
      try server.waitForHearing(3)
      for number in 0..<3 { _ = try data.comment(post, by: ann, "comment \(number)") }
      let result = run.finish()
      let bodies = #"["comment 0", "comment 1", "comment 2"]"#
      #expect(
        Set(result.output.split(separator: "\n").map(String.init))
          == ["websockets \(bodies)", "multipart \(bodies)", "events \(bodies)"], "\(result.output)"
      )
      try server.waitForHearing(0)
    }

    @Test(.enabled(if: LiveClients.hasWscat, "script/setup test installs it"))
    func `wscat hears of comments`() throws {
      let server = try LiveServer {
        $0.http.ping = .milliseconds(100)
        $0.http.pong = .seconds(600)
      }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let wscat = try LiveClients.Conversation(
        "wscat",
        ["-P", "-s", "graphql-transport-ws", "-c", "ws://127.0.0.1:\(server.graph.port)/graphql"],
        environment: ["NODE_PATH": "/usr/share/nodejs"])
      // It takes no line before it is connected, and says so to terminals only.
      try #require(wscat.line(with: "Received ping") != nil)
      try wscat.tell(#"{"type":"connection_init"}"#)
      #expect(wscat.line(with: "connection_ack") != nil)
      let payload: JSONValue = ["query": .string(Self.comments), "variables": ["id": post.json]]
      try wscat.tell(#"{"id":"1","type":"subscribe","payload":\#(payload)}"#)
      try server.waitForHearing(1)
      _ = try data.comment(post, by: ann, "a comment")
      let line = wscat.line(with: #""type":"next""#)
      #expect(line?.contains(#"{"commentAdded":{"body":"a comment"}}"#) == true)
      try wscat.tell(#"{"id":"1","type":"complete"}"#)
      try server.waitForHearing(0)
    }
  }
}
