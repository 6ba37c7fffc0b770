import JSON
import Pictures
import TestSupport
import Testing

/// Photos of profiles and posts.
@Suite(.usesCluster) struct PhotoUseTests {
  /// Sets a profile picture that was just uploaded, and gives what others see of it.
  private func setAvatar() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let photo = try server.uploadPhoto(TestPicture.png(width: 300, height: 200), as: ada)
    let avatar = "viewer { user { avatar { id url(variant: SQUARE) } } missingProfileFields }"
    let set = try server.mutate(
      "updateProfile(input: {avatarPhotoId: $id})", avatar, ["id: ID!": .string(photo)], as: ada)
    #expect(set.at("viewer.user.avatar.id") == .string(photo))
    #expect(set.at("viewer.missingProfileFields")?.array?.contains("AVATAR") == false)
    // Everybody sees it, and its bytes are a square.
    let seen = try server.data(
      "query($id: ID!) { node(id: $id) { ... on User { avatar { id url(variant: SQUARE) } } } }",
      ["id": ada.json], as: bob)
    #expect(seen.at("node.avatar.id") == .string(photo))
    let bytes = try server.photo(at: #require(seen.at("node.avatar.url")?.string)).body
    #expect(PictureSize(of: bytes, .png) == PictureSize(width: 200, height: 200))
    // Only one's own, and none that moderation refused.
    #expect(
      try server.refusals(
        "updateProfile(input: {avatarPhotoId: $id})", ["id: ID!": .string(photo)], as: bob)
        == [Refusal("NOT_FOUND", "input", "avatarPhotoId")])
    let refused = try server.uploadPhoto(as: ada)
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    try server.mutate(
      "moderatePhoto(photoId: $id, state: REJECTED)", "photo { id }",
      ["id: ID!": .string(refused)], as: staff)
    #expect(
      try server.refusals(
        "updateProfile(input: {avatarPhotoId: $id})", ["id: ID!": .string(refused)], as: ada)
        == [Refusal("REJECTED_PHOTO", "input", "avatarPhotoId")])
  }

  @Test func `GTIO-1.7c: a new member sets the profile picture`() throws { try setAvatar() }

  @Test func `HM-R21: a sender of cards sets the profile picture`() throws { try setAvatar() }

  @Test func `SP-R15: a traveller changes the profile picture`() throws {
    try setAvatar()
    let server = try GraphServer.shared
    let ada = try server.data().person("ada")
    for _ in 0..<2 {
      let photo = try server.uploadPhoto(as: ada)
      let set = try server.mutate(
        "updateProfile(input: {avatarPhotoId: $id})", "viewer { user { avatar { id } } }",
        ["id: ID!": .string(photo)], as: ada)
      #expect(set.at("viewer.user.avatar.id") == .string(photo))
    }
    let cleared = try server.mutate(
      "updateProfile(input: {avatarPhotoId: null})", "viewer { user { avatar { id } } }", as: ada)
    #expect(cleared.at("viewer.user.avatar") == .null)
  }

  @Test func `GTIO-I.a: an outfit is posted with photos and brands`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let photos = try (0..<2).map { _ in try server.uploadPhoto(as: ada) }
    let ids = JSONValue.array(photos.map { .string($0) })
    let made = try server.mutate(
      "createOutfitPost(input: {photoIds: $ids, brands: [\"Acme\", \"Zeta\"], body: \"New\"})",
      "outfitPost { id body brands photos { id url } }", ["ids: [ID!]!": ids], as: ada)
    #expect(made.at("outfitPost")?.strings("photos", "id") == photos)
    #expect(made.at("outfitPost.brands") == ["Acme", "Zeta"])
    // Anybody sees all of it, in order.
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { photos { url } } }",
      ["id": made.at("outfitPost.id") ?? .null], as: bob)
    for index in 0..<2 {
      let url = try #require(seen.at("post.photos.\(index).url")?.string)
      #expect(try server.photo(at: url).status == 200)
    }
    // At least one, and only one's own.
    #expect(
      try server.refusals("createOutfitPost(input: {photoIds: []})", as: ada)
        == [Refusal("REQUIRED", "input", "photoIds")])
    #expect(
      try server.refusals(
        "createOutfitPost(input: {photoIds: $ids})", ["ids: [ID!]!": ids], as: bob)
        == [
          Refusal("NOT_FOUND", "input", "photoIds", "0"),
          Refusal("NOT_FOUND", "input", "photoIds", "1"),
        ])
  }

  @Test func `HM-O18: offers, requests and thanks carry up to ten photos`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let photos = try (0..<11).map { _ in try server.uploadPhoto(as: ada) }
    let fields = [
      ("createCardOffer", "cardOffer", ""), ("createCardRequest", "cardRequest", ""),
      ("createThankYou", "thankYou", ", taggedUserIds: [\"\(bob.key.wire)\"]"),
    ]
    for (field, post, more) in fields {
      let call = "\(field)(input: {body: \"Cards\", photoIds: $ids\(more)})"
      let ten = JSONValue.array(photos.prefix(10).map { .string($0) })
      let made = try server.mutate(
        call, "\(post) { photos { id } }", ["ids: [ID!]": ten], as: ada)
      #expect(made[post]?.strings("photos", "id") == Array(photos.prefix(10)), "\(field)")
      let eleven = JSONValue.array(photos.map { .string($0) })
      #expect(
        try server.refusals(call, ["ids: [ID!]": eleven], as: ada)
          == [Refusal("TOO_MANY", "input", "photoIds")], "\(field)")
    }
  }

  @Test func `SP-R07: a photo is posted with a caption, at a place that is never added twice`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let gmaps = GraphData.unique("gmaps")
    func post(_ location: String, as person: Person) throws -> JSONValue? {
      try server.mutate(
        "createPhotoPost(input: {photoIds: [$id], body: \"Windy.\", location: \(location)})",
        "photoPost { body photos { id url } location { id name gmapsId } }",
        ["id: ID!": .string(try server.uploadPhoto(as: person))], as: person)["photoPost"]
    }
    let new = """
      {new: {name: "East Pier", gmapsId: "\(gmaps)", coordinates: {latitude: 53.3, longitude: -6.1}}}
      """
    let first = try post(new, as: ada)
    #expect(first?["body"] == "Windy.")
    #expect(first?.at("location.name") == "East Pier")
    let url = try #require(first?.at("photos.0.url")?.string)
    #expect(try server.photo(at: url).status == 200)
    let place = try #require(first?.at("location.id")?.string)
    // By its id at Google Maps, as a new one with that id, and by its own id.
    for location in ["{gmapsId: \"\(gmaps)\"}", new, "{id: \"\(place)\"}"] {
      #expect(try post(location, as: bob)?.at("location.id") == .string(place), "\(location)")
    }
    #expect(
      try data.run("SELECT count(*) FROM location WHERE gmaps_id = $1", [gmaps])[0][0] == "1")
  }

  @Test func `SP-P03: what moderation refuses is nowhere, and what waits is its owner's`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let place = try data.location("Pier")
    let photo = try server.uploadPhoto(as: ada)
    let made = try server.mutate(
      "createPhotoPost(input: {photoIds: [$id], location: {id: $place}})", "photoPost { id }",
      ["id: ID!": .string(photo), "place: ID!": place.json], as: ada)
    let post = try #require(made.at("photoPost.id"))
    func shown(to person: Person) throws -> [String] {
      try server.data(
        "query($id: ID!) { post(id: $id) { photos { id } } }", ["id": post], as: person
      ).strings("post.photos", "id")
    }
    for (state, toOwner, toOthers) in [
      ("PENDING", [photo], []), ("REJECTED", [], []), ("APPROVED", [photo], [photo]),
    ] {
      try server.mutate(
        "moderatePhoto(photoId: $id, state: \(state))", "photo { moderation }",
        ["id: ID!": .string(photo)], as: staff)
      #expect(try shown(to: ada) == toOwner, "\(state)")
      #expect(try shown(to: bob) == toOthers, "\(state)")
      #expect(try shown(to: staff) == [photo], "\(state)")
      let attached = try server.refusals(
        "createTextPost(input: {body: \"Again\", photoIds: [$id]})", ["id: ID!": .string(photo)],
        as: ada)
      #expect(
        attached
          == (state == "REJECTED" ? [Refusal("REJECTED_PHOTO", "input", "photoIds", "0")] : []),
        "\(state)")
    }
  }

  @Test func `PK-POST.e: an announcement carries photos, and is public`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let channel = try data.circle("News", kind: "CHANNEL", owner: ada)
    let photo = try server.uploadPhoto(as: ada)
    let made = try server.mutate(
      "createAnnouncement(input: {body: \"Open day\", photoIds: [$id], circleId: $circle})",
      "announcement { id visibility }",
      ["id: ID!": .string(photo), "circle: ID!": channel.json], as: ada)
    #expect(made.at("announcement.visibility") == "PUBLIC")
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { photos { id url } } }",
      ["id": made.at("announcement.id") ?? .null], as: bob)
    #expect(seen.strings("post.photos", "id") == [photo])
    let url = try #require(seen.at("post.photos.0.url")?.string)
    #expect(try server.photo(at: url).header("Content-Type") == "image/png")
  }
}
