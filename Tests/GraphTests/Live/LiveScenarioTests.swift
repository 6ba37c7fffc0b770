import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Live views of the five applications: each subscribes by a socket while others act.
  @Suite struct LiveScenarioTests {
    private static let pecks =
      "subscription { notificationAdded { reason actor { username } text } }"

    private static func changes(_ selection: String) -> String {
      "subscription($id: ID!) { nodeChanged(id: $id) { \(selection) } }"
    }

    @Test func `GTIO: the verdict moves as friends vote, and a peck says so`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let (cem, dan) = (try data.person(), try data.person())
      let outfit = try data.post(.outfit, by: ann)
      let (verdict, pecks) = (try server.socket(ann), try server.socket(ann))
      verdict.subscribe(
        "1", Self.changes("... on OutfitPost { verdict { wearItCount changeItCount leading } }"),
        ["id": outfit.json])
      pecks.subscribe("1", Self.pecks)
      try server.waitForHearing(2)
      for (person, choice) in [(bob, "WEAR_IT"), (cem, "WEAR_IT"), (dan, "CHANGE_IT")] {
        try server.graph.mutate(
          "castVote(postId: $id, choice: \(choice))", "__typename", ["id: ID!": outfit.json],
          as: person)
        // A change may be told together with the one before.
        let told = try verdict.data().at("nodeChanged.verdict")
        let now = try server.graph.data(
          "query($id: ID!) { node(id: $id) { ... on OutfitPost { verdict { wearItCount changeItCount leading } } } }",
          ["id": outfit.json], as: ann
        ).at("node.verdict")
        #expect(told == now)
      }
      #expect(try pecks.data().at("notificationAdded.reason") == "VOTED")
    }

    @Test func `Happy Mail: an offer closes under one's eyes, and who answered writes`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (
        try data.person("ann", ["address": "Road 1"]), try data.person("bob", ["address": "Road 2"])
      )
      let offer = try data.offer(by: ann, "A card", limit: 1)
      let (card, pecks, mail) = (
        try server.socket(ann), try server.socket(ann), try server.socket(ann)
      )
      card.subscribe(
        "1", Self.changes("... on CardOffer { isOpen responseCount }"), ["id": offer.json])
      pecks.subscribe("1", Self.pecks)
      mail.subscribe("1", "subscription { messageAdded { body author { username } } }")
      try server.waitForHearing(3)
      try server.graph.mutate(
        "respondToOffer(cardOfferId: $id)", "__typename", ["id: ID!": offer.json], as: bob)
      #expect(try card.data() == ["nodeChanged": ["isOpen": false, "responseCount": 1]])
      #expect(try pecks.data().at("notificationAdded.reason") == "OFFER_ANSWERED")
      try server.graph.mutate(
        "sendMessage(to: { userIds: $ids }, body: \"Thank you!\")", "__typename",
        ["ids: [ID!]!": [ann.json]], as: bob)
      let message = try mail.data()
      #expect(message.at("messageAdded.body") == "Thank you!")
      #expect(message.at("messageAdded.author.username")?.string == bob.username)
      #expect(try pecks.data().at("notificationAdded.reason") == "MESSAGED")
    }

    @Test func `Sailor+: friends' posts arrive, with their comments, and a place's tops count up`()
      throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      try data.follow(ann, bob)
      let place = try data.location("Harbour")
      let (feed, tops, talk) = (
        try server.socket(ann), try server.socket(ann), try server.socket(ann)
      )
      feed.subscribe(
        "1", "subscription { postAdded(filter: { by: FOLLOWING }) { id location { name } } }")
      tops.subscribe(
        "1", Self.changes("... on Location { reactionCount(kind: TOP) }"), ["id": place.json])
      try server.waitForHearing(2)
      try server.graph.mutate(
        "createTextPost(input: { body: \"Here\", location: { id: $id } })", "__typename",
        ["id: ID!": place.json], as: bob)
      let post = try feed.data()
      #expect(post.at("postAdded.location.name") == "Harbour")
      let id = try #require(post.at("postAdded.id"))
      talk.subscribe(
        "1", "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }", ["id": id])
      try server.waitForHearing(3)
      try server.graph.mutate(
        "addComment(subjectId: $id, body: \"Wait for me\")", "__typename", ["id: ID!": id], as: bob)
      #expect(try talk.data() == ["commentAdded": ["body": "Wait for me"]])
      try server.graph.mutate(
        "react(subjectId: $id, kind: TOP)", "__typename", ["id: ID!": place.json], as: bob)
      // The post of it may have been told before.
      while try tops.data() != ["nodeChanged": ["reactionCount": 1]] {}
    }

    @Test func `Peck: a circle talks, and what was missed is synchronised when it is said`() throws
    {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let circle = try data.circle("Dorm", owner: bob, members: [ann])
      let query =
        "query($since: String) { changes(since: $since) { token changes { node { id } } } }"
      let start = try server.graph.data(query, as: ann).at("changes.token") ?? .null
      let (talk, sync, pecks) = (
        try server.socket(ann), try server.socket(ann), try server.socket(ann)
      )
      talk.subscribe(
        "1", "subscription($id: ID!) { commentAdded(subjectId: $id) { id body } }",
        ["id": circle.json])
      sync.subscribe("1", "subscription { changesAvailable }")
      pecks.subscribe("1", Self.pecks)
      try server.waitForHearing(3)
      try server.graph.mutate(
        "addComment(subjectId: $id, body: \"Dinner at seven?\")", "__typename",
        ["id: ID!": circle.json], as: bob)
      let comment = try talk.data()
      #expect(comment.at("commentAdded.body") == "Dinner at seven?")
      #expect(try sync.data().at("changesAvailable")?.string != nil)
      let changed = try server.graph.data(query, ["since": start], as: ann)
      #expect(
        changed.list("changes.changes", "node").contains {
          $0["id"] == comment.at("commentAdded.id")
        })
      try server.graph.mutate(
        "createEvent(input: { title: \"Dinner\", startsAt: \"2045-05-05T18:00:00.000Z\", "
          + "visibility: INVITED, inviteUserIds: $ids })", "__typename",
        ["ids: [ID!]": [ann.json]], as: bob, key: "a")
      let reasons = try (0..<2).map { _ in try pecks.data().at("notificationAdded.reason") }
      #expect(reasons == ["COMMENTED", "EVENT_INVITED"])
    }

    @Test func `C7Fit: seats go and come back while one looks`() throws {
      let server = try LiveServer()
      let data = try server.graph.data()
      let (ann, bob) = (try data.person(), try data.person())
      let trainer = try data.trainer()
      let program = try data.program("Boxing", trainers: [trainer])
      let session = try data.classSession(
        program, by: trainer, at: "2045-06-10 10:00Z", capacity: 2)
      let socket = try server.socket(ann)
      socket.subscribe("1", Self.changes("... on ClassSession { seatsLeft }"), ["id": session.json])
      try server.waitForHearing(1)
      let booked = try server.graph.mutate(
        "bookClassSession(classSessionId: $id)", "booking { id }", ["id: ID!": session.json],
        as: bob)
      #expect(try socket.data() == ["nodeChanged": ["seatsLeft": 1]])
      try server.graph.mutate(
        "cancelBooking(bookingId: $id)", "__typename",
        ["id: ID!": try #require(booked.at("booking.id"))], as: bob)
      #expect(try socket.data() == ["nodeChanged": ["seatsLeft": 2]])
    }
  }
}
