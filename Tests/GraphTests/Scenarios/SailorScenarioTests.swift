import JSON
import TestSupport
import Testing

/// Sailor+ from its first day on: staff draw the world on an empty database, and sailors go about,
/// post photos of places, top and review them, and talk.
@Suite(.usesCluster) struct SailorScenarioTests {
  @Test func `the world is drawn, and sailors go about in it`() throws {
    let server = try GraphServer.new()
    defer { server.stop() }
    let world = try draw(server)
    let sailors = try join(server, world)
    let places = try discover(server, world, sailors)
    let posts = try post(server, sailors, places)
    try top(server, world, sailors, places, posts)
    try choose(server, world, sailors, places)
    try follow(server, sailors, places, posts)
    try review(server, world, sailors, places)
    try talk(server, sailors, posts)
    try scroll(server, sailors, places)
    try moderate(server, world, sailors, posts)
  }

  private struct World {
    var staff: Person
    var ireland: NodeKey
    var munster: NodeKey
    var cork: NodeKey
    var france: NodeKey
  }

  private struct Sailors {
    var ann: Person
    var bo: Person
    var cy: Person
  }

  private struct Places {
    var pier: NodeKey
    var strand: NodeKey
    var louvre: NodeKey
  }

  private struct Posts {
    var pier: NodeKey
    var strand: NodeKey
    var louvre: NodeKey
  }

  /// Uploads a picture and returns its photo.
  private func photo(_ server: GraphServer, by person: Person) throws -> JSONValue {
    try .string(server.uploadPhoto(as: person))
  }

  /// The operator names the first of the staff, who add what is larger than a place.
  private func draw(_ server: GraphServer) throws -> World {
    let staff = try server.signUp("admiral")
    try server.data().run("UPDATE app_user SET roles = '{MEMBER,STAFF}' WHERE id = \(staff.key)")
    func part(_ name: JSONValue, _ level: JSONValue, of parent: NodeKey? = nil) throws -> NodeKey {
      try server.make(
        "createLocation(input: $input)", "location",
        [
          "input: CreateLocationInput!": [
            "name": name, "level": level, "parentId": parent?.json ?? .null,
          ]
        ], as: staff)
    }
    let ireland = try part("Ireland", "COUNTRY")
    let munster = try part("Munster", "REGION", of: ireland)
    return World(
      staff: staff, ireland: ireland, munster: munster,
      cork: try part("Cork", "CITY", of: munster), france: try part("France", "COUNTRY"))
  }

  /// Three people sign up; one logs out and in again; all give themselves a face and a home.
  private func join(_ server: GraphServer, _ world: World) throws -> Sailors {
    #expect(
      try server.data("{ locations(filter: {levels: [PLACE]}) { totalCount } }")
        == ["locations": ["totalCount": 0]])
    let first = try server.signUp("ann", ", displayName: \"Ann\"")
    try server.mutate("signOut", as: first)
    #expect(try server.errorCodes("{ viewer { email } }", as: first) == ["UNAUTHENTICATED"])
    let ann = try GraphServer.person(
      server.mutate(
        "signIn(username: $name, password: \"correct horse\")",
        "token viewer { user { id } }", ["name: String!": .string(first.username)],
        as: nil), username: first.username)
    let sailors = Sailors(
      ann: ann, bo: try server.signUp("bo", ", displayName: \"Bo\""),
      cy: try server.signUp("cy", ", displayName: \"Cy\""))
    let face = try photo(server, by: ann)
    let payload = try server.mutate(
      "updateProfile(input: {avatarPhotoId: $face, homeLocationId: $home})",
      "viewer { user { avatar { id } home { name } } }",
      ["face: ID!": face, "home: ID!": world.cork.json], as: ann)
    #expect(payload.at("viewer.user") == ["avatar": ["id": face], "home": ["name": "Cork"]])
    let seen = try server.data(
      "query($id: ID!) { user(by: {id: $id}) { avatar { url(shape: SQUARE) } home { name } } }",
      ["id": ann.json], as: sailors.bo)
    #expect(seen.at("user.avatar.url")?.string?.isEmpty == false)
    // Nobody wears somebody else's face.
    #expect(
      try server.refusals(
        "updateProfile(input: {avatarPhotoId: $face})", ["face: ID!": face], as: sailors.bo)
        == [Refusal("NOT_FOUND", "input", "avatarPhotoId")])
    return sailors
  }

  /// Places are added with their ids at Google Maps, and each is there once.
  private func discover(_ server: GraphServer, _ world: World, _ sailors: Sailors) throws -> Places
  {
    func add(
      _ name: JSONValue, _ type: JSONValue, _ maps: JSONValue, _ latitude: JSONValue,
      _ longitude: JSONValue, in parent: NodeKey, by person: Person
    ) throws -> NodeKey {
      try server.make(
        "createLocation(input: $input)", "location",
        [
          "input: CreateLocationInput!": [
            "name": name, "placeType": type, "gmapsId": maps, "parentId": parent.json,
            "coordinates": ["latitude": latitude, "longitude": longitude],
          ]
        ], as: person)
    }
    let pier = try add(
      "Pier", "ATTRACTION", "maps-pier", 51.85, -8.3, in: world.cork, by: sailors.ann)
    #expect(
      try add("The pier", "OTHER", "maps-pier", 0, 0, in: world.france, by: sailors.bo) == pier)
    let places = Places(
      pier: pier,
      strand: try add(
        "Strand", "BEACH", "maps-strand", 52.1, -9.9, in: world.munster, by: sailors.bo),
      louvre: try add(
        "Louvre", "MUSEUM", "maps-louvre", 48.86, 2.34, in: world.france, by: sailors.cy))
    let found = try server.data(
      "{ location(by: {gmapsId: \"maps-pier\"}) { name placeType ancestors { name } } }")
    #expect(
      found["location"] == [
        "name": "Pier", "placeType": "ATTRACTION",
        "ancestors": [["name": "Ireland"], ["name": "Munster"], ["name": "Cork"]],
      ])
    return places
  }

  /// Photos, at a place by its id, by its id at Google Maps, and at a new one that is known.
  private func post(_ server: GraphServer, _ sailors: Sailors, _ places: Places) throws -> Posts {
    func post(_ body: JSONValue, at place: JSONValue, by person: Person) throws -> NodeKey {
      try server.make(
        "createPhotoPost(input: $input)", "photoPost",
        [
          "input: CreatePhotoPostInput!": [
            "body": body, "location": place,
            "photoIds": [try photo(server, by: person), try photo(server, by: person)],
          ]
        ], as: person)
    }
    let posts = Posts(
      pier: try post("Gulls", at: ["id": places.pier.json], by: sailors.bo),
      strand: try post("Surf", at: ["gmapsId": "maps-strand"], by: sailors.bo),
      louvre: try post(
        "Stairs",
        at: [
          "new": [
            "name": "Museum", "gmapsId": "maps-louvre",
            "coordinates": ["latitude": 1, "longitude": 1],
          ]
        ], by: sailors.cy))
    let seen = try server.data(
      """
      query($id: ID!) { post(id: $id) { body photos { url url2: url(shape: SQUARE) }
        location { id name } author { displayName } } }
      """, ["id": posts.louvre.json])
    #expect(seen.at("post.location") == ["id": places.louvre.json, "name": "Louvre"])
    #expect(seen.at("post.photos")?.array?.count == 2)
    let create = "createPhotoPost(input: $input)"
    let theirs = try photo(server, by: sailors.cy)
    for (place, photos, refusal) in [
      (["gmapsId": "maps-nowhere"], [theirs], Refusal("NOT_FOUND", "input", "location", "gmapsId")),
      (["id": places.pier.json], [], Refusal("REQUIRED", "input", "photoIds")),
    ] as [(JSONValue, JSONValue, Refusal)] {
      #expect(
        try server.refusals(
          create,
          ["input: CreatePhotoPostInput!": ["location": place, "photoIds": photos]], as: sailors.cy)
          == [refusal])
    }
    #expect(
      try server.refusals(
        create,
        [
          "input: CreatePhotoPostInput!": [
            "location": ["id": places.pier.json], "photoIds": [theirs],
          ]
        ], as: sailors.ann) == [Refusal("NOT_FOUND", "input", "photoIds", "0")])
    return posts
  }

  private static let map = """
    query($filter: LocationFilter, $order: LocationOrder! = POPULAR) {
      locations(filter: $filter, orderBy: $order, first: 20) {
        totalCount edges { distanceMeters node { name popularity coordinates { latitude } } } } }
    """

  private func names(
    _ server: GraphServer, _ filter: JSONValue, order: JSONValue = "POPULAR", as person: Person?
  ) throws -> [String] {
    try server.data(Self.map, ["filter": filter, "order": order], as: person)
      .strings("locations.edges", "node.name")
  }

  /// Tops make places and posts rise; the map shows the twenty most popular.
  private func top(
    _ server: GraphServer, _ world: World, _ sailors: Sailors, _ places: Places, _ posts: Posts
  ) throws {
    func top(_ id: NodeKey, _ people: Person...) throws {
      for person in people {
        try server.mutate("react(subjectId: $id, kind: TOP)", ["id: ID!": id.json], as: person)
      }
    }
    try top(places.strand, sailors.ann, sailors.cy)
    try top(posts.strand, sailors.ann, sailors.cy)
    try top(posts.louvre, sailors.ann, sailors.bo)
    try top(places.pier, sailors.ann)
    try server.mutate(
      "unreact(subjectId: $id, kind: TOP)", ["id: ID!": places.pier.json], as: sailors.ann)
    try server.data().rank()
    let map = try server.data(Self.map, ["filter": ["levels": ["PLACE"]], "order": "POPULAR"])
    #expect(map.strings("locations.edges", "node.name") == ["Strand", "Louvre", "Pier"])
    #expect(map.list("locations.edges", "node.popularity") == [4, 2, 0])
    for number in 0..<20 {
      _ = try server.make(
        "createLocation(input: $input)", "location",
        [
          "input: CreateLocationInput!": [
            "name": .string("Buoy \(number)"), "placeType": "OTHER",
            "coordinates": ["latitude": -40, "longitude": .number("\(number)")],
          ]
        ], as: sailors.cy)
    }
    try server.data().rank()
    let twenty = try names(server, ["levels": ["PLACE"]], as: nil)
    #expect(twenty.count == 20)
    #expect(Array(twenty.prefix(3)) == ["Strand", "Louvre", "Buoy 19"])
    let one = try server.data(
      """
      query($id: ID!) { post(id: $id) { viewerReactions reactionCount(kind: TOP)
        reactions(kind: TOP) { nodes { displayName } } } }
      """, ["id": posts.strand.json], as: sailors.ann)
    #expect(
      one["post"] == [
        "viewerReactions": ["TOP"], "reactionCount": 2,
        "reactions": ["nodes": [["displayName": "Cy"], ["displayName": "Ann"]]],
      ])
  }

  /// By distance, country, region and type.
  private func choose(
    _ server: GraphServer, _ world: World, _ sailors: Sailors, _ places: Places
  ) throws {
    let cork: JSONValue = [
      "center": ["latitude": 51.9, "longitude": -8.47], "radiusMeters": 200_000,
    ]
    let near = try server.data(
      Self.map, ["filter": ["near": cork, "levels": ["PLACE"]], "order": "NEAREST"])
    #expect(near.strings("locations.edges", "node.name") == ["Pier", "Strand"])
    let metres = near.list("locations.edges", "distanceMeters").map { $0.double ?? 0 }
    #expect((12_000...14_000).contains(metres.first ?? 0))
    #expect((98_000...102_000).contains(metres.last ?? 0))
    #expect(
      try names(server, ["withinId": world.ireland.json, "levels": ["PLACE"]], as: nil)
        == ["Strand", "Pier"])
    #expect(
      try names(server, ["withinId": world.cork.json, "levels": ["PLACE"]], as: nil) == ["Pier"])
    #expect(
      try names(server, ["withinId": world.munster.json, "placeTypes": ["BEACH"]], as: nil)
        == ["Strand"])
    #expect(
      try names(server, ["placeTypes": ["MUSEUM", "BEACH"]], as: nil) == ["Strand", "Louvre"])
    #expect(try names(server, ["search": "lou"], as: nil) == ["Louvre"])
  }

  /// Ann follows Bo, and Bo follows Cy: friends' places, the feed, the feed of tops, what is
  /// recommended.
  private func follow(
    _ server: GraphServer, _ sailors: Sailors, _ places: Places, _ posts: Posts
  ) throws {
    let visited: JSONValue = ["visitedBy": "FOLLOWING"]
    #expect(try names(server, visited, as: sailors.ann) == [])
    for (follower, followee) in [(sailors.ann, sailors.bo), (sailors.bo, sailors.cy)] {
      try server.mutate("followUsers(userIds: [$id])", ["id: ID!": followee.json], as: follower)
    }
    #expect(try names(server, visited, as: sailors.ann) == ["Strand", "Pier"])
    let feeds = """
      { viewer {
        feed(source: PEOPLE, kinds: [PHOTO]) { nodes { body location { name } } }
        reactedFeed { nodes { body reactions(kind: TOP, by: FOLLOWING) { nodes { displayName } } } }
        user { followers { nodes { displayName } } following { nodes { displayName } }
          posts { nodes { body photos { url(shape: SQUARE) } } } } } }
      """
    let ann = try server.data(feeds, as: sailors.ann)
    #expect(
      ann.at("viewer.feed.nodes") == [
        ["body": "Surf", "location": ["name": "Strand"]],
        ["body": "Gulls", "location": ["name": "Pier"]],
      ])
    #expect(
      ann.at("viewer.reactedFeed.nodes")
        == [["body": "Stairs", "reactions": ["nodes": [["displayName": "Bo"]]]]])
    #expect(ann.at("viewer.user.following.nodes") == [["displayName": "Bo"]])
    let bo = try server.data(feeds, as: sailors.bo)
    #expect(bo.at("viewer.user.followers.nodes") == [["displayName": "Ann"]])
    #expect(bo.strings("viewer.user.posts.nodes", "body") == ["Surf", "Gulls"])
    #expect(bo.at("viewer.user.posts.nodes.0.photos")?.array?.count == 2)
    // Cy, whom Bo follows, topped the Strand; Ann was not there.
    #expect(try names(server, ["isRecommended": true], as: sailors.ann) == ["Strand"])
    #expect(try names(server, ["isRecommended": true], as: sailors.bo) == [])
    let other = try server.data(
      """
      query($id: ID!) { user(by: {id: $id}) { followers { nodes { displayName viewerIsFollowing } }
        following { totalCount } posts { nodes { body } } } }
      """, ["id": sailors.cy.json], as: sailors.ann)
    #expect(
      other["user"] == [
        "followers": ["nodes": [["displayName": "Bo", "viewerIsFollowing": true]]],
        "following": ["totalCount": 0], "posts": ["nodes": [["body": "Stairs"]]],
      ])
    try server.mutate(
      "unfollowUsers(userIds: [$id])", ["id: ID!": sailors.bo.json], as: sailors.ann)
    #expect(try names(server, visited, as: sailors.ann) == [])
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": sailors.bo.json], as: sailors.ann)
    #expect(try pecks(server, of: sailors.bo) == ["FOLLOWED", "REACTED", "REACTED"])
  }

  private func pecks(_ server: GraphServer, of person: Person) throws -> [String] {
    try server.data("{ viewer { notifications(first: 100) { nodes { reason } } } }", as: person)
      .strings("viewer.notifications.nodes", "reason")
  }

  /// Places are reviewed, and found by the number of reviews.
  private func review(
    _ server: GraphServer, _ world: World, _ sailors: Sailors, _ places: Places
  ) throws {
    for (place, person) in [
      (places.pier, sailors.ann), (places.pier, sailors.bo), (places.strand, sailors.cy),
    ] {
      try server.mutate(
        "addComment(subjectId: $id, body: \"Windy\")", ["id: ID!": place.json], as: person)
    }
    try server.data().rank()
    let most: JSONValue = "MOST_REVIEWED"
    #expect(try names(server, ["minReviews": 1], order: most, as: nil) == ["Pier", "Strand"])
    #expect(try names(server, ["minReviews": 2], order: most, as: nil) == ["Pier"])
    let page = try server.data(
      """
      query($id: ID!) { location(by: {id: $id}) { commentCount postCount
        comments { nodes { author { displayName } body } }
        posts(kinds: [PHOTO], orderBy: TOP) { nodes { body reactionCount(kind: TOP) } }
        visitors { nodes { displayName } } } }
      """, ["id": places.pier.json], as: sailors.cy)
    #expect(
      page["location"] == [
        "commentCount": 2, "postCount": 1,
        "comments": [
          "nodes": [
            ["author": ["displayName": "Ann"], "body": "Windy"],
            ["author": ["displayName": "Bo"], "body": "Windy"],
          ]
        ],
        "posts": ["nodes": [["body": "Gulls", "reactionCount": 0]]],
        "visitors": ["nodes": [["displayName": "Bo"]]],
      ])
  }

  /// Comments on a post, and sends direct messages, until one of the people blocks the other.
  private func talk(_ server: GraphServer, _ sailors: Sailors, _ posts: Posts) throws {
    let comment = try server.make(
      "addComment(subjectId: $id, body: \"Nice gulls\")", "comment", ["id: ID!": posts.pier.json],
      as: sailors.cy)
    #expect(try pecks(server, of: sailors.bo).first == "COMMENTED")
    #expect(
      try server.refusals(
        "deleteComment(commentId: $id)", ["id: ID!": comment.json], as: sailors.ann)
        == [Refusal("FORBIDDEN", "commentId")])
    try server.mutate("deleteComment(commentId: $id)", ["id: ID!": comment.json], as: sailors.bo)
    #expect(try pecks(server, of: sailors.bo).first != "COMMENTED")
    let write = "sendMessage(to: {userIds: [$to]}, body: $body)"
    for body in ["Ahoy", "Sailing on Sunday?"] as [JSONValue] {
      try server.mutate(
        write, ["to: ID!": sailors.bo.json, "body: String!": body], as: sailors.cy)
    }
    let inbox =
      "{ viewer { conversations { nodes { id unreadCount messages(last: 1) { nodes { body } } } } } }"
    let seen = try server.data(inbox, as: sailors.bo)
    #expect(seen.list("viewer.conversations.nodes", "unreadCount") == [2])
    #expect(
      seen.at("viewer.conversations.nodes.0.messages.nodes") == [["body": "Sailing on Sunday?"]])
    #expect(try server.data(inbox, as: sailors.ann).at("viewer.conversations.nodes") == [])
    try server.mutate(
      "markConversationRead(conversationId: $id)",
      ["id: ID!": seen.at("viewer.conversations.nodes.0.id") ?? .null], as: sailors.bo)
    #expect(
      try server.data(inbox, as: sailors.bo).list("viewer.conversations.nodes", "unreadCount")
        == [0])
    try server.mutate("blockUser(userId: $id)", ["id: ID!": sailors.cy.json], as: sailors.bo)
    #expect(
      try server.refusals(
        write, ["to: ID!": sailors.bo.json, "body: String!": "Well?"], as: sailors.cy)
        == [Refusal("CLOSED", "to", "userIds")])
    #expect(
      try server.data(
        "query($id: ID!) { post(id: $id) { id } }", ["id": posts.strand.json], as: sailors.cy)
        == ["post": nil])
    try server.mutate("unblockUser(userId: $id)", ["id: ID!": sailors.cy.json], as: sailors.bo)
  }

  /// A place's posts, to the end: what comes while one scrolls neither repeats nor hides any.
  private func scroll(_ server: GraphServer, _ sailors: Sailors, _ places: Places) throws {
    func post(_ number: Int) throws {
      _ = try server.make(
        "createPhotoPost(input: $input)", "photoPost",
        [
          "input: CreatePhotoPostInput!": [
            "body": .string("photo \(number)"), "location": ["id": places.louvre.json],
            "photoIds": [try photo(server, by: sailors.cy)],
          ]
        ], as: sailors.cy)
    }
    for number in 0..<7 { try post(number) }
    var (seen, after): ([String], JSONValue) = ([], .null)
    for page in 0..<10 {
      let found = try server.data(
        """
        query($id: ID!, $after: String) { location(by: {id: $id}) {
          posts(orderBy: NEWEST, first: 3, after: $after) {
            nodes { body } pageInfo { endCursor hasNextPage } } } }
        """, ["id": places.louvre.json, "after": after], as: sailors.ann)
      seen += found.strings("location.posts.nodes", "body")
      after = found.at("location.posts.pageInfo.endCursor") ?? .null
      if found.at("location.posts.pageInfo.hasNextPage") == false { break }
      try post(100 + page)
    }
    #expect(seen == (0..<7).reversed().map { "photo \($0)" } + ["Stairs"])
  }

  /// Edits a caption, refuses a photo, and deletes a post.
  private func moderate(
    _ server: GraphServer, _ world: World, _ sailors: Sailors, _ posts: Posts
  ) throws {
    let query = "query($id: ID!) { post(id: $id) { body photos { id } viewerActions } }"
    try server.mutate(
      "updatePhotoPost(photoPostId: $id, input: {body: \"Two gulls\"})",
      ["id: ID!": posts.pier.json], as: sailors.bo)
    try server.mutate(
      "flag(subjectId: $id, reason: NSFW)", ["id: ID!": posts.pier.json], as: sailors.ann)
    let seen = try server.data(query, ["id": posts.pier.json], as: sailors.ann)
    #expect(seen.at("post.body") == "Two gulls")
    #expect(seen.at("post.viewerActions")?.array?.contains("FLAG") == false)
    let photos = seen.list("post.photos", "id")
    try #require(photos.count == 2)
    let moderate = "moderatePhoto(photoId: $id, state: REJECTED)"
    #expect(
      try server.refusals(moderate, ["id: ID!": photos[0]], as: sailors.ann)
        == [Refusal("FORBIDDEN")])
    try server.mutate(moderate, ["id: ID!": photos[0]], as: world.staff)
    for person in [sailors.ann, sailors.bo, nil] {
      #expect(
        try server.data(query, ["id": posts.pier.json], as: person).list("post.photos", "id")
          == [photos[1]])
    }
    #expect(
      try server.refusals(
        "updatePhotoPost(photoPostId: $id, input: {photoIds: [$photo]})",
        ["id: ID!": posts.strand.json, "photo: ID!": photos[0]], as: sailors.bo)
        == [Refusal("REJECTED_PHOTO", "input", "photoIds", "0")])
    #expect(
      try server.refusals(
        "deletePost(postId: $id)", ["id: ID!": posts.strand.json], as: sailors.ann)
        == [Refusal("FORBIDDEN", "postId")])
    try server.mutate("deletePost(postId: $id)", ["id: ID!": posts.strand.json], as: sailors.bo)
    let left = try server.data(
      """
      query($id: ID!) { post(id: $id) { id }
        location(by: {gmapsId: "maps-strand"}) { popularity postCount } }
      """, ["id": posts.strand.json])
    #expect(left == ["post": nil, "location": ["popularity": 2, "postCount": 0]])
  }
}
