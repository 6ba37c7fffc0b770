import JSON
import TestSupport
import Testing

/// The search for people by name or username.
@Suite(.usesCluster) struct PeopleSearchTests {
  @Test func `GTIO-6.4a: the community is searched by name or username`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("q")
    let (viewer, others) = try data.viewer(following: ["Maria \(stem)"])
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

  @Test func `the best match comes first, then people followed, then those with most followers`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("mq")
    let (viewer, others) = try data.viewer(following: ["\(stem)b Followed"])
    let known = try data.person(name: "\(stem)c Known")
    let plain = try data.person(name: "\(stem)a Plain")
    let word = try data.person(name: "Amina \(stem)d")
    let named = try data.person(name: stem)
    let exact = try data.person(name: "Zoe", ["username": stem])
    for _ in 0..<2 { try data.follow(data.person(), known) }
    try data.follow(data.person(), word)
    let best = [exact, named, others[0], known, plain, word].map(\.json)
    let query = """
      query($w: String!, $first: Int, $after: String, $last: Int, $before: String) {
        users(search: $w, first: $first, after: $after, last: $last, before: $before) {
          nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
      """
    func walk(_ size: String, _ from: String, _ cursor: String) throws -> [[JSONValue]] {
      var pages: [[JSONValue]] = []
      var place: JSONValue = .null
      repeat {
        let page = try server.data(
          query,
          .object([
            JSONValue.Member(name: "w", value: .string(stem)),
            JSONValue.Member(name: size, value: 4),
            JSONValue.Member(name: from, value: place),
          ]), as: viewer)
        pages.append(page.list("users.nodes", "id"))
        place = page.at("users.pageInfo.\(cursor)") ?? .null
      } while pages.count < 2
      return pages
    }
    #expect(try walk("first", "after", "endCursor") == [Array(best[..<4]), Array(best[4...])])
    #expect(try walk("last", "before", "startCursor") == [Array(best[2...]), Array(best[..<2])])
    let byName = try server.data(
      "query($w: String!) { users(search: $w, orderBy: NAME) { nodes { id } } }",
      ["w": .string(stem)], as: viewer)
    #expect(
      byName.list("users.nodes", "id")
        == [word, named, plain, others[0], known, exact].map(\.json))
    let all = try server.data(
      "query($w: String!) { search(query: $w, types: [USER]) { nodes { ... on Node { id } } } }",
      ["w": .string(stem)], as: viewer)
    #expect(all.list("search.nodes", "id").first == exact.json)
    #expect(all.list("search.nodes", "id").last == word.json)
  }

  @Test func `without words, people come by name`() throws {
    let server = try GraphServer.shared
    let query = """
      query($w: String) { best: users(search: $w, first: 50) { nodes { id } }
        plain: users(orderBy: NAME, first: 50) { nodes { id } } }
      """
    for words in [nil, ""] as [JSONValue] {
      let found = try server.data(query, ["w": words])
      #expect(found["best"] == found["plain"])
    }
  }

  @Test func `followers whom the viewer may not see move nobody up`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("hq")
    let viewer = try data.person()
    let known = try data.person(name: "\(stem) a")
    let other = try data.person(name: "\(stem) b")
    try data.follow(data.person(), known)
    for _ in 0..<2 {
      let hidden = try data.person()
      try data.follow(hidden, other)
      try data.block(hidden, viewer)
    }
    let query = "query($words: String!) { users(search: $words) { nodes { id } edges { cursor } } }"
    let found = try server.data(query, ["words": .string(stem)], as: viewer)
    #expect(found.list("users.nodes", "id") == [known.json, other.json])
    #expect(
      try server.data(query, ["words": .string(stem)]).list("users.nodes", "id")
        == [other.json, known.json])
  }
}
