import JSON
import TestSupport
import Testing

/// Reviews of posts and places: written, counted, and agreed with.
@Suite(.usesCluster) struct ReviewTests {
  @Test func `GTIO-3.1b: reviews are counted, without those of people blocked`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer, blocked) = (try data.person(), try data.person(), try data.person())
    let outfit = try data.post(.outfit, by: author)
    for reviewer in [viewer, viewer, blocked] {
      _ = try data.comment(outfit, by: reviewer, "Nice")
    }
    try data.block(viewer, blocked)
    let query = "query($id: ID!) { post(id: $id) { commentCount } }"
    func count(_ viewer: Person?) throws -> JSONValue? {
      try server.data(query, ["id": outfit.json], as: viewer).at("post.commentCount")
    }
    #expect(try count(nil) == 3)
    #expect(try count(author) == 3)
    #expect(try count(viewer) == 2)
    #expect(try count(blocked) == 1)
  }

  @Test func `GTIO-3.4a: reviews of either post kind, oldest first or from the newest`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(blocked, viewer)
    let posts = [
      try data.post(.outfit, by: author),
      try data.post(.product, by: author, product: data.product("Scarf")),
    ]
    for post in posts {
      for number in 1...5 {
        _ = try data.comment(post, by: number == 3 ? blocked : author, "review \(number)")
      }
      let query = """
        query($id: ID!, $first: Int, $last: Int, $before: String) { node(id: $id) {
          ... on Commentable { comments(first: $first, last: $last, before: $before) {
            totalCount nodes { body author { id } } pageInfo { hasPreviousPage startCursor } } } } }
        """
      func reviews(_ page: JSONValue.Member..., as viewer: Person? = nil) throws -> JSONValue {
        let found = try server.data(
          query, .object([.init(name: "id", value: post.json)] + page), as: viewer)
        return try #require(found.at("node.comments"))
      }
      let all = try reviews()
      #expect(all.strings("nodes", "body") == (1...5).map { "review \($0)" })
      #expect(all["totalCount"] == 5)
      let seen = try reviews(as: viewer)
      #expect(seen.strings("nodes", "body") == [1, 2, 4, 5].map { "review \($0)" })
      #expect(seen["totalCount"] == 4)
      let newest = try reviews(.init(name: "last", value: 2))
      #expect(newest.strings("nodes", "body") == ["review 4", "review 5"])
      #expect(newest.at("pageInfo.hasPreviousPage") == true)
      let older = try reviews(
        .init(name: "last", value: 2),
        .init(name: "before", value: newest.at("pageInfo.startCursor") ?? .null))
      #expect(older.strings("nodes", "body") == ["review 2", "review 3"])
    }
  }

  @Test func `GTIO-3.4c, read: a review shows how many agree, and whether the viewer does`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try (0..<3).map { _ in try data.person() }
    let outfit = try data.post(.outfit, by: people[0])
    let review = try data.comment(outfit, by: people[0], "Nice")
    for person in people[1...] { try data.react(person, "AGREE", to: review) }
    let query = """
      query($id: ID!) { node(id: $id) { ... on Comment { reactionCount(kind: AGREE)
        viewerReactions } } }
      """
    #expect(
      try server.data(query, ["id": review.json], as: people[1])
        == ["node": ["reactionCount": 2, "viewerReactions": ["AGREE"]]])
    #expect(
      try server.data(query, ["id": review.json], as: people[0])
        == ["node": ["reactionCount": 2, "viewerReactions": []]])
  }

  @Test func `GTIO-3.4e: a review reaches its post's photo, square for lists or in full`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let outfit = try data.post(.outfit, by: author)
    try data.show(
      [
        data.squaredPhoto(of: author, named: "1"),
        data.photo(of: author, url: "https://p.example/2"),
      ],
      in: outfit)
    let review = try data.comment(outfit, by: author, "Nice")
    let found = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Comment { subject { ... on Post { photos {
        thumbnail: url(shape: SQUARE) whole: url(shape: ORIGINAL) url } } } } } }
      """, ["id": review.json])
    #expect(
      found.at("node.subject.photos") == [
        [
          "thumbnail": "/photos/1-s600.jpg", "whole": "/photos/1.jpg", "url": "/photos/1.jpg",
        ],
        [
          "thumbnail": "https://p.example/2", "whole": "https://p.example/2",
          "url": "https://p.example/2",
        ],
      ])
  }

  @Test func `GTIO-3.6b: a product post shows its own reviews and their number`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, product) = (try data.person(), try data.product("Scarf"))
    let post = try data.post(.product, by: author, product: product)
    let another = try data.post(.product, by: author, product: product)
    for text in ["first", "second"] { _ = try data.comment(post, by: author, text) }
    _ = try data.comment(another, by: author, "elsewhere")
    let found = try server.data(
      """
      query($id: ID!) { post(id: $id) { ... on ProductPost { commentCount
        comments { nodes { body } } } } }
      """, ["id": post.json])
    #expect(found.at("post.commentCount") == 2)
    #expect(found.strings("post.comments.nodes", "body") == ["first", "second"])
  }

  @Test func `GTIO-3.4b: a review is written, counted and told to the author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, ann, blocked) = (try data.person(), try data.person(), try data.person())
    try server.mutate("blockUser(userId: $id)", ["id: ID!": blocked.json], as: author)
    for post in try data.outfitAndProductPost(by: author) {
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

  @Test func `SP-O05: a review of a place is read and counted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (critic, blocked) = (try data.person(name: "Critic"), try data.person())
    try data.block(critic, blocked)
    let place = try data.location("Pier")
    let add = "addComment(subjectId: $id, body: $body)"
    let payload = try server.mutate(
      add, "comment { body subject { id commentCount } }",
      ["id: ID!": place.json, "body: String!": "  Windy.  "], as: critic)
    #expect(
      payload["comment"]
        == ["body": "Windy.", "subject": ["id": place.json, "commentCount": 1]])
    let query = """
      query($id: ID!) { location(by: {id: $id}) {
        commentCount comments { nodes { body author { displayName } viewerCanDelete } } } }
      """
    #expect(
      try server.data(query, ["id": place.json]) == [
        "location": [
          "commentCount": 1,
          "comments": [
            "nodes": [
              [
                "body": "Windy.", "author": ["displayName": "Critic"], "viewerCanDelete": false,
              ]
            ]
          ],
        ]
      ])
    #expect(
      try server.data(query, ["id": place.json], as: blocked)
        == ["location": ["commentCount": 0, "comments": ["nodes": []]]])
    #expect(
      try server.refusals(
        add,
        ["id: ID!": place.json, "body: String!": .string(String(repeating: "x", count: 2001))],
        as: critic) == [Refusal("TOO_LONG", "body")])
    #expect(
      try server.refusals(add, ["id: ID!": critic.json, "body: String!": "Hm."], as: critic)
        == [Refusal("NOT_FOUND", "subjectId")])
  }
}
