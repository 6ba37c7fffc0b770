import JSON
import TestSupport
import Testing

/// Conversations of more than two people, two of whom are hidden from each other.
@Suite(.usesCluster) struct MessageTests {
  private static let conversation = """
    query($id: ID!) { node(id: $id) { ... on Conversation {
      unreadCount updatedAt messages { totalCount nodes { id body createdAt } } } } }
    """

  /// Three people with a conversation in which each has written once.
  private struct Talk {
    let server: GraphServer
    let ann: Person
    let ben: Person
    let cat: Person
    var id: JSONValue = .null

    init(_ server: GraphServer) throws {
      self.server = server
      let data = try server.data()
      (ann, ben, cat) = (try data.person("ann"), try data.person("ben"), try data.person("cat"))
      id =
        try server.mutate(
          "sendMessage(to: {userIds: [$ben, $cat]}, body: \"ann before\")",
          "message { conversation { id } }", ["ben: ID!": ben.json, "cat: ID!": cat.json], as: ann
        ).at("message.conversation.id") ?? .null
      try write("ben before", as: ben)
      try write("cat before", as: cat)
    }

    @discardableResult
    func write(_ body: JSONValue, as person: Person) throws -> JSONValue {
      try server.mutate(
        "sendMessage(to: {conversationId: $id}, body: $body)", "message { id createdAt }",
        ["id: ID!": id, "body: String!": body], as: person)["message"] ?? .null
    }

    func block(_ blocker: Person, _ blocked: Person) throws {
      try server.mutate("blockUser(userId: $id)", ["id: ID!": blocked.json], as: blocker)
    }

    func unblock(_ blocker: Person, _ blocked: Person) throws {
      try server.mutate("unblockUser(userId: $id)", ["id: ID!": blocked.json], as: blocker)
    }

    func read(as person: Person) throws -> JSONValue {
      try server.data(MessageTests.conversation, ["id": id], as: person)["node"] ?? .null
    }

    func bodies(as person: Person) throws -> [String] {
      try read(as: person).strings("messages.nodes", "body")
    }

    func markRead(as person: Person) throws {
      try server.mutate("markConversationRead(conversationId: $id)", ["id: ID!": id], as: person)
    }
  }

  @Test func `after a block neither of the two sees what the other writes, and the third sees all`()
    throws
  {
    let talk = try Talk(GraphServer.shared)
    let before = ["ann before", "ben before", "cat before"]
    for person in [talk.ann, talk.ben, talk.cat] { try talk.markRead(as: person) }
    try talk.block(talk.ann, talk.ben)
    for person in [talk.ann, talk.ben] { #expect(try talk.bodies(as: person) == before) }

    let hidden = try talk.write("ben after", as: talk.ben)
    // Nothing of it is told to ann: no text, no count, no time, no node.
    let latest = try talk.read(as: talk.ann)
    #expect(latest.strings("messages.nodes", "body") == before)
    #expect(latest.at("messages.totalCount") == 3)
    #expect(latest["unreadCount"] == 0)
    #expect(latest["updatedAt"] == latest.at("messages.nodes.2.createdAt"))
    let node = "query($id: ID!) { node(id: $id) { id } }"
    let id = try #require(hidden["id"])
    #expect(try talk.server.data(node, ["id": id], as: talk.ann) == ["node": .null])
    #expect(try talk.server.data(node, ["id": id], as: talk.cat) == ["node": ["id": id]])

    try talk.write("ann after", as: talk.ann)
    try talk.write("cat after", as: talk.cat)
    #expect(try talk.bodies(as: talk.ann) == before + ["ann after", "cat after"])
    #expect(try talk.bodies(as: talk.ben) == before + ["ben after", "cat after"])
    #expect(try talk.bodies(as: talk.cat) == before + ["ben after", "ann after", "cat after"])
    for (person, count) in [(talk.ann, 1), (talk.ben, 1)] {
      let read = try talk.read(as: person)
      #expect(read["unreadCount"] == .number("\(count)"))
      #expect(read["updatedAt"] == read.at("messages.nodes.4.createdAt"))
    }
  }

  @Test func `pages from the newest end pass over what is hidden`() throws {
    let talk = try Talk(GraphServer.shared)
    try talk.block(talk.ben, talk.ann)
    for number in 0..<3 { try talk.write(.string("ben \(number)"), as: talk.ben) }
    let page = try talk.server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Conversation {
        messages(last: 2) { nodes { body } pageInfo { hasPreviousPage } } } } }
      """, ["id": talk.id], as: talk.ann)
    #expect(page.strings("node.messages.nodes", "body") == ["ben before", "cat before"])
    #expect(page.at("node.messages.pageInfo.hasPreviousPage") == true)
  }

  @Test func `a hidden message moves no conversation to the front and notifies nobody hidden`()
    throws
  {
    let talk = try Talk(GraphServer.shared)
    let other =
      try talk.server.mutate(
        "sendMessage(to: {userIds: [$id]}, body: \"two\")", "message { conversation { id } }",
        ["id: ID!": talk.cat.json], as: talk.ann
      ).at("message.conversation.id") ?? .null
    try talk.block(talk.ann, talk.ben)
    func told() throws -> JSONValue {
      try talk.server.data(
        """
        { viewer { unreadNotificationCount notifications { nodes { id reason } }
          conversations { totalCount nodes { id updatedAt unreadCount } }
          first: conversations(first: 1) { nodes { id } pageInfo { endCursor } } } }
        """, as: talk.ann)
    }
    let before = try told()
    #expect(before.at("viewer.conversations.nodes.0.id") == other)
    try talk.write("ben after", as: talk.ben)
    #expect(try told() == before)
    // One of the three is read, as cat has written since.
    #expect(try talk.server.told(talk.cat) == ["MESSAGED", "MESSAGED", "MESSAGED"])
    // The next page begins behind the first one, by the times that ann is shown.
    let next = try talk.server.data(
      "query($after: String) { viewer { conversations(after: $after) { nodes { id } } } }",
      ["after": before.at("viewer.first.pageInfo.endCursor") ?? .null], as: talk.ann)
    #expect(next.at("viewer.conversations.nodes") == [["id": talk.id]])
  }

  @Test func `the log of changes tells who is hidden from the author nothing of a message`() throws
  {
    let talk = try Talk(GraphServer.shared)
    try talk.block(talk.ann, talk.ben)
    let query = """
      query($since: String) { changes(since: $since) { token changes { operation node { __typename
        ... on Notification { actor { username } } } } } }
      """
    let data = try talk.server.data()
    try data.session.waitForChanges()
    let since = try talk.server.data(query, as: talk.ann).at("changes.token") ?? .null
    func actors() throws -> [JSONValue] {
      try talk.server.data(query, ["since": since], as: talk.ann).list("changes.changes", "node")
        .map { $0.at("actor.username") ?? .null }
    }
    try talk.write("ben after", as: talk.ben)
    try data.session.waitForChanges()
    #expect(try actors() == [])
    try talk.write("cat after", as: talk.cat)
    try data.session.waitForChanges()
    #expect(try actors().contains(.string(talk.cat.username)))
  }

  @Test func `a block is a state: without it all is there again, the earlier of two counts`() throws
  {
    let talk = try Talk(GraphServer.shared)
    let before = ["ann before", "ben before", "cat before"]
    try talk.block(talk.ann, talk.ben)
    try talk.write("first", as: talk.ben)
    // Through the table, as the graph refuses to block who is not to be seen.
    try talk.server.data().block(talk.ben, talk.ann)
    try talk.write("second", as: talk.ben)
    #expect(try talk.bodies(as: talk.ann) == before)
    let data = try talk.server.data()
    try data.run(
      "DELETE FROM block WHERE blocker_id = $1 AND blocked_id = $2", [talk.ann, talk.ben])
    #expect(try talk.bodies(as: talk.ann) == before + ["first"])
    try talk.unblock(talk.ben, talk.ann)
    #expect(try talk.bodies(as: talk.ann) == before + ["first", "second"])
    #expect(try data.run("SELECT * FROM verify_blocks()").isEmpty)
  }

  @Test func `when only hidden messages are left, their time is not told`() throws {
    let talk = try Talk(GraphServer.shared)
    try talk.block(talk.ann, talk.ben)
    let data = try talk.server.data()
    try data.run("DELETE FROM message WHERE author_id IN ($1, $2)", [talk.ann, talk.cat])
    try data.run("DELETE FROM message WHERE author_id = $1", [talk.ben])
    let empty = try talk.read(as: talk.ann)
    try talk.write("ben after", as: talk.ben)
    #expect(try talk.read(as: talk.ann) == empty)
  }
}
