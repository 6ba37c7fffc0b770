import JSON
import TestSupport
import Testing

/// Views 3.1 to 3.6 and 4.1, as people use them: hearts, votes, reviews, flags, deleting.
@Suite(.usesCluster) struct GTIOReactionTests {
  /// An outfit and a product post: what is done to the one is done to the other.
  private static func posts(_ data: GraphData, by author: Person) throws -> [NodeKey] {
    [
      try data.post(.outfit, by: author, "Look"),
      try data.post(.product, by: author, "Look", product: try data.product("Coat")),
    ]
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
    try heart(try Self.posts(data, by: try data.person())[0])
  }

  @Test func `GTIO-3.6d: a product post is hearted once, and the heart taken back`() throws {
    let data = try GraphServer.shared.data()
    try heart(try Self.posts(data, by: try data.person())[1])
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

  private func vote(_ post: NodeKey, without: NodeKey, author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person(), try data.person())
    func refused(_ choice: String, _ post: NodeKey = post, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "castVote(postId: $id, choice: \(choice))", ["id: ID!": post.json], as: person)
    }
    let seen = """
      query($id: ID!) { post(id: $id) { ... on Votable {
        votingEnabled viewerVote verdict { text wearItCount changeItCount leading } } } }
      """
    func verdict(_ person: Person?) throws -> JSONValue? {
      try server.data(seen, ["id": post.json], as: person).at("post.verdict")
    }
    #expect(try verdict(ann) == .null)
    #expect(try server.actions(post, as: ann).contains("VOTE"))
    #expect(try refused("WEAR_IT", as: author) == [Refusal("FORBIDDEN", "postId")])
    #expect(try refused("WEAR_IT", without, as: ann) == [Refusal("CLOSED", "postId")])
    // The vote's answer carries the verdict.
    let payload = try server.mutate(
      "castVote(postId: $id, choice: WEAR_IT)",
      "post { viewerVote verdict { wearItCount changeItCount leading } }", ["id: ID!": post.json],
      as: ann)
    #expect(
      payload["post"] == [
        "viewerVote": "WEAR_IT",
        "verdict": ["wearItCount": 1, "changeItCount": 0, "leading": "WEAR_IT"],
      ])
    #expect(try refused("WEAR_IT", as: ann) == [])
    #expect(try refused("CHANGE_IT", as: ann) == [Refusal("ALREADY_DONE", "choice")])
    #expect(try !server.actions(post, as: ann).contains("VOTE"))
    // Who has not voted knows nothing; the author always does.
    for person in [ben, nil] { #expect(try verdict(person) == .null) }
    #expect(try verdict(author)?["wearItCount"] == 1)
    try server.mutate("castVote(postId: $id, choice: CHANGE_IT)", ["id: ID!": post.json], as: ben)
    for person in [ann, ben, author] {
      let both = try verdict(person)
      #expect(both?["wearItCount"] == 1)
      #expect(both?["changeItCount"] == 1)
      #expect(both?["leading"] == .null)
      #expect(both?["text"]?.string?.isEmpty == false)
    }
  }

  @Test func `GTIO-3.1e: a vote on an outfit counts, once and for good`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try vote(
      try Self.posts(data, by: author)[0],
      without: try data.post(.outfit, by: author, voting: false), author: author)
  }

  @Test func `GTIO-3.6c: a product post is voted on as an outfit is`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try vote(
      try Self.posts(data, by: author)[1],
      without: try data.post(
        .product, by: author, product: try data.product("Hat"), voting: false),
      author: author)
  }

  @Test func `GTIO-3.2a: the answer to a vote is the verdict, and it grows with other votes`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let outfit = try data.post(.outfit, by: try data.person())
    var texts: [String] = []
    for number in 1...3 {
      let payload = try server.mutate(
        "castVote(postId: $id, choice: \(number < 3 ? "WEAR_IT" : "CHANGE_IT"))",
        "post { ... on OutfitPost { verdict { text wearItCount changeItCount leading } } }",
        ["id: ID!": outfit.json], as: try data.person())
      #expect(payload.at("post.verdict.wearItCount")?.int == min(number, 2))
      #expect(payload.at("post.verdict.changeItCount")?.int == (number == 3 ? 1 : 0))
      #expect(payload.at("post.verdict.leading") == "WEAR_IT")
      texts.append(payload.at("post.verdict.text")?.string ?? "")
    }
    #expect(texts.allSatisfy { !$0.isEmpty } && texts[0] != texts[2])
    #expect(
      try server.refusals(
        "castVote(postId: \"no id\", choice: WEAR_IT)", as: try data.person())
        == [Refusal("NOT_FOUND", "postId")])
  }

  @Test func `GTIO-3.4b: a review is written, counted and told to the author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann, blocked) = (try data.person(), try data.person(), try data.person())
    try server.mutate("blockUser(userId: $id)", ["id: ID!": blocked.json], as: author)
    for post in try Self.posts(data, by: author) {
      let made = try server.make(
        "addComment(subjectId: $id, body: \"  Well worn. \")", "comment", ["id: ID!": post.json],
        as: ann)
      #expect(
        try server.data(
          """
          query($id: ID!) { post(id: $id) { commentCount comments(last: 5) {
            totalCount nodes { id body author { id } viewerCanDelete } } } }
          """, ["id": post.json], as: author)
          == [
            "post": [
              "commentCount": 1,
              "comments": [
                "totalCount": 1,
                "nodes": [
                  [
                    "id": made.json, "body": "Well worn.", "author": ["id": ann.json],
                    "viewerCanDelete": true,
                  ]
                ],
              ],
            ]
          ])
      func refused(_ body: String, as person: Person) throws -> [Refusal] {
        try server.refusals(
          "addComment(subjectId: $id, body: $body)",
          ["id: ID!": post.json, "body: String!": .string(body)], as: person)
      }
      #expect(try refused(" \n", as: ann) == [Refusal("REQUIRED", "body")])
      #expect(
        try refused(String(repeating: "x", count: 2_001), as: ann) == [Refusal("TOO_LONG", "body")])
      #expect(try refused(String(repeating: "é", count: 2_000), as: ann) == [])
      #expect(try refused("hello", as: blocked) == [Refusal("NOT_FOUND", "subjectId")])
    }
    #expect(try server.told(author) == Array(repeating: "COMMENTED", count: 4))
  }

  @Test func `GTIO-3.4c: one agrees with a review, once, and it shows`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann, ben) = (try data.person(), try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    let review = try server.make(
      "addComment(subjectId: $id, body: \"Fine\")", "comment", ["id: ID!": outfit.json], as: ann)
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          "react(subjectId: $id, kind: AGREE)",
          "subject { __typename reactionCount(kind: AGREE) viewerReactions }",
          ["id: ID!": review.json], as: ben)["subject"]
          == ["__typename": "Comment", "reactionCount": 1, "viewerReactions": ["AGREE"]])
    }
    #expect(
      try server.data(
        """
        query($id: ID!) { post(id: $id) { comments { nodes {
          reactionCount viewerReactions reactions { nodes { id } } } } } }
        """, ["id": outfit.json], as: author)
        == [
          "post": [
            "comments": [
              "nodes": [
                [
                  "reactionCount": 1, "viewerReactions": [],
                  "reactions": ["nodes": [["id": ben.json]]],
                ]
              ]
            ]
          ]
        ])
    #expect(try server.told(ann) == ["REACTED"])
    #expect(
      try server.refusals("react(subjectId: $id, kind: HEART)", ["id: ID!": review.json], as: ben)
        == [Refusal("INVALID", "kind")])
  }

  @Test func `GTIO-3.4d: a review is flagged, not one's own, and only the flagger sees it`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann, ben) = (try data.person(), try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    let review = try server.make(
      "addComment(subjectId: $id, body: \"Buy now\")", "comment", ["id: ID!": outfit.json], as: ann)
    func flag(_ person: Person) throws -> [Refusal] {
      try server.refusals(
        "flag(subjectId: $id, reason: SPAM, note: \"an advertisement\")",
        ["id: ID!": review.json], as: person)
    }
    #expect(try flag(ann) == [Refusal("FORBIDDEN", "subjectId")])
    for _ in 0..<2 { #expect(try flag(ben) == []) }
    for (person, hasFlagged) in [(ann, false), (ben, true), (author, false)] {
      #expect(
        try server.data(
          "query($id: ID!) { node(id: $id) { ... on Comment { viewerHasFlagged } } }",
          ["id": review.json], as: person) == ["node": ["viewerHasFlagged": .boolean(hasFlagged)]])
    }
    #expect(
      try data.run("SELECT user_id, reason, note FROM flag WHERE subject_id = $1", [review])
        == [["\(ben.key)", "SPAM", "an advertisement"]])
    #expect(
      try server.refusals(
        "flag(subjectId: $id, reason: OTHER, note: $note)",
        ["id: ID!": review.json, "note: String": .string(String(repeating: "x", count: 2_001))],
        as: author) == [Refusal("TOO_LONG", "note")])
  }

  private func flag(_ post: NodeKey, by author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = (try data.person(), try data.person())
    #expect(try server.actions(post, as: ann).contains("FLAG"))
    for _ in 0..<2 {
      #expect(try server.refusals("flag(subjectId: $id)", ["id: ID!": post.json], as: ann) == [])
    }
    #expect(try !server.actions(post, as: ann).contains("FLAG"))
    #expect(try server.actions(post, as: ben).contains("FLAG"))
    #expect(
      try server.refusals("flag(subjectId: $id)", ["id: ID!": post.json], as: author)
        == [Refusal("FORBIDDEN", "subjectId")])
    #expect(
      try data.run("SELECT user_id, reason FROM flag WHERE subject_id = $1", [post])
        == [["\(ann.key)", "INAPPROPRIATE"]])
    #expect(
      try server.refusals("flag(subjectId: \"no id\")", as: ann)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.mutationErrorCodes("flag(subjectId: $id)", ["id: ID!": post.json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `GTIO-3.1j: an outfit is flagged once, not by its author`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try flag(try Self.posts(data, by: author)[0], by: author)
  }

  @Test func `GTIO-3.6g: a product post is flagged once, not by its author`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try flag(try Self.posts(data, by: author)[1], by: author)
  }

  private func delete(_ post: NodeKey, by author: Person) throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, staff) = (try data.person(), try data.person(roles: ["MEMBER", "STAFF"]))
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": author.json], as: ann)
    try server.mutate("react(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: ann)
    try server.mutate("castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": post.json], as: ann)
    let review = try server.make(
      "addComment(subjectId: $id, body: \"Fine\")", "comment", ["id: ID!": post.json], as: ann)
    try server.mutate("react(subjectId: $id, kind: AGREE)", ["id: ID!": review.json], as: staff)
    let feed = "{ viewer { feed { totalCount } reactedFeed(kind: HEART) { totalCount } } }"
    #expect(try server.data(feed, as: ann).at("viewer.feed.totalCount") == 1)
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": post.json], as: ann)
        == [Refusal("FORBIDDEN", "postId")])
    #expect(try server.actions(post, as: author).contains("DELETE"))
    #expect(
      try server.mutate("deletePost(postId: $id)", "deletedId", ["id: ID!": post.json], as: author)[
        "deletedId"] == post.json)
    for person in [author, ann, staff, nil] {
      #expect(try !server.finds(post, as: person))
      #expect(try !server.finds(review, as: person))
    }
    #expect(
      try server.data(feed, as: ann)
        == ["viewer": ["feed": ["totalCount": 0], "reactedFeed": ["totalCount": 0]]])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { posts { totalCount } } }", ["id": author.json])
        == ["user": ["posts": ["totalCount": 0]]])
    for (table, column) in [
      ("reaction", "subject_id"), ("vote", "post_id"), ("comment", "subject_id"),
    ] {
      #expect(
        try data.run("SELECT count(*) FROM \(table) WHERE \(column) = $1", [post]) == [["0"]])
    }
    #expect(
      try server.refusals("deletePost(postId: $id)", ["id: ID!": post.json], as: author)
        == [Refusal("NOT_FOUND", "postId")])
  }

  @Test func `GTIO-3.1l: a deleted outfit is gone with its reviews, hearts and votes`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try delete(try data.post(.outfit, by: author), by: author)
  }

  @Test func `GTIO-3.6i: a deleted product post is gone, and its product stays`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let product = try data.product("Coat")
    let post = try data.post(.product, by: author, product: product)
    try delete(post, by: author)
    #expect(
      try server.data(
        "query($id: ID!) { product(id: $id) { name posts { totalCount } } }", ["id": product.json])
        == ["product": ["name": "Coat", "posts": ["totalCount": 0]]])
  }

  @Test func `GTIO-7.8a, GTIO-3.6l: a shopping list is one's own, without doubles, and pruned`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let products = try ["Coat", "Hat"].map { try data.product($0) }
    for product in [products[0], products[1], products[0]] {
      #expect(
        try server.mutate(
          "addToShoppingList(productId: $id)", "product { viewerHasOnShoppingList }",
          ["id: ID!": product.json], as: viewer)["product"] == ["viewerHasOnShoppingList": true])
    }
    func list(_ person: Person) throws -> [String] {
      try server.data("{ viewer { shoppingList { nodes { name } } } }", as: person)
        .strings("viewer.shoppingList.nodes", "name")
    }
    #expect(try list(viewer) == ["Hat", "Coat"])
    #expect(try list(other) == [])
    for _ in 0..<2 {
      #expect(
        try server.mutate(
          "removeFromShoppingList(productId: $id)", "product { viewerHasOnShoppingList }",
          ["id: ID!": products[1].json], as: viewer)["product"]
          == ["viewerHasOnShoppingList": false])
    }
    #expect(try list(viewer) == ["Coat"])
    for field in ["addToShoppingList", "removeFromShoppingList"] {
      #expect(
        try server.refusals("\(field)(productId: $id)", ["id: ID!": other.json], as: viewer)
          == [Refusal("NOT_FOUND", "productId")])
      #expect(
        try server.mutationErrorCodes(
          "\(field)(productId: $id)", ["id: ID!": products[0].json], as: nil)
          == ["UNAUTHENTICATED"])
    }
  }
}
