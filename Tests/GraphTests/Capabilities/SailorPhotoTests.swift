import JSON
import Testing

/// Sailor+ and Peck: photos, from the upload to what shows them.
@Suite struct SailorPhotoTests {
  @Test func `SP-R07: a photo with a caption is posted at a place that is there once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (sailor, other) = (try data.person(name: "Sailor"), try data.person())
    let maps = GraphData.unique("gmaps")
    let create = "createPhotoPost(input: $input)"
    func input(_ photos: [JSONValue], at place: JSONValue, _ caption: JSONValue = "Gulls")
      -> JSONValue
    {
      ["photoIds": .array(photos), "location": place, "body": caption]
    }
    let photo = JSONValue.string(try server.uploadPhoto(as: sailor))
    let new: JSONValue = [
      "new": [
        "name": "Pier", "gmapsId": .string(maps), "placeType": "ATTRACTION",
        "coordinates": ["latitude": 51.5, "longitude": -8.5],
      ]
    ]
    let payload = try server.mutate(
      create,
      """
      photoPost { id body author { displayName } photos { id url square: url(variant: SQUARE) }
        location { id name gmapsId } }
      """, ["input: CreatePhotoPostInput!": input([photo], at: new)], as: sailor)
    let post = try #require(payload["photoPost"])
    #expect(post["body"] == "Gulls")
    #expect(post["author"] == ["displayName": "Sailor"])
    #expect(post.list("photos", "id") == [photo])
    let place = try #require(post.at("location.id"))
    for variant in ["url", "square"] {
      let url = try #require(post.at("photos.0.\(variant)")?.string)
      #expect(try server.photo(at: url).status == 200)
    }
    // However a known place is named, it is the one that is there.
    for ref in [new, ["gmapsId": .string(maps)], ["id": place]] as [JSONValue] {
      let again = try server.mutate(
        create, "photoPost { location { id } }",
        [
          "input: CreatePhotoPostInput!": input(
            [.string(try server.uploadPhoto(as: other))], at: ref, nil)
        ], as: other)
      #expect(again.at("photoPost.location.id") == place)
    }
    let seen = try server.data(
      "query($id: ID!) { location(by: {id: $id}) { postCount posts(kinds: [PHOTO], orderBy: NEWEST) { nodes { body } } } }",
      ["id": place])
    #expect(seen.at("location.postCount") == 4)
    #expect(seen.strings("location.posts.nodes", "body") == ["", "", "", "Gulls"])
    for (photos, ref, refusal) in [
      ([], new, Refusal("REQUIRED", "input", "photoIds")),
      ([photo], new, Refusal("NOT_FOUND", "input", "photoIds", "0")),
      (
        [.string(try server.uploadPhoto(as: other))], ["gmapsId": "nowhere at all"],
        Refusal("NOT_FOUND", "input", "location", "gmapsId")
      ),
    ] as [([JSONValue], JSONValue, Refusal)] {
      #expect(
        try server.refusals(
          create, ["input: CreatePhotoPostInput!": input(photos, at: ref)], as: other) == [refusal])
    }
    #expect(
      try server.mutationErrorCodes(
        create, ["input: CreatePhotoPostInput!": input([photo], at: new)], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `SP-R15: a user changes the profile picture, for all to see`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (sailor, other) = (try data.person(), try data.person())
    let update = "updateProfile(input: {avatarPhotoId: $photo})"
    let query = "query($id: ID!) { user(by: {id: $id}) { avatar { id url(variant: SQUARE) } } }"
    for _ in 0..<2 {
      let photo = JSONValue.string(try server.uploadPhoto(as: sailor))
      try server.mutate(update, ["photo: ID": photo], as: sailor)
      let seen = try server.data(query, ["id": sailor.json], as: other)
      #expect(seen.at("user.avatar.id") == photo)
      let url = try #require(seen.at("user.avatar.url")?.string)
      #expect(try server.photo(at: url).status == 200)
    }
    #expect(
      try server.refusals(
        update, ["photo: ID": .string(try server.uploadPhoto(as: other))], as: sailor)
        == [Refusal("NOT_FOUND", "input", "avatarPhotoId")])
    try server.mutate(update, ["photo: ID": nil], as: sailor)
    #expect(
      try server.data(query, ["id": sailor.json], as: other) == ["user": ["avatar": nil]])
  }

  @Test func `SP-P03: a refused photo vanishes and is not attached, a pending one is its owner's`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, other) = (try data.person(), try data.person())
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let place = try data.location("Pier")
    let photos = try (0..<2).map { _ in JSONValue.string(try server.uploadPhoto(as: owner)) }
    let post = try server.make(
      "createPhotoPost(input: {photoIds: $photos, location: {id: $place}})", "photoPost",
      ["photos: [ID!]!": .array(photos), "place: ID!": place.json], as: owner)
    let moderate = "moderatePhoto(photoId: $id, state: $state)"
    func decide(_ state: JSONValue) throws {
      let payload = try server.mutate(
        moderate, "photo { id moderation }",
        ["id: ID!": photos[0], "state: ModerationState!": state], as: staff)
      #expect(payload["photo"] == ["id": photos[0], "moderation": state])
    }
    func seen(by person: Person?) throws -> [JSONValue] {
      try server.data(
        "query($id: ID!) { post(id: $id) { photos { id } } }", ["id": post.json], as: person
      ).list("post.photos", "id")
    }
    try decide("PENDING")
    #expect(try seen(by: owner) == photos)
    #expect(try seen(by: staff) == photos)
    for person in [other, nil] { #expect(try seen(by: person) == [photos[1]]) }
    try decide("REJECTED")
    for person in [owner, other, nil] { #expect(try seen(by: person) == [photos[1]]) }
    #expect(
      try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": photos[0]], as: owner)
        == ["node": nil])
    #expect(
      try server.refusals(
        "createPhotoPost(input: {photoIds: $photos, location: {id: $place}})",
        ["photos: [ID!]!": .array(photos), "place: ID!": place.json], as: owner)
        == [Refusal("REJECTED_PHOTO", "input", "photoIds", "0")])
    #expect(
      try server.refusals(
        "updateProfile(input: {avatarPhotoId: $photo})", ["photo: ID": photos[0]], as: owner)
        == [Refusal("REJECTED_PHOTO", "input", "avatarPhotoId")])
    for person in [owner, other] {
      #expect(
        try server.refusals(
          moderate, ["id: ID!": photos[0], "state: ModerationState!": "APPROVED"], as: person)
          == [Refusal("FORBIDDEN")])
    }
    try decide("APPROVED")
    #expect(try seen(by: other) == photos)
  }

  @Test func `PK-POST.e: an announcement has its photos, in their order, for everyone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader) = (try data.person(), try data.person())
    let photos = try (0..<3).map { _ in JSONValue.string(try server.uploadPhoto(as: author)) }
    let create = "createAnnouncement(input: {body: \"Open day\", photoIds: $photos})"
    let made = try server.make(
      create, "announcement", ["photos: [ID!]": .array(photos.reversed())], as: author)
    let query = "query($id: ID!) { post(id: $id) { body visibility photos { id url } } }"
    for person in [author, reader, nil] {
      let seen = try server.data(query, ["id": made.json], as: person)
      #expect(seen.at("post.visibility") == "PUBLIC")
      #expect(seen.list("post.photos", "id") == photos.reversed())
    }
    #expect(
      try server.refusals(
        create, ["photos: [ID!]": [photos[0], photos[0], "no photo"]], as: author) == [
          Refusal("INVALID", "input", "photoIds", "1"),
          Refusal("NOT_FOUND", "input", "photoIds", "2"),
        ])
    #expect(
      try server.refusals(create, ["photos: [ID!]": [photos[0]]], as: reader)
        == [Refusal("NOT_FOUND", "input", "photoIds", "0")])
  }
}
