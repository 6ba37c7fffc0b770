/// Places, pictures, programs, and what people record and write.
extension Noun {
  static let things = [
    Noun(
      name: "Location", type: "Location",
      create: Act(
        "createLocation(input: {name: $third, coordinates: {latitude: -73, longitude: 3}})",
        keeping: "location.id", as: "id"),
      list: (
        """
        { locations(filter: {near: {center: {latitude: -73, longitude: 3}, radiusMeters: 10}},
          orderBy: NEAREST, last: 100) { nodes { id } } }
        """, "locations.nodes"
      ),
      changes: [
        Change("updateLocation(locationId: $id, input: {name: \"b\"})", "name", ["name": "b"]),
        Change(
          "updateLocation(locationId: $id, input: {placeType: SHOP, gmapsId: $third})",
          "placeType gmapsId", ["placeType": "SHOP", "gmapsId": "$third"]),
        Change(
          "updateLocation(locationId: $id, input: {parentId: $city})", "ancestors { id }",
          ["ancestors": [["id": "$city"]]]),
        Change(
          "updateLocation(locationId: $id, input: {placeType: null, gmapsId: null, parentId: null})",
          "name placeType gmapsId parent { id }",
          ["name": "b", "placeType": nil, "gmapsId": nil, "parent": nil]),
      ], delete: Act("deleteLocation(locationId: $id)")),
    Noun(
      name: "Product", type: "Product",
      create: Act(
        "upsertProduct(input: {\(retailed)})", by: .staff, keeping: "product.id", as: "id"),
      list: ("{ products(retailer: $third) { nodes { id } } }", "products.nodes"),
      pairs: [
        Pair(
          "upsertProduct(input: {\(retailed), isAvailable: false})",
          "upsertProduct(input: {\(retailed), isAvailable: true})", "isAvailable",
          ["isAvailable": false], ["isAvailable": true], by: .staff)
      ]),
    Noun(
      name: "Photo", type: "Photo",
      create: Act("createPhoto(input: {url: $upload})", keeping: "photo.id", as: "id"),
      list: ("{ viewer { photos { nodes { id } } } }", "viewer.photos.nodes"),
      changes: [
        Change(
          "updatePhoto(photoId: $id, input: {altText: \"A boat\"})", "altText",
          ["altText": "A boat"]),
        Change("updatePhoto(photoId: $id, input: {altText: null})", "altText", ["altText": nil]),
      ], delete: Act("deletePhoto(photoId: $id)")),
    Noun(
      name: "Program", type: "Program",
      create: Act(
        """
        createProgram(input: {title: "a", training: GROUP, durationMinutes: 30, \
        trainerIds: [$trainer]})
        """, by: .staff, keeping: "program.id", as: "id"),
      changes: [
        Change(
          "updateProgram(programId: $id, input: {title: \"b\", training: SPORTS})",
          "title training durationMinutes",
          ["title": "b", "training": "SPORTS", "durationMinutes": 30], by: .staff),
        Change(
          "updateProgram(programId: $id, input: {locationId: $place, description: \"d\"})",
          "location { id } description", ["location": ["id": "$place"], "description": "d"],
          by: .staff),
        Change(
          "updateProgram(programId: $id, input: {locationId: null, description: null})",
          "location { id } description title", ["location": nil, "description": "", "title": "b"],
          by: .staff),
      ],
      pairs: [
        Pair(
          "updateProgram(programId: $id, input: {isArchived: true})",
          "updateProgram(programId: $id, input: {isArchived: false})", "isArchived",
          ["isArchived": true], ["isArchived": false], by: .staff)
      ]),
    Noun(
      name: "ActivityTrack", type: "ActivityTrack",
      create: Act(
        """
        createActivityTrack(input: {title: "a", startedAt: "2026-01-01T10:00:00Z", \
        endedAt: "2026-01-01T11:00:00Z", path: []})
        """, keeping: "activityTrack.id", as: "id"),
      list: ("{ viewer { activityTracks { nodes { id } } } }", "viewer.activityTracks.nodes"),
      changes: [
        Change(
          "updateActivityTrack(activityTrackId: $id, input: {title: \"b\"})", "title",
          ["title": "b"])
      ], delete: Act("deleteActivityTrack(activityTrackId: $id)")),
    Noun(
      name: "Conversation", type: "Conversation",
      create: Act(
        "sendMessage(to: {userIds: [$other]}, body: \"a\")", keeping: "message.conversation.id",
        as: "id"),
      list: ("{ viewer { conversations { nodes { id } } } }", "viewer.conversations.nodes"),
      pairs: [
        Pair(
          "setConversationMuted(conversationId: $id, isMuted: true)",
          "setConversationMuted(conversationId: $id, isMuted: false)", "viewerHasMuted",
          ["viewerHasMuted": true], ["viewerHasMuted": false])
      ]),
    Noun(
      name: "Message", type: "Message",
      create: Act(
        "sendMessage(to: {userIds: [$other]}, body: \"a\")", keeping: "message.id", as: "id"),
      delete: Act("deleteMessage(messageId: $id)")),
  ]

  private static let retailed =
    "retailer: $third, externalId: \"1\", name: \"N\", brand: \"B\", buyUrl: \"https://shop.example/n\""
}
