import JSON
import TestSupport
import Testing

/// Hearts on posts and products.
@Suite(.usesCluster) struct HeartTests {
  @Test func `GTIO-3.1d: hearts are counted, and the latest hearters shown`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, people) = (try data.person(), try (0..<4).map { _ in try data.person() })
    let outfit = try data.post(.outfit, by: author)
    for (hour, person) in people.enumerated() {
      try data.react(person, "HEART", to: outfit, at: "2026-03-01 1\(hour):00Z")
    }
    try data.react(author, "LIKE", to: outfit)
    let query = """
      query($id: ID!) { post(id: $id) {
        hearts: reactionCount(kind: HEART) all: reactionCount
        reactions(kind: HEART, first: 2) { nodes { id } pageInfo { hasNextPage } } } }
      """
    let page = try server.data(query, ["id": outfit.json])
    #expect(
      page == [
        "post": [
          "hearts": 4, "all": 5,
          "reactions": [
            "nodes": [["id": people[3].json], ["id": people[2].json]],
            "pageInfo": ["hasNextPage": true],
          ],
        ]
      ])
  }

  @Test func `GTIO-3.5a: who hearted a post, newest first, by icon and name`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    let people = try ["Ann", "Ben", "Cat"].map { try data.person(name: $0) }
    for (hour, person) in people.enumerated() {
      try data.react(person, "HEART", to: outfit, at: "2026-03-01 1\(hour):00Z")
    }
    let icon = try data.squaredPhoto(of: people[0], named: "ann")
    try data.run("UPDATE app_user SET avatar_id = $1 WHERE id = $2", [icon, people[0]])
    try data.block(viewer, people[1])
    let query = """
      query($id: ID!) { post(id: $id) { reactionCount(kind: HEART)
        reactions(kind: HEART) { nodes { displayName avatar { url(shape: SQUARE) } } } } }
      """
    let (ann, ben, cat): (JSONValue, JSONValue, JSONValue) = (
      ["displayName": "Ann", "avatar": ["url": "/photos/ann-s600.jpg"]],
      ["displayName": "Ben", "avatar": nil], ["displayName": "Cat", "avatar": nil]
    )
    #expect(
      try server.data(query, ["id": outfit.json])
        == ["post": ["reactionCount": 3, "reactions": ["nodes": [cat, ben, ann]]]])
    // Somebody blocked is left out, yet counted.
    #expect(
      try server.data(query, ["id": outfit.json], as: viewer)
        == ["post": ["reactionCount": 3, "reactions": ["nodes": [cat, ann]]]])
  }

  private func heart(_ post: NodeKey) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, blocked) = (try data.person(), try data.person())
    let author = try #require(
      try server.data("query($id: ID!) { post(id: $id) { author { id } } }", ["id": post.json])
        .at("post.author.id"))
    try server.mutate("blockUser(userId: $id)", ["id: ID!": author], as: blocked)
    let selection = "subject { id reactionCount(kind: HEART) viewerReactions }"
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          "react(subjectId: $id, kind: HEART)", selection, ["id: ID!": post.json], as: ann)[
            "subject"]
          == ["id": post.json, "reactionCount": 1, "viewerReactions": ["HEART"]])
    }
    #expect(
      try server.data(
        """
        query($id: ID!) { post(id: $id) {
          reactionCount(kind: HEART) viewerReactions reactions(kind: HEART) { nodes { id } } } }
        """, ["id": post.json])
        == [
          "post": [
            "reactionCount": 1, "viewerReactions": [],
            "reactions": ["nodes": [["id": ann.json]]],
          ]
        ])
    #expect(
      try server.refusals(
        "react(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: blocked)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.refusals("react(subjectId: $id, kind: AGREE)", ["id: ID!": post.json], as: ann)
        == [Refusal("INVALID", "kind")])
    #expect(
      try server.mutationErrorCodes(
        "react(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: nil)
        == ["UNAUTHENTICATED"])
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          "unreact(subjectId: $id, kind: HEART)", selection, ["id: ID!": post.json], as: ann)[
            "subject"]
          == ["id": post.json, "reactionCount": 0, "viewerReactions": []])
    }
  }

  @Test func `GTIO-3.1c: an outfit is hearted once, and the heart taken back`() throws {
    let data = try GraphServer.shared.data()
    try heart(try data.outfitAndProductPost(by: try data.person())[0])
  }

  @Test func `GTIO-3.6d: a product post is hearted once, and the heart taken back`() throws {
    let data = try GraphServer.shared.data()
    try heart(try data.outfitAndProductPost(by: try data.person())[1])
  }

  @Test func `GTIO-4.1b: a product itself is hearted, by anyone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let product = try data.product("Coat")
    let people = try (0..<2).map { _ in try data.person() }
    for person in people {
      try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": product.json], as: person)
    }
    let query = """
      query($id: ID!) { product(id: $id) { reactionCount viewerReactions
        reactions { nodes { id } } } }
      """
    #expect(
      try server.data(query, ["id": product.json], as: people[0])
        == [
          "product": [
            "reactionCount": 2, "viewerReactions": ["HEART"],
            "reactions": ["nodes": .array(people.reversed().map { ["id": $0.json] })],
          ]
        ])
    try server.mutate(
      "unreact(subjectId: $id, kind: HEART)", ["id: ID!": product.json], as: people[0])
    #expect(
      try server.data(query, ["id": product.json], as: people[0])
        == [
          "product": [
            "reactionCount": 1, "viewerReactions": [],
            "reactions": ["nodes": [["id": people[1].json]]],
          ]
        ])
    #expect(
      try server.refusals(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": product.json], as: people[0])
        == [Refusal("INVALID", "kind")])
  }
}
