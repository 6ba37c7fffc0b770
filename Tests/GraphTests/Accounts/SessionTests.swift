import JSON
import TestSupport
import Testing

/// Sailor+: accounts, and the people one follows.
@Suite(.usesCluster) struct SailorAccountTests {
  private var server: GraphServer { get throws { try GraphServer.newcomers } }

  @Test func `SP-R01: a visitor signs up and is signed in`() throws {
    let server = try server
    let name = GraphData.unique("sailor")
    let payload = try server.mutate(
      "signUp(input: {username: $name, password: \"correct horse\", displayName: \"A Sailor\"})",
      "isNewUser session { token viewer { user { id username displayName } } }",
      ["name: String!": .string(name)], as: nil)
    #expect(payload["isNewUser"] == true)
    #expect(payload.at("session.viewer.user.displayName") == "A Sailor")
    let sailor = try GraphServer.person(payload, username: name)
    #expect(
      try server.data("{ viewer { user { username } } }", as: sailor)
        == ["viewer": ["user": ["username": .string(name)]]])
    #expect(
      try server.data(
        "query($name: String!) { user(by: {username: $name}) { displayName } }",
        ["name": .string(name)]) == ["user": ["displayName": "A Sailor"]])
    #expect(
      try server.refusals(
        "signUp(input: {username: $name, password: \"short\"})",
        ["name: String!": .string(name.uppercased())], as: nil)
        == [Refusal("TAKEN", "input", "username"), Refusal("INVALID", "input", "password")])
  }

  @Test func `SP-R02: a user signs in, and stays so on every device`() throws {
    let server = try server
    let sailor = try server.signUp("sailor")
    let payload = try server.mutate(
      "signIn(username: $name, password: \"correct horse\")",
      "isNewUser session { token viewer { user { id } } }",
      ["name: String!": .string(sailor.username)], as: nil)
    #expect(payload["isNewUser"] == false)
    let again = try GraphServer.person(payload, username: sailor.username)
    #expect(again.key == sailor.key)
    #expect(again.token != sailor.token)
    for phone in [sailor, again] {
      #expect(
        try server.data("{ viewer { user { id } } }", as: phone).at("viewer.user.id")
          == sailor.json)
    }
    #expect(
      try server.refusals(
        "signIn(username: $name, password: \"wrong horse\")",
        ["name: String!": .string(sailor.username)], as: nil) == [Refusal("WRONG_CREDENTIALS")])
  }

  @Test func `SP-R03: who logs out is signed in no more, there alone`() throws {
    let server = try server
    let sailor = try server.signUp("sailor")
    let other = try GraphServer.person(
      server.mutate(
        "signIn(username: $name, password: \"correct horse\")",
        "session { token viewer { user { id } } }",
        ["name: String!": .string(sailor.username)], as: nil), username: sailor.username)
    try server.mutate("signOut", as: sailor)
    #expect(
      try server.errorCodes("{ viewer { user { id } } }", as: sailor) == ["UNAUTHENTICATED"])
    #expect(
      try server.data("{ viewer { user { id } } }", as: other).at("viewer.user.id") == sailor.json)
    #expect(try server.mutationErrorCodes("signOut", as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `SP-R21: following and unfollowing shows on both sides`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend) = (try data.person(), try data.person())
    let query = """
      query($id: ID!) { user(by: {id: $id}) {
        viewerIsFollowing followers { totalCount nodes { id } } following { totalCount } } }
      """
    func seen() throws -> JSONValue? {
      try server.data(query, ["id": friend.json], as: viewer)["user"]
    }
    for _ in 0..<2 {
      let payload = try server.mutate(
        "followUsers(userIds: [$id])", "users { id viewerIsFollowing }", ["id: ID!": friend.json],
        as: viewer)
      #expect(payload["users"] == [["id": friend.json, "viewerIsFollowing": true]])
    }
    #expect(
      try seen() == [
        "viewerIsFollowing": true, "followers": ["totalCount": 1, "nodes": [["id": viewer.json]]],
        "following": ["totalCount": 0],
      ])
    for _ in 0..<2 {
      let payload = try server.mutate(
        "unfollowUsers(userIds: [$id])", "users { viewerIsFollowing }", ["id: ID!": friend.json],
        as: viewer)
      #expect(payload["users"] == [["viewerIsFollowing": false]])
    }
    #expect(
      try seen() == [
        "viewerIsFollowing": false, "followers": ["totalCount": 0, "nodes": []],
        "following": ["totalCount": 0],
      ])
    try data.block(friend, viewer)
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": friend.json], as: viewer)
        == [Refusal("NOT_FOUND", "userIds", "0")])
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": viewer.json], as: viewer)
        == [Refusal("INVALID", "userIds", "0")])
  }

  @Test func `SP-P02: a follow, a top and a comment reach whom they concern, and nobody else`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, fan) = (try data.person(), try data.person(name: "A Fan"))
    let post = try data.photoPost(by: author)
    for person in [fan, author] {
      try server.mutate(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: person)
      try server.mutate(
        "addComment(subjectId: $id, body: \"Ahoy\")", ["id: ID!": post.json], as: person)
    }
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": author.json], as: fan)
    let query = """
      { viewer { unreadNotificationCount
        notifications { nodes { reason actor { displayName } text } } } }
      """
    let told = try server.data(query, as: author)
    let notifications = "viewer.notifications.nodes"
    #expect(told.strings(notifications, "reason") == ["FOLLOWED", "COMMENTED", "REACTED"])
    #expect(told.list(notifications, "actor.displayName").allSatisfy { $0 == "A Fan" })
    #expect(
      told.strings(notifications, "text") == [
        "<b>A Fan</b> follows you.", "<b>A Fan</b> commented: Ahoy",
        "<b>A Fan</b> topped your photo.",
      ])
    #expect(told.at("viewer.unreadNotificationCount") == 3)
    #expect(try server.data(query, as: fan).at(notifications) == [])
  }
}
