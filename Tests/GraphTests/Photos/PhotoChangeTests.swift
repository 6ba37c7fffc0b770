import JSON
import TestSupport
import Testing

/// Photos in their owner's list, described and deleted.
@Suite(.usesCluster) struct PhotoChangeTests {
  private var server: GraphServer { get throws { try .shared } }

  private let own = "{ viewer { photos { totalCount nodes { id altText } } } }"

  @Test func `a photo is described when it is registered, and later`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let url = try server.upload(TestPicture.png(width: 21, height: 10), as: ada)
    let create = "createPhoto(input: {url: $url, altText: $text})"
    #expect(
      try server.refusals(
        create,
        ["url: URL!": .string(url), "text: String": .string(String(repeating: "a", count: 501))],
        as: ada) == [Refusal("TOO_LONG", "input", "altText")])
    let made = try server.mutate(
      create, "photo { id altText }", ["url: URL!": .string(url), "text: String": " A boat "],
      as: ada)
    let id = try #require(made.at("photo.id"))
    #expect(made.at("photo.altText") == "A boat")
    let update = "updatePhoto(photoId: $id, input: $input)"
    func change(_ input: JSONValue) throws -> JSONValue? {
      try server.mutate(
        update, "photo { altText }", ["id: ID!": id, "input: UpdatePhotoInput!": input], as: ada
      ).at("photo.altText")
    }
    #expect(try change(["altText": "Two boats"]) == "Two boats")
    #expect(try change([:]) == "Two boats")
    #expect(try change(["altText": nil]) == .null)
    func refusals(_ input: JSONValue, as person: Person?) throws -> [Refusal] {
      try server.refusals(update, ["id: ID!": id, "input: UpdatePhotoInput!": input], as: person)
    }
    #expect(
      try refusals(["altText": .string(String(repeating: "a", count: 501))], as: ada)
        == [Refusal("TOO_LONG", "input", "altText")])
    // Nobody else sees it yet; who sees it may not describe it.
    #expect(try refusals([:], as: bob) == [Refusal("NOT_FOUND", "photoId")])
    let key = try NodeKey(wire: id.string ?? "")
    let post = try data.post(.text, by: ada)
    try data.add("post_photo", ["post_id": post, "position": 0, "photo_id": key])
    #expect(try refusals([:], as: bob) == [Refusal("FORBIDDEN", "photoId")])
  }

  @Test func `one's photos are listed, newest first`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let photos = try (0..<3).map { _ in try data.photo(of: ada) }
    _ = try data.photo(of: ada, moderation: "REJECTED")
    _ = try data.photo(of: bob)
    #expect(
      try server.data(own, as: ada).strings("viewer.photos.nodes", "id")
        == photos.reversed().map(\.wire))
    #expect(try server.data(own, as: ada).at("viewer.photos.totalCount") == 3)
  }

  @Test func `a photo is deleted wherever it is shown`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let delete = "deletePhoto(photoId: $id)"
    let photo = try data.photo(of: ada)
    let kept = try data.photo(of: ada)
    try data.run("UPDATE app_user SET avatar_id = $1 WHERE id = $2", [photo, ada])
    let product = try data.product("Coat")
    try data.run("UPDATE product SET photo_id = $1 WHERE id = $2", [photo, product])
    let outfit = try data.post(.outfit, by: ada)
    let text = try data.post(.text, by: ada)
    for (post, pictures) in [(outfit, [photo, kept]), (text, [photo])] {
      for (position, picture) in pictures.enumerated() {
        try data.add("post_photo", ["post_id": post, "position": position, "photo_id": picture])
      }
    }
    #expect(
      try server.refusals(delete, ["id: ID!": photo.json], as: bob) == [
        Refusal("FORBIDDEN", "photoId")
      ])
    #expect(
      try server.mutate(delete, "deletedId", ["id: ID!": photo.json], as: ada)["deletedId"]
        == photo.json)
    let read = try server.data(
      """
      query($ada: ID!, $coat: ID!, $outfit: ID!, $text: ID!) {
        ada: node(id: $ada) { ... on User { avatar { id } } }
        coat: node(id: $coat) { ... on Product { photo { id } } }
        outfit: node(id: $outfit) { ... on OutfitPost { photos { id } } }
        text: node(id: $text) { ... on TextPost { photos { id } } } }
      """,
      ["ada": ada.json, "coat": product.json, "outfit": outfit.json, "text": text.json], as: bob)
    #expect(read.at("ada.avatar") == .null)
    #expect(read.at("coat.photo") == .null)
    #expect(read.at("outfit.photos") == [["id": kept.json]])
    #expect(read.at("text.photos") == [])
    #expect(
      try server.refusals(delete, ["id: ID!": photo.json], as: ada) == [
        Refusal("NOT_FOUND", "photoId")
      ])
    // An outfit needs a photo.
    #expect(
      try server.refusals(delete, ["id: ID!": kept.json], as: ada) == [Refusal("IN_USE", "photoId")]
    )
    #expect(
      try server.refusals(delete, ["id: ID!": kept.json], as: staff) == [
        Refusal("IN_USE", "photoId")
      ])
    try server.mutate("deletePost(postId: $id)", ["id: ID!": outfit.json], as: ada)
    #expect(try server.refusals(delete, ["id: ID!": kept.json], as: staff) == [])
    #expect(
      try data.run("SELECT act FROM audit_log WHERE about_id = $1", [kept]) == [["DELETE_PHOTO"]])
  }

  @Test func `a photo is not lost to an outfit that is made of it meanwhile`() throws {
    let server = try server
    let data = try server.data()
    for _ in 0..<8 {
      let ada = try data.person("ada")
      let photo = try data.photo(of: ada)
      let answers = try crowd(of: 6) { number in
        number == 0
          ? try server.refusals("deletePhoto(photoId: $id)", ["id: ID!": photo.json], as: ada)
          : try server.refusals(
            "createOutfitPost(input: {photoIds: [$id]})", ["id: ID!": photo.json], as: ada)
      }
      #expect(answers[0] == [] || answers[0] == [Refusal("IN_USE", "photoId")])
      #expect(
        try data.run(
          """
          SELECT id FROM post p WHERE p.author_id = $1
            AND NOT EXISTS (SELECT FROM post_photo f WHERE f.post_id = p.id)
          """, [ada]) == [])
    }
  }
}
