import JSON
import TestSupport
import Testing

/// Lists of followers and followees, with their titles, filters, and counts.
@Suite(.usesCluster) struct PeopleTests {
  @Test func `GTIO-4.6a: people one follows, under a title and a count from the server`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = try data.viewer(following: ["Cat", "Ann", "Ben"])
    let icon = try data.squaredPhoto(of: people[1], named: "ann")
    try data.run("UPDATE app_user SET avatar_id = $1 WHERE id = $2", [icon, people[1]])
    let list = try server.data(
      """
      { viewer { user { following { title summary totalCount
        nodes { displayName avatar { url(shape: SQUARE) } } } } } }
      """, as: viewer)
    #expect(
      list.at("viewer.user.following") == [
        "title": "Following", "summary": "You are following 3 people", "totalCount": 3,
        "nodes": [
          ["displayName": "Ann", "avatar": ["url": "/photos/ann-s600.jpg"]],
          ["displayName": "Ben", "avatar": nil], ["displayName": "Cat", "avatar": nil],
        ],
      ])
  }

  @Test func `GTIO-4.6b: that list narrows to names of which a word starts so`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, _) = try data.viewer(following: ["Anna Berg", "Bo Annan", "Hannah Lee", "Ben Ård"])
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

  @Test func `GTIO-6.1b: the count line, for one and for many, for oneself and others`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, _) = try data.viewer(name: "Vera", following: ["Ann"])
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
    let (viewer, people) = try data.viewer(following: ["Ann", "Ben"])
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
    let (viewer, _) = try data.viewer(following: ["Ann"])
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
}
