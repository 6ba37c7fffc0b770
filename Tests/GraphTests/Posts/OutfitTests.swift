import JSON
import TestSupport
import Testing

/// Outfit posts as their viewers see them.
@Suite(.usesCluster) struct OutfitTests {
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
}
