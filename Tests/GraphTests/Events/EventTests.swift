import JSON
import TestSupport
import Testing

/// Events: creation, invitations, imported calendars, and replies.
@Suite(.usesCluster) struct EventTests {
  private static let upsert = "upsertEvent(input: $input)"

  @Test func `PK-POST.a: a public event needs a title and a start, and everyone sees it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let host = try data.person(name: "Host")
    let maps = GraphData.unique("gmaps")
    let payload = try server.mutate(
      GraphServer.createEvent,
      """
      event { id title body startsAt endsAt visibility category author { displayName }
        location { name gmapsId } viewerActions }
      """,
      [
        "input: CreateEventInput!": GraphServer.eventInput([
          "body": "Boats & beer", "endsAt": "2041-06-01T18:00:00+02:00",
          "location": [
            "new": [
              "name": "Quay", "gmapsId": .string(maps),
              "coordinates": ["latitude": 53.3, "longitude": -6.2],
            ]
          ],
        ])
      ], as: host)
    let made = try #require(payload["event"])
    #expect(made["title"] == "Regatta")
    #expect(made["body"] == "Boats & beer")
    #expect(made["startsAt"] == "2041-06-01T12:00:00.000Z")
    #expect(made["endsAt"] == "2041-06-01T16:00:00.000Z")
    #expect(made["visibility"] == "PUBLIC")
    #expect(made["category"] == "GENERAL")
    #expect(made["location"] == ["name": "Quay", "gmapsId": .string(maps)])
    #expect(made["viewerActions"]?.array?.contains("INVITE") == true)
    let found = try server.data(
      "query($id: ID!) { post(id: $id) { ... on Event { title author { displayName } } } }",
      ["id": made["id"] ?? .null])
    #expect(found == ["post": ["title": "Regatta", "author": ["displayName": "Host"]]])
    #expect(
      try server.refusals(
        GraphServer.createEvent,
        [
          "input: CreateEventInput!": GraphServer.eventInput([
            "title": "\t", "endsAt": "2041-06-01T12:00:00Z",
          ])
        ], as: host) == [
          Refusal("REQUIRED", "input", "title"), Refusal("INVALID", "input", "endsAt"),
        ])
    #expect(
      try server.mutationErrorCodes(
        GraphServer.createEvent, ["input: CreateEventInput!": GraphServer.eventInput([:])], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `PK-POST.b: a private event is there for its author and whom it invites alone`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let hidden = try server.event(
      by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let comment = try server.make(
      "addComment(subjectId: $id, body: \"Secret\")", "comment", ["id: ID!": hidden.json],
      as: guest)
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": hidden.json], as: guest)
    for (person, sees) in [(host, true), (guest, true), (stranger, false), (nil, false)] {
      #expect(try server.finds(hidden, as: person) == sees)
      #expect(try server.finds(comment, as: person) == sees)
    }
    let seen = try server.data(
      """
      query($id: ID!) { post(id: $id) { visibility comments { nodes { body } }
        ... on Event { attendees(status: GOING) { nodes { id } } } } }
      """, ["id": hidden.json], as: host)
    #expect(
      seen == [
        "post": [
          "visibility": "INVITED", "comments": ["nodes": [["body": "Secret"]]],
          "attendees": ["nodes": [["id": guest.json]]],
        ]
      ])
    for field in [
      "setAttendance(eventId: $id, status: GOING)", "inviteToEvent(eventId: $id)",
      "cancelEvent(eventId: $id)",
    ] {
      #expect(
        try server.refusals(field, ["id: ID!": hidden.json], as: stranger)
          == [Refusal("NOT_FOUND", "eventId")])
    }
    #expect(
      try server.refusals("cancelEvent(eventId: $id)", ["id: ID!": hidden.json], as: guest)
        == [Refusal("FORBIDDEN", "eventId")])
  }

  @Test func `PK-POST.c: the members a circle has then are invited, each once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, both, late) = (try data.person(), try data.person(), try data.person())
    let (one, other) = (try data.person(), try data.person())
    let rowers = try data.circle("Rowers", owner: host, members: [both, one])
    let sailors = try data.circle("Sailors", owner: other, members: [both, host])
    let foreign = try data.circle("Foreign", owner: other)
    let made = try server.event(
      by: host,
      [
        "visibility": "INVITED", "inviteCircleIds": [rowers.json, sailors.json],
        "inviteUserIds": [both.json],
      ])
    try data.join(rowers, late)
    let invitations = """
      { viewer { invitations(status: PENDING) { nodes { status event { id } inviter { id } } } } }
      """
    for person in [both, one, other] {
      #expect(
        try server.data(invitations, as: person).at("viewer.invitations.nodes")
          == [["status": "PENDING", "event": ["id": made.json], "inviter": ["id": host.json]]])
    }
    #expect(try server.data(invitations, as: late).at("viewer.invitations.nodes") == [])
    #expect(try !server.finds(made, as: late))
    try server.mutate(
      "inviteToEvent(eventId: $id, circleIds: [$circle])",
      ["id: ID!": made.json, "circle: ID!": rowers.json], as: host)
    #expect(
      try server.data(invitations, as: late).at("viewer.invitations.nodes")?.array?.count == 1)
    #expect(
      try server.data(invitations, as: both).at("viewer.invitations.nodes")?.array?.count == 1)
    #expect(
      try server.refusals(
        "inviteToEvent(eventId: $id, circleIds: [$a, $b])",
        ["id: ID!": made.json, "a: ID!": rowers.json, "b: ID!": foreign.json], as: host)
        == [Refusal("NOT_FOUND", "circleIds", "1")])
    #expect(
      try server.refusals(
        GraphServer.createEvent,
        ["input: CreateEventInput!": GraphServer.eventInput(["inviteCircleIds": [foreign.json]])],
        as: host)
        == [Refusal("NOT_FOUND", "input", "inviteCircleIds", "0")])
  }

  @Test
  func `PK-POST.d: to a private event its author invites, to a public one whoever comes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, friend) = (try data.person(), try data.person(), try data.person())
    let closed = try server.event(
      by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let open = try server.event(by: host)
    let invite = "inviteToEvent(eventId: $id, userIds: [$friend])"
    func refusals(_ event: NodeKey, as person: Person) throws -> [Refusal] {
      try server.refusals(
        invite, ["id: ID!": event.json, "friend: ID!": friend.json], as: person)
    }
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": closed.json], as: guest)
    #expect(try refusals(closed, as: guest) == [Refusal("FORBIDDEN", "eventId")])
    #expect(try refusals(open, as: guest) == [Refusal("FORBIDDEN", "eventId")])
    try server.mutate(
      "setAttendance(eventId: $id, status: MAYBE)", ["id: ID!": open.json], as: guest)
    #expect(try refusals(open, as: guest) == [Refusal("FORBIDDEN", "eventId")])
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": open.json], as: guest)
    #expect(try refusals(open, as: guest) == [])
    #expect(try refusals(closed, as: host) == [])
    let own = try server.data(
      "{ viewer { invitations(status: PENDING) { nodes { event { id } inviter { id } } } } }",
      as: friend)
    #expect(
      own.at("viewer.invitations.nodes") == [
        ["event": ["id": closed.json], "inviter": ["id": host.json]],
        ["event": ["id": open.json], "inviter": ["id": guest.json]],
      ])
    try data.block(friend, host)
    #expect(try refusals(closed, as: host) == [Refusal("NOT_FOUND", "userIds", "0")])
    try server.mutate("cancelEvent(eventId: $id)", ["id: ID!": open.json], as: host)
    #expect(try refusals(open, as: guest) == [Refusal("CLOSED", "eventId")])
  }

  @Test func `PK-EV.a: a service's events appear under their subscription, and only a service's`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (reader, member) = (try data.person(), try data.person())
    let service = try data.person("scraper", roles: ["MEMBER", "SERVICE"])
    let channel = try server.make(
      "createCircle(input: {name: \"Physics\", kind: CHANNEL})", "circle", as: service)
    try server.mutate("joinCircle(circleId: $id)", ["id: ID!": channel.json], as: reader)
    let scraped: KeyValuePairs<String, JSONValue> = [
      "circleId": channel.json, "externalId": "p-1", "sourceUrl": "https://physics.example/1",
    ]
    let made = try server.make(
      Self.upsert, "event", ["input: UpsertEventInput!": GraphServer.eventInput(scraped)],
      as: service)
    let agenda = """
      { viewer { agenda(from: "2041-06-01T00:00:00.000Z", to: "2041-06-02T00:00:00.000Z") {
        nodes { id ... on Event { sourceUrl circle { name } visibility } } } } }
      """
    #expect(
      try server.data(agenda, as: reader).at("viewer.agenda.nodes") == [
        [
          "id": made.json, "sourceUrl": "https://physics.example/1", "circle": ["name": "Physics"],
          "visibility": "PUBLIC",
        ]
      ])
    #expect(try server.data(agenda, as: member).at("viewer.agenda.nodes") == [])
    let schedule = """
      query($id: ID!) { schedule(filter: {
        from: "2041-06-01T00:00:00.000Z", to: "2041-06-02T00:00:00.000Z", circleIds: [$id]}) {
        nodes { id } } }
      """
    #expect(
      try server.data(schedule, ["id": channel.json]).at("schedule.nodes") == [["id": made.json]])
    try server.mutate("joinCircle(circleId: $id)", ["id: ID!": channel.json], as: member)
    #expect(
      try server.refusals(
        Self.upsert, ["input: UpsertEventInput!": GraphServer.eventInput(scraped)], as: member)
        == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        GraphServer.createEvent,
        ["input: CreateEventInput!": GraphServer.eventInput(["circleId": channel.json])],
        as: member) == [Refusal("FORBIDDEN", "input", "circleId")])
    let group = try data.circle("Group", owner: service)
    let hidden = try data.circle("Hidden", owner: member)
    for (circle, code) in [(group, "INVALID"), (hidden, "NOT_FOUND")] {
      #expect(
        try server.refusals(
          Self.upsert,
          [
            "input: UpsertEventInput!": GraphServer.eventInput([
              "circleId": circle.json, "externalId": " ", "sourceUrl": "javascript:alert(1)",
            ])
          ], as: service) == [
            Refusal(code, "input", "circleId"), Refusal("REQUIRED", "input", "externalId"),
            Refusal("INVALID", "input", "sourceUrl"),
          ])
    }
  }

  @Test func `PK-EV.b: scraping again changes the event and makes no other`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let service = try data.person("scraper", roles: ["MEMBER", "SERVICE"])
    let guest = try data.person()
    let channels = try ["Physics", "Art"].map {
      try data.circle($0, kind: "CHANNEL", owner: service)
    }
    func scrape(_ title: JSONValue, in channel: NodeKey, at time: JSONValue) throws -> NodeKey {
      try server.make(
        Self.upsert, "event",
        [
          "input: UpsertEventInput!": GraphServer.eventInput([
            "title": title, "startsAt": time, "circleId": channel.json, "externalId": "e-1",
          ])
        ], as: service)
    }
    let made = try scrape("Lecture", in: channels[0], at: "2041-06-01T12:00:00.000Z")
    #expect(try scrape("Lecture", in: channels[1], at: "2041-06-01T12:00:00.000Z") != made)
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": made.json], as: guest)
    func pecks() throws -> [String] {
      try server.data("{ viewer { notifications { nodes { reason } } } }", as: guest)
        .strings("viewer.notifications.nodes", "reason")
    }
    #expect(try scrape("Lecture", in: channels[0], at: "2041-06-01T12:00:00.000Z") == made)
    #expect(try pecks() == [])
    #expect(try scrape("Moved lecture", in: channels[0], at: "2041-06-02T12:00:00.000Z") == made)
    #expect(try pecks() == ["EVENT_CHANGED"])
    let found = try server.data(
      "query($id: ID!) { circle(id: $id) { posts { nodes { id ... on Event { title startsAt } } } } }",
      ["id": channels[0].json])
    #expect(
      found.at("circle.posts.nodes") == [
        ["id": made.json, "title": "Moved lecture", "startsAt": "2041-06-02T12:00:00.000Z"]
      ])
    // Several scrapers at once make one, too.
    let input = GraphServer.eventInput(["circleId": channels[0].json, "externalId": "e-2"])
    let ids = try crowd(of: 8) { _ in
      try server.make(
        Self.upsert, "event", ["input: UpsertEventInput!": input], as: service)
    }
    #expect(Set(ids).count == 1)
  }

  @Test func `PK-EV.d: the last answer counts, and answers the invitation too`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest) = (try data.person(), try data.person())
    let made = try server.event(by: host, ["inviteUserIds": [guest.json]])
    let answer = "setAttendance(eventId: $id, status: $status)"
    for (status, invitation, going) in [
      ("MAYBE", "ACCEPTED", 0), ("GOING", "ACCEPTED", 1), ("NOT_GOING", "DECLINED", 0),
      ("GOING", "ACCEPTED", 1), ("GOING", "ACCEPTED", 1),
    ] as [(JSONValue, JSONValue, JSONValue)] {
      let payload = try server.mutate(
        answer,
        "event { viewerAttendance viewerInvitation { status } attendees(status: GOING) { totalCount } }",
        ["id: ID!": made.json, "status: AttendanceStatus!": status], as: guest)
      #expect(
        payload["event"] == [
          "viewerAttendance": status, "viewerInvitation": ["status": invitation],
          "attendees": ["totalCount": going],
        ])
    }
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { ... on Event { viewerAttendance attendees(status: GOING) { edges { status node { id } } } } } }",
      ["id": made.json], as: host)
    #expect(
      seen == [
        "post": [
          "viewerAttendance": nil,
          "attendees": ["edges": [["status": "GOING", "node": ["id": guest.json]]]],
        ]
      ])
    let over = try data.post(.event, by: host, startsAt: "2020-01-01", endsAt: "2020-01-02")
    let off = try data.post(.event, by: host)
    try server.mutate("cancelEvent(eventId: $id)", ["id: ID!": off.json], as: host)
    for (event, code) in [(over, "PAST"), (off, "CLOSED")] {
      #expect(
        try server.refusals(
          answer, ["id: ID!": event.json, "status: AttendanceStatus!": "GOING"], as: guest)
          == [Refusal(code, "eventId")])
    }
  }
}
