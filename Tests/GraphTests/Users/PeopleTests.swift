import JSON
import TestSupport
import Testing

/// Views 4.6, 6.x, 7.x, 8.4 and 9.1: friends, suggestions, profiles, feed.
@Suite(.usesCluster) struct GTIOPeopleTests {
  /// A viewer who follows people of these names.
  private static func viewer(
    _ data: GraphData, name: String? = nil, following names: [String]
  ) throws -> (Person, [Person]) {
    let (viewer, people) = (
      try data.person(name: name), try names.map { try data.person(name: $0) }
    )
    for person in people { try data.follow(viewer, person) }
    return (viewer, people)
  }

  @Test func `GTIO-4.6a: people one follows, under a title and a count from the server`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = try Self.viewer(data, following: ["Cat", "Ann", "Ben"])
    let icon = try data.squaredPhoto(of: people[1], named: "ann")
    try data.run("UPDATE app_user SET avatar_id = $1 WHERE id = $2", [icon, people[1]])
    let list = try server.data(
      """
      { viewer { user { following { title summary totalCount
        nodes { displayName avatar { url(variant: SQUARE) } } } } } }
      """, as: viewer)
    #expect(
      list.at("viewer.user.following") == [
        "title": "Following", "summary": "You are following 3 people", "totalCount": 3,
        "nodes": [
          ["displayName": "Ann", "avatar": ["url": "https://photos.example/square/ann"]],
          ["displayName": "Ben", "avatar": nil], ["displayName": "Cat", "avatar": nil],
        ],
      ])
  }

  @Test func `GTIO-4.6b: that list narrows to names of which a word starts so`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, _) = try Self.viewer(
      data, following: ["Anna Berg", "Bo Annan", "Hannah Lee", "Ben Ård"])
    func find(_ words: String) throws -> [String] {
      let found = try server.data(
        """
        query($words: String!) { viewer { user { following(search: $words) {
          totalCount summary nodes { displayName } } } } }
        """, ["words": .string(words)], as: viewer)
      let names = found.strings("viewer.user.following.nodes", "displayName")
      #expect(found.at("viewer.user.following.totalCount")?.int == names.count)
      #expect(found.at("viewer.user.following.summary") == "You are following 4 people")
      return names
    }
    #expect(try find("ann") == ["Anna Berg", "Bo Annan"])
    #expect(try find("BE") == ["Anna Berg", "Ben Ård"])
    #expect(try find("anna b") == ["Anna Berg"])
    #expect(try find("annah") == [])
    #expect(try find("%") == [])
  }

  @Test func `GTIO-6.1a: three suggested people for a button's icons`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try Self.viewer(data, following: ["Friend"])
    for number in 0..<5 { try data.follow(friends[0], data.person(name: "Person \(number)")) }
    let few = try server.data(
      "{ viewer { suggestedUsers(first: 3) { displayName avatar { url } } } }", as: viewer)
    let names = few.strings("viewer.suggestedUsers", "displayName")
    #expect(names.count == 3 && names.allSatisfy { $0.hasPrefix("Person ") })
  }

  @Test func `GTIO-6.1b: the count line, for one and for many, for oneself and others`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, _) = try Self.viewer(data, name: "Vera", following: ["Ann"])
    let (_, other) = (viewer, try data.person(name: "Otto"))
    for _ in 0..<2 { try data.follow(other, data.person()) }
    let lonely = try data.person(name: "Lona")
    func line(_ person: Person, as viewer: Person?) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { following(first: 0) { summary } } }",
        ["id": person.json], as: viewer
      ).at("user.following.summary")
    }
    #expect(try line(viewer, as: viewer) == "You are following 1 person")
    #expect(try line(viewer, as: other) == "Vera is following 1 person")
    #expect(try line(other, as: viewer) == "Otto is following 2 people")
    #expect(try line(other, as: other) == "You are following 2 people")
    #expect(try line(lonely, as: nil) == "Lona is following 0 people")
  }

  @Test func `GTIO-6.1c, GTIO-6.3a, read: all one follows, each with its state`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = try Self.viewer(data, following: ["Ann", "Ben"])
    try data.follow(people[1], viewer)
    let list = try server.data(
      """
      { viewer { user { following { nodes {
        displayName viewerIsFollowing isFollowingViewer } } } } }
      """, as: viewer)
    #expect(
      list.at("viewer.user.following.nodes") == [
        ["displayName": "Ann", "viewerIsFollowing": true, "isFollowingViewer": false],
        ["displayName": "Ben", "viewerIsFollowing": true, "isFollowingViewer": true],
      ])
  }

  @Test func `GTIO-6.1d: a filter without result leads to the community`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, _) = try Self.viewer(data, following: ["Ann"])
    let name = GraphData.unique("stranger")
    let stranger = try data.person(name: name)
    let found = try server.data(
      """
      query($name: String!) {
        viewer { user { following(search: $name) { totalCount } } }
        users(search: $name) { nodes { id viewerIsFollowing } }
      }
      """, ["name": .string(name)], as: viewer)
    #expect(
      found == [
        "viewer": ["user": ["following": ["totalCount": 0]]],
        "users": ["nodes": [["id": stranger.json, "viewerIsFollowing": false]]],
      ])
  }

  @Test func `GTIO-6.2a: suggestions by common followees, never oneself, followed, blocked`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try Self.viewer(data, following: ["F1", "F2", "F3"])
    let people = try (0..<5).map { try data.person(name: "P\($0)") }
    // P0 is followed by one friend, P1 by three, P2 by two; P3 blocks and P4 is blocked.
    for (person, count) in zip(people, [1, 3, 2, 3, 3]) {
      for friend in friends[..<count] { try data.follow(friend, person) }
    }
    for friend in friends { try data.follow(friend, viewer) }
    try data.follow(friends[0], friends[1])
    try data.block(people[3], viewer)
    try data.block(viewer, people[4])
    let query = "query($n: Int) { viewer { suggestedUsers(first: $n) { displayName id } } }"
    let three = try server.data(query, ["n": 3], as: viewer)
    #expect(three.strings("viewer.suggestedUsers", "displayName") == ["P1", "P2", "P0"])
    // Beyond these come others, but still none of those.
    let many = try server.data(query, ["n": 100], as: viewer)
    let ids = many.list("viewer.suggestedUsers", "id")
    for person in [viewer, people[3], people[4]] + friends { #expect(!ids.contains(person.json)) }
  }

  @Test func `GTIO-6.2b: another seed gives another selection, the same seed the same`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friends) = try Self.viewer(data, following: ["Friend"])
    for _ in 0..<40 { try data.follow(friends[0], data.person()) }
    func names(_ seed: Int) throws -> Set<String> {
      let list = try server.data(
        "query($seed: Int!) { viewer { suggestedUsers(first: 6, seed: $seed) { username } } }",
        ["seed": .number("\(seed)")], as: viewer)
      return Set(list.strings("viewer.suggestedUsers", "username"))
    }
    let selections = try (1...4).map(names)
    #expect(selections.allSatisfy { $0.count == 6 })
    #expect(Set(selections).count > 1)
    #expect(try (1...4).map(names) == selections)
  }

  @Test func `GTIO-6.4a: the community is searched by name or username`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("q")
    let (viewer, others) = try Self.viewer(data, following: ["Maria \(stem)"])
    let byUsername = try data.person(stem, name: "Bob")
    let blocked = try data.person(name: "Carl \(stem)")
    try data.block(blocked, viewer)
    let query = """
      query($words: String!) { users(search: $words) { totalCount
        nodes { id viewerIsFollowing } } }
      """
    #expect(
      try server.data(query, ["words": .string(stem.uppercased())], as: viewer) == [
        "users": [
          "totalCount": 2,
          "nodes": [
            ["id": byUsername.json, "viewerIsFollowing": false],
            ["id": others[0].json, "viewerIsFollowing": true],
          ],
        ]
      ])
    let visitor = try server.data(query, ["words": .string(stem)])
    #expect(visitor.list("users.nodes", "viewerIsFollowing") == [false, false, false])
    let narrowed = try server.data(query, ["words": .string("\(stem) mar")], as: viewer)
    #expect(narrowed.list("users.nodes", "id") == [others[0].json])
  }

  @Test func `GTIO-6.5a: whom anybody follows, alphabetically, oneself included`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(name: "Me"), try data.person(name: "Otto"))
    for name in ["Zoe", "adam"] { try data.follow(other, data.person(name: name)) }
    let hidden = try data.person(name: "Hidden")
    for person in [viewer, hidden] { try data.follow(other, person) }
    try data.block(hidden, viewer)
    let query = """
      query($name: String!) { user(by: {username: $name}) { following {
        title summary totalCount nodes { displayName viewerIsFollowing } } } }
      """
    try data.follow(viewer, other)
    let list = try server.data(query, ["name": .string(other.username)], as: viewer)
    #expect(
      list.at("user.following") == [
        "title": "Following", "summary": "Otto is following 3 people", "totalCount": 3,
        "nodes": [
          ["displayName": "adam", "viewerIsFollowing": false],
          ["displayName": "Me", "viewerIsFollowing": false],
          ["displayName": "Zoe", "viewerIsFollowing": false],
        ],
      ])
    let visitor = try server.data(query, ["name": .string(other.username)])
    #expect(visitor.at("user.following.totalCount") == 4)
  }

  @Test func `GTIO-6.6a: anybody's followers; one's own line says you`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(name: "Vera"), try data.person(name: "Otto"))
    for name in ["Zoe", "Ann"] { try data.follow(data.person(name: name), other) }
    try data.follow(viewer, other)
    try data.follow(other, viewer)
    let query = """
      query($id: ID!) { user(by: {id: $id}) { followers { title summary
        nodes { displayName viewerIsFollowing } } } }
      """
    #expect(
      try server.data(query, ["id": other.json], as: viewer).at("user.followers") == [
        "title": "Followers", "summary": "3 people following Otto",
        "nodes": [
          ["displayName": "Ann", "viewerIsFollowing": false],
          ["displayName": "Vera", "viewerIsFollowing": false],
          ["displayName": "Zoe", "viewerIsFollowing": false],
        ],
      ])
    #expect(
      try server.data(query, ["id": viewer.json], as: viewer).at("user.followers") == [
        "title": "Followers", "summary": "1 person following you",
        "nodes": [["displayName": "Otto", "viewerIsFollowing": true]],
      ])
  }

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
    let (viewer, friends) = try Self.viewer(data, following: ["Friend"])
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
}
