import JSON
import TestSupport
import Testing

/// Peck from its first day on: a campus opens on an empty database, its calendars are scraped, and
/// students subscribe, meet and talk.
@Suite(.usesCluster) struct PeckScenarioTests {
  /// The seven days the phone loads around the one it shows: two back, four ahead.
  private static let week: [JSONValue.Member] = [
    JSONValue.Member(name: "from", value: "2045-09-02T00:00:00-05:00"),
    JSONValue.Member(name: "to", value: "2045-09-09T00:00:00-05:00"),
  ]

  @Test func `a campus opens, and students meet there`() throws {
    let server = try GraphServer.new()
    defer { server.stop() }
    let campus = try open(server)
    try launch(server, campus)
    let students = try join(server, campus)
    let circle = try befriend(server, students)
    let party = try invite(server, students, to: circle)
    try publish(server, students, party)
    try announce(server, campus, students, circle)
    try eat(server, campus, students)
    try change(server, students, party)
    try sync(server, students, circle)
    try part(server, students, circle)
  }

  private struct Campus {
    var service: Person
    var dining: NodeKey
    var physics: NodeKey
    var art: NodeKey
    var lecture: NodeKey
    var dinner: NodeKey
  }

  private struct Students {
    var ann: Person
    var bo: Person
    var cy: Person
    /// A person without friends.
    var dan: Person
  }

  /// An event that a service found on a page of the campus.
  private func scrape(
    _ server: GraphServer, as service: Person, _ channel: NodeKey, _ id: JSONValue,
    _ title: JSONValue,
    at time: JSONValue, _ more: [JSONValue.Member] = []
  ) throws -> NodeKey {
    let input: [JSONValue.Member] = [
      JSONValue.Member(name: "circleId", value: channel.json),
      JSONValue.Member(name: "externalId", value: id),
      JSONValue.Member(name: "title", value: title),
      JSONValue.Member(name: "startsAt", value: time),
      JSONValue.Member(name: "sourceUrl", value: "https://campus.example/calendar"),
    ]
    return try server.make(
      "upsertEvent(input: $input)", "event", ["input: UpsertEventInput!": .object(input + more)],
      as: service)
  }

  /// The operator names the first of the staff, who make a service, which makes the channels and
  /// scrapes what is on.
  private func open(_ server: GraphServer) throws -> Campus {
    let staff = try server.signUp("dean")
    try server.data().run("UPDATE app_user SET roles = '{MEMBER,STAFF}' WHERE id = \(staff.key)")
    let service = try server.signUp("scraper")
    try server.mutate(
      "setUserRoles(userId: $id, roles: [SERVICE])", ["id: ID!": service.json], as: staff)
    try server.mutate(
      "setAppConfig(app: \"Peck\", input: {supportEmail: \"help@peck.example\"})", as: staff)
    let dining = try server.make(
      "createCircle(input: {name: \"Dining\", kind: CHANNEL, isDefault: true})", "circle", as: staff
    )
    let (physics, art) = (
      try server.make(
        "createCircle(input: {name: \"Physics\", kind: CHANNEL})", "circle", as: service),
      try server.make("createCircle(input: {name: \"Art\", kind: CHANNEL})", "circle", as: service)
    )
    let halls = try ["North Hall", "South Hall"].map {
      try server.make(
        "createLocation(input: $input)", "location",
        [
          "input: CreateLocationInput!": [
            "name": .string($0), "placeType": "DINING",
            "coordinates": ["latitude": 41.7, "longitude": -92.7],
          ]
        ], as: staff)
    }
    var lecture: NodeKey?
    // The scraper runs twice, and the second time the lecture has a better title.
    for title in ["Lecture", "Quantum lecture"] as [JSONValue] {
      lecture = try scrape(
        server, as: service, physics, "q-1", title, at: "2045-09-04T18:00:00.000Z")
    }
    _ = try scrape(server, as: service, art, "a-1", "Opening", at: "2045-09-04T20:00:00.000Z")
    let dinner = try scrape(
      server, as: service, dining, "d-1", "Dinner", at: "2045-09-04T22:00:00.000Z",
      [
        JSONValue.Member(name: "category", value: "DINING"),
        JSONValue.Member(
          name: "venues",
          value: [
            [
              "locationId": halls[0].json, "opensAt": "2045-09-04T22:30:00.000Z",
              "closesAt": "2045-09-05T00:00:00.000Z",
            ],
            ["locationId": halls[1].json, "opensAt": "2045-09-04T22:00:00.000Z", "note": "Soup"],
          ]),
      ])
    return Campus(
      service: service, dining: dining, physics: physics, art: art,
      lecture: try #require(lecture), dinner: dinner)
  }

  /// The first launch, without an account.
  private func launch(_ server: GraphServer, _ campus: Campus) throws {
    let home = try server.data(
      """
      query($from: DateTime!, $to: DateTime!) {
        viewer { user { id } }
        appConfig(app: "Peck") { supportEmail }
        schedule(filter: {from: $from, to: $to, isInDefaultChannel: true}) { nodes { title
          ... on Event { category circle { name } venues { location { name } note } } } }
        circles(kind: CHANNEL) { nodes { name isDefault } }
        explore(first: 2) { nodes { __typename ... on Event { title } }
          pageInfo { endCursor hasNextPage } }
        changes { token hasMore changes { nodeId } }
      }
      """, .object(Self.week))
    #expect(home["viewer"] == .null)
    #expect(home["appConfig"] == ["supportEmail": "help@peck.example"])
    #expect(
      home.at("schedule.nodes") == [
        [
          "title": "Dinner", "category": "DINING", "circle": ["name": "Dining"],
          "venues": [
            ["location": ["name": "South Hall"], "note": "Soup"],
            ["location": ["name": "North Hall"], "note": nil],
          ],
        ]
      ])
    #expect(
      home.at("circles.nodes") == [
        ["name": "Art", "isDefault": false], ["name": "Dining", "isDefault": true],
        ["name": "Physics", "isDefault": false],
      ])
    #expect(home.strings("explore.nodes", "title") == ["Dinner", "Opening"])
    let rest = try server.data(
      "query($after: String) { explore(first: 2, after: $after) { nodes { ... on Event { title } } pageInfo { hasNextPage } } }",
      ["after": home.at("explore.pageInfo.endCursor") ?? .null])
    // The lecture is there once.
    #expect(rest.strings("explore.nodes", "title") == ["Quantum lecture"])
    #expect(rest.at("explore.pageInfo.hasNextPage") == false)
    #expect(home.at("changes.changes") == [])
    #expect(
      try server.mutationErrorCodes(
        "addComment(subjectId: $id, body: \"x\")", ["id: ID!": campus.dinner.json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  private static let agenda = """
    query($from: DateTime!, $to: DateTime!) { viewer { agenda(from: $from, to: $to) {
      nodes { id title ... on Event { viewerAttendance circle { name } } } } } }
    """

  private func agenda(_ server: GraphServer, of person: Person) throws -> [String] {
    try server.data(Self.agenda, .object(Self.week), as: person)
      .strings("viewer.agenda.nodes", "title")
  }

  private func pecks(_ server: GraphServer, of person: Person) throws -> [String] {
    try server.data("{ viewer { notifications(first: 100) { nodes { reason } } } }", as: person)
      .strings("viewer.notifications.nodes", "reason")
  }

  /// Students register, find themselves in Dining, and one subscribes to Physics.
  private func join(_ server: GraphServer, _ campus: Campus) throws -> Students {
    let students = Students(
      ann: try server.signUp("ann", ", displayName: \"Ann\""),
      bo: try server.signUp("bo", ", displayName: \"Bo\""),
      cy: try server.signUp("cy", ", displayName: \"Cy\""),
      dan: try server.signUp("dan", ", displayName: \"Dan\""))
    #expect(try agenda(server, of: students.ann) == ["Dinner"])
    try server.mutate(
      "joinCircle(circleId: $id)", ["id: ID!": campus.physics.json], as: students.ann)
    #expect(try agenda(server, of: students.ann) == ["Quantum lecture", "Dinner"])
    let own = try server.data(
      "{ viewer { circles(kind: CHANNEL) { nodes { name viewerRole } } } explore { nodes { ... on Event { title } } } }",
      as: students.ann)
    #expect(own.strings("viewer.circles.nodes", "name") == ["Dining", "Physics"])
    #expect(own.strings("explore.nodes", "title") == ["Opening"])
    try server.mutate(
      "updateProfile(input: {bio: \"Rows\"})", as: students.bo)
    return students
  }

  /// A circle of friends: Ann makes it with Bo, who adds Cy. Names complete while one types.
  private func befriend(_ server: GraphServer, _ students: Students) throws -> NodeKey {
    let found = try server.data("{ users(search: \"bo\") { nodes { id bio } } }", as: students.ann)
    #expect(found.at("users.nodes") == [["id": students.bo.json, "bio": "Rows"]])
    let circle = try server.make(
      "createCircle(input: {name: \"Rowers\", memberIds: [$id]})", "circle",
      ["id: ID!": students.bo.json], as: students.ann)
    try server.mutate(
      "addCircleMembers(circleId: $circle, userIds: [$id])",
      ["circle: ID!": circle.json, "id: ID!": students.cy.json], as: students.bo)
    #expect(try pecks(server, of: students.bo) == ["CIRCLE_ADDED"])
    #expect(try pecks(server, of: students.cy) == ["CIRCLE_ADDED"])
    try server.mutate(
      "addComment(subjectId: $id, body: \"At six?\")", ["id: ID!": circle.json], as: students.cy)
    #expect(try pecks(server, of: students.ann) == ["COMMENTED"])
    #expect(try pecks(server, of: students.bo) == ["COMMENTED", "CIRCLE_ADDED"])
    let own = try server.data(
      "{ viewer { circles(kind: GROUP, search: \"row\") { nodes { name members { nodes { displayName } } comments { nodes { body author { displayName } } } } } } }",
      as: students.bo)
    #expect(
      own.at("viewer.circles.nodes") == [
        [
          "name": "Rowers",
          "members": [
            "nodes": [["displayName": "Ann"], ["displayName": "Bo"], ["displayName": "Cy"]]
          ],
          "comments": ["nodes": [["body": "At six?", "author": ["displayName": "Cy"]]]],
        ]
      ])
    return circle
  }

  /// Creates a private event for the circle alone. Bo attends by the button, Cy does not.
  private func invite(_ server: GraphServer, _ students: Students, to circle: NodeKey) throws
    -> NodeKey
  {
    let party = try server.make(
      """
      createEvent(input: {title: "Boat party", startsAt: "2045-09-05T01:00:00.000Z",
        visibility: INVITED, inviteCircleIds: [$circle], inviteUserIds: [$bo]})
      """, "event", ["circle: ID!": circle.json, "bo: ID!": students.bo.json], as: students.ann)
    for student in [students.bo, students.cy] {
      #expect(try pecks(server, of: student).first == "EVENT_INVITED")
      #expect(try pecks(server, of: student).filter { $0 == "EVENT_INVITED" }.count == 1)
      #expect(try agenda(server, of: student).contains("Boat party"))
    }
    let latest = try server.data(
      "{ viewer { notifications(first: 1) { nodes { id action { kind } } } } }", as: students.bo)
    try server.mutate(
      "performNotificationAction(notificationId: $id)",
      ["id: ID!": latest.at("viewer.notifications.nodes.0.id") ?? .null], as: students.bo)
    try server.mutate(
      "setAttendance(eventId: $id, status: NOT_GOING)", ["id: ID!": party.json], as: students.cy)
    #expect(try agenda(server, of: students.bo) == ["Dinner", "Boat party"])
    #expect(try agenda(server, of: students.cy) == ["Dinner"])
    let seen = try server.data(
      "query($id: ID!) { node(id: $id) { ... on Event { attendees(status: GOING) { nodes { displayName } } } } }",
      ["id": party.json], as: students.ann)
    #expect(seen == ["node": ["attendees": ["nodes": [["displayName": "Bo"]]]]])
    // For everybody else it is nowhere.
    for stranger in [students.dan, nil] {
      let nowhere = try server.data(
        """
        query($id: ID!, $from: DateTime!, $to: DateTime!) {
          node(id: $id) { id } post(id: $id) { id }
          explore { nodes { ... on Event { title } } }
          schedule(filter: {from: $from, to: $to}) { nodes { title } }
          search(query: "Boat") { nodes { __typename } } }
        """, .object(Self.week + [JSONValue.Member(name: "id", value: party.json)]), as: stranger)
      #expect(nowhere["node"] == .null)
      #expect(nowhere["post"] == .null)
      #expect(!nowhere.strings("explore.nodes", "title").contains("Boat party"))
      #expect(!nowhere.strings("schedule.nodes", "title").contains("Boat party"))
      #expect(nowhere.at("search.nodes") == [])
    }
    return party
  }

  /// A public event: Dan finds it in explore, comes, and then may invite others.
  private func publish(_ server: GraphServer, _ students: Students, _ party: NodeKey) throws {
    let payload = try server.mutate(
      "createEvent(input: $input)", "event { id visibility author { displayName } }",
      [
        "input: CreateEventInput!": [
          "title": "Regatta", "startsAt": "2045-09-06T15:00:00.000Z",
          "endsAt": "2045-09-06T18:00:00.000Z",
          "location": [
            "new": [
              "name": "Boat house", "gmapsId": "peck-boats",
              "coordinates": ["latitude": 41.7, "longitude": -92.7],
            ]
          ],
        ]
      ], as: students.ann)
    #expect(payload.at("event.visibility") == "PUBLIC")
    let id = payload.at("event.id") ?? .null
    let explore = "{ explore { nodes { ... on Event { title } } } }"
    #expect(
      try server.data(explore, as: students.dan).strings("explore.nodes", "title")
        .contains("Regatta"))
    let invite = "inviteToEvent(eventId: $id, userIds: [$user])"
    let cy: JSONValue = students.cy.json
    #expect(
      try server.refusals(invite, ["id: ID!": id, "user: ID!": cy], as: students.dan)
        == [Refusal("FORBIDDEN", "eventId")])
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": id], as: students.dan)
    try server.mutate(invite, ["id: ID!": id, "user: ID!": cy], as: students.dan)
    #expect(try pecks(server, of: students.cy).first == "EVENT_INVITED")
    #expect(
      try !server.data(explore, as: students.dan).strings("explore.nodes", "title")
        .contains("Regatta"))
    #expect(try agenda(server, of: students.dan) == ["Dinner", "Regatta"])
    #expect(
      try server.refusals(
        invite, ["id: ID!": party.json, "user: ID!": students.dan.json], as: students.bo)
        == [Refusal("FORBIDDEN", "eventId")])
  }

  /// Makes announcements: a department's, on the home of its subscribers, and a user's, to a
  /// circle.
  private func announce(
    _ server: GraphServer, _ campus: Campus, _ students: Students, _ circle: NodeKey
  ) throws {
    let news = try server.make(
      "createAnnouncement(input: {body: \"The lecture moved\", circleId: $id})", "announcement",
      ["id: ID!": campus.physics.json], as: campus.service)
    let feed = "{ viewer { feed(source: CIRCLES, kinds: [ANNOUNCEMENT]) { nodes { id body } } } }"
    #expect(
      try server.data(feed, as: students.ann).at("viewer.feed.nodes")
        == [["id": news.json, "body": "The lecture moved"]])
    #expect(try server.data(feed, as: students.bo).at("viewer.feed.nodes") == [])
    let own = try server.make(
      "createAnnouncement(input: {body: \"Oars for sale\", notifyCircleIds: [$id], notifyUserIds: [$bo]})",
      "announcement", ["id: ID!": circle.json, "bo: ID!": students.bo.json], as: students.ann)
    for student in [students.bo, students.cy] {
      #expect(try pecks(server, of: student).filter { $0 == "ANNOUNCED" }.count == 1)
    }
    // Whoever is not told sees it, too, and talks about it.
    try server.mutate(
      "addComment(subjectId: $id, body: \"How much?\")", ["id: ID!": own.json], as: students.dan)
    #expect(try pecks(server, of: students.ann).first == "COMMENTED")
    let explore = try server.data(
      "{ explore(kinds: [ANNOUNCEMENT]) { nodes { body commentCount } } }")
    #expect(
      explore.at("explore.nodes") == [
        ["body": "Oars for sale", "commentCount": 1],
        ["body": "The lecture moved", "commentCount": 0],
      ])
  }

  /// Meals are talked about like any event.
  private func eat(_ server: GraphServer, _ campus: Campus, _ students: Students) throws {
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": campus.dinner.json],
      as: students.bo)
    try server.mutate(
      "addComment(subjectId: $id, body: \"Good soup\")", ["id: ID!": campus.dinner.json],
      as: students.cy)
    #expect(try pecks(server, of: students.bo).first == "COMMENTED")
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { comments { nodes { body subject { id } } } } }",
      ["id": campus.dinner.json])
    #expect(
      seen.at("post.comments.nodes")
        == [["body": "Good soup", "subject": ["id": campus.dinner.json]]])
  }

  /// Moves and cancels the party: those who attend are notified, the others are not.
  private func change(_ server: GraphServer, _ students: Students, _ party: NodeKey) throws {
    #expect(
      try server.refusals(
        "updateEvent(eventId: $id, input: {title: \"My party\"})", ["id: ID!": party.json],
        as: students.bo) == [Refusal("FORBIDDEN", "eventId")])
    try server.mutate(
      "updateEvent(eventId: $id, input: {startsAt: \"2045-09-05T02:00:00.000Z\"})",
      ["id: ID!": party.json], as: students.ann)
    #expect(try pecks(server, of: students.bo).first == "EVENT_CHANGED")
    try server.mutate("cancelEvent(eventId: $id)", ["id: ID!": party.json], as: students.ann)
    #expect(try pecks(server, of: students.bo).first == "EVENT_CANCELLED")
    #expect(try !pecks(server, of: students.cy).contains("EVENT_CANCELLED"))
    #expect(try !agenda(server, of: students.bo).contains("Boat party"))
    #expect(
      try server.refusals(
        "setAttendance(eventId: $id, status: GOING)", ["id: ID!": party.json], as: students.bo)
        == [Refusal("CLOSED", "eventId")])
  }

  /// A phone asks for what changed, and no more.
  private func sync(_ server: GraphServer, _ students: Students, _ circle: NodeKey) throws {
    let data = try server.data()
    let query = """
      query($since: String) { changes(since: $since) { token hasMore changes { operation nodeId
        node { __typename ... on Comment { body } ... on TextPost { body } ... on Notification { reason } } } } }
      """
    try data.session.waitForChanges()
    let start = try server.data(query, as: students.bo).at("changes.token") ?? .null
    let outside = try server.data(query, as: students.dan).at("changes.token") ?? .null
    let comment = try server.make(
      "addComment(subjectId: $id, body: \"Six it is\")", "comment", ["id: ID!": circle.json],
      as: students.ann)
    let post = try server.make(
      "createTextPost(input: {body: \"Bring oars\", circleId: $id})", "textPost",
      ["id: ID!": circle.json], as: students.ann)
    try data.session.waitForChanges()
    let told = try server.data(query, ["since": start], as: students.bo)
    #expect(
      told.list("changes.changes", "node") == [
        ["__typename": "Comment", "body": "Six it is"],
        ["__typename": "Notification", "reason": "COMMENTED"],
        ["__typename": "TextPost", "body": "Bring oars"],
      ])
    #expect(told.at("changes.hasMore") == false)
    try server.mutate("deletePost(postId: $id)", ["id: ID!": post.json], as: students.ann)
    try server.mutate(
      "deleteComment(commentId: $id)", ["id: ID!": comment.json], as: students.ann)
    try data.session.waitForChanges()
    let gone = try server.data(query, ["since": told.at("changes.token") ?? .null], as: students.bo)
    #expect(gone.list("changes.changes", "operation").allSatisfy { $0 == "DELETE" })
    let ids = gone.list("changes.changes", "nodeId")
    #expect(ids.contains(post.json))
    #expect(ids.contains(comment.json))
    // For Dan, nothing of it happened; and a token of Bo's is not his to use.
    #expect(
      try server.data(query, ["since": outside], as: students.dan).at("changes.changes") == [])
    #expect(try server.errorCodes(query, ["since": start], as: students.dan) == ["BAD_USER_INPUT"])
  }

  /// The circle is renamed; one leaves, one is taken out, and then it is no more.
  private func part(_ server: GraphServer, _ students: Students, _ circle: NodeKey) throws {
    let id: KeyValuePairs<String, JSONValue> = ["id: ID!": circle.json]
    try server.mutate(
      "updateCircle(circleId: $id, input: {name: \"Scullers\"})", id, as: students.ann)
    #expect(
      try server.refusals("leaveCircle(circleId: $id)", id, as: students.ann)
        == [Refusal("FORBIDDEN", "circleId")])
    try server.mutate("leaveCircle(circleId: $id)", id, as: students.cy)
    let seen = "query($id: ID!) { circle(id: $id) { name members { nodes { displayName } } } }"
    #expect(
      try server.data(seen, ["id": circle.json], as: students.bo) == [
        "circle": [
          "name": "Scullers",
          "members": ["nodes": [["displayName": "Ann"], ["displayName": "Bo"]]],
        ]
      ])
    try server.mutate(
      "removeCircleMembers(circleId: $id, userIds: [$bo])",
      ["id: ID!": circle.json, "bo: ID!": students.bo.json], as: students.ann)
    for student in [students.bo, students.cy] {
      #expect(try server.data(seen, ["id": circle.json], as: student) == ["circle": nil])
    }
    try server.mutate("deleteCircle(circleId: $id)", id, as: students.ann)
    #expect(try server.data(seen, ["id": circle.json], as: students.ann) == ["circle": nil])
    try server.mutate("signOut", as: students.ann)
    #expect(
      try server.errorCodes("{ viewer { user { id } } }", as: students.ann) == ["UNAUTHENTICATED"])
  }
}
