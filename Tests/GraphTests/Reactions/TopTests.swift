import JSON
import TestSupport
import Testing

/// Tops of posts and places.
@Suite(.usesCluster) struct TopTests {
  @Test func `SP-R11: a post is topped once by each, and taken back`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, fan, stranger) = (try data.person(), try data.person(), try data.person())
    let post = try data.photoPost(by: author)
    let query = """
      query($id: ID!) { post(id: $id) {
        viewerReactions reactionCount(kind: TOP) reactions(kind: TOP) { nodes { id } } } }
      """
    func seen(_ person: Person?) throws -> JSONValue? {
      try server.data(query, ["id": post.json], as: person)["post"]
    }
    for _ in 0..<2 {
      try server.mutate("react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: fan)
    }
    let fans: JSONValue = ["nodes": [["id": fan.json]]]
    #expect(
      try seen(fan) == ["viewerReactions": ["TOP"], "reactionCount": 1, "reactions": fans])
    for person in [author, nil] {
      #expect(
        try seen(person) == ["viewerReactions": [], "reactionCount": 1, "reactions": fans])
    }
    try data.block(author, stranger)
    #expect(
      try server.refusals("react(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.refusals("react(subjectId: $id, kind: AGREE)", ["id: ID!": post.json], as: fan)
        == [Refusal("INVALID", "kind")])
    for _ in 0..<2 {
      try server.mutate("unreact(subjectId: $id, kind: TOP)", ["id: ID!": post.json], as: fan)
    }
    #expect(
      try seen(fan)
        == ["viewerReactions": [], "reactionCount": 0, "reactions": ["nodes": []]])
  }

  @Test func `SP-R12: topping a place makes it more popular`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let country = try data.location("Country", level: "COUNTRY")
    let places = try ["one", "two"].map { try data.location($0, parent: country) }
    let query = """
      query($in: ID!) { locations(filter: {withinId: $in}) {
        nodes { name popularity reactionCount viewerReactions } } }
      """
    let fan = try data.person()
    func seen() throws -> JSONValue? {
      try server.data(query, ["in": country.json], as: fan).at("locations.nodes")
    }
    let payload = try server.mutate(
      "react(subjectId: $id, kind: TOP)", "subject { ... on Location { name reactionCount } }",
      ["id: ID!": places[0].json], as: fan)
    #expect(payload["subject"] == ["name": "one", "reactionCount": 1])
    try data.rank()
    #expect(
      try seen() == [
        ["name": "one", "popularity": 1, "reactionCount": 1, "viewerReactions": ["TOP"]],
        ["name": "two", "popularity": 0, "reactionCount": 0, "viewerReactions": []],
      ])
    #expect(
      try server.refusals(
        "react(subjectId: $id, kind: HEART)", ["id: ID!": places[1].json], as: fan)
        == [Refusal("INVALID", "kind")])
    #expect(
      try server.mutationErrorCodes(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": places[1].json], as: nil)
        == ["UNAUTHENTICATED"])
  }
}
