import JSON
import TestSupport
import Testing

/// What an event's author changes later, and what who comes takes back.
@Suite(.usesCluster) struct EventChangeTests {
  private static let update = "updateEvent(eventId: $id, input: $input)"
  private var server: GraphServer { get throws { try .shared } }

  private func refusals(_ event: NodeKey, _ input: JSONValue, as person: Person) throws -> [Refusal]
  {
    try server.refusals(
      Self.update, ["id: ID!": event.json, "input: UpdateEventInput!": input], as: person)
  }

  private func answer(_ event: NodeKey, _ status: String, as person: Person) throws {
    try server.mutate(
      "setAttendance(eventId: $id, status: \(status))", ["id: ID!": event.json], as: person)
  }

  /// Returns what the log of changes says of nodes since a token, and the next token.
  private func told(_ keys: [NodeKey], to person: Person, since token: inout JSONValue) throws
    -> [String?]
  {
    try server.data().session.waitForChanges()
    let found = try server.data(
      "query($since: String) { changes(since: $since) { token changes { nodeId operation } } }",
      ["since": token], as: person)
    token = found.at("changes.token") ?? .null
    let changes = found.at("changes.changes")?.array ?? []
    return keys.map { key in changes.first { $0["nodeId"] == key.json }?["operation"]?.string }
  }

  @Test func `an event becomes private, and nobody who comes loses it`() throws {
    let server = try server
    let data = try server.data()
    let host = try data.person()
    let (going, maybe, declined) = (try data.person(), try data.person(), try data.person())
    let (invited, stranger) = (try data.person(), try data.person())
    let event = try server.event(by: host, ["inviteUserIds": [invited.json]])
    try answer(event, "GOING", as: going)
    try answer(event, "MAYBE", as: maybe)
    try answer(event, "NOT_GOING", as: declined)
    var (coming, leaving): (JSONValue, JSONValue) = (.null, .null)
    _ = try told([event], to: going, since: &coming)
    _ = try told([event], to: declined, since: &leaving)
    #expect(try refusals(event, ["visibility": "INVITED"], as: host) == [])
    for (person, sees) in [
      (host, true), (going, true), (maybe, true), (invited, true), (declined, false),
      (stranger, false),
    ] {
      #expect(try server.finds(event, as: person) == sees)
    }
    #expect(try told([event], to: going, since: &coming) == ["UPSERT"])
    #expect(try told([event], to: declined, since: &leaving) == ["DELETE"])
    let status =
      "query($id: ID!) { node(id: $id) { ... on Event { viewerInvitation { status } } } }"
    for (person, expected) in [(going, "ACCEPTED"), (maybe, "ACCEPTED"), (invited, "PENDING")] {
      #expect(
        try server.data(status, ["id": event.json], as: person)
          .at("node.viewerInvitation.status") == .string(expected))
      #expect(try server.told(person).filter { $0 == "EVENT_CHANGED" }.count == 1)
    }
    #expect(try server.told(declined) == [])
    // And public again.
    #expect(try refusals(event, ["visibility": "PUBLIC"], as: host) == [])
    #expect(try server.finds(event, as: stranger))
    // One unread line tells of all changes so far.
    #expect(try server.told(going).filter { $0 == "EVENT_CHANGED" }.count == 1)
  }

  @Test func `where an event is decides who may be let in later`() throws {
    let server = try server
    let data = try server.data()
    let service = try data.person("service", roles: ["MEMBER", "SERVICE"])
    let (member, guest) = (try data.person(), try data.person())
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: service, members: [member])
    let group = try data.circle("Group", owner: service, members: [member])
    let free = try server.event(by: service)
    let inGroup = try server.event(by: service, ["circleId": group.json])
    let inChannel = try server.event(by: service, ["circleId": channel.json])
    for (event, wanted, isAllowed) in [
      (free, "CIRCLE", false), (free, "INVITED", true), (inGroup, "PUBLIC", false),
      (inGroup, "INVITED", false), (inGroup, "CIRCLE", true), (inChannel, "INVITED", false),
      (inChannel, "CIRCLE", true),
    ] {
      #expect(
        try refusals(event, ["visibility": .string(wanted)], as: service)
          == (isAllowed ? [] : [Refusal("INVALID", "input", "visibility")]), "\(wanted)")
    }
    #expect(
      try refusals(free, ["visibility": nil, "startsAt": nil, "category": nil], as: service) == [
        Refusal("REQUIRED", "input", "visibility"), Refusal("REQUIRED", "input", "startsAt"),
        Refusal("REQUIRED", "input", "category"),
      ])
    // Who came to the channel's event without belonging to it is told that it is gone.
    #expect(try refusals(inChannel, ["visibility": "PUBLIC"], as: service) == [])
    try answer(inChannel, "GOING", as: guest)
    var (outside, inside): (JSONValue, JSONValue) = (.null, .null)
    _ = try told([inChannel], to: guest, since: &outside)
    _ = try told([inChannel], to: member, since: &inside)
    #expect(
      try refusals(inChannel, ["visibility": "CIRCLE", "title": "Other"], as: service) == [])
    #expect(try told([inChannel], to: guest, since: &outside) == ["DELETE"])
    #expect(try told([inChannel], to: member, since: &inside) == ["UPSERT"])
    #expect(try !server.finds(inChannel, as: guest))
    #expect(try server.finds(inChannel, as: member))
  }

  @Test func `whoever answers while an event becomes private keeps it, or is told at once`() throws
  {
    let server = try server
    let data = try server.data()
    let host = try data.person()
    let guests = try (0..<8).map { _ in try data.person() }
    let event = try server.event(by: host)
    let answers = try crowd(of: 9) { index in
      index == 8
        ? try self.refusals(event, ["visibility": "INVITED"], as: host)
        : try server.refusals(
          "setAttendance(eventId: $id, status: GOING)", ["id: ID!": event.json], as: guests[index])
    }
    #expect(answers.last == [])
    for (guest, answer) in zip(guests, answers) {
      #expect(answer == [] || answer == [Refusal("NOT_FOUND", "eventId")])
      #expect(try server.finds(event, as: guest) == answer.isEmpty)
    }
  }

  @Test func `everything but photos is told, and of what is imported only when and where`() throws {
    let server = try server
    let data = try server.data()
    let service = try data.person("service", roles: ["MEMBER", "SERVICE"])
    let guest = try data.person()
    let place = try data.location("Hall")
    let photo = try data.photo(of: service)
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: service)
    func pecks() throws -> Int {
      let count = try server.told(guest).count
      try server.mutate("markNotificationsRead", as: guest)
      try data.run("DELETE FROM notification WHERE recipient_id = \(guest)")
      return count
    }
    let event = try server.event(by: service)
    try answer(event, "GOING", as: guest)
    for (input, isTold) in [
      (["title": "Feast"], true), (["title": " Feast "], false), (["body": "Words"], true),
      (["photoIds": [photo.json]], false), (["location": ["id": place.json]], true),
      (["category": "DINING", "venues": [["locationId": place.json]]], true),
      (["venues": [["locationId": place.json]]], false),
      (["venues": [["locationId": place.json, "note": "soup"]]], true),
      (["category": "GENERAL"], true), (["startsAt": "2041-06-01T12:00:00Z"], false),
      (["endsAt": "2041-06-01T13:00:00Z"], true), (["endsAt": nil], true),
    ] as [(JSONValue, Bool)] {
      #expect(try refusals(event, input, as: service) == [], "\(input)")
      #expect(try pecks() == (isTold ? 1 : 0), "\(input)")
    }
    func scrape(_ more: KeyValuePairs<String, JSONValue>) throws -> NodeKey {
      var input = GraphServer.eventInput(more).members ?? []
      input.append(.init(name: "circleId", value: channel.json))
      input.append(.init(name: "externalId", value: "e-1"))
      return try server.make(
        "upsertEvent(input: $input)", "event", ["input: UpsertEventInput!": .object(input)],
        as: service)
    }
    let found = try scrape(["body": "Words", "sourceUrl": "https://a.example"])
    try answer(found, "GOING", as: guest)
    for (more, isTold) in [
      (["body": "Other words", "sourceUrl": "https://b.example"], false), ([:], false),
      (["category": "DINING"], false), (["location": ["id": place.json]], true), ([:], true),
      (["title": "Moved"], true),
    ] as [(KeyValuePairs<String, JSONValue>, Bool)] {
      #expect(try scrape(more) == found)
      #expect(try pecks() == (isTold ? 1 : 0), "\(more)")
    }
    // What is left out is cleared.
    #expect(
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Event { title body location { id } sourceUrl category } } }",
        ["id": found.json])
        == [
          "node": [
            "title": "Moved", "body": "", "location": nil, "sourceUrl": nil, "category": "GENERAL",
          ]
        ])
  }

  @Test func `an event begins in the future, a meal alone has venues, and all faults are told`()
    throws
  {
    let server = try server
    let data = try server.data()
    let (host, service) = (
      try data.person(), try data.person("service", roles: ["MEMBER", "SERVICE"])
    )
    let place = try data.location("Hall")
    let past: JSONValue = "2020-01-01T12:00:00Z"
    let faulty = GraphServer.eventInput([
      "title": " ", "startsAt": past, "endsAt": past, "photoIds": [place.json],
      "venues": [["locationId": place.json]],
    ])
    let faults = [
      Refusal("REQUIRED", "input", "title"), Refusal("PAST", "input", "startsAt"),
      Refusal("INVALID", "input", "endsAt"), Refusal("NOT_FOUND", "input", "photoIds", "0"),
      Refusal("INVALID", "input", "venues"),
    ]
    #expect(
      try server.refusals(
        GraphServer.createEvent, ["input: CreateEventInput!": faulty], as: host) == faults)
    let event = try server.event(by: host)
    #expect(try refusals(event, faulty, as: host) == faults)
    #expect(
      try refusals(event, ["startsAt": past], as: host) == [Refusal("PAST", "input", "startsAt")])
    // Services keep calendars of the past.
    _ = try server.event(by: service, ["startsAt": past])
    // What has begun can be changed, as long as it does not begin at another time.
    let begun = try data.post(.event, by: host, startsAt: "2020-01-01 12:00Z")
    #expect(try refusals(begun, ["startsAt": past, "title": "Then"], as: host) == [])
    let venues: JSONValue = [
      ["locationId": place.json], ["locationId": place.json],
      ["locationId": NodeKey(1 << 40 | 3).json],
      [
        "locationId": place.json, "opensAt": "2041-06-01T12:00:00Z",
        "closesAt": "2041-06-01T11:00:00Z",
      ],
    ]
    #expect(
      try refusals(event, ["category": "DINING", "venues": venues], as: host) == [
        Refusal("INVALID", "input", "venues", "1", "locationId"),
        Refusal("NOT_FOUND", "input", "venues", "2", "locationId"),
        Refusal("INVALID", "input", "venues", "3", "locationId"),
      ])
  }

  @Test func `an event is called off with a word, and takes place after all`() throws {
    let server = try server
    let data = try server.data()
    let (host, guest) = (try data.person(name: "Ana"), try data.person())
    let event = try server.event(by: host)
    try answer(event, "GOING", as: guest)
    #expect(
      try server.refusals(
        "cancelEvent(eventId: $id, note: $note)",
        ["id: ID!": event.json, "note: String": .string(String(repeating: "x", count: 501))],
        as: host) == [Refusal("TOO_LONG", "note")])
    let payload = try server.mutate(
      "cancelEvent(eventId: $id, note: \" Storm <3 \")", "event { cancellationNote cancelledAt }",
      ["id: ID!": event.json], as: host)
    #expect(payload.at("event.cancellationNote") == "Storm <3")
    let text = try server.data(
      "{ viewer { notifications(first: 1) { nodes { reason text } } } }", as: guest)
    #expect(text.at("viewer.notifications.nodes.0.reason") == "EVENT_CANCELLED")
    #expect(
      text.at("viewer.notifications.nodes.0.text")?.string?.hasSuffix("Storm &lt;3") == true)
    #expect(try refusals(event, ["title": "x"], as: host) == [Refusal("CLOSED", "eventId")])
    let restored = try server.mutate(
      "restoreEvent(eventId: $id)", "event { cancellationNote cancelledAt }",
      ["id: ID!": event.json], as: host)
    #expect(restored["event"] == ["cancellationNote": nil, "cancelledAt": nil])
    #expect(try server.told(guest) == ["EVENT_CHANGED", "EVENT_CANCELLED"])
    let over = try data.post(.event, by: host, startsAt: "2020-01-01", endsAt: "2020-01-02")
    try server.mutate("cancelEvent(eventId: $id)", ["id: ID!": over.json], as: host)
    #expect(
      try server.refusals("restoreEvent(eventId: $id)", ["id: ID!": over.json], as: host)
        == [Refusal("PAST", "eventId")])
  }

  @Test func `an answer is taken back, and the invitation and its button are open again`() throws {
    let server = try server
    let data = try server.data()
    let (host, guest) = (try data.person(), try data.person())
    let event = try server.event(by: host, ["inviteUserIds": [guest.json]])
    let note = try server.data(
      "{ viewer { notifications(first: 1) { nodes { id } } } }", as: guest
    ).at("viewer.notifications.nodes.0.id")
    func act() throws -> JSONValue? {
      try server.mutate(
        "performNotificationAction(notificationId: $id)", "notification { action { performedAt } }",
        ["id: ID!": note ?? .null], as: guest
      ).at("notification.action.performedAt")
    }
    #expect(try act() != .null)
    let clear = "clearAttendance(eventId: $id)"
    for _ in 0..<2 {
      let payload = try server.mutate(
        clear, "event { viewerAttendance viewerInvitation { status } attendees { totalCount } }",
        ["id: ID!": event.json], as: guest)
      #expect(
        payload["event"] == [
          "viewerAttendance": nil, "viewerInvitation": ["status": "PENDING"],
          "attendees": ["totalCount": 0],
        ])
    }
    #expect(try act() != .null)
    #expect(
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Event { viewerAttendance } } }",
        ["id": event.json], as: guest) == ["node": ["viewerAttendance": "GOING"]])
    let over = try data.post(.event, by: host, startsAt: "2020-01-01", endsAt: "2020-01-02")
    #expect(try server.refusals(clear, ["id: ID!": over.json], as: guest) == [])
    try data.attend(guest, over)
    #expect(
      try server.refusals(clear, ["id: ID!": over.json], as: guest) == [Refusal("PAST", "eventId")])
  }

  @Test func `an invitation is taken back until it is answered, and given again`() throws {
    let server = try server
    let data = try server.data()
    let (host, guest) = (try data.person(), try data.person())
    let event = try server.event(
      by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    let invitation = NodeKey(
      Int64(try data.run("SELECT id FROM invitation WHERE event_id = $1", [event])[0][0] ?? "") ?? 0
    )
    let withdraw = "withdrawInvitation(invitationId: $id)"
    let invite = "inviteToEvent(eventId: $id, userIds: [$guest])"
    var token = JSONValue.null
    _ = try told([event], to: guest, since: &token)
    #expect(
      try server.refusals(withdraw, ["id: ID!": invitation.json], as: guest)
        == [Refusal("FORBIDDEN", "invitationId")])
    for _ in 0..<2 {
      let payload = try server.mutate(
        withdraw, "invitation { status } draft { body }", ["id: ID!": invitation.json], as: host)
      #expect(payload["invitation"] == ["status": "WITHDRAWN"])
      #expect(payload["draft"] == .null)
    }
    #expect(try told([event, invitation], to: guest, since: &token) == ["DELETE", "DELETE"])
    #expect(try !server.finds(event, as: guest))
    #expect(try !server.finds(invitation, as: guest))
    #expect(try server.told(guest) == [])
    #expect(
      try server.refusals(
        "setAttendance(eventId: $id, status: GOING)", ["id: ID!": event.json], as: guest)
        == [Refusal("NOT_FOUND", "eventId")])
    try server.mutate(invite, ["id: ID!": event.json, "guest: ID!": guest.json], as: host)
    #expect(try server.finds(event, as: guest))
    #expect(try told([event, invitation], to: guest, since: &token) == ["UPSERT", "UPSERT"])
    #expect(try server.told(guest) == ["EVENT_INVITED"])
    try answer(event, "NOT_GOING", as: guest)
    #expect(
      try server.refusals(withdraw, ["id: ID!": invitation.json], as: host)
        == [Refusal("ALREADY_DONE", "invitationId")])
  }

  @Test func `either the invitation is taken back or it is answered`() throws {
    let server = try server
    let data = try server.data()
    let host = try data.person()
    for _ in 0..<4 {
      let guest = try data.person()
      let event = try server.event(by: host, ["visibility": "INVITED"])
      let invitation = try data.invite(host, guest, to: event)
      let answers = try crowd(of: 2) { index in
        index == 0
          ? try server.refusals(
            "withdrawInvitation(invitationId: $id)", ["id: ID!": invitation.json], as: host)
          : try server.refusals(
            "setAttendance(eventId: $id, status: GOING)", ["id: ID!": event.json], as: guest)
      }
      let isWithdrawn = answers[0] == []
      #expect(answers[1] == (isWithdrawn ? [Refusal("NOT_FOUND", "eventId")] : []))
      #expect(isWithdrawn || answers[0] == [Refusal("ALREADY_DONE", "invitationId")])
      #expect(
        try data.run("SELECT status FROM invitation WHERE id = $1", [invitation])
          == [[isWithdrawn ? "WITHDRAWN" : "ACCEPTED"]])
      #expect(
        try data.run("SELECT FROM attendance WHERE event_id = $1", [event]).isEmpty == isWithdrawn)
    }
  }

  @Test func `the code of an invitation that was taken back is dead`() throws {
    let server = try server
    let host = try server.signUp("host")
    let payload = try server.mutate(
      "inviteToApp(channel: EMAIL, contact: \"a@b.example\")", "invitation { id } draft { url }",
      [:], as: host)
    let code = payload.at("draft.url")?.string?.split(separator: "/").last.map(String.init) ?? ""
    let id = payload.at("invitation.id") ?? .null
    try server.mutate("withdrawInvitation(invitationId: $id)", ["id: ID!": id], as: host)
    _ = try server.signUp("guest", ", invitationCode: \"\(code)\"")
    #expect(
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Invitation { status invitee { id } } } }",
        ["id": id], as: host) == ["node": ["status": "WITHDRAWN", "invitee": nil]])
  }
}
