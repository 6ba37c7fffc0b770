import JSON
import TestSupport
import Testing

/// Conversations and messages of two people.
@Suite(.usesCluster) struct ConversationTests {
  @Test func `SP-O06: a message is read by those it is for, and goes to nobody who blocks`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben, eve) = (
      try data.person(name: "Anna"), try data.person(name: "Ben"), try data.person()
    )
    let send = "sendMessage(to: {userIds: [$to]}, body: $body)"
    func write(_ body: JSONValue, from: Person, to: Person) throws -> JSONValue {
      try server.mutate(
        send, "message { id body author { displayName } conversation { id } }",
        ["to: ID!": to.json, "body: String!": body], as: from)["message"] ?? .null
    }
    let first = try write("Ahoy", from: anna, to: ben)
    #expect(first["author"] == ["displayName": "Anna"])
    let second = try write("Ahoy yourself", from: ben, to: anna)
    let conversation = try #require(first.at("conversation.id"))
    #expect(second.at("conversation.id") == conversation)
    let query = """
      { viewer { conversations { nodes {
        id participants { displayName } messages { nodes { body } } } } } }
      """
    for person in [anna, ben] {
      #expect(
        try server.data(query, as: person).at("viewer.conversations.nodes") == [
          [
            "id": conversation, "participants": [["displayName": "Anna"], ["displayName": "Ben"]],
            "messages": ["nodes": [["body": "Ahoy"], ["body": "Ahoy yourself"]]],
          ]
        ])
    }
    #expect(try server.data(query, as: eve).at("viewer.conversations.nodes") == [])
    let id = try #require(first["id"])
    #expect(
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": [id, conversation]], as: eve)
        == ["nodes": [nil, nil]])
    #expect(
      try server.refusals(
        "sendMessage(to: {conversationId: $id}, body: \"Me too\")", ["id: ID!": conversation],
        as: eve) == [Refusal("NOT_FOUND", "to", "conversationId")])
    try server.mutate("blockUser(userId: $id)", ["id: ID!": ben.json], as: anna)
    #expect(
      try server.refusals(send, ["to: ID!": ben.json, "body: String!": "x"], as: anna)
        == [Refusal("BLOCKED", "to", "userIds", "0")])
    #expect(
      try server.refusals(send, ["to: ID!": anna.json, "body: String!": "x"], as: ben)
        == [Refusal("CLOSED", "to", "userIds")])
    #expect(
      try server.refusals(send, ["to: ID!": eve.json, "body: String!": " "], as: ben)
        == [Refusal("REQUIRED", "body")])
  }

  @Test func `SP-O07: a conversation pages back from the newest, and knows what is unread`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben, eve) = (try data.person(), try data.person(), try data.person())
    var conversation: JSONValue = nil
    for number in 0..<5 {
      conversation =
        try server.mutate(
          "sendMessage(to: {userIds: [$to]}, body: $body)", "message { conversation { id } }",
          ["to: ID!": ben.json, "body: String!": .string("message \(number)")], as: anna
        ).at("message.conversation.id") ?? .null
    }
    let query = """
      query($id: ID!, $before: String) { node(id: $id) { ... on Conversation { unreadCount
        messages(last: 2, before: $before) {
          nodes { body } pageInfo { startCursor hasPreviousPage } } } } }
      """
    func page(_ before: JSONValue, as person: Person) throws -> JSONValue? {
      try server.data(query, ["id": conversation, "before": before], as: person)["node"]
    }
    let latest = try #require(try page(nil, as: ben))
    #expect(latest["unreadCount"] == 5)
    #expect(latest.strings("messages.nodes", "body") == ["message 3", "message 4"])
    #expect(latest.at("messages.pageInfo.hasPreviousPage") == true)
    let before = try #require(
      try page(latest.at("messages.pageInfo.startCursor") ?? .null, as: ben))
    #expect(before.strings("messages.nodes", "body") == ["message 1", "message 2"])
    #expect(try page(nil, as: anna)?["unreadCount"] == 0)
    #expect(try page(nil, as: eve) == .null)
    let payload = try server.mutate(
      "markConversationRead(conversationId: $id)", "conversation { unreadCount }",
      ["id: ID!": conversation], as: ben)
    #expect(payload["conversation"] == ["unreadCount": 0])
    #expect(
      try server.data("{ viewer { unreadNotificationCount } }", as: ben)
        == ["viewer": ["unreadNotificationCount": 0]])
    #expect(
      try server.refusals(
        "markConversationRead(conversationId: $id)", ["id: ID!": conversation], as: eve)
        == [Refusal("NOT_FOUND", "conversationId")])
  }
}
