import JSON
import TestSupport
import Testing

/// Views 3.1 to 3.5: an outfit's page, its verdict, its reviews, and who hearted it.
@Suite(.usesCluster) struct GTIOOutfitTests {
  @Test func `GTIO-3.1a: an outfit shows all it has to whoever may see it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, stranger, blocked) = (try data.person(), try data.person(), try data.person())
    let text = String(repeating: "long words ", count: 450)
    let outfit = try data.post(.outfit, by: author, text, location: data.location("Paris"))
    try data.run(
      "UPDATE votable_post SET brands = $1 WHERE post_id = $2", [["Zara", "Acme"], outfit])
    let urls = [2, 0, 1].map { "https://p.example/\($0)" }
    try data.show(urls.map { try data.photo(of: author, url: $0) }, in: outfit)
    try data.block(author, blocked)
    let query = """
      query($id: ID!) { post(id: $id) { author { id } body location { name } photos { url }
        ... on OutfitPost { brands } } }
      """
    let expected: JSONValue = [
      "post": [
        "author": ["id": author.json], "body": .string(text), "location": ["name": "Paris"],
        "photos": .array(urls.map { ["url": .string($0)] }),
        "brands": ["Zara", "Acme"],
      ]
    ]
    for viewer in [author, stranger, nil] {
      #expect(try server.data(query, ["id": outfit.json], as: viewer) == expected)
    }
    #expect(try server.data(query, ["id": outfit.json], as: blocked) == ["post": nil])

    let circle = try data.circle("Group", owner: author, members: [blocked])
    let close = try data.post(.outfit, by: author, circle: circle, visibility: "CIRCLE")
    for viewer in [stranger, blocked, nil] {
      #expect(try server.data(query, ["id": close.json], as: viewer) == ["post": nil])
    }
  }

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

  @Test func `GTIO-3.1f: voting is possible when asked for, on others' posts, once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, voter, viewer) = (try data.person(), try data.person(), try data.person())
    let asked = try data.post(.outfit, by: author)
    let notAsked = try data.post(.outfit, by: author, voting: false)
    try data.vote(voter, "CHANGE_IT", on: asked)
    let query = """
      query($id: ID!) { post(id: $id) { viewerActions
        ... on Votable { votingEnabled viewerVote } } }
      """
    func voting(_ post: NodeKey, _ viewer: Person?) throws -> [JSONValue] {
      let found = try server.data(query, ["id": post.json], as: viewer)
      let actions = try #require(found.at("post.viewerActions")?.array)
      return [
        try #require(found.at("post.votingEnabled")), try #require(found.at("post.viewerVote")),
        .boolean(actions.contains("VOTE")),
      ]
    }
    #expect(try voting(asked, viewer) == [true, nil, true])
    #expect(try voting(asked, voter) == [true, "CHANGE_IT", false])
    #expect(try voting(asked, author) == [true, nil, false])
    #expect(try voting(asked, nil) == [true, nil, false])
    #expect(try voting(notAsked, viewer) == [false, nil, false])
  }

  @Test func `GTIO-3.1g: the action menu fits owner, viewer, staff and visitor`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, viewer, flagger) = (try data.person(), try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let outfit = try data.post(.outfit, by: owner)
    try data.add("flag", ["subject_id": outfit, "user_id": flagger.key, "reason": "SPAM"])
    func actions(_ viewer: Person?) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { post(id: $id) { viewerActions } }", ["id": outfit.json], as: viewer
      ).at("post.viewerActions")
    }
    #expect(
      try actions(owner) == ["TWEET", "SHARE_FACEBOOK", "EDIT", "DELETE", "REACT", "COMMENT"])
    #expect(
      try actions(viewer) == ["TWEET", "FLAG", "SUGGEST_PRODUCT", "REACT", "COMMENT", "VOTE"])
    #expect(try actions(flagger) == ["TWEET", "SUGGEST_PRODUCT", "REACT", "COMMENT", "VOTE"])
    #expect(
      try actions(staff)
        == ["TWEET", "DELETE", "FLAG", "SUGGEST_PRODUCT", "REACT", "COMMENT", "VOTE"])
    #expect(try actions(nil) == [])

    let circle = try data.circle("Group", owner: owner, members: [viewer])
    let close = try data.post(.outfit, by: owner, circle: circle, visibility: "CIRCLE")
    let own = try server.data(
      "query($id: ID!) { post(id: $id) { viewerActions } }", ["id": close.json], as: owner)
    #expect(own.at("post.viewerActions") == ["EDIT", "DELETE", "REACT", "COMMENT"])
  }

  @Test func `GTIO-3.1h: the text of a tweet, with its link, fits one tweet`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(name: "Ann Author"), try data.person())
    let short = try data.post(.outfit, by: author, "My new coat")
    let long = try data.post(.outfit, by: author, String(repeating: "very long ", count: 200))
    let circle = try data.circle("Group", owner: author)
    let secret = try data.post(
      .outfit, by: author, "Secret coat", circle: circle, visibility: "CIRCLE")
    let query = """
      query($id: ID!) { shareDraft(channel: TWITTER, subjectId: $id) {
        channel to subject body url } }
      """
    let draft = try server.data(query, ["id": short.json], as: viewer)
    let link = try #require(draft.at("shareDraft.url")?.string)
    #expect(link.hasSuffix("/posts/\(short.wire)"))
    #expect(
      draft == [
        "shareDraft": [
          "channel": "TWITTER", "to": [], "subject": nil,
          "body": .string("My new coat – an outfit by Ann Author \(link)"), "url": .string(link),
        ]
      ])
    let cut = try server.data(query, ["id": long.json], as: viewer)
    let body = try #require(cut.at("shareDraft.body")?.string)
    #expect((200...280).contains(body.unicodeScalars.count))
    #expect(body.hasPrefix("very long ") && body.hasSuffix("/posts/\(long.wire)"))
    let hidden = try server.data(query, ["id": secret.json], as: viewer)
    #expect(hidden.at("shareDraft.body")?.string?.contains("coat") == false)
    #expect(hidden.at("shareDraft.url")?.string?.contains(secret.wire) == false)
  }

  @Test func `GTIO-3.2a, read: the verdict is for those who voted, and for the author`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, viewer) = (try data.person(), try data.person())
    let voters = try (0..<3).map { _ in try data.person() }
    let outfit = try data.post(.outfit, by: author)
    func verdict(_ viewer: Person?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { post(id: $id) { ... on Votable {
          verdict { wearItCount changeItCount leading text } } } }
        """, ["id": outfit.json], as: viewer
      ).at("post.verdict")
    }
    #expect(try verdict(author)?["text"] == "Nobody has voted yet.")
    for (voter, choice) in zip(voters, ["WEAR_IT", "WEAR_IT", "CHANGE_IT"]) {
      try data.vote(voter, choice, on: outfit)
    }
    let expected: JSONValue = [
      "wearItCount": 2, "changeItCount": 1, "leading": "WEAR_IT",
      "text": "Wear it! 2 of 3 votes say so.",
    ]
    #expect(try verdict(author) == expected)
    #expect(try verdict(voters[2]) == expected)
    #expect(try verdict(viewer) == .null)
    #expect(try verdict(nil) == .null)
    try data.vote(viewer, "CHANGE_IT", on: outfit)
    #expect(try verdict(viewer)?["leading"] == .null)
    #expect(
      try verdict(viewer)?["text"] == "It is a tie: 2 say wear it, 2 say change it.")
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

  @Test func `GTIO-3.4d, read: only who flagged a review sees that`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, flagger) = (try data.person(), try data.person())
    let review = try data.comment(data.post(.outfit, by: author), by: author, "Nice")
    try data.add("flag", ["subject_id": review, "user_id": flagger.key, "reason": "SPAM"])
    let query = "query($id: ID!) { node(id: $id) { ... on Comment { viewerHasFlagged } } }"
    for (viewer, expected) in [(flagger, true), (author, false), (nil, false)] {
      let found = try server.data(query, ["id": review.json], as: viewer)
      #expect(found == ["node": ["viewerHasFlagged": .boolean(expected)]])
    }
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
        thumbnail: url(variant: SQUARE) whole: url(variant: FULL) url } } } } } }
      """, ["id": review.json])
    #expect(
      found.at("node.subject.photos") == [
        [
          "thumbnail": "https://photos.example/square/1", "whole": "https://photos.example/full/1",
          "url": "https://photos.example/full/1",
        ],
        [
          "thumbnail": "https://p.example/2", "whole": "https://p.example/2",
          "url": "https://p.example/2",
        ],
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
        reactions(kind: HEART) { nodes { displayName avatar { url(variant: SQUARE) } } } } }
      """
    let (ann, ben, cat): (JSONValue, JSONValue, JSONValue) = (
      ["displayName": "Ann", "avatar": ["url": "https://photos.example/square/ann"]],
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
}
