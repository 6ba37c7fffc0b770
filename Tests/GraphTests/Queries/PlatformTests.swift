import JSON
import TestSupport
import Testing

/// Requirements of every application: stable error codes, limits, and the whole workload.
@Suite(.usesCluster) struct PlatformTests {
  @Test func `PLAT-3: every error has a stable code`() throws {
    let server = try GraphServer.shared
    for (query, variables, code) in [
      ("{ viewer ", nil, "GRAPHQL_PARSE_FAILED"),
      ("{ vewer { email } }", nil, "GRAPHQL_VALIDATION_FAILED"),
      ("{ users(first: 101) { totalCount } }", nil, "BAD_USER_INPUT"),
      ("query($n: Int!) { users(first: $n) { totalCount } }", ["n": "x"], "BAD_USER_INPUT"),
      ("{ users(after: \"x\") { nodes { id } } }", nil, "BAD_USER_INPUT"),
      ("query A { __typename } query B { __typename }", nil, "OPERATION_RESOLUTION_FAILURE"),
    ] as [(String, JSONValue?, String)] {
      let response = try server.execute(query, variables)
      let errors = response["errors"]?.array ?? []
      #expect(errors.count == 1, "\(query)")
      #expect(errors.first?.at("extensions.code") == .string(code), "\(query)")
      #expect(errors.first?["message"]?.string?.isEmpty == false, "\(query)")
      #expect(response["data"] == nil, "\(query)")
    }
    let refused = try server.execute("{ viewer { email } }", token: "nobody's")
    #expect(refused.at("errors.0.extensions.code") == "UNAUTHENTICATED")
    // What a user causes has a code from a list and the path of the argument at fault.
    let types = try server.data(
      """
      { error: __type(name: "UserError") { fields { name type { kind ofType { kind name } } } }
        payload: __type(name: "Payload") { possibleTypes { fields { name } } }
        mutation: __type(name: "Mutation") { fields { type { name } } } }
      """)
    let fields = types.at("error.fields")?.array ?? []
    #expect(fields.map { $0["name"] } == ["code", "message", "field", "min", "max"])
    #expect(fields.first?.at("type.ofType") == ["kind": "ENUM", "name": "UserErrorCode"])
    #expect(fields.first { $0["name"] == "field" }?.at("type.kind") == "LIST")
    let payloads = types.at("payload.possibleTypes")?.array ?? []
    #expect(!payloads.isEmpty)
    #expect(
      payloads.allSatisfy { $0.strings("fields", "name").contains("userErrors") })
    let results = types.strings("mutation.fields", "type.name")
    #expect(results.allSatisfy { $0.hasSuffix("Payload") }, "\(results)")
  }

  @Test(arguments: [
    ("levels", "DEPTH_LIMIT_EXCEEDED", "20"), ("aliases", "ALIAS_LIMIT_EXCEEDED", "30"),
    ("root fields", "ROOT_FIELD_LIMIT_EXCEEDED", "20"),
    ("selections", "SELECTION_LIMIT_EXCEEDED", "5000"),
    ("introspection", "INTROSPECTION_DEPTH_LIMIT_EXCEEDED", "2"),
    ("elements", "COST_LIMIT_EXCEEDED", "200000"), ("page size", "BAD_USER_INPUT", "100"),
    ("ids", "BAD_USER_INPUT", "100"),
    ("nesting", "NESTING_LIMIT_EXCEEDED", "64"),
  ])
  func `PLAT-8: deep or huge queries are refused, and the error names the limit`(
    what: String, code: String, limit: String
  ) throws {
    let server = try GraphServer.shared
    let person = try server.data().person()
    /// As much as is allowed, and a little more.
    func query(_ excess: Int) -> String {
      func times(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined(separator: " ")
      }
      switch what {
      case "levels":
        // viewer { user { home { parent ... { name
        return "{ viewer { user { home " + times(16 + excess) { _ in "{ parent" } + " { name"
          + times(19 + excess) { _ in "}" } + " }"
      case "aliases": return "{ viewer { " + times(30 + excess) { "a\($0): email" } + " } }"
      case "root fields":
        return "{ " + times(20 + excess) { "a\($0): viewer { email }" } + " }"
      case "selections":
        // 49 * 102 + 2
        return "{ viewer { user { " + times(49 + excess) { _ in "...F" } + " } } } "
          + "fragment F on User { home { " + times(101) { _ in "name" } + " } }"
      case "introspection":
        return "{ __type(name: \"User\") " + times(2 + excess) { _ in "{ fields { type" }
          + " { name" + times(2 * (2 + excess) + 1) { _ in "}" } + " }"
      case "elements":
        // 100 + 100 * 100 + 100 * 100 * 18 + 100 * 99 people
        return "{ users(first: 100) { nodes { following(first: 99) { nodes { id } } "
          + "followers(first: 100) { nodes { followers(first: \(18 + excess)) { nodes { id } } } "
          + "} } } }"
      case "page size": return "{ viewer { feed(first: \(100 + excess)) { totalCount } } }"
      case "ids":
        return "{ nodes(ids: [" + times(100 + excess) { _ in "\"\(person.wire)\"" } + "]) { id } }"
      default: return times(64 + excess) { _ in "{ viewer" } + times(64 + excess) { _ in "}" }
      }
    }
    if what != "nesting" {
      #expect(try server.errorCodes(query(0), as: person) == [])
    }
    let response = try server.execute(query(1), as: person)
    #expect(response["data"] == nil)
    #expect(response.at("errors.0.extensions.code") == .string(code))
    let message = response.at("errors.0.message")?.string ?? ""
    #expect(message.contains(limit), "\(message)")
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
          respondToOffer(cardOfferId: $offerId) {
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
              attendees(first: 0) { totalCount } }
            userErrors { code message field } } }
        """,
        [
          "input": [
            "title": "Study group", "startsAt": "2100-05-01T18:30:00.000Z", "visibility": "INVITED",
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
          bookClassSession(classSessionId: $sessionId) {
            booking { id cancelledAt classSession { id title startsAt endsAt seatsLeft
              trainer { displayName } location { name } } }
            userErrors { code message field } } }
        """, ["sessionId": session.json], "bookClassSession.booking.classSession.seatsLeft", 0
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
        locations(filter: {near: {center: {latitude: 60, longitude: 5}, radiusMeters: 10}}) { nodes { id } } }
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
