import Glibc
import HTTPTestSupport
import JSON
import OracleSupport
import Server
import TestSupport
import Testing

/// Subscriptions: the right events for each subscriber, once, and no others. Each test has its own
/// server, and waits most of the time.
@Suite(.usesCluster(isFirst: true)) struct LiveTests {
  private func bodies(_ socket: GraphQLSocket, _ path: String, _ count: Int) throws -> [String] {
    try (0..<count).map { _ in try socket.data().at(path)?.string ?? "" }
  }

  private static let comments =
    "subscription($id: ID!) { commentAdded(subjectId: $id) { body author { username } } }"

  // MARK: The six fields

  @Test func `notifications are told to whom they are for`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    let (mine, others) = (try server.socket(ann), try server.socket(cem))
    let document = "subscription { notificationAdded { reason actor { username } } }"
    mine.subscribe("1", document)
    others.subscribe("1", document)
    try server.waitForHearing(2)
    try server.graph.mutate(
      "followUsers(userIds: $ids)", "__typename", ["ids: [ID!]!": [ann.json]], as: bob)
    let told = try mine.data()
    #expect(told.at("notificationAdded.reason") == "FOLLOWED")
    #expect(told.at("notificationAdded.actor.username")?.string == bob.username)
    // Cem's own comes first: there was nothing before it.
    try server.graph.mutate(
      "followUsers(userIds: $ids)", "__typename", ["ids: [ID!]!": [cem.json]], as: ann)
    #expect(try others.data().at("notificationAdded.actor.username")?.string == ann.username)
  }

  @Test func `messages are told to those who take part, of one conversation or of all`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    func send(_ people: [Person], _ text: String, as author: Person) throws -> JSONValue {
      try server.graph.mutate(
        "sendMessage(to: { userIds: $ids }, body: $body)", "message { conversation { id } }",
        ["ids: [ID!]!": .array(people.map(\.json)), "body: String!": .string(text)], as: author
      ).at("message.conversation.id") ?? .null
    }
    let talk = try send([bob], "before", as: ann)
    let (all, one, stranger) = (
      try server.socket(bob), try server.socket(bob), try server.socket(data.person())
    )
    all.subscribe("1", "subscription { messageAdded { body } }")
    one.subscribe(
      "1", "subscription($id: ID) { messageAdded(conversationId: $id) { body } }", ["id": talk])
    stranger.subscribe(
      "1", "subscription($id: ID) { messageAdded(conversationId: $id) { body } }", ["id": talk])
    try server.waitForHearing(3)
    _ = try send([bob], "first", as: ann)
    _ = try send([bob], "elsewhere", as: cem)
    _ = try send([ann], "second", as: bob)
    #expect(try bodies(all, "messageAdded.body", 3) == ["first", "elsewhere", "second"])
    #expect(try bodies(one, "messageAdded.body", 2) == ["first", "second"])
    stranger.client.send(#"{"type":"ping"}"#)
    #expect(stranger.text() == #"{"type":"pong"}"#)
  }

  @Test func `of a conversation of three those hidden from each other hear the third alone`() throws
  {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    let talk =
      try server.graph.mutate(
        "sendMessage(to: { userIds: $ids }, body: \"before\")", "message { conversation { id } }",
        ["ids: [ID!]!": [bob.json, cem.json]], as: ann
      ).at("message.conversation.id") ?? .null
    func send(_ text: String, as author: Person) throws {
      try server.graph.mutate(
        "sendMessage(to: { conversationId: $id }, body: $body)",
        ["id: ID!": talk, "body: String!": .string(text)], as: author)
    }
    try server.graph.mutate("blockUser(userId: $id)", ["id: ID!": bob.json], as: ann)
    let (told, live) = (try server.socket(ann), try server.socket(ann))
    told.subscribe("1", "subscription { messageAdded { body } }")
    live.subscribe(
      "1",
      """
      query($id: ID!) @live { node(id: $id) { ... on Conversation {
        unreadCount messages { totalCount nodes { body } } } } }
      """, ["id": talk])
    try server.waitForHearing(1)
    #expect(try live.data().at("node.messages.totalCount") == 1)
    try send("hidden", as: bob)
    try send("shown", as: cem)
    #expect(try told.data().at("messageAdded.body") == "shown")
    let next = try live.data()
    #expect(next.strings("node.messages.nodes", "body") == ["before", "shown"])
    #expect(next.at("node.messages.totalCount") == 2)
    #expect(next.at("node.unreadCount") == 1)
  }

  @Test func `comments are told, once each and in order, and those of people blocked are not`()
    throws
  {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    let post = try data.post(.text, by: data.person())
    try data.block(ann, cem)
    let (hers, nobodys) = (try server.socket(ann), try server.socket())
    for socket in [hers, nobodys] { socket.subscribe("1", Self.comments, ["id": post.json]) }
    try server.waitForHearing(2)
    for number in 0..<20 {
      try server.graph.mutate(
        "addComment(subjectId: $id, body: $body)", "__typename",
        ["id: ID!": post.json, "body: String!": .string("comment \(number)")],
        as: number % 4 == 3 ? cem : bob, key: "key \(number)")
    }
    let all = (0..<20).map { "comment \($0)" }
    #expect(try bodies(nobodys, "commentAdded.body", 20) == all)
    #expect(
      try bodies(hers, "commentAdded.body", 15)
        == all.enumerated().filter { $0.offset % 4 != 3 }.map(\.element))
  }

  @Test func `posts are told that fit the filter and may be seen`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Circle", owner: bob)
    try data.follow(ann, bob)
    let (followed, texts, nobodys) = (
      try server.socket(ann), try server.socket(bob), try server.socket()
    )
    followed.subscribe(
      "1", "subscription { postAdded(filter: { by: FOLLOWING }) { body author { username } } }")
    texts.subscribe("1", "subscription { postAdded(filter: { kinds: [TEXT] }) { body } }")
    nobodys.subscribe("1", "subscription { postAdded { body } }")
    try server.waitForHearing(3)
    func post(_ text: String, circle: NodeKey? = nil, as author: Person) throws {
      var input = "body: \"\(text)\""
      if let circle { input += ", circleId: \"\(circle.wire)\"" }
      try server.graph.mutate("createTextPost(input: { \(input) })", as: author)
    }
    try post("of a stranger", as: cem)
    try post("in a group", circle: circle, as: bob)
    try post("for everybody", as: bob)
    #expect(try bodies(followed, "postAdded.body", 1) == ["for everybody"])
    #expect(
      try bodies(texts, "postAdded.body", 3) == ["of a stranger", "in a group", "for everybody"])
    #expect(try bodies(nobodys, "postAdded.body", 2) == ["of a stranger", "for everybody"])
  }

  @Test func `a node is told after each change, and null when it is gone ends it`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob) = (try data.person(), try data.person())
    let post = try data.post(.text, by: ann)
    let socket = try server.socket(bob)
    socket.subscribe(
      "1",
      """
      subscription($id: ID!) { nodeChanged(id: $id) { ... on Post { body commentCount } } }
      """, ["id": post.json])
    try server.waitForHearing(1)
    try server.graph.mutate(
      "addComment(subjectId: $id, body: \"hi\")", "__typename", ["id: ID!": post.json], as: bob,
      key: "a")
    #expect(try socket.data().at("nodeChanged.commentCount") == 1)
    try server.graph.mutate(
      "updateTextPost(textPostId: $id, input: {body: \"other words\"})", "__typename",
      ["id: ID!": post.json],
      as: ann)
    #expect(try socket.data().at("nodeChanged.body") == "other words")
    try server.graph.mutate(
      "deletePost(postId: $id)", "__typename", ["id: ID!": post.json], as: ann, key: "b")
    #expect(try socket.data() == ["nodeChanged": .null])
    #expect(socket.message()?["type"] == "complete")
    try server.waitForHearing(0)
    // What is not there is told at once.
    socket.subscribe(
      "1", "subscription($id: ID!) { nodeChanged(id: $id) { id } }", ["id": post.json])
    #expect(socket.answer("1").map(\.type) == ["next", "complete"])
  }

  @Test
  func `PLAT-6: that there is something to synchronise is told, with the token that says how far`()
    throws
  {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob) = (try data.person(), try data.person())
    let query = "query($since: String) { changes(since: $since) { token changes { node { id } } } }"
    let start = try server.graph.data(query, as: ann).at("changes.token") ?? .null
    let socket = try server.socket(ann)
    socket.subscribe("1", "subscription { changesAvailable }")
    try server.waitForHearing(1)
    let circle = try data.circle("Group", owner: bob)
    // Nothing of hers until she is in it.
    try server.graph.mutate(
      "addCircleMembers(circleId: $id, userIds: $ids)", "__typename",
      ["id: ID!": circle.json, "ids: [ID!]!": [ann.json]], as: bob, key: "a")
    let token = try socket.data().at("changesAvailable") ?? .null
    let changed = try server.graph.data(query, ["since": start], as: ann)
    #expect(changed.list("changes.changes", "node").contains { $0["id"] == circle.json })
    #expect(token.string?.count == 44)
    // She hears of what happens in it from now on.
    var tokens: Set<String> = []
    let comment = try data.comment(circle, by: bob, "in the group")
    while true {
      tokens.insert(try socket.data().at("changesAvailable")?.string ?? "")
      let now = try server.graph.data(query, ["since": token], as: ann)
      if now.list("changes.changes", "node").contains(where: { $0["id"] == comment.json }) { break }
    }
    #expect(!tokens.isEmpty)
  }

  // MARK: Whom it is told

  @Test func `who is not signed in has no notifications or messages to hear of`() throws {
    let server = try LiveServer()
    let socket = try server.socket()
    for (document, code) in [
      ("subscription { notificationAdded { id } }", "UNAUTHENTICATED"),
      ("subscription { messageAdded { id } }", "UNAUTHENTICATED"),
    ] {
      socket.subscribe("1", document)
      let answer = socket.answer("1")
      #expect(answer.map(\.type) == ["error"])
      #expect(answer.first?.payload?.array?.first?["extensions"]?["code"]?.string == code)
    }
    try server.waitForHearing(0)
  }

  @Test func `who leaves a group hears no more of it`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let (ann, bob) = (try data.person(), try data.person())
    let circle = try data.circle("Group", owner: bob)
    try data.join(circle, ann)
    let (hers, his) = (try server.socket(ann), try server.socket(bob))
    for socket in [hers, his] { socket.subscribe("1", Self.comments, ["id": circle.json]) }
    try server.waitForHearing(2)
    func comment(_ text: String) throws {
      try server.graph.mutate(
        "addComment(subjectId: $id, body: $body)", "__typename",
        ["id: ID!": circle.json, "body: String!": .string(text)], as: bob, key: text)
    }
    try comment("one")
    #expect(try bodies(hers, "commentAdded.body", 1) == ["one"])
    try server.graph.mutate(
      "leaveCircle(circleId: $id)", "__typename", ["id: ID!": circle.json], as: ann, key: "leave")
    try comment("two")
    #expect(try bodies(his, "commentAdded.body", 2) == ["one", "two"])
    hers.client.send(#"{"type":"ping"}"#)
    #expect(hers.text() == #"{"type":"pong"}"#)
  }

  @Test func `a session that ends closes its socket by 4403, however it ends`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    for end in [
      "DELETE FROM session WHERE user_id = $1",
      "UPDATE session SET expires_at = now() WHERE user_id = $1",
      "UPDATE session SET expires_at = now() + interval '300 milliseconds' WHERE user_id = $1",
    ] {
      let (ann, bob) = (try data.person(), try data.person())
      let (hers, his) = (try server.socket(ann), try server.socket(bob))
      hers.subscribe("1", "subscription { notificationAdded { id } }")
      try server.waitForHearing(1)
      try data.run(end, [ann.key.number])
      #expect(hers.client.closeCode() == 4403)
      try server.waitForHearing(0)
      his.client.send(#"{"type":"ping"}"#)
      #expect(his.text() == #"{"type":"pong"}"#)
    }
  }

  @Test func `who loses a role has a socket that ends, to begin again without it`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let chief = try data.person("chief", roles: ["MEMBER", "STAFF"])
    let (hers, his) = (try server.socket(staff), try server.socket(chief))
    hers.subscribe("1", "subscription { notificationAdded { id } }")
    try server.waitForHearing(1)
    try server.graph.mutate(
      "setUserRoles(userId: $id, roles: [MEMBER])", "__typename", ["id: ID!": staff.json],
      as: chief)
    #expect(hers.client.closeCode() == 1013)
    try server.waitForHearing(0)
    his.client.send(#"{"type":"ping"}"#)
    #expect(his.text() == #"{"type":"pong"}"#)
  }

  // MARK: Nothing is missed

  @Test func `what is written by others, and late, is told once`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let bob = try data.person()
    let socket = try server.socket()
    socket.subscribe("1", "subscription { postAdded { body } }")
    try server.waitForHearing(1)
    // Begun first, committed last, and half of it taken back.
    let late = try server.graph.data()
    try late.run("BEGIN")
    _ = try late.post(.text, by: bob, "late")
    try late.run("SAVEPOINT s")
    _ = try late.post(.text, by: bob, "taken back")
    try late.run("ROLLBACK TO s")
    _ = try data.post(.text, by: bob, "early")
    #expect(try bodies(socket, "postAdded.body", 1) == ["early"])
    let never = try server.graph.data()
    try never.run("BEGIN")
    _ = try never.post(.text, by: bob, "never")
    try never.run("ROLLBACK")
    _ = try data.post(.text, by: bob, "between")
    #expect(try bodies(socket, "postAdded.body", 1) == ["between"])
    try late.run("COMMIT")
    #expect(try bodies(socket, "postAdded.body", 1) == ["late"])
    _ = try data.post(.text, by: bob, "last")
    #expect(try bodies(socket, "postAdded.body", 1) == ["last"])
  }

  @Test func `what happens while the connection is lost is told afterwards, once`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let ann = try data.person()
    let post = try data.post(.text, by: ann)
    let socket = try server.socket()
    socket.subscribe("1", Self.comments, ["id": post.json])
    try server.waitForHearing(1)
    for number in 0..<6 {
      _ = try data.comment(post, by: ann, "\(number)")
      if number % 2 == 0 {
        try data.run(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """)
      }
    }
    #expect(try bodies(socket, "commentAdded.body", 6) == (0..<6).map { "\($0)" })
  }

  @Test func `events of before are not told`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let ann = try data.person()
    let post = try data.post(.text, by: ann)
    for number in 0..<3 {
      _ = try data.comment(post, by: ann, "before \(number)")
      let socket = try server.socket()
      socket.subscribe("1", Self.comments, ["id": post.json])
      try server.waitForHearing(1)
      _ = try data.comment(post, by: ann, "after \(number)")
      #expect(try bodies(socket, "commentAdded.body", 1) == ["after \(number)"])
      socket.complete("1")
      try server.waitForHearing(0)
    }
  }

  @Test func `touches are forgotten after a while, and nobody is told less`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let ann = try data.person()
    let socket = try server.socket()
    socket.subscribe("1", "subscription { postAdded { body } }")
    try server.waitForHearing(1)
    let late = try server.graph.data()
    try late.run("BEGIN")
    _ = try late.post(.text, by: ann, "late")
    let early = try data.post(.text, by: ann, "early")
    try data.run("SELECT forget_touches('0')")
    // Whoever is told of it has looked since then.
    _ = try data.post(.text, by: ann, "later")
    #expect(try bodies(socket, "postAdded.body", 2) == ["early", "later"])
    try data.run("SELECT forget_touches('0')")
    #expect(try data.run("SELECT FROM touched WHERE topic = 'post' AND node = \(early)").isEmpty)
    try late.run("COMMIT")
    #expect(try bodies(socket, "postAdded.body", 1) == ["late"])
  }

  @Test func `what is the same for several is asked once, and what is another for each`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let ann = try data.person()
    let post = try data.post(.text, by: ann)
    let sockets = try (0..<23).map { _ in try server.socket() }
    let other = Self.comments.replacing("body", with: "body createdAt")
    for (place, socket) in sockets.enumerated() {
      socket.subscribe("1", place < 20 ? Self.comments : other, ["id": post.json])
    }
    try server.waitForHearing(23)
    let name = #"sociograph_pool_statements_total{pool="reads"}"#
    let before = try server.metric(name)
    for number in 1...3 {
      _ = try data.comment(post, by: ann, "comment \(number)")
      for socket in sockets {
        #expect(try bodies(socket, "commentAdded.body", 1) == ["comment \(number)"])
      }
      #expect(try server.metric(name) == before + 2 * number)
    }
  }

  // MARK: Ends

  @Test func `who leaves or completes is forgotten`() throws {
    let server = try LiveServer()
    let data = try server.graph.data()
    let post = try data.post(.text, by: data.person())
    var sockets = try (0..<5).map { _ in try server.socket() }
    for socket in sockets {
      for id in ["a", "b"] { socket.subscribe(id, Self.comments, ["id": post.json]) }
    }
    try server.waitForHearing(10)
    sockets[0].complete("a")
    try server.waitForHearing(9)
    sockets.removeLast()
    try server.waitForHearing(7)
    sockets.removeAll()
    try server.waitForHearing(0)
  }

  @Test func `who ends it while it is looked up what there is to hear leaves nothing behind`()
    throws
  {
    let server = try LiveServer()
    let ann = try server.graph.data().person()
    let lock = try server.lock("circle_member")
    let (document, start) = ("subscription { changesAvailable }", "pg_current_snapshot")
    var socket: GraphQLSocket? = try server.socket(ann)
    for _ in 0..<2 {
      socket?.subscribe("1", document)
      try server.waitForWaiting(1, start)
      socket?.complete("1")
      try server.waitForWaiting(0, start)
    }
    socket?.subscribe("1", document)
    let client = try server.open(
      accept: "text/event-stream", document, headers: "Authorization: Bearer \(ann.token)\r\n")
    try server.waitForWaiting(2, start)
    socket = nil
    client.finishSending()
    try server.waitForWaiting(0, start)
    try lock.run("ROLLBACK")
    try server.waitForHearing(0)
    let other = try server.socket(ann)
    other.subscribe("1", document)
    try server.waitForHearing(1)
  }

  @Test func `a subscription over plain HTTP is refused`() throws {
    let server = try LiveServer()
    let codes = try server.graph.errorCodes("subscription { changesAvailable }")
    #expect(codes == ["NOT_ACCEPTABLE"])
  }

  @Test
  func `nothing is asked of the database but a look each second, and nothing without watchers`()
    throws
  {
    let server = try LiveServer()
    let data = try server.graph.data()
    let post = try data.post(.text, by: data.person())
    func looks() throws -> Int {
      // Of the reader's session: its last statement began at another time each.
      let rows = try data.run(
        """
        SELECT coalesce(max(extract(epoch FROM query_start) * 1000)::bigint, 0) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%news_since%' AND pid <> pg_backend_pid()
        """)
      return Int(rows[0][0] ?? "") ?? 0
    }
    let socket = try server.socket()
    socket.subscribe("1", Self.comments, ["id": post.json])
    try server.waitForHearing(1)
    // Without anybody's bell it looks again, and again.
    let first = try looks()
    var seen: Set<Int> = []
    while seen.count < 3 {
      usleep(20_000)
      let now = try looks()
      if now > first { seen.insert(now) }
    }
    let gaps = zip(seen.sorted(), seen.sorted().dropFirst()).map { $1 - $0 }
    #expect(gaps.last ?? 0 >= 900, "\(gaps)")
  }
}
