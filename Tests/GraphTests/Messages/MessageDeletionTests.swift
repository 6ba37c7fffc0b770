import JSON
import TestSupport
import Testing

/// Messages that their author deletes, and conversations that somebody mutes.
@Suite(.usesCluster) struct MessageDeletionTests {
  private var server: GraphServer { get throws { try .shared } }

  private func write(_ body: JSONValue, to other: Person, as person: Person) throws -> JSONValue {
    try server.mutate(
      "sendMessage(to: {userIds: [$to]}, body: $body)",
      "message { id conversation { id updatedAt } }",
      ["to: ID!": other.json, "body: String!": body],
      as: person)["message"] ?? .null
  }

  @Test func `a deleted message leaves no trace with anybody`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben, eve) = (try data.person("ann"), try data.person("ben"), try data.person("eve"))
    let first = try write("first", to: ben, as: ann)
    let talk = try #require(first.at("conversation.id"))
    let id = try #require(first["id"])
    func read(as person: Person) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on Conversation {
          unreadCount updatedAt messages { nodes { body } } } } }
        """, ["id": talk], as: person)["node"]
    }
    func told() throws -> Int {
      try server.data("{ viewer { notifications { nodes { reason } } } }", as: ben)
        .at("viewer.notifications.nodes")?.array?.count ?? -1
    }
    let delete = "deleteMessage(messageId: $id)"
    #expect(
      try server.refusals(delete, ["id: ID!": id], as: ben) == [Refusal("FORBIDDEN", "messageId")])
    #expect(
      try server.refusals(delete, ["id: ID!": id], as: eve) == [Refusal("NOT_FOUND", "messageId")])
    let second = try write("second", to: ben, as: ann)
    #expect(try read(as: ben)?["unreadCount"] == 2)
    #expect(try told() == 1)
    // The notification stays while there is something to read.
    let after = try #require(second["id"])
    #expect(
      try server.mutate(delete, "deletedId", ["id: ID!": after], as: ann)["deletedId"] == after)
    for person in [ann, ben] {
      let now = try read(as: person)
      #expect(now?.at("messages.nodes") == [["body": "first"]])
      #expect(now?["updatedAt"] == first.at("conversation.updatedAt"))
    }
    #expect(try read(as: ben)?["unreadCount"] == 1)
    #expect(try told() == 1)
    try server.mutate(delete, ["id: ID!": id], as: ann)
    #expect(try read(as: ben)?["unreadCount"] == 0)
    #expect(try read(as: ben)?.at("messages.nodes") == [])
    #expect(try told() == 0)
    #expect(
      try server.refusals(delete, ["id: ID!": id], as: ann) == [Refusal("NOT_FOUND", "messageId")])
  }

  @Test func `whoever takes part learns by the log that a message is gone`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben, eve) = (try data.person("ann"), try data.person("ben"), try data.person("eve"))
    let id = try #require(write("oops", to: ben, as: ann)["id"])
    func token(_ person: Person) throws -> JSONValue? {
      try server.data("{ changes { token } }", as: person).at("changes.token")
    }
    let before = try [ann, ben, eve].map(token)
    try server.mutate("deleteMessage(messageId: $id)", ["id: ID!": id], as: ann)
    for (person, since) in zip([ann, ben, eve], before) {
      var found: [JSONValue] = []
      // The log tells of what no older transaction can join.
      _ = eventually {
        let read = try? server.data(
          "query($since: String) { changes(since: $since) { changes { id: nodeId operation } } }",
          ["since": since ?? .null], as: person)
        found = (read?.at("changes.changes")?.array ?? []).filter { $0["id"] == id }
        return person.key == eve.key || !found.isEmpty
      }
      #expect(
        found == (person.key == eve.key ? [] : [["id": id, "operation": "DELETE"]]), "\(person)")
    }
  }

  @Test func `a conversation is muted for oneself, and no longer`() throws {
    let server = try server
    let data = try server.data()
    let (ann, ben, eve) = (try data.person("ann"), try data.person("ben"), try data.person("eve"))
    let talk = try #require(write("hello", to: ben, as: ann).at("conversation.id"))
    let field = "setConversationMuted(conversationId: $id, isMuted: $muted)"
    func hasMuted(_ person: Person) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Conversation { viewerHasMuted } } }",
        ["id": talk], as: person
      ).at("node.viewerHasMuted")
    }
    #expect(try hasMuted(ben) == false)
    for isMuted: JSONValue in [true, true, false, false] {
      #expect(
        try server.mutate(
          field, "conversation { viewerHasMuted }", ["id: ID!": talk, "muted: Boolean!": isMuted],
          as: ben
        ).at("conversation.viewerHasMuted") == isMuted)
      #expect(try hasMuted(ben) == isMuted)
      #expect(try hasMuted(ann) == false)
    }
    #expect(
      try server.refusals(field, ["id: ID!": talk, "muted: Boolean!": true], as: eve)
        == [Refusal("NOT_FOUND", "conversationId")])
  }
}
