import JSON
import TestSupport
import Testing

/// Following people, and the lists of followers and followees.
@Suite(.usesCluster) struct FollowTests {
  @Test func `GTIO-3.5b, read: every person in a list says whether the viewer follows them`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, followed, follower) = (try data.person(), try data.person(), try data.person())
    try data.follow(viewer, followed)
    try data.follow(follower, viewer)
    let outfit = try data.post(.outfit, by: viewer)
    for (hour, person) in [followed, follower, viewer].enumerated() {
      try data.react(person, "HEART", to: outfit, at: "2026-03-01 1\(hour):00Z")
    }
    let query = """
      query($id: ID!) { post(id: $id) { reactions { nodes {
        viewerIsFollowing isFollowingViewer } } } }
      """
    let list = try server.data(query, ["id": outfit.json], as: viewer)
    #expect(list.list("post.reactions.nodes", "viewerIsFollowing") == [false, false, true])
    #expect(list.list("post.reactions.nodes", "isFollowingViewer") == [false, true, false])
    let anonymous = try server.data(query, ["id": outfit.json])
    #expect(anonymous.list("post.reactions.nodes", "viewerIsFollowing") == [false, false, false])
  }

  @Test func `GTIO-1.8b: all the selected people are followed at once, again changes nothing`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let people = try (0..<100).map { _ in try data.person() }
    let ids = JSONValue.array(people.map(\.json))
    for _ in 0..<2 {
      let payload = try server.mutate(
        "followUsers(userIds: $ids)", "users { viewerIsFollowing followers { totalCount } }",
        ["ids: [ID!]!": ids], as: viewer)
      #expect(
        payload["users"]
          == .array(
            Array(
              repeating: ["viewerIsFollowing": true, "followers": ["totalCount": 1]], count: 100)))
    }
    #expect(
      try server.data("{ viewer { user { following { totalCount } } } }", as: viewer)
        == ["viewer": ["user": ["following": ["totalCount": 100]]]])
    // Each is told once.
    #expect(
      try server.data(
        "{ viewer { notifications { nodes { reason actor { id } } } } }", as: people[50])
        == [
          "viewer": [
            "notifications": ["nodes": [["reason": "FOLLOWED", "actor": ["id": viewer.json]]]]
          ]
        ])
    #expect(
      try server.refusals("followUsers(userIds: [])", as: viewer)
        == [Refusal("REQUIRED", "userIds")])
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": viewer.json], as: viewer)
        == [Refusal("INVALID", "userIds", "0")])
  }

  @Test func `GTIO-6.1c, GTIO-6.3a: following is switched off and on from one's own list`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = (
      try data.person(), try ["Ann", "Ben", "Cat"].map { try data.person(name: $0) }
    )
    try server.mutate(
      "followUsers(userIds: $ids)", ["ids: [ID!]!": .array(people.map(\.json))], as: viewer)
    func list() throws -> JSONValue? {
      try server.data(
        """
        { viewer { user { following { summary
          nodes { displayName viewerIsFollowing } } } feed { totalCount } } }
        """, as: viewer
      ).at("viewer.user.following")
    }
    let off = try server.mutate(
      "unfollowUsers(userIds: [$id])", "users { displayName viewerIsFollowing }",
      ["id: ID!": people[1].json], as: viewer)
    #expect(off["users"] == [["displayName": "Ben", "viewerIsFollowing": false]])
    #expect(
      try list() == [
        "summary": "You are following 2 people",
        "nodes": [
          ["displayName": "Ann", "viewerIsFollowing": true],
          ["displayName": "Cat", "viewerIsFollowing": true],
        ],
      ])
    let on = try server.mutate(
      "followUsers(userIds: [$id])", "users { displayName viewerIsFollowing }",
      ["id: ID!": people[1].json], as: viewer)
    #expect(on["users"] == [["displayName": "Ben", "viewerIsFollowing": true]])
    #expect(try list()?["summary"] == "You are following 3 people")
    #expect(
      try server.mutationErrorCodes(
        "unfollowUsers(userIds: [$id])", ["id: ID!": people[1].json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `GTIO-3.5b: somebody is followed from any list, and is told with a way to answer`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, hearter, viewer) = (try data.person(), try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    try server.mutate(
      "react(subjectId: $id, kind: HEART)", ["id: ID!": outfit.json], as: hearter)
    let query = """
      query($id: ID!) { post(id: $id) { reactions { nodes { id viewerIsFollowing } } } }
      """
    func state() throws -> JSONValue? {
      try server.data(query, ["id": outfit.json], as: viewer).at("post.reactions.nodes")
    }
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": false]])
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": hearter.json], as: viewer)
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": true]])
    #expect(
      try server.data(query, ["id": outfit.json], as: author).at("post.reactions.nodes")
        == [["id": hearter.json, "viewerIsFollowing": false]])
    #expect(
      try server.data(
        "{ viewer { notifications { nodes { reason action { kind } } } } }", as: hearter)
        == [
          "viewer": [
            "notifications": [
              "nodes": [["reason": "FOLLOWED", "action": ["kind": "FOLLOW_BACK"]]]
            ]
          ]
        ])
    // Taken back before it was read, it was never told.
    try server.mutate("unfollowUsers(userIds: [$id])", ["id: ID!": hearter.json], as: viewer)
    #expect(try state() == [["id": hearter.json, "viewerIsFollowing": false]])
    #expect(
      try server.data("{ viewer { notifications { totalCount } } }", as: hearter)
        == ["viewer": ["notifications": ["totalCount": 0]]])
    #expect(
      try server.refusals("followUsers(userIds: [$id])", ["id: ID!": viewer.json], as: viewer)
        == [Refusal("INVALID", "userIds", "0")])
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

  private static let lists = """
    fragment Lists on User {
      followers(orderBy: NAME) { totalCount nodes { displayName } }
      following(orderBy: NAME) { totalCount nodes { displayName } }
      latest: followers(orderBy: NEWEST) { edges { followedAt node { displayName } } }
      found: following(search: "be") { nodes { displayName } }
    }
    """

  /// Inserts a center followed by Cleo, then Anna, then a person who blocks the viewer; it follows
  /// Anna and Ben.
  private func network(_ data: GraphData) throws -> (viewer: Person, center: Person) {
    let (viewer, center) = (try data.person(), try data.person(name: "Center"))
    let (anna, ben, cleo, hidden) = (
      try data.person(name: "Anna"), try data.person(name: "Ben"), try data.person(name: "Cleo"),
      try data.person(name: "Hidden")
    )
    try data.follow(cleo, center, at: "2026-03-01 10:00Z")
    try data.follow(anna, center, at: "2026-03-02 10:00Z")
    try data.follow(hidden, center, at: "2026-03-03 10:00Z")
    for person in [ben, anna, hidden] { try data.follow(center, person) }
    try data.block(hidden, viewer)
    return (viewer, center)
  }

  @Test func `SP-R16: a user sees their followers`() throws {
    let server = try GraphServer.shared
    let (_, center) = try network(server.data())
    let found = try server.data(
      "{ viewer { user { ...Lists } } } " + Self.lists, as: center)
    #expect(
      found.strings("viewer.user.followers.nodes", "displayName") == ["Anna", "Cleo", "Hidden"])
    #expect(found.at("viewer.user.followers.totalCount") == 3)
    #expect(
      found.at("viewer.user.latest.edges") == [
        ["followedAt": "2026-03-03T10:00:00.000Z", "node": ["displayName": "Hidden"]],
        ["followedAt": "2026-03-02T10:00:00.000Z", "node": ["displayName": "Anna"]],
        ["followedAt": "2026-03-01T10:00:00.000Z", "node": ["displayName": "Cleo"]],
      ])
  }

  @Test func `SP-R17: a user sees whom they follow`() throws {
    let server = try GraphServer.shared
    let (_, center) = try network(server.data())
    let found = try server.data(
      "{ viewer { user { ...Lists } } } " + Self.lists, as: center)
    #expect(
      found.strings("viewer.user.following.nodes", "displayName") == ["Anna", "Ben", "Hidden"])
    #expect(found.at("viewer.user.following.totalCount") == 3)
    #expect(found.at("viewer.user.found.nodes") == [["displayName": "Ben"]])
  }

  @Test func `SP-R19: a user sees another account's followers and followees`() throws {
    let server = try GraphServer.shared
    let (viewer, center) = try network(server.data())
    let query = "query($id: ID!) { user(by: {id: $id}) { ...Lists } } " + Self.lists
    let found = try server.data(query, ["id": center.json], as: viewer)
    #expect(found.strings("user.followers.nodes", "displayName") == ["Anna", "Cleo"])
    #expect(found.strings("user.following.nodes", "displayName") == ["Anna", "Ben"])
    #expect(found.at("user.followers.totalCount") == 2)
    #expect(found.at("user.following.totalCount") == 2)
    let anonymous = try server.data(query, ["id": center.json])
    #expect(anonymous.strings("user.followers.nodes", "displayName") == ["Anna", "Cleo", "Hidden"])
    #expect(anonymous.at("user.following.totalCount") == 3)
  }
}
