import JSON
import TestSupport
import Testing

/// Blocks between two people.
@Suite(.usesCluster) struct BlockTests {
  @Test func `PLAT-4: blocking makes two people absent from each other, until it is taken back`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben, cat) = (try data.person("ann"), try data.person("ben"), try data.person("cat"))
    for (one, other) in [(ann, ben), (ben, ann), (cat, ben)] {
      try server.mutate("followUsers(userIds: [$id])", ["id: ID!": other.json], as: one)
    }
    let post = try server.make("createTextPost(input: {body: \"Hi\"})", "textPost", as: ben)
    let message = """
      sendMessage(to: {userIds: [$id]}, body: "Hello")
      """
    try server.mutate(message, ["id: ID!": ben.json], as: ann)

    let state = "user { id displayName viewerIsBlocking viewerIsFollowing }"
    try data.run("UPDATE app_user SET bio = 'Sails.' WHERE id = $1", [ben])
    for _ in 0..<2 {
      // The person's name is still there for who blocks, nothing else (decision 11).
      #expect(
        try server.mutate(
          "blockUser(userId: $id)",
          "user { id displayName viewerIsBlocking viewerIsFollowing bio }", ["id: ID!": ben.json],
          as: ann)["user"]
          == [
            "id": ben.json, "displayName": .string(ben.username), "viewerIsBlocking": true,
            "viewerIsFollowing": false, "bio": "",
          ])
    }
    let seen = "query($id: ID!) { user(by: {id: $id}) { id } }"
    #expect(try server.data(seen, ["id": ben.json], as: ann) == ["user": nil])
    #expect(try server.data(seen, ["id": ann.json], as: ben) == ["user": nil])
    #expect(try server.data(seen, ["id": ben.json], as: cat) == ["user": ["id": ben.json]])
    #expect(try !server.finds(post, as: ann))
    #expect(try server.finds(post, as: cat))
    #expect(
      try server.data(
        "{ viewer { blockedUsers { nodes { username viewerIsBlocking } } } }", as: ann)
        == [
          "viewer": [
            "blockedUsers": [
              "nodes": [["username": .string(ben.username), "viewerIsBlocking": true]]
            ]
          ]
        ])
    #expect(
      try server.data("{ viewer { blockedUsers { totalCount } } }", as: ben)
        == ["viewer": ["blockedUsers": ["totalCount": 0]]])
    for person in [ann, ben] {
      #expect(
        try server.data(
          "{ viewer { user { following { totalCount } } feed { totalCount } } }", as: person
        ).at("viewer.user.following.totalCount") == 0)
    }
    // No follows, messages, tags and invitations between the two. Who blocked knows.
    for (field, path) in [
      ("followUsers(userIds: [$id])", ["userIds", "0"]),
      (
        "createThankYou(input: {body: \"x\", taggedUserIds: [$id]})",
        ["input", "taggedUserIds", "0"]
      ),
      (
        "createEvent(input: {title: \"x\", startsAt: \"2100-01-01T10:00:00.000Z\", inviteUserIds: [$id]})",
        ["input", "inviteUserIds", "0"]
      ),
      ("createCircle(input: {name: \"x\", memberIds: [$id]})", ["input", "memberIds", "0"]),
    ] {
      for (person, other, code) in [(ann, ben, "BLOCKED"), (ben, ann, "NOT_FOUND")] {
        let refusals = try server.refusals(field, ["id: ID!": other.json], as: person)
        #expect(refusals.map(\.code) == [code], "\(field)")
        #expect(refusals.first?.path == path, "\(field)")
      }
    }
    #expect(
      try server.refusals(message, ["id: ID!": ben.json], as: ann).map(\.code) == ["BLOCKED"])
    #expect(try server.refusals(message, ["id: ID!": ann.json], as: ben).map(\.code) == ["CLOSED"])
    for refused in ["blockUser", "unblockUser"] {
      #expect(
        try server.refusals("\(refused)(userId: $id)", ["id: ID!": ann.json], as: ann)
          == [Refusal("INVALID", "userId")])
      #expect(
        try server.refusals("\(refused)(userId: \"no id\")", as: ann)
          == [Refusal("NOT_FOUND", "userId")])
    }

    for _ in 0..<2 {
      #expect(
        try server.mutate("unblockUser(userId: $id)", state, ["id: ID!": ben.json], as: ann)[
          "user"]
          == [
            "id": ben.json, "displayName": .string(ben.username), "viewerIsBlocking": false,
            "viewerIsFollowing": false,
          ])
    }
    #expect(try server.data(seen, ["id": ann.json], as: ben) == ["user": ["id": ann.json]])
    #expect(try server.finds(post, as: ann))
    #expect(try server.refusals(message, ["id: ID!": ann.json], as: ben) == [])
  }
}
