import JSON
import TestSupport
import Testing

/// What any client of a graph server writes, whatever the application.
@Suite(.usesCluster) struct PlatformWritingTests {
  @Test func `PLAT-4: blocking makes two people absent from each other, until it is taken back`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben, cat) = (try data.person("ann"), try data.person("ben"), try data.person("cat"))
    for (one, other) in [(ann, ben), (ben, ann), (cat, ben)] {
      try server.mutate("followUsers(userIds: [$id])", ["id: ID!": other.json], as: one)
    }
    let post = try server.make("createTextPost(input: {body: \"Hi\"})", "textPost", as: ben)
    let message = """
      sendMessage(to: {userIds: [$id]}, body: "Hello")
      """
    try server.mutate(message, ["id: ID!": ben.json], as: ann)

    let state = "users { id displayName viewerIsBlocking viewerIsFollowing }"
    try data.run("UPDATE app_user SET bio = 'Sails.' WHERE id = $1", [ben])
    for _ in 0..<2 {
      // The person's name is still there for who blocks, nothing else (decision 11).
      #expect(
        try server.mutate(
          "blockUser(userId: $id)",
          "users { id displayName viewerIsBlocking viewerIsFollowing bio }", ["id: ID!": ben.json],
          as: ann)["users"]
          == [
            [
              "id": ben.json, "displayName": .string(ben.username), "viewerIsBlocking": true,
              "viewerIsFollowing": false, "bio": "",
            ]
          ])
    }
    let seen = "query($id: ID!) { user(by: {id: $id}) { id } }"
    #expect(try server.data(seen, ["id": ben.json], as: ann) == ["user": nil])
    #expect(try server.data(seen, ["id": ann.json], as: ben) == ["user": nil])
    #expect(try server.data(seen, ["id": ben.json], as: cat) == ["user": ["id": ben.json]])
    #expect(try !server.finds(post, as: ann))
    #expect(try server.finds(post, as: cat))
    #expect(
      try server.data(
        "{ viewer { blockedUsers { nodes { username viewerIsBlocking } } } }", as: ann)
        == [
          "viewer": [
            "blockedUsers": [
              "nodes": [["username": .string(ben.username), "viewerIsBlocking": true]]
            ]
          ]
        ])
    #expect(
      try server.data("{ viewer { blockedUsers { totalCount } } }", as: ben)
        == ["viewer": ["blockedUsers": ["totalCount": 0]]])
    for person in [ann, ben] {
      #expect(
        try server.data(
          "{ viewer { user { following { totalCount } } feed { totalCount } } }", as: person
        ).at("viewer.user.following.totalCount") == 0)
    }
    // No follows, messages, tags and invitations between the two. Who blocked knows.
    for (field, path) in [
      ("followUsers(userIds: [$id])", ["userIds", "0"]),
      (
        "createThankYou(input: {body: \"x\", taggedUserIds: [$id]})",
        ["input", "taggedUserIds", "0"]
      ),
      (
        "createEvent(input: {title: \"x\", startsAt: \"2100-01-01T10:00:00Z\", inviteUserIds: [$id]})",
        ["input", "inviteUserIds", "0"]
      ),
      ("createCircle(input: {name: \"x\", memberIds: [$id]})", ["input", "memberIds", "0"]),
    ] {
      for (person, other, code) in [(ann, ben, "BLOCKED"), (ben, ann, "NOT_FOUND")] {
        let refusals = try server.refusals(field, ["id: ID!": other.json], as: person)
        #expect(refusals.map(\.code) == [code], "\(field)")
        #expect(refusals.first?.path == path, "\(field)")
      }
    }
    #expect(
      try server.refusals(message, ["id: ID!": ben.json], as: ann).map(\.code) == ["BLOCKED"])
    #expect(try server.refusals(message, ["id: ID!": ann.json], as: ben).map(\.code) == ["CLOSED"])
    for refused in ["blockUser", "unblockUser"] {
      #expect(
        try server.refusals("\(refused)(userId: $id)", ["id: ID!": ann.json], as: ann)
          == [Refusal("INVALID", "userId")])
      #expect(
        try server.refusals("\(refused)(userId: \"no id\")", as: ann)
          == [Refusal("NOT_FOUND", "userId")])
    }

    for _ in 0..<2 {
      #expect(
        try server.mutate("unblockUser(userId: $id)", state, ["id: ID!": ben.json], as: ann)[
          "users"]
          == [
            [
              "id": ben.json, "displayName": .string(ben.username), "viewerIsBlocking": false,
              "viewerIsFollowing": false,
            ]
          ])
    }
    #expect(try server.data(seen, ["id": ann.json], as: ben) == ["user": ["id": ann.json]])
    #expect(try server.finds(post, as: ann))
    #expect(try server.refusals(message, ["id: ID!": ann.json], as: ben) == [])
  }

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

  @Test func `PLAT-9: the workload reads and writes through the one API`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend) = (try data.person(), try data.person())
    try data.run("UPDATE app_user SET address = 'Street 1' WHERE id = $1", [viewer])
    let place = try data.location("Pier", latitude: 60, longitude: 5)
    let group = try data.circle("Group", owner: viewer, members: [friend])
    let outfit = try data.post(.outfit, by: friend, location: place)
    let offer = try data.offer(by: friend, "Owls", limit: 1)
    let trainer = try data.person(roles: ["MEMBER", "TRAINER"])
    let program = try data.program("Yoga", trainers: [trainer])
    let session = try data.classSession(
      program, by: trainer, at: "2100-01-01 10:00Z")

    let writes: [(document: String, variables: JSONValue, path: String, value: JSONValue)] = [
      (
        """
        mutation CastVote($postId: ID!, $choice: VoteChoice!) {
          castVote(postId: $postId, choice: $choice) {
            post { id viewerVote verdict { text wearItCount changeItCount leading } }
            userErrors { code message field } } }
        """, ["postId": outfit.json, "choice": "WEAR_IT"],
        "castVote.post.verdict.wearItCount", 1
      ),
      (
        """
        mutation RespondToOffer($offerId: ID!) {
          respondToOffer(offerId: $offerId) {
            cardOffer { id isOpen responseCount responseLimit viewerActions
              viewerFollowUp { id state } }
            userErrors { code message field } } }
        """, ["offerId": offer.json], "respondToOffer.cardOffer.viewerFollowUp.state", "OPEN"
      ),
      (
        """
        mutation TopAPlace($subjectId: ID!) {
          react(subjectId: $subjectId, kind: TOP) {
            subject { id reactionCount(kind: TOP) viewerReactions }
            ... on Payload { userErrors { code message } } } }
        """, ["subjectId": place.json], "react.subject.viewerReactions", ["TOP"]
      ),
      (
        """
        mutation CreatePrivateEvent($input: CreateEventInput!) {
          createEvent(input: $input) {
            event { id title startsAt visibility location { id name }
              attendees(status: null, first: 0) { totalCount } }
            userErrors { code message field } } }
        """,
        [
          "input": [
            "title": "Study group", "startsAt": "2100-05-01T18:30:00Z", "visibility": "INVITED",
            "location": [
              "new": [
                "name": "Library", "coordinates": ["latitude": 44.46, "longitude": -93.15],
              ]
            ], "inviteCircleIds": [group.json], "inviteUserIds": [trainer.json],
          ]
        ], "createEvent.event.visibility", "INVITED"
      ),
      (
        """
        mutation BookSession($sessionId: ID!) {
          bookSession(sessionId: $sessionId) {
            booking { id cancelledAt session { id title startsAt endsAt seatsLeft
              trainer { displayName } location { name } } }
            userErrors { code message field } } }
        """, ["sessionId": session.json], "bookSession.booking.session.seatsLeft", 0
      ),
    ]
    for (document, variables, path, value) in writes {
      let done = try server.data(document, variables, as: viewer)
      #expect(done.at(path) == value, "\(done)")
      #expect(
        done.at(String(path.prefix { $0 != "." }) + ".userErrors") == [], "\(done)")
    }
    // The event reached who was invited by name or by circle, and nobody else.
    for person in [friend, trainer] {
      #expect(try server.told(person).contains("EVENT_INVITED"))
    }
    let read = try server.data(
      """
      query($user: ID!, $post: ID!, $place: ID!) {
        user(by: {id: $user}) { id posts { totalCount } }
        post(id: $post) { ... on OutfitPost { viewerVote } }
        location(by: {id: $place}) { reactionCount viewerReactions }
        locations(filter: {near: {center: {latitude: 60, longitude: 5}, radius: 10}}) { nodes { id } } }
      """, ["user": friend.json, "post": outfit.json, "place": place.json], as: viewer)
    #expect(read.at("post.viewerVote") == "WEAR_IT")
    #expect(read.at("location") == ["reactionCount": 1, "viewerReactions": ["TOP"]])
    #expect(read.list("locations.nodes", "id").contains(place.json))
    #expect(
      try server.mutationErrorCodes(
        "react(subjectId: $id, kind: TOP)", ["id: ID!": place.json], as: nil)
        == ["UNAUTHENTICATED"])
  }
}
