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
      "updateTextPost(textPostId: $id, input: {body: \" First words \"})",
      "textPost { body createdAt updatedAt }", ["id: ID!": post.json], as: author)
    #expect(payload.at("textPost.body") == "First words")
    let after = try server.data(query, ["id": post.json], as: reader)
    #expect(after["post"] == payload["textPost"])
    #expect(after.at("post.createdAt") == before.at("post.createdAt"))
    let times = [before, after].map { $0.at("post.updatedAt")?.string ?? "" }
    #expect(times[0] < times[1])
    #expect(
      try server.data(
        "query($words: String!, $by: [ID!]!) { nodes(ids: $by) { id } posts(filter: {search: $words}) { nodes { id } } }",
        ["words": "frist", "by": [post.json]], as: reader
      ).list("posts.nodes", "id").contains(post.json) == false)

    func refused(
      _ input: String, _ post: NodeKey, of type: String = "textPost", as person: Person
    ) throws -> [Refusal] {
      let field = "update\(type.prefix(1).uppercased())\(type.dropFirst())"
      return try server.refusals(
        "\(field)(\(type)Id: $id, input: {\(input)})", ["id: ID!": post.json], as: person)
    }
    for person in [reader, staff] {
      #expect(
        try refused("body: \"mine\"", post, as: person) == [Refusal("FORBIDDEN", "textPostId")])
    }
    for body in ["null", "\" \""] {
      #expect(
        try refused("body: \(body)", post, as: author) == [Refusal("REQUIRED", "input", "body")])
    }
    let close = try data.post(.text, by: author, circle: hidden, visibility: "CIRCLE")
    #expect(try refused("body: \"x\"", close, as: reader) == [Refusal("NOT_FOUND", "textPostId")])
    // What is optional is cleared; what a kind needs is not.
    let outfit = try data.post(.outfit, by: author, "Words")
    let photo = try data.photo(of: author)
    try data.show([photo], in: outfit)
    #expect(try refused("body: null", outfit, of: "outfitPost", as: author) == [])
    #expect(
      try refused("photoIds: []", outfit, of: "outfitPost", as: author)
        == [Refusal("REQUIRED", "input", "photoIds")])
    // A post of another type is none of this one.
    #expect(
      try refused("body: \"x\"", outfit, as: author) == [Refusal("NOT_FOUND", "textPostId")])
    #expect(
      try server.data(
        "query($id: ID!) { post(id: $id) { body photos { id } } }", ["id": outfit.json], as: reader)
        == ["post": ["body": "", "photos": [["id": photo.json]]]])
    #expect(
      try server.mutationErrorCodes(
        "updateTextPost(textPostId: $id, input: {body: \"x\"})", ["id: ID!": post.json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `all faults of a change are told together, in the order of the input`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, other) = (try data.person(), try data.person())
    try data.block(other, author)
    let foreign = try data.photo(of: other)
    func refusals(
      _ field: String, _ post: NodeKey, _ input: String
    ) throws -> [Refusal] {
      let input = [
        ("$long", JSONValue.string(String(repeating: "x", count: 5001))), ("$photo", foreign.json),
        ("$other", other.json), ("$me", author.json),
      ].reduce(input) { $0.replacing($1.0, with: "\($1.1)") }
      return try server.refusals(
        "\(field): $id, input: {\(input)})", ["id: ID!": post.json], as: author)
    }
    let thanks = try data.thankYou(by: author, "x", tagging: [try data.person()])
    #expect(
      try refusals(
        "updateThankYou(thankYouId", thanks,
        "body: $long, photoIds: [$photo], taggedUserIds: [$other, $me]") == [
          Refusal("TOO_LONG", "input", "body"), Refusal("NOT_FOUND", "input", "photoIds", "0"),
          Refusal("NOT_FOUND", "input", "taggedUserIds", "0"),
          Refusal("INVALID", "input", "taggedUserIds", "1"),
        ])
    let photo = try data.post(.photo, by: author, location: try data.location("Pier"))
    #expect(
      try refusals(
        "updatePhotoPost(photoPostId", photo, "photoIds: [], location: null, body: $long") == [
          Refusal("REQUIRED", "input", "photoIds"), Refusal("REQUIRED", "input", "location"),
          Refusal("TOO_LONG", "input", "body"),
        ])
    let outfit = try data.post(.outfit, by: author)
    #expect(
      try refusals(
        "updateOutfitPost(outfitPostId", outfit,
        "photoIds: null, body: $long, brands: [\"\(String(repeating: "b", count: 101))\"], isVotingEnabled: null"
      ) == [
        Refusal("REQUIRED", "input", "photoIds"), Refusal("TOO_LONG", "input", "body"),
        Refusal("TOO_LONG", "input", "brands"),
        Refusal("REQUIRED", "input", "isVotingEnabled"),
      ])
    #expect(
      try refusals(
        "updateOutfitPost(outfitPostId", outfit,
        "brands: [\((0..<21).map { "\"\($0)\"" }.joined(separator: ", "))]"
      )
      .map(\.path) == [["input", "brands"]])
    let offer = try data.offer(by: author, "x")
    #expect(
      try refusals(
        "updateCardOffer(cardOfferId", offer, "body: \" \", responseLimit: 0, regionIds: [$photo]")
        == [
          Refusal("REQUIRED", "input", "body"), Refusal("INVALID", "input", "responseLimit"),
          Refusal("NOT_FOUND", "input", "regionIds", "0"),
        ])
    for (field, tag) in [
      ("updateCardRequest(cardRequestId", PostTag.cardRequest),
      ("updateAnnouncement(announcementId", .announcement), ("updateTextPost(textPostId", .text),
    ] {
      let post = try data.post(tag, by: author, "x")
      #expect(
        try refusals(
          field, post, "body: null, photoIds: [$photo]")
          == [
            Refusal("REQUIRED", "input", "body"), Refusal("NOT_FOUND", "input", "photoIds", "0"),
          ],
        "\(field)")
    }
    let product = try data.post(.product, by: author, product: try data.product("Coat"))
    #expect(
      try refusals(
        "updateProductPost(productPostId", product, "body: $long, isVotingEnabled: null") == [
          Refusal("TOO_LONG", "input", "body"),
          Refusal("REQUIRED", "input", "isVotingEnabled"),
        ])
  }
}
