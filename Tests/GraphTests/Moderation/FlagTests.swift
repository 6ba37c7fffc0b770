import JSON
import TestSupport
import Testing

/// Flags on posts and reviews, which only the flagger sees.
@Suite(.usesCluster) struct FlagTests {
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
    try flag(try data.outfitAndProductPost(by: author)[0], by: author)
  }

  @Test func `GTIO-3.6g: a product post is flagged once, not by its author`() throws {
    let data = try GraphServer.shared.data()
    let author = try data.person()
    try flag(try data.outfitAndProductPost(by: author)[1], by: author)
  }
}
