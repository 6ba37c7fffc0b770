import Foundation
import JSON
import TestSupport
import Testing

/// Notifications ("pecks"): one test for each reason in the schema, whose name begins with it; what
/// their buttons do; and what has been read.
@Suite(.usesCluster) struct NotificationTests {
  private static let site = "http://localhost"

  /// Returns a person's notifications, latest first.
  private func pecks(_ server: GraphServer, of person: Person) throws -> [JSONValue] {
    try server.data(
      """
      { viewer { notifications(first: 100) { nodes { id reason actor { displayName } about { id }
        text destination action { kind label url performedAt } readAt } } } }
      """, as: person
    ).at("viewer.notifications.nodes")?.array ?? []
  }

  /// Returns a person's only notification, after checks that apply to all.
  private func onlyPeck(
    _ server: GraphServer, of person: Person, _ reason: String, about: NodeKey?,
    actor: JSONValue = "Ann & <i>", text: String, destination: String
  ) throws -> JSONValue {
    let pecks = try pecks(server, of: person)
    try #require(pecks.count == 1, "\(pecks)")
    #expect(pecks[0]["reason"] == .string(reason))
    #expect(pecks[0].at("actor.displayName") ?? .null == actor)
    #expect(pecks[0].at("about.id") ?? .null == about?.json ?? .null)
    #expect(pecks[0]["text"] == .string(text))
    #expect(pecks[0]["destination"] == .string(Self.site + destination))
    #expect(pecks[0]["readAt"] == .null)
    return pecks[0]
  }

  /// Inserts an actor, whose name needs escaping, and a recipient.
  private func pair(_ data: GraphData) throws -> (actor: Person, told: Person) {
    (try data.person("ann", name: "Ann & <i>"), try data.person("ben"))
  }

  private static let ann = "<b>Ann &amp; &lt;i&gt;</b>"

  @Test func `every reason of the schema has a test here`() throws {
    let schema = try GraphServer.mapping.get().schema
    guard case .enum(let values)? = schema.type(named: "NotificationReason")?.kind else {
      throw GraphTestFailure("there are no reasons")
    }
    let reasons = values.map(\.name)
    let source = try String(
      contentsOfFile: TestCluster.packageFolder
        + "/Tests/GraphTests/Notifications/NotificationTests.swift", encoding: .utf8)
    #expect(reasons.count == 18)
    #expect(reasons.filter { !source.contains("func `\($0): ") } == [])
  }

  // MARK: Reasons

  @Test func `FOLLOWED: with a button to follow back, unless one does`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    let peck = try onlyPeck(
      server, of: ben, "FOLLOWED", about: ann.key, text: "\(Self.ann) follows you.",
      destination: "/users/\(ann.wire)")
    #expect(
      peck["action"]
        == ["kind": "FOLLOW_BACK", "label": "Follow back", "url": nil, "performedAt": nil])
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ann.json], as: ben)
    #expect(try pecks(server, of: ann).map { $0["action"] } == [.null])
  }

  @Test func `REACTED: to a post or a comment, to who wrote it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for (kind, verb) in [("HEART", "loves"), ("LIKE", "likes"), ("TOP", "topped")] {
      let (ann, ben) = try pair(data)
      let post = try data.post(.outfit, by: ben)
      for person in [ann, ben] {
        try server.mutate(
          "react(subjectId: $id, kind: \(kind))", ["id: ID!": post.json], as: person)
      }
      let peck = try onlyPeck(
        server, of: ben, "REACTED", about: post, text: "\(Self.ann) \(verb) your outfit.",
        destination: "/posts/\(post.wire)")
      #expect(peck["action"] == .null)
    }
    let (ann, ben) = try pair(data)
    let post = try data.post(.text, by: ann)
    let comment = try data.comment(post, by: ben, "Well")
    try server.mutate(
      "react(subjectId: $id, kind: AGREE)", ["id: ID!": comment.json], as: ann)
    _ = try onlyPeck(
      server, of: ben, "REACTED", about: comment, text: "\(Self.ann) agrees with your comment.",
      destination: "/posts/\(post.wire)?comment=\(comment.wire)")
    // Of a comment on a place it leads to the comment there.
    let place = try data.location("Pier")
    let (cat, dan) = try pair(data)
    let review = try data.comment(place, by: dan, "Windy")
    try server.mutate("react(subjectId: $id, kind: AGREE)", ["id: ID!": review.json], as: cat)
    _ = try onlyPeck(
      server, of: dan, "REACTED", about: review, text: "\(Self.ann) agrees with your comment.",
      destination: "/locations/\(place.wire)?comment=\(review.wire)")
  }

  @Test func `VOTED: tells the number and no names, in one unread notification a post`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let posts = try (0..<2).map { _ in try data.post(.outfit, by: author) }
    func vote(_ post: NodeKey) throws {
      try server.mutate(
        "castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": post.json],
        as: data.person())
    }
    try vote(posts[0])
    _ = try onlyPeck(
      server, of: author, "VOTED", about: posts[0], actor: nil, text: "1 vote on your outfit.",
      destination: "/posts/\(posts[0].wire)")
    try vote(posts[1])
    try vote(posts[0])
    // What has news stands first.
    var told = try pecks(server, of: author)
    #expect(told.map { $0.at("about.id") } == posts.map(\.json))
    #expect(told.map { $0["text"] } == ["2 votes on your outfit.", "1 vote on your outfit."])
    try server.mutate("markNotificationsRead", [:], as: author)
    try vote(posts[0])
    told = try pecks(server, of: author)
    #expect(
      told.map { $0["text"] } == [
        "3 votes on your outfit.", "2 votes on your outfit.", "1 vote on your outfit.",
      ])
    #expect(told.map { $0["readAt"] == .null } == [true, false, false])
  }

  @Test func `COMMENTED: about the comment, leads to what it is on`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let post = try data.post(.photo, by: ben, location: data.location("Pier"))
    let comment = try server.make(
      "addComment(subjectId: $id, body: $body)", "comment",
      [
        "id: ID!": post.json,
        "body: String!": .string("<script> & " + String(repeating: "word ", count: 40)),
      ], as: ann)
    let peck = try pecks(server, of: ben)[0]
    let text = try #require(peck["text"]?.string)
    #expect(text.hasPrefix("\(Self.ann) commented: &lt;script&gt; &amp; word word"))
    #expect(text.hasSuffix("word…"))
    _ = try onlyPeck(
      server, of: ben, "COMMENTED", about: comment, text: text,
      destination: "/posts/\(post.wire)?comment=\(comment.wire)")
  }

  @Test func `PRODUCT_SUGGESTED: with a button that opens the store`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    try data.follow(ann, ben)
    let product = try data.product("Hat & <coat>", brand: "B")
    for _ in 0..<2 {
      try server.mutate(
        "suggestProduct(productId: $id, toUserId: $to)",
        ["id: ID!": product.json, "to: ID!": ben.json], as: ann)
    }
    let url = try #require(
      try data.run("SELECT buy_url FROM product WHERE id = \(product)")[0][0])
    let peck = try onlyPeck(
      server, of: ben, "PRODUCT_SUGGESTED", about: product,
      text: "\(Self.ann) suggests Hat &amp; &lt;coat&gt; by B.",
      destination: "/products/\(product.wire)")
    #expect(
      peck["action"] == [
        "kind": "OPEN_URL", "label": "Open the store", "url": .string(url), "performedAt": nil,
      ])
    // The client opens it; there is nothing for the server to do.
    #expect(
      try server.refusals(
        "performNotificationAction(notificationId: $id)", ["id: ID!": peck["id"] ?? .null], as: ben)
        == [Refusal("INVALID", "notificationId")])
  }

  @Test func `TAGGED: to everyone thanked`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let eve = try data.person()
    let post = try server.make(
      "createThankYou(input: {body: \"Thanks\", taggedUserIds: [$a, $b]})", "thankYou",
      ["a: ID!": ben.json, "b: ID!": eve.json], as: ann)
    for person in [ben, eve] {
      _ = try onlyPeck(
        server, of: person, "TAGGED", about: post, text: "\(Self.ann) thanks you.",
        destination: "/posts/\(post.wire)")
    }
  }

  @Test func `ANNOUNCED: to whom it is addressed`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let post = try server.make(
      "createAnnouncement(input: {body: \"A < B\", notifyUserIds: [$id]})", "announcement",
      ["id: ID!": ben.json], as: ann)
    _ = try onlyPeck(
      server, of: ben, "ANNOUNCED", about: post, text: "\(Self.ann) announces: A &lt; B",
      destination: "/posts/\(post.wire)")
  }

  private static let create = """
    createEvent(input: {title: "A < B", startsAt: "2041-01-01T00:00:00.000Z", inviteUserIds: [$id]})
    """

  @Test func `EVENT_INVITED: with a button to attend`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let event = try server.make(Self.create, "event", ["id: ID!": ben.json], as: ann)
    try server.mutate(
      "inviteToEvent(eventId: $event, userIds: [$id])",
      ["event: ID!": event.json, "id: ID!": ben.json], as: ann)
    let peck = try onlyPeck(
      server, of: ben, "EVENT_INVITED", about: event,
      text: "\(Self.ann) invites you to “A &lt; B”.", destination: "/posts/\(event.wire)")
    #expect(
      peck["action"] == ["kind": "ATTEND", "label": "Attend", "url": nil, "performedAt": nil])
  }

  @Test
  func `EVENT_CHANGED: to who is invited or comes, when anything but its photos becomes another`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let (eve, declined) = (try data.person(), try data.person())
    let event = try data.post(.event, by: ann, title: "A < B", startsAt: "2041-01-01")
    _ = try data.invite(ann, ben, to: event)
    try data.attend(eve, event, "MAYBE")
    try data.attend(declined, event, "NOT_GOING")
    func change(_ field: String) throws {
      try server.mutate(
        "updateEvent(eventId: $id, input: {\(field)})", ["id: ID!": event.json], as: ann)
    }
    try change("title: \"A < B\"")
    #expect(try pecks(server, of: ben) == [])
    try change("body: \"More words\"")
    #expect(try pecks(server, of: ben).count == 1)
    try change("startsAt: \"2041-01-02T00:00:00.000Z\"")
    for person in [ben, eve] {
      _ = try onlyPeck(
        server, of: person, "EVENT_CHANGED", about: event,
        text: "\(Self.ann) changed the event “A &lt; B”.", destination: "/posts/\(event.wire)")
    }
    for person in [declined, ann] { #expect(try pecks(server, of: person) == []) }
    // Unread, only the last change is told.
    try change("title: \"C\", endsAt: \"2041-01-03T00:00:00.000Z\"")
    _ = try onlyPeck(
      server, of: ben, "EVENT_CHANGED", about: event, text: "\(Self.ann) changed the event “C”.",
      destination: "/posts/\(event.wire)")
  }

  @Test func `EVENT_CANCELLED: to who is invited or comes, once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let event = try data.post(.event, by: ann, title: "Fair", startsAt: "2041-01-01")
    try data.attend(ben, event, "GOING")
    for _ in 0..<2 {
      try server.mutate("cancelEvent(eventId: $id)", ["id: ID!": event.json], as: ann)
    }
    _ = try onlyPeck(
      server, of: ben, "EVENT_CANCELLED", about: event,
      text: "\(Self.ann) called off the event “Fair”.", destination: "/posts/\(event.wire)")
  }

  @Test func `CIRCLE_ADDED: goes again when one is taken out before reading it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let eve = try data.person()
    let circle = try server.make(
      "createCircle(input: {name: \"A < B\", memberIds: [$a, $b]})", "circle",
      ["a: ID!": ben.json, "b: ID!": eve.json], as: ann)
    for person in [ben, eve] {
      _ = try onlyPeck(
        server, of: person, "CIRCLE_ADDED", about: circle,
        text: "\(Self.ann) added you to “A &lt; B”.", destination: "/circles/\(circle.wire)")
    }
    try server.mutate(
      "removeCircleMembers(circleId: $circle, userIds: [$id])",
      ["circle: ID!": circle.json, "id: ID!": ben.json], as: ann)
    try server.mutate("leaveCircle(circleId: $id)", ["id: ID!": circle.json], as: eve)
    for person in [ben, eve] {
      #expect(try pecks(server, of: person) == [])
      try server.mutate(
        "addCircleMembers(circleId: $circle, userIds: [$id])",
        ["circle: ID!": circle.json, "id: ID!": person.json], as: ann)
      #expect(try pecks(server, of: person).count == 1)
      // Read, it stays, and is not told again within a day.
      try server.mutate("markNotificationsRead", [:], as: person)
      try server.mutate("leaveCircle(circleId: $id)", ["id: ID!": circle.json], as: person)
      try server.mutate(
        "addCircleMembers(circleId: $circle, userIds: [$id])",
        ["circle: ID!": circle.json, "id: ID!": person.json], as: ann)
      #expect(try pecks(server, of: person).map { $0["readAt"] == .null } == [false])
    }
  }

  @Test func `CIRCLE_TRANSFERRED: to the new owner`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let circle = try server.make(
      "createCircle(input: {name: \"A < B\", memberIds: [$id]})", "circle", ["id: ID!": ben.json],
      as: ann)
    try server.mutate(
      "transferCircle(circleId: $circle, userId: $id)",
      ["circle: ID!": circle.json, "id: ID!": ben.json], as: ann)
    let told = try pecks(server, of: ben)
    #expect(told.compactMap { $0["reason"]?.string } == ["CIRCLE_TRANSFERRED", "CIRCLE_ADDED"])
    #expect(told.first?["text"] == .string("\(Self.ann) made you the owner of “A &lt; B”."))
    #expect(told.first?["destination"] == .string(Self.site + "/circles/\(circle.wire)"))
    #expect(told.first?.at("about.id") == circle.json)
    #expect(try pecks(server, of: ann) == [])
  }

  /// A request for cards by the first, whose address the second asks for.
  private func asked(
    _ server: GraphServer, _ data: GraphData, owner: Person, by asker: Person
  ) throws -> (post: NodeKey, request: NodeKey) {
    let post = try data.post(.cardRequest, by: owner)
    let request = try server.make(
      "requestAddress(cardRequestId: $id)", "infoRequest", ["id: ID!": post.json], as: asker)
    return (post, request)
  }

  @Test func `INFO_REQUESTED: with a button to give the address`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let (post, request) = try asked(server, data, owner: ben, by: ann)
    try server.mutate("requestAddress(cardRequestId: $id)", ["id: ID!": post.json], as: ann)
    let peck = try onlyPeck(
      server, of: ben, "INFO_REQUESTED", about: request,
      text: "\(Self.ann) would like to send you a card and asks for your address.",
      destination: "/info-requests/\(request.wire)")
    #expect(
      peck["action"] == [
        "kind": "APPROVE_INFO_REQUEST", "label": "Give address", "url": nil, "performedAt": nil,
      ])
  }

  @Test func `INFO_ANSWERED: whichever the answer`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for (approve, words) in [(true, "gave you"), (false, "did not give you")] {
      let (ann, ben) = try pair(data)
      try data.run("UPDATE app_user SET address = 'Road 1' WHERE id = \(ann.key)")
      let (_, request) = try asked(server, data, owner: ann, by: ben)
      for _ in 0..<2 {
        try server.mutate(
          "answerInfoRequest(infoRequestId: $id, approve: \(approve))", ["id: ID!": request.json],
          as: ann)
      }
      let peck = try onlyPeck(
        server, of: ben, "INFO_ANSWERED", about: request,
        text: "\(Self.ann) \(words) their address.", destination: "/info-requests/\(request.wire)")
      #expect(peck["action"] == .null)
    }
  }

  /// An offer of the first that the second answers: the card to be sent.
  private func answered(
    _ server: GraphServer, _ data: GraphData, author: Person, by person: Person
  ) throws -> NodeKey {
    try data.run("UPDATE app_user SET address = 'Road 1' WHERE id = \(person.key)")
    let offer = try data.post(.cardOffer, by: author)
    var followUp: JSONValue?
    for _ in 0..<2 {
      followUp = try server.mutate(
        "respondToOffer(cardOfferId: $id)", "cardOffer { viewerFollowUp { id } }",
        ["id: ID!": offer.json], as: person
      ).at("cardOffer.viewerFollowUp.id")
    }
    return try NodeKey(wire: #require(followUp?.string))
  }

  @Test func `OFFER_ANSWERED: about the card to be sent`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let card = try answered(server, data, author: ben, by: ann)
    _ = try onlyPeck(
      server, of: ben, "OFFER_ANSWERED", about: card,
      text: "\(Self.ann) would like a card of yours.", destination: "/follow-ups/\(card.wire)")
  }

  @Test func `FOLLOW_UP_UNABLE: to who was to get a card`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let card = try answered(server, data, author: ann, by: ben)
    for _ in 0..<2 {
      try server.mutate(
        "resolveFollowUp(followUpId: $id, state: UNABLE)", ["id: ID!": card.json], as: ann)
    }
    _ = try onlyPeck(
      server, of: ben, "FOLLOW_UP_UNABLE", about: card,
      text: "\(Self.ann) cannot send you a card.", destination: "/follow-ups/\(card.wire)")
  }

  @Test func `BOOKING_CHANGED: when a class is moved or called off, to who booked it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for (field, words) in [
      (
        "updateClassSession(classSessionId: $id, input: {startsAt: \"2048-01-02T12:00:00.000Z\"})",
        "moved"
      ),
      ("cancelClassSession(classSessionId: $id)", "called off"),
    ] {
      let trainer = try data.trainer(name: "Ann & <i>")
      let (ben, gone) = (try data.person(), try data.person())
      let yoga = try data.program("Yoga", "GROUP", trainers: [trainer])
      let session = try data.classSession(yoga, by: trainer, at: "2048-01-01 12:00Z", capacity: 9)
      let booking = try data.book(ben, session)
      try data.book(gone, session, isCancelled: true)
      // Seats are nobody's concern.
      try server.mutate(
        "updateClassSession(classSessionId: $id, input: {capacity: 8})", ["id: ID!": session.json],
        as: trainer)
      for _ in 0..<2 { try server.mutate(field, ["id: ID!": session.json], as: trainer) }
      _ = try onlyPeck(
        server, of: ben, "BOOKING_CHANGED", about: booking,
        text: "\(Self.ann) \(words) a class you booked.", destination: "/bookings/\(booking.wire)")
      #expect(try pecks(server, of: gone) == [])
    }
  }

  @Test func `MESSAGED: in one unread notification a conversation, the latest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let eve = try data.person(name: "Eve")
    func write(_ from: Person, _ to: Person...) throws -> NodeKey {
      let payload = try server.mutate(
        "sendMessage(to: {userIds: $to}, body: \"Hello\")", "message { conversation { id } }",
        ["to: [ID!]!": .array(to.map(\.json))], as: from)
      return try NodeKey(wire: #require(payload.at("message.conversation.id")?.string))
    }
    let conversation = try write(ann, ben)
    _ = try onlyPeck(
      server, of: ben, "MESSAGED", about: conversation, text: "\(Self.ann) wrote to you.",
      destination: "/conversations/\(conversation.wire)")
    let other = try write(eve, ben, ann)
    #expect(try write(ann, ben) == conversation)
    var told = try pecks(server, of: ben)
    #expect(told.map { $0.at("about.id") } == [conversation.json, other.json])
    #expect(
      told.map { $0["text"] }
        == ["\(Self.ann) wrote to you.", "<b>Eve</b> wrote to you."]
        .map(JSONValue.string))
    // Reading the conversation is reading of it.
    try server.mutate(
      "markConversationRead(conversationId: $id)", ["id: ID!": conversation.json], as: ben)
    told = try pecks(server, of: ben)
    #expect(told.map { $0["readAt"] == .null } == [false, true])
  }

  // MARK: To whom

  @Test func `a follow or a reaction taken back before it was read is told no more`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let post = try data.post(.text, by: ben)
    func both(_ follow: String, _ react: String) throws {
      try server.mutate("\(follow)(userIds: [$id])", ["id: ID!": ben.json], as: ann)
      try server.mutate(
        "\(react)(subjectId: $id, kind: HEART)", ["id: ID!": post.json], as: ann)
    }
    func reasons() throws -> [JSONValue?] { try pecks(server, of: ben).map { $0["reason"] } }
    try both("followUsers", "react")
    #expect(try reasons() == ["REACTED", "FOLLOWED"])
    try both("unfollowUsers", "unreact")
    #expect(try reasons() == [])
    try both("followUsers", "react")
    #expect(try reasons() == ["REACTED", "FOLLOWED"])
    try server.mutate("markNotificationsRead", [:], as: ben)
    try both("unfollowUsers", "unreact")
    try both("followUsers", "react")
    #expect(try reasons() == ["REACTED", "FOLLOWED"])
    // A day later it is told again.
    try data.run(
      "UPDATE notification SET created_at = now() - interval '25 hours' WHERE recipient_id = \(ben.key)"
    )
    try both("unfollowUsers", "unreact")
    try both("followUsers", "react")
    #expect(try reasons() == ["REACTED", "FOLLOWED", "REACTED", "FOLLOWED"])
  }

  @Test func `one of two reactions taken back leaves the other told`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let post = try data.post(.text, by: ben)
    for kind in ["HEART", "LIKE"] {
      try server.mutate(
        "react(subjectId: $id, kind: \(kind))", ["id: ID!": post.json], as: ann)
    }
    #expect(try pecks(server, of: ben).count == 1)
    for (kind, count) in [("HEART", 1), ("LIKE", 0)] {
      try server.mutate(
        "unreact(subjectId: $id, kind: \(kind))", ["id: ID!": post.json], as: ann)
      #expect(try pecks(server, of: ben).count == count)
    }
  }

  @Test func `not told: who blocks the actor, is blocked, or may not see what it is about`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let (blocker, blocked, outside) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Rowers", owner: ben, members: [ann, blocker, blocked])
    let event = try data.post(
      .event, by: ben, circle: circle, visibility: "CIRCLE", title: "Race", startsAt: "2041-01-01")
    for person in [blocker, blocked, outside] { try data.attend(person, event) }
    try data.block(blocker, ann)
    try data.block(ann, blocked)
    for subject in [circle, event] {
      try server.mutate(
        "addComment(subjectId: $id, body: \"Ahoy\")", ["id: ID!": subject.json], as: ann)
    }
    #expect(try pecks(server, of: ben).count == 2)
    for person in [ann, blocker, blocked, outside] {
      #expect(try pecks(server, of: person) == [])
    }
    // Who is blocked afterwards is not told of any more.
    let unread = "{ viewer { unreadNotificationCount notifications { totalCount } } }"
    try server.mutate("blockUser(userId: $id)", ["id: ID!": ann.json], as: ben)
    #expect(
      try server.data(unread, as: ben)
        == ["viewer": ["unreadNotificationCount": 0, "notifications": ["totalCount": 0]]])
  }

  // MARK: Buttons

  private static let perform = "performNotificationAction(notificationId: $id)"

  @Test func `a button is done by the server once, for its recipient alone, and stays`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let eve = try data.person()
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    let id = try #require(try pecks(server, of: ben)[0]["id"])
    for person in [ann, eve] {
      #expect(
        try server.refusals(Self.perform, ["id: ID!": id], as: person)
          == [Refusal("NOT_FOUND", "notificationId")])
    }
    #expect(
      try server.mutationErrorCodes(Self.perform, ["id: ID!": id], as: nil) == ["UNAUTHENTICATED"])
    var answers: [JSONValue?] = []
    for _ in 0..<2 {
      answers.append(
        try server.mutate(
          Self.perform,
          "notification { readAt action { kind label performedAt } actor { viewerIsFollowing } }",
          ["id: ID!": id], as: ben)["notification"])
    }
    #expect(answers[0] == answers[1])
    #expect(answers[0]?.at("action.kind") == "FOLLOW_BACK")
    #expect(answers[0]?.at("action.performedAt")?.string != nil)
    #expect(answers[0]?.at("readAt")?.string != nil)
    #expect(answers[0]?.at("actor.viewerIsFollowing") == true)
    // Ann is told, without a button, as she follows already.
    #expect(try pecks(server, of: ann).map { $0["reason"] } == ["FOLLOWED"])
    #expect(try pecks(server, of: ann).map { $0["action"] } == [.null])
  }

  @Test func `attending by the button is attending`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let event = try server.make(Self.create, "event", ["id: ID!": ben.json], as: ann)
    let id = try #require(try pecks(server, of: ben)[0]["id"])
    let payload = try server.mutate(
      Self.perform,
      "notification { about { ... on Event { viewerAttendance viewerInvitation { status } } } }",
      ["id: ID!": id], as: ben)
    #expect(
      payload.at("notification.about")
        == ["viewerAttendance": "GOING", "viewerInvitation": ["status": "ACCEPTED"]])
    #expect(
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Event { attendees(status: GOING) { nodes { id } } } } }",
        ["id": event.json], as: ann)
        == ["node": ["attendees": ["nodes": [["id": ben.json]]]]])
  }

  @Test func `a button for what is off, over or gone is refused, and stays to be done`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    for (change, code) in [
      ("UPDATE event SET cancelled_at = now() WHERE post_id = $1", "CLOSED"),
      ("UPDATE event SET starts_at = '2020-01-01' WHERE post_id = $1", "PAST"),
      ("DELETE FROM invitation WHERE event_id = $1", "NOT_FOUND"),
    ] {
      let (ann, ben) = try pair(data)
      let event = try server.make(
        """
        createEvent(input: {title: "Fair", startsAt: "2041-01-01T00:00:00.000Z",
          visibility: INVITED, inviteUserIds: [$id]})
        """, "event", ["id: ID!": ben.json], as: ann)
      let id = try #require(try pecks(server, of: ben)[0]["id"])
      try data.run(change, [event])
      #expect(
        try server.refusals(Self.perform, ["id: ID!": id], as: ben)
          == [Refusal(code, "notificationId")])
      #expect(try pecks(server, of: ben)[0].at("action.performedAt") == .null)
    }
  }

  @Test func `giving the address by the button wants one, and makes the follow-up`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    _ = try asked(server, data, owner: ben, by: ann)
    let id = try #require(try pecks(server, of: ben)[0]["id"])
    #expect(
      try server.refusals(Self.perform, ["id: ID!": id], as: ben)
        == [Refusal("ADDRESS_REQUIRED", "notificationId")])
    try server.mutate("updateProfile(input: {address: \"Road 1\"})", [:], as: ben)
    for _ in 0..<2 { try server.mutate(Self.perform, ["id: ID!": id], as: ben) }
    #expect(try pecks(server, of: ben)[0].at("action.performedAt")?.string != nil)
    let own = try server.data(
      "{ viewer { followUps(role: SENDER, state: OPEN) { nodes { recipientAddress recipient { id } } } } }",
      as: ann)
    #expect(
      own.at("viewer.followUps.nodes")
        == [["recipientAddress": "Road 1", "recipient": ["id": ben.json]]])
    // Refused otherwise, the button does nothing any more.
    let eve = try data.person()
    let (_, request) = try asked(server, data, owner: ben, by: eve)
    try server.mutate(
      "answerInfoRequest(infoRequestId: $id, approve: false)", ["id: ID!": request.json], as: ben)
    #expect(
      try server.refusals(
        Self.perform, ["id: ID!": try #require(try pecks(server, of: ben)[0]["id"])], as: ben)
        == [Refusal("ALREADY_DONE", "notificationId")])
  }

  // MARK: Read

  @Test func `what is read is read on every device, by ids or all`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    let post = try data.post(.text, by: ben)
    for number in 0..<3 {
      try server.mutate(
        "addComment(subjectId: $id, body: \"comment \(number)\")", ["id: ID!": post.json], as: ann)
    }
    let ids = try pecks(server, of: ben).map { $0["id"] ?? .null }
    let state = """
      { viewer { unreadNotificationCount notifications { totalCount }
        unread: notifications(isRead: false) { totalCount nodes { id } } } }
      """
    func unread() throws -> JSONValue? {
      let seen = try server.data(state, as: ben)
      #expect(seen.at("viewer.notifications.totalCount") == 3)
      #expect(seen.at("viewer.unreadNotificationCount") == seen.at("viewer.unread.totalCount"))
      return .array(seen.list("viewer.unread.nodes", "id"))
    }
    #expect(try unread() == .array(ids))
    // Somebody else's are passed over.
    try server.mutate(
      "markNotificationsRead(notificationIds: $ids)", ["ids: [ID!]": .array(ids)], as: ann)
    #expect(try unread() == .array(ids))
    let payload = try server.mutate(
      "markNotificationsRead(notificationIds: $ids)", "viewer { unreadNotificationCount }",
      ["ids: [ID!]": [ids[1], "no id"]], as: ben)
    #expect(payload["viewer"] == ["unreadNotificationCount": 2])
    #expect(try unread() == [ids[0], ids[2]])
    let first = try pecks(server, of: ben)[1]["readAt"]
    for _ in 0..<2 {
      try server.mutate("markNotificationsRead", [:], as: ben)
      #expect(try unread() == [])
    }
    #expect(try pecks(server, of: ben)[1]["readAt"] == first)
    #expect(
      try server.refusals(
        "markNotificationsRead(notificationIds: $ids)",
        ["ids: [ID!]": .array(Array(repeating: ids[0], count: 1_001))], as: ben)
        == [Refusal("TOO_MANY", "notificationIds")])
  }

  @Test func `of many who press a button at once, all are answered when it was done`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (ann, ben) = try pair(data)
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    let id = try #require(pecks(server, of: ben).first?["id"])
    let times = try crowd(of: 16) { _ in
      try server.mutate(
        "performNotificationAction(notificationId: $id)",
        "notification { action { performedAt } }", ["id: ID!": id], as: ben
      ).at("notification.action.performedAt") ?? .null
    }
    #expect(Set(times.map { "\($0)" }).count == 1, "\(times)")
    #expect(times.first != .null)
    #expect(
      try data.run("SELECT FROM follow WHERE follower_id = $1 AND followee_id = $2", [ben, ann])
        .count == 1)
  }
}
