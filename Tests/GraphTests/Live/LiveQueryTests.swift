import Glibc
import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Queries with `@live`: a response at once, one after each change of the result, and no others.
  @Suite struct LiveQueryTests {
    private static let counts =
      "query($id: ID!) @live { node(id: $id) { ... on Post { body commentCount } } }"

    private func comment(
      _ server: LiveServer, on subject: NodeKey, _ text: String, as author: Person
    ) throws {
      try server.graph.mutate(
        "addComment(subjectId: $id, body: $body)", "__typename",
        ["id: ID!": subject.json, "body: String!": .string(text)], as: author,
        key: "\(subject) \(text)")
    }

    /// The first line of data of the next event of a stream.
    private func event(_ client: RawClient) throws -> JSONValue {
      while let line = client.line() {
        if line.hasPrefix("data: {") { return try JSONParser.parse(Array(line.utf8.dropFirst(6))) }
      }
      throw GraphTestFailure("the stream broke")
    }

    @Test func `an answer comes at once, and again when somebody's mutation makes it another`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let post = try data.post(.text, by: ann)
      let socket = try server.socket(bob)
      socket.subscribe("1", Self.counts, ["id": post.json])
      #expect(try socket.data().at("node.commentCount") == 0)
      try comment(server, on: post, "first", as: ann)
      #expect(try socket.data().at("node.commentCount") == 1)
      try server.graph.mutate(
        "updateTextPost(textPostId: $id, input: {body: \"other words\"})", "__typename",
        ["id: ID!": post.json],
        as: ann)
      #expect(try socket.data().at("node.body") == "other words")
      try server.graph.mutate(
        "deletePost(postId: $id)", "__typename", ["id: ID!": post.json], as: ann)
      #expect(try socket.data() == ["node": .null])
      socket.complete("1")
      try server.wait("sociograph_live_queries", 0)
      #expect(try server.metric("sociograph_live_query_dependencies") == 0)
    }

    @Test func `what does not concern a query is answered by nobody, and no statement is run`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let (mine, other) = (try data.post(.text, by: ann), try data.post(.text, by: bob))
      let socket = try server.socket(bob)
      socket.subscribe("1", Self.counts, ["id": mine.json])
      #expect(try socket.data().at("node.commentCount") == 0)
      for number in 0..<5 { try comment(server, on: other, "\(number)", as: ann) }
      // News come in order: when this is there, those have been read.
      try comment(server, on: mine, "here", as: ann)
      #expect(try socket.data().at("node.commentCount") == 1)
      #expect(try server.metric("sociograph_live_query_executions_total") == 2)
      #expect(try server.metric("sociograph_live_query_responses_total") == 2)
    }

    @Test func `what changes nothing in the answer is not sent`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let socket = try server.socket()
      socket.subscribe(
        "1", "query($id: ID!) @live { node(id: $id) { ... on Post { commentCount } } }",
        ["id": post.json])
      #expect(try socket.data().at("node.commentCount") == 0)
      try data.run("UPDATE post SET body = 'unselected' WHERE id = $1", [post.number])
      try server.wait("sociograph_live_query_executions_total", 2)
      try comment(server, on: post, "first", as: ann)
      #expect(try socket.data().at("node.commentCount") == 1)
      #expect(try server.metric("sociograph_live_query_responses_total") == 2)
    }

    @Test func `a stream of events has the answers, too, and its end ends the query`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      var leaving: RawClient? = try server.open(
        accept: "text/event-stream", "query @live { viewer { unreadNotificationCount } }",
        headers: "Authorization: Bearer \(ann.token)\r\n")
      func next() throws -> JSONValue { try event(#require(leaving)) }
      #expect(leaving?.answer(isHead: true).status == 200)
      #expect(try next() == ["data": ["viewer": ["unreadNotificationCount": 0]]])
      try server.graph.mutate(
        "followUsers(userIds: $ids)", "__typename", ["ids: [ID!]!": [ann.json]], as: bob)
      #expect(try next() == ["data": ["viewer": ["unreadNotificationCount": 1]]])
      try server.graph.mutate("markNotificationsRead", "__typename", as: ann)
      #expect(try next() == ["data": ["viewer": ["unreadNotificationCount": 0]]])
      leaving = nil
      try server.wait("sociograph_live_queries", 0)
      #expect(try server.metric("sociograph_live_query_dependencies") == 0)
    }

    @Test func `Apollo's multipart answers have them, each in a payload`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let client = try server.open(
        accept: "multipart/mixed;subscriptionSpec=1.0", Self.counts, ["id": post.json])
      #expect(client.answer(isHead: true).status == 200)
      func awaitText(_ text: String) throws {
        var found = ""
        while !found.hasSuffix(text) {
          guard let byte = client.bytes(1) else { throw GraphTestFailure("ended behind \(found)") }
          found += String(decoding: byte, as: UTF8.self)
        }
      }
      try awaitText(#"{"payload":{"data":{"node":{"body":""#)
      try awaitText(#""commentCount":0}}}}"#)
      try comment(server, on: post, "first", as: ann)
      try awaitText(#""commentCount":1}}}}"#)
    }

    @Test func `answers are patches for who asks for them, and whole where that is shorter`() throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let words = String(repeating: "many words ", count: 10)
      let post = try data.post(.text, by: ann, words)
      let socket = try server.socket()
      socket.subscribe("1", Self.counts, ["id": post.json], extensions: ["liveFormat": "patch"])
      func next() throws -> JSONValue? { try #require(socket.message())["payload"] }
      let first: JSONValue = ["node": ["body": .string(words), "commentCount": 0]]
      #expect(try next() == ["data": first, "revision": 1])
      try comment(server, on: post, "first", as: ann)
      let patch: JSONValue = [["op": "replace", "path": "/node/commentCount", "value": 1]]
      #expect(try next() == ["patch": patch, "revision": 2])
      try comment(server, on: post, "second", as: ann)
      #expect(try next()?["revision"] == 3)
      try server.graph.mutate(
        "deletePost(postId: $id)", "__typename", ["id: ID!": post.json], as: ann)
      #expect(try next() == ["data": ["node": .null], "revision": 1])
      socket.subscribe("2", Self.counts, ["id": post.json], extensions: ["liveFormat": 1])
      #expect(
        try next()?.array?.first?.at("extensions.code") == "BAD_USER_INPUT")
    }

    @Test func `lists have what comes, what goes and what becomes of it`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
      let post = try data.post(.text, by: ann)
      let socket = try server.socket(bob)
      socket.subscribe(
        "1",
        """
        query($id: ID!) @live {
          node(id: $id) {
            ... on Post { comments { nodes { body reactionCount author { displayName } } } }
          }
        }
        """, ["id": post.json])
      func bodies(_ data: JSONValue) -> [JSONValue] {
        (data.at("node.comments.nodes")?.array ?? []).map { $0["body"] ?? .null }
      }
      #expect(bodies(try socket.data()) == [])
      try comment(server, on: post, "of cem", as: cem)
      let first = try socket.data()
      #expect(bodies(first) == ["of cem"])
      let id = try NodeKey(
        Int64(data.run("SELECT id FROM comment WHERE subject_id = $1", [post.number])[0][0] ?? "")
          ?? 0)
      try server.graph.mutate(
        "react(subjectId: $id, kind: AGREE)", "__typename", ["id: ID!": id.json], as: ann)
      #expect(try socket.data().at("node.comments.nodes")?.array?[0]["reactionCount"] == 1)
      try server.graph.mutate(
        "updateProfile(input: { displayName: \"Another\" })", "__typename", as: cem)
      #expect(
        try socket.data().at("node.comments.nodes")?.array?[0].at("author.displayName") == "Another"
      )
      // Who is blocked is not read any more, and comes back.
      try server.graph.mutate(
        "blockUser(userId: $id)", "__typename", ["id: ID!": cem.json], as: bob)
      #expect(bodies(try socket.data()) == [])
      try server.graph.mutate(
        "unblockUser(userId: $id)", "__typename", ["id: ID!": cem.json], as: bob)
      #expect(bodies(try socket.data()) == ["of cem"])
      try server.graph.mutate(
        "deleteComment(commentId: $id)", "__typename", ["id: ID!": id.json], as: cem)
      #expect(bodies(try socket.data()) == [])
    }

    @Test func `a feed has the posts of whom one follows from when one does`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let post = try data.post(.text, by: bob)
      let socket = try server.socket(ann)
      socket.subscribe("1", "query @live { viewer { feed { nodes { id } } } }")
      func ids(_ data: JSONValue) -> [JSONValue] {
        (data.at("viewer.feed.nodes")?.array ?? []).map { $0["id"] ?? .null }
      }
      #expect(ids(try socket.data()) == [])
      try server.graph.mutate(
        "followUsers(userIds: $ids)", "__typename", ["ids: [ID!]!": [bob.json]], as: ann)
      #expect(ids(try socket.data()) == [post.json])
      try server.graph.mutate("createTextPost(input: { body: \"new\" })", as: bob)
      #expect(ids(try socket.data()).count == 2)
    }

    @Test func `what nobody tells of is refused with its coordinate, or looked at at intervals`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let ann = try data.person()
      let socket = try server.socket(ann)
      func refusal(_ document: String) throws -> JSONValue {
        socket.subscribe("1", document)
        let message = try #require(socket.message())
        #expect(message["type"] == "error")
        return message["payload"]?.array?.first ?? .null
      }
      for (document, coordinate) in [
        ("query @live { changes { token } }", "Query.changes"),
        ("query @live { viewer { user { id } sessions { id } } }", "Viewer.sessions"),
        ("query @live { explore { nodes { id } } }", "Query.explore"),
      ] {
        let error = try refusal(document)
        #expect(error.at("extensions.code") == "LIVE_UNSUPPORTED")
        #expect(error["message"]?.string?.hasPrefix("\(coordinate) cannot be live: ") == true)
      }
      #expect(
        try refusal("query @live(interval: 9999) { changes { token } }").at("extensions.code")
          == "BAD_USER_INPUT")
      socket.subscribe("1", "query @live(interval: 10000) { viewer { sessions { id } } }")
      #expect(try socket.data().at("viewer.sessions")?.array?.count == 1)
    }

    @Test func `only queries are live, and only over what takes more than one answer`() throws {
      let server = try LiveServer()
      func answer(_ document: String) throws -> JSONValue { try server.graph.execute(document) }
      #expect(
        try answer("mutation @live { signOut { __typename } }").at("errors")?.array?.first?
          .at("extensions.code") == "GRAPHQL_VALIDATION_FAILED")
      #expect(
        try answer("query @live @live { __typename }").at("errors")?.array?.first?
          .at("extensions.code") == "GRAPHQL_VALIDATION_FAILED")
      #expect(
        try answer("query @live { circles { totalCount } }").at("errors")?.array?.first?
          .at("extensions.code") == "NOT_ACCEPTABLE")
      #expect(
        try answer("query @live(if: false) { __typename }") == ["data": ["__typename": "Query"]])
    }

    @Test func `after a restart of the database a query goes on with what was missed`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let post = try data.post(.text, by: ann)
      let socket = try server.socket(bob)
      socket.subscribe("1", Self.counts, ["id": post.json])
      #expect(try socket.data().at("node.commentCount") == 0)
      // Every connection of the server, the one that reads the news included.
      try data.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      try data.run("UPDATE post SET body = 'missed' WHERE id = $1", [post.number])
      #expect(try socket.data().at("node.body") == "missed")
    }
  }
}
