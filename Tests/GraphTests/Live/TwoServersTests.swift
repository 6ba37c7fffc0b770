import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Changes made at one server reach the subscribers of another on the same PostgreSQL.
  @Suite struct TwoServersTests {
    private static let comments = "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }"
    private let one: LiveServer
    private let other: LiveServer

    init() throws {
      one = try LiveServer()
      other = try LiveServer(database: one.graph.database)
    }

    private func comment(
      _ server: LiveServer, on post: NodeKey, _ text: String, as author: Person
    ) throws {
      try server.graph.mutate(
        "addComment(subjectId: $id, body: $body)", "__typename",
        ["id: ID!": post.json, "body: String!": .string(text)], as: author, key: text)
    }

    @Test func `events arrive at both, once each and in order, and answers stay true`() throws {
      let data = try one.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let servers = [one, other]
      let sockets = try servers.map { try $0.socket() }
      let live = try other.socket()
      for socket in sockets { socket.subscribe("1", Self.comments, ["id": post.json]) }
      live.subscribe(
        "1", "query($id: ID!) @live { node(id: $id) { ... on Post { commentCount } } }",
        ["id": post.json])
      #expect(try live.data().at("node.commentCount") == 0)
      for server in servers { try server.waitForHearing(1) }
      for number in 0..<6 {
        try comment(servers[number % 2], on: post, "comment \(number)", as: ann)
      }
      for socket in sockets {
        for number in 0..<6 {
          #expect(try socket.data().at("commentAdded.body") == .string("comment \(number)"))
        }
      }
      var count: JSONValue?
      repeat { count = try live.data().at("node.commentCount") } while count != 6
    }

    @Test func `whom somebody blocks at one is not heard by them at the other`() throws {
      let data = try one.graph.data()
      let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
      let post = try data.post(.text, by: cem)
      let hers = try other.socket(ann)
      hers.subscribe("1", Self.comments, ["id": post.json])
      try other.waitForHearing(1)
      try comment(other, on: post, "before", as: bob)
      #expect(try hers.data().at("commentAdded.body") == "before")
      try one.graph.mutate("blockUser(userId: $id)", "__typename", ["id: ID!": bob.json], as: ann)
      try comment(other, on: post, "unheard", as: bob)
      try comment(one, on: post, "unheard as well", as: bob)
      try comment(one, on: post, "heard", as: cem)
      #expect(try hers.data().at("commentAdded.body") == "heard")
    }

    @Test func `a session that ends at one has its socket and its stream closed at the other`()
      throws
    {
      let data = try one.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let (hers, his) = (try other.socket(ann), try other.socket(bob))
      for socket in [hers, his] {
        socket.subscribe("1", "subscription { notificationAdded { id } }")
      }
      let stream = try other.open(
        accept: "text/event-stream", "subscription { notificationAdded { id } }",
        headers: "Authorization: Bearer \(ann.token)\r\n")
      #expect(stream.answer(isHead: true).status == 200)
      try other.waitForHearing(3)
      try one.graph.mutate("signOut", "__typename", as: ann)
      #expect(hers.client.closeCode() == 4403)
      var line = stream.line()
      while let last = line, !last.contains("UNAUTHENTICATED") { line = stream.line() }
      #expect(line != nil)
      try other.waitForHearing(1)
      his.client.send(#"{"type":"ping"}"#)
      #expect(his.text() == #"{"type":"pong"}"#)
    }
  }
}
