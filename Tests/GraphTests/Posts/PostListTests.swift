import Foundation
import JSON
import TestSupport
import Testing

/// Lists of posts: feeds, profiles, and popular posts.
@Suite(.usesCluster) struct PostListTests {
  @Test func `GTIO-7.7a: anyone opens a profile and its posts, newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person(name: "Ann", ["bio": "Hello", "website": "https://ann.example"])
    let circle = try data.circle("Group", owner: person)
    for (hour, text) in ["second", "third", "first"].enumerated() {
      _ = try data.post(.outfit, by: person, text, at: "2026-03-01 1\([1, 2, 0][hour]):00Z")
    }
    _ = try data.post(.outfit, by: person, "close", circle: circle, visibility: "CIRCLE")
    let query = """
      query($name: String!) { user(by: {username: $name}) { displayName bio website
        posts { totalCount nodes { body } } } }
      """
    let profile = try server.data(query, ["name": .string(person.username.uppercased())])
    #expect(
      profile == [
        "user": [
          "displayName": "Ann", "bio": "Hello", "website": "https://ann.example",
          "posts": [
            "totalCount": 3, "nodes": [["body": "third"], ["body": "second"], ["body": "first"]],
          ],
        ]
      ])
    let own = try server.data(query, ["name": .string(person.username)], as: person)
    #expect(own.at("user.posts.nodes.0.body") == "close")
    #expect(own.at("user.posts.totalCount") == 4)
  }

  @Test func `GTIO-8.4a: the feed holds own and followed posts, a new one at once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try data.viewer(following: ["Friend"])
    let (friend, stranger) = (friends[0], try data.person())
    _ = try data.post(.outfit, by: viewer, "own", at: "2026-03-01 11:00Z")
    _ = try data.post(.outfit, by: friend, "friend's", at: "2026-03-01 10:00Z")
    _ = try data.post(.outfit, by: stranger, "stranger's")
    func feed(_ number: Int) throws -> [String] {
      let query = "query($n: Int) { viewer { feed(first: $n) { nodes { body } } } }"
      return try server.data(query, ["n": .number("\(number)")], as: viewer)
        .strings("viewer.feed.nodes", "body")
    }
    #expect(try feed(10) == ["own", "friend's"])
    _ = try data.post(.outfit, by: friend, "new")
    // Posts for others take nobody's place on a page.
    let circle = try data.circle("Group", owner: friend)
    for _ in 0..<4 {
      _ = try data.post(.outfit, by: friend, "close", circle: circle, visibility: "CIRCLE")
    }
    #expect(try feed(2) == ["new", "own"])
    #expect(try feed(10) == ["new", "own", "friend's"])
  }

  @Test func `GTIO-9.1a: visitors see popular posts, most reactions first, public ones only`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person(), GraphData.unique("word"))
    let people = try (0..<3).map { _ in try data.person() }
    let circle = try data.circle("Group", owner: author)
    for (text, count) in [("one", 1), ("three", 3), ("older", 2), ("newer", 2), ("none", 0)] {
      let post = try data.post(.outfit, by: author, "\(word) \(text)")
      for person in people[..<count] { try data.react(person, "HEART", to: post) }
    }
    let close = try data.post(.outfit, by: author, word, circle: circle, visibility: "CIRCLE")
    for person in people { try data.react(person, "HEART", to: close) }
    let query = """
      query($word: String!) { posts(orderBy: TOP, filter: {search: $word}) {
        totalCount nodes { body reactionCount } } }
      """
    let popular = try server.data(query, ["word": .string(word)])
    #expect(
      popular.strings("posts.nodes", "body")
        == ["three", "newer", "older", "one", "none"].map { "\(word) \($0)" })
    #expect(popular.list("posts.nodes", "reactionCount") == [3, 2, 2, 1, 0])
    #expect(popular.at("posts.totalCount") == 5)
    #expect(try server.data(query, ["word": .string(word)], as: author) == popular)
  }

  @Test func `HM-O04: one's own posts on the profile, newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    _ = try data.offer(by: person, "offer", isOpen: false, at: "2026-03-01 11:00Z")
    _ = try data.cardRequest(by: person, "request", at: "2026-03-01 12:00Z")
    _ = try data.thankYou(by: person, "thanks", tagging: [data.person()], at: "2026-03-01 10:00Z")
    _ = try data.offer(by: data.person(), "another's")
    let own = try server.data(
      "{ viewer { user { posts { totalCount nodes { body } } } } }", as: person)
    #expect(own.strings("viewer.user.posts.nodes", "body") == ["request", "offer", "thanks"])
    #expect(own.at("viewer.user.posts.totalCount") == 3)
  }

  @Test func `SP-R09: the feed shows the latest photos of people followed, with their places`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends, stranger) = (
      try data.person(), try data.people(2), try data.person()
    )
    for friend in friends { try data.follow(viewer, friend) }
    let circle = try data.circle("Circle", owner: stranger, members: [viewer])
    let pier = try data.location("Pier")
    for (body, author, hour) in [("old", 0, 8), ("new", 1, 11), ("middle", 0, 9)] {
      _ = try data.photoPost(
        by: friends[author], body, at: pier, time: "2026-03-01 \(hour):00Z")
    }
    _ = try data.photoPost(by: stranger, "stranger's")
    _ = try data.photoPost(by: stranger, "in a circle", circle: circle, visibility: "CIRCLE")
    _ = try data.post(.text, by: friends[0], "text")
    let query = """
      { viewer { feed(source: PEOPLE, kinds: [PHOTO]) {
        totalCount nodes { body createdAt ... on PhotoPost { location { name } } } } } }
      """
    let found = try server.data(query, as: viewer)
    #expect(found.strings("viewer.feed.nodes", "body") == ["new", "middle", "old"])
    #expect(
      found.at("viewer.feed.nodes.0")
        == ["body": "new", "createdAt": "2026-03-01T11:00:00.000Z", "location": ["name": "Pier"]])
    #expect(found.at("viewer.feed.totalCount") == 3)
    #expect(try server.data(query) == ["viewer": nil])
  }

  @Test func `SP-R10: a post is opened by whoever may see it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member, stranger, blocked) = (
      try data.person(name: "Author"), try data.person(), try data.person(), try data.person()
    )
    try data.block(author, blocked)
    let circle = try data.circle("Circle", owner: author, members: [member])
    let pier = try data.location("Pier")
    let open = try data.photoPost(by: author, "open", at: pier)
    let hidden = try data.photoPost(
      by: author, "hidden", at: pier, circle: circle, visibility: "CIRCLE")
    func post(_ key: NodeKey, _ person: Person?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { post(id: $id) { body author { displayName }
          ... on PhotoPost { location { name } photos { url } } } }
        """, ["id": key.json], as: person
      )["post"]
    }
    func content(_ body: String) -> JSONValue {
      [
        "body": .string(body), "author": ["displayName": "Author"], "location": ["name": "Pier"],
        "photos": [["url": "/photos/\(body).jpg"]],
      ]
    }
    for person in [nil, member, stranger, author] {
      #expect(try post(open, person) == content("open"))
    }
    #expect(try post(open, blocked) == .null)
    #expect(try post(hidden, member) == content("hidden"))
    for person in [nil, stranger, blocked] { #expect(try post(hidden, person) == .null) }
    #expect(try post(pier, nil) == .null)
  }

  /// Walks a list of posts in pages of two and does something after the first page.
  private func walk(
    _ field: String, _ server: GraphServer, _ id: NodeKey, as person: Person,
    meanwhile: () throws -> Void
  ) throws -> [String] {
    var bodies: [String] = []
    var cursor: JSONValue = .null
    for number in 0..<20 {
      let page = try server.data(
        """
        query($id: ID!, $after: String) { node(id: $id) { ... on Location { \(field) { ...P } }
          ... on User { \(field) { ...P } } } }
        fragment P on PostConnection { nodes { body } pageInfo { hasNextPage endCursor } }
        """, ["id": id.json, "after": cursor], as: person)
      bodies += page.strings("node.posts.nodes", "body")
      guard page.at("node.posts.pageInfo.hasNextPage") == true else { break }
      cursor = page.at("node.posts.pageInfo.endCursor") ?? .null
      if number == 0 { try meanwhile() }
    }
    return bodies
  }

  @Test func `SP-R14: a list scrolls to its end while posts come and go`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    var posts: [NodeKey] = []
    for number in 0..<7 {
      posts.append(
        try data.photoPost(by: author, "\(number)", time: "2026-03-01 12:0\(number / 2):00Z"))
    }
    let seen = try walk("posts(first: 2, after: $after)", server, author.key, as: author) {
      _ = try data.photoPost(by: author, "new")
      // The one the cursor stands at, and one still to come.
      for number in [5, 2] { try data.run("SELECT delete_node(\(posts[number]))") }
    }
    #expect(seen == ["6", "5", "4", "3", "1", "0"])
  }

  @Test func `SP-P05: a place's posts scroll to the end`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try data.people(3)
    let place = try data.location("Pier")
    for (body, tops) in [("a", 1), ("b", 0), ("c", 3), ("d", 1), ("e", 0)] {
      try data.top(data.photoPost(by: people[0], body, at: place), by: people.prefix(tops))
    }
    let seen = try walk(
      "posts(kinds: [PHOTO], orderBy: TOP, first: 2, after: $after)", server, place, as: people[0]
    ) {
      try data.top(data.photoPost(by: people[0], "new", at: place), by: people)
    }
    #expect(seen == ["c", "d", "a", "e", "b"])
  }

  @Test func `SP-R18: a user's own posts are a grid of square photos, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let circle = try data.circle("Circle", owner: other, members: [viewer])
    _ = try data.photoPost(by: viewer, "second", time: "2026-03-02 12:00Z")
    _ = try data.photoPost(
      by: viewer, "third", circle: circle, visibility: "CIRCLE", time: "2026-03-03 12:00Z")
    _ = try data.photoPost(by: viewer, "first", time: "2026-03-01 12:00Z")
    _ = try data.post(.text, by: viewer, "text")
    _ = try data.photoPost(by: other, "other's")
    let found = try server.data(
      """
      { viewer { user { posts(kinds: [PHOTO], orderBy: NEWEST) {
        nodes { photos { url(shape: SQUARE) full: url } } } } } }
      """, as: viewer)
    #expect(
      found.at("viewer.user.posts.nodes")
        == .array(
          ["third", "second", "first"].map {
            [
              "photos": [
                ["url": "/photos/\($0)-s600.jpg", "full": "/photos/\($0).jpg"]
              ]
            ]
          }))
  }

  @Test func `SP-R20: a user sees another account's posts, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(blocked, author)
    let circle = try data.circle("Circle", owner: author, members: [member])
    _ = try data.photoPost(by: author, "second", time: "2026-03-02 12:00Z")
    _ = try data.photoPost(
      by: author, "third", circle: circle, visibility: "CIRCLE", time: "2026-03-03 12:00Z")
    _ = try data.post(.text, by: author, "first", at: "2026-03-01 12:00Z")
    func posts(_ person: Person?) throws -> JSONValue {
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { posts { totalCount nodes { body } } } }",
        ["id": author.json], as: person)
    }
    for (person, bodies) in [
      (member, ["third", "second", "first"]), (nil, ["second", "first"]),
    ] {
      let found = try posts(person)
      #expect(found.strings("user.posts.nodes", "body") == bodies)
      #expect(found.at("user.posts.totalCount")?.int == bodies.count)
    }
    #expect(try posts(blocked) == ["user": nil])
  }

  @Test func `SP-P06: posts friends topped, the latest top first, and who they are`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, stranger) = (try data.person(), try data.person(name: "Stranger"))
    let (anna, ben) = (try data.person(name: "Anna"), try data.person(name: "Ben"))
    for friend in [anna, ben] { try data.follow(viewer, friend) }
    let circle = try data.circle("Circle", owner: stranger, members: [anna])
    let both = try data.photoPost(by: stranger, "both")
    let one = try data.photoPost(by: stranger, "one")
    let hidden = try data.photoPost(by: stranger, "hidden", circle: circle, visibility: "CIRCLE")
    let strange = try data.photoPost(by: stranger, "strange")
    for (person, post, hour) in [
      (anna, both, 8), (ben, one, 9), (ben, both, 10), (anna, hidden, 11), (stranger, strange, 12),
      (stranger, both, 13),
    ] {
      try data.react(person, "TOP", to: post, at: "2026-03-01 \(hour):00Z")
    }
    try data.react(anna, "HEART", to: strange)
    let found = try server.data(
      """
      { viewer { reactedFeed(kind: TOP) { nodes { body
        reactions(kind: TOP, by: FOLLOWING) { totalCount nodes { displayName } } } } } }
      """, as: viewer)
    func nodes(_ names: JSONValue...) -> JSONValue {
      .object([
        .init(name: "totalCount", value: .number("\(names.count)")),
        .init(name: "nodes", value: .array(names.map { ["displayName": $0] })),
      ])
    }
    #expect(
      found.at("viewer.reactedFeed.nodes") == [
        ["body": "both", "reactions": nodes("Ben", "Anna")],
        ["body": "one", "reactions": nodes("Ben")],
      ])
  }
}
