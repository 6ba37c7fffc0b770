import JSON
import TestSupport
import Testing

/// Edits of posts by their authors.
@Suite(.usesCluster) struct PostEditingTests {
  @Test func `PLAT-7: an author edits the text of a post, and everyone reads it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader) = (try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let hidden = try data.circle("Group", owner: author)
    let post = try server.make(
      "createTextPost(input: {body: \"Frist words\"})", "textPost", as: author)
    let query = """
      query($id: ID!) { post(id: $id) { body createdAt updatedAt } }
      """
    let before = try server.data(query, ["id": post.json], as: reader)
    #expect(before.at("post.updatedAt") == before.at("post.createdAt"))
    let payload = try server.mutate(
      "updatePost(postId: $id, body: \" First words \")", "post { body createdAt updatedAt }",
      ["id: ID!": post.json], as: author)
    #expect(payload.at("post.body") == "First words")
    let after = try server.data(query, ["id": post.json], as: reader)
    #expect(after["post"] == payload["post"])
    #expect(after.at("post.createdAt") == before.at("post.createdAt"))
    let times = [before, after].map { $0.at("post.updatedAt")?.string ?? "" }
    #expect(times[0] < times[1])
    #expect(
      try server.data(
        "query($words: String!, $by: [ID!]!) { nodes(ids: $by) { id } posts(filter: {search: $words}) { nodes { id } } }",
        ["words": "frist", "by": [post.json]], as: reader
      ).list("posts.nodes", "id").contains(post.json) == false)

    func refused(_ arguments: String, _ post: NodeKey, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "updatePost(postId: $id, \(arguments))", ["id: ID!": post.json], as: person)
    }
    for person in [reader, staff] {
      #expect(try refused("body: \"mine\"", post, as: person) == [Refusal("FORBIDDEN", "postId")])
    }
    for body in ["null", "\" \""] {
      #expect(try refused("body: \(body)", post, as: author) == [Refusal("REQUIRED", "body")])
    }
    let close = try data.post(.text, by: author, circle: hidden, visibility: "CIRCLE")
    #expect(try refused("body: \"x\"", close, as: reader) == [Refusal("NOT_FOUND", "postId")])
    // What is optional is cleared; what a kind needs is not.
    let outfit = try data.post(.outfit, by: author, "Words")
    let photo = try data.photo(of: author)
    try data.show([photo], in: outfit)
    #expect(try refused("body: null", outfit, as: author) == [])
    #expect(try refused("photoIds: []", outfit, as: author) == [Refusal("REQUIRED", "photoIds")])
    #expect(
      try server.data(
        "query($id: ID!) { post(id: $id) { body photos { id } } }", ["id": outfit.json], as: reader)
        == ["post": ["body": "", "photos": [["id": photo.json]]]])
    #expect(
      try server.mutationErrorCodes(
        "updatePost(postId: $id, body: \"x\")", ["id: ID!": post.json], as: nil)
        == ["UNAUTHENTICATED"])
  }
}
