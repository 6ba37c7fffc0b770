import JSON
import TestSupport
import Testing

/// Peck: posting events and announcements, inviting to them, coming, and commenting on them.
@Suite(.usesCluster) struct PeckPostingTests {
  private static let create = "createEvent(input: $input)"

  /// An event in 2041, made over HTTP.
  private func event(
    _ server: GraphServer, by author: Person, _ more: KeyValuePairs<String, JSONValue> = [:]
  ) throws -> NodeKey {
    try server.make(
      Self.create, "event", ["input: CreateEventInput!": Self.input(more)], as: author)
  }

  private static func input(_ more: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(
      [
        JSONValue.Member(name: "title", value: "Regatta"),
        JSONValue.Member(name: "startsAt", value: "2041-06-01T12:00:00Z"),
      ].filter { member in !more.contains { $0.key == member.name } }
        + more.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }

  private func isSeen(_ server: GraphServer, _ id: NodeKey, by person: Person?) throws -> Bool {
    try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": id.json], as: person)
      != ["node": nil]
  }

  @Test func `PK-POST.a: a public event needs a title and a start, and everyone sees it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let host = try data.person(name: "Host")
    let maps = GraphData.unique("gmaps")
    let payload = try server.mutate(
      Self.create,
      """
      event { id title body startsAt endsAt visibility category author { displayName }
        location { name gmapsId } viewerActions }
      """,
      [
        "input: CreateEventInput!": Self.input([
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
    #expect(made["startsAt"] == "2041-06-01T12:00:00Z")
    #expect(made["endsAt"] == "2041-06-01T16:00:00Z")
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
        Self.create,
        [
          "input: CreateEventInput!": Self.input([
            "title": "\t", "endsAt": "2041-06-01T12:00:00Z", "sourceUrl": "javascript:alert(1)",
          ])
        ], as: host) == [
          Refusal("REQUIRED", "input", "title"), Refusal("INVALID", "input", "endsAt"),
          Refusal("INVALID", "input", "sourceUrl"),
        ])
    #expect(
      try server.mutationErrorCodes(
        Self.create, ["input: CreateEventInput!": Self.input([:])], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `PK-POST.b: a private event is there for its author and whom it invites alone`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let hidden = try event(
      server, by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let comment = try server.make(
      "addComment(subjectId: $id, body: \"Secret\")", "comment", ["id: ID!": hidden.json],
      as: guest)
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": hidden.json], as: guest)
    for (person, sees) in [(host, true), (guest, true), (stranger, false), (nil, false)] {
      #expect(try isSeen(server, hidden, by: person) == sees)
      #expect(try isSeen(server, comment, by: person) == sees)
    }
    let seen = try server.data(
      """
      query($id: ID!) { post(id: $id) { visibility comments { nodes { body } }
        ... on Event { attendees { nodes { id } } } } }
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
    let made = try event(
      server, by: host,
      [
        "visibility": "INVITED", "inviteCircleIds": [rowers.json, sailors.json],
        "inviteUserIds": [both.json],
      ])
    try data.join(rowers, late)
    let invitations = """
      { viewer { invitations { nodes { status event { id } inviter { id } } } } }
      """
    for person in [both, one, other] {
      #expect(
        try server.data(invitations, as: person).at("viewer.invitations.nodes")
          == [["status": "PENDING", "event": ["id": made.json], "inviter": ["id": host.json]]])
    }
    #expect(try server.data(invitations, as: late).at("viewer.invitations.nodes") == [])
    #expect(try !isSeen(server, made, by: late))
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
        Self.create,
        ["input: CreateEventInput!": Self.input(["inviteCircleIds": [foreign.json]])], as: host)
        == [Refusal("NOT_FOUND", "input", "inviteCircleIds", "0")])
  }

  @Test
  func `PK-POST.d: to a private event its author invites, to a public one whoever comes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, friend) = (try data.person(), try data.person(), try data.person())
    let closed = try event(
      server, by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let open = try event(server, by: host)
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
      "{ viewer { invitations { nodes { event { id } inviter { id } } } } }", as: friend)
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

  @Test func `PK-POST.f: an announcement notifies people and circles of one's own, and all see it`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member, named, reader) = (
      try data.person(), try data.person(), try data.person(), try data.person()
    )
    let own = try data.circle("Own", owner: member, members: [author])
    let foreign = try data.circle("Foreign", owner: reader)
    let create = "createAnnouncement(input: $input)"
    let made = try server.make(
      create, "announcement",
      [
        "input: CreateAnnouncementInput!": [
          "body": "Harbour closed", "notifyUserIds": [named.json, member.json],
          "notifyCircleIds": [own.json],
        ]
      ], as: author)
    for (person, number) in [(member, 1), (named, 1), (reader, 0), (author, 0)] {
      let told = try server.data(
        "{ viewer { notifications { nodes { reason about { id } } } } }", as: person)
      let expected: [JSONValue] = Array(
        repeating: ["reason": "ANNOUNCED", "about": ["id": made.json]], count: number)
      #expect(told.at("viewer.notifications.nodes") == .array(expected))
      #expect(try isSeen(server, made, by: person))
    }
    #expect(try isSeen(server, made, by: nil))
    #expect(
      try server.refusals(
        create,
        [
          "input: CreateAnnouncementInput!": ["body": "x", "notifyCircleIds": [foreign.json]]
        ], as: author) == [Refusal("NOT_FOUND", "input", "notifyCircleIds", "0")])
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: reader, members: [author])
    #expect(
      try server.refusals(
        create,
        ["input: CreateAnnouncementInput!": ["body": "x", "circleId": channel.json]], as: author)
        == [Refusal("FORBIDDEN", "input", "circleId")])
    #expect(
      try server.refusals(
        create, ["input: CreateAnnouncementInput!": ["body": ""]], as: author)
        == [Refusal("REQUIRED", "input", "body")])
  }

  /// Each field that names circles whose members are told, with what the refusals call it.
  private static let fieldsOfCircles = [
    (
      "createAnnouncement(input: {body: \"x\", notifyCircleIds: $circles})",
      ["input", "notifyCircleIds"]
    ),
    (
      "createEvent(input: {title: \"x\", startsAt: \"2041-01-01T00:00:00Z\", inviteCircleIds: $circles})",
      ["input", "inviteCircleIds"]
    ),
    ("inviteToEvent(eventId: $event, circleIds: $circles)", ["circleIds"]),
  ]

  @Test func `a channel's subscribers are told by its owner, staff and services alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, subscriber, stranger) = (try data.person(), try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let service = try data.person(roles: ["MEMBER", "SERVICE"])
    let channel = try data.circle("News", kind: "CHANNEL", owner: owner, members: [subscriber])
    let group = try data.circle("Group", owner: subscriber, members: [])
    for (field, path) in Self.fieldsOfCircles {
      for person in [subscriber, stranger, owner, staff, service] {
        let event = try data.post(.event, by: person)
        let all: KeyValuePairs<String, JSONValue> = [
          "circles: [ID!]": [channel.json], "event: ID!": event.json,
        ]
        let variables: KeyValuePairs<String, JSONValue> =
          path.count == 1 ? all : ["circles: [ID!]": [channel.json]]
        let refusals = try server.refusals(field, variables, as: person)
        guard person.key == subscriber.key || person.key == stranger.key else {
          #expect(refusals == [], "\(field)")
          continue
        }
        #expect(refusals.map(\.code) == ["FORBIDDEN"], "\(field)")
        #expect(refusals.first?.path == path + ["0"])
      }
    }
    // Three fields by three people each, and none by those who may not.
    #expect(try server.told(subscriber).count == 9)
    #expect(
      try server.refusals(
        Self.fieldsOfCircles[0].0, ["circles: [ID!]": [group.json, channel.json]], as: subscriber)
        == [Refusal("FORBIDDEN", "input", "notifyCircleIds", "1")])
  }

  @Test func `a field tells at most 500 members of groups`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let groups = try (0..<2).map { _ in
      try data.circle("Group", owner: owner, members: [member, staff])
    }
    // With the owner and staff they have exactly 500 others; who is in both counts once.
    let stem = GraphData.unique("crowd")
    try data.run(
      """
      WITH people AS (
        INSERT INTO app_user (username, display_name, name_key)
        SELECT $1 || n, 'Crowd', 'crowd' FROM generate_series(1, 498) n RETURNING id)
      INSERT INTO circle_member (circle_id, user_id)
      SELECT c.id, p.id FROM people p, unnest($2::bigint[]) c(id)
      WHERE p.id % 512 >= 256 OR c.id = ($2::bigint[])[1]
      """, [stem, "{\(groups[0].number),\(groups[1].number)}"])
    let circles: KeyValuePairs<String, JSONValue> = ["circles: [ID!]": .array(groups.map(\.json))]
    for (field, _) in Self.fieldsOfCircles.prefix(2) {
      #expect(try server.refusals(field, circles, as: member) == [])
    }
    try data.join(groups[1], data.person())
    for (field, path) in Self.fieldsOfCircles.prefix(2) {
      let refusals = try server.refusals(field, circles, as: member)
      #expect(refusals.map(\.code) == ["INVALID"], "\(field)")
      #expect(refusals.first?.path == path)
      #expect(try server.refusals(field, circles, as: staff) == [])
    }
  }

  @Test func `PK-POST.g: what was posted is in the payload, and among the changes after it`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let query = """
      query($since: String) { changes(since: $since) { token changes { operation
        node { __typename id ... on Event { title } } } } }
      """
    func token(_ person: Person) throws -> JSONValue {
      try server.data(query, as: person).at("changes.token") ?? .null
    }
    let tokens = [try token(host), try token(guest), try token(stranger)]
    let made = try event(
      server, by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    try data.session.waitForChanges()
    let told: JSONValue = [
      "operation": "UPSERT",
      "node": ["__typename": "Event", "id": made.json, "title": "Regatta"],
    ]
    for (person, since, sees) in [
      (host, tokens[0], 1), (guest, tokens[1], 1), (stranger, tokens[2], 0),
    ] {
      let changes = try server.data(query, ["since": since], as: person)
      #expect(
        changes.at("changes.changes")?.array?.filter { $0.at("node.id") == made.json }
          == Array(repeating: told, count: sees))
    }
  }

  // MARK: Pecks

  private static let pecks = """
    { viewer { unreadNotificationCount notifications { nodes {
      id reason actor { displayName } about { id } text action { kind label performedAt } } } } }
    """

  @Test func `PK-PECK.b: an invitation is a peck, with a button that attends`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest) = (try data.person(name: "Host <1>"), try data.person())
    let made = try event(
      server, by: host, ["title": "A & B", "visibility": "INVITED", "inviteUserIds": [guest.json]])
    let told = try server.data(Self.pecks, as: guest)
    let peck = try #require(told.at("viewer.notifications.nodes.0"))
    #expect(peck["reason"] == "EVENT_INVITED")
    #expect(peck["about"] == ["id": made.json])
    #expect(peck["text"] == "<b>Host &lt;1&gt;</b> invites you to “A &amp; B”.")
    #expect(peck["action"] == ["kind": "ATTEND", "label": "Attend", "performedAt": nil])
    let perform = "performNotificationAction(notificationId: $id)"
    let id = try #require(peck["id"])
    #expect(
      try server.refusals(perform, ["id: ID!": id], as: host)
        == [Refusal("NOT_FOUND", "notificationId")])
    try server.mutate(perform, ["id: ID!": id], as: guest)
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { ... on Event { viewerAttendance viewerInvitation { status } } } }",
      ["id": made.json], as: guest)
    #expect(
      seen == ["post": ["viewerAttendance": "GOING", "viewerInvitation": ["status": "ACCEPTED"]]])
    #expect(try server.data(Self.pecks, as: host).at("viewer.notifications.nodes") == [])
  }

  @Test func `PK-PECK.c: an announcement is one peck, however many circles match`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member) = (try data.person(name: "Dean"), try data.person())
    let circles = try (0..<3).map { try data.circle("c\($0)", owner: author, members: [member]) }
    let made = try server.make(
      "createAnnouncement(input: $input)", "announcement",
      [
        "input: CreateAnnouncementInput!": [
          "body": "Exams <moved>", "notifyCircleIds": .array(circles.map(\.json)),
          "notifyUserIds": [member.json],
        ]
      ], as: author)
    let told = try server.data(Self.pecks, as: member)
    #expect(told.at("viewer.unreadNotificationCount") == 1)
    #expect(told.at("viewer.notifications.nodes.0.about") == ["id": made.json])
    #expect(
      told.at("viewer.notifications.nodes.0.text") == "<b>Dean</b> announces: Exams &lt;moved&gt;")
    #expect(try server.data(Self.pecks, as: author).at("viewer.unreadNotificationCount") == 0)
  }

  @Test
  func `PK-PECK.d: comments reach a circle's members, and an event's author and who comes`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, comes, declines, writer, stranger) = (
      try data.person(), try data.person(), try data.person(), try data.person(name: "Writer"),
      try data.person()
    )
    let made = try event(server, by: host)
    let circle = try data.circle("Circle", owner: host, members: [comes, writer])
    for (person, status) in [(comes, "GOING"), (declines, "NOT_GOING"), (writer, "GOING")] {
      try server.mutate(
        "setAttendance(eventId: $id, status: \(status))", ["id: ID!": made.json], as: person)
    }
    var comments: [JSONValue] = []
    for subject in [made, circle] {
      comments.append(
        try server.make(
          "addComment(subjectId: $id, body: \"Who rows?\")", "comment", ["id: ID!": subject.json],
          as: writer
        ).json)
    }
    for (person, number) in [(host, 2), (comes, 2), (declines, 0), (writer, 0), (stranger, 0)] {
      let told = try server.data(Self.pecks, as: person)
      let list = "viewer.notifications.nodes"
      #expect(told.strings(list, "reason") == Array(repeating: "COMMENTED", count: number))
      #expect(told.list(list, "about.id") == (number == 0 ? [] : comments.reversed()))
      #expect(told.list(list, "actor.displayName").allSatisfy { $0 == "Writer" })
    }
  }

  @Test func `PK-PECK.e: being added to a circle is a peck`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, first, second) = (
      try data.person(name: "Owner"), try data.person(name: "First"), try data.person()
    )
    let circle = try server.make(
      "createCircle(input: {name: \"Oars\", memberIds: [$id]})", "circle",
      ["id: ID!": first.json], as: owner)
    try server.mutate(
      "addCircleMembers(circleId: $id, userIds: [$user])",
      ["id: ID!": circle.json, "user: ID!": second.json], as: first)
    for (person, text) in [
      (first, "<b>Owner</b> added you to “Oars”."), (second, "<b>First</b> added you to “Oars”."),
    ] {
      let told = try server.data(Self.pecks, as: person).at("viewer.notifications.nodes")?.array
      #expect(told?.count == 1)
      #expect(told?[0]["reason"] == "CIRCLE_ADDED")
      #expect(told?[0]["about"] == ["id": circle.json])
      #expect(told?[0]["text"] == .string(text))
    }
    #expect(try server.data(Self.pecks, as: owner).at("viewer.notifications.nodes") == [])
  }

  @Test func `PK-PECK.f: a signal leads to what changed, the peck among it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let circle = try data.circle("Oars", owner: owner, members: [member])
    let query = """
      query($since: String) { changes(since: $since) { token changes {
        operation node { __typename ... on Notification { reason } ... on Comment { body } } } } }
      """
    let start = try server.data(query, as: member).at("changes.token") ?? .null
    try server.mutate(
      "addComment(subjectId: $id, body: \"Ahoy\")", ["id: ID!": circle.json], as: owner)
    try data.session.waitForChanges()
    let changes = try server.data(query, ["since": start], as: member)
    let nodes = changes.list("changes.changes", "node")
    #expect(nodes.contains(["__typename": "Notification", "reason": "COMMENTED"]))
    #expect(nodes.contains(["__typename": "Comment", "body": "Ahoy"]))
    #expect(
      try server.data(query, ["since": changes.at("changes.token") ?? .null], as: member)
        .at("changes.changes") == [])
  }

  // MARK: Scraped events, and coming

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
    let made = try event(server, by: service, scraped)
    let agenda = """
      { viewer { agenda(from: "2041-06-01T00:00:00Z", to: "2041-06-02T00:00:00Z") {
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
        from: "2041-06-01T00:00:00Z", to: "2041-06-02T00:00:00Z", circleIds: [$id]}) {
        nodes { id } } }
      """
    #expect(
      try server.data(schedule, ["id": channel.json]).at("schedule.nodes") == [["id": made.json]])
    try server.mutate("joinCircle(circleId: $id)", ["id: ID!": channel.json], as: member)
    #expect(
      try server.refusals(
        Self.create, ["input: CreateEventInput!": Self.input(scraped)], as: member)
        == [Refusal("FORBIDDEN", "input", "externalId")])
    #expect(
      try server.refusals(
        Self.create, ["input: CreateEventInput!": Self.input(["circleId": channel.json])],
        as: member) == [Refusal("FORBIDDEN", "input", "circleId")])
    #expect(
      try server.refusals(
        Self.create, ["input: CreateEventInput!": Self.input(["externalId": "p-2"])], as: service)
        == [Refusal("REQUIRED", "input", "circleId")])
    for visibility in ["INVITED", "CIRCLE"] as [JSONValue] {
      #expect(
        try server.refusals(
          Self.create,
          [
            "input: CreateEventInput!": Self.input([
              "circleId": channel.json, "externalId": "p-3", "visibility": visibility,
            ])
          ], as: service) == [Refusal("INVALID", "input", "visibility")])
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
      try event(
        server, by: service,
        ["title": title, "startsAt": time, "circleId": channel.json, "externalId": "e-1"])
    }
    let made = try scrape("Lecture", in: channels[0], at: "2041-06-01T12:00:00Z")
    #expect(try scrape("Lecture", in: channels[1], at: "2041-06-01T12:00:00Z") != made)
    try server.mutate(
      "setAttendance(eventId: $id, status: GOING)", ["id: ID!": made.json], as: guest)
    func pecks() throws -> [String] {
      try server.data("{ viewer { notifications { nodes { reason } } } }", as: guest)
        .strings("viewer.notifications.nodes", "reason")
    }
    #expect(try scrape("Lecture", in: channels[0], at: "2041-06-01T12:00:00Z") == made)
    #expect(try pecks() == [])
    #expect(try scrape("Moved lecture", in: channels[0], at: "2041-06-02T12:00:00Z") == made)
    #expect(try pecks() == ["EVENT_CHANGED"])
    let found = try server.data(
      "query($id: ID!) { circle(id: $id) { posts { nodes { id ... on Event { title startsAt } } } } }",
      ["id": channels[0].json])
    #expect(
      found.at("circle.posts.nodes") == [
        ["id": made.json, "title": "Moved lecture", "startsAt": "2041-06-02T12:00:00Z"]
      ])
    // Several scrapers at once make one, too.
    let input = Self.input(["circleId": channels[0].json, "externalId": "e-2"])
    let ids = try crowd(of: 8) { _ in
      try server.make(Self.create, "event", ["input: CreateEventInput!": input], as: service)
    }
    #expect(Set(ids).count == 1)
  }

  @Test func `PK-EV.d: the last answer counts, and answers the invitation too`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest) = (try data.person(), try data.person())
    let made = try event(server, by: host, ["inviteUserIds": [guest.json]])
    let answer = "setAttendance(eventId: $id, status: $status)"
    for (status, invitation, going) in [
      ("MAYBE", "ACCEPTED", 0), ("GOING", "ACCEPTED", 1), ("NOT_GOING", "DECLINED", 0),
      ("GOING", "ACCEPTED", 1), ("GOING", "ACCEPTED", 1),
    ] as [(JSONValue, JSONValue, JSONValue)] {
      let payload = try server.mutate(
        answer,
        "event { viewerAttendance viewerInvitation { status } attendees { totalCount } }",
        ["id: ID!": made.json, "status: AttendanceStatus!": status], as: guest)
      #expect(
        payload["event"] == [
          "viewerAttendance": status, "viewerInvitation": ["status": invitation],
          "attendees": ["totalCount": going],
        ])
    }
    let seen = try server.data(
      "query($id: ID!) { post(id: $id) { ... on Event { viewerAttendance attendees { edges { status node { id } } } } } }",
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

  // MARK: Comments

  @Test func `PK-COM.a: an event is commented on by whoever sees it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let made = try event(
      server, by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let add = "addComment(subjectId: $id, body: \"See you\")"
    try server.mutate(add, ["id: ID!": made.json], as: guest)
    let query = "query($id: ID!) { post(id: $id) { commentCount comments { nodes { body } } } }"
    for person in [host, guest] {
      #expect(
        try server.data(query, ["id": made.json], as: person)
          == ["post": ["commentCount": 1, "comments": ["nodes": [["body": "See you"]]]]])
    }
    #expect(try server.data(query, ["id": made.json], as: stranger) == ["post": nil])
    #expect(
      try server.refusals(add, ["id: ID!": made.json], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
  }

  @Test func `PK-COM.b: any user comments on an announcement`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, reader, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(author, blocked)
    let made = try server.make(
      "createAnnouncement(input: {body: \"Free cake\"})", "announcement", as: author)
    let add = "addComment(subjectId: $id, body: \"Where?\")"
    try server.mutate(add, ["id: ID!": made.json], as: reader)
    #expect(
      try server.data(
        "query($id: ID!) { post(id: $id) { comments { nodes { body author { id } } } } }",
        ["id": made.json])
        == [
          "post": ["comments": ["nodes": [["body": "Where?", "author": ["id": reader.json]]]]]
        ])
    #expect(
      try server.refusals(add, ["id: ID!": made.json], as: blocked)
        == [Refusal("NOT_FOUND", "subjectId")])
    #expect(
      try server.mutationErrorCodes(add, ["id: ID!": made.json], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `PK-COM.c: a meal with its places is commented on like any event`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let service = try data.person("dining", roles: ["MEMBER", "SERVICE"])
    let eater = try data.person()
    let channel = try data.circle("Dining", kind: "CHANNEL", owner: service)
    let places = try ["Hall", "Café"].map { try data.location($0) }
    let meal: KeyValuePairs<String, JSONValue> = [
      "title": "Dinner", "category": "DINING", "circleId": channel.json,
      "venues": [
        [
          "locationId": places[0].json, "opensAt": "2041-06-01T17:00:00Z",
          "closesAt": "2041-06-01T19:00:00Z", "note": "Pasta",
        ],
        ["locationId": places[1].json, "opensAt": "2041-06-01T16:00:00Z"],
      ],
    ]
    let made = try event(server, by: service, meal)
    try server.mutate(
      "addComment(subjectId: $id, body: \"Good pasta\")", ["id: ID!": made.json], as: eater)
    #expect(
      try server.data(
        """
        query($id: ID!) { post(id: $id) { comments { nodes { body } } ... on Event {
          category venues { location { name } opensAt closesAt note } } } }
        """, ["id": made.json]) == [
          "post": [
            "comments": ["nodes": [["body": "Good pasta"]]], "category": "DINING",
            "venues": [
              [
                "location": ["name": "Café"], "opensAt": "2041-06-01T16:00:00Z", "closesAt": nil,
                "note": nil,
              ],
              [
                "location": ["name": "Hall"], "opensAt": "2041-06-01T17:00:00Z",
                "closesAt": "2041-06-01T19:00:00Z", "note": "Pasta",
              ],
            ],
          ]
        ])
    #expect(
      try server.refusals(
        Self.create,
        [
          "input: CreateEventInput!": Self.input([
            "category": "DINING",
            "venues": [
              ["locationId": places[0].json], ["locationId": places[0].json],
              ["locationId": eater.json],
              [
                "locationId": places[1].json, "opensAt": "2041-06-01T17:00:00Z",
                "closesAt": "2041-06-01T16:00:00Z",
              ],
            ],
          ])
        ], as: service) == [
          Refusal("INVALID", "input", "venues", "1", "locationId"),
          Refusal("NOT_FOUND", "input", "venues", "2", "locationId"),
          Refusal("INVALID", "input", "venues", "3", "closesAt"),
        ])
    #expect(
      try server.refusals(
        "addComment(subjectId: $id, body: \"\")", ["id: ID!": made.json], as: eater)
        == [Refusal("REQUIRED", "body")])
  }
}
